// HostUsageDay: what workloads used of processors and memory on one day, from the outcomes that say
// so (ledger/host_usage.h).
//
// Each outcome is cut to the day by itself, so that days add up to what it says. Within the day
// measurements that follow on each other in one hour are one piece, since thousands of pods are
// measured every minute; a piece is spread evenly where a holding ends within it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/id.h"
#include "core/instant.h"
#include "core/int128.h"
#include "ledger/host_usage.h"
#include "ledger/outcome.h"

namespace pennyweight {

class HostUsageDay {
 public:
  explicit HostUsageDay(const Interval& day) : day_(day) {}

  // When outcomes that matter to the day begin.
  Interval begins() const {
    return {std::max(day_.begin() - kHostUsageMax, kInstantMin), day_.end()};
  }
  // Outcomes of one cluster, in the order in which they begin; others than of usage are passed
  // over.
  void add(const Outcome& outcome);

  struct Sum {
    std::uint64_t known_ms = 0;
    UInt128 amount = 0;  // in the measure's unit; of a peak, times milliseconds
  };
  // Over a part of the day.
  Sum used(std::string_view measure, const WorkloadId& workload, const Interval& time) const;
  bool empty() const { return pieces_.empty(); }

 private:
  struct Piece {
    Interval time;
    UInt128 amount;
    bool is_measurements;  // each of at most a minute
  };

  Interval day_;
  std::unordered_map<std::string, std::vector<Piece>> pieces_;  // by measure and workload
};

}  // namespace pennyweight
