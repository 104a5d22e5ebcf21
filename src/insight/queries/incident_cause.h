// Queries what changed of the machines that explain unusual days: how many nodes there are more,
// and whether their list price is another.
#pragma once

#include <string>
#include <vector>

#include "core/date.h"
#include "core/error.h"
#include "ledger/summary.h"
#include "reporting/queries/costs.h"

namespace pennyweight {

struct IncidentCauseQuery {
  std::vector<SummaryFilter> filters;         // of the costs, and of the value that explains them
  std::vector<std::pair<Date, Date>> days;    // of the incident
  std::vector<std::pair<Date, Date>> before;  // as many days each, which they are compared with
};

// " (8 more nodes), list price unchanged"; empty where nothing can be said. Nodes are those on
// which something held a GPU, by day; prices are of GPU time, changes of less than a thousandth are
// none.
Result<std::string> describe_incident_cause(const IncidentCauseQuery& query,
                                            const SummarySource& summarise);

}  // namespace pennyweight
