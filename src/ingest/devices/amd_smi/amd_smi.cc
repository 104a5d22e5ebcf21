#include "ingest/devices/amd_smi/amd_smi.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <initializer_list>
#include <map>
#include <utility>

#include "core/ascii.h"
#include "core/decimal.h"
#include "core/limits.h"
#include "core/plain_text.h"
#include "core/try.h"
#include "core/whole_count.h"
#include "ingest/devices/json/json_capture.h"

namespace pennyweight::amd_smi {
namespace {

using json_capture::element;
using json_capture::find;
using json_capture::for_each_document;
using json_capture::text_of;

// A unit that values are written in, its size in ours, and the largest value in it.
struct Measure {
  std::string_view units;  // the words for it
  std::uint64_t scale;
  std::int64_t most;
};
constexpr Measure kPercent{"%", 10'000, 100};
constexpr Measure kWatts{"W", 1000, 100'000};
constexpr Measure kJoules{"J", 1000, 1'000'000'000'000'000};
constexpr Measure kMebibytes{"MB", std::uint64_t{1} << 20, 1 << 26};  // the programs mean 2^20
constexpr Measure kBytes{"B", 1, std::int64_t{1} << 46};

// One device as the programs see it: a GPU, or a partition of one.
struct Seen {
  std::string uuid, address, model, partition;
  std::optional<std::uint64_t> memory_total, memory_used, util, power, energy;
  std::optional<Instant> at;
  bool has_reading = false;
  std::string mistake;  // the first
};

class Reader {
 public:
  Result<void> read(element root) {
    if (root.is_array()) return read_list(root);
    if (const auto list = find(root, {"gpu_data"})) return read_list(*list);
    if (!root.is_object()) return {};
    if (find(root, {"gpu"})) return read_device(root);
    const simdjson::dom::object cards = root.get_object().value_unsafe();
    for (const auto [key, card] : cards) {
      if (!key.starts_with("card") || !ascii::is_all_digits(key.substr(4))) continue;
      const auto index = parse_count(key.substr(4), limits::kGpusPerNodeMax - 1);
      if (!index) return fail(ErrorCode::kLimit, "a card's number is over the limit");
      read_card(card, devices_[*index]);
    }
    return {};
  }

  std::map<std::uint64_t, Seen>& devices() { return devices_; }

 private:
  Result<void> read_list(element list) {
    if (!list.is_array()) return {};
    const simdjson::dom::array entries = list.get_array().value_unsafe();
    for (const element each : entries) {
      TRY(read_device(each));
    }
    return {};
  }

  // An entry of amd-smi list, static or metric.
  Result<void> read_device(element entry) {
    std::uint64_t index = 0;
    const auto gpu = find(entry, {"gpu"});
    if (!gpu) return {};
    if (gpu->get(index) != simdjson::SUCCESS || index >= limits::kGpusPerNodeMax) {
      return fail(ErrorCode::kBadFile,
                  fmt::format("a GPU's number is not one below {}", limits::kGpusPerNodeMax));
    }
    Seen& seen = devices_[index];
    take(seen.uuid, text_of(find(entry, {"uuid"})));
    take(seen.address, text_of(find(entry, {"bdf"})));
    take(seen.address, text_of(find(entry, {"bus", "bdf"})));
    take(seen.model, text_of(find(entry, {"asic", "market_name"})));
    take(seen.partition, text_of(find(entry, {"partition_id"})));
    take(seen.partition, text_of(find(entry, {"partition", "partition_id"})));
    take(seen, seen.memory_total, find(entry, {"vram", "size"}), kMebibytes, "vram/size");
    take(seen, seen.memory_total, find(entry, {"mem_usage", "total_vram"}), kMebibytes,
         "mem_usage/total_vram");
    if (!find(entry, {"usage"}) && !find(entry, {"power"}) && !find(entry, {"mem_usage"}) &&
        !find(entry, {"energy"})) {
      return {};
    }
    if (seen.has_reading) {
      return fail(ErrorCode::kBadFile,
                  fmt::format("two readings of GPU {}; import each capture of amd-smi metric as a "
                              "file, with its --at",
                              index));
    }
    seen.has_reading = true;
    take(seen, seen.util, find(entry, {"usage", "gfx_activity"}), kPercent, "usage/gfx_activity");
    take(seen, seen.memory_used, find(entry, {"mem_usage", "used_vram"}), kMebibytes,
         "mem_usage/used_vram");
    for (const std::string_view name : {"socket_power", "current_socket_power",
                                        "average_socket_power", "current_power", "average_power"}) {
      take(seen, seen.power, find(entry, {"power", name}), kWatts, "power");
    }
    take(seen, seen.energy, find(entry, {"energy", "total_energy_consumption"}), kJoules,
         "energy/total_energy_consumption");
    // amd-smi prints 0.0 for a GPU without a counter (Radeon), whatever its power is.
    if (seen.energy == 0) seen.energy.reset();
    std::int64_t seconds = 0;
    if (const auto time = find(entry, {"timestamp"});
        time && time->get(seconds) == simdjson::SUCCESS && seconds > 0 && seconds < 7'258'118'400) {
      seen.at = from_unix_seconds(seconds);
    }
    return {};
  }

  // A card of rocm-smi, whose values are all text.
  static void read_card(element card, Seen& seen) {
    take(seen.uuid, text_of(find(card, {"Unique ID"})));
    take(seen.address, text_of(find(card, {"PCI Bus"})));
    for (const std::string_view name : {"Card Series", "Card series", "Device Name"}) {
      take(seen.model, text_of(find(card, {name})));
    }
    take(seen.partition, text_of(find(card, {"Partition ID"})));
    take(seen, seen.memory_total, find(card, {"VRAM Total Memory (B)"}), kBytes,
         "VRAM Total Memory (B)");
    take(seen, seen.memory_used, find(card, {"VRAM Total Used Memory (B)"}), kBytes,
         "VRAM Total Used Memory (B)");
    take(seen, seen.util, find(card, {"GPU use (%)"}), kPercent, "GPU use (%)");
    for (const std::string_view name :
         {"Current Socket Graphics Package Power (W)", "Average Graphics Package Power (W)"}) {
      take(seen, seen.power, find(card, {name}), kWatts, name);
    }
    // The counter is in microjoules, with decimals.
    const std::string energy = text_of(find(card, {"Accumulated Energy (uJ)"}));
    if (const auto value = parse_decimal(energy); value && !value->value.is_negative()) {
      if (const auto whole = nearest_count(value->value, 1); whole && *whole >= 1000) {
        seen.energy = *whole / 1000;
      }
    }
    seen.has_reading =
        seen.has_reading || seen.util || seen.memory_used || seen.power || seen.energy;
  }

  static void take(std::string& into, std::string text) {
    if (into.empty() && text != "N/A") into = std::move(text);
  }

  // A value is {"value": 133, "unit": "W"}, 133, "133" or "133 W"; "N/A" is none.
  static void take(Seen& seen, std::optional<std::uint64_t>& into, std::optional<element> value,
                   const Measure& measure, std::string_view name) {
    if (into || !value) return;
    const auto mistake = [&](std::string_view shown) {
      if (!seen.mistake.empty()) return;
      seen.mistake = fmt::format("{}: '{}' is not a number of 0 to {} {}", name,
                                 printable_text(shown, 60), measure.most, measure.units);
    };
    std::string text;
    if (const auto number = find(*value, {"value"})) {
      text = text_of(number);
      const std::string unit = text_of(find(*value, {"unit"}));
      if (text != "N/A" && unit != measure.units) return mistake(text + " " + unit);
    } else {
      text = text_of(value);
      if (text.ends_with(measure.units)) text.resize(text.size() - measure.units.size());
    }
    const std::string_view trimmed = ascii::trim(text);
    if (trimmed.empty() || trimmed == "N/A") return;
    const auto decimal = parse_exact_decimal(trimmed);
    if (!decimal || decimal->is_negative() || *decimal > Decimal::from_units(measure.most)) {
      return mistake(text);
    }
    const auto count = nearest_count(*decimal, measure.scale);
    if (!count) return mistake(text);
    into = *count;
  }

  std::map<std::uint64_t, Seen> devices_;
};

// "0000:0C:00" of "0000:0C:00.1": partitions of a GPU are functions of one PCI device.
std::string card_address(std::string_view address) {
  return std::string(address.substr(0, address.rfind('.')));
}

bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= limits::kIdBytesMax && is_plain_text(text);
}

// A GPU and its devices: itself, or its partitions.
using Card = std::vector<std::pair<std::uint64_t, const Seen*>>;

std::vector<Card> cards_of(const std::map<std::uint64_t, Seen>& devices) {
  std::vector<Card> cards;
  std::map<std::string, std::size_t> by_address;
  for (const auto& [index, seen] : devices) {
    const std::string address = seen.partition.empty() ? "" : card_address(seen.address);
    const auto [at, is_new] = by_address.try_emplace(address, cards.size());
    if (address.empty() || is_new) {
      at->second = cards.size();
      cards.emplace_back();
    }
    cards[at->second].emplace_back(index, &seen);
  }
  return cards;
}

class Facts {
 public:
  explicit Facts(const Options& options) : options_(options) {}

  Result<void> add(const Card& card) {
    const Seen& first = *card.front().second;
    const std::uint64_t index = card.front().first;
    for (const auto& [number, seen] : card) {
      if (seen->mistake.empty()) continue;
      reject(number, seen->mistake);
      return {};
    }
    if (first.uuid.empty()) {
      return fail(
          ErrorCode::kBadFile,
          fmt::format("nothing says which GPU number {} is; put the output of `amd-smi list "
                      "--json` before it in the file",
                      index));
    }
    if (!is_name(first.uuid) || first.model.size() > limits::kIdBytesMax) {
      reject(index, "its UUID or model is no name");
      return {};
    }
    const auto at = first.at ? first.at : options_.at;
    if (!at) return fail(ErrorCode::kConfig, "nothing says when this was captured; give --at");
    document.used_given_time = document.used_given_time || !first.at;
    const bool is_partitioned = card.size() > 1;
    document.is_partitioned = document.is_partitioned || is_partitioned;
    Gpu gpu{.cluster = options_.cluster,
            .node = options_.node,
            .uuid = GpuId(first.uuid),
            .index = static_cast<std::uint32_t>(index),
            .model = first.model,
            .memory_bytes = {},
            .mig_instances = {},
            .from = *at,
            .to = {},
            .id = {},
            .source = {}};
    Usage whole = usage(first, *at);
    for (const auto& [number, seen] : card) {
      if (!seen->has_reading) continue;
      if (!whole.power_milliwatts) whole.power_milliwatts = seen->power;
      if (!whole.energy_millijoules) whole.energy_millijoules = seen->energy;
    }
    if (!is_partitioned) {
      gpu.memory_bytes = first.memory_total;
      measure(whole, first);
    }
    add(std::move(whole));
    for (const auto& [number, seen] : card) {
      if (!is_partitioned) break;
      Usage part = usage(first, *at);
      part.mig_instance = seen->partition;
      measure(part, *seen);
      add(std::move(part));
    }
    document.gpus.push_back(std::move(gpu));
    return {};
  }

  Document document;

 private:
  Usage usage(const Seen& of, Instant at) const {
    return {.cluster = options_.cluster,
            .node = options_.node,
            .gpu = GpuId(of.uuid),
            .mig_instance = {},
            .mig_profile = {},
            .model = of.model,
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
            .source = {}};
  }

  static void measure(Usage& usage, const Seen& seen) {
    if (!seen.has_reading) return;
    usage.gpu_util_ppm = seen.util;
    usage.memory_used_bytes = seen.memory_used;
    usage.memory_total_bytes = seen.memory_total;
  }

  void add(Usage usage) {
    if (!usage.gpu_util_ppm && !usage.memory_used_bytes && !usage.power_milliwatts &&
        !usage.energy_millijoules) {
      return;
    }
    document.usages.push_back(std::move(usage));
  }

  void reject(std::uint64_t index, std::string_view reason) {
    document.rejected.push_back(json_capture::rejected_gpu(options_.file, index, reason));
  }

  const Options& options_;
};

}  // namespace

Result<Document> parse(std::string_view document, const Options& options) {
  Reader reader;
  TRY(for_each_document(document, "--json", [&](element root) { return reader.read(root); }));
  if (reader.devices().empty()) {
    return fail(ErrorCode::kBadFile,
                "there is no GPU in it; run amd-smi list, static or metric, or rocm-smi -a, with "
                "--json");
  }
  Facts facts(options);
  for (const Card& card : cards_of(reader.devices())) {
    TRY(facts.add(card));
  }
  return std::move(facts.document);
}

bool is_amd_smi(std::string_view beginning) {
  const std::string_view text = ascii::trim(beginning, ascii::kWhitespace);
  if (!text.starts_with('{') && !text.starts_with('[')) return false;
  const auto has = [&](std::string_view word) { return text.find(word) != std::string_view::npos; };
  if (has("\"card0\"") || has("\"gpu_data\"")) return true;
  return has("\"gpu\"") && (has("\"bdf\"") || has("\"asic\"") || has("\"gfx_activity\"") ||
                            has("\"socket_power\"") || has("\"total_energy_consumption\""));
}

}  // namespace pennyweight::amd_smi
