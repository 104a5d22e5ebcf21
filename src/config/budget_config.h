// The sections `budgets:` and `events:` of the configuration: what scopes may cost, and what a
// person knows of days to come.
#pragma once

#include <vector>

#include "config/config_key.h"
#include "config/yaml_reader.h"
#include "insight/budgets/budget.h"
#include "insight/forecast/cost_forecast.h"

namespace pennyweight {

// Every budget has passed check_budget(), and names are unique.
std::vector<Budget> read_budgets(YamlReader& reader, const YamlNode& node);
std::vector<forecasting::KnownEvent> read_known_events(YamlReader& reader, const YamlNode& node);

ConfigKeys budget_config_keys();

// "5000 USD", "2000 gpu_hours" or "0.5 EUR"; 0 or more, except for events.
Result<Money> parse_amount(std::string_view text);
std::string budget_amount_text(const Money& amount);  // as parse_amount() reads it

}  // namespace pennyweight
