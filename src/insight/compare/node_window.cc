#include "insight/compare/node_window.h"

#include <algorithm>
#include <array>

#include "core/check.h"
#include "core/split.h"

namespace pennyweight {
namespace {

// cost · part / whole, towards zero; nothing where the whole is zero.
Money part_of(Money cost, UInt128 part, UInt128 whole) {
  if (whole == 0) return Money::zero(cost.currency());
  const Money size = cost.is_negative() ? -cost : cost;
  const UInt128 ticks = multiply_divide(static_cast<UInt128>(size.ticks()), part, whole).quotient;
  const Money share = Money::from_ticks(static_cast<Int128>(ticks), cost.currency());
  return cost.is_negative() ? -share : share;
}

WindowCosts nothing_yet(const NodeWindow& window) {
  const Currency currency = window.costs.gpu.currency();
  return {std::vector(window.claims.size(), ComponentCosts::zero(currency)), Money::zero(currency),
          Money::zero(currency)};
}

// What each of `parts` of `whole` costs at the unit price. While they do not exceed the whole, the
// rest takes part in the division, so that a whole GPU costs exactly its price. Beyond, each is
// rounded down.
std::vector<Money> at_unit_price(Money cost, std::vector<Weight> parts, UInt128 whole) {
  UInt128 requested = 0;
  for (const Weight& part : parts) requested += part;
  std::vector<Money> costs;
  if (requested > whole || whole == 0) {
    for (const Weight& part : parts) costs.push_back(part_of(cost, part, whole));
    return costs;
  }
  parts.push_back(whole - requested);
  costs = split(cost, parts);
  costs.pop_back();
  return costs;
}

template <class Amount>
std::vector<Weight> amounts(const NodeWindow& window, Amount amount) {
  std::vector<Weight> weights;
  for (const WindowClaim& claim : window.claims) weights.push_back(amount(claim));
  return weights;
}

WindowCosts opencost(const NodeWindow& window) {
  WindowCosts result = nothing_yet(window);
  result.idle = window.costs.sum();
  const auto requested = [](const WindowClaim& claim) {
    CHECK(claim.gpu, "OpenCost counts every request, if only as none");
    return *claim.gpu;
  };
  const auto gpu = at_unit_price(window.costs.gpu, amounts(window, requested), window.capacity.gpu);
  const auto cpu = at_unit_price(
      window.costs.cpu, amounts(window, [](const WindowClaim& claim) { return claim.cpu; }),
      window.capacity.cpu);
  const auto memory = at_unit_price(
      window.costs.memory, amounts(window, [](const WindowClaim& claim) { return claim.memory; }),
      window.capacity.memory);
  for (std::size_t i = 0; i < window.claims.size(); ++i) {
    result.claims[i] = {gpu[i], cpu[i], memory[i]};
    result.idle = result.idle - result.claims[i].sum();
  }
  return result;
}

// Gives all of `cost` to the claims by what they are allocated, or to idle without claims.
template <class Amount, class Give>
void share_all(Money cost, const NodeWindow& window, Money& idle, Amount amount, Give give) {
  const std::vector<Weight> weights = amounts(window, amount);
  if (std::all_of(weights.begin(), weights.end(), [](Weight weight) { return weight == 0; })) {
    idle += cost;
    return;
  }
  const std::vector<Money> shares = split(cost, weights);
  for (std::size_t i = 0; i < shares.size(); ++i) give(i, shares[i]);
}

// The fewest nodes that hold what is requested.
std::uint64_t busy_nodes(const NodeWindow& window) {
  if (window.nodes == 1 || window.claims.empty()) return window.nodes;
  ResourceTime requested;
  for (const WindowClaim& claim : window.claims) {
    requested.gpu += claim.gpu.value_or(0);
    requested.cpu += claim.cpu;
    requested.memory += claim.memory;
  }
  UInt128 most = 1;
  const auto fill = [&](UInt128 part, UInt128 whole) {
    if (part == 0 || whole == 0) return;
    const auto [nodes, rest] = multiply_divide(part, window.nodes, whole);
    most = std::max(most, nodes + (rest > 0 ? 1 : 0));
  };
  fill(requested.gpu, window.capacity.gpu);
  fill(requested.cpu, window.capacity.cpu);
  fill(requested.memory, window.capacity.memory);
  return static_cast<std::uint64_t>(std::min<UInt128>(most, window.nodes));
}

WindowCosts aws_scad(const NodeWindow& all) {
  WindowCosts result = nothing_yet(all);
  NodeWindow window = all;
  const std::array<Weight, 2> nodes = {busy_nodes(all), all.nodes - busy_nodes(all)};
  for (Money ComponentCosts::* part :
       {&ComponentCosts::gpu, &ComponentCosts::cpu, &ComponentCosts::memory}) {
    const std::vector<Money> costs = split(all.costs.*part, nodes);
    window.costs.*part = costs[0];
    result.idle += costs[1];
  }
  const bool documented =
      std::all_of(window.claims.begin(), window.claims.end(),
                  [](const WindowClaim& claim) { return claim.gpu.has_value(); });
  if (documented) {
    share_all(
        window.costs.gpu, window, result.idle, [](const WindowClaim& claim) { return *claim.gpu; },
        [&](std::size_t i, Money share) { result.claims[i].gpu = share; });
  } else {
    result.undocumented += window.costs.gpu;
  }
  share_all(
      window.costs.cpu, window, result.idle, [](const WindowClaim& claim) { return claim.cpu; },
      [&](std::size_t i, Money share) { result.claims[i].cpu = share; });
  share_all(
      window.costs.memory, window, result.idle,
      [](const WindowClaim& claim) { return claim.memory; },
      [&](std::size_t i, Money share) { result.claims[i].memory = share; });
  return result;
}

// What Koku takes off the node's capacity as used. Its SQL multiplies the capacity by the most
// slices that a GPU of the node has that day, but the uptime of a whole GPU by
// COALESCE(mig_slice_count, 1): once a pod with MIG is on the node, a whole GPU counts as one
// slice. Which of several nodes the holders of a pool are on is not known, so there it counts whole
// unless one node holds them all.
UInt128 used_of_koku(const NodeWindow& window) {
  UInt128 mig = 0;
  UInt128 whole = 0;
  std::uint64_t slices = 1;
  for (const WindowClaim& claim : window.claims) {
    (claim.slices > 1 ? mig : whole) += claim.gpu.value_or(0);
    slices = std::max(slices, claim.slices);
  }
  return mig + (busy_nodes(window) == 1 ? whole / slices : whole);
}

WindowCosts koku(const NodeWindow& window) {
  WindowCosts result = nothing_yet(window);
  if (window.capacity.gpu == 0) return result;
  const auto held = amounts(window, [](const WindowClaim& claim) { return claim.gpu.value_or(0); });
  const std::vector<Money> costs = at_unit_price(window.costs.gpu, held, window.capacity.gpu);
  Money sum = Money::zero(window.costs.gpu.currency());
  UInt128 all = 0;
  for (std::size_t i = 0; i < held.size(); ++i) {
    result.claims[i].gpu = costs[i];
    sum += costs[i];
    all += held[i];
  }
  const UInt128 busy =
      multiply_divide(window.capacity.gpu, busy_nodes(window), window.nodes).quotient;
  const UInt128 used = used_of_koku(window);
  if (all == 0 || used >= busy) return result;
  if (used == all) {
    const std::array<Weight, 2> nodes = {busy, window.capacity.gpu - busy};
    result.idle = split(window.costs.gpu, nodes)[0] - sum;
  } else {
    result.idle = part_of(window.costs.gpu, busy - used, window.capacity.gpu);
  }
  return result;
}

}  // namespace

WindowCosts price_window(Preset preset, const NodeWindow& window) {
  switch (preset) {
    case Preset::kOpenCost:
      return opencost(window);
    case Preset::kAwsScad:
      return aws_scad(window);
    case Preset::kKoku:
      return koku(window);
  }
  return nothing_yet(window);
}

}  // namespace pennyweight
