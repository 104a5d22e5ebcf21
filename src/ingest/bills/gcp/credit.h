// Credits: the reductions of a row's cost in Google's export, and the kind of each.
//
// Rows have their cost before credits; cost + Σ credits is what is paid. FOCUS has two places for a
// reduction: a lower price is part of the BilledCost of the usage itself, while a voucher or an
// incentive is a charge of its own, of category Credit.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/decimal.h"
#include "core/error.h"

namespace pennyweight::gcp {

enum class CreditKind {
  kReducedPrice,  // sustained use, spending-based, reseller's and subscription discounts, free tier
  kUsageCovered,  // by a resource-based commitment, whose fee is another row
  kSpendCovered,  // by a spend-based commitment of the older model, likewise
  kFeeOffset,     // reduces a commitment's fee by what was used of it (the newer model)
  kOwnCharge,     // promotions, trials and unknown types
};

struct Credit {
  CreditKind kind = CreditKind::kOwnCharge;
  Decimal amount;  // negative for a reduction
  std::string id;
  std::string name;
  std::string full_name;
  std::string type;
  // What else the export says of it, by the names in other_columns, sorted.
  std::vector<std::pair<std::string, std::string>> others;
};

struct Credits {
  std::vector<Credit> all;
  std::string text;         // the list, normalised; empty: no credits
  std::size_t rounded = 0;  // amounts that had digits beyond 10^-18
};

// The column `credits`: a JSON list of records. An Error for anything else: money is in it.
Result<Credits> parse_credits(std::string_view json);

}  // namespace pennyweight::gcp
