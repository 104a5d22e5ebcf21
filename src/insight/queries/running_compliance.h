// Whether what runs now is where, and beside whom, it may be: the terms of clients held to the live
// view. The bill of the month says the same of what has run (compliance_query.h).
#pragma once

#include <span>
#include <string>
#include <vector>

#include "allocation/policy/policy.h"
#include "insight/queries/compliance_query.h"
#include "ledger/node.h"
#include "reporting/live/live_rows.h"
#include "reporting/table.h"

namespace pennyweight {

struct RunningFinding {
  std::string client;
  ComplianceRule rule = ComplianceRule::kRegion;
  std::string where;     // the region, pool, node or GPU; "(not known)"
  std::string workload;  // of the client, "lab/1001"
  std::string evidence;  // on which node, or beside whom
  bool operator==(const RunningFinding&) const = default;
};

// By client, rule, place and workload, each once. `nodes`: where each node is; the latest record
// counts. Accounts are known of bills alone. Work that nobody watches now is no finding.
std::vector<RunningFinding> find_running_violations(const ComplianceQuery& query,
                                                    const ViewRows& view,
                                                    std::span<const Node> nodes);

Table running_compliance_table(std::span<const RunningFinding> findings, Instant at);

}  // namespace pennyweight
