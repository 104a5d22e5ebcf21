// What workloads that are like planned ones really cost, by the ledger.
//
// Three ways in which a workload is like another are tried in their order, and the first that finds
// any counts: its name; its owner, number of GPUs and model; number and model alone. What is
// compared is the cost of a workload over all months of the query, as effective cost.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "allocation/policy/policy.h"
#include "core/error.h"
#include "core/id.h"
#include "core/money.h"
#include "insight/guardrails/estimate.h"
#include "ledger/store.h"
#include "reporting/table.h"

namespace pennyweight {

enum class Likeness { kNone, kName, kOwnerAndGpus, kGpus };

struct SimilarQuery {
  std::vector<std::string> months;             // "2026-03", …; of the bill
  std::string by = "team";                     // the dimension that says whose a workload is
  Currency currency = kUsd;                    // what costs something else is left out
  std::vector<ClusterId> slurm_clusters = {};  // whose workloads are Slurm jobs, and no pods
};

struct SimilarWorkloads {
  std::string workload = {};  // title of the planned one
  std::string owner = {};     // as far as it is known before it runs; else empty
  std::uint64_t gpus = 0;     // of all its replicas, whole cards
  Likeness likeness = Likeness::kNone;
  std::uint64_t count = 0;
  // Nearest-rank percentiles; absent without any.
  std::optional<Money> cost_p50 = {};
  std::optional<Money> cost_p90 = {};
  std::uint64_t ran_ms_p50 = 0;
};

// The last `count` months of the ledger that are not after `month`.
std::vector<std::string> last_months(std::span<const std::string> months, std::string_view month,
                                     std::size_t count);

// One for each workload of the estimate, in its order. An Error of the store.
Result<std::vector<SimilarWorkloads>> find_similar_workloads(
    std::span<const guardrails::WorkloadEstimate> planned, const SimilarQuery& query,
    const Policy& policy, Store& store);

Table similar_table(std::span<const SimilarWorkloads> found, const SimilarQuery& query);

}  // namespace pennyweight
