// What a request selects of the ledger, in the words of the API: dates, filters, kinds.
#pragma once

#include <string>
#include <vector>

#include "api/answers.h"
#include "ledger/summary.h"
#include "policy/policy.h"
#include "questions/costs.h"
#include "questions/selection.h"

namespace pennyweight::api {

inline constexpr std::size_t kGroupByMax = 6;
inline constexpr std::size_t kFiltersMax = 20;
// Of an answer as a whole; a stream of rows may be longer.
inline constexpr std::size_t kRowsMax = 50'000;
inline constexpr std::size_t kStreamedRowsMax = 1'000'000;

// month, from, to.
DateOptions dates_of(Asked& asked);
// filter, as often as it is there.
std::vector<std::string> filters_of(Asked& asked);
// by, filter, month, from, to, step, cost, sort, top, currency, as_of, kinds. Without `by` it is by
// the first dimension of the policy. What means nothing is refused.
CostQuestion cost_question(Asked& asked, const Policy& policy,
                           const std::optional<Currency>& currency);
// filter and dates, of routes that have no other words, in a query.
void select(Asked& asked, const Policy& policy, SummaryQuery& query);

}  // namespace pennyweight::api
