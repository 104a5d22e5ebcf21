// Over any rows, nothing is lost: what is billed, and what is effective, is cost and credits.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "ingest/bills/gcp/gcp_testing.h"
#include "ingest/bills/number.h"

namespace pennyweight::gcp {
namespace {

std::string amount(bool negative) {
  const auto ticks = *rc::gen::inRange<std::int64_t>(0, 900'000'000'000'000'000);
  const auto units = *rc::gen::weightedElement<int>({{8, 0}, {2, 12}, {1, 123456}});
  const Decimal value = Decimal::from_ticks(Int128{units} * Decimal::kTicksPerUnit + ticks);
  return to_text(negative ? -value : value);
}

Cells any_row(Money& paid) {
  const auto add = [&paid](const std::string& text) {
    paid += Money::from_decimal(bill::parse_number(text)->value, kUsd);
  };
  Cells changed;
  const bool negated = *rc::gen::weightedElement<bool>({{5, false}, {1, true}});
  changed["cost"] = *rc::gen::weightedElement<int>({{5, 1}, {1, 0}}) == 0 ? "0" : amount(negated);
  add(changed["cost"]);
  changed["cost_type"] = *rc::gen::weightedElement<std::string>(
      {{8, "regular"}, {1, "tax"}, {1, "adjustment"}, {1, "rounding_error"}, {1, ""}});
  changed["sku.description"] = *rc::gen::element<std::string>(
      "Nvidia H100 80GB GPU running in Iowa", "Spot Preemptible A3 Instance Core",
      "Commitment v1: A3 Core in Iowa for 1 Year", "Compute Flexible Committed Use Discounts");
  changed["subscription.instance_id"] = *rc::gen::element<std::string>("", "", "subscriptions/1");
  changed["consumption_model.description"] =
      *rc::gen::element<std::string>("", "Default", "Compute Flexible CUDs 1 Year");
  changed["price.effective_price"] = *rc::gen::element<std::string>("", "1", "9.79");
  changed["cost_at_list"] = *rc::gen::element<std::string>("", "7.000000000000000001", "-3");
  changed["labels"] =
      *rc::gen::element<std::string>("[]", R"([{"key":"goog-originating-sku-id","value":"AAAA"}])");
  std::string credits;
  const int count = *rc::gen::inRange(0, 4);
  for (int i = 0; i < count; ++i) {
    const std::string type = *rc::gen::element<std::string>(
        "COMMITTED_USAGE_DISCOUNT", "COMMITTED_USAGE_DISCOUNT_DOLLAR_BASE",
        "FEE_UTILIZATION_OFFSET", "SUSTAINED_USAGE_DISCOUNT", "DISCOUNT", "PROMOTION", "",
        "RESELLER_MARGIN", "FREE_TIER", "NEW");
    const std::string value = *rc::gen::weightedElement<int>({{4, 1}, {1, 0}}) == 0
                                  ? *rc::gen::element<std::string>("0", "-78.37")
                                  : amount(!negated);
    add(value);
    credits += (credits.empty() ? "" : ",") + std::string(R"({"type":")") + type +
               R"(","id":"c","amount":)" + value + "}";
  }
  changed["credits"] = "[" + credits + "]";
  return usage_row(changed);
}

RC_GTEST_PROP(GcpBillProperty, WhatIsBilledAndWhatIsEffectiveIsCostAndCredits, ()) {
  Money paid = Money::zero(kUsd);
  std::vector<Cells> rows;
  const int count = *rc::gen::inRange(1, 6);
  for (int i = 0; i < count; ++i) rows.push_back(any_row(paid));
  const Imported imported = import_rows(rows);
  RC_ASSERT(imported.error.empty());
  RC_ASSERT(imported.bad.empty());
  Costs sum = Costs::zero(kUsd);
  for (const Charge& line : imported.lines) {
    sum += line.costs;
    RC_ASSERT(line.commitment_discount_id.empty() == line.commitment_discount_category.empty());
    RC_ASSERT(line.pricing_unit.empty() == !line.pricing_quantity.has_value());
    RC_ASSERT(line.consumed_unit.empty() == !line.consumed_quantity.has_value());
    RC_ASSERT(line.resource_id.empty() == line.resource_type.empty());
    RC_ASSERT(line.charge_frequency.has_value());
    const bool is_priced = line.charge_category == ChargeCategory::kUsage ||
                           line.charge_category == ChargeCategory::kPurchase;
    RC_ASSERT(is_priced == line.pricing_category.has_value());
    if (line.charge_category == ChargeCategory::kTax ||
        line.charge_category == ChargeCategory::kCredit) {
      RC_ASSERT(line.costs.effective == line.costs.billed);
    }
    if (line.charge_category != ChargeCategory::kUsage ||
        line.commitment_discount_status == UsedOrUnused::kUnused) {
      RC_ASSERT(!line.consumed_quantity);
    }
    if (line.charge_category == ChargeCategory::kUsage && !line.commitment_discount_id.empty()) {
      RC_ASSERT(line.commitment_discount_status.has_value());
    }
  }
  RC_ASSERT(sum.billed == paid);
  RC_ASSERT(sum.effective == paid);
}

}  // namespace
}  // namespace pennyweight::gcp
