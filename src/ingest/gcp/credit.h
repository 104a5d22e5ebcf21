// Credits: what Google takes off a line of its bill, and which kind of thing each is.
//
// The rows carry cost before credits; cost + Σ credits is what is paid. FOCUS has two places for
// what is taken off: a reduced price belongs into the BilledCost of the usage itself, while a
// voucher or an incentive is a charge of its own, of category Credit.
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
  kUsageCovered,  // by a resource-based commitment, whose fee is a line elsewhere
  kSpendCovered,  // by a spend-based commitment of the older model, likewise
  kFeeOffset,     // of a commitment's fee, by what was used of it (the newer model)
  kOwnCharge,     // promotions, trials and whatever has a type unheard of
};

struct Credit {
  CreditKind kind = CreditKind::kOwnCharge;
  Decimal amount;  // negative where it takes off
  std::string id;
  std::string name;
  std::string full_name;
  std::string type;
  // What else the export says of it, under the names by which it is kept, sorted.
  std::vector<std::pair<std::string, std::string>> others;
};

struct Credits {
  std::vector<Credit> all;
  std::string text;         // the list again, in one spelling; empty: no credits
  std::size_t rounded = 0;  // amounts that had digits beyond 10^-18
};

// The column `credits`: a JSON list of records. An Error for anything else: money is in it.
Result<Credits> parse_credits(std::string_view json);

}  // namespace pennyweight::gcp
