#include "insight/what_if/tier_costs.h"

namespace pennyweight::what_if {

std::string price_tier(const Charge& charge) {
  const bool is_committed = charge.pricing_category == PricingCategory::kCommitted ||
                            !charge.commitment_discount_id.empty() ||
                            charge.commitment_discount_status.has_value();
  if (is_committed) {
    std::string tier = "committed";
    if (!charge.commitment_discount_type.empty()) {
      tier += " (" + charge.commitment_discount_type + ")";
    }
    if (charge.commitment_discount_status == UsedOrUnused::kUnused) tier += ", unused";
    return tier;
  }
  if (charge.pricing_category == PricingCategory::kStandard) return "on demand";
  if (charge.pricing_category == PricingCategory::kDynamic) return "spot";
  return "other";
}

TierCosts tier_costs(std::span<const Charge> charges, Money Costs::* cost) {
  TierCosts sums;
  for (const Charge& charge : charges) {
    const Money amount = charge.costs.*cost;
    const auto [sum, is_new] =
        sums[charge.costs.currency()].try_emplace(price_tier(charge), amount);
    if (!is_new) sum->second += amount;
  }
  return sums;
}

}  // namespace pennyweight::what_if
