#include "ingest/devices/xpu_smi/xpu_smi.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "core/ascii.h"
#include "core/decimal.h"
#include "core/limits.h"
#include "core/plain_text.h"
#include "core/try.h"
#include "core/whole_count.h"
#include "ingest/devices/json/json_capture.h"

namespace pennyweight::xpu_smi {
namespace {

using json_capture::element;
using json_capture::find;
using json_capture::for_each_document;
using json_capture::text_of;

constexpr std::size_t kTilesMax = 64;

// A statistic, in the unit that the program prints and in ours.
struct Statistic {
  std::string_view name;
  std::uint64_t scale;
  std::int64_t most;
  bool is_mean;  // of the tiles; else it is their sum
};
constexpr Statistic kUtilisation{"XPUM_STATS_GPU_UTILIZATION", 10'000, 100, true};  // percent
constexpr Statistic kMemoryUsed{"XPUM_STATS_MEMORY_USED", 1, std::int64_t{1} << 46, false};
constexpr Statistic kPower{"XPUM_STATS_POWER", 1000, 100'000, false};  // watts

struct Seen {
  std::string uuid, model;
  std::optional<std::uint64_t> memory_total, memory_used, util, power;
  std::optional<Instant> at;
  bool has_reading = false;
  std::string mistake;  // the first
};

class Reader {
 public:
  Result<void> read(element root) {
    const auto list = find(root, {"device_list"});
    if (!list) return read_device(root);
    if (!list->is_array()) return {};
    const simdjson::dom::array entries = list->get_array().value_unsafe();
    for (const element each : entries) {
      TRY(read_device(each));
    }
    return {};
  }

  std::map<std::uint64_t, Seen>& devices() { return devices_; }

 private:
  Result<void> read_device(element entry) {
    const auto number = find(entry, {"device_id"});
    if (!number) return {};
    std::uint64_t index = 0;
    if (number->get(index) != simdjson::SUCCESS || index >= limits::kGpusPerNodeMax) {
      return fail(ErrorCode::kBadFile, fmt::format("a GPU's device_id is not a number below {}",
                                                   limits::kGpusPerNodeMax));
    }
    Seen& seen = devices_[index];
    if (seen.uuid.empty()) seen.uuid = text_of(find(entry, {"uuid"}));
    if (seen.model.empty()) seen.model = text_of(find(entry, {"device_name"}));
    const std::string bytes = text_of(find(entry, {"memory_physical_size_byte"}));
    if (const auto total = parse_count(bytes, std::uint64_t{1} << 46); total && *total > 0) {
      seen.memory_total = *total;
    }
    const auto whole = find(entry, {"device_level"});
    const auto tiles = find(entry, {"tile_level"});
    if (!whole && !tiles) return {};
    if (seen.has_reading) {
      return fail(ErrorCode::kBadFile,
                  fmt::format("two readings of GPU {}; import each capture of xpu-smi stats as a "
                              "file of its own",
                              index));
    }
    seen.has_reading = true;
    if (const auto end = parse_instant(text_of(find(entry, {"end"})))) seen.at = *end;
    const std::pair<const Statistic*, std::optional<std::uint64_t>*> all[] = {
        {&kUtilisation, &seen.util}, {&kMemoryUsed, &seen.memory_used}, {&kPower, &seen.power}};
    for (const auto& [statistic, into] : all) {
      if (whole) *into = value_in(*whole, *statistic, seen);
      if (!*into && tiles) *into = value_of_tiles(*tiles, *statistic, seen);
    }
    return {};
  }

  static std::optional<std::uint64_t> value_in(element list, const Statistic& statistic,
                                               Seen& seen) {
    if (!list.is_array()) return std::nullopt;
    const simdjson::dom::array entries = list.get_array().value_unsafe();
    for (const element each : entries) {
      if (text_of(find(each, {"metrics_type"})) != statistic.name) continue;
      const std::string text = text_of(find(each, {"value"}));
      const auto value = parse_exact_decimal(text);
      if (!value || value->is_negative() || *value > Decimal::from_units(statistic.most)) {
        if (seen.mistake.empty()) {
          seen.mistake = fmt::format("{}: '{}' is not a number of 0 to {}", statistic.name,
                                     printable_text(text, 60), statistic.most);
        }
        return std::nullopt;
      }
      const auto count = nearest_count(*value, statistic.scale);
      return count ? std::optional(*count) : std::nullopt;
    }
    return std::nullopt;
  }

  // Nothing where a tile lacks it: a part of a sum is not the sum.
  static std::optional<std::uint64_t> value_of_tiles(element list, const Statistic& statistic,
                                                     Seen& seen) {
    if (!list.is_array()) return std::nullopt;
    std::uint64_t sum = 0, tiles = 0;
    const simdjson::dom::array entries = list.get_array().value_unsafe();
    for (const element each : entries) {
      const auto data = find(each, {"data_list"});
      const auto value = data ? value_in(*data, statistic, seen) : std::nullopt;
      if (!value || ++tiles > kTilesMax) return std::nullopt;
      sum += std::min(*value, UINT64_MAX / (2 * kTilesMax));
    }
    if (tiles == 0) return std::nullopt;
    return statistic.is_mean ? sum / tiles : sum;
  }

  std::map<std::uint64_t, Seen> devices_;
};

bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= limits::kIdBytesMax / 2 && is_plain_text(text);
}

Result<void> add_facts(std::uint64_t index, const Seen& seen, const Options& options,
                       Document& document) {
  const auto reject = [&](std::string_view reason) {
    document.rejected.push_back(json_capture::rejected_gpu(options.file, index, reason));
  };
  if (!seen.mistake.empty()) {
    reject(seen.mistake);
    return {};
  }
  if (seen.uuid.empty()) {
    return fail(ErrorCode::kBadFile,
                fmt::format("nothing says which GPU number {} is; put the output of `xpu-smi "
                            "discovery -j` before it in the file",
                            index));
  }
  if (!is_name(seen.uuid) || seen.model.size() > limits::kIdBytesMax) {
    reject("its UUID or model is no name");
    return {};
  }
  const auto at = seen.at ? seen.at : options.at;
  if (!at) return fail(ErrorCode::kConfig, "nothing says when this was captured; give --at");
  document.used_given_time = document.used_given_time || !seen.at;
  const GpuId gpu(options.node.text() + "/" + seen.uuid);
  document.gpus.push_back({.cluster = options.cluster,
                           .node = options.node,
                           .uuid = gpu,
                           .index = static_cast<std::uint32_t>(index),
                           .model = seen.model,
                           .memory_bytes = seen.memory_total,
                           .mig_instances = {},
                           .from = *at,
                           .to = {},
                           .id = {},
                           .source = {}});
  if (!seen.util && !seen.memory_used && !seen.power) return {};
  document.usages.push_back({.cluster = options.cluster,
                             .node = options.node,
                             .gpu = gpu,
                             .mig_instance = {},
                             .mig_profile = {},
                             .model = seen.model,
                             .at = *at,
                             .gpu_util_ppm = seen.util,
                             .engine_active_ppm = std::nullopt,
                             .sm_active_ppm = std::nullopt,
                             .memory_used_bytes = seen.memory_used,
                             .memory_total_bytes = seen.memory_total,
                             .power_milliwatts = seen.power,
                             .energy_millijoules = std::nullopt,
                             .workload = WorkloadId(""),
                             .id = {},
                             .source = {}});
  return {};
}

}  // namespace

Result<Document> parse(std::string_view document, const Options& options) {
  Reader reader;
  TRY(for_each_document(document, "-j", [&](element root) { return reader.read(root); }));
  if (reader.devices().empty()) {
    return fail(ErrorCode::kBadFile,
                "there is no GPU in it; run xpu-smi discovery -j, and xpu-smi stats -d N -j");
  }
  Document facts;
  for (const auto& [index, seen] : reader.devices()) {
    TRY(add_facts(index, seen, options, facts));
  }
  return facts;
}

bool is_xpu_smi(std::string_view beginning) {
  const std::string_view text = ascii::trim(beginning, ascii::kWhitespace);
  if (!text.starts_with('{')) return false;
  const auto has = [&](std::string_view word) { return text.find(word) != std::string_view::npos; };
  return has("\"device_id\"") &&
         (has("\"pci_bdf_address\"") || has("\"XPUM_STATS_") || has("\"device_level\""));
}

}  // namespace pennyweight::xpu_smi
