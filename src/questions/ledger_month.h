// One month of the ledger, as an allocation needs it: bill lines by cluster, and each cluster's
// facts.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/id.h"
#include "fleet/cloud_resource.h"
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
  std::vector<Correction> corrections;  // of the month, wherever its days begin and end
};

class LedgerMonth {
 public:
  // Reads the month's bill lines, the nodes, the GPUs and the runs.
  // REQUIRES: the rules have passed check_join_rule.
  static Result<LedgerMonth> load(Store& store, const std::string& month,
                                  std::span<const JoinRule> join_rules);

  const std::string& name() const { return name_; }
  // Every cluster that has bill lines, and every one that had when it was last allocated: a line
  // that has moved to another cluster must not stay posted in the old one. Sorted; "" is no
  // cluster.
  std::vector<ClusterId> clusters() const;
  // The run that was current when the month was loaded; null: the scope was never allocated.
  const Run* current_run(const Scope& scope) const;
  // How the bill lines fall into scopes, by cluster; those of a cluster as long as they were not
  // handed over.
  std::vector<PlannedScope> planned() const;
  std::span<const Charge> lines_of(const ClusterId& cluster) const;
  // May be called once a cluster: the bill lines are handed over.
  Result<ClusterFacts> facts_of(Store& store, const ClusterId& cluster);

 private:
  explicit LedgerMonth(std::string name) : name_(std::move(name)) {}

  std::string name_;
  std::map<ClusterId, std::vector<Charge>> charges_;
  std::vector<Node> nodes_;
  std::vector<Gpu> gpus_;
  std::map<Scope, Run> runs_;
};

}  // namespace pennyweight
