#include "oracle_machine.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

#include "core/check.h"
#include "core/split.h"
#include "oracle.h"

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
Levels smaller(const Levels& a, const Levels& b) {
  return combine(a, b, [](std::uint64_t x, std::uint64_t y) { return std::min(x, y); });
}
Levels at_most(const Levels& a, std::uint64_t units) {
  Levels out;
  for (const auto& [at, level] : a) out[at] = std::min(level, units);
  return out;
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

// ---- what a holder is charged by
// -----------------------------------------------------------------

std::uint64_t sum_of(const ShareWeights& weights) {
  return std::uint64_t{weights.compute} + weights.memory;
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

// A sample holds until the next one, for the policy's hold at most.
const Sampled* seen_at(const World& world, const Series& series, Instant at) {
  const Sampled* last = nullptr;
  for (const Sampled& sample : series) {
    if (sample.at <= at) last = &sample;
  }
  const auto hold = std::chrono::milliseconds(world.policy.usage.hold_ms());
  return last != nullptr && at < last->at + hold ? last : nullptr;
}

// ---- who has how much, moment by moment ---------------------------------------------------------

// Where all claimants together are charged by more than there is, a moment is divided in
// proportion.
std::vector<UInt128> divide(std::uint64_t available, std::uint64_t length,
                            const std::vector<Weight>& charged) {
  const UInt128 all = std::accumulate(charged.begin(), charged.end(), UInt128{0});
  if (all > available) return split_units(UInt128{available} * length, charged);
  std::vector<UInt128> given;
  for (const Weight units : charged) given.push_back(units * length);
  return given;
}

// By request: gives each claimant what it requests at every moment, and returns what is left.
// Neither the claimants nor the capacity change within a moment.
Levels give(const Interval& segment, const Levels& capacity,
            const std::vector<Claimant*>& claimants, std::size_t axis) {
  std::set<Instant> cuts = {segment.begin(), segment.end()};
  for (const auto& [at, units] : capacity) {
    const bool changes = at == capacity.begin()->first ||
                         level_at(capacity, at - std::chrono::milliseconds(1)) != units;
    if (segment.contains(at) && changes) cuts.insert(at);
  }
  for (const Claimant* claimant : claimants) {
    cuts.insert(claimant->during.begin());
    cuts.insert(claimant->during.end());
  }
  Levels left = {{segment.end(), 0}};
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

// Holders of a whole GPU who have weights of their own pay for no more than it at any moment.
void cut_weights(const std::vector<Claimant*>& holders,
                 const std::vector<std::array<UInt128, 2>>& given, const Rules& plain,
                 std::uint64_t length) {
  std::vector<Weight> weights;
  for (std::size_t i = 0; i < holders.size(); ++i) {
    const Rules& rules = holders[i]->rules;
    weights.push_back(given[i][0] * rules.compute + given[i][1] * rules.memory);
  }
  const UInt128 whole = UInt128{kCardUnits} * length * (plain.compute + plain.memory);
  if (std::accumulate(weights.begin(), weights.end(), UInt128{0}) <= whole) return;
  const auto within = split_units(whole, weights);
  for (std::size_t i = 0; i < holders.size(); ++i) {
    holders[i]->weight_cut += weights[i] - within[i];
  }
}

// A seat with its observed usage: each holder's own values, else, while it is alone, the device's.
// `plain`: the rules of its idle capacity.
std::array<Levels, 2> give_seat(const World& world, const Interval& there, const Seat& seat,
                                bool is_rest, const Rules& plain,
                                const std::vector<Claimant*>& claimants,
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
      std::vector<std::array<UInt128, 2>> given_now(active.size());
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
          if (value) {  // a value of the device, in units of the GPU
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
          given_now[n][axis] = given[n];
          claimants[active[n]]->used[axis] +=
              charged[n] == 0 ? 0 : multiply_divide(given[n], used[n], charged[n]).quotient;
        }
        const UInt128 rest = all < seat.units[axis] ? seat.units[axis] - all : 0;
        left[axis][*cut] = static_cast<std::uint64_t>(rest);
        unbilled[axis] += std::min(rest, short_of) * length;
      }
      if (seat.units[0] != kCardUnits || seat.units[1] != kCardUnits) continue;
      std::vector<Claimant*> holders;
      for (const std::size_t i : active) holders.push_back(claimants[i]);
      cut_weights(holders, given_now, plain, length);
    }
  }
  return left;
}

}  // namespace

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

Machine share_machine(const World& world, std::size_t index, const Interval& segment) {
  Machine out;
  const Node& node = world.nodes[index];
  const auto present = world.presence_of_node(index);
  const auto here = present ? present->overlap(segment) : std::nullopt;
  if (!here) return out;
  for (const std::size_t h : holder_order(world, node.cluster)) {
    const Holding& holder = world.holdings[h];
    for (const TrueRequest& ask : world.requests) {
      if (ask.holding != h || ask.machine != index) continue;
      const auto time = ask.during.overlap(*here);
      if (time) out.claimants.push_back({&ask, &holder, *time, rules_for(world, node, &holder)});
    }
  }
  const auto place = [&](const TrueRequest& ask) {
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
  Levels requested;  // of each seat no more than it has, of the node no more than the seats leave
  Levels left_over, out_of_use;  // by a MIG layout; of seats that nobody requested
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
    left_over = plus(left_over, during(*there, card.stranded[0]));
    for (std::size_t s = 0; s < card.seats.size(); ++s) {
      std::vector<Claimant*> here_seated;
      for (Claimant& c : out.claimants) {
        if (c.ask->card == g && c.ask->seat == s) here_seated.push_back(&c);
      }
      Levels asked;
      for (const Claimant* c : here_seated)
        asked = plus(asked, during(c->during, c->ask->units[0]));
      asked = at_most(asked, card.seats[s].units[0]);
      requested = plus(requested, asked);
      const Levels unrequested = minus(during(*there, card.seats[s].units[0]), asked);
      out_of_use = plus(out_of_use, within(unrequested, card_outages));
      const bool is_rest = card.is_cut && s + 1 == card.seats.size();
      std::array<UInt128, 2> unbilled{};
      const auto of_seat = give_seat(world, *there, card.seats[s], is_rest,
                                     rules_for(world, node, nullptr), here_seated, unbilled);
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
    if (axis == 0) requested = plus(requested, minus(left[axis], rest));
    const Levels out_of_order = within(rest, outages);
    out.unavailable[axis] += total(out_of_order);
    rest = minus(rest, out_of_order);
    const Levels stuck = within(rest, exhausted);
    out.stranded[axis] += total(stuck);
    out.unbilled[axis] = std::min(out.unbilled[axis], total(minus(rest, stuck)));
  }
  // Of what nobody requested, first what a MIG layout leaves over, then what is out of use, then
  // what nobody could have used.
  Levels rest = minus(during(*here, gpus), at_most(requested, gpus));
  const auto take = [&](const Levels& part) {
    const Levels taken = smaller(rest, part);
    rest = minus(rest, taken);
    return total(taken);
  };
  out.idle.stranded = take(left_over);
  out.idle.unavailable = take(plus(within(rest, outages), out_of_use));
  out.idle.stranded += take(within(rest, exhausted));
  out.idle.free = total(rest);
  return out;
}

}  // namespace pennyweight::sim
