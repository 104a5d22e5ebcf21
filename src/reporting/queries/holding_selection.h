// Reads the dimensions, filters and days of queries that are answered from holdings.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "allocation/policy/policy.h"
#include "core/billing_period.h"
#include "core/error.h"
#include "ledger/summary.h"
#include "reporting/queries/selection.h"

namespace pennyweight {

// An Error of kBadValue lists the dimensions: those of the policy, of holdings, and `further`.
Result<void> check_holding_dimension(const std::string& name, const Policy& policy,
                                     const std::vector<std::string>& further);

// "user=ann,bo", "node!=n1", of such dimensions.
Result<SummaryFilter> parse_holding_filter(const std::string& text, const Policy& policy,
                                           const std::vector<std::string>& further);

// The local days of a query, as instants; a month is a calendar month.
struct LocalRange {
  std::optional<Instant> from, to;  // empty: without a border
};
Result<LocalRange> local_range(const DateOptions& dates, const TimeZone& zone);

}  // namespace pennyweight
