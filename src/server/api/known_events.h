// Which known events a user sees and may change: those about values of the user's scope.
#pragma once

#include <vector>

#include "core/error.h"
#include "insight/forecast/cost_forecast.h"
#include "server/access/principal.h"
#include "server/api/services.h"

namespace pennyweight::api {

// Those of the configuration and those that people keep, which change costs that `who` may see: for
// users with a scope those about its values, and about everything. An Error where the book can't be
// read.
Result<std::vector<forecasting::KnownEvent>> visible_events(const Services& services,
                                                            const access::Principal& who);

}  // namespace pennyweight::api
