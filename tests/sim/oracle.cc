#include "oracle.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

#include "core/billing_period.h"
#include "core/check.h"
#include "fleet/gpu_model.h"
#include "pricing/node_split.h"

namespace pennyweight::sim {
namespace {

constexpr std::uint64_t kCardUnits = CardShare::kUnitsPerCard;

// ---- quantities over time -----------------------------------------------------------------------

using Levels = std::map<Instant, std::uint64_t>;  // a quantity from an instant until the next

std::uint64_t level_at(const Levels& levels, Instant at) {
  const auto after = levels.upper_bound(at);
  return after == levels.begin() ? 0 : std::prev(after)->second;
}

Levels during(const Interval& there, std::uint64_t units) {
  return {{there.begin(), units}, {there.end(), 0}};
}

// Moment by moment: a + b, a - b, or a while any of the times lasts.
template <class Act>
Levels combine(const Levels& a, const Levels& b, const Act& act) {
  Levels out;
  for (const Levels* levels : {&a, &b}) {
    for (const auto& [at, units] : *levels) out[at] = act(level_at(a, at), level_at(b, at));
  }
  return out;
}
Levels plus(const Levels& a, const Levels& b) {
  return combine(a, b, [](std::uint64_t x, std::uint64_t y) { return x + y; });
}
Levels minus(const Levels& a, const Levels& b) {
  return combine(a, b, [](std::uint64_t x, std::uint64_t y) {
    CHECK(x >= y, "no more is taken than there is");
    return x - y;
  });
}
Levels within(const Levels& a, const std::vector<Interval>& times) {
  Levels any;
  for (const Interval& time : times) any = plus(any, during(time, 1));
  return combine(a, any, [](std::uint64_t x, std::uint64_t y) { return y > 0 ? x : 0; });
}

UInt128 total(const Levels& levels) {  // they end at 0
  UInt128 sum = 0;
  for (auto at = levels.begin(); at != levels.end() && std::next(at) != levels.end(); ++at) {
    sum += UInt128{at->second} *
           static_cast<std::uint64_t>((std::next(at)->first - at->first).count());
  }
  return sum;
}

// ---- what the policy says of whom ---------------------------------------------------------------

struct Rules {
  Basis basis;
  std::uint64_t compute, memory;  // weights, of one sum for all
};

std::uint64_t sum_of(const ShareWeights& weights) {
  return std::uint64_t{weights.compute} + weights.memory;
}

Rules rules_for(const World& world, const Node& node, const Holding* holder) {
  std::uint64_t common = sum_of(world.policy.weights);
  std::optional<ShareWeights> weights;
  std::optional<Basis> basis;
  for (const SharingRule& rule : world.policy.sharing) {
    if (rule.weights) common = std::lcm(common, sum_of(*rule.weights));
    if (!rule.cluster.empty() && rule.cluster != node.cluster.text()) continue;
    if (!rule.gpu_model.empty() && rule.gpu_model != node.gpu_model) continue;
    const auto label = [&](std::string_view key) {
      return holder ? holder->labels.find(key) : std::optional<std::string_view>();
    };
    if (!matches_all(rule.workload, label)) continue;
    if (!weights) weights = rule.weights;
    if (!basis) basis = rule.basis;
  }
  const ShareWeights chosen = weights.value_or(world.policy.weights);
  const std::uint64_t factor = common / sum_of(chosen);
  return {basis.value_or(world.policy.basis), chosen.compute * factor, chosen.memory * factor};
}

std::uint64_t charged_by(const Basis& basis, std::uint64_t asked, std::uint64_t used) {
  switch (basis.kind) {
    case Basis::Kind::kRequest:
      return asked;
    case Basis::Kind::kUsage:
      return used;
    case Basis::Kind::kMax:
      return std::max(asked, used);
    case Basis::Kind::kBlend:
      return (asked * basis.request_permille + used * (1000 - basis.request_permille)) / 1000;
  }
  return asked;
}

// ---- what was seen ------------------------------------------------------------------------------

using Series = std::vector<Sampled>;  // by time

Series series_of(const World& world, const GpuId& device, const WorkloadId& workload) {
  Series series;
  for (const Sampled& sample : world.samples) {
    if (sample.device == device && sample.workload == workload) series.push_back(sample);
  }
  std::stable_sort(series.begin(), series.end(),
                   [](const Sampled& a, const Sampled& b) { return a.at < b.at; });
  return series;
}

// A sample holds until the next one, and for so long at most.
const Sampled* seen_at(const World& world, const Series& series, Instant at) {
  const Sampled* last = nullptr;
  for (const Sampled& sample : series) {
    if (sample.at <= at) last = &sample;
  }
  const auto hold = std::chrono::milliseconds(world.policy.usage.hold_ms());
  return last != nullptr && at < last->at + hold ? last : nullptr;
}

// ---- who has how much, moment by moment ---------------------------------------------------------

struct Claimant {
  const Ask* ask;
  const Holding* holder;
  Interval during;  // within the stretch
  Rules rules;
  std::array<UInt128, kAxisCount> given{};
  std::array<UInt128, 2> used{};   // of given
  UInt128 idle = 0, observed = 0;  // of the compute asked for
};

struct Machine {
  std::vector<Claimant> claimants;  // seats first, in their order
  std::array<UInt128, kAxisCount> capacity{}, unavailable{};
  std::array<UInt128, 2> stranded{}, unbilled{};
};

// Where everybody together is charged by more than there is, a moment is divided in proportion.
std::vector<UInt128> divide(std::uint64_t available, std::uint64_t length,
                            const std::vector<Weight>& charged) {
  const UInt128 all = std::accumulate(charged.begin(), charged.end(), UInt128{0});
  if (all > available) return split_units(UInt128{available} * length, charged);
  std::vector<UInt128> given;
  for (const Weight units : charged) given.push_back(units * length);
  return given;
}

// By request: gives each claimant what it asks for at every moment, and returns what is left. A
// moment is a time in which neither the claimants nor what there is changes.
Levels give(const Interval& stretch, const Levels& capacity,
            const std::vector<Claimant*>& claimants, std::size_t axis) {
  std::set<Instant> cuts = {stretch.begin(), stretch.end()};
  for (const auto& [at, units] : capacity) {
    const bool changes = at == capacity.begin()->first ||
                         level_at(capacity, at - std::chrono::milliseconds(1)) != units;
    if (stretch.contains(at) && changes) cuts.insert(at);
  }
  for (const Claimant* claimant : claimants) {
    cuts.insert(claimant->during.begin());
    cuts.insert(claimant->during.end());
  }
  Levels left = {{stretch.end(), 0}};
  for (auto cut = cuts.begin(); std::next(cut) != cuts.end(); ++cut) {
    std::vector<Claimant*> active;
    std::vector<Weight> asked;
    for (Claimant* c : claimants) {
      if (!c->during.contains(*cut)) continue;
      active.push_back(c);
      asked.push_back(c->ask->units[axis]);
    }
    const std::uint64_t available = level_at(capacity, *cut);
    const auto length = static_cast<std::uint64_t>((*std::next(cut) - *cut).count());
    const auto given = divide(available, length, asked);
    UInt128 taken = 0;
    for (std::size_t i = 0; i < active.size(); ++i) {
      active[i]->given[axis] += given[i];
      if (axis < 2) active[i]->used[axis] += given[i];
      taken += asked[i];
    }
    left[*cut] = taken < available ? available - static_cast<std::uint64_t>(taken) : 0;
  }
  return left;
}

// A seat, with what was seen on it: of each holder its own values, and of one who is alone else, at
// that moment,
// the device's.
std::array<Levels, 2> give_seat(const World& world, const Interval& there, const Seat& seat,
                                bool is_rest, const std::vector<Claimant*>& claimants,
                                std::array<UInt128, 2>& unbilled) {
  const auto hold = std::chrono::milliseconds(world.policy.usage.hold_ms());
  std::set<Instant> holders_change = {there.begin(), there.end()};
  std::vector<Series> own;
  for (const Claimant* claimant : claimants) {
    holders_change.insert(claimant->during.begin());
    holders_change.insert(claimant->during.end());
    own.push_back(is_rest ? Series() : series_of(world, seat.id, claimant->holder->workload));
  }
  const Series device = is_rest ? Series() : series_of(world, seat.id, WorkloadId(""));
  std::array<Levels, 2> left = {Levels{{there.end(), 0}}, Levels{{there.end(), 0}}};
  for (auto change = holders_change.begin(); std::next(change) != holders_change.end(); ++change) {
    std::vector<std::size_t> active;
    for (std::size_t i = 0; i < claimants.size(); ++i) {
      if (claimants[i]->during.contains(*change)) active.push_back(i);
    }
    std::set<Instant> cuts = {*change, *std::next(change)};
    const bool alone = active.size() == 1;
    const auto cut_at = [&](const Series& series) {
      for (std::size_t n = 0; n < series.size(); ++n) {
        const Instant end = n + 1 < series.size() ? std::min(series[n].at + hold, series[n + 1].at)
                                                  : series[n].at + hold;
        for (const Instant at : {series[n].at, end}) {
          if (*change < at && at < *std::next(change)) cuts.insert(at);
        }
      }
    };
    for (const std::size_t i : active) cut_at(own[i]);
    if (alone) cut_at(device);
    for (auto cut = cuts.begin(); std::next(cut) != cuts.end(); ++cut) {
      const auto length = static_cast<std::uint64_t>((*std::next(cut) - *cut).count());
      for (std::size_t axis = 0; axis < 2; ++axis) {
        std::vector<Weight> charged, used;
        UInt128 all = 0, short_of = 0;
        for (const std::size_t i : active) {
          Claimant& claimant = *claimants[i];
          const std::uint64_t asked = claimant.ask->units[axis];
          const Sampled* seen = seen_at(world, own[i], *cut);
          if (seen == nullptr && alone) seen = seen_at(world, device, *cut);
          const Sampled nothing{seat.id, WorkloadId(""), *cut, {}, {}};
          const Sampled& sample = seen != nullptr ? *seen : nothing;
          const auto& value = axis == 0 ? sample.compute : sample.memory;
          charged.push_back(asked);
          used.push_back(asked);
          if (value) {  // on the card the device's value is so much
            const auto use =
                static_cast<std::uint64_t>(UInt128{*value} * seat.units[axis] / kCardUnits);
            charged.back() = charged_by(claimant.rules.basis, asked, use);
            used.back() = std::min<Weight>(use, charged.back());
            if (axis == 0) claimant.idle += UInt128{asked > use ? asked - use : 0} * length;
            if (axis == 0) claimant.observed += UInt128{asked} * length;
          }
          all += charged.back();
          if (asked > charged.back()) short_of += asked - charged.back();
        }
        const auto given = divide(seat.units[axis], length, charged);
        for (std::size_t n = 0; n < active.size(); ++n) {
          claimants[active[n]]->given[axis] += given[n];
          claimants[active[n]]->used[axis] +=
              charged[n] == 0 ? 0 : multiply_divide(given[n], used[n], charged[n]).quotient;
        }
        const UInt128 rest = all < seat.units[axis] ? seat.units[axis] - all : 0;
        left[axis][*cut] = static_cast<std::uint64_t>(rest);
        unbilled[axis] += std::min(rest, short_of) * length;
      }
    }
  }
  return left;
}

// One machine over one stretch. Of the host, everybody on the machine has what they ask for; of the
// GPUs first whoever is on a seat, seat by seat, then whoever asked for the node as a whole.
Machine share_machine(const World& world, std::size_t index, const Interval& stretch) {
  Machine out;
  const Node& node = world.nodes[index];
  const auto present = world.presence_of_node(index);
  const auto here = present ? present->overlap(stretch) : std::nullopt;
  if (!here) return out;
  for (const std::size_t h : holder_order(world, node.cluster)) {
    const Holding& holder = world.holdings[h];
    for (const Ask& ask : world.asks) {
      if (ask.holding != h || ask.machine != index) continue;
      const auto time = ask.during.overlap(*here);
      if (time) out.claimants.push_back({&ask, &holder, *time, rules_for(world, node, &holder)});
    }
  }
  const auto place = [&](const Ask& ask) {
    const bool anywhere = ask.card == kAnywhere;
    return std::tuple(anywhere, anywhere ? GpuId("") : world.gpus[ask.card].uuid,
                      anywhere ? Instant() : world.gpus[ask.card].from, ask.seat);
  };
  std::stable_sort(
      out.claimants.begin(), out.claimants.end(),
      [&](const Claimant& a, const Claimant& b) { return place(*a.ask) < place(*b.ask); });
  std::vector<Claimant*> everybody, on_node;
  for (Claimant& claimant : out.claimants) {
    everybody.push_back(&claimant);
    if (claimant.ask->card == kAnywhere) on_node.push_back(&claimant);
  }
  const std::uint64_t gpus = world.card_units(node) * node.gpu_count;
  const Units capacity = {gpus, gpus, node.cpu_milli.value_or(0), node.memory_bytes.value_or(0)};
  std::vector<Interval> outages, exhausted;
  for (const Outage& outage : world.outages) {
    if (outage.cluster == node.cluster && outage.node == node.name && outage.gpu.empty()) {
      outages.push_back(outage.during);
    }
  }
  for (std::size_t axis = 0; axis < kAxisCount; ++axis) {
    out.capacity[axis] = UInt128{capacity[axis]} * here->length_ms();
  }
  for (std::size_t axis = 2; axis < kAxisCount; ++axis) {
    const Levels left = give(*here, during(*here, capacity[axis]), everybody, axis);
    for (auto at = left.begin(); std::next(at) != left.end(); ++at) {
      // Without CPU or memory nobody could have used the GPUs that are left.
      if (capacity[axis] > 0 && at->second == 0) {
        exhausted.emplace_back(at->first, std::next(at)->first);
      }
    }
    out.unavailable[axis] = total(within(left, outages));
  }
  if (gpus == 0) return out;
  std::array<Levels, 2> left = {during(*here, gpus), during(*here, gpus)};
  for (std::size_t g = 0; g < world.gpus.size(); ++g) {
    if (world.gpus[g].node != node.name || world.gpus[g].cluster != node.cluster) continue;
    const auto card_present = world.presence_of_gpu(g);
    const auto there = card_present ? card_present->overlap(*here) : std::nullopt;
    if (!there) continue;
    std::vector<Interval> card_outages;
    for (const Outage& outage : world.outages) {
      if (outage.cluster == node.cluster && outage.gpu == world.gpus[g].uuid) {
        card_outages.push_back(outage.during);
      }
    }
    const Card& card = world.cards[g];
    for (std::size_t axis = 0; axis < 2; ++axis) {
      left[axis] = minus(left[axis], during(*there, card.units[axis]));
      out.stranded[axis] += total(during(*there, card.stranded[axis]));
    }
    for (std::size_t s = 0; s < card.seats.size(); ++s) {
      std::vector<Claimant*> here_seated;
      for (Claimant& c : out.claimants) {
        if (c.ask->card == g && c.ask->seat == s) here_seated.push_back(&c);
      }
      const bool is_rest = card.is_cut && s + 1 == card.seats.size();
      std::array<UInt128, 2> unbilled{};
      const auto of_seat = give_seat(world, *there, card.seats[s], is_rest, here_seated, unbilled);
      for (std::size_t axis = 0; axis < 2; ++axis) {
        const Levels out_of_order = within(of_seat[axis], card_outages);
        const Levels rest = minus(of_seat[axis], out_of_order);
        out.unavailable[axis] += total(out_of_order);
        out.unbilled[axis] += std::min(unbilled[axis], total(rest));
        left[axis] = plus(left[axis], rest);
      }
    }
  }
  for (std::size_t axis = 0; axis < 2; ++axis) {
    Levels rest = give(*here, left[axis], on_node, axis);
    const Levels out_of_order = within(rest, outages);
    out.unavailable[axis] += total(out_of_order);
    rest = minus(rest, out_of_order);
    const Levels stuck = within(rest, exhausted);
    out.stranded[axis] += total(stuck);
    out.unbilled[axis] = std::min(out.unbilled[axis], total(minus(rest, stuck)));
  }
  return out;
}

// ---- what a line pays for -----------------------------------------------------------------------

// Before money: everything of a posting but its costs.
struct Piece {
  Component component;
  Interval stretch;
  NodeId node;
  GpuId gpu;
  PostingKind kind;
  std::optional<std::size_t> holding;  // a place in holder_order
  Interval during;
  Weight weight = 0;
  UInt128 gpu_time = 0, memory_time = 0, observed_time = 0;
  auto key() const { return std::tie(component, stretch, node, gpu, kind, holding); }
};

struct Split {
  Component component;
  Weight weight;
};

std::vector<Split> split_of(const World& world, const Charge& charge, const Node& node) {
  const auto three = [](Weight gpu, Weight cpu, Weight memory) {
    return std::vector<Split>{
        {Component::kGpu, gpu}, {Component::kCpu, cpu}, {Component::kMemory, memory}};
  };
  const bool has_host = node.cpu_milli && node.memory_bytes;
  const auto ratio = [&] {  // 9 a GPU, 0.9 a vCPU, 0.1 a GiB; times 10 x 1000 x 2^30
    const Weight kGib = Weight{1} << 30;
    return three(Weight{90} * node.gpu_count * 1000 * kGib, Weight{9} * *node.cpu_milli * kGib,
                 Weight{1} * *node.memory_bytes * 1000);
  };
  if (node.gpu_count == 0) {
    if (!has_host) return {};
    if (node.instance_type == "sim.ratio") return ratio();
    const auto market = residual_split(Decimal::from_ticks(Decimal::kTicksMax), *node.cpu_milli,
                                       *node.memory_bytes, world.catalog().host_unit_rates());
    return three(0, market.cpu, market.memory);
  }
  if (node.instance_type == "sim.explicit.8x") return three(7, 2, 1);
  if (has_host && node.instance_type == "sim.ratio") return ratio();
  const bool by_price = has_host && charge.list_unit_price && node.instance_type != "sim.ratio" &&
                        world.policy.node_split == NodeSplit::kResidual;
  if (!by_price) return three(1, 0, 0);
  const auto parts = residual_split(*charge.list_unit_price, *node.cpu_milli, *node.memory_bytes,
                                    world.catalog().host_unit_rates());
  return three(parts.gpu, parts.cpu, parts.memory);
}

bool is_plain(const BillLine& line) {
  return line.target == Target::kNode && !line.charge.is_correction &&
         line.charge.charge_category == ChargeCategory::kUsage &&
         !line.charge.costs.list.is_negative();
}

template <class Amounts>
Weight weigh(const Amounts& amounts, Component component, const Rules& rules) {
  if constexpr (std::tuple_size_v<Amounts> == kAxisCount) {
    if (component == Component::kCpu) return amounts[2];
    if (component == Component::kMemory) return amounts[3];
  }
  return amounts[0] * rules.compute + amounts[1] * rules.memory;
}

// One machine's part of a component of a line over a stretch.
std::vector<Piece> pieces_of_machine(const World& world, const Machine& machine, const Node& node,
                                     Component component, const Interval& stretch, bool times,
                                     const std::vector<std::size_t>& order) {
  std::vector<Piece> pieces;
  const bool gpu = component == Component::kGpu;
  const Rules plain = rules_for(world, node, nullptr);
  const UInt128 capacity = weigh(machine.capacity, component, plain);
  std::vector<Weight> weights;
  UInt128 all = 0;
  for (const Claimant& c : machine.claimants) {
    weights.push_back(weigh(c.given, component, c.rules));
    all += weights.back();
  }
  // Under rules of their own some may weigh so much that all together are more than the machine.
  if (all > capacity) weights = split_units(capacity, weights);
  UInt128 taken = 0, asked_time = 0;
  const GpuModel* model = find_gpu_model(node.gpu_model);
  for (std::size_t i = 0; i < machine.claimants.size(); ++i) {
    const Claimant& c = machine.claimants[i];
    const auto place = std::find(order.begin(), order.end(), c.ask->holding) - order.begin();
    const bool overhead = c.holder->labels.find("namespace") == "kube-system";
    const std::uint64_t length = c.during.length_ms();
    const UInt128 time = UInt128{c.ask->units[0]} * length;
    const UInt128 memory_time =
        UInt128{c.ask->units[1]} * (model ? model->memory_bytes : 0) / kCardUnits * length;
    const Weight given = weigh(c.given, component, c.rules);
    UInt128 used = weights[i];
    if (gpu && !overhead && given > 0) {
      used = multiply_divide(weights[i], weigh(c.used, component, c.rules), given).quotient;
    }
    Piece first{component,
                stretch,
                node.name,
                c.ask->card == kAnywhere ? GpuId("") : world.gpus[c.ask->card].uuid,
                overhead ? PostingKind::kOverhead : PostingKind::kUsed,
                static_cast<std::size_t>(place),
                c.during,
                used};
    Piece idle = first;
    idle.kind = PostingKind::kHeldIdle;
    idle.weight = weights[i] - used;
    if (times) {
      idle.gpu_time = idle.observed_time = overhead ? 0 : c.idle;
      first.gpu_time = time - idle.gpu_time;
      first.observed_time = c.observed - idle.observed_time;
    }
    const bool any_idle = idle.weight > 0 || idle.gpu_time > 0;
    const bool only_idle = any_idle && first.weight == 0 && first.gpu_time == 0;
    if (times) (only_idle ? idle : first).memory_time = memory_time;
    if (!only_idle) pieces.push_back(first);
    if (any_idle) pieces.push_back(idle);
    taken += weights[i];
    asked_time += time;
  }
  // What nobody is charged for, by why.
  UInt128 rest = capacity - taken;
  UInt128 time = times && machine.capacity[0] > asked_time ? machine.capacity[0] - asked_time : 0;
  const std::size_t first_idle = pieces.size();
  const auto idle_for = [&](PostingKind kind, UInt128 weight, UInt128 compute) {
    const UInt128 part = std::min(rest, weight);
    if (part == 0) return;
    const UInt128 part_time = std::min(time, compute);
    pieces.push_back(
        {component, stretch, node.name, GpuId(""), kind, std::nullopt, stretch, part, part_time});
    rest -= part;
    time -= part_time;
  };
  idle_for(PostingKind::kUnavailable, weigh(machine.unavailable, component, plain),
           gpu ? machine.unavailable[0] : 0);
  if (gpu) {
    idle_for(PostingKind::kStranded, weigh(machine.stranded, component, plain),
             machine.stranded[0]);
    idle_for(PostingKind::kHeldIdle, weigh(machine.unbilled, component, plain), 0);
  }
  idle_for(PostingKind::kUnallocated, rest, 0);
  if (pieces.size() > first_idle) pieces.back().gpu_time += time;
  return pieces;
}

std::vector<Piece> pieces_of(const World& world, const BillLine& line, Component component,
                             const std::vector<std::size_t>& order) {
  const bool times = component == Component::kGpu && tells_time(world, line);
  std::vector<Piece> pieces;
  for (const Interval& stretch : cut_by_day(line.charge.charge_period, world.policy.time_zone)) {
    for (std::size_t m = 0; m < world.nodes.size(); ++m) {
      const Node& node = world.nodes[m];
      if (node.name != line.node || node.cluster != line.cluster) continue;
      const auto more = pieces_of_machine(world, share_machine(world, m, stretch), node, component,
                                          stretch, times, order);
      pieces.insert(pieces.end(), more.begin(), more.end());
    }
  }
  return pieces;
}

// Pieces about the same thing are one posting.
std::vector<Piece> merged(std::vector<Piece> pieces) {
  std::stable_sort(pieces.begin(), pieces.end(),
                   [](const Piece& a, const Piece& b) { return a.key() < b.key(); });
  std::vector<Piece> out;
  for (const Piece& piece : pieces) {
    if (out.empty() || out.back().key() != piece.key()) {
      out.push_back(piece);
      continue;
    }
    Piece& into = out.back();
    into.weight += piece.weight;
    into.gpu_time += piece.gpu_time;
    into.memory_time += piece.memory_time;
    into.observed_time += piece.observed_time;
    into.during = {std::min(into.during.begin(), piece.during.begin()),
                   std::max(into.during.end(), piece.during.end())};
  }
  std::erase_if(out, [](const Piece& p) { return p.weight == 0 && !p.holding; });
  return out;
}

// The line's days by their length: for what is of no node, or when nothing was there at all.
std::vector<Piece> by_length(const World& world, const BillLine& line, Component component,
                             PostingKind kind) {
  std::vector<Piece> pieces;
  for (const Interval& stretch : cut_by_day(line.charge.charge_period, world.policy.time_zone)) {
    pieces.push_back({component, stretch, line.node, GpuId(""), kind, std::nullopt, stretch,
                      stretch.length_ms()});
  }
  return pieces;
}

std::vector<Costs> divide_costs(const Costs& costs, const std::vector<Weight>& weights) {
  std::vector<Costs> parts;
  const auto billed = split(costs.billed, weights), effective = split(costs.effective, weights);
  const auto list = split(costs.list, weights), contracted = split(costs.contracted, weights);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    parts.push_back({billed[i], effective[i], list[i], contracted[i]});
  }
  return parts;
}

}  // namespace

bool tells_time(const World& world, const BillLine& line) {
  if (!is_plain(line)) return false;
  const auto rank = [](const BillLine& l) {
    return std::pair(-l.charge.costs.list.ticks(), l.charge.id);
  };
  return std::none_of(world.bill.begin(), world.bill.end(), [&](const BillLine& other) {
    return is_plain(other) && other.node == line.node && other.cluster == line.cluster &&
           rank(other) < rank(line) &&
           other.charge.charge_period.overlap(line.charge.charge_period);
  });
}

std::vector<std::size_t> holder_order(const World& world, const ClusterId& cluster) {
  std::vector<std::size_t> order;
  for (std::size_t h = 0; h < world.holdings.size(); ++h) {
    if (world.holdings[h].cluster == cluster) order.push_back(h);
  }
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const Holding &x = world.holdings[a], &y = world.holdings[b];
    return std::tie(x.held, x.workload, x.attempt, x.id) <
           std::tie(y.held, y.workload, y.attempt, y.id);
  });
  return order;
}

std::vector<Posting> expected_postings(const World& world, const BillLine& line) {
  CHECK(line.target != Target::kPool, "pools are not laid out here");
  const auto order = holder_order(world, line.cluster);
  std::vector<Split> split;
  if (line.target == Target::kNode) {
    for (std::size_t m = 0; m < world.nodes.size(); ++m) {  // by the first of its facts
      const auto present = world.presence_of_node(m);
      if (world.nodes[m].name != line.node || world.nodes[m].cluster != line.cluster) continue;
      if (!present || !present->overlap(line.charge.charge_period)) continue;
      split = split_of(world, line.charge, world.nodes[m]);
      break;
    }
    std::erase_if(split, [](const Split& s) { return s.weight == 0; });
  }
  std::vector<Posting> postings;
  const auto post = [&](const std::vector<Piece>& pieces, const Costs& costs) {
    std::vector<Weight> weights;
    for (const Piece& piece : pieces) weights.push_back(piece.weight);
    const auto parts = divide_costs(costs, weights);
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      const Piece& p = pieces[i];
      const auto day = parse_instant(local_date(p.stretch.begin(), world.policy.time_zone));
      const Holding* h = p.holding ? &world.holdings[order[*p.holding]] : nullptr;
      postings.push_back({.charge = line.charge.id,
                          .kind = p.kind,
                          .component = p.component,
                          .interval = p.during,
                          .day = std::chrono::floor<std::chrono::days>(day.value()),
                          .node = p.node,
                          .gpu = p.gpu,
                          .workload = h ? h->workload : WorkloadId(""),
                          .holding = h ? std::optional(h->id) : std::nullopt,
                          .weight = p.weight,
                          .costs = parts[i],
                          .gpu_time = GpuTime::of(p.gpu_time),
                          .memory_time = MemoryTime::of(p.memory_time),
                          .observed_time = GpuTime::of(p.observed_time)});
    }
  };
  if (split.empty()) {
    const auto kind =
        line.target == Target::kShared ? PostingKind::kShared : PostingKind::kUnallocated;
    post(by_length(world, line, Component::kWhole, kind), line.charge.costs);
    return postings;
  }
  std::vector<Weight> component_weights;
  for (const Split& s : split) component_weights.push_back(s.weight);
  const auto costs = divide_costs(line.charge.costs, component_weights);
  for (std::size_t c = 0; c < split.size(); ++c) {
    auto pieces = merged(pieces_of(world, line, split[c].component, order));
    const bool nobody =
        std::all_of(pieces.begin(), pieces.end(), [](const Piece& p) { return p.weight == 0; });
    if (nobody) {
      pieces = by_length(world, line, split[c].component, PostingKind::kUnallocated);
    }
    post(pieces, costs[c]);
  }
  return postings;
}

}  // namespace pennyweight::sim
