// What `doctor` asks a running `serve`: whether it is ready, and how old what it knows is.
#pragma once

#include <vector>

#include "app/cli/doctor_checks.h"
#include "config/config.h"

namespace pennyweight {

// Empty where no `serve` is configured and none answers. Waits a second at most for each answer.
std::vector<Finding> check_serve(const Config& config);

}  // namespace pennyweight
