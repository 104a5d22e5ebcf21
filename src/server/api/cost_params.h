// Reads the parameters that select costs: dates, filters, kinds.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "allocation/policy/policy.h"
#include "ledger/summary.h"
#include "reporting/queries/costs.h"
#include "reporting/queries/selection.h"
#include "server/api/answers.h"

namespace pennyweight::api {

inline constexpr std::size_t kGroupByMax = 6;
inline constexpr std::size_t kFiltersMax = 20;
// The limit of an answer with tables; a stream of rows may be longer.
inline constexpr std::size_t kRowsMax = 50'000;
inline constexpr std::size_t kStreamedRowsMax = 1'000'000;

// Reads month, from and to.
DateOptions read_dates(QueryParams& params);
// Reads every `filter`.
std::vector<std::string> read_filters(QueryParams& params);
// Reads `currency`: into which to convert; nothing: as billed. `configured`: where none is asked
// for.
std::optional<Currency> read_currency(QueryParams& params,
                                      const std::optional<Currency>& configured);
// Reads by, filter, month, from, to, step, cost, sort, top, currency, as_of and kinds. `by`
// defaults to the first dimension of the policy.
CostQuery read_cost_query(QueryParams& params, const Policy& policy,
                          const std::optional<Currency>& currency);
// Whether `text` has `part` in it, as a search finds it: upper and lower case of ASCII are the
// same.
bool has_part(std::string_view text, std::string_view part);
// Reads filter and dates into a query, for routes without other parameters.
void read_selection(QueryParams& params, const Policy& policy, SummaryQuery& query);

}  // namespace pennyweight::api
