#include "insight/replay/simulate.h"

#include "core/check.h"
#include "insight/replay/simulation.h"

namespace pennyweight::replay {

Replay simulate(std::span<const Job> jobs, std::span<const Machine> machines,
                const ReplayOptions& options) {
  const Scheduling& policy = options.scheduling;
  CHECK(!policy.preempts || !is_fair(policy.order), "a fair queue interrupts nobody");
  CHECK(!policy.preempts || (options.spot.reclaimed_per_hour == 0 && options.spot.planned.empty()),
        "preemption and machines that are taken back are not replayed together");
  CHECK(options.pools.empty() || !policy.preempts,
        "pools and preemption are not replayed together");
  CHECK(options.spill_over.places.empty() || !policy.preempts,
        "spill-over and preemption are not replayed together");
  CHECK(options.pools.empty() || !policy.same_rack,
        "machines that are started for a job are of any rack");
  CHECK(options.layouts.empty() ||
            (!policy.preempts && options.pools.empty() && options.spill_over.places.empty() &&
             options.spot.reclaimed_per_hour == 0 && options.spot.planned.empty()),
        "layouts by the hour are replayed with nothing else that opens and closes machines");
  CHECK(!policy.preempts || (policy.admission.quotas.empty() && policy.admission.windows.empty()),
        "preemption and quotas or windows are not replayed together");
  if (!policy.preempts) return run_to_end(jobs, machines, options);
  return policy.restart_cost == RestartCost::kEveryEvent ? run_planned_anew(jobs, machines, options)
                                                         : run_preempting(jobs, machines, options);
}

}  // namespace pennyweight::replay
