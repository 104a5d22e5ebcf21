// Several clusters of a month as one, for jobs that spill over from one to another.
#pragma once

#include <string>
#include <vector>

#include "core/error.h"
#include "insight/queries/what_if_query.h"
#include "reporting/queries/ledger_month.h"

namespace pennyweight {

// Those that `wanted` names, separated by commas; all with charges where it is empty.
// kBadValue: one is not there, or it names one of several; kConfig: the month has only one.
Result<std::vector<ClusterId>> choose_replayed_clusters(const std::string& wanted,
                                                        const LedgerMonth& month);

// The clusters' facts together. Workloads with the same name in two of them are told apart, as
// "lab/1234" ("lab/lab/1234" where a workload is called that). kUnsupported where two have a node
// or a GPU of the same name: a job's place would not be known. REQUIRES: as many facts as clusters.
Result<ClusterFacts> merge_clusters(const std::vector<ClusterId>& clusters,
                                    std::vector<ClusterFacts> facts);

}  // namespace pennyweight
