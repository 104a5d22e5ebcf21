#include "ingest/devices/nvidia_smi/log_xml.h"

#include <fmt/format.h>

#include <algorithm>
#include <pugixml.hpp>
#include <utility>

#include "core/ascii.h"
#include "core/check.h"
#include "core/decimal.h"
#include "core/limits.h"
#include "core/plain_text.h"
#include "core/whole_count.h"
#include "ingest/devices/nvidia_smi/local_time.h"

namespace pennyweight::nvidia_smi {
namespace {

// A log has some 500 lines for each GPU; as a tree in memory it is several times its text.
constexpr std::size_t kLogBytesMax = 64u << 20;

// The unit of an element of the log, its size in ours, and its largest value.
struct LogUnit {
  std::string_view unit;
  std::uint64_t units;
  std::int64_t most;
};
constexpr LogUnit kLogMemory{" MiB", 1u << 20, 1 << 26};
constexpr LogUnit kLogUtil{" %", 10'000, 100};
constexpr LogUnit kLogPower{" W", 1000, 100'000};

class Reader {
 public:
  Reader(std::string_view document, const TimeZone& zone) : document_(document), zone_(zone) {}

  Result<LogReading> read() {
    pugi::xml_document tree;
    const pugi::xml_parse_result parsed = tree.load_buffer(document_.data(), document_.size());
    if (!parsed) {
      return fail(
          ErrorCode::kBadFile,
          fmt::format("line {}: not well-formed XML: {}; capture nvidia-smi -q -x once more",
                      line_of(parsed.offset), parsed.description()));
    }
    const pugi::xml_node log = tree.child("nvidia_smi_log");
    if (!log) {
      return fail(ErrorCode::kBadFile, "no <nvidia_smi_log>: not what nvidia-smi -q -x prints");
    }
    std::optional<Instant> at;
    if (const pugi::xml_node time = log.child("timestamp")) {
      const auto parsed_time = parse_table_time(time.child_value(), zone_);
      if (!parsed_time) return std::unexpected(parsed_time.error().during("<timestamp>"));
      at = *parsed_time;
    }
    std::uint32_t index = 0;
    for (const pugi::xml_node gpu : log.children("gpu")) {
      if (index == limits::kGpusPerNodeMax) {
        return fail(ErrorCode::kLimit, fmt::format("more than {} GPUs", limits::kGpusPerNodeMax));
      }
      read_card(gpu, index++, at);
    }
    return std::move(reading_);
  }

 private:
  // Programs that write the log anew pad its values.
  static std::string_view trimmed(pugi::xml_node node) {
    return ascii::trim(node.child_value(), " \t\r\n");
  }

  std::uint64_t line_of(std::ptrdiff_t offset) const {
    const auto end =
        std::min(static_cast<std::size_t>(std::max<std::ptrdiff_t>(offset, 0)), document_.size());
    return 1 + static_cast<std::uint64_t>(std::ranges::count(document_.substr(0, end), '\n'));
  }

  void refuse(pugi::xml_node node, std::string reason) {
    reading_.refused.push_back({line_of(node.offset_debug()), node.name(), std::move(reason)});
  }

  void read_card(pugi::xml_node gpu, std::uint32_t index, std::optional<Instant> at) {
    const std::size_t refused = reading_.refused.size();
    const std::string_view uuid = trimmed(gpu.child("uuid"));
    const std::string_view model = trimmed(gpu.child("product_name"));
    if (uuid.empty() || uuid.size() > limits::kIdBytesMax || model.size() > limits::kIdBytesMax) {
      return refuse(gpu, "the GPU has no <uuid>, or a name that is too long");
    }
    const pugi::xml_node memory = gpu.child("fb_memory_usage");
    // Drivers before 530 have <power_readings>.
    pugi::xml_node power = gpu.child("gpu_power_readings");
    if (!power) power = gpu.child("power_readings");
    pugi::xml_node draw = power.child("power_draw");
    if (!draw) draw = power.child("average_power_draw");  // drivers from 570 on
    GpuReading card{.line = line_of(gpu.offset_debug()),
                    .at = at,
                    .uuid = std::string(uuid),
                    .index = index,
                    .model = std::string(model),
                    .memory_used_bytes = measured(memory.child("used"), kLogMemory),
                    .memory_total_bytes = measured(memory.child("total"), kLogMemory),
                    .gpu_util_ppm = measured(gpu.child("utilization").child("gpu_util"), kLogUtil),
                    .power_milliwatts = measured(draw, kLogPower),
                    .text = std::string(uuid)};
    if (reading_.refused.size() != refused) return;
    reading_.cards.push_back(std::move(card));
    for (const pugi::xml_node device : gpu.child("mig_devices").children("mig_device")) {
      read_mig(device, index, at);
    }
  }

  void read_mig(pugi::xml_node device, std::uint32_t index, std::optional<Instant> at) {
    const std::size_t refused = reading_.refused.size();
    const pugi::xml_node memory = device.child("fb_memory_usage");
    const auto used = measured(memory.child("used"), kLogMemory);
    const auto total = measured(memory.child("total"), kLogMemory);
    const pugi::xml_node shared = device.child("device_attributes").child("shared");
    MigReading mig{.line = line_of(device.offset_debug()),
                   .at = at,
                   .gpu_index = index,
                   .gpu_instance = number(device, "gpu_instance_id"),
                   .compute_instance = number(device, "compute_instance_id"),
                   .mig_device = number(device, "index"),
                   .memory_used_bytes = used.value_or(0),
                   .memory_total_bytes = total.value_or(0),
                   .multiprocessors = number(shared, "multiprocessor_count"),
                   .text = {}};
    if (!used || !total) return;  // the device does not report them, or they were refused
    if (reading_.refused.size() == refused) reading_.mig.push_back(std::move(mig));
  }

  std::uint32_t number(pugi::xml_node parent, const char* name) {
    const auto value = parse_count(trimmed(parent.child(name)), limits::kGpusPerNodeMax - 1);
    if (!value) refuse(parent, fmt::format("<{}>: {}", name, value.error().message));
    return static_cast<std::uint32_t>(value.value_or(0));
  }

  // Nothing where the element is missing or says N/A.
  std::optional<std::uint64_t> measured(pugi::xml_node node, const LogUnit& measure) {
    std::string_view text = trimmed(node);
    if (text.empty() || text == "N/A" || text.starts_with('[') || text == "Unknown Error") {
      return std::nullopt;
    }
    if (!text.ends_with(measure.unit)) {
      refuse(node, fmt::format("'{}' is not in{}", printable_text(text, 60), measure.unit));
      return std::nullopt;
    }
    text.remove_suffix(measure.unit.size());
    const auto value = parse_exact_decimal(text);
    if (!value || value->is_negative() || *value > Decimal::from_units(measure.most)) {
      refuse(node, fmt::format("'{}' is not a number of 0 to {}{}", printable_text(text, 60),
                               measure.most, measure.unit));
      return std::nullopt;
    }
    const auto count = nearest_count(*value, measure.units);
    CHECK(count, "a value within its range fits");
    return *count;
  }

  std::string_view document_;
  const TimeZone& zone_;
  LogReading reading_;
};

}  // namespace

bool is_log(std::string_view document) {
  const std::size_t first = document.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return false;
  document.remove_prefix(first);
  return document.starts_with("<?xml") || document.starts_with("<nvidia_smi_log") ||
         document.starts_with("<!DOCTYPE");
}

Result<LogReading> read_log(std::string_view document, const TimeZone& zone) {
  if (document.size() > kLogBytesMax) {
    return fail(ErrorCode::kLimit, fmt::format("a log of more than {} bytes", kLogBytesMax));
  }
  if (!is_plain_text(document)) return fail(ErrorCode::kBadFile, "the log is not UTF-8");
  return Reader(document, zone).read();
}

}  // namespace pennyweight::nvidia_smi
