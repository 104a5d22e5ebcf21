// KnownTimes: what the ledger has of a time already, so that a backfill adds only what it has not.
//
// A span of a device is cut, column by column, at the spans that the ledger has of the same device,
// MIG instance and workload: what a column says of a time that is known there is left out. So is an
// outcome at those of the same workload, measure and labels. Of a cut mean the rest keeps the mean,
// of a cut sum (energy, errors, throttled time, counts) its share of the time, by cumulative
// floors: the pieces of a sum never come to more than the sum.
//
// Readings (span_ms = 0) that were imported cover no time.
#pragma once

#include <cstdint>
#include <functional>
#include <unordered_map>
#include <vector>

#include "core/hash.h"
#include "core/instant.h"
#include "ledger/outcome.h"
#include "ledger/usage.h"

namespace pennyweight {

class KnownTimes {
 public:
  // REQUIRES: those of one device or counter come in the order of their begins, as scans give them.
  void add(const Usage& there);
  void add(const Outcome& there);

  // The rest of a row within the window; none, the row itself, or pieces of it. True where
  // something that is known was left out; what is outside the window does not count.
  bool cut(const Usage& row, const Interval& window, std::vector<Usage>& rest) const;
  bool cut(const Outcome& row, const Interval& window, std::vector<Outcome>& rest) const;

 private:
  struct Stretch {
    std::int64_t from;
    std::int64_t to;
    std::uint64_t columns;  // a bit each
  };
  struct HashOfHash {
    std::size_t operator()(const Hash128& hash) const { return hash.low; }
  };
  // What of [from, to) is free, as consecutive stretches with the columns that are.
  std::vector<Stretch> free_of(const Hash128& whose, const Stretch& row,
                               const Interval& window) const;

  std::unordered_map<Hash128, std::vector<Stretch>, HashOfHash> stretches_;
};

}  // namespace pennyweight
