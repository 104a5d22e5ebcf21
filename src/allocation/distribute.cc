#include "allocation/distribute.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include "allocation/buckets.h"
#include "allocation/corrections.h"
#include "allocation/owner_groups.h"
#include "allocation/owner_totals.h"
#include "allocation/owners.h"
#include "allocation/policy/words.h"
#include "allocation/split_costs.h"
#include "allocation/spread_areas.h"
#include "ledger/store_rules.h"

namespace pennyweight {
namespace {

// Buckets that a rule would move but can't.
struct UnspreadBuckets {
  std::uint64_t buckets = 0;
  std::map<Currency, Money> amounts;  // effective
  std::tuple<std::chrono::sys_days, std::string> first;
};

std::vector<Labels> owners_beside_workloads(const DistributionInput& input) {
  std::vector<Labels> owners;
  for (const auto& paid : input.other_scopes) {
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
        areas_(input.nodes, charges_),
        owners_(input.dimensions, owners_beside_workloads(input)),
        is_named_(owners_.count()) {
    for (const SpreadRule& rule : rules_.all()) spreaders_.emplace_back(rule, owners_);
    for (OwnerNumber owner = 0; owner < owners_.count(); ++owner) {
      workloads_.push_back(owner_workload(owners_.labels(owner)));
    }
  }

  Distribution run() {
    const std::vector<Bucket> buckets = collect_buckets(input_.postings, rules_, areas_);
    if (!buckets.empty()) {
      const AllOwnerTotals paid(input_, owners_, rules_, areas_);
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

    const FactId id =
        transfer_id(input_.cluster, input_.month, bucket_name(bucket, rules_, areas_));
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

  const std::string& area_name(const Bucket& bucket) const {
    return areas_[rules_.within(rules_[bucket.key.rule])].name(bucket.key.area);
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
                              .node = NodeId(on_node ? area_name(bucket) : ""),
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
    UnspreadBuckets& unspread = unspread_[bucket.key.rule];
    const std::tuple here(bucket.key.day, area_name(bucket));
    if (unspread.buckets == 0 || here < unspread.first) unspread.first = here;
    ++unspread.buckets;
    const Money none = Money::zero(bucket.key.currency);
    unspread.amounts.try_emplace(bucket.key.currency, none).first->second += bucket.costs.effective;
  }

  void note_what_stays() {
    for (const auto& [index, unspread] : unspread_) {
      const SpreadRule& rule = rules_[index];
      std::string amounts;
      for (const auto& [currency, amount] : unspread.amounts) {
        amounts += fmt::format("{}{} {}", amounts.empty() ? "" : " and ", to_text(amount.amount()),
                               currency.text());
      }
      const auto& [day, area] = unspread.first;
      out_.notes.push_back(fmt::format(
          "spread rule {} ({}, {} within {}): {} in {} bucket{} not spread, since {}; the first "
          "one "
          "is on {}{}",
          index + 1, to_text(rule.kind), words::text(rule.how), words::text(rules_.within(rule)),
          amounts, unspread.buckets, unspread.buckets == 1 ? " is" : "s are",
          spreaders_[index].has_no_parts() ? "none of its parts is positive"
                                           : "no owner there has a share of its measure",
          date_text(day), area.empty() ? "" : " in " + area));
    }
  }

  const DistributionInput& input_;
  ChargeIndex charges_;
  SpreadRules rules_;
  SpreadAreas areas_;
  Owners owners_;
  std::vector<Spreader> spreaders_;    // by rule
  std::vector<WorkloadId> workloads_;  // by owner
  std::vector<bool> is_named_;         // by owner: whether a transfer names it
  std::map<WorkloadId, Labels> named_;
  std::map<std::uint32_t, UnspreadBuckets> unspread_;  // by rule
  Distribution out_;
};

}  // namespace

Distribution distribute(const DistributionInput& input) { return Distributor(input).run(); }

std::vector<Posting> bucket_of_transfer(const DistributionInput& input, const FactId& transfer) {
  const ChargeIndex charges(input.charges);
  const SpreadRules rules(input.policy.spread, !input.cluster.empty(), charges);
  SpreadAreas areas(input.nodes, charges);
  std::map<BucketKey, bool> is_of_transfer;
  std::vector<Posting> found;
  for (const Posting& posting : input.postings) {
    const auto rule = rules.rule_for(posting);
    if (!rule || charges.find(posting.charge) == nullptr) continue;
    const BucketKey key{.rule = *rule,
                        .component = posting.component,
                        .currency = posting.costs.currency(),
                        .day = posting.day,
                        .area = areas[rules.within(rules[*rule])].area_of(posting)};
    const auto [at, is_new] = is_of_transfer.try_emplace(key, false);
    if (is_new) {
      const Bucket bucket{key, Costs::zero(key.currency), posting.interval};
      at->second =
          transfer_id(input.cluster, input.month, bucket_name(bucket, rules, areas)) == transfer;
    }
    if (at->second) found.push_back(posting);
  }
  return found;
}

}  // namespace pennyweight
