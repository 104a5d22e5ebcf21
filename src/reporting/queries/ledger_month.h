// Loads one month of the ledger as an allocation needs it: charges by cluster, and each cluster's
// facts.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/gpu/cloud_resource.h"
#include "core/id.h"
#include "ledger/charge.h"
#include "ledger/correction.h"
#include "ledger/holding.h"
#include "ledger/node.h"
#include "ledger/outage.h"
#include "ledger/store.h"
#include "ledger/work.h"

namespace pennyweight {

struct ClusterFacts {
  std::vector<Charge> charges;
  std::vector<Node> nodes;
  std::vector<Gpu> gpus;
  std::vector<Holding> holdings;        // that overlap a charge
  std::vector<Outage> outages;          // that overlap one
  std::vector<Correction> corrections;  // of the month in any time zone
};

class LedgerMonth {
 public:
  // Reads the month's charges (without the texts that allocation never reads, such as their
  // description and other columns), the nodes, the GPUs and the runs.
  // REQUIRES: the rules have passed check_join_rule.
  static Result<LedgerMonth> load(Store& store, const std::string& month,
                                  std::span<const JoinRule> join_rules);

  const std::string& name() const { return name_; }
  // Every cluster with charges now or at its last run, sorted; "" is no cluster. A cluster that
  // lost its charges has to be allocated again, so that they don't stay posted there.
  std::vector<ClusterId> clusters() const;
  // The scope's current run when the month was loaded; null: never allocated.
  const Run* current_run(const Scope& scope) const;
  // The run scopes of the month's charges, by cluster. A cluster is left out after take_facts().
  std::vector<PlannedScope> planned() const;
  std::span<const Charge> charges(const ClusterId& cluster) const;
  // Moves the charges out, so it may be called once per cluster.
  Result<ClusterFacts> take_facts(Store& store, const ClusterId& cluster);

 private:
  explicit LedgerMonth(std::string name) : name_(std::move(name)) {}

  std::string name_;
  std::map<ClusterId, std::vector<Charge>> charges_;
  std::vector<Node> nodes_;
  std::vector<Gpu> gpus_;
  std::map<Scope, Run> runs_;
};

}  // namespace pennyweight
