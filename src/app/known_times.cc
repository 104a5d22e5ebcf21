#include "app/known_times.h"

#include <algorithm>
#include <array>
#include <optional>

#include "core/int128.h"

namespace pennyweight {
namespace {

// Outcomes over a gap are told in pieces of an hour (live/accumulator.h); spans are shorter.
constexpr std::int64_t kSpanMaxMs = 7'200'000;
static_assert(kUsageSpanMaxMs <= kSpanMaxMs);

using Column = std::optional<std::uint64_t> Usage::*;

// What is known of a mean is known of its maximum.
struct Columns {
  Column column;
  Column with_it = nullptr;
  bool is_sum = false;
};
constexpr std::array kColumns = {
    Columns{&Usage::gpu_util_ppm},
    Columns{&Usage::engine_active_ppm},
    Columns{&Usage::sm_active_ppm},
    Columns{&Usage::memory_used_bytes, &Usage::memory_used_max_bytes},
    Columns{&Usage::memory_total_bytes},
    Columns{&Usage::power_milliwatts, &Usage::power_max_milliwatts},
    Columns{&Usage::energy_millijoules},
    Columns{&Usage::tensor_active_ppm},
    Columns{&Usage::dram_active_ppm},
    Columns{&Usage::memory_reserved_bytes},
    Columns{&Usage::temperature_celsius},
    Columns{&Usage::sm_clock_mhz},
    Columns{&Usage::pcie_bytes_per_second},
    Columns{&Usage::nvlink_bytes_per_second},
    Columns{&Usage::activity_max_ppm},
    Columns{&Usage::energy_used_millijoules, nullptr, true},
    Columns{&Usage::throttled_ms, nullptr, true},
    Columns{&Usage::xid_errors, &Usage::last_xid, true},
    Columns{&Usage::ecc_errors, nullptr, true},
};

std::uint64_t columns_of(const Usage& usage) {
  std::uint64_t columns = 0;
  for (std::size_t i = 0; i < kColumns.size(); ++i) {
    if (usage.*kColumns[i].column) columns |= std::uint64_t{1} << i;
  }
  return columns;
}

Hash128 device_of(const Usage& usage) {
  Fingerprint print;
  print.add("device").add(usage.cluster.text()).add(usage.gpu.text()).add(usage.mig_instance);
  return print.add(usage.workload.text()).add(std::int64_t{usage.of_workload}).hash();
}

Hash128 counter_of(const Outcome& outcome) {
  Fingerprint print;
  print.add("outcome").add(outcome.cluster.text()).add(outcome.workload.text());
  print.add(outcome.measure);
  for (const auto& [name, value] : outcome.labels.entries()) print.add(name).add(value);
  return print.hash();
}

// The share of [from, to) in a sum over [begin, end).
std::uint64_t share_of(std::uint64_t sum, std::int64_t begin, std::int64_t end, std::int64_t from,
                       std::int64_t to) {
  const auto until = [&](std::int64_t at) {
    return static_cast<std::uint64_t>(UInt128{sum} * static_cast<std::uint64_t>(at - begin) /
                                      static_cast<std::uint64_t>(end - begin));
  };
  return until(to) - until(from);
}

}  // namespace

void KnownTimes::add(const Usage& there) {
  if (there.span_ms == 0) return;
  const std::int64_t from = unix_ms(there.at);
  stretches_[device_of(there)].push_back({from, from + there.span_ms, columns_of(there)});
}

void KnownTimes::add(const Outcome& there) {
  stretches_[counter_of(there)].push_back(
      {unix_ms(there.during.begin()), unix_ms(there.during.end()), 1});
}

std::vector<KnownTimes::Stretch> KnownTimes::free_of(const Hash128& whose, const Stretch& row,
                                                     const Interval& window) const {
  const std::int64_t from = std::max(row.from, unix_ms(window.begin()));
  const std::int64_t to = std::min(row.to, unix_ms(window.end()));
  std::vector<Stretch> free;
  if (from >= to) return free;
  std::vector<Stretch> over;
  std::vector<std::int64_t> edges = {from, to};
  if (const auto at = stretches_.find(whose); at != stretches_.end()) {
    auto near = std::ranges::lower_bound(at->second, from - kSpanMaxMs, {}, &Stretch::from);
    for (; near != at->second.end() && near->from < to; ++near) {
      const Stretch& stretch = *near;
      if (stretch.to <= from || (stretch.columns & row.columns) == 0) continue;
      over.push_back(stretch);
      edges.push_back(std::max(stretch.from, from));
      edges.push_back(std::min(stretch.to, to));
    }
  }
  std::ranges::sort(edges);
  for (std::size_t i = 0; i + 1 < edges.size(); ++i) {
    Stretch piece{edges[i], edges[i + 1], row.columns};
    if (piece.from == piece.to) continue;
    for (const Stretch& stretch : over) {
      if (stretch.from < piece.to && stretch.to > piece.from) piece.columns &= ~stretch.columns;
    }
    if (!free.empty() && free.back().to == piece.from && free.back().columns == piece.columns) {
      free.back().to = piece.to;
    } else {
      free.push_back(piece);
    }
  }
  return free;
}

bool KnownTimes::cut(const Usage& row, const Interval& window, std::vector<Usage>& rest) const {
  const std::int64_t begin = unix_ms(row.at);
  const std::int64_t end = begin + row.span_ms;
  const std::uint64_t columns = columns_of(row);
  bool is_cut = false;
  for (const Stretch& free : free_of(device_of(row), {begin, end, columns}, window)) {
    is_cut |= free.columns != columns;
    if (free.columns == 0) continue;
    Usage piece = row;
    piece.at = from_unix_ms(free.from);
    piece.span_ms = static_cast<std::uint32_t>(free.to - free.from);
    for (std::size_t i = 0; i < kColumns.size(); ++i) {
      auto& value = piece.*kColumns[i].column;
      if ((free.columns >> i & 1) == 0) {
        value.reset();
        if (kColumns[i].with_it != nullptr) (piece.*kColumns[i].with_it).reset();
      } else if (kColumns[i].is_sum) {
        value = share_of(*value, begin, end, free.from, free.to);
      }
    }
    rest.push_back(std::move(piece));
  }
  return is_cut;
}

bool KnownTimes::cut(const Outcome& row, const Interval& window, std::vector<Outcome>& rest) const {
  const std::int64_t begin = unix_ms(row.during.begin());
  const std::int64_t end = unix_ms(row.during.end());
  bool is_cut = false;
  for (const Stretch& free : free_of(counter_of(row), {begin, end, 1}, window)) {
    is_cut |= free.columns == 0;
    if (free.columns == 0) continue;
    Outcome piece = row;
    piece.during = Interval(from_unix_ms(free.from), from_unix_ms(free.to));
    piece.count = share_of(row.count, begin, end, free.from, free.to);
    rest.push_back(std::move(piece));
  }
  return is_cut;
}

}  // namespace pennyweight
