// Parses the filters, dates and dimensions of a query, as they are typed on the command line or in
// a URL. An Error of kBadValue names the text that can't be understood.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "allocation/policy/policy.h"
#include "core/date.h"
#include "core/error.h"
#include "ledger/summary.h"

namespace pennyweight {

// "team" or "team,user": dimensions, each built in or of the policy.
Result<std::vector<std::string>> parse_dimensions(const std::vector<std::string>& texts,
                                                  const Policy& policy);

// Splits a list at its commas. A backslash escapes a comma or a backslash: "a\,b,c" is "a,b" and
// "c".
std::vector<std::string> split_list(std::string_view text);

// "team=nlp,cv" (any of these) or "team!=nlp" (none of these). A kind in parentheses, such as
// "(unallocated)", selects the rows that a report shows under it: of that kind, without a value.
Result<std::vector<SummaryFilter>> parse_filter(std::string_view text, const Policy& policy);

// Checks that every dimension of a user's scope exists. With an unknown one the user would see
// nothing, without a reason.
Result<void> check_scope_dimensions(const std::vector<SummaryFilter>& scope, const Policy& policy);

// The filters that select the row which a report shows under `key` in `dimension`.
std::vector<SummaryFilter> row_filters(const std::string& dimension, const std::string& key);

struct DateOptions {
  std::string month;  // a billing month, "2026-03"
  std::string from;   // local dates, "2026-03-01"; both inclusive
  std::string to;
};

// Adds the dates to a query. A month is the billing month, so that the result adds up to the bill.
Result<void> apply_dates(const DateOptions& dates, SummaryQuery& query);

// Accepts "2026-03".
Result<void> check_month(std::string_view text);
// Parses "2026-03-01".
Result<Date> parse_day(std::string_view text);

}  // namespace pennyweight
