#include "telemetry/device_series.h"

#include <fmt/format.h>

#include <expected>
#include <string>
#include <string_view>

#include "core/gpu/device_id.h"
#include "core/limits.h"
#include "core/whole_count.h"
#include "telemetry/device_metric.h"

namespace pennyweight::telemetry {
namespace {

constexpr std::string_view kNoUuid =
    "a GPU series without the UUID; let the exporter identify GPUs by UUID";
constexpr std::string_view kMigUuid =
    "a MIG series without the UUID of its GPU; let the exporter write the GPU's "
    "UUID, and the instance as GPU_I_ID";
constexpr std::string_view kNoPod =
    "a container series without its pod; keep the labels of the exporter";

// "GPU-5b0d…", without the suffix of a device plugin ("::3" for a replica, "[0-2]" for HAMi's MIG
// slot); or why there is none.
std::expected<std::string, std::string_view> gpu_uuid(const LabelView& labels,
                                                      const DeviceMetric& metric) {
  std::string_view text =
      labels.first_exporter_value({"UUID", "uuid", "device_uuid", "deviceuuid"});
  text = text.substr(0, text.find('['));
  if (text.empty()) return std::unexpected(kNoUuid);
  // nvidia_gpu_exporter strips the "GPU-".
  const bool is_bare = metric.family == "nvidia-smi" && !text.starts_with("GPU-");
  const auto id = is_bare ? parse_device_id(fmt::format("GPU-{}", text)) : parse_device_id(text);
  // GKE's nvidia0 and nvidia0/gi1 are indexes, which another GPU may have after a reboot.
  if (!id || id->device.starts_with("nvidia")) return std::unexpected(kNoUuid);
  if (id->device.starts_with("MIG-")) return std::unexpected(kMigUuid);
  return id->device;
}

// The index of a GPU on its node.
std::int32_t gpu_index(const LabelView& labels) {
  const auto text = labels.first_exporter_value({"gpu", "device_index", "deviceidx"});
  const auto number = parse_count(text, limits::kGpusPerNodeMax - 1);
  return number ? static_cast<std::int32_t>(*number) : -1;
}

// "1c.3g.20gb" is one of three compute instances of a 3g.20gb.
struct Profile {
  std::string_view instance;  // "3g.20gb"
  std::uint64_t taken = 1;    // compute slices of the compute instance
  std::uint64_t slices = 1;   // and of its GPU instance
};
Profile parse_profile(std::string_view text) {
  const auto whole = Profile{.instance = text};
  const std::size_t dot = text.find('.');
  if (dot == std::string_view::npos || dot < 2 || text[dot - 1] != 'c') return whole;
  const std::string_view instance = text.substr(dot + 1);
  const auto taken = parse_count(text.substr(0, dot - 1), 8);
  const auto slices = parse_count(instance.substr(0, instance.find('g')), 8);
  if (!taken || !slices || *taken == 0 || *taken > *slices) return whole;
  return {.instance = instance, .taken = *taken, .slices = *slices};
}

bool is_memory(Quantity quantity) {
  return quantity == Quantity::kMemoryUsed || quantity == Quantity::kMemoryFree ||
         quantity == Quantity::kMemoryReserved || quantity == Quantity::kMemoryTotal;
}

// Measurements that the MIG instances of a GPU share belong to the GPU instance.
void set_instance(const LabelView& labels, DeviceSeries& series) {
  series.mig_instance = labels.exporter_value("GPU_I_ID");
  if (series.mig_instance.empty()) return;
  const Profile profile =
      parse_profile(labels.first_exporter_value({"GPU_I_PROFILE", "dra_mig_profile"}));
  series.mig_profile = profile.instance;
  // Compute instances share the memory of their GPU instance, and each reports all of it. Activity
  // is relative to the compute instance: its share of the GPU instance adds up over them.
  if (is_memory(series.quantity) || profile.taken == profile.slices) return;
  series.scale *= static_cast<double>(profile.taken) / static_cast<double>(profile.slices);
  series.component = fmt::format("{}c {}", profile.taken,
                                 labels.first_exporter_value({"GPU_CI_ID", "compute_instance_id"}));
}

}  // namespace

std::optional<Classification> classify_device_series(const LabelView& labels) {
  const auto metric = find_device_metric(labels.metric());
  if (!metric) return std::nullopt;
  const auto uuid = gpu_uuid(labels, *metric);
  if (!uuid) return Unusable{std::string(uuid.error())};

  DeviceSeries series{
      .cluster = labels.cluster(),
      .node = labels.node(),
      .gpu = GpuId(*uuid),
      .mig_instance = {},
      .mig_profile = {},
      .model = std::string(labels.first_exporter_value({"modelName", "model_name"})),
      .gpu_index = gpu_index(labels),
      .workload = WorkloadId(""),
      .quantity = metric->quantity,
      .component = std::string(metric->component),
      .source = labels.source(metric->family, metric->variant),
      .scale = metric->scale,
      .most = metric->most};
  if (metric->is_description) {
    series.is_description = true;
    series.model = labels.exporter_value("name");
    return series;
  }
  if (series.quantity == Quantity::kXidCount) series.component = labels.exporter_value("xid");
  if (is_per_gpu(series.quantity)) return series;

  // Under MIG there is no GPU_UTIL: what exporters write under that name is meaningless.
  if (series.quantity == Quantity::kGpuUtil && !labels.exporter_value("GPU_I_ID").empty())
    return Ignored{};
  series.workload = WorkloadId(labels.workload());
  if (metric->is_per_container) {
    if (series.workload.empty()) return Unusable{std::string(kNoPod)};
    series.of_workload = true;
    series.component = fmt::format("{}/{}", labels.first_exporter_value({"ctrname", "container"}),
                                   labels.first_exporter_value({"vdevice_index", "vdeviceid"}));
    return series;
  }
  if (metric->family == "hami") {
    series.workload = WorkloadId("");  // what the node's cards say; `pod` is the monitor
    return series;
  }
  set_instance(labels, series);
  return series;
}

}  // namespace pennyweight::telemetry
