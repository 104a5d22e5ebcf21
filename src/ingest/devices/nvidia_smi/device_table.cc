#include "ingest/devices/nvidia_smi/device_table.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "core/check.h"
#include "core/limits.h"
#include "core/whole_count.h"
#include "ingest/devices/nvidia_smi/local_time.h"

namespace pennyweight::nvidia_smi {
namespace {

constexpr std::uint64_t kMibMax = 1u << 26;  // 64 TiB
constexpr std::uint64_t kMib = 1u << 20;
constexpr std::uint64_t kWattsMax = 100'000;

std::vector<std::string_view> split(std::string_view text, std::string_view separators) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t begin = text.find_first_not_of(separators);
    if (begin == std::string_view::npos) return parts;
    text.remove_prefix(begin);
    const std::size_t end = std::min(text.find_first_of(separators), text.size());
    parts.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
}

// A whole number followed by its unit: "11091MiB", "432W", "7%".
std::optional<std::uint64_t> with_unit(std::string_view word, std::string_view unit,
                                       std::uint64_t max) {
  if (!word.ends_with(unit)) return std::nullopt;
  const auto number = parse_count(word.substr(0, word.size() - unit.size()), max);
  if (!number) return std::nullopt;
  return *number;
}

struct UsedOfTotal {
  std::uint64_t used;
  std::uint64_t total;
};

// "11091MiB / 40448MiB"
std::optional<UsedOfTotal> parse_memory(std::string_view cell) {
  const auto words = split(cell, " \t/");
  if (words.size() != 2) return std::nullopt;
  const auto used = with_unit(words[0], "MiB", kMibMax);
  const auto total = with_unit(words[1], "MiB", kMibMax);
  if (!used || !total) return std::nullopt;
  return UsedOfTotal{*used * kMib, *total * kMib};
}

std::optional<std::uint32_t> small(std::string_view word) {
  const auto number = parse_count(word, limits::kGpusPerNodeMax - 1);
  if (!number) return std::nullopt;
  return static_cast<std::uint32_t>(*number);
}

Error not_a_table(std::string_view what) {
  return Error{ErrorCode::kBadValue,
               std::string(what) +
                   " of nvidia-smi's table can't be read; capture it once more, or "
                   "use --query-gpu with --format=csv"};
}

Result<DeviceTable::Reading> mig_reading(std::uint64_t number, std::string_view text,
                                         std::optional<Instant> at) {
  const auto cells = split(text, "|");
  if (cells.size() < 3) return DeviceTable::Reading{};
  const auto ids = split(cells[0], " \t");
  const auto gpu = ids.empty() ? std::nullopt : small(ids[0]);
  if (!gpu) return DeviceTable::Reading{};  // a heading, or the second line of a device
  const auto shared = split(cells[2], " \t");
  const auto memory = parse_memory(cells[1]);
  const auto multiprocessors = shared.empty() ? std::nullopt : small(shared[0]);
  if (ids.size() != 4 || !small(ids[1]) || !small(ids[2]) || !small(ids[3]) || !memory ||
      !multiprocessors) {
    return std::unexpected(not_a_table("a MIG device"));
  }
  return MigReading{.line = number,
                    .at = at,
                    .gpu_index = *gpu,
                    .gpu_instance = *small(ids[1]),
                    .compute_instance = *small(ids[2]),
                    .mig_device = *small(ids[3]),
                    .memory_used_bytes = memory->used,
                    .memory_total_bytes = memory->total,
                    .multiprocessors = *multiprocessors,
                    .text = std::string(text)};
}

}  // namespace

Result<DeviceTable::Reading> DeviceTable::line(std::uint64_t number, std::string_view text) {
  if (!text.starts_with('|') && !text.starts_with('+')) {
    section_ = Section::kOutside;
    gpu_.reset();
    if (const auto at = parse_table_time(text, zone_)) at_ = *at;
    // A table comes right below its time, or after the empty lines between its parts.
    else if (text.find_first_not_of(" \t") != std::string_view::npos)
      at_.reset();
    return Reading{};
  }
  if (text.find("NVIDIA-SMI") != std::string_view::npos) section_ = Section::kGpus;
  if (text.find("MIG devices:") != std::string_view::npos) section_ = Section::kMigDevices;
  if (text.find("Processes:") != std::string_view::npos) section_ = Section::kOther;
  if (text.starts_with('+')) return Reading{};
  switch (section_) {
    case Section::kOutside:
    case Section::kOther:
      return Reading{};
    case Section::kMigDevices:
      return mig_reading(number, text, at_);
    case Section::kGpus:
      return gpu_line(number, text);
  }
  CHECK(false, "every part of a table is read");
}

Result<DeviceTable::Reading> DeviceTable::gpu_line(std::uint64_t number, std::string_view text) {
  const auto cells = split(text, "|");
  if (cells.size() < 3) return Reading{};
  if (!gpu_) {
    const auto words = split(cells[0], " \t");
    const auto index = words.empty() ? std::nullopt : small(words[0]);
    if (!index) return Reading{};  // a heading, or the MIG mode below a card
    gpu_ = GpuReading{.line = number,
                      .at = at_,
                      .uuid = {},
                      .index = *index,
                      .model = {},
                      .memory_used_bytes = std::nullopt,
                      .memory_total_bytes = std::nullopt,
                      .gpu_util_ppm = std::nullopt,
                      .power_milliwatts = std::nullopt,
                      .text = std::string(text)};
    return Reading{};
  }
  GpuReading card = *std::exchange(gpu_, std::nullopt);
  const auto memory = parse_memory(cells[1]);
  const auto use = split(cells[2], " \t");
  if (!memory || use.empty()) return std::unexpected(not_a_table("a card's second line"));
  card.memory_used_bytes = memory->used;
  card.memory_total_bytes = memory->total;
  if (const auto percent = with_unit(use[0], "%", 100)) card.gpu_util_ppm = *percent * 10'000;
  // "N/A 52C P0 432W / 700W": the first of the two is the power draw.
  const std::string_view draw = cells[0].substr(0, cells[0].find('/', cells[0].find('W')));
  for (const std::string_view word : split(draw, " \t")) {
    if (const auto watts = with_unit(word, "W", kWattsMax)) card.power_milliwatts = *watts * 1000;
  }
  return card;
}

}  // namespace pennyweight::nvidia_smi
