// Whether a scenario says something: a change that reaches nobody is a mistake, not a change. And
// whether its month can be believed: the replay of what really ran must come near what was.
#pragma once

#include "core/error.h"
#include "insight/what_if/replay_world.h"
#include "insight/what_if/what_if.h"

namespace pennyweight::what_if {

// Errors of kConfig say which change is without effect, on which cluster and in which month.
// Each team that the scenario names has jobs.
Result<void> check_teams(const WhatIfInput& input, const ReplayWorld& world);
// Each GPU model whose watts it states is there.
Result<void> check_power(const WhatIfInput& input, const ReplayWorld& world,
                         const FleetView& fleet);
// There is another place to spill over to.
Result<void> check_places(const WhatIfInput& input, const ReplayWorld& world,
                          const Scenario& scenario);
// Jobs need several machines, and not all of these are one rack.
Result<void> check_racks(const WhatIfInput& input, const ReplayWorld& world,
                         const Scenario& scenario);

// kUnsupported: the replay of what really ran is off by more than the input allows.
Result<void> check_calibration(const WhatIfInput& input, const WhatIf& result);

}  // namespace pennyweight::what_if
