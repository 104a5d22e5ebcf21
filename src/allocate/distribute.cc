#include "allocate/distribute.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include "allocate/distribute_buckets.h"
#include "allocate/distribute_corrections.h"
#include "allocate/distribute_groups.h"
#include "allocate/distribute_owners.h"
#include "allocate/distribute_paid.h"
#include "allocate/distribute_places.h"
#include "allocate/split_costs.h"
#include "ledger/keeping.h"

namespace pennyweight {
namespace {

// What a rule would move and can't.
struct Stays {
  std::uint64_t buckets = 0;
  std::map<Currency, Money> amounts;  // effective
  std::tuple<std::chrono::sys_days, std::string> first;
};

std::vector<Labels> owners_beside_workloads(const DistributionInput& input) {
  std::vector<Labels> owners;
  for (const auto& paid : input.elsewhere) {
    if (owners.empty() || owners.back() != paid.owner) owners.push_back(paid.owner);
  }
  for (const SpreadRule& rule : input.policy.spread) {
    for (Labels& owner : stated_owners(rule)) owners.push_back(std::move(owner));
  }
  return owners;
}

class Distributor {
 public:
  explicit Distributor(const DistributionInput& input)
      : input_(input),
        charges_(input.charges),
        rules_(input.policy.spread, !input.cluster.empty(), charges_),
        places_(input.nodes, charges_),
        owners_(input.dimensions, owners_beside_workloads(input)),
        is_named_(owners_.count()) {
    for (const SpreadRule& rule : rules_.all()) spreaders_.emplace_back(rule, owners_);
    for (OwnerNumber owner = 0; owner < owners_.count(); ++owner) {
      workloads_.push_back(owner_workload(owners_.labels(owner)));
    }
  }

  Distribution run() {
    const std::vector<Bucket> buckets = buckets_of(input_.postings, rules_, places_);
    if (!buckets.empty()) {
      const PaidTables paid(input_, owners_, rules_, places_);
      for (const Bucket& bucket : buckets) spread(bucket, paid.weights(bucket));
    }
    note_what_stays();
    add_corrections(input_, out_, named_);

    for (OwnerNumber owner = 0; owner < owners_.count(); ++owner) {
      if (is_named_[owner]) named_.try_emplace(workloads_[owner], owners_.labels(owner));
    }
    for (const auto& [workload, labels] : named_) out_.dimensions.push_back({workload, labels});
    std::sort(out_.transfers.begin(), out_.transfers.end(),
              [](const Posting& a, const Posting& b) { return comes_before(a, b); });
    std::sort(out_.notes.begin(), out_.notes.end());
    return std::move(out_);
  }

 private:
  void spread(const Bucket& bucket, std::vector<OwnerWeight> bearers) {
    const auto groups = spreaders_[bucket.key.rule].groups(std::move(bearers));
    if (groups.empty()) return stay(bucket);

    const FactId id = transfer_id(input_.cluster, input_.month, name_of(bucket, rules_, places_));
    std::vector<Weight> weights;
    for (const OwnerGroup& group : groups) weights.push_back(group.weight);
    const std::vector<Costs> group_costs = split_costs(bucket.costs, weights);
    for (std::size_t g = 0; g < groups.size(); ++g) {
      const std::vector<OwnerWeight>& members = groups[g].members;
      weights.clear();
      for (const OwnerWeight& member : members) weights.push_back(member.weight);
      const std::vector<Costs> shares = split_costs(group_costs[g], weights);
      for (std::size_t m = 0; m < members.size(); ++m) {
        if (shares[m] == Costs::zero(bucket.key.currency)) continue;
        is_named_[members[m].owner] = true;
        post(bucket, id, workloads_[members[m].owner], weights[m], shares[m]);
      }
    }
    const Costs& moved = bucket.costs;
    post(bucket, id, WorkloadId(""), 0,
         {-moved.billed, -moved.effective, -moved.list, -moved.contracted});
  }

  const std::string& place_name(const Bucket& bucket) const {
    return places_[rules_.within(rules_[bucket.key.rule])].name(bucket.key.place);
  }

  void post(const Bucket& bucket, const FactId& id, const WorkloadId& workload, Weight weight,
            const Costs& costs) {
    const SpreadRule& rule = rules_[bucket.key.rule];
    const bool on_node = rules_.within(rule) == SpreadWithin::kNode;
    out_.transfers.push_back({.charge = id,
                              .kind = rule.kind,
                              .component = bucket.key.component,
                              .interval = bucket.interval,
                              .day = bucket.key.day,
                              .node = NodeId(on_node ? place_name(bucket) : ""),
                              .gpu = GpuId(""),
                              .workload = workload,
                              .holding = std::nullopt,
                              .weight = weight,
                              .costs = costs,
                              .gpu_time = {},
                              .memory_time = {},
                              .observed_time = {}});
  }

  void stay(const Bucket& bucket) {
    Stays& stays = stays_[bucket.key.rule];
    const std::tuple here(bucket.key.day, place_name(bucket));
    if (stays.buckets == 0 || here < stays.first) stays.first = here;
    ++stays.buckets;
    const Money none = Money::zero(bucket.key.currency);
    stays.amounts.try_emplace(bucket.key.currency, none).first->second += bucket.costs.effective;
  }

  void note_what_stays() {
    for (const auto& [index, stays] : stays_) {
      const SpreadRule& rule = rules_[index];
      std::string amounts;
      for (const auto& [currency, amount] : stays.amounts) {
        amounts += fmt::format("{}{} {}", amounts.empty() ? "" : " and ", to_text(amount.amount()),
                               currency.text());
      }
      const auto& [day, place] = stays.first;
      out_.notes.push_back(fmt::format(
          "spread rule {} ({}, {} within {}): {} of {} bucket{} stay, since {}; the first is of "
          "{}{}",
          index + 1, to_text(rule.kind), text_of(rule.how), text_of(rules_.within(rule)), amounts,
          stays.buckets, stays.buckets == 1 ? "" : "s",
          spreaders_[index].has_no_parts() ? "none of its parts is positive"
                                           : "nobody there has any of its measure",
          date_text(day), place.empty() ? "" : " in " + place));
    }
  }

  const DistributionInput& input_;
  ChargeIndex charges_;
  SpreadRules rules_;
  AllPlaces places_;
  Owners owners_;
  std::vector<Spreader> spreaders_;    // by rule
  std::vector<WorkloadId> workloads_;  // by owner
  std::vector<bool> is_named_;         // by owner: in a transfer
  std::map<WorkloadId, Labels> named_;
  std::map<std::uint32_t, Stays> stays_;  // by rule
  Distribution out_;
};

}  // namespace

Distribution distribute(const DistributionInput& input) { return Distributor(input).run(); }

}  // namespace pennyweight
