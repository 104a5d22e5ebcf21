// The cost per hour of everything that runs now, by cluster, as JSON.
#pragma once

#include <string>

#include "reporting/live/live_rows.h"

namespace pennyweight::api {

// {"at": …, "clusters": […]}; a null view gives a null time and no clusters. `is_cut`: the view is
// cut to a scope, so only GPUs held by its workloads are counted.
std::string live_now_json(const LiveView* view, bool is_cut);

}  // namespace pennyweight::api
