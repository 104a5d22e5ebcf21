#include "ingest/devices/dcgm/dcgm.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "core/limits.h"
#include "core/plain_text.h"
#include "core/try.h"
#include "core/whole_count.h"
#include "ingest/devices/dcgm/exposition.h"
#include "ingest/devices/dcgm/metric.h"

namespace pennyweight::dcgm {
namespace {

// The device that the labels of one series name.
struct Device {
  std::string uuid;
  std::string model;
  std::string node;
  std::uint32_t index = 0;
  std::string mig_instance;  // GPU_I_ID; empty: the whole GPU
  std::string mig_profile;
  std::string mig_uuid;
  std::string workload;
};

std::string_view first_label(const Sample& sample, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    if (const std::string_view value = sample.label(name); !value.empty()) return value;
  }
  return {};
}

bool has_label(const Sample& sample, std::string_view name) {
  return std::ranges::any_of(sample.labels, [&](const auto& label) { return label.name == name; });
}

bool is_exporter(std::string_view pod) { return pod.find("dcgm-exporter") != pod.npos; }

std::string sample_workload(const Sample& sample) {
  std::string_view pod;
  std::string_view name_space;
  if (has_label(sample, "exported_pod")) {
    pod = sample.label("exported_pod");
    name_space = sample.label("exported_namespace");
  } else {
    pod = first_label(sample, {"pod", "pod_name"});
    name_space = first_label(sample, {"namespace", "pod_namespace"});
    if (is_exporter(pod)) pod = {};
  }
  if (pod.empty()) return std::string(sample.label("hpc_job"));
  return name_space.empty() ? std::string(pod) : fmt::format("{}/{}", name_space, pod);
}

Result<Device> sample_device(const Sample& sample) {
  Device device;
  device.uuid = first_label(sample, {"UUID", "uuid"});
  if (device.uuid.empty()) {
    return fail(ErrorCode::kBadValue,
                "the label UUID is missing, so no GPU is named; let "
                "dcgm-exporter identify GPUs by UUID");
  }
  const std::string_view index = sample.label("gpu");
  if (!index.empty()) {
    const auto number = parse_count(index, limits::kGpusPerNodeMax - 1);
    if (!number) return std::unexpected(number.error().during("label gpu"));
    device.index = static_cast<std::uint32_t>(*number);
  }
  device.model = first_label(sample, {"modelName", "model_name"});
  device.node = first_label(sample, {"Hostname", "hostname"});
  device.mig_instance = sample.label("GPU_I_ID");
  device.mig_profile = first_label(sample, {"GPU_I_PROFILE", "dra_mig_profile"});
  device.mig_uuid = sample.label("dra_mig_device_uuid");
  device.workload = sample_workload(sample);
  for (const auto& label : sample.labels) {
    if (label.value.size() > limits::kIdBytesMax) {
      return fail(ErrorCode::kLimit,
                  fmt::format("label {} has more than {} bytes", label.name, limits::kIdBytesMax));
    }
  }
  return device;
}

// Everything that one Usage is made of; the parts of memory_total are series of their own.
struct DeviceReading {
  Usage usage;
  std::map<Field, std::uint64_t> values;
};

class Gatherer {
 public:
  explicit Gatherer(const Options& options) : options_(options) {}

  void line(std::uint64_t number, std::string_view text, Dialect dialect) {
    if (text.size() > limits::kRowBytesMax) {
      return reject(number, text, "",
                    fmt::format("the line has more than {} bytes", limits::kRowBytesMax));
    }
    if (!is_plain_text(text)) {
      return reject(number, text, "",
                    "the line is not UTF-8; save what the exporter sent as it is");
    }
    const auto sample = parse_sample(text, dialect);
    if (!sample) return reject(number, text, "", sample.error().message);
    if (!*sample) return;
    ++counts_.samples;
    if (!(*sample)->at) {
      if (!options_.at) {
        return reject(number, text, "",
                      "the sample has no time; say with --at when it was scraped");
      }
      ++counts_.timeless;
    }
    if (const auto done = gather(number, **sample); !done) {
      reject(number, text, (*sample)->metric, done.error().message);
    }
  }

  Result<Document> finish() && {
    if (devices_.empty() && rejected_.empty()) {
      return fail(ErrorCode::kBadFile,
                  counts_.samples == 0
                      ? "there is no sample in it; give what dcgm-exporter serves at /metrics"
                      : "none of its metrics is one of dcgm-exporter's, such as "
                        "DCGM_FI_DEV_FB_USED; give what it serves at /metrics");
    }
    count_shared();
    // Usages first: they show how much memory each GPU has.
    Document document;
    document.usages = usages();
    document.gpus = gpus();
    document.rejected = std::move(rejected_);
    document.counts = counts_;
    return document;
  }

 private:
  using UsageKey = std::tuple<Instant, std::string, std::string, std::string>;

  Result<void> gather(std::uint64_t number, const Sample& sample) {
    const DcgmMetric* const metric = find_field(sample.metric);
    if (metric == nullptr) {
      ++counts_.other_metrics;
      // Any metric of a device shows that the device is there, if its labels are valid.
      if (sample.metric.starts_with("DCGM_FI_")) {
        if (const auto device = sample_device(sample)) see(number, *device, sample.at);
      }
      return {};
    }
    const auto device = TRY(sample_device(sample));
    const auto value = TRY(parse_value(sample.value));
    std::optional<std::uint64_t> measured;
    if (value) {
      const auto in_scale = TRY(measure(*metric, *value));
      measured = in_scale;
    }
    see(number, device, sample.at);
    if (!measured) {
      ++counts_.blank;
      return {};
    }
    return keep(number, device, time_of(sample.at), metric->field, *measured);
  }

  Instant time_of(std::optional<Instant> sample_at) const {
    return sample_at ? *sample_at : options_.at.value();
  }

  // A device exists from its earliest sample on.
  void see(std::uint64_t number, const Device& device, std::optional<Instant> sample_at) {
    const Instant at = time_of(sample_at);
    const auto [place, is_new] =
        devices_.try_emplace(device.uuid, Gpu{.cluster = options_.cluster,
                                              .node = options_.node.value_or(NodeId(device.node)),
                                              .uuid = GpuId(device.uuid),
                                              .index = device.index,
                                              .model = device.model,
                                              .memory_bytes = std::nullopt,
                                              .mig_instances = {},
                                              .from = at,
                                              .to = std::nullopt,
                                              .id = {},
                                              .source = {number}});
    Gpu& gpu = place->second;
    gpu.from = std::min(gpu.from, at);
    if (is_new && !options_.node && is_exporter(device.node)) ++counts_.exporter_nodes;
    if (device.mig_instance.empty()) return;
    GpuId id(device.mig_uuid.empty() ? fmt::format("{}/gi{}", device.uuid, device.mig_instance)
                                     : device.mig_uuid);
    const bool known = std::ranges::any_of(
        gpu.mig_instances, [&](const MigInstance& instance) { return instance.id == id; });
    if (!known) gpu.mig_instances.push_back({std::move(id), device.mig_profile});
  }

  Result<void> keep(std::uint64_t number, const Device& device, Instant at, Field field,
                    std::uint64_t value) {
    UsageKey key(at, device.uuid, device.mig_instance, device.workload);
    auto place = usages_.find(key);
    if (place == usages_.end()) {
      Usage usage{.cluster = options_.cluster,
                  .node = options_.node.value_or(NodeId(device.node)),
                  .gpu = GpuId(device.uuid),
                  .mig_instance = device.mig_instance,
                  .mig_profile = device.mig_profile,
                  .model = device.model,
                  .at = at,
                  .gpu_util_ppm = std::nullopt,
                  .engine_active_ppm = std::nullopt,
                  .sm_active_ppm = std::nullopt,
                  .memory_used_bytes = std::nullopt,
                  .memory_total_bytes = std::nullopt,
                  .power_milliwatts = std::nullopt,
                  .energy_millijoules = std::nullopt,
                  .workload = WorkloadId(device.workload),
                  .id = {},
                  .source = {number}};
      place = usages_.try_emplace(std::move(key), DeviceReading{std::move(usage), {}}).first;
    }
    const auto [at_field, is_new] = place->second.values.try_emplace(field, value);
    if (is_new) return {};
    if (at_field->second == value) {
      ++counts_.copies;
      return {};
    }
    return fail(
        ErrorCode::kConflict,
        fmt::format("the value was {} already for this GPU, instance, workload and instant, "
                    "and is {} here (in the unit of the ledger); the first is kept",
                    at_field->second, value));
  }

  void count_shared() {
    std::map<std::tuple<Instant, std::string, std::string>, std::uint64_t> workloads;
    for (const auto& [key, measured] : usages_) {
      const auto& [at, uuid, instance, workload] = key;
      if (!workload.empty()) ++workloads[{at, uuid, instance}];
    }
    std::set<std::pair<std::string, std::string>> shared;
    for (const auto& [key, count] : workloads) {
      if (count > 1) shared.emplace(std::get<1>(key), std::get<2>(key));
    }
    counts_.shared_devices = shared.size();
  }

  std::vector<Gpu> gpus() {
    std::vector<Gpu> sorted;
    for (auto& [uuid, gpu] : devices_) {
      std::ranges::sort(gpu.mig_instances, {}, &MigInstance::id);
      sorted.push_back(std::move(gpu));
    }
    std::ranges::sort(sorted, [](const Gpu& a, const Gpu& b) {
      return std::tie(a.node, a.index, a.uuid) < std::tie(b.node, b.index, b.uuid);
    });
    return sorted;
  }

  std::vector<Usage> usages() {
    std::vector<Usage> sorted;
    for (auto& [key, measured] : usages_) {
      Usage& usage = measured.usage;
      const auto value = [&](Field field) -> std::optional<std::uint64_t> {
        const auto at = measured.values.find(field);
        if (at == measured.values.end()) return std::nullopt;
        return at->second;
      };
      usage.gpu_util_ppm = value(Field::kGpuUtil);
      usage.engine_active_ppm = value(Field::kEngineActive);
      usage.sm_active_ppm = value(Field::kSmActive);
      usage.tensor_active_ppm = value(Field::kTensorActive);
      usage.dram_active_ppm = value(Field::kDramActive);
      usage.memory_used_bytes = value(Field::kMemoryUsed);
      usage.memory_total_bytes = value(Field::kMemoryTotal);
      usage.power_milliwatts = value(Field::kPower);
      usage.energy_millijoules = value(Field::kEnergy);
      // total = used + free + reserved; without the reserved part the total is unknown.
      const auto free = value(Field::kMemoryFree);
      const auto reserved = value(Field::kMemoryReserved);
      if (!usage.memory_total_bytes && usage.memory_used_bytes && free && reserved) {
        usage.memory_total_bytes = *usage.memory_used_bytes + *free + *reserved;
      }
      if (usage.mig_instance.empty() && usage.memory_total_bytes) {
        devices_.at(usage.gpu.text()).memory_bytes = usage.memory_total_bytes;
      }
      sorted.push_back(std::move(usage));
    }
    return sorted;
  }

  void reject(std::uint64_t number, std::string_view text, std::string_view column,
              std::string reason) {
    rejected_.push_back({.file = options_.file,
                         .line = number,
                         .column = std::string(column),
                         .reason = std::move(reason),
                         .text = printable_text(text, limits::kRejectedTextBytesMax)});
  }

  const Options& options_;
  std::map<std::string, Gpu> devices_;  // by UUID
  std::map<UsageKey, DeviceReading> usages_;
  std::vector<RejectedRow> rejected_;
  Counts counts_;
};

}  // namespace

Result<Document> parse(std::string_view document, const Options& options) {
  if (document.size() > limits::kDocumentBytesMax) {
    return fail(ErrorCode::kLimit, fmt::format("{}: more than {} bytes; split it", options.file,
                                               limits::kDocumentBytesMax));
  }
  if (document.starts_with("\xEF\xBB\xBF")) document.remove_prefix(3);
  if (document.find('\0') != std::string_view::npos) {
    return fail(ErrorCode::kBadFile,
                fmt::format("{}: this is not text; unpack it if it is compressed", options.file));
  }
  const Dialect dialect = detect_dialect(document);
  Gatherer gatherer(options);
  std::uint64_t number = 0;
  while (!document.empty()) {
    ++number;
    const std::size_t end = std::min(document.find('\n'), document.size());
    std::string_view line = document.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    gatherer.line(number, line, dialect);
    document.remove_prefix(std::min(end + 1, document.size()));
  }
  auto gathered = std::move(gatherer).finish();
  if (!gathered) return std::unexpected(gathered.error().during(options.file));
  return gathered;
}

}  // namespace pennyweight::dcgm
