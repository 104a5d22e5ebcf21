// What a month costs by how it was bought: on demand, spot, and each kind of commitment.
#pragma once

#include <map>
#include <span>
#include <string>

#include "core/money.h"
#include "ledger/charge.h"

namespace pennyweight::what_if {

// By currency and tier. The amounts of a currency add up to its charges' exactly.
using TierCosts = std::map<Currency, std::map<std::string, Money>>;

// "on demand", "spot", "committed (Savings Plan)", "committed (Savings Plan), unused", or "other":
// what the bill gives no pricing category, such as taxes and fees. A commitment's kind is FOCUS's
// CommitmentDiscountType, in the provider's words; "committed" alone where the bill names none.
std::string price_tier(const Charge& charge);

TierCosts tier_costs(std::span<const Charge> charges, Money Costs::* cost);

}  // namespace pennyweight::what_if
