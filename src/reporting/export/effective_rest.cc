#include "reporting/export/effective_rest.h"

#include <cstddef>

#include "core/hash.h"

namespace pennyweight {
namespace {

// What EffectiveCost is set to: 0 on a purchase, BilledCost on taxes and credits.
bool is_covering_purchase(const Charge& charge) {
  return charge.charge_category == ChargeCategory::kPurchase &&
         !charge.commitment_discount_id.empty();
}

bool equals_billed(const Charge& charge, FocusVersion version) {
  return version == FocusVersion::k1_4 && (charge.charge_category == ChargeCategory::kTax ||
                                           charge.charge_category == ChargeCategory::kCredit);
}

}  // namespace

std::optional<PartedCharge> part_effective_cost(const Charge& charge, FocusVersion version) {
  Money allowed = charge.costs.effective;
  if (is_covering_purchase(charge)) allowed = Money::zero(charge.costs.currency());
  if (equals_billed(charge, version)) allowed = charge.costs.billed;
  if (allowed == charge.costs.effective) return std::nullopt;
  PartedCharge parted{charge, charge};
  parted.line.costs.effective = allowed;
  Charge& rest = parted.rest;
  rest.costs = Costs::zero(charge.costs.currency());
  rest.costs.effective = charge.costs.effective - allowed;
  rest.charge_category = ChargeCategory::kAdjustment;
  rest.charge_description = "Effective cost of: " + charge.charge_description;
  rest.sku_price_id.clear();
  rest.commitment_discount_status.reset();
  rest.id = FactId{Fingerprint().add("effective cost of").add(to_text(charge.id)).hash()};
  return parted;
}

PartedShares part_shares(std::span<const ChargeShare> shares, const PartedCharge& parted) {
  const bool is_zero = is_covering_purchase(parted.line);
  PartedShares result{{shares.begin(), shares.end()}, {shares.begin(), shares.end()}};
  for (std::size_t i = 0; i < shares.size(); ++i) {
    ChargeShare& line = result.line[i];
    ChargeShare& rest = result.rest[i];
    const Money none = Money::zero(line.costs.currency());
    line.costs.effective = is_zero ? none : line.costs.billed;
    line.held_idle_effective = is_zero ? none : line.held_idle_billed;
    rest.charge = parted.rest.id;
    rest.costs = Costs::zero(line.costs.currency());
    rest.costs.effective = shares[i].costs.effective - line.costs.effective;
    rest.held_idle_billed = none;
    rest.held_idle_effective = shares[i].held_idle_effective - line.held_idle_effective;
    rest.gpu_time = {};
  }
  return result;
}

}  // namespace pennyweight
