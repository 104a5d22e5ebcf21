// Which of the events that people know change the costs that a query is about.
//
// An event is about everything, or about one value such as the team nlp. What it does to other
// costs can't be told from their sums: it counts where that is exact, and a note names it
// otherwise.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/error.h"
#include "insight/forecast/cost_forecast.h"
#include "insight/queries/daily_costs.h"
#include "ledger/summary.h"
#include "reporting/queries/currency.h"

namespace pennyweight {

// All that are known, configured or kept by people.
using KnownEventSource = std::function<Result<std::vector<forecasting::KnownEvent>>()>;

// The events with their amounts in the currency of `conversion`, at the rate of the month of `day`,
// the newest with costs. One that has no rate stays as it is: choose_events() names it. Null: all
// stay.
std::vector<forecasting::KnownEvent> convert_events(std::span<const forecasting::KnownEvent> events,
                                                    CurrencyConversion* conversion, Date day);

struct EventChoice {
  std::vector<forecasting::KnownEvent> events;  // as they change the parts of the history
  std::vector<std::string> notes;               // which don't count, and why
  std::vector<std::string> new_keys;            // parts that were added, which cost nothing so far
};

// `by`: the dimension of the history's parts, or empty. `scope`: the filters behind it, those of
// the asker's scope included. A value that an amount is for, and that has no costs yet, becomes a
// part of the history, without costs. `horizon`: how many days after the history are forecast; what
// is over before it, or begins after them, changes nothing. REQUIRES: the history has a part.
EventChoice choose_events(std::span<const forecasting::KnownEvent> events, const std::string& by,
                          std::span<const SummaryFilter> scope, int horizon,
                          DailyCostHistory& history);

// Whether the filters select values of the event only: "team=nlp" for one of the team nlp.
bool selects_event(std::span<const SummaryFilter> scope, const forecasting::KnownEvent& event);

}  // namespace pennyweight
