#include "insight/compare/policy_costs.h"

#include <algorithm>

#include "allocation/allocate.h"
#include "allocation/distribute.h"
#include "core/try.h"

namespace pennyweight {
namespace {

std::unexpected<Error> stopped_costs() { return fail(ErrorCode::kIo, "it was stopped"); }

// The telemetry, or none where there is none, until somebody stops it.
UtilizationSource until_stopped(UtilizationSource telemetry, const StopCheck& is_stopped) {
  if (!is_stopped) return telemetry;
  return [telemetry = std::move(telemetry),
          &is_stopped](const Interval& day) -> Result<ObservedUtilization> {
    if (is_stopped()) return stopped_costs();
    if (telemetry) return telemetry(day);
    return ObservedUtilization{.during = day, .series = {}, .placed = {}};
  };
}

using OtherScopeCosts = std::vector<DistributionInput::OtherScopeCost>;

class ClusterCosts {
 public:
  ClusterCosts(const ComparedCluster& cluster, const Policy& policy,
               const PolicyCostsOptions& options, const std::set<FactId>& left_out)
      : cluster_(cluster), policy_(policy), options_(options), left_out_(left_out) {
    const std::vector<HoldingType> ways = holding_types(cluster.facts);
    for (std::size_t i = 0; i < ways.size(); ++i) {
      ways_.emplace(cluster.facts.holdings[i].id, to_text(ways[i]));
    }
    for (const Charge& charge : cluster.facts.charges) charges_.insert(charge.id);
  }

  // Adds to `other_scopes` what this cluster's owners paid; the scope of no cluster reads it.
  Result<MethodCosts> run(OtherScopeCosts& other_scopes) {
    const ClusterMonth& facts = cluster_.facts;
    const auto allocation = TRY(allocate(
        {.cluster = facts.cluster,
         .charges = facts.charges,
         .nodes = facts.nodes,
         .gpus = facts.gpus,
         .holdings = facts.holdings,
         .outages = cluster_.outages,
         .policy = policy_,
         .catalog = facts.catalog,
         .threads = options_.threads,
         .utilization = until_stopped(
             cluster_.utilization ? cluster_.utilization(policy_.usage) : UtilizationSource{},
             options_.is_stopped),
         .changed = {},
         .join_rules = facts.join_rules}));
    if (options_.is_stopped && options_.is_stopped()) return stopped_costs();
    const bool nowhere = facts.cluster.empty();
    const Distribution distribution =
        distribute({.cluster = facts.cluster,
                    .month = options_.month,
                    .postings = allocation.postings,
                    .dimensions = allocation.dimensions,
                    .nodes = facts.nodes,
                    .charges = facts.charges,
                    .corrections = cluster_.corrections,
                    .other_scopes = nowhere ? other_scopes : OtherScopeCosts{},
                    .policy = policy_});
    if (!nowhere) {
      const OtherScopeCosts more = sum_costs_by_owner(allocation.postings, allocation.dimensions);
      other_scopes.insert(other_scopes.end(), more.begin(), more.end());
    }
    if (options_.is_stopped && options_.is_stopped()) return stopped_costs();
    add(allocation.postings);
    add(distribution.transfers);
    MethodCosts divided{facts.cluster, sum_.parts(), {}};
    for (const auto* dimensions : {&allocation.dimensions, &distribution.dimensions}) {
      for (const WorkloadDimensions& of : *dimensions) {
        divided.owners.emplace(of.workload, of.dimensions);
      }
    }
    return divided;
  }

 private:
  void add(std::span<const Posting> postings) {
    for (const Posting& posting : postings) {
      const std::string_view bucket =
          posting.workload.empty() ? to_text(posting.kind) : std::string_view{};
      sum_.add({posting.workload, posting.node, bucket, cause_of(posting),
                posting.costs.*options_.cost});
    }
  }

  std::string_view cause_of(const Posting& posting) const {
    if (!charges_.contains(posting.charge)) return kCorrectionsCause;
    if (left_out_.contains(posting.charge)) return kLeftOutCause;
    if (posting.workload.empty()) return kIdleCause;
    const auto way = posting.holding ? ways_.find(*posting.holding) : ways_.end();
    return way == ways_.end() ? to_text(HoldingType::kNoGpu) : way->second;
  }

  const ComparedCluster& cluster_;
  const Policy& policy_;
  const PolicyCostsOptions& options_;
  const std::set<FactId>& left_out_;
  std::map<FactId, std::string_view> ways_;
  std::set<FactId> charges_;
  CostPartSum sum_;
};

}  // namespace

Result<std::vector<MethodCosts>> policy_costs(std::span<const ComparedCluster> clusters,
                                              const Policy& policy,
                                              const PolicyCostsOptions& options) {
  std::vector<MethodCosts> all(clusters.size(), MethodCosts{ClusterId(""), {}, {}});
  OtherScopeCosts other_scopes;
  const std::set<FactId> none;
  // No cluster comes last: it reads what owners paid in the others.
  for (const bool nowhere : {false, true}) {
    for (std::size_t i = 0; i < clusters.size(); ++i) {
      if (clusters[i].facts.cluster.empty() != nowhere) continue;
      const auto& left_out = i < options.left_out.size() ? options.left_out[i] : none;
      auto divided = ClusterCosts(clusters[i], policy, options, left_out).run(other_scopes);
      if (!divided) {
        return std::unexpected(
            divided.error().during("cannot allocate " + clusters[i].facts.cluster.text()));
      }
      all[i] = std::move(*divided);
    }
  }
  return all;
}

}  // namespace pennyweight
