// The policy that applies without any configuration.
#pragma once

#include "allocation/policy/policy.h"

namespace pennyweight {

// The larger of request and use, compute and memory alike, CPU and memory at market rates, idle
// cost where it is, the usual system namespaces as overhead, and the usual labels as dimensions.
Policy default_policy();

}  // namespace pennyweight
