#include "ingest/bills/aws/line_item.h"

#include <utility>

#include "core/check.h"

namespace pennyweight::aws {
namespace {

// Source: AWS Data Exports user guide, "Line item columns", lineItem/LineItemType; and the types
// that AWS's own queries (Cloud Intelligence Dashboards, CUR query library) tell apart.
constexpr std::pair<std::string_view, LineItem> kTypes[] = {
    {"Usage", LineItem::kUsage},
    {"DiscountedUsage", LineItem::kDiscountedUsage},
    {"RIFee", LineItem::kRiFee},
    {"Fee", LineItem::kFee},
    {"SavingsPlanCoveredUsage", LineItem::kSavingsPlanCoveredUsage},
    {"SavingsPlanNegation", LineItem::kSavingsPlanNegation},
    {"SavingsPlanRecurringFee", LineItem::kSavingsPlanRecurringFee},
    {"SavingsPlanUpfrontFee", LineItem::kSavingsPlanUpfrontFee},
    {"Credit", LineItem::kCredit},
    {"Refund", LineItem::kRefund},
    {"Tax", LineItem::kTax},
    {"EdpDiscount", LineItem::kDiscount},
    {"PrivateRateDiscount", LineItem::kDiscount},
    {"BundledDiscount", LineItem::kDiscount},
    {"SppDiscount", LineItem::kDiscount},
    {"RiVolumeDiscount", LineItem::kDiscount},
    {"Discount", LineItem::kDiscount},
    {"FlatRateSubscription", LineItem::kFlatRateSubscription},
};

Money required(const std::optional<Money>& amount) {
  CHECK(amount.has_value(), "a row without it is set aside before it is treated");
  return *amount;
}

Costs alike(Money amount) {
  return {.billed = amount, .effective = amount, .list = amount, .contracted = amount};
}

Treatment plain(ChargeCategory category, ChargeFrequency frequency, const Costs& costs) {
  return {.category = category,
          .frequency = frequency,
          .costs = costs,
          .second = Second::kNone,
          .second_costs = Costs::zero(costs.currency())};
}

Treatment usage(const Amounts& of) {
  Costs costs = alike(of.unblended);
  costs.list = of.public_on_demand.value_or(of.unblended);
  return plain(ChargeCategory::kUsage, ChargeFrequency::kUsageBased, costs);
}

// AWS bills nothing for usage that a reservation covers; its contracted price is the on-demand
// price.
Treatment discounted_usage(const Amounts& of) {
  const Money effective = required(of.covered_effective);
  const Money list = of.public_on_demand.value_or(effective);
  return plain(ChargeCategory::kUsage, ChargeFrequency::kUsageBased,
               {.billed = of.unblended, .effective = effective, .list = list, .contracted = list});
}

Treatment plan_covered_usage(const Amounts& of) {
  const Money none = Money::zero(of.unblended.currency());
  Treatment treatment = plain(ChargeCategory::kUsage, ChargeFrequency::kUsageBased,
                              {.billed = none,
                               .effective = required(of.covered_effective),
                               .list = of.public_on_demand.value_or(of.unblended),
                               .contracted = of.unblended});
  if (of.unblended.is_zero()) return treatment;
  treatment.second = Second::kOffsetUsage;
  treatment.second_costs.billed = of.unblended;
  return treatment;
}

Treatment covering_purchase(ChargeFrequency frequency, const Amounts& of) {
  Costs costs = alike(of.unblended);
  costs.effective = Money::zero(of.unblended.currency());
  return plain(ChargeCategory::kPurchase, frequency, costs);
}

Treatment commitment_fee(const Amounts& of) {
  Treatment treatment = covering_purchase(ChargeFrequency::kRecurring, of);
  const Money unused = required(of.unused);
  if (unused.is_zero()) return treatment;
  treatment.second = Second::kUnusedCommitment;
  treatment.second_costs.effective = unused;
  return treatment;
}

Treatment negation(const Amounts& of) {
  Costs costs = Costs::zero(of.unblended.currency());
  costs.billed = of.unblended;
  return plain(ChargeCategory::kAdjustment, ChargeFrequency::kUsageBased, costs);
}

// A discount is not part of the list cost.
Treatment discount(const Amounts& of) {
  Costs costs = alike(of.unblended);
  costs.list = Money::zero(of.unblended.currency());
  return plain(ChargeCategory::kAdjustment, ChargeFrequency::kUsageBased, costs);
}

Treatment refund(Refunded refunded, const Amounts& of) {
  const Costs costs = alike(of.unblended);
  switch (refunded) {
    case Refunded::kUsage:
      return plain(ChargeCategory::kUsage, ChargeFrequency::kUsageBased, costs);
    case Refunded::kPlanUpfrontFee:
      return covering_purchase(ChargeFrequency::kOneTime, of);
    case Refunded::kTax:
      return plain(ChargeCategory::kTax, ChargeFrequency::kOneTime, costs);
    // In AWS's rule the refund of a reservation counts in full in the amortised view. FOCUS allows
    // that of an Adjustment, not of the Purchase of a commitment.
    case Refunded::kReservation:
    case Refunded::kOther:
      return plain(ChargeCategory::kAdjustment, ChargeFrequency::kOneTime, costs);
  }
  CHECK(false, "every Refunded has its case");
}

}  // namespace

std::optional<LineItem> parse_line_item(std::string_view text) {
  for (const auto& [name, type] : kTypes) {
    if (name == text) return type;
  }
  return std::nullopt;
}

std::string_view known_line_items() {
  return "Usage, DiscountedUsage, RIFee, Fee, SavingsPlanCoveredUsage, SavingsPlanNegation, "
         "SavingsPlanRecurringFee, SavingsPlanUpfrontFee, Credit, Refund, Tax, EdpDiscount, "
         "PrivateRateDiscount, BundledDiscount, SppDiscount, RiVolumeDiscount, Discount, "
         "FlatRateSubscription";
}

Treatment treat(const LineItemFacts& facts, const Amounts& amounts) {
  switch (facts.type) {
    case LineItem::kUsage:
      return usage(amounts);
    case LineItem::kDiscountedUsage:
      return discounted_usage(amounts);
    case LineItem::kSavingsPlanCoveredUsage:
      return plan_covered_usage(amounts);
    case LineItem::kSavingsPlanNegation:
      return negation(amounts);
    case LineItem::kRiFee:
    case LineItem::kSavingsPlanRecurringFee:
      return commitment_fee(amounts);
    case LineItem::kSavingsPlanUpfrontFee:
      return covering_purchase(ChargeFrequency::kOneTime, amounts);
    case LineItem::kFee:
      if (facts.of_reservation) return covering_purchase(ChargeFrequency::kOneTime, amounts);
      return plain(ChargeCategory::kPurchase, ChargeFrequency::kOneTime, alike(amounts.unblended));
    case LineItem::kFlatRateSubscription:
      return plain(ChargeCategory::kPurchase, ChargeFrequency::kRecurring,
                   alike(amounts.unblended));
    case LineItem::kCredit:
      return plain(ChargeCategory::kCredit, ChargeFrequency::kOneTime, alike(amounts.unblended));
    case LineItem::kTax:
      return plain(ChargeCategory::kTax, ChargeFrequency::kOneTime, alike(amounts.unblended));
    case LineItem::kDiscount:
      return discount(amounts);
    case LineItem::kRefund:
      return refund(facts.refunded, amounts);
  }
  CHECK(false, "every LineItem has its case");
}

}  // namespace pennyweight::aws
