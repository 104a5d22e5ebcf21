// Queries the hour in which unusual days began: what it costs and holds is known by the hour where
// bills, jobs or telemetry are.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "allocation/policy/policy.h"
#include "core/date.h"
#include "core/error.h"
#include "ledger/posting.h"
#include "ledger/summary.h"
#include "reporting/cost_report.h"

namespace pennyweight {

// The postings within a row of a summary, at most so many of them.
using PostingSource =
    std::function<Result<std::vector<Posting>>(const SummaryQuery& query, std::uint64_t at_most)>;

struct IncidentHourQuery {
  std::vector<SummaryFilter> filters;  // of the costs
  CostColumn cost = CostColumn::kEffective;
  Date first;  // the first unusual day
  bool is_higher = true;
};

// "14:00 UTC" of that day, in the policy's zone. Nothing where its postings last the whole day, so
// that the hour of a change can't be seen in them, where no hour is clearly the first, and where
// there are too many postings or they are in several currencies.
Result<std::optional<std::string>> find_incident_hour(const IncidentHourQuery& query,
                                                      const Policy& policy,
                                                      const PostingSource& postings);

}  // namespace pennyweight
