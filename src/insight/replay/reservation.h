// Reservation: when and where the first job of the queue will run, so that others may overtake it
// without delaying it (EASY backfill: Lifka, "The ANL/IBM SP Scheduling System", 1995).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "insight/replay/cluster_state.h"
#include "insight/replay/placement.h"

namespace pennyweight::replay {

struct ExpectedEnd {
  std::int64_t end_us;  // by the job's estimate
  std::uint32_t job;
  auto operator<=>(const ExpectedEnd&) const = default;
};

class Reservation {
 public:
  // REQUIRES: placement is that of the cluster, and the request doesn't fit now.
  // The moment at which it fits if running jobs end in the order of their expected ends. The
  // cluster is left as it was. Nothing: it doesn't fit even then.
  static std::optional<Reservation> find(const ClusterState& cluster, Placement& placement,
                                         const Request& request,
                                         const std::set<ExpectedEnd>& running,
                                         const std::vector<Shares>& held, std::int64_t now_us);

  std::int64_t begin_us() const { return begin_us_; }

  // Whether a job that got these shares now, and is expected to end then, leaves the reservation
  // alone. If it does and is still there when the reservation begins, its shares are counted.
  bool admits(const Shares& shares, std::int64_t end_us);

 private:
  // The same by the placement's rule, on the cluster itself: slower.
  static std::optional<Reservation> find_by_rule(const ClusterState& cluster, Placement& placement,
                                                 const Request& request,
                                                 const std::set<ExpectedEnd>& running,
                                                 const std::vector<Shares>& held,
                                                 std::int64_t now_us);

  std::int64_t begin_us_ = 0;
  // What is free on the reserved machines at begin_us, beside the reserving job.
  std::map<std::uint32_t, FreeMachine> spare_;
};

}  // namespace pennyweight::replay
