#include "questions/ledger_month.h"

#include <algorithm>
#include <chrono>
#include <set>

#include "allocate/allocate.h"
#include "core/billing_period.h"
#include "ledger/keeping.h"

namespace pennyweight {
namespace {

// From the first begin to the last end of what is charged.
std::optional<Interval> span_of(const std::vector<Charge>& charges) {
  if (charges.empty()) return std::nullopt;
  Instant begin = charges.front().charge_period.begin();
  Instant end = charges.front().charge_period.end();
  for (const Charge& charge : charges) {
    begin = std::min(begin, charge.charge_period.begin());
    end = std::max(end, charge.charge_period.end());
  }
  return Interval(begin, end);
}

template <class Fact>
std::vector<Fact> of_cluster(const std::vector<Fact>& all, const ClusterId& cluster) {
  std::vector<Fact> facts;
  for (const Fact& fact : all) {
    if (fact.cluster == cluster) facts.push_back(fact);
  }
  return facts;
}

}  // namespace

Result<LedgerMonth> LedgerMonth::load(Store& store, const std::string& month,
                                      std::span<const JoinRule> join_rules) {
  LedgerMonth loaded(month);
  auto nodes = store.nodes();
  if (!nodes) return std::unexpected(nodes.error());
  loaded.nodes_ = std::move(*nodes);
  auto gpus = store.gpus();
  if (!gpus) return std::unexpected(gpus.error());
  loaded.gpus_ = std::move(*gpus);
  const auto runs = store.runs();
  if (!runs) return std::unexpected(runs.error());
  for (const Run& run : *runs) {
    if (run.current && run.scope.month == month) loaded.runs_.emplace(run.scope, run);
  }

  std::vector<Charge> charges;
  const auto scanned = store.scan_charges(month, [&](std::span<const Charge> batch) {
    charges.insert(charges.end(), batch.begin(), batch.end());
    return true;
  });
  if (!scanned) return std::unexpected(scanned.error());
  const std::vector<ClusterId> clusters = cluster_of_charges(charges, loaded.nodes_, join_rules);
  for (std::size_t i = 0; i < charges.size(); ++i) {
    loaded.charges_[clusters[i]].push_back(std::move(charges[i]));
  }
  return loaded;
}

std::vector<ClusterId> LedgerMonth::clusters() const {
  std::set<ClusterId> clusters;
  for (const auto& [cluster, charges] : charges_) clusters.insert(cluster);
  for (const auto& [scope, run] : runs_) clusters.insert(scope.cluster);
  return {clusters.begin(), clusters.end()};
}

const Run* LedgerMonth::current_run(const Scope& scope) const {
  const auto run = runs_.find(scope);
  return run == runs_.end() ? nullptr : &run->second;
}

std::vector<PlannedScope> LedgerMonth::planned() const {
  std::vector<PlannedScope> scopes;
  for (const auto& [cluster, charges] : charges_) {
    if (charges.empty()) continue;
    SetDigest lines;
    for (const Charge& charge : charges) lines.add(charge.id.hash);
    scopes.push_back({cluster, charges.size(), lines.digest(), span_of(charges)});
  }
  return scopes;
}

std::span<const Charge> LedgerMonth::lines_of(const ClusterId& cluster) const {
  const auto charges = charges_.find(cluster);
  return charges == charges_.end() ? std::span<const Charge>() : charges->second;
}

Result<ClusterFacts> LedgerMonth::facts_of(Store& store, const ClusterId& cluster) {
  ClusterFacts facts;
  if (const auto charges = charges_.find(cluster); charges != charges_.end()) {
    facts.charges = std::move(charges->second);
  }
  facts.nodes = of_cluster(nodes_, cluster);
  facts.gpus = of_cluster(gpus_, cluster);
  // The month in any time zone; which of its days a correction is booked on, the policy's says.
  const auto month = BillingPeriod::parse(name_, TimeZone::utc());
  if (!month) return std::unexpected(month.error());
  const Interval around(month->to_interval().begin() - std::chrono::days(1),
                        month->to_interval().end() + std::chrono::days(1));
  auto corrections = store.corrections(cluster, around);
  if (!corrections) return std::unexpected(corrections.error());
  facts.corrections = std::move(*corrections);
  const auto span = span_of(facts.charges);
  if (cluster.empty() || !span) return facts;
  const auto scanned = store.scan_holdings(cluster, *span, [&](std::span<const Holding> batch) {
    facts.holdings.insert(facts.holdings.end(), batch.begin(), batch.end());
    return true;
  });
  if (!scanned) return std::unexpected(scanned.error());
  auto outages = store.outages(cluster, *span);
  if (!outages) return std::unexpected(outages.error());
  facts.outages = std::move(*outages);
  return facts;
}

}  // namespace pennyweight
