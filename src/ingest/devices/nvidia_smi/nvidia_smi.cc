#include "ingest/devices/nvidia_smi/nvidia_smi.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>
#include <variant>

#include "core/limits.h"
#include "core/plain_text.h"
#include "core/try.h"
#include "ingest/devices/nvidia_smi/device_list.h"
#include "ingest/devices/nvidia_smi/device_table.h"
#include "ingest/devices/nvidia_smi/instance_list.h"
#include "ingest/devices/nvidia_smi/log_xml.h"
#include "ingest/devices/nvidia_smi/query.h"

namespace pennyweight::nvidia_smi {
namespace {

struct DocumentLine {
  std::uint64_t number;
  std::string_view text;  // without its line end
};

std::vector<DocumentLine> split_lines(std::string_view document) {
  std::vector<DocumentLine> lines;
  while (!document.empty()) {
    const std::size_t end = std::min(document.find('\n'), document.size());
    std::string_view line = document.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.push_back({lines.size() + 1, line});
    document.remove_prefix(std::min(end + 1, document.size()));
  }
  return lines;
}

// Reads the parts of a document, and then finds which GPU each means.
class Capture {
 public:
  explicit Capture(const Options& options) : options_(options), table_(options.zone) {}

  Result<void> read(std::string_view document) {
    if (is_log(document)) return take_log(document);
    const std::vector<DocumentLine> lines = split_lines(document);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (is_query_header(lines[i].text)) {
        i = read_rows(document, lines, i);
      } else {
        read_line(lines[i]);
      }
    }
    return {};
  }

  Result<Document> finish() && {
    if (listed_.empty() && cards_.empty() && mig_.empty() && instances_.empty() &&
        rejected_.empty()) {
      return fail(ErrorCode::kBadFile,
                  "there is no output of nvidia-smi in it that names a GPU; run nvidia-smi "
                  "--query-gpu=timestamp,index,uuid,name,memory.total,memory.used,utilization.gpu,"
                  "power.draw --format=csv, with its header, and nvidia-smi -L");
    }
    name_cards();
    for (const GpuReading& card : cards_) add_gpu_usage(card);
    for (const MigReading& mig : mig_) add_mig_usage(mig);
    Document document;
    document.gpus = gpus();
    for (auto& [key, usage] : usages_) document.usages.push_back(std::move(usage));
    std::ranges::sort(rejected_, [](const RejectedRow& a, const RejectedRow& b) {
      return std::tie(a.line, a.column, a.reason) < std::tie(b.line, b.column, b.reason);
    });
    document.rejected = std::move(rejected_);
    document.used_given_time = used_given_time_;
    return document;
  }

 private:
  using UsageKey =
      std::tuple<Instant, std::string, std::uint64_t>;  // 0: the card; else instance + 1

  Result<void> take_log(std::string_view document) {
    auto log = TRY(read_log(document, options_.zone));
    cards_ = std::move(log.cards);
    mig_ = std::move(log.mig);
    for (auto& refused : log.refused) {
      reject(refused.line, "", refused.element, std::move(refused.reason));
    }
    return {};
  }

  // A header and its rows, up to an empty line or the rule of a capture file. Returns the position
  // of the last line.
  std::size_t read_rows(std::string_view document, const std::vector<DocumentLine>& lines,
                        std::size_t header) {
    std::size_t end = header + 1;
    while (end < lines.size() && !lines[end].text.empty() && !lines[end].text.starts_with('#')) {
      ++end;
    }
    const auto offset = [&](std::string_view place) {
      return static_cast<std::size_t>(place.data() - document.data());
    };
    const std::size_t begin = offset(lines[header].text);
    const std::size_t length = offset(lines[end - 1].text) + lines[end - 1].text.size() - begin;
    const auto done = read_query(
        document.substr(begin, length), lines[header].number, options_.zone,
        [&](GpuReading card) { cards_.push_back(std::move(card)); },
        [&](const QueryRefusal& refusal) {
          reject(refusal.line, refusal.text, refusal.column, refusal.reason);
        });
    if (!done) reject(lines[header].number, lines[header].text, "", done.error().message);
    return end - 1;
  }

  void read_line(const DocumentLine& line) {
    if (auto gpu = parse_listed_gpu(line.text)) {
      gpu->line = line.number;
      return list(*std::move(gpu), line);
    }
    if (auto device = parse_listed_mig_device(line.text)) {
      if (last_listed_ != nullptr) list(*std::move(device), line);
      return;
    }
    auto instance = instance_list_.line(line.number, line.text);
    if (!instance) return reject(line.number, line.text, "", instance.error().message);
    if (*instance) return list(**std::move(instance), line);
    if (instance_list_.is_inside()) return;
    auto reading = table_.line(line.number, line.text);
    if (!reading) return reject(line.number, line.text, "", reading.error().message);
    if (auto* card = std::get_if<GpuReading>(&*reading)) cards_.push_back(std::move(*card));
    if (auto* mig = std::get_if<MigReading>(&*reading)) mig_.push_back(std::move(*mig));
  }

  void list(ListedGpu gpu, const DocumentLine& line) {
    if (!is_plain_text(line.text)) return reject_encoding(line);
    const auto [place, is_new] = listed_.try_emplace(gpu.index, gpu);
    last_listed_ = &place->second;
    if (!is_new && place->second.uuid != gpu.uuid) {
      last_listed_ = nullptr;
      reject(
          line.number, line.text, "",
          fmt::format("index {} is '{}' here and '{}' on line {}: captures of two machines; give "
                      "each a file of its own",
                      gpu.index, gpu.uuid, place->second.uuid, place->second.line));
    }
  }

  void list(ListedGpu::MigDevice device, const DocumentLine& line) {
    if (!is_plain_text(line.text)) return reject_encoding(line);
    auto& devices = last_listed_->mig_devices;
    const auto known = std::ranges::find(devices, device.number, &ListedGpu::MigDevice::number);
    if (known == devices.end()) {
      devices.push_back(std::move(device));
    } else if (known->uuid != device.uuid || known->profile != device.profile) {
      reject(line.number, line.text, "",
             "another MIG layout than above; give each layout a file of its own");
    }
  }

  void list(ListedInstance instance, const DocumentLine& line) {
    if (!is_plain_text(line.text)) return reject_encoding(line);
    const std::pair key(instance.gpu_index, instance.gpu_instance);
    const auto [place, is_new] = instances_.try_emplace(key, instance);
    const ListedInstance& first = place->second;
    if (!is_new && (first.profile != instance.profile || first.start != instance.start)) {
      reject(line.number, line.text, "",
             fmt::format("instance {} of GPU {} is a {} at {} on line {}: another MIG layout; give "
                         "each layout a file of its own",
                         instance.gpu_instance, instance.gpu_index, first.profile, first.start,
                         first.line));
    }
  }

  // Gives a UUID to the GPUs that the table names only by index, and a model to all.
  void name_cards() {
    for (const auto& [index, gpu] : listed_) model_by_uuid_.try_emplace(gpu.uuid, gpu.model);
    for (const GpuReading& card : cards_) {
      if (!card.uuid.empty() && !card.model.empty()) {
        model_by_uuid_.try_emplace(card.uuid, card.model);
      }
    }
    std::map<std::uint32_t, std::string> by_index;
    for (const auto& [index, gpu] : listed_) by_index[index] = gpu.uuid;
    for (const GpuReading& card : cards_) {
      if (card.index && !card.uuid.empty()) by_index.try_emplace(*card.index, card.uuid);
    }
    for (GpuReading& card : cards_) {
      if (!card.uuid.empty() || !card.index) continue;
      if (const auto at = by_index.find(*card.index); at != by_index.end()) card.uuid = at->second;
    }
    uuid_by_index_ = std::move(by_index);
  }

  void add_gpu_usage(const GpuReading& card) {
    if (card.uuid.empty()) {
      return reject(card.line, card.text, "uuid",
                    "nothing says which GPU this is; capture nvidia-smi -L with it, or add uuid to "
                    "--query-gpu");
    }
    const auto at = time_of(card);
    if (!at) return reject_timeless(card.line, card.text);
    see(card, *at);
    Usage usage = empty_usage(card.line, card.uuid, *at);
    usage.gpu_util_ppm = card.gpu_util_ppm;
    usage.memory_used_bytes = card.memory_used_bytes;
    usage.memory_total_bytes = card.memory_total_bytes;
    usage.power_milliwatts = card.power_milliwatts;
    if (!usage.gpu_util_ppm && !usage.memory_used_bytes && !usage.power_milliwatts) return;
    keep({*at, card.uuid, 0}, std::move(usage), card.text);
  }

  void add_mig_usage(const MigReading& mig) {
    const auto uuid = uuid_by_index_.find(mig.gpu_index);
    if (uuid == uuid_by_index_.end()) {
      return reject(mig.line, mig.text, "",
                    fmt::format("nothing says which GPU index {} is; capture nvidia-smi -L with it",
                                mig.gpu_index));
    }
    const auto at = time_of(mig);
    if (!at) return reject_timeless(mig.line, mig.text);
    Usage usage = empty_usage(mig.line, uuid->second, *at);
    usage.mig_instance = std::to_string(mig.gpu_instance);
    usage.memory_used_bytes = mig.memory_used_bytes;
    usage.memory_total_bytes = mig.memory_total_bytes;
    if (const auto instance = instances_.find({mig.gpu_index, mig.gpu_instance});
        instance != instances_.end()) {
      usage.mig_profile = instance->second.profile;
    } else if (const auto listed = listed_.find(mig.gpu_index); listed != listed_.end()) {
      const auto& devices = listed->second.mig_devices;
      const auto device = std::ranges::find(devices, mig.mig_device, &ListedGpu::MigDevice::number);
      if (device != devices.end()) usage.mig_profile = device->profile;
    }
    if (const auto card = usages_.find({*at, uuid->second, 0}); card != usages_.end()) {
      usage.power_milliwatts = card->second.power_milliwatts;
    }
    keep({*at, uuid->second, std::uint64_t{mig.gpu_instance} + 1}, std::move(usage), mig.text);
  }

  Usage empty_usage(std::uint64_t line, const std::string& uuid, Instant at) const {
    const auto gpu = gpus_.find(uuid);
    return {.cluster = options_.cluster,
            .node = options_.node,
            .gpu = GpuId(uuid),
            .mig_instance = {},
            .mig_profile = {},
            .model = gpu == gpus_.end() ? model_of(uuid) : gpu->second.model,
            .at = at,
            .gpu_util_ppm = std::nullopt,
            .engine_active_ppm = std::nullopt,
            .sm_active_ppm = std::nullopt,
            .memory_used_bytes = std::nullopt,
            .memory_total_bytes = std::nullopt,
            .power_milliwatts = std::nullopt,
            .energy_millijoules = std::nullopt,
            .workload = WorkloadId(""),
            .id = {},
            .source = {line}};
  }

  // Compute instances of one GPU instance report the same values; anything else is a conflict.
  void keep(UsageKey key, Usage usage, const std::string& text) {
    const std::uint64_t line = usage.source.line;
    const auto [place, is_new] = usages_.try_emplace(std::move(key), usage);
    usage.source = place->second.source;
    usage.mig_profile = place->second.mig_profile;
    if (!is_new && usage != place->second) {
      reject(line, text, "",
             fmt::format("differs from line {} for the same GPU and instant: {}; the first is kept",
                         place->second.source.line, difference(place->second, usage)));
    }
  }

  std::string model_of(const std::string& uuid) const {
    const auto model = model_by_uuid_.find(uuid);
    return model == model_by_uuid_.end() ? std::string() : model->second;
  }

  std::optional<Instant> given_time() {
    if (options_.at) used_given_time_ = true;
    return options_.at;
  }
  template <typename Reading>
  std::optional<Instant> time_of(const Reading& reading) {
    return reading.at ? reading.at : given_time();
  }

  // A GPU exists from its earliest reading on.
  Gpu& see(const std::string& uuid, std::uint32_t index, std::uint64_t line, Instant at) {
    const auto [place, is_new] = gpus_.try_emplace(uuid, Gpu{.cluster = options_.cluster,
                                                             .node = options_.node,
                                                             .uuid = GpuId(uuid),
                                                             .index = index,
                                                             .model = model_of(uuid),
                                                             .memory_bytes = std::nullopt,
                                                             .mig_instances = {},
                                                             .from = at,
                                                             .to = std::nullopt,
                                                             .id = {},
                                                             .source = {line}});
    place->second.from = std::min(place->second.from, at);
    return place->second;
  }
  void see(const GpuReading& card, Instant at) {
    Gpu& gpu = see(card.uuid, card.index.value_or(0), card.line, at);
    if (!gpu.memory_bytes) gpu.memory_bytes = card.memory_total_bytes;
  }

  std::vector<Gpu> gpus() {
    for (const auto& [index, listed] : listed_) {
      const auto seen = gpus_.find(listed.uuid);
      const auto at = seen != gpus_.end() ? seen->second.from : given_time();
      if (!at) {
        reject_timeless(listed.line, listed.model);
        continue;
      }
      Gpu& gpu = see(listed.uuid, index, listed.line, *at);
      for (const auto& device : listed.mig_devices) {
        gpu.mig_instances.push_back({GpuId(device.uuid), device.profile});
      }
    }
    add_listed_instances();
    std::vector<Gpu> sorted;
    for (auto& [uuid, gpu] : gpus_) sorted.push_back(std::move(gpu));
    std::ranges::sort(sorted, [](const Gpu& a, const Gpu& b) {
      return std::tie(a.index, a.uuid) < std::tie(b.index, b.uuid);
    });
    return sorted;
  }

  // The layout of GPUs for which -L names no MIG devices: it names only those with a compute
  // instance, and a capture may be without -L.
  void add_listed_instances() {
    for (const auto& [key, instance] : instances_) {
      const auto& [index, number] = key;
      const auto uuid = uuid_by_index_.find(index);
      if (uuid == uuid_by_index_.end()) {
        reject(
            instance.line, instance.text, "",
            fmt::format("nothing says which GPU index {} is; capture nvidia-smi -L before it, in "
                        "the same file",
                        index));
        continue;
      }
      const auto listed = listed_.find(index);
      if (listed != listed_.end() && !listed->second.mig_devices.empty()) continue;
      const auto seen = gpus_.find(uuid->second);
      const auto at = seen != gpus_.end() ? seen->second.from : given_time();
      if (!at) {
        reject_timeless(instance.line, instance.text);
        continue;
      }
      see(uuid->second, index, instance.line, *at)
          .mig_instances.push_back(
              {GpuId(fmt::format("{}/gi{}", uuid->second, number)), instance.profile});
    }
  }

  void reject_encoding(const DocumentLine& line) {
    reject(line.number, line.text, "", "the line is not UTF-8; capture it once more");
  }

  void reject_timeless(std::uint64_t line, std::string_view text) {
    reject(
        line, text, "timestamp",
        "nothing says when this was; add timestamp to --query-gpu, or tell the import when it was "
        "captured");
  }

  void reject(std::uint64_t line, std::string_view text, std::string_view column,
              std::string reason) {
    rejected_.push_back({.file = options_.file,
                         .line = line,
                         .column = std::string(column),
                         .reason = std::move(reason),
                         .text = printable_text(text, limits::kRejectedTextBytesMax)});
  }

  const Options& options_;
  DeviceTable table_;
  std::map<std::uint32_t, ListedGpu> listed_;  // by index
  ListedGpu* last_listed_ = nullptr;           // whose MIG devices follow
  std::vector<GpuReading> cards_;
  std::vector<MigReading> mig_;
  InstanceList instance_list_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, ListedInstance> instances_;  // GPU, instance
  std::map<std::uint32_t, std::string> uuid_by_index_;
  std::map<std::string, std::string> model_by_uuid_;
  std::map<std::string, Gpu> gpus_;  // by UUID
  std::map<UsageKey, Usage> usages_;
  std::vector<RejectedRow> rejected_;
  bool used_given_time_ = false;
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
                fmt::format("{}: this is not plain text; save it as UTF-8, and unpack it if it is "
                            "compressed",
                            options.file));
  }
  Capture capture(options);
  if (const auto done = capture.read(document); !done) {
    return std::unexpected(done.error().during(options.file));
  }
  auto facts = std::move(capture).finish();
  if (!facts) return std::unexpected(facts.error().during(options.file));
  return facts;
}

}  // namespace pennyweight::nvidia_smi
