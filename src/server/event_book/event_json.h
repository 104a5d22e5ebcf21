// A known event as JSON: what the API takes and gives, and what the book of events keeps.
//
//   {"name": "new client", "from": "2026-05-01", "key": "nlp", "by": "team", "per_day": "120 USD"}
//
// The keys are those of `events:` in the configuration.
#pragma once

#include <string>
#include <string_view>

#include "core/error.h"
#include "insight/forecast/cost_forecast.h"

namespace pennyweight {

// "+120 USD" or "10 % remain".
std::string event_effect(const forecasting::KnownEvent& event);
std::string event_json(const forecasting::KnownEvent& event);
// Checked as an event of the configuration is. An Error of kBadValue names the key that is wrong;
// keys that an event does not have are refused. `name`: of an event that says none.
Result<forecasting::KnownEvent> parse_event_json(std::string_view json, std::string_view name = {});

}  // namespace pennyweight
