// scenario_spot(): which machines are taken back when: by chance, in outages, and by a trace.
#pragma once

#include "core/error.h"
#include "insight/replay/spot.h"
#include "insight/what_if/replay_world.h"
#include "insight/what_if/what_if.h"

namespace pennyweight::what_if {

// kConfig: an outage or a trace is not of this month or cluster, or no node can be spot capacity.
Result<replay::Spot> scenario_spot(const WhatIfInput& input, const ReplayWorld& world,
                                   const FleetView& fleet);

}  // namespace pennyweight::what_if
