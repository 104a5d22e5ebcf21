#include "reporting/live/live_costs.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "allocation/allocate.h"
#include "allocation/dimensions.h"
#include "core/ascii.h"
#include "core/check.h"
#include "core/try.h"
#include "ingest/bills/rated/node_days.h"
#include "ingest/bills/rated/node_estimates.h"

namespace pennyweight {
namespace {

constexpr std::size_t kUnpricedNodesNamed = 5;

// The facts of each node in the window; a later one ends the one before.
std::vector<std::pair<const Node*, Interval>> nodes_in_window(std::span<const Node> nodes,
                                                              const Interval& window) {
  std::vector<const Node*> sorted;
  for (const Node& node : nodes) sorted.push_back(&node);
  std::ranges::stable_sort(sorted, {},
                           [](const Node* node) { return std::tie(node->name, node->from); });
  std::vector<std::pair<const Node*, Interval>> found;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const Node& node = *sorted[i];
    Instant end = std::min(window.end(), node.to.value_or(window.end()));
    if (i + 1 < sorted.size() && sorted[i + 1]->name == node.name) {
      end = std::min(end, sorted[i + 1]->from);
    }
    const auto during = Interval::of(std::max(window.begin(), node.from), end);
    if (during) found.emplace_back(&node, *during);
  }
  return found;
}

// Nodes of one cluster in two currencies have no sum.
void add_to(std::optional<Money>& sum, const Money& cost) {
  if (!sum || (sum->currency() != cost.currency() && sum->is_zero())) {
    sum = cost;
  } else if (sum->currency() == cost.currency()) {
    *sum += cost;
  }
}

struct PricedNodes {
  std::vector<Charge> charges;
  std::set<NodeId> unpriced;         // nodes that have no price
  std::vector<std::string> reasons;  // for the first of them
  std::optional<Money> per_hour;     // of nodes at the window's end
  std::uint64_t gpus = 0;            // likewise
  std::map<NodeId, Money> by_node;   // likewise
};

class NodePricing {
 public:
  NodePricing(const LiveInput& input)
      : input_(input), options_{.organisation = input.organisation}, month_{input.window, {}, {}} {}

  PricedNodes price() {
    PricedNodes priced;
    for (const auto& [node, during] : nodes_in_window(input_.nodes, input_.window)) {
      const bool is_there = during.end() == input_.window.end();
      if (is_there) priced.gpus += node->gpu_count;
      auto charge = price_of(*node, during);
      if (charge && is_there) {
        const Money hour = per_hour(charge->costs.effective, during);
        add_to(priced.per_hour, hour);
        priced.by_node.insert_or_assign(node->name, hour);
      }
      if (!charge) {
        priced.unpriced.insert(node->name);
        if (priced.reasons.size() < kUnpricedNodesNamed) {
          priced.reasons.push_back(fmt::format("node {} has no price: {}", node->name.text(),
                                               why(*node, charge.error())));
        }
        // It is allocated all the same, to show its holders; its cost is zero.
        charge = rated::node_line(*node, month_, during);
      }
      priced.charges.push_back(*std::move(charge));
    }
    return priced;
  }

 private:
  std::string why(const Node& node, const Error& error) const {
    if (!input_.card.rates().empty()) return error.message;
    const std::string row = node.gpu_model.empty() || node.gpu_count == 0
                                ? fmt::format("instance_type {}, unit Hours", node.instance_type)
                                : fmt::format("gpu_model {}, unit GPU-Hours", node.gpu_model);
    return "let prices.rate_card name a file with a row for " + row;
  }

  Result<Charge> price_of(const Node& node, const Interval& during) {
    auto by_card = rated::estimated_charge(node, input_.card, month_, during, options_);
    if (by_card || node.instance_type.empty()) return by_card;
    const auto key = std::pair(node.instance_type, node.region);
    auto known = lists_.find(key);
    if (known == lists_.end()) {
      known = lists_.emplace(key, list_price(node, during.begin())).first;
    }
    if (!known->second) return std::unexpected(known->second.error());
    return rated::estimated_charge(node, *known->second, month_, during, options_);
  }

  Result<RateCard> list_price(const Node& node, Instant at) const {
    std::ignore = TRY(list_rate(node, input_.catalog, at));
    return list_price_card(std::span(&node, 1), input_.catalog, at);
  }

  const LiveInput& input_;
  const rated::EstimateOptions options_;
  const rated::PricedMonth month_;
  std::map<std::pair<std::string, std::string>, Result<RateCard>> lists_;
};

class ShareCollector {
 public:
  ShareCollector(const LiveInput& input, const PricedNodes& priced)
      : input_(input), priced_(priced) {}

  void add(const Posting& posting) {
    LiveShare& share = share_of(posting.workload);
    add_location(share, posting);
    if (input_.by_place) add_to_place(posting);
    (priced_.unpriced.contains(posting.node) ? unpriced_ : has_price_).insert(posting.workload);
    add_to(share.cost, posting.costs.effective);
    if (posting.kind == PostingKind::kHeldIdle) add_to(share.idle_cost, posting.costs.effective);
    if (posting.component == Component::kGpu || posting.component == Component::kWhole) {
      share.gpu_time += posting.gpu_time;
      share.observed_time += posting.observed_time;
      if (posting.kind == PostingKind::kHeldIdle) share.idle_time += posting.observed_time;
    }
  }

  // Adds workloads without a posting too: those on unknown nodes.
  void add(const Holding& holding) {
    const auto held = holding.held.overlap(input_.window);
    if (!held) return;
    LiveShare& share = share_of(holding.workload);
    if (!share.since || holding.held.begin() < *share.since) share.since = holding.held.begin();
    if (held->end() == input_.window.end() && !holding.ended) share.running = true;
    share.until = std::max(share.until.value_or(held->end()), held->end());
    times_[holding.workload].push_back(*held);
    const auto last = last_.find(holding.workload);
    if (last == last_.end() || last->second->held.end() <= holding.held.end()) {
      last_[holding.workload] = &holding;
    }
  }

  // Per hour.
  PlaceCosts take_places() {
    for (auto& [place, cost] : places_) {
      for (Money* const part : {&cost.held, &cost.held_idle, &cost.unallocated}) {
        *part = per_hour(*part, input_.window);
      }
    }
    return std::move(places_);
  }

  std::vector<LiveShare> finish() && {
    std::vector<LiveShare> all;
    for (auto& [workload, share] : shares_) {
      const auto last = last_.find(workload);
      if (last != last_.end()) {
        share.labels = last->second->labels;
        share.device = to_text(last->second->device);
      }
      if (const auto times = times_.find(workload); times != times_.end()) {
        share.held_ms = length_of_union(times->second);
      }
      if (!workload.empty()) {
        share.dimensions =
            resolve_dimensions(input_.cluster, workload, share.labels, input_.policy);
      }
      share.is_partly_priced = unpriced_.contains(workload);
      if (share.is_partly_priced && !has_price_.contains(workload)) {
        share.is_partly_priced = false;
        share.cost.reset();
        share.idle_cost.reset();
      } else if (share.cost && !share.idle_cost) {
        share.idle_cost = Money::zero(share.cost->currency());
      }
      all.push_back(std::move(share));
    }
    return all;
  }

 private:
  LiveShare& share_of(const WorkloadId& workload) {
    const auto found = shares_.find(workload);
    if (found != shares_.end()) return found->second;
    LiveShare share{.workload = workload,
                    .labels = {},
                    .dimensions = {},
                    .nodes = {},
                    .gpus = {},
                    .device = {},
                    .since = {},
                    .cost = {},
                    .idle_cost = {},
                    .gpu_time = {},
                    .observed_time = {}};
    return shares_.emplace(workload, std::move(share)).first->second;
  }

  static void add_location(LiveShare& share, const Posting& posting) {
    const auto put = [](auto& into, const auto& id) {
      if (id.empty()) return;
      const auto at = std::ranges::lower_bound(into, id);
      if (at == into.end() || *at != id) into.insert(at, id);
    };
    put(share.nodes, posting.node);
    put(share.gpus, posting.gpu);
  }

  void add_to_place(const Posting& posting) {
    if (posting.node.empty() || priced_.unpriced.contains(posting.node)) return;
    const Money& cost = posting.costs.effective;
    const Money zero = Money::zero(cost.currency());
    PlaceCost& place =
        places_.try_emplace({posting.node, posting.gpu}, PlaceCost{zero, zero, zero}).first->second;
    const bool is_held = !posting.workload.empty();
    Money& part = is_held ? place.held : place.unallocated;
    // A node whose price changed its currency in the window has no sum.
    if (part.currency() != cost.currency()) return;
    part += cost;
    if (is_held && posting.kind == PostingKind::kHeldIdle) place.held_idle += cost;
  }

  // Runs of one name follow each other with pauses, such as the pods of a StatefulSet.
  static std::uint64_t length_of_union(std::vector<Interval>& times) {
    std::ranges::sort(times);
    std::uint64_t length = 0;
    Instant until = kInstantMin;
    for (const Interval& time : times) {
      if (const auto rest = Interval::of(std::max(time.begin(), until), time.end())) {
        length += rest->length_ms();
        until = rest->end();
      }
    }
    return length;
  }

  std::map<WorkloadId, std::vector<Interval>> times_;
  const LiveInput& input_;
  const PricedNodes& priced_;
  std::map<WorkloadId, LiveShare> shares_;
  std::map<WorkloadId, const Holding*> last_;
  PlaceCosts places_;
  std::set<WorkloadId> unpriced_, has_price_;  // workloads on nodes without and with a price
};

}  // namespace

Result<Rate> list_rate(const Node& node, const Catalog& catalog, Instant at) {
  RateQuery query{.instance_type = node.instance_type, .region = node.region, .at = at};
  auto rate = catalog.find_rate(query);
  if (rate || query.region.empty()) return rate;
  query.region.clear();
  return catalog.find_rate(query);
}

RateCard list_price_card(std::span<const Node> nodes, const Catalog& catalog, Instant at) {
  std::vector<CardRate> rates;
  std::set<std::pair<std::string, std::string>> priced;
  for (const Node& node : nodes) {
    if (node.instance_type.empty()) continue;
    // Rate cards ignore case.
    if (!priced.emplace(ascii::lower_case(node.instance_type), ascii::lower_case(node.region))
             .second)
      continue;
    const auto rate = list_rate(node, catalog, at);
    if (!rate) continue;
    CardRate& card_rate = rates.emplace_back();
    card_rate.match[static_cast<std::size_t>(CardField::kInstanceType)] = node.instance_type;
    card_rate.match[static_cast<std::size_t>(CardField::kRegion)] = node.region;
    card_rate.unit = "Hours";
    card_rate.price = card_rate.list_price = rate->per_hour;
    card_rate.currency = rate->currency;
    card_rate.place = "the catalog";
  }
  auto card = RateCard::from_rates(std::move(rates), "the catalog");
  CHECK(card.has_value(), "each instance type has one price in a region");
  return *std::move(card);
}

Result<LiveCosts> live_costs(const LiveInput& input) {
  const PricedNodes priced = NodePricing(input).price();
  LiveCosts costs{.window = input.window,
                  .shares = {},
                  .notes = priced.reasons,
                  .nodes_unpriced = priced.unpriced.size(),
                  .price_per_hour = priced.per_hour,
                  .gpus = priced.gpus,
                  .node_prices = priced.by_node};
  if (priced.unpriced.size() > priced.reasons.size()) {
    costs.notes.push_back(fmt::format("and {} further nodes have no price",
                                      priced.unpriced.size() - priced.reasons.size()));
  }
  Currency currency = kUsd;
  for (const Charge& charge : priced.charges) {
    if (charge.costs.effective.ticks() != 0) currency = charge.costs.currency();
  }
  ShareCollector shares(input, priced);
  const auto allocated = TRY(allocate(
      {.cluster = input.cluster,
       .charges = priced.charges,
       .nodes = input.nodes,
       .gpus = input.gpus,
       .holdings = input.holdings,
       .outages = input.outages,
       .policy = input.policy,
       .catalog = input.catalog,
       .threads = input.threads,
       .utilization = input.utilization,
       .changed = {},
       .join_rules = {},
       .postings = [&](const std::vector<Posting>& postings) -> Result<void> {
         for (const Posting& posting : postings) {
           if (posting.costs.currency() != currency && posting.costs.effective.ticks() != 0) {
             return fail(
                 ErrorCode::kUnsupported,
                 "the cluster's nodes are priced in two currencies; use one in the rate card");
           }
           shares.add(posting);
         }
         return {};
       }}));
  for (const Holding& holding : input.holdings) shares.add(holding);
  for (const AllocationNote& note : allocated.notes) {
    costs.notes.push_back(note.count > 1 ? fmt::format("{} ({} times)", note.what, note.count)
                                         : note.what);
  }
  costs.places = shares.take_places();
  costs.shares = std::move(shares).finish();
  return costs;
}

Money per_hour(const Money& cost, const Interval& during) {
  constexpr Int128 kMsPerHour = 3'600'000;
  constexpr Int128 kStep = 1'000'000'000;  // ticks
  const Int128 ticks = cost.ticks() * kMsPerHour / static_cast<Int128>(during.length_ms());
  const Int128 half = ticks < 0 ? -kStep / 2 : kStep / 2;
  return Money::from_ticks((ticks + half) / kStep * kStep, cost.currency());
}

}  // namespace pennyweight
