// bill: generates a bill for an inventory at real list prices, marked as generated.
#pragma once

#include "app/cli/verb.h"

namespace pennyweight {

Verb declare_bill(CLI::App& app);

}  // namespace pennyweight
