// ReplayWorld: a month of the ledger as jobs and machines that a replay takes.
//
// What the ledger doesn't say is inferred by these rules:
//   submit    what its label eligible_time says, or else submit_time. Where there is neither, and
//             for attempts after the first, when the job began to hold; waiting before that is
//             not known then, and counts as none. A job that was submitted before the period comes
//             at its beginning
//   length    what it held within the period; a job that still ran at the end of the period ends
//             there
//   shape     its devices, CPU and memory; fractions of over one GPU in all are rounded up to whole
//             GPUs, and counted. A job that fits one node is placed on one node
//   model     a job stays on the GPU models that it ran on, or on what replaces them, unless the
//             scenario says otherwise
//   machines  every node of the period, as if it had been there all the time
// Holdings of a claim, a GPU group or a reservation share devices by rules of their own. They are
// left as they were, and counted.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/error.h"
#include "insight/compare/collect_windows.h"
#include "insight/compare/fleet_view.h"
#include "insight/replay/job.h"
#include "insight/replay/layouts.h"
#include "insight/what_if/model_speed.h"
#include "insight/what_if/scenario.h"

namespace pennyweight::what_if {

using TeamOf = std::function<std::string(const Holding&)>;

// Where a job comes from.
struct JobOrigin {
  std::uint32_t holding = 0;                   // index into the month's holdings
  std::optional<std::int64_t> waited_us = {};  // as it was; nothing: not known
  std::int64_t before_us = 0;                  // of its waiting, what lies before the period
  bool is_as_held = true;                      // it holds what the holding does, and works as long
};

// How much of a job's GPU time telemetry saw, and saw used; in millionths of that time.
struct MeasuredUse {
  std::uint32_t seen_ppm = 0;
  std::uint32_t used_ppm = 0;
};

struct JobRules {
  std::optional<HomeScope> home = {};  // jobs stay in that in which they ran, until they may leave
  bool may_leave = true;
  bool any_model = false;  // a job may run on any GPU model
  bool uses_limits =
      false;                // the scheduler knows time limits, where jobs have some, and no lengths
  ModelSpeeds speeds = {};  // of the models that replace others
};

// What each GPU of a machine draws; nothing: the catalogue doesn't say.
struct GpuWatts {
  std::uint32_t held = 0;
  std::uint32_t idle = 0;
};

// How long jobs may wait: those of a team, and those of everybody else.
struct WaitLimits {
  std::map<std::string, std::int64_t> by_team_us = {};
  std::optional<std::int64_t> others_us = {};
  bool is_any() const { return !by_team_us.empty() || others_us.has_value(); }
  std::optional<std::int64_t> of(const std::string& team) const {
    const auto own = by_team_us.find(team);
    return own == by_team_us.end() ? others_us : std::optional(own->second);
  }
};

struct ReplayWorld {
  explicit ReplayWorld(const Interval& over) : period(over) {}

  Interval period;
  std::vector<replay::Job> jobs;
  std::vector<JobOrigin> origins;  // of each job
  std::vector<replay::Machine> machines;
  std::vector<std::uint32_t> node_of_machine;  // index into FleetView::nodes()
  std::vector<ClusterId> cluster_of_machine;
  std::vector<std::uint32_t> left_as_they_were;  // holdings
  std::vector<std::optional<GpuWatts>> watts;    // of each machine; empty: energy isn't counted
  // Of each job, as its holding was measured; empty: nothing was.
  std::vector<MeasuredUse> measured;
  WaitLimits limits;
  std::vector<replay::CutMachine> layouts;  // of machines that are cut by the hour
  // Where else jobs may run, as replay::SpillOver has it; and how many places the fleet has.
  std::vector<std::vector<replay::ModelSet>> places;
  std::uint64_t place_count = 0;
  // Nodes on which holdings are that no replay moves; they are always on.
  std::set<std::string> needed_nodes;
  std::vector<SpeedUse> speeds;    // of jobs whose GPU model is another one
  std::uint64_t rounded_up = 0;    // jobs with fractions of over one GPU in all
  std::uint64_t partly_there = 0;  // nodes that were not there all the time
};

// What the node was last in the period; null: it was not there.
const Node* last_fact(const NodeView& view, const Interval& period);
inline bool was_there(const NodeView& view, const Interval& period) {
  return last_fact(view, period) != nullptr;
}

// The month's holdings on the machines of `fleet`; `ran_on` is the fleet that they had.
// An Error where a node or the number of GPU models is beyond what a replay takes.
Result<ReplayWorld> make_replay_world(const ClusterMonth& month, const FleetView& fleet,
                                      const FleetView& ran_on, const Interval& period,
                                      const TeamOf& team_of, const JobRules& rules);

}  // namespace pennyweight::what_if
