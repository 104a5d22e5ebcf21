#include "app/import/covered_intervals.h"

#include <algorithm>
#include <optional>

#include "core/int128.h"
#include "ledger/usage.h"

namespace pennyweight {
namespace {

// Companions are covered together with their number, so they have no bit of their own.
constexpr bool is_companion(const UsageNumber& number) {
  return std::ranges::any_of(kUsageNumbers, [&](const UsageNumber& other) {
    return other.companion != nullptr && other.companion == number.field;
  });
}

// The numbers that a usage has, by their index in kUsageNumbers.
std::uint64_t columns_of(const Usage& usage) {
  std::uint64_t columns = 0;
  for (std::size_t i = 0; i < kUsageNumbers.size(); ++i) {
    const UsageNumber& number = kUsageNumbers[i];
    if (!is_companion(number) && usage.*number.field) columns |= std::uint64_t{1} << i;
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

void CoveredIntervals::add(const Usage& there) {
  if (there.span_ms == 0) return;
  const std::int64_t from = unix_ms(there.at);
  covered_[device_of(there)].add({from, from + there.span_ms, columns_of(there)});
}

void CoveredIntervals::add(const Outcome& there) {
  covered_[counter_of(there)].add({unix_ms(there.during.begin()), unix_ms(there.during.end()), 1});
}

std::vector<CoveredIntervals::ColumnInterval> CoveredIntervals::uncovered_intervals(
    const Hash128& whose, const ColumnInterval& row, const Interval& window) const {
  const std::int64_t from = std::max(row.from, unix_ms(window.begin()));
  const std::int64_t to = std::min(row.to, unix_ms(window.end()));
  std::vector<ColumnInterval> free;
  if (from >= to) return free;
  std::vector<ColumnInterval> over;
  std::vector<std::int64_t> edges = {from, to};
  if (const auto at = covered_.find(whose); at != covered_.end()) {
    const auto& [intervals, longest_ms] = at->second;
    auto near = std::ranges::lower_bound(intervals, from - longest_ms, {}, &ColumnInterval::from);
    for (; near != intervals.end() && near->from < to; ++near) {
      const ColumnInterval& stretch = *near;
      if (stretch.to <= from || (stretch.columns & row.columns) == 0) continue;
      over.push_back(stretch);
      edges.push_back(std::max(stretch.from, from));
      edges.push_back(std::min(stretch.to, to));
    }
  }
  std::ranges::sort(edges);
  for (std::size_t i = 0; i + 1 < edges.size(); ++i) {
    ColumnInterval piece{edges[i], edges[i + 1], row.columns};
    if (piece.from == piece.to) continue;
    for (const ColumnInterval& stretch : over) {
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

bool CoveredIntervals::cut(const Usage& row, const Interval& window,
                           std::vector<Usage>& rest) const {
  const std::int64_t begin = unix_ms(row.at);
  const std::int64_t end = begin + row.span_ms;
  const std::uint64_t columns = columns_of(row);
  bool is_cut = false;
  for (const ColumnInterval& free :
       uncovered_intervals(device_of(row), {begin, end, columns}, window)) {
    is_cut |= free.columns != columns;
    if (free.columns == 0) continue;
    Usage piece = row;
    piece.at = from_unix_ms(free.from);
    piece.span_ms = static_cast<std::uint32_t>(free.to - free.from);
    for (std::size_t i = 0; i < kUsageNumbers.size(); ++i) {
      const UsageNumber& number = kUsageNumbers[i];
      if (is_companion(number)) continue;
      auto& value = piece.*number.field;
      if ((free.columns >> i & 1) == 0) {
        value.reset();
        if (number.companion != nullptr) (piece.*number.companion).reset();
      } else if (number.is_sum) {
        value = share_of(*value, begin, end, free.from, free.to);
      }
    }
    rest.push_back(std::move(piece));
  }
  return is_cut;
}

bool CoveredIntervals::cut(const Outcome& row, const Interval& window,
                           std::vector<Outcome>& rest) const {
  const std::int64_t begin = unix_ms(row.during.begin());
  const std::int64_t end = unix_ms(row.during.end());
  bool is_cut = false;
  for (const ColumnInterval& free : uncovered_intervals(counter_of(row), {begin, end, 1}, window)) {
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
