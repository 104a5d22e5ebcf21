// Proposes to end, or to give back, GPUs that somebody held and did not use for over an hour.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "insight/advice/activity_profile.h"
#include "insight/advice/apply_text.h"
#include "insight/advice/node_bill.h"
#include "insight/advice/proposal.h"
#include "ledger/outage.h"

namespace pennyweight::advising {

// Fewer wasted GPU-hours of one owner are not reported.
inline constexpr std::uint64_t kIdleGpuHoursMin = 24;

// One for each owner; work that still runs and has done nothing for three days, and is no session,
// comes as a proposal of its own to stop it. Saved is what the bill would not have: hours of
// on-demand nodes on which every holding was idle with all of its GPUs. What else was idle moves
// from its owner to nobody, and is the high end: it is saved where the fleet shrinks by it, or
// others use it.
struct IdleAdvice {
  std::vector<Proposal> proposals;
  // The hours in which nodes would go, by node: nothing else can save them again.
  std::map<std::uint32_t, HourFlags> released;
};
IdleAdvice propose_idle(const ClusterMonth& month, const FleetView& fleet, const FleetHours& hours,
                        const NodeBill& bill, const ActivityProfiles& profiles,
                        std::span<const Outage> outages, const Policy& policy,
                        const Interval& period, WorkManager configured);

}  // namespace pennyweight::advising
