// Scheduling: in which order jobs get resources, and what happens while the next one doesn't fit.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "insight/replay/admission.h"
#include "insight/replay/placement.h"

namespace pennyweight::replay {

// Ties go to the job submitted first, then to the one given first.
enum class QueueOrder {
  kFirstComeFirstServed,
  kPriority,               // highest first
  kShortestJob,            // by estimate
  kShortestRemaining,      // by what is left of the estimate (SRTF)
  kShortestRemainingWork,  // that times GPUs (SRSF)
  // The team that holds the fewest GPUs for its weight comes first (max-min fairness).
  kMaxMinFair,
  // The team that has used the fewest GPU seconds for its weight comes first; past use counts half
  // after half_life_us.
  kDecayedFairShare,
  // The team whose largest share of GPUs, CPUs or memory is the least for its weight comes first.
  kDominantResourceFair,
  // Each team deserves GPUs by its weight, no more than it asks for; what it doesn't ask for is
  // divided among the others. The team that holds the least of what it deserves comes first, and
  // one that holds all of that gets nothing (Volcano's proportion).
  kProportion,
};
bool is_fair(QueueOrder order);              // between teams
std::string_view to_text(QueueOrder order);  // "fcfs", "priority", "sjf", "srtf", "srsf", …
std::optional<QueueOrder> parse_queue_order(std::string_view text);
std::string queue_order_names();

enum class WhenBlocked {
  kWait,  // nobody overtakes the first in the queue
  // A later job starts if it fits now and can't delay the first one, as far as estimates tell: it
  // ends before the first one's reservation (EASY backfill).
  kBackfill,
  kSkip,  // whoever fits starts; a large job may wait for ever
};
std::string_view to_text(WhenBlocked rule);  // "wait", "backfill", "skip"
std::optional<WhenBlocked> parse_when_blocked(std::string_view text);
std::string when_blocked_names();

// What Job::restart_us is charged for.
enum class RestartCost {
  kOnResume,  // each time a job goes on after it was interrupted or moved
  // At every arrival and end of another job while it runs, whether it moves or not: the model of
  // Muri's and Tiresias's simulators, where each event re-plans the whole cluster.
  kEveryEvent,
};

constexpr std::uint32_t kPreemptionsTried = 8;

struct Scheduling {
  QueueOrder order = QueueOrder::kFirstComeFirstServed;
  WhenBlocked when_blocked = WhenBlocked::kWait;
  // A job interrupts those that come after it, which keep their progress; whoever fits runs, so
  // when_blocked does not apply. With RestartCost::kEveryEvent all jobs are planned anew from an
  // empty cluster instead, at every arrival and end.
  // REQUIRES: the order is no fair one; among those that don't fit at one event, the first
  // kPreemptionsTried may interrupt.
  bool preempts = false;
  RestartCost restart_cost = RestartCost::kOnResume;
  PlacementRule placement = PlacementRule::kFirstFit;
  // How many jobs behind the first one that doesn't fit are tried for backfilling or skipping at
  // one event. A job that its team's quota, part of the day or share refuses isn't tried: it is
  // passed over and doesn't count.
  std::uint32_t depth = 500;
  std::map<std::string, std::uint32_t> team_weights = {};  // a team that isn't listed: 1
  std::int64_t half_life_us = std::int64_t{7} * 24 * 3600 * 1'000'000;
  std::uint64_t seed = 1;  // of PlacementRule::kRandom
  // A job on several machines gets machines of one rack: the first that has room for it.
  bool same_rack = false;
  // A job that doesn't fit and has waited so long is overtaken by nobody. 0: no such guard.
  std::int64_t starvation_guard_us = 0;
  AdmissionRules admission = {};  // REQUIRES: nothing is restricted where `preempts`
};

}  // namespace pennyweight::replay
