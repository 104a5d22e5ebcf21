#include "properties.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "testing/generate/random.h"

namespace pennyweight::sim {
namespace {

constexpr std::uint64_t kCard = CardShare::kUnitsPerCard;
const Instant kStart = from_unix_seconds(1'741'000'000 / 86'400 * 86'400);  // a day in 2025

// One node of one to three GPUs, a few holders, and a charge.
struct SmallWorld {
  std::vector<Node> nodes;
  std::vector<Gpu> gpus;
  std::vector<Holding> holdings;
  std::vector<Charge> charges;
  Policy policy;
  bool fits = true;  // holders never request more than there is

  Result<Allocation> allocate(unsigned threads = 1) const {
    return pennyweight::allocate({.cluster = ClusterId("c"),
                                  .charges = charges,
                                  .nodes = nodes,
                                  .gpus = gpus,
                                  .holdings = holdings,
                                  .policy = policy,
                                  .catalog = Catalog::built_in(),
                                  .threads = threads});
  }
};

class SmallMaker {
 public:
  explicit SmallMaker(std::uint64_t seed) : random_(seed, "small") {}

  SmallWorld make() {
    small_.fits = below(3) > 0;
    small_.policy.basis = {Basis::Kind::kRequest, 500};
    small_.policy.weights = {static_cast<std::uint32_t>(below(4)),
                             static_cast<std::uint32_t>(1 + below(3))};
    small_.policy.node_split = below(2) == 0 ? NodeSplit::kWholeNode : NodeSplit::kResidual;
    make_node();
    const std::uint64_t holders = 1 + below(4);
    for (std::uint64_t h = 0; h < holders; ++h) make_holder(h, holders);
    const Interval hours(kStart, kStart + std::chrono::hours(1 + below(30)));
    const auto amount = [&] {
      const auto ticks = static_cast<Int128>(random_.next() >> below(50));
      return Money::from_ticks(below(5) == 0 ? -ticks : ticks, kUsd);
    };
    add_charge(hours, {amount(), amount(), amount(), amount()}, "first");
    return std::move(small_);
  }

  void add_charge(const Interval& period, const Costs& costs, const std::string& what) {
    Charge charge(period, period, costs);
    charge.resource_id = "n";
    charge.charge_description = what;
    charge.list_unit_price = Decimal::from_units(3);
    charge.pricing_unit = "Hours";
    charge.id = FactId{hash_of(what)};
    small_.charges.push_back(charge);
  }

 private:
  std::uint64_t below(std::uint64_t bound) { return random_.between(0, bound - 1); }

  void make_node() {
    small_.nodes.push_back({.cluster = ClusterId("c"),
                            .name = NodeId("n"),
                            .provider_id = {},
                            .instance_type = {},
                            .region = {},
                            .pool = PoolId(""),
                            .gpu_model = "A100-SXM4-40GB",
                            .gpu_count = static_cast<std::uint32_t>(1 + below(3)),
                            .cpu_milli = 16'000,
                            .memory_bytes = std::uint64_t{64} << 30,
                            .from = kStart - std::chrono::hours(48),
                            .to = {},
                            .id = {},
                            .source = {}});
    for (std::uint32_t g = 0; g < small_.nodes[0].gpu_count; ++g) {
      small_.gpus.push_back({.cluster = ClusterId("c"),
                             .node = NodeId("n"),
                             .uuid = GpuId(fmt::format("GPU-{}", g)),
                             .index = g,
                             .model = "A100-SXM4-40GB",
                             .memory_bytes = {},
                             .mig_instances = {},
                             .from = kStart - std::chrono::hours(48),
                             .to = {},
                             .id = {},
                             .source = {}});
    }
  }

  void make_holder(std::uint64_t h, std::uint64_t holders) {
    const Instant begin = kStart + std::chrono::milliseconds(below(80'000'000));
    const Interval held(begin, begin + std::chrono::milliseconds(2 + below(80'000'000)));
    const bool by_card = below(2) == 0;
    const Placement where =
        by_card ? Placement(OnGpus{{GpuId(fmt::format("GPU-{}", below(small_.gpus.size())))}})
                : Placement(OnNodes{{{NodeId("n"), 1}}});
    Holding holder(ClusterId("c"), WorkloadId(fmt::format("w{}", h)), held, where);
    // Where they must fit, all of them fit on one GPU together with one more of the same size.
    const std::uint64_t most = small_.fits ? kCard / (holders + 2) : kCard;
    holder.device = CardFraction{CardShare::from_units(below(most + 1)),
                                 CardShare::from_units(below(most + 1))};
    if (below(2) == 0) {
      holder.cpu_milli = below(small_.fits ? 16'000 / (holders + 2) : 16'000);
      holder.memory_bytes = below((std::uint64_t{64} << 30) / (small_.fits ? holders + 2 : 1));
    }
    holder.id = FactId{natural_key(holder)};
    small_.holdings.push_back(holder);
  }

  Random random_;
  SmallWorld small_;
};

// The cost and time of one workload, by charge and component.
struct WorkloadTotals {
  Weight weight = 0;
  Int128 effective = 0;
  std::uint64_t postings = 0;
};
using HadBy = std::map<std::tuple<FactId, Component, WorkloadId>, WorkloadTotals>;

HadBy totals_in(const std::vector<Posting>& postings) {
  HadBy had;
  for (const Posting& posting : postings) {
    WorkloadTotals& one = had[{posting.charge, posting.component, posting.workload}];
    one.weight += posting.weight;
    one.effective += posting.costs.effective.ticks();
    one.postings += 1;
  }
  return had;
}

Int128 size_of(Int128 ticks) { return ticks < 0 ? -ticks : ticks; }

class Properties {
 public:
  Properties(std::uint64_t seed, std::vector<PropertyCount>& counts)
      : random_(seed, "property"), small_(SmallMaker(seed).make()), counts_(counts) {}

  Finding run() {
    const auto base = small_.allocate();
    if (!base) return base.error().message;
    base_ = *base;
    had_ = totals_in(base_.postings);
    const struct {
      const char* name;
      Finding (Properties::*check)();
    } kAll[] = {
        {"conservation", &Properties::conservation},
        {"symmetry", &Properties::symmetry},
        {"dummy", &Properties::dummy},
        {"additivity", &Properties::additivity},
        {"monotonicity", &Properties::monotonicity},
        {"scale of weights", &Properties::scale_of_weights},
        {"scale of cost", &Properties::scale_of_cost},
        {"time: a holding in two", &Properties::holding_in_two},
        {"time: a line in two", &Properties::line_in_two},
        {"order", &Properties::order},
        {"threads", &Properties::threads},
    };
    if (counts_.empty()) {
      for (const auto& property : kAll) counts_.push_back({property.name, 0});
    }
    auto count = counts_.begin();
    for (const auto& property : kAll) {
      const Finding found = (this->*property.check)();
      if (found) return fmt::format("{}: {}", property.name, *found);
      (count++)->cases += 1;
    }
    return std::nullopt;
  }

 private:
  // A part of a sum is off by less than a unit, once for its component and once for itself.
  static constexpr Int128 kRounding = 2;

  Finding conservation() {
    for (const Charge& charge : small_.charges) {
      Costs sum = Costs::zero(kUsd);
      for (const Posting& posting : base_.postings) {
        if (posting.charge == charge.id) sum += posting.costs;
      }
      if (!(sum == charge.costs)) return "the postings are not the line";
    }
    return std::nullopt;
  }

  // Two holders with the same request at the same time and place pay the same.
  Finding symmetry() {
    SmallWorld twins = small_;
    Holding twin = twins.holdings.front();
    twin.workload = WorkloadId("twin");
    twin.id = FactId{natural_key(twin)};
    twins.holdings.push_back(twin);
    const auto had = totals_in(twins.allocate()->postings);
    for (const auto& [key, one] : had) {
      if (std::get<WorkloadId>(key) != small_.holdings.front().workload) continue;
      auto other_key = key;
      std::get<WorkloadId>(other_key) = twin.workload;
      const auto other = had.find(other_key);
      if (other == had.end()) return "one of two alike has no posting";
      if (small_.fits && other->second.weight != one.weight) return "two alike weigh differently";
      // Where all request too much, the last unit of a moment goes to one of them.
      const Int128 most = static_cast<Int128>(one.postings) + unfit_slack(key, one);
      if (size_of(one.effective - other->second.effective) > most) {
        return fmt::format("two alike pay {} and {} ticks", to_text(one.effective),
                           to_text(other->second.effective));
      }
    }
    return std::nullopt;
  }

  // A holder that requests nothing pays nothing, and does not change what others pay.
  Finding dummy() {
    SmallWorld with = small_;
    Holding nobody = with.holdings.front();
    nobody.workload = WorkloadId("nobody");
    nobody.device = CardFraction{};
    nobody.cpu_milli = 0;
    nobody.memory_bytes = 0;
    nobody.id = FactId{natural_key(nobody)};
    with.holdings.push_back(nobody);
    auto had = totals_in(with.allocate()->postings);
    for (auto at = had.begin(); at != had.end();) {
      if (std::get<WorkloadId>(at->first) != nobody.workload) {
        ++at;
        continue;
      }
      if (at->second.effective != 0) return "who asks for nothing pays";
      at = had.erase(at);
    }
    for (const auto& [key, one] : had) {
      const auto before = had_.find(key);
      if (before == had_.end()) return "a dummy brings in a payer";
      const Int128 most = small_.fits ? 0 : unfit_slack(key, one) + 1;
      if (size_of(before->second.effective - one.effective) > most) {
        return "a dummy changes what others pay";
      }
    }
    return std::nullopt;
  }

  // A charge of C1 + C2 gives the same as a charge of C1 and one of C2.
  Finding additivity() {
    SmallWorld three = small_;
    three.charges.clear();
    const auto line = [&](const char* name, const Costs& costs) {
      Charge charge = small_.charges.front();
      charge.costs = costs;
      charge.id = FactId{hash_of(name)};
      three.charges.push_back(charge);
      return charge.id;
    };
    const Costs c1 = small_.charges.front().costs;
    const Money second = Money::from_ticks(static_cast<Int128>(random_.next() >> 8), kUsd);
    const Costs c2 = {second, second, second, second};
    Costs sum = c1;
    sum += c2;
    const FactId one = line("C1", c1), other = line("C2", c2), both = line("C1+C2", sum);
    const auto had = totals_in(three.allocate()->postings);
    for (const auto& [key, whole] : had) {
      const auto& [charge, component, workload] = key;
      if (charge != both) continue;
      const auto of = [&](const FactId& id) {
        const auto found = had.find({id, component, workload});
        return found == had.end() ? WorkloadTotals{} : found->second;
      };
      const WorkloadTotals x = of(one), y = of(other);
      if (x.weight != whole.weight || y.weight != whole.weight) return "weights follow the money";
      // Three splits of components and three of postings, each off by less than a unit.
      if (size_of(whole.effective - x.effective - y.effective) >=
          3 * kRounding * static_cast<Int128>(whole.postings)) {
        return fmt::format("{} is not {} + {}", to_text(whole.effective), to_text(x.effective),
                           to_text(y.effective));
      }
    }
    return std::nullopt;
  }

  // A holder that requests more does not pay less, and nobody else pays more for it.
  Finding monotonicity() {
    SmallWorld more = small_;
    Holding& holder = more.holdings.front();
    auto& part = std::get<CardFraction>(holder.device);
    const std::uint64_t extra = random_.between(0, small_.fits ? kCard / 8 : kCard);
    part.compute += CardShare::from_units(extra);
    part.memory += CardShare::from_units(extra);
    // Its host resources are stated or follow the GPUs: they grow as well, or stay.
    const auto had = totals_in(more.allocate()->postings);
    for (const auto& [key, one] : had) {
      const WorkloadId& workload = std::get<WorkloadId>(key);
      const auto found = had_.find(key);
      const WorkloadTotals before = found == had_.end() ? WorkloadTotals{} : found->second;
      const Int128 slack =
          kRounding * static_cast<Int128>(one.postings + 1) + unfit_slack(key, one);
      const Int128 rise = sign() * (one.effective - before.effective);
      if (workload == holder.workload && rise < -slack) return "who asks for more pays less";
      if (!workload.empty() && workload != holder.workload && rise > slack) {
        return "others pay more when one asks for more";
      }
    }
    return std::nullopt;
  }

  // Weights are a ratio: 500 to 500 is 1 to 1.
  Finding scale_of_weights() {
    SmallWorld scaled = small_;
    const auto factor = static_cast<std::uint32_t>(random_.between(2, 900));
    scaled.policy.weights.compute *= factor;
    scaled.policy.weights.memory *= factor;
    const auto again = scaled.allocate();
    if (again->postings.size() != base_.postings.size()) return "other postings";
    for (std::size_t i = 0; i < base_.postings.size(); ++i) {
      const Posting &a = base_.postings[i], &b = again->postings[i];
      const Weight want = a.component == Component::kGpu ? a.weight * factor : a.weight;
      if (b.weight != want || !(a.costs == b.costs)) {
        return fmt::format("{}\n  and before {}", describe(b), describe(a));
      }
    }
    return std::nullopt;
  }

  // A bill in another currency unit, or turned into a refund, is divided alike.
  Finding scale_of_cost() {
    SmallWorld scaled = small_;
    const auto factor = static_cast<Int128>(random_.between(1, 1000));
    Costs& costs = scaled.charges.front().costs;
    for (Money* money : {&costs.billed, &costs.effective, &costs.list, &costs.contracted}) {
      *money = Money::from_ticks(-factor * money->ticks(), kUsd);
    }
    const auto had = totals_in(scaled.allocate()->postings);
    for (const auto& [key, one] : had) {
      const auto before = had_.find(key);
      if (before == had_.end()) return "other holders";
      const Int128 off = one.effective + factor * before->second.effective;
      if (one.weight != before->second.weight ||
          size_of(off) > kRounding * (factor + 1) * static_cast<Int128>(one.postings)) {
        return fmt::format("{} is not -{} x {}", to_text(one.effective), to_text(factor),
                           to_text(before->second.effective));
      }
    }
    return std::nullopt;
  }

  // A holder that leaves and returns at once was there all the time.
  Finding holding_in_two() {
    SmallWorld two = small_;
    Holding& first = two.holdings.front();
    const Instant middle = first.held.begin() + std::chrono::milliseconds(
                                                    random_.between(1, first.held.length_ms() - 1));
    Holding second = first;
    first.held = {first.held.begin(), middle};
    first.attempt = "1";
    second.held = {middle, second.held.end()};
    second.attempt = "2";
    first.id = FactId{natural_key(first)};
    second.id = FactId{natural_key(second)};
    two.holdings.push_back(second);
    const auto had = totals_in(two.allocate()->postings);
    for (const auto& [key, one] : had_) {
      const auto found = had.find(key);
      const WorkloadTotals now = found == had.end() ? WorkloadTotals{} : found->second;
      if (small_.fits && now.weight != one.weight) return "a pause of no length weighs";
      const Int128 most =
          kRounding * static_cast<Int128>(now.postings + one.postings) + unfit_slack(key, one);
      if (size_of(now.effective - one.effective) > most) return "a pause of no length costs";
    }
    return std::nullopt;
  }

  // Two charges for an hour each weigh what one for two hours weighs.
  Finding line_in_two() {
    SmallWorld two = small_;
    const Interval period = two.charges.front().charge_period;
    const Instant middle =
        period.begin() + std::chrono::milliseconds(random_.between(1, period.length_ms() - 1));
    Charge second = two.charges.front();
    two.charges.front().charge_period = {period.begin(), middle};
    second.charge_period = {middle, period.end()};
    second.id = FactId{hash_of("second")};
    two.charges.push_back(second);
    std::map<std::pair<Component, WorkloadId>, Weight> whole, parts;
    std::map<WorkloadId, GpuTime> whole_time, parts_time;
    for (const Posting& posting : base_.postings) {
      whole[{posting.component, posting.workload}] += posting.weight;
      whole_time[posting.workload] += posting.gpu_time;
    }
    const auto divided = two.allocate();
    for (const Posting& posting : divided->postings) {
      parts[{posting.component, posting.workload}] += posting.weight;
      parts_time[posting.workload] += posting.gpu_time;
    }
    for (const auto& [key, weight] : whole) {
      const Weight now = parts[key];
      const Weight off = now > weight ? now - weight : weight - now;
      if (off > (small_.fits ? 0 : moments())) return "a line cut in two weighs otherwise";
    }
    for (const auto& [workload, time] : whole_time) {
      if (!workload.empty() && parts_time[workload] != time) return "a line cut in two loses time";
    }
    return std::nullopt;
  }

  Finding order() {
    SmallWorld other = small_;
    std::reverse(other.holdings.begin(), other.holdings.end());
    std::reverse(other.gpus.begin(), other.gpus.end());
    return same(other.allocate()->postings);
  }

  Finding threads() { return same(small_.allocate(2)->postings); }

  Finding same(const std::vector<Posting>& postings) const {
    if (postings == base_.postings) return std::nullopt;
    return "other postings";
  }

  int sign() const { return small_.charges.front().costs.effective.is_negative() ? -1 : 1; }

  // Where more is requested than there is, each moment is divided into whole units, so a weight may
  // be off by one for each moment. This is what such a unit costs, rounded up.
  UInt128 moments() const {
    const auto weights = small_.policy.weights;
    return UInt128{4 * small_.holdings.size() + 8} * (weights.compute + weights.memory + 1);
  }
  Int128 unfit_slack(const std::tuple<FactId, Component, WorkloadId>& key,
                     const WorkloadTotals&) const {
    if (small_.fits) return 0;
    Weight all = 0;
    Int128 cost = 0;
    for (const auto& [other, one] : had_) {
      if (std::get<Component>(other) != std::get<Component>(key)) continue;
      all += one.weight;
      cost += one.effective;
    }
    if (all == 0) return 0;
    return static_cast<Int128>(
               multiply_divide(static_cast<UInt128>(size_of(cost)), moments(), all).quotient) +
           2 * kRounding;
  }

  Random random_;
  SmallWorld small_;
  Allocation base_;
  HadBy had_;
  std::vector<PropertyCount>& counts_;
};

}  // namespace

Finding check_properties(std::uint64_t seed, std::vector<PropertyCount>& counts) {
  try {
    return Properties(seed, counts).run();
  } catch (const InvariantError& broken) {
    return std::string("the engine broke its own promise: ") + broken.what();
  }
}

}  // namespace pennyweight::sim
