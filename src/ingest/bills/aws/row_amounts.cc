// AwsRowReader: the amounts of a row, its billed cost and those that its amortisation needs.
#include <fmt/format.h>

#include <array>
#include <string_view>
#include <utility>

#include "core/split.h"
#include "ingest/bills/aws/aws_names.h"
#include "ingest/bills/aws/aws_row_reader.h"
#include "ingest/bills/aws/service_category.h"
#include "ingest/bills/currency_code.h"
#include "ingest/bills/number.h"

namespace pennyweight::aws {

std::optional<bill::RowFault> AwsRowReader::read_number(Row& row, Column column,
                                                        std::optional<Decimal>& out) const {
  out.reset();
  const std::string_view digits = text(row, column);
  if (digits.empty()) return std::nullopt;
  const auto parsed = bill::parse_printed_number(digits);
  if (!parsed) return fault(column, parsed.error().message);
  row.rounded += parsed->rounded ? 1 : 0;
  out = parsed->value;
  return std::nullopt;
}

std::optional<bill::RowFault> AwsRowReader::read_money(Row& row, Column column,
                                                       std::optional<Money>& out) const {
  std::optional<Decimal> number;
  if (auto bad = read_number(row, column, number)) return bad;
  out.reset();
  if (number) out = Money::from_decimal(*number, row.currency);
  return std::nullopt;
}

// Legacy reports have net columns only for accounts with a discount; CUR 2.0 always has them, and
// may leave them empty.
std::optional<bill::RowFault> AwsRowReader::read_either(Row& row, Column net, Column gross,
                                                        std::optional<Money>& out) const {
  const Column column = text(row, net).empty() ? gross : net;
  if (auto bad = read_money(row, column, out)) return bad;
  if (out) row.taken.set(static_cast<std::size_t>(column));
  return std::nullopt;
}

std::optional<bill::RowFault> AwsRowReader::read_currency(Row& row) {
  const std::string_view code = take(row, Column::kCurrencyCode);
  const auto currency = currency_parser_.parse(code);
  if (!currency) {
    return fault(Column::kCurrencyCode,
                 fmt::format("'{}' is not a currency of ISO 4217; write a code such as USD",
                             code.substr(0, 60)));
  }
  row.currency = *currency;
  return std::nullopt;
}

std::optional<bill::RowFault> AwsRowReader::read_amounts(Row& row, Amounts& out) const {
  std::optional<Money> billed;
  row.net = !text(row, Column::kNetUnblendedCost).empty();
  if (auto bad = read_either(row, Column::kNetUnblendedCost, Column::kUnblendedCost, billed)) {
    return bad;
  }
  if (!billed) {
    return fault(Column::kUnblendedCost,
                 "is empty; every line of a report has a cost, 0 where it is free");
  }
  out.unblended = *billed;
  if (auto bad = read_money(row, Column::kPublicOnDemandCost, out.public_on_demand)) return bad;
  switch (row.facts.type) {
    case LineItem::kSavingsPlanCoveredUsage:
    case LineItem::kDiscountedUsage:
      return read_covered(row, out);
    case LineItem::kSavingsPlanRecurringFee:
      return read_unused_plan(row, out);
    case LineItem::kRiFee:
      return read_unused_reservation(row, out);
    case LineItem::kUsage:
    case LineItem::kFee:
    case LineItem::kSavingsPlanNegation:
    case LineItem::kSavingsPlanUpfrontFee:
    case LineItem::kCredit:
    case LineItem::kRefund:
    case LineItem::kTax:
    case LineItem::kDiscount:
    case LineItem::kFlatRateSubscription:
      return std::nullopt;
  }
  return std::nullopt;
}

std::optional<bill::RowFault> AwsRowReader::read_covered(Row& row, Amounts& out) const {
  const bool of_plan = row.facts.type == LineItem::kSavingsPlanCoveredUsage;
  const Column gross = of_plan ? Column::kPlanEffectiveCost : Column::kReservationEffectiveCost;
  const Column net = of_plan ? Column::kPlanNetEffectiveCost : Column::kReservationNetEffectiveCost;
  if (auto bad = read_either(row, net, gross, out.covered_effective)) return bad;
  if (out.covered_effective) return std::nullopt;
  // AWS states none for reservations of Dedicated Hosts, and counts them as 0.
  if (!of_plan && (plan_.has(gross) || plan_.has(net))) {
    out.covered_effective = Money::zero(row.currency);
    row.without_effective = true;
    return std::nullopt;
  }
  return fault(gross,
               "is missing, and without it the EffectiveCost of what a commitment covers is not "
               "known; export the report with it");
}

std::optional<bill::RowFault> AwsRowReader::read_unused_reservation(Row& row, Amounts& out) const {
  std::optional<Money> upfront;
  std::optional<Money> recurring;
  if (auto bad = read_either(row, Column::kReservationNetUnusedUpfrontFee,
                             Column::kReservationUnusedUpfrontFee, upfront)) {
    return bad;
  }
  if (auto bad = read_either(row, Column::kReservationNetUnusedRecurringFee,
                             Column::kReservationUnusedRecurringFee, recurring)) {
    return bad;
  }
  const bool has_columns = (plan_.has(Column::kReservationUnusedUpfrontFee) ||
                            plan_.has(Column::kReservationNetUnusedUpfrontFee)) &&
                           (plan_.has(Column::kReservationUnusedRecurringFee) ||
                            plan_.has(Column::kReservationNetUnusedRecurringFee));
  if (!has_columns) {
    return fault(Column::kReservationUnusedRecurringFee,
                 "or the unused upfront fee is missing, and without them what was not used of the "
                 "reservation is not known; export the report with both");
  }
  row.without_effective = !upfront && !recurring;
  const Money none = Money::zero(row.currency);
  out.unused = upfront.value_or(none) + recurring.value_or(none);
  return std::nullopt;
}

std::optional<bill::RowFault> AwsRowReader::read_unused_plan(Row& row, Amounts& out) const {
  std::optional<Money> total;
  std::optional<Money> used;
  std::optional<Money> upfront;
  std::optional<Money> recurring;
  if (auto bad = read_money(row, Column::kPlanTotalCommitment, total)) return bad;
  if (auto bad = read_money(row, Column::kPlanUsedCommitment, used)) return bad;
  if (auto bad = read_money(row, Column::kPlanAmortizedUpfront, upfront)) return bad;
  if (auto bad = read_money(row, Column::kPlanRecurring, recurring)) return bad;
  const Money none = Money::zero(row.currency);
  // AWS's older rule, for reports without the total.
  if (!total && (upfront || recurring)) total = upfront.value_or(none) + recurring.value_or(none);
  if (!total || !used) {
    return fault(total ? Column::kPlanUsedCommitment : Column::kPlanTotalCommitment,
                 "is missing, and without it what was not used of the Savings Plan is not known; "
                 "export the report with it");
  }
  const Money unused = *total - *used;
  out.unused = unused;

  // The fee after discounts is split into used and unused like the commitment.
  std::optional<Money> net_upfront;
  std::optional<Money> net_recurring;
  if (auto bad = read_money(row, Column::kPlanNetAmortizedUpfront, net_upfront)) return bad;
  if (auto bad = read_money(row, Column::kPlanNetRecurring, net_recurring)) return bad;
  if (!row.net || (!net_upfront && !net_recurring)) return std::nullopt;
  if (used->is_negative() || unused.is_negative() || total->is_zero()) return std::nullopt;
  const std::array<Weight, 2> parts = {static_cast<Weight>(used->ticks()),
                                       static_cast<Weight>(unused.ticks())};
  out.unused = split(net_upfront.value_or(none) + net_recurring.value_or(none), parts)[1];
  return std::nullopt;
}

// FOCUS: quantities and unit prices are null without a SkuPriceId, and prices are never negative.
std::optional<bill::RowFault> AwsRowReader::read_prices(Row& row, Charge& charge) const {
  std::optional<Decimal> amount;
  std::optional<Decimal> list;
  std::optional<Decimal> own;
  const Column rate = row.net && !text(row, Column::kNetUnblendedRate).empty()
                          ? Column::kNetUnblendedRate
                          : Column::kUnblendedRate;
  if (auto bad = read_number(row, Column::kUsageAmount, amount)) return bad;
  if (auto bad = read_number(row, Column::kPublicOnDemandRate, list)) return bad;
  if (auto bad = read_number(row, rate, own)) return bad;
  const bool priced = charge.charge_category == ChargeCategory::kUsage ||
                      charge.charge_category == ChargeCategory::kPurchase;
  if (!priced || charge.sku_price_id.empty()) return std::nullopt;

  const std::string_view unit = text(row, Column::kPricingUnit);
  const std::string_view unit_of_focus = focus_unit(unit);
  if (unit == unit_of_focus) row.taken.set(static_cast<std::size_t>(Column::kPricingUnit));
  if (amount) {
    charge.pricing_quantity = amount;
    charge.pricing_unit = unit_of_focus;
    row.taken.set(static_cast<std::size_t>(Column::kUsageAmount));
    if (charge.charge_category == ChargeCategory::kUsage) {
      charge.consumed_quantity = amount;
      charge.consumed_unit = unit_of_focus;
    }
  }
  if (list && !list->is_negative()) {
    charge.list_unit_price = list;
    row.taken.set(static_cast<std::size_t>(Column::kPublicOnDemandRate));
  }
  // Usage that a reservation covers is billed at 0; its contracted price is the on-demand price.
  if (row.facts.type == LineItem::kDiscountedUsage) {
    charge.contracted_unit_price = charge.list_unit_price;
  } else if (own && !own->is_negative()) {
    charge.contracted_unit_price = own;
    row.taken.set(static_cast<std::size_t>(rate));
  }
  if (charge.charge_category == ChargeCategory::kPurchase && !charge.list_unit_price) {
    charge.list_unit_price = charge.contracted_unit_price;
  }
  return std::nullopt;
}

}  // namespace pennyweight::aws
