#include "compare/slot.h"

#include <algorithm>
#include <array>

#include "core/check.h"
#include "core/split.h"

namespace pennyweight {
namespace {

// cost · part / whole, towards zero: nothing of nothing.
Money part_of(Money cost, UInt128 part, UInt128 whole) {
  if (whole == 0) return Money::zero(cost.currency());
  const Money size = cost.is_negative() ? -cost : cost;
  const UInt128 ticks = multiply_divide(static_cast<UInt128>(size.ticks()), part, whole).quotient;
  const Money share = Money::from_ticks(static_cast<Int128>(ticks), cost.currency());
  return cost.is_negative() ? -share : share;
}

SlotCosts nothing_yet(const Slot& slot) {
  const Currency currency = slot.costs.gpu.currency();
  return {std::vector(slot.claims.size(), ComponentCosts::zero(currency)), Money::zero(currency),
          Money::zero(currency)};
}

// What each of `parts` of `whole` costs at the unit price. As long as they are not more than there
// is the rest is a party too, so that a whole card costs what it costs, to the last digit; beyond,
// each is rounded down.
std::vector<Money> at_unit_price(Money cost, std::vector<Weight> parts, UInt128 whole) {
  UInt128 asked = 0;
  for (const Weight& part : parts) asked += part;
  std::vector<Money> costs;
  if (asked > whole || whole == 0) {
    for (const Weight& part : parts) costs.push_back(part_of(cost, part, whole));
    return costs;
  }
  parts.push_back(whole - asked);
  costs = split(cost, parts);
  costs.pop_back();
  return costs;
}

template <class Amount>
std::vector<Weight> amounts(const Slot& slot, Amount amount) {
  std::vector<Weight> weights;
  for (const SlotClaim& claim : slot.claims) weights.push_back(amount(claim));
  return weights;
}

SlotCosts opencost(const Slot& slot) {
  SlotCosts result = nothing_yet(slot);
  result.idle = slot.costs.sum();
  const auto requested = [](const SlotClaim& claim) {
    CHECK(claim.gpu, "OpenCost counts every request, if only as none");
    return *claim.gpu;
  };
  const auto gpu = at_unit_price(slot.costs.gpu, amounts(slot, requested), slot.capacity.gpu);
  const auto cpu =
      at_unit_price(slot.costs.cpu, amounts(slot, [](const SlotClaim& claim) { return claim.cpu; }),
                    slot.capacity.cpu);
  const auto memory = at_unit_price(
      slot.costs.memory, amounts(slot, [](const SlotClaim& claim) { return claim.memory; }),
      slot.capacity.memory);
  for (std::size_t i = 0; i < slot.claims.size(); ++i) {
    result.claims[i] = {gpu[i], cpu[i], memory[i]};
    result.idle = result.idle - result.claims[i].sum();
  }
  return result;
}

// All of `cost` to the claims by what they are allocated; to idle where nobody is.
template <class Amount, class Give>
void share_all(Money cost, const Slot& slot, Money& idle, Amount amount, Give give) {
  const std::vector<Weight> weights = amounts(slot, amount);
  if (std::all_of(weights.begin(), weights.end(), [](Weight weight) { return weight == 0; })) {
    idle += cost;
    return;
  }
  const std::vector<Money> shares = split(cost, weights);
  for (std::size_t i = 0; i < shares.size(); ++i) give(i, shares[i]);
}

// The fewest nodes that hold what is asked for.
std::uint64_t busy_nodes(const Slot& slot) {
  if (slot.nodes == 1 || slot.claims.empty()) return slot.nodes;
  ResourceTime asked;
  for (const SlotClaim& claim : slot.claims) {
    asked.gpu += claim.gpu.value_or(0);
    asked.cpu += claim.cpu;
    asked.memory += claim.memory;
  }
  UInt128 most = 1;
  const auto fill = [&](UInt128 part, UInt128 whole) {
    if (part == 0 || whole == 0) return;
    const auto [nodes, rest] = multiply_divide(part, slot.nodes, whole);
    most = std::max(most, nodes + (rest > 0 ? 1 : 0));
  };
  fill(asked.gpu, slot.capacity.gpu);
  fill(asked.cpu, slot.capacity.cpu);
  fill(asked.memory, slot.capacity.memory);
  return static_cast<std::uint64_t>(std::min<UInt128>(most, slot.nodes));
}

SlotCosts aws_scad(const Slot& all) {
  SlotCosts result = nothing_yet(all);
  Slot slot = all;
  const std::array<Weight, 2> nodes = {busy_nodes(all), all.nodes - busy_nodes(all)};
  for (Money ComponentCosts::* part :
       {&ComponentCosts::gpu, &ComponentCosts::cpu, &ComponentCosts::memory}) {
    const std::vector<Money> costs = split(all.costs.*part, nodes);
    slot.costs.*part = costs[0];
    result.idle += costs[1];
  }
  const bool documented = std::all_of(slot.claims.begin(), slot.claims.end(),
                                      [](const SlotClaim& claim) { return claim.gpu.has_value(); });
  if (documented) {
    share_all(
        slot.costs.gpu, slot, result.idle, [](const SlotClaim& claim) { return *claim.gpu; },
        [&](std::size_t i, Money share) { result.claims[i].gpu = share; });
  } else {
    result.undocumented += slot.costs.gpu;
  }
  share_all(
      slot.costs.cpu, slot, result.idle, [](const SlotClaim& claim) { return claim.cpu; },
      [&](std::size_t i, Money share) { result.claims[i].cpu = share; });
  share_all(
      slot.costs.memory, slot, result.idle, [](const SlotClaim& claim) { return claim.memory; },
      [&](std::size_t i, Money share) { result.claims[i].memory = share; });
  return result;
}

SlotCosts koku(const Slot& slot) {
  SlotCosts result = nothing_yet(slot);
  if (slot.capacity.gpu == 0) return result;
  const auto held = amounts(slot, [](const SlotClaim& claim) { return claim.gpu.value_or(0); });
  const std::vector<Money> costs = at_unit_price(slot.costs.gpu, held, slot.capacity.gpu);
  Money sum = Money::zero(slot.costs.gpu.currency());
  UInt128 all = 0;
  for (std::size_t i = 0; i < held.size(); ++i) {
    result.claims[i].gpu = costs[i];
    sum += costs[i];
    all += held[i];
  }
  const UInt128 busy = multiply_divide(slot.capacity.gpu, busy_nodes(slot), slot.nodes).quotient;
  if (all > 0 && all < busy) {
    const std::array<Weight, 2> nodes = {busy, slot.capacity.gpu - busy};
    result.idle = split(slot.costs.gpu, nodes)[0] - sum;
  }
  return result;
}

}  // namespace

SlotCosts price_slot(Preset preset, const Slot& slot) {
  switch (preset) {
    case Preset::kOpenCost:
      return opencost(slot);
    case Preset::kAwsScad:
      return aws_scad(slot);
    case Preset::kKoku:
      return koku(slot);
  }
  return nothing_yet(slot);
}

}  // namespace pennyweight
