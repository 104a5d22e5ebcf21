// What somebody selects of the ledger in words: filters, dates, dimensions, as text and as a query.
// An Error of kBadValue says which word means nothing.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/date.h"
#include "core/error.h"
#include "ledger/summary.h"
#include "policy/policy.h"

namespace pennyweight {

// "team" or "team,user": dimensions, each built in or of the policy.
Result<std::vector<std::string>> parse_dimensions(const std::vector<std::string>& texts,
                                                  const Policy& policy);

// Between commas. A backslash before a comma, or before another, takes it as it is: "a\,b,c" is
// "a,b" and "c".
std::vector<std::string> split_values(std::string_view text);

// "team=nlp,cv" (any of these) or "team!=nlp" (none of these). A value in parentheses that is a
// kind, "(unallocated)", means the rows that a report shows under it: without a value, of that
// kind.
Result<std::vector<SummaryFilter>> parse_filter(std::string_view text, const Policy& policy);

// Whether each part of somebody's scope is a dimension that there is. One that is not would have
// him see nothing, in silence.
Result<void> check_dimensions_of(const std::vector<SummaryFilter>& scope, const Policy& policy);

// The filters under which a report shows a row: `key` in `dimension`.
std::vector<SummaryFilter> filters_of_key(const std::string& dimension, const std::string& key);

struct DateOptions {
  std::string month;  // a bill's month, "2026-03"
  std::string from;   // local dates, "2026-03-01", both inclusive
  std::string to;
};

// Puts the dates into a query. A month is the bill's, so that what is shown adds up to it.
Result<void> select_dates(const DateOptions& dates, SummaryQuery& query);

// "2026-03".
Result<void> check_month(std::string_view text);
// "2026-03-01".
Result<Date> parse_day(std::string_view text);

}  // namespace pennyweight
