// `forecast event set`, `remove`, `list` and `history`: what people know of days to come.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "app/cli/shared_options.h"
#include "app/cli/verb.h"
#include "insight/forecast/cost_forecast.h"

namespace pennyweight {

// Adds the subcommands to `forecast`. What is returned runs the one that was given; nothing: none
// was.
std::function<std::optional<Result<ExitCode>>(Context&)> add_event_changes(CLI::App& forecast);

// The events of the configuration and those that people keep.
Result<std::vector<forecasting::KnownEvent>> all_events(const Context& context);

}  // namespace pennyweight
