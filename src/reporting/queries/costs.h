// Queries cost reports: parses the parameters into a plan, and answers the plan with tables.
//
// The two steps let a caller look at the plan before it is answered: to restrict it to a user's
// scope, or to find that nothing has changed since an earlier answer.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "allocation/policy/policy.h"
#include "allocation/pricing/exchange.h"
#include "core/error.h"
#include "core/instant.h"
#include "ledger/summary.h"
#include "reporting/cost_report.h"
#include "reporting/queries/selection.h"
#include "reporting/table.h"

namespace pennyweight {

struct CostQuery {
  std::vector<std::string> by = {"team"};
  std::vector<std::string> filters = {};  // "team=nlp,cv", "kind!=shared"
  DateOptions dates = {};
  std::string step = "none";       // none, day, week, month
  std::string cost = "effective";  // effective, billed, list, contracted, all
  std::string sort = "cost";       // cost, key
  std::uint64_t top = 0;           // owners with a row of their own; 0: all
  std::optional<Instant> as_of = {};
  std::optional<Currency> currency = {};  // converts everything to it; empty: as billed
};

struct CostPlan {
  CostReport report;
  SummaryQuery query;  // the caller may add filters
  std::optional<Currency> currency;
};

// An Error of kBadValue names the parameter that can't be understood.
Result<CostPlan> plan_cost_query(const CostQuery& params, const Policy& policy);

// Answers summary queries: from the ledger, or from a rollup.
using SummarySource = std::function<Result<std::vector<SummaryRow>>(const SummaryQuery&)>;
// Called only where a row is in another currency, with the first such currency.
using RatesSource = std::function<Result<ExchangeRates>(const Currency& foreign)>;

// The rows of a report with `top`, as cost_tables() takes them.
struct TopOwners {
  std::vector<SummaryRow> rows;
  std::vector<OtherOwners> others;
};
// Finds the top owners without listing every owner; empty if it can't.
using TopOwnersSource =
    std::function<Result<std::optional<TopOwners>>(const SummaryQuery&, const CostReport&)>;

// One table per currency; none where no posting matches. The notes of the first table list the
// exchange rates used. For a report with `top`, `owners` is asked first. All rows are queried
// without it, where it returns nothing, and where a cost has to be converted.
Result<std::vector<Table>> query_costs(const CostPlan& plan, const SummarySource& summarise,
                                       const RatesSource& rates, const RateSearch& search,
                                       const TopOwnersSource& owners = {});

// "none", "day", "week", "month".
std::optional<TimeBucket> parse_time_bucket(std::string_view text);

}  // namespace pennyweight
