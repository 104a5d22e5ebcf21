// What all that runs now costs an hour, cluster by cluster.
#pragma once

#include <string>

#include "live/view/live_lines.h"

namespace pennyweight::api {

// {"at": …, "clusters": […]}; a null view is of no time and no cluster. `is_cut`: it is of
// somebody in a scope, who is told of no GPUs but those that his workloads hold.
std::string live_now_json(const LiveView* view, bool is_cut);

}  // namespace pennyweight::api
