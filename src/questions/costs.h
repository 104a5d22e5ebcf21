// What does it cost, by which dimensions? A cost report: from words to a query, and from its rows
// to tables.
//
// In two steps, since who asks may look at the query before it is answered: to narrow it to what
// somebody may see, or to say that nothing has changed since.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/instant.h"
#include "ledger/summary.h"
#include "policy/policy.h"
#include "pricing/exchange.h"
#include "questions/selection.h"
#include "report/cost_report.h"
#include "report/table.h"

namespace pennyweight {

struct CostQuestion {
  std::vector<std::string> by = {"team"};
  std::vector<std::string> filters = {};  // "team=nlp,cv", "kind!=shared"
  DateOptions dates = {};
  std::string step = "none";       // none, day, week, month
  std::string cost = "effective";  // effective, billed, list, contracted, all
  std::string sort = "cost";       // cost, key
  std::uint64_t top = 0;           // owners that have a row of their own; 0: all
  std::optional<Instant> as_of = {};
  std::optional<Currency> currency = {};  // everything in this one; nothing: each as it is billed
};

struct CostPlan {
  CostReport report;
  SummaryQuery query;  // who answers it may add filters to it
  std::optional<Currency> currency;
};

// An Error of kBadValue says which word means nothing.
Result<CostPlan> plan_costs(const CostQuestion& question, const Policy& policy);

// Who answers: the ledger, or sums of it that are kept.
using Summariser = std::function<Result<std::vector<SummaryRow>>(const SummaryQuery&)>;
// Asked only where a row is in another currency, with the first such.
using RatesSource = std::function<Result<ExchangeRates>(const Currency& foreign)>;

// The rows that a report with `top` shows, as cost_tables() takes them.
struct FirstOwners {
  std::vector<SummaryRow> rows;
  std::vector<OtherOwners> others;
};
// Who tells these apart by himself, so that not every owner has to be named. Nothing: he can't.
using OwnersSource =
    std::function<Result<std::optional<FirstOwners>>(const SummaryQuery&, const CostReport&)>;

// One table for each currency; none where no posting matches. The rates that were used are notes
// of the first. `owners` is asked first where only the first owners are shown; without it, and
// where it says nothing or something has to be converted, all rows are asked for.
Result<std::vector<Table>> ask_costs(const CostPlan& plan, const Summariser& summarise,
                                     const RatesSource& rates, const RateSearch& search,
                                     const OwnersSource& owners = {});

// "none", "day", "week", "month".
std::optional<TimeBucket> parse_time_bucket(std::string_view text);

}  // namespace pennyweight
