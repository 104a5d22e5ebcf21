// CoveredIntervals: the time for which the ledger already has usage, so that a backfill only adds
// what is missing.
//
// A span of a device is cut, column by column, at the spans that the ledger has for the same
// device, MIG instance and workload: what a column says about covered time is left out. The same
// goes for an outcome and those of the same workload, measure and labels. The rest of a cut mean
// keeps the mean. The rest of a cut sum (energy, errors, throttled time, counts) gets its share of
// the time, by cumulative floors, so that the pieces of a sum never exceed the sum.
//
// Imported readings (span_ms = 0) cover no time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <unordered_map>
#include <vector>

#include "core/hash.h"
#include "core/instant.h"
#include "ledger/outcome.h"
#include "ledger/usage.h"

namespace pennyweight {

class CoveredIntervals {
 public:
  // REQUIRES: the facts of one device or counter come in the order of their begins, as scans give
  // them.
  void add(const Usage& fact);
  void add(const Outcome& fact);

  // Adds the uncovered part of a row within the window to `rest`: nothing, the row itself, or
  // pieces of it. True where something covered was left out; what is outside the window does not
  // matter.
  bool cut(const Usage& row, const Interval& window, std::vector<Usage>& rest) const;
  bool cut(const Outcome& row, const Interval& window, std::vector<Outcome>& rest) const;

 private:
  struct ColumnInterval {
    std::int64_t from;
    std::int64_t to;
    std::uint64_t columns;  // a bit each
  };
  struct HashOfHash {
    std::size_t operator()(const Hash128& hash) const { return hash.low; }
  };
  // The uncovered part of [from, to), as consecutive intervals with their columns.
  std::vector<ColumnInterval> uncovered_intervals(const Hash128& whose, const ColumnInterval& row,
                                                  const Interval& window) const;

  // In the order in which they begin. Most are a minute long, and few a day.
  struct Covered {
    std::vector<ColumnInterval> intervals = {};
    std::int64_t longest_ms = 0;

    void add(const ColumnInterval& one) {
      longest_ms = std::max(longest_ms, one.to - one.from);
      intervals.push_back(one);
    }
  };
  std::unordered_map<Hash128, Covered, HashOfHash> covered_;
};

}  // namespace pennyweight
