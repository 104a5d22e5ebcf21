#include "audit.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "oracle.h"
#include "oracle_machine.h"
#include "testing/generate/random.h"

namespace pennyweight::sim {
namespace {

template <class Fact>
void shuffle(std::vector<Fact>& facts, Random& random) {
  for (std::size_t i = facts.size(); i > 1; --i) {
    std::swap(facts[i - 1], facts[random.between(0, i - 1)]);
  }
}

template <class Fact>
std::vector<Fact> of_cluster(const std::vector<Fact>& all, const ClusterId& cluster) {
  std::vector<Fact> facts;
  for (const Fact& fact : all) {
    if (fact.cluster == cluster) facts.push_back(fact);
  }
  return facts;
}

// One engine run beside the world that it was given.
class Audit {
 public:
  Audit(const World& world, const Outcome& outcome) : world_(world), outcome_(outcome) {
    for (const BillLine& line : world.bill) lines_[line.charge.id] = &line;
    for (std::size_t h = 0; h < world.holdings.size(); ++h) {
      holdings_[world.holdings[h].id] = h;
    }
    for (const Posting& posting : outcome.postings) by_line_[posting.charge].push_back(&posting);
  }

  Finding run() const {
    for (const auto check :
         {&Audit::charges_add_up, &Audit::only_holders_pay,
          &Audit::gpus_weigh_no_more_than_they_are, &Audit::the_oracle_agrees,
          &Audit::time_is_what_was_requested, &Audit::pools_give_at_most_the_request}) {
      if (const Finding found = (this->*check)()) return found;
    }
    return std::nullopt;
  }

 private:
  // Σ postings = the charge in each of the four costs; Σ over all kinds = Σ charges.
  Finding charges_add_up() const {
    std::map<PostingKind, Costs> kinds;
    Costs charged = Costs::zero(kUsd), posted = charged;
    for (const BillLine& line : world_.bill) {
      const auto found = by_line_.find(line.charge.id);
      if (found == by_line_.end()) return "a line without postings: " + name(line);
      Costs sum = Costs::zero(line.charge.costs.currency());
      for (const Posting* posting : found->second) {
        sum += posting->costs;
        kinds.try_emplace(posting->kind, Costs::zero(kUsd)).first->second += posting->costs;
      }
      if (!(sum == line.charge.costs)) return "the postings are not the line: " + name(line);
      charged += line.charge.costs;
    }
    for (const auto& [kind, costs] : kinds) posted += costs;
    if (!(posted == charged)) return "tenants, idle and overhead are not the bill";
    for (const Posting& posting : outcome_.postings) {
      if (!lines_.contains(posting.charge)) return "a posting of no line: " + describe(posting);
    }
    return std::nullopt;
  }

  // Every posting lies within its charge, its day, and the time in which its holder held the node
  // or GPU.
  Finding only_holders_pay() const {
    for (const Posting& posting : outcome_.postings) {
      const BillLine& line = *lines_.at(posting.charge);
      const Interval& period = line.charge.charge_period;
      const auto wrong = [&](const char* what) {
        return fmt::format("{}: {} of {}", what, describe(posting), name(line));
      };
      if (posting.interval.begin() < period.begin() || posting.interval.end() > period.end()) {
        return wrong("outside its line");
      }
      const auto& zone = world_.policy.time_zone;
      if (cut_by_day(posting.interval, zone).size() != 1 ||
          local_date(posting.interval.begin(), zone) !=
              to_text(Instant(posting.day)).substr(0, 10)) {
        return wrong("outside its day");
      }
      if (posting.workload.empty() != !posting.holding.has_value()) {
        return wrong("a workload without a holding, or the other way round");
      }
      if (!posting.holding) continue;
      const auto found = holdings_.find(*posting.holding);
      if (found == holdings_.end()) return wrong("of a holding that is not there");
      const Holding& holding = world_.holdings[found->second];
      if (holding.workload != posting.workload) return wrong("another's holding");
      if (holding.cluster != line.cluster) return wrong("of another cluster");
      if (posting.interval.begin() < holding.held.begin() ||
          posting.interval.end() > holding.held.end()) {
        return wrong("at a time when it was not held");
      }
      if (!has_place(posting, found->second)) {
        std::string places;
        for (const TrueRequest& ask : world_.requests) {
          if (ask.holding != found->second) continue;
          places +=
              fmt::format("\n  it held {} '{}' over {}", world_.nodes[ask.machine].name.text(),
                          card_of(ask).text(), to_text(ask.during));
        }
        return wrong("at a place that was not held") + places;
      }
    }
    return std::nullopt;
  }

  bool has_place(const Posting& posting, std::size_t holding) const {
    for (const TruePoolRequest& ask : world_.pool_requests) {
      if (ask.holding == holding) return posting.gpu.empty();
    }
    return std::any_of(world_.requests.begin(), world_.requests.end(), [&](const TrueRequest& ask) {
      if (ask.holding != holding || !ask.during.overlap(posting.interval)) return false;
      const bool by_pool = posting.node.empty() && posting.gpu.empty();
      if (by_pool) return true;
      if (world_.nodes[ask.machine].name != posting.node) return false;
      if (card_of(ask) == posting.gpu) return true;
      return is_loose(posting.node) && was_seen(posting, world_.holdings[holding]);
    });
  }

  // Whether a row names the posting's workload on its GPU while it was held; rows of another run of
  // the workload say nothing.
  bool was_seen(const Posting& posting, const Holding& holding) const {
    const auto shift = std::chrono::milliseconds(world_.policy.usage.shift_ms);
    return std::any_of(world_.usages.begin(), world_.usages.end(), [&](const Usage& usage) {
      return usage.gpu == posting.gpu && usage.workload == posting.workload &&
             holding.held.contains(usage.at + shift);
    });
  }

  // Whatever weights the holders of a GPU have, at no moment do they weigh more than it together,
  // and one that is alone and pays by request no more than its request. Summed up for each charge
  // and day. (A GPU that is cut into instances is divided by these.)
  Finding gpus_weigh_no_more_than_they_are() const {
    std::map<std::tuple<FactId, GpuId, std::string>, UInt128> weights;
    for (const Posting& posting : outcome_.postings) {
      if (!posting.holding || posting.gpu.empty()) continue;
      if (posting.component != Component::kGpu || is_loose(posting.node)) continue;
      if (is_cut(posting.gpu)) continue;
      const BillLine& line = *lines_.at(posting.charge);
      if (line.target != Target::kNode) continue;
      const std::string day = local_date(posting.interval.begin(), world_.policy.time_zone);
      weights[{posting.charge, posting.gpu, day}] += posting.weight;
    }
    for (const auto& [key, weight] : weights) {
      const auto& [charge, gpu, day] = key;
      const BillLine& line = *lines_.at(charge);
      UInt128 most = 0;
      for (const Interval& part : cut_by_day(line.charge.charge_period, world_.policy.time_zone)) {
        if (local_date(part.begin(), world_.policy.time_zone) == day) most += most_of(gpu, part);
      }
      if (weight <= most) continue;
      return fmt::format("{}: the holders of {} weigh {} on {}, and at most {} is theirs",
                         name(line), gpu.text(), to_text(weight), day, to_text(most));
    }
    return std::nullopt;
  }

  // The most that the holders of a GPU can weigh over a time.
  UInt128 most_of(const GpuId& gpu, const Interval& part) const {
    std::vector<const TrueRequest*> there;
    std::set<Instant> cuts;
    for (const TrueRequest& ask : world_.requests) {
      if (ask.card == kAnywhere || world_.gpus[ask.card].uuid != gpu) continue;
      const auto during = ask.during.overlap(part);
      if (!during) continue;
      there.push_back(&ask);
      cuts.insert({during->begin(), during->end()});
    }
    UInt128 most = 0;
    for (auto cut = cuts.begin(); cut != cuts.end() && std::next(cut) != cuts.end(); ++cut) {
      const auto length = static_cast<std::uint64_t>((*std::next(cut) - *cut).count());
      UInt128 asked = 0, whole = 0;
      for (const TrueRequest* ask : there) {
        if (!ask->during.contains(*cut)) continue;
        const Node& node = world_.nodes[ask->machine];
        const Rules rules = rules_for(world_, node, &world_.holdings[ask->holding]);
        const UInt128 all = UInt128{world_.card_units(node)} * (rules.compute + rules.memory);
        const bool by_request = rules.basis.kind == Basis::Kind::kRequest;
        asked += by_request ? UInt128{ask->units[0]} * rules.compute +
                                  UInt128{ask->units[1]} * rules.memory
                            : all;
        whole = std::max(whole, all);  // as much under any rules
      }
      most += std::min(asked, whole) * length;
    }
    return most;
  }

  GpuId card_of(const TrueRequest& ask) const {
    return ask.card == kAnywhere ? GpuId("") : world_.gpus[ask.card].uuid;
  }
  bool is_cut(const GpuId& gpu) const {
    for (std::size_t g = 0; g < world_.gpus.size(); ++g) {
      if (world_.gpus[g].uuid == gpu && world_.cards[g].is_cut) return true;
    }
    return false;
  }
  bool is_loose(const NodeId& node) const {
    return std::find(world_.loose_nodes.begin(), world_.loose_nodes.end(), node) !=
           world_.loose_nodes.end();
  }

  Finding the_oracle_agrees() const {
    for (const BillLine& line : world_.bill) {
      if (line.target == Target::kPool) continue;
      if (line.target == Target::kNode && is_loose(line.node)) continue;
      const std::vector<Posting> expected = expected_postings(world_, line);
      const auto found = by_line_.find(line.charge.id);
      std::vector<Posting> said;
      if (found != by_line_.end()) {
        for (const Posting* posting : found->second) said.push_back(*posting);
      }
      const bool pooled = line.target == Target::kNode && world_.has_pool_holders(line.cluster);
      if (const Finding differs =
              pooled ? difference_apart_from_pools(expected, said) : difference(expected, said)) {
        return fmt::format("{}: {}", name(line), *differs);
      }
    }
    return std::nullopt;
  }

  static Finding difference(const std::vector<Posting>& expected,
                            const std::vector<Posting>& said) {
    for (std::size_t i = 0; i < std::max(expected.size(), said.size()); ++i) {
      if (i >= said.size()) return "the oracle also has " + describe(expected[i]);
      if (i >= expected.size()) return "the oracle lacks " + describe(said[i]);
      if (!(expected[i] == said[i])) {
        return fmt::format("the oracle has {}\n  and the engine {}", describe(expected[i]),
                           describe(said[i]));
      }
    }
    return std::nullopt;
  }

  // Holders in the pool change what is left, and with it the last unit of every amount, but not the
  // weights of holders that named nodes and GPUs.
  Finding difference_apart_from_pools(std::vector<Posting> expected,
                                      std::vector<Posting> said) const {
    const auto is_other = [&](const Posting& posting) {
      return !posting.holding ||
             std::any_of(world_.pool_requests.begin(), world_.pool_requests.end(),
                         [&](const TruePoolRequest& ask) {
                           return world_.holdings[ask.holding].id == *posting.holding;
                         });
    };
    for (std::vector<Posting>* postings : {&expected, &said}) {
      std::erase_if(*postings, is_other);
      for (Posting& posting : *postings) posting.costs = Costs::zero(kUsd);
    }
    return difference(expected, said);
  }

  // The reported GPU time of each holder is what it requested, over the hours for which the bill
  // has a plain charge.
  Finding time_is_what_was_requested() const {
    std::map<std::size_t, UInt128> on_postings, asked;
    for (const Posting& posting : outcome_.postings) {
      if (posting.holding) on_postings[holdings_.at(*posting.holding)] += posting.gpu_time.count();
    }
    std::set<std::size_t> in_pools;
    for (const TruePoolRequest& ask : world_.pool_requests) in_pools.insert(ask.holding);
    for (const TrueRequest& ask : world_.requests) {
      const Node& node = world_.nodes[ask.machine];
      std::set<Interval> periods;
      for (const BillLine& line : world_.bill) {
        if (line.target == Target::kPool && line.cluster == node.cluster &&
            line.charge.pool == node.pool.text()) {
          in_pools.insert(ask.holding);  // a charge for a pool reports no time of a node
        }
        if (line.target != Target::kNode || line.node != node.name ||
            line.cluster != node.cluster || line.charge.is_correction ||
            line.charge.charge_category != ChargeCategory::kUsage) {
          continue;
        }
        periods.insert(line.charge.charge_period);
      }
      for (const Interval& period : periods) {
        if (const auto both = period.overlap(ask.during)) {
          asked[ask.holding] += UInt128{ask.units[0]} * both->length_ms();
        }
      }
    }
    for (std::size_t h = 0; h < world_.holdings.size(); ++h) {
      if (in_pools.contains(h) || on_postings[h] == asked[h]) continue;
      return fmt::format("{} asked for {} GPU units x ms where there is a bill, and has {} posted",
                         world_.holdings[h].workload.text(), to_text(asked[h]),
                         to_text(on_postings[h]));
    }
    return std::nullopt;
  }

  // A holder in a pool has a part of every free device, together at most what it requested. Laying
  // it over pools and machines cuts to whole units of compute and of memory. Checked for charges of
  // equal period, since a part is an average over the period.
  Finding pools_give_at_most_the_request() const {
    for (const SharingRule& rule : world_.policy.sharing) {
      if (rule.weights) return std::nullopt;  // its weight is then different on each model
    }
    const ShareWeights& weights = world_.policy.weights;
    for (const TruePoolRequest& ask : world_.pool_requests) {
      const Holding& holding = world_.holdings[ask.holding];
      const UInt128 units =
          UInt128{ask.units[0]} * weights.compute + UInt128{ask.units[1]} * weights.memory;
      std::map<Interval, std::pair<UInt128, UInt128>> by_period;  // weight, postings
      for (const Posting& posting : outcome_.postings) {
        if (posting.holding != holding.id || posting.component != Component::kGpu) continue;
        // Of a node's charges for one hour only one reports its time; the others weigh the same
        // again.
        const BillLine& line = *lines_.at(posting.charge);
        if (line.target != Target::kNode || !reports_time(world_, line)) continue;
        auto& [weight, postings] = by_period[line.charge.charge_period];
        weight += posting.weight;
        postings += 1;
      }
      for (const auto& [period, sum] : by_period) {
        const auto both = period.overlap(holding.held);
        const UInt128 asked = both ? units * both->length_ms() : 0;
        const UInt128 unit = UInt128{weights.compute} + weights.memory;
        if (sum.first <= asked + unit * (sum.second + world_.nodes.size())) continue;
        return fmt::format("{} asked a pool for {} and weighs {} over {}", holding.workload.text(),
                           to_text(asked), to_text(sum.first), to_text(period));
      }
    }
    return std::nullopt;
  }

  static std::string name(const BillLine& line) {
    return fmt::format("line {} {} of '{}' {}", to_text(line.charge.id).substr(0, 8),
                       to_text(line.charge.charge_period), line.node.text(),
                       line.charge.charge_description);
  }

  const World& world_;
  const Outcome& outcome_;
  std::map<FactId, const BillLine*> lines_;
  std::map<FactId, std::size_t> holdings_;
  std::map<FactId, std::vector<const Posting*>> by_line_;
};

Finding same_outcome(const Outcome& first, const Outcome& second, const std::string& when) {
  if (first == second) return std::nullopt;
  for (std::size_t i = 0; i < std::max(first.postings.size(), second.postings.size()); ++i) {
    if (i >= first.postings.size()) return when + ": also " + describe(second.postings[i]);
    if (i >= second.postings.size()) return when + ": lacks " + describe(first.postings[i]);
    if (first.postings[i] == second.postings[i]) continue;
    return fmt::format("{}: {}\n  and before {}", when, describe(second.postings[i]),
                       describe(first.postings[i]));
  }
  return when + ": other dimensions or notes";
}

// Charges that no other charge overlaps in time, directly or through others, can be allocated
// separately: hour by hour where the bill is hourly.
std::vector<std::vector<Charge>> independent_charges(std::vector<Charge> charges) {
  std::sort(charges.begin(), charges.end(),
            [](const Charge& a, const Charge& b) { return a.charge_period < b.charge_period; });
  std::vector<std::vector<Charge>> pieces;
  Instant end = kInstantMin;
  for (Charge& charge : charges) {
    if (pieces.empty() || charge.charge_period.begin() >= end) pieces.emplace_back();
    end = std::max(end, charge.charge_period.end());
    pieces.back().push_back(std::move(charge));
  }
  return pieces;
}

// The month in pieces gives the same as the month at once.
Finding piecewise_equals_whole(const World& world, const FactsByCluster& facts,
                               const Outcome& whole, const EngineOptions& options) {
  std::set<FactId> in_pieces;
  std::vector<Posting> sum;
  for (const auto& [cluster, own] : facts) {
    FactsByCluster piece = {{cluster, own}};
    std::vector<Charge> lines;
    for (const Charge& charge : own.charges) {
      // Charges for the whole month are for no node and are left out; the others fall apart by hour
      // or day.
      if (charge.charge_period.length_ms() <= world.days.length_ms()) lines.push_back(charge);
    }
    for (auto& charges : independent_charges(std::move(lines))) {
      for (const Charge& charge : charges) in_pieces.insert(charge.id);
      piece.begin()->second.charges = std::move(charges);
      const auto part = run_engine(piece, world.policy, options);
      if (!part) return part.error();
      sum.insert(sum.end(), part->postings.begin(), part->postings.end());
    }
  }
  const auto by_line = [](const Posting& a, const Posting& b) { return a.charge < b.charge; };
  std::vector<Posting> all = whole.postings;
  std::erase_if(all, [&](const Posting& p) { return !in_pieces.contains(p.charge); });
  std::stable_sort(sum.begin(), sum.end(), by_line);
  std::stable_sort(all.begin(), all.end(), by_line);
  return same_outcome({all, {}, {}}, {sum, {}, {}}, "the month done in pieces");
}

// A run limited to one changed hour gives the same for its charges as the whole month.
Finding changed_hours_agree(const World& world, const FactsByCluster& facts, const Outcome& whole,
                            EngineOptions options) {
  Random random(world.seed, "changed");
  for (int i = 0; i < 3; ++i) {
    const auto hours = static_cast<std::uint64_t>(world.days.length_ms() / kHourMs);
    const Instant begin = world.days.begin() + std::chrono::hours(random.between(0, hours - 1));
    const Interval hour(begin, begin + std::chrono::hours(1));
    options.changed = hour;
    const auto part = run_engine(facts, world.policy, options);
    if (!part) return part.error();
    std::set<FactId> affected;
    for (const BillLine& line : world.bill) {
      if (line.charge.charge_period.overlap(hour)) affected.insert(line.charge.id);
    }
    std::vector<Posting> all = whole.postings;
    std::erase_if(all, [&](const Posting& p) { return !affected.contains(p.charge); });
    if (const Finding found = same_outcome({all, {}, {}}, {part->postings, {}, {}},
                                           fmt::format("with only {} changed", to_text(hour)))) {
      return found;
    }
  }
  return std::nullopt;
}

}  // namespace

std::string describe(const Posting& posting) {
  return fmt::format(
      "{} {} {} on '{}' '{}' for '{}' weight {} effective {} billed {} list {} contracted {} "
      "time {} memory {} observed {}",
      to_text(posting.kind), to_text(posting.component), to_text(posting.interval),
      posting.node.text(), posting.gpu.text(), posting.workload.text(), to_text(posting.weight),
      to_text(posting.costs.effective.amount()), to_text(posting.costs.billed.amount()),
      to_text(posting.costs.list.amount()), to_text(posting.costs.contracted.amount()),
      to_text(posting.gpu_time.count()), to_text(posting.memory_time.count()),
      to_text(posting.observed_time.count()));
}

Facts world_facts(const World& world) {
  Facts facts{.charges = {},
              .nodes = world.nodes,
              .gpus = world.gpus,
              .holdings = world.holdings,
              .outages = world.outages,
              .usages = world.usages,
              .corrections = world.corrections};
  for (const BillLine& line : world.bill) facts.charges.push_back(line.charge);
  return facts;
}

void shuffle(Facts& facts, std::uint64_t seed) {
  Random random(seed, "shuffle");
  shuffle(facts.charges, random);
  shuffle(facts.nodes, random);
  shuffle(facts.gpus, random);
  shuffle(facts.holdings, random);
  shuffle(facts.outages, random);
  shuffle(facts.usages, random);
}

FactsByCluster by_cluster(const Facts& facts) {
  FactsByCluster split;
  const auto owners = assign_clusters(facts.charges, facts.nodes);
  for (std::size_t i = 0; i < owners.size(); ++i) {
    split[owners[i]].charges.push_back(facts.charges[i]);
  }
  for (auto& [cluster, own] : split) {
    own.nodes = of_cluster(facts.nodes, cluster);
    own.gpus = of_cluster(facts.gpus, cluster);
    own.holdings = of_cluster(facts.holdings, cluster);
    own.outages = of_cluster(facts.outages, cluster);
    own.usages = of_cluster(facts.usages, cluster);
    own.corrections = of_cluster(facts.corrections, cluster);
  }
  return split;
}

std::expected<Outcome, std::string> run_engine(const FactsByCluster& split, const Policy& policy,
                                               const EngineOptions& options) {
  Outcome outcome;
  try {
    for (const auto& [cluster, facts] : split) {
      const UtilizationSource seen = [&](const Interval& during) -> Result<ObservedUtilization> {
        return to_intervals(facts.usages, facts.gpus, policy.usage, during);
      };
      auto allocation = allocate({.cluster = cluster,
                                  .charges = facts.charges,
                                  .nodes = facts.nodes,
                                  .gpus = facts.gpus,
                                  .holdings = facts.holdings,
                                  .outages = facts.outages,
                                  .policy = policy,
                                  .catalog = Catalog::built_in(),
                                  .threads = options.threads,
                                  .utilization = seen,
                                  .changed = options.changed});
      if (!allocation) return std::unexpected("the engine refuses: " + allocation.error().message);
      const auto append = [](auto& to, auto& from) {
        std::move(from.begin(), from.end(), std::back_inserter(to));
      };
      append(outcome.postings, allocation->postings);
      append(outcome.dimensions, allocation->dimensions);
      append(outcome.notes, allocation->notes);
    }
  } catch (const InvariantError& broken) {
    return std::unexpected(std::string("the engine broke its own promise: ") + broken.what());
  }
  plant(options.fault, options.fault_seed, outcome.postings);
  return outcome;
}

Finding audit_engine(const World& world, Fault fault) {
  const Facts facts = world_facts(world);
  const FactsByCluster split = by_cluster(facts);
  EngineOptions options{.threads = 1, .fault = fault, .fault_seed = world.seed};
  const auto first = run_engine(split, world.policy, options);
  if (!first) return first.error();
  if (const Finding found = Audit(world, *first).run()) return found;
  Facts other = facts;
  for (const unsigned count : {2u, 8u}) {
    shuffle(other, world.seed + count);
    options.threads = count;
    const auto again = run_engine(by_cluster(other), world.policy, options);
    if (!again) return again.error();
    const std::string when = fmt::format("in another order on {} threads", count);
    if (const Finding found = same_outcome(*first, *again, when)) return found;
  }
  options.threads = 1;
  if (fault != Fault::kNone) return std::nullopt;
  if (const Finding found = piecewise_equals_whole(world, split, *first, options)) return found;
  return changed_hours_agree(world, split, *first, options);
}

}  // namespace pennyweight::sim
