// LineItem: what each type of line item of a Cost and Usage Report is in FOCUS, and its billed and
// effective cost. Pure: amounts in, amounts out.
//
// Billed. The BilledCost of a row's charges always adds up to what AWS invoices for the row:
// net_unblended_cost if the row has one, else unblended_cost.
//
// Effective. AWS's own rule of amortised cost (Cloud Intelligence Dashboards, summary_view.sql):
//   SavingsPlanCoveredUsage   savings_plan_effective_cost
//   SavingsPlanRecurringFee   total_commitment_to_date - used_commitment, the unused rest
//   SavingsPlanNegation       0
//   SavingsPlanUpfrontFee     0
//   DiscountedUsage           reservation effective_cost
//   RIFee                     unused_amortized_upfront_fee + unused_recurring_fee
//   Fee with a reservation    0
//   Refund of the one-time fee of a Savings Plan   0
//   every other               unblended_cost
//
// A row becomes two charges where FOCUS wants two:
//   * Usage under a Savings Plan. AWS bills it at the on-demand price and takes that back in a
//     SavingsPlanNegation of the same hour, which names no resource. FOCUS: BilledCost of covered
//     usage is 0. So the usage is one charge with BilledCost 0, and what AWS billed and took back
//     are Adjustments without a resource, with EffectiveCost 0, that add up to 0.
//   * A fee of a commitment: a Purchase with the BilledCost and EffectiveCost 0, and the
//     unused rest as Usage, Unused, with BilledCost 0.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/money.h"
#include "ledger/charge.h"

namespace pennyweight::aws {

enum class LineItem : std::uint8_t {
  kUsage,
  kDiscountedUsage,
  kRiFee,
  kFee,
  kSavingsPlanCoveredUsage,
  kSavingsPlanNegation,
  kSavingsPlanRecurringFee,
  kSavingsPlanUpfrontFee,
  kCredit,
  kRefund,
  kTax,
  kDiscount,  // EdpDiscount, PrivateRateDiscount, BundledDiscount and the like
  kFlatRateSubscription,
};

// Nothing for a type that AWS does not document.
std::optional<LineItem> parse_line_item(std::string_view text);
// All that parse_line_item knows, for the reason of a row that is set aside.
std::string_view known_line_items();

// What a refund gives back decides its category.
enum class Refunded { kUsage, kPlanUpfrontFee, kReservation, kTax, kOther };

struct Amounts {
  Money unblended;                         // net if the row has a net cost
  std::optional<Money> public_on_demand;   // pricing_public_on_demand_cost
  std::optional<Money> covered_effective;  // of DiscountedUsage, SavingsPlanCoveredUsage
  std::optional<Money> unused;             // of RIFee, SavingsPlanRecurringFee
};

// What a row becomes: one charge, and for some rows a second.
enum class Second { kNone, kOffsetUsage, kUnusedCommitment };
struct Treatment {
  ChargeCategory category = ChargeCategory::kUsage;
  ChargeFrequency frequency = ChargeFrequency::kUsageBased;
  Costs costs;
  Second second = Second::kNone;
  Costs second_costs;
};

struct LineItemFacts {
  LineItem type;
  bool of_reservation = false;  // the row names a reservation
  Refunded refunded = Refunded::kOther;
};

// REQUIRES: covered_effective for covered usage, unused for fees of commitments.
// ENSURES: the billed cost of both charges adds up to amounts.unblended.
Treatment treat(const LineItemFacts& facts, const Amounts& amounts);

}  // namespace pennyweight::aws
