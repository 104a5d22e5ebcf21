#include "compare/slot.h"

#include <algorithm>

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

SlotCosts opencost(const Slot& slot) {
  SlotCosts result = nothing_yet(slot);
  result.idle = slot.costs.sum();
  for (std::size_t i = 0; i < slot.claims.size(); ++i) {
    const Claim& claim = slot.claims[i];
    CHECK(claim.gpu, "OpenCost counts every request, if only as none");
    result.claims[i] = {part_of(slot.costs.gpu, *claim.gpu, slot.capacity.gpu),
                        part_of(slot.costs.cpu, claim.cpu, slot.capacity.cpu),
                        part_of(slot.costs.memory, claim.memory, slot.capacity.memory)};
    result.idle = result.idle - result.claims[i].sum();
  }
  return result;
}

// All of `cost` to the claims by what they are allocated; to idle where nobody is.
template <class Amount, class Give>
void share_all(Money cost, const std::vector<Claim>& claims, Money& idle, Amount amount,
               Give give) {
  std::vector<Weight> weights;
  Weight sum = 0;
  for (const Claim& claim : claims) {
    weights.push_back(amount(claim));
    sum += weights.back();
  }
  if (sum == 0) {
    idle += cost;
    return;
  }
  const std::vector<Money> shares = split(cost, weights);
  for (std::size_t i = 0; i < shares.size(); ++i) give(i, shares[i]);
}

SlotCosts aws_scad(const Slot& slot) {
  SlotCosts result = nothing_yet(slot);
  const bool documented = std::all_of(slot.claims.begin(), slot.claims.end(),
                                      [](const Claim& claim) { return claim.gpu.has_value(); });
  if (documented) {
    share_all(
        slot.costs.gpu, slot.claims, result.idle, [](const Claim& claim) { return *claim.gpu; },
        [&](std::size_t i, Money share) { result.claims[i].gpu = share; });
  } else {
    result.undocumented += slot.costs.gpu;
  }
  share_all(
      slot.costs.cpu, slot.claims, result.idle, [](const Claim& claim) { return claim.cpu; },
      [&](std::size_t i, Money share) { result.claims[i].cpu = share; });
  share_all(
      slot.costs.memory, slot.claims, result.idle, [](const Claim& claim) { return claim.memory; },
      [&](std::size_t i, Money share) { result.claims[i].memory = share; });
  return result;
}

SlotCosts koku(const Slot& slot) {
  SlotCosts result = nothing_yet(slot);
  if (slot.capacity.gpu == 0) return result;
  UInt128 held = 0;
  for (std::size_t i = 0; i < slot.claims.size(); ++i) {
    if (!slot.claims[i].gpu) continue;
    held += *slot.claims[i].gpu;
    result.claims[i].gpu = part_of(slot.costs.gpu, *slot.claims[i].gpu, slot.capacity.gpu);
  }
  if (held > 0 && held < slot.capacity.gpu) {
    result.idle = part_of(slot.costs.gpu, slot.capacity.gpu - held, slot.capacity.gpu);
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
