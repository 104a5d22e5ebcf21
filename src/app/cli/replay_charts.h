// Charts of a replay as SVG: GPUs held and jobs waiting over time, how long jobs wait, and what
// each node held when.
#pragma once

#include <string>

#include "insight/queries/what_if_query.h"
#include "insight/what_if/what_if.h"

namespace pennyweight {

// Each is a whole SVG document. "As it was" is the replay of what really ran.
std::string over_time_svg(const WhatIfMonth& month, const what_if::WhatIf& result);
std::string waits_svg(const WhatIfMonth& month, const what_if::WhatIf& result);
// The first nodes by name, up to kGanttNodes; workloads by the values of `by`.
std::string gantt_svg(const WhatIfMonth& month, const what_if::WhatIf& result,
                      const std::string& by);

inline constexpr std::size_t kGanttNodes = 100;

}  // namespace pennyweight
