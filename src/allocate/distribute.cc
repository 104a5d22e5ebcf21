#include "allocate/distribute.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include "allocate/distribute_corrections.h"
#include "allocate/distribute_groups.h"
#include "allocate/distribute_owners.h"
#include "allocate/distribute_paid.h"
#include "allocate/distribute_places.h"
#include "allocate/split_costs.h"
#include "core/check.h"
#include "ledger/keeping.h"

namespace pennyweight {
namespace {

// Whether a posting is part of what a rule may spread.
bool is_in_a_bucket(const Posting& posting) {
  switch (posting.kind) {
    case PostingKind::kUsed:
      return false;
    case PostingKind::kOverhead:
      return true;  // system pods too: they are nobody's
    case PostingKind::kHeldIdle:
    case PostingKind::kUnallocated:
    case PostingKind::kStranded:
    case PostingKind::kUnavailable:
    case PostingKind::kShared:
      return posting.workload.empty();
  }
  return false;
}

std::string_view text_of(Spread how) {
  switch (how) {
    case Spread::kKeep:
      return "keep";
    case Spread::kProportional:
      return "proportional";
    case Spread::kEven:
      return "even";
    case Spread::kFixed:
      return "fixed";
  }
  return "";
}

std::string_view text_of(SpreadWithin within) {
  switch (within) {
    case SpreadWithin::kNode:
      return "node";
    case SpreadWithin::kPool:
      return "pool";
    case SpreadWithin::kCluster:
      return "cluster";
  }
  return "";
}

std::string date_text(std::chrono::sys_days day) { return to_text(Instant(day)).substr(0, 10); }

// An empty pattern is met by everything.
bool meets(std::string_view text, const std::string& pattern) {
  return pattern.empty() || meets_pattern(text, pattern);
}

struct BucketKey {
  std::uint32_t rule;  // index in Policy::spread; says the kind
  Component component;
  Currency currency;
  std::chrono::sys_days day;
  PlaceNumber place;
  auto operator<=>(const BucketKey&) const = default;
};

struct BucketPart {
  BucketKey key;
  const Posting* posting;
};

struct Bucket {
  BucketKey key;
  Costs costs;
  Interval interval;  // from the first to the last of its postings, all of one local day
  bool is_nothing() const { return costs == Costs::zero(costs.currency()); }
};

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
        rules_(input.policy.spread),
        charges_(input.charges),
        owners_(input.dimensions, owners_beside_workloads(input)),
        places_({Places(SpreadWithin::kNode, input.nodes, charges_),
                 Places(SpreadWithin::kPool, input.nodes, charges_),
                 Places(SpreadWithin::kCluster, input.nodes, charges_)}),
        is_named_(owners_.count()) {
    for (const SpreadRule& rule : rules_) spreaders_.emplace_back(rule, owners_);
    for (OwnerNumber owner = 0; owner < owners_.count(); ++owner) {
      workloads_.push_back(owner_workload(owners_.labels(owner)));
    }
  }

  Distribution run() {
    const std::vector<Bucket> buckets = collect();
    if (!buckets.empty()) add_up_what_was_paid();
    for (const Bucket& bucket : buckets) spread(bucket);
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
  // The rule that decides; nothing where the posting stays.
  std::optional<std::uint32_t> rule_for(const Posting& posting) const {
    for (std::uint32_t i = 0; i < rules_.size(); ++i) {
      if (rules_[i].kind != posting.kind || !meets_conditions(rules_[i], posting)) continue;
      return rules_[i].how == Spread::kKeep ? std::nullopt : std::optional(i);
    }
    return std::nullopt;
  }

  bool meets_conditions(const SpreadRule& rule, const Posting& posting) const {
    if (rule.kind != PostingKind::kShared) return true;
    if (rule.service_category.empty() && rule.service_name.empty() &&
        rule.charge_category.empty()) {
      return true;
    }
    const Charge* charge = charges_.find(posting.charge);
    return charge != nullptr && meets(charge->service_category, rule.service_category) &&
           meets(charge->service_name, rule.service_name) &&
           meets(to_text(charge->charge_category), rule.charge_category);
  }

  // A scope of no cluster has no nodes and no pools.
  SpreadWithin within(const SpreadRule& rule) const {
    return input_.cluster.empty() ? SpreadWithin::kCluster : rule.within;
  }
  Places& places(SpreadWithin within) { return places_[static_cast<std::size_t>(within)]; }

  // All buckets that a rule moves, by key.
  std::vector<Bucket> collect() {
    std::vector<BucketPart> parts;
    for (const Posting& posting : input_.postings) {
      if (!is_in_a_bucket(posting)) continue;
      const auto rule = rule_for(posting);
      if (!rule) continue;
      parts.push_back({{.rule = *rule,
                        .component = posting.component,
                        .currency = posting.costs.currency(),
                        .day = posting.day,
                        .place = places(within(rules_[*rule])).of(posting)},
                       &posting});
    }
    std::sort(parts.begin(), parts.end(),
              [](const BucketPart& a, const BucketPart& b) { return a.key < b.key; });
    std::vector<Bucket> buckets;
    for (const auto& [key, posting] : parts) {
      if (buckets.empty() || buckets.back().key != key) {
        buckets.push_back({key, Costs::zero(key.currency), posting->interval});
      }
      Bucket& bucket = buckets.back();
      bucket.costs += posting->costs;
      bucket.interval = Interval(std::min(bucket.interval.begin(), posting->interval.begin()),
                                 std::max(bucket.interval.end(), posting->interval.end()));
    }
    std::erase_if(buckets, [](const Bucket& bucket) { return bucket.is_nothing(); });
    return buckets;
  }

  struct Table {
    SpreadWithin within;
    SpreadOver over;
    PaidTable paid;
  };
  // What is of no node or pool is spread over the cluster, so every rule needs that table too.
  void add_table(SpreadWithin within, SpreadOver over) {
    for (const Table& table : tables_) {
      if (table.within == within && table.over == over) return;
    }
    tables_.push_back({within, over, PaidTable(over)});
  }
  const PaidTable& table_for(const Bucket& bucket) const {
    const SpreadRule& rule = rules_[bucket.key.rule];
    const SpreadWithin wanted =
        bucket.key.place == kWholeCluster ? SpreadWithin::kCluster : within(rule);
    for (const Table& table : tables_) {
      if (table.within == wanted && table.over == rule.over) return table.paid;
    }
    CHECK(false, "every rule has its tables");
    return tables_.front().paid;
  }

  void add_up_what_was_paid() {
    for (const SpreadRule& rule : rules_) {
      if (rule.how == Spread::kKeep) continue;
      add_table(within(rule), rule.over);
      add_table(SpreadWithin::kCluster, rule.over);
    }
    for (const Posting& posting : input_.postings) {
      if (!is_held(posting)) continue;
      const OwnerNumber owner = owners_.of_workload(posting.workload);
      for (Table& table : tables_) {
        const PlaceNumber place = places(table.within).of(posting);
        if (place == kWholeCluster && table.within != SpreadWithin::kCluster) continue;
        table.paid.add(place, posting.day, owner, posting.component, posting.costs.effective,
                       posting.gpu_time, posting.memory_time);
      }
    }
    for (const auto& paid : input_.elsewhere) {
      const OwnerNumber owner = owners_.number_of(paid.owner);
      for (Table& table : tables_) {
        if (table.within != SpreadWithin::kCluster) continue;
        table.paid.add(kWholeCluster, paid.day, owner, paid.component, paid.effective,
                       paid.gpu_time, paid.memory_time);
      }
    }
    for (Table& table : tables_) table.paid.close();
  }

  void spread(const Bucket& bucket) {
    const Spreader& spreader = spreaders_[bucket.key.rule];
    const auto groups = spreader.groups(table_for(bucket).weights(
        bucket.key.place, bucket.key.day, bucket.key.currency, spreader.measure()));
    if (groups.empty()) return stay(bucket);

    const FactId id = transfer_id(input_.cluster, input_.month, name_of(bucket));
    std::vector<Weight> weights;
    for (const OwnerGroup& group : groups) weights.push_back(group.weight);
    const std::vector<Costs> group_costs = split_costs(bucket.costs, weights);
    for (std::size_t g = 0; g < groups.size(); ++g) {
      const auto& members = groups[g].members;
      weights.clear();
      for (const OwnerWeight& member : members) weights.push_back(member.weight);
      const std::vector<Costs> shares = split_costs(group_costs[g], weights);
      for (std::size_t m = 0; m < members.size(); ++m) {
        if (shares[m] == Costs::zero(bucket.key.currency)) continue;
        is_named_[members[m].owner] = true;
        out_.transfers.push_back(
            posting_of(bucket, id, workloads_[members[m].owner], weights[m], shares[m]));
      }
    }
    const Costs& moved = bucket.costs;
    out_.transfers.push_back(
        posting_of(bucket, id, WorkloadId(""), 0,
                   {-moved.billed, -moved.effective, -moved.list, -moved.contracted}));
  }

  const std::string& place_name(const Bucket& bucket) {
    return places(within(rules_[bucket.key.rule])).name(bucket.key.place);
  }

  // Which bucket of the scope it is. The place stands last, since its name may be anything; so
  // does nothing else but the conditions of shared lines, whose texts are told by their lengths.
  std::string name_of(const Bucket& bucket) {
    const SpreadRule& rule = rules_[bucket.key.rule];
    std::string conditions;
    for (const std::string& text :
         {rule.service_category, rule.service_name, rule.charge_category}) {
      conditions += fmt::format("{}:{} ", text.size(), text);
    }
    const bool placed = bucket.key.place != kWholeCluster;
    return fmt::format("spread {} {} {} {} {}{} {}", to_text(rule.kind),
                       to_text(bucket.key.component), bucket.key.currency.text(),
                       date_text(bucket.key.day), conditions,
                       text_of(placed ? within(rule) : SpreadWithin::kCluster), place_name(bucket));
  }

  Posting posting_of(const Bucket& bucket, const FactId& id, const WorkloadId& workload,
                     Weight weight, const Costs& costs) {
    const SpreadRule& rule = rules_[bucket.key.rule];
    const bool on_node = within(rule) == SpreadWithin::kNode;
    return {.charge = id,
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
            .observed_time = {}};
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
        amounts += fmt::format("{}{} {}", amounts.empty() ? "" : " and ",
                               to_text(amount.amount()), currency.text());
      }
      const auto& [day, place] = stays.first;
      out_.notes.push_back(
          fmt::format("spread rule {} ({}, {} within {}): {} of {} bucket{} stay, since {}; the "
                      "first is of {}{}",
                      index + 1, to_text(rule.kind), text_of(rule.how),
                      text_of(within(rule)), amounts, stays.buckets, stays.buckets == 1 ? "" : "s",
                      spreaders_[index].has_no_parts() ? "none of its parts is positive"
                                                       : "nobody there has any of its measure",
                      date_text(day), place.empty() ? "" : " in " + place));
    }
  }

  const DistributionInput& input_;
  std::span<const SpreadRule> rules_;
  ChargeIndex charges_;
  Owners owners_;
  std::array<Places, 3> places_;  // by SpreadWithin
  std::vector<Table> tables_;
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
