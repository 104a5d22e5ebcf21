// The audit's findings as tables.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "allocate/unmatched.h"
#include "audit/commitment_audit.h"
#include "audit/coverage.h"
#include "audit/estimate_audit.h"
#include "report/table.h"

namespace pennyweight {

// Where GPU spend stopped, one place of many: unlabelled workloads of a namespace or an account, or
// lines of a resource.
struct GapPlace {
  std::string dimension;
  GapReason reason;
  std::string place;   // "lab: account nlp", "i-0abc… (p4d.24xlarge)"
  std::string remark;  // "has job_name, user", or empty
  Money effective;
  std::uint64_t things = 0;  // postings
};

// `what` is the month, or "all months". The places are the largest, in their order.
std::vector<Table> coverage_tables(std::span<const Coverage> all, std::span<const GapPlace> places,
                                   const std::string& what);
// One table a currency, a row for each dimension and reason: what a program reads.
std::vector<Table> coverage_rows(std::span<const Coverage> all);

struct UnbilledNode {
  UnmatchedNode node;
  std::optional<Money> estimate;  // at list for its time in the month; nothing: no price
};
struct JoinFindings {
  std::vector<UnmatchedResource> resources;
  std::vector<UnbilledNode> nodes;
};
// At most `top` rows a table; totals are of all.
std::vector<Table> join_tables(const JoinFindings& findings, const std::string& what,
                               std::uint64_t top);
// Both sides in one table a currency.
std::vector<Table> join_rows(const JoinFindings& findings);

std::vector<Table> commitment_tables(std::span<const CommitmentRow> terms,
                                     std::span<const CommitmentRow> months, bool whole_ids);

std::vector<Table> estimate_tables(std::span<const EstimateRow> rows, bool by_node,
                                   const std::string& what, std::uint64_t top, bool with_hours);

}  // namespace pennyweight
