// Every column that FOCUS requires of a line of which the bill says next to nothing.
#include "reporting/export/focus_defaults.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "reporting/export/null_rules.h"

namespace pennyweight {
namespace {

Charge bare_line(ChargeCategory category) {
  Charge charge(Interval(*parse_instant("2026-03-01"), *parse_instant("2026-04-01")),
                Interval(*parse_instant("2026-03-05"), *parse_instant("2026-03-06")),
                Costs::zero(kUsd));
  charge.charge_category = category;
  charge.costs.billed = charge.costs.effective = charge.costs.list = charge.costs.contracted =
      Money::from_units(6, kUsd);
  return charge;
}

struct Filled {
  FocusTable table;
  FocusRow row;
  std::map<std::string, std::uint64_t> columns;
  std::string text(std::string_view column) const { return std::string(table.text(row, column)); }
  bool is_null(std::string_view column) const { return table.is_null(row, column); }
};

Filled filled(const Charge& charge, FocusVersion version = FocusVersion::k1_4) {
  Filled result{FocusTable(version, Fidelity::kConformant), {}, {}};
  EXPECT_TRUE(result.table.note({&charge, 1}));
  result.table.fix_columns();
  EXPECT_TRUE(result.table.fill(charge, result.row));
  NullRules(result.table).apply(result.row);
  FocusDefaults defaults(result.table);
  defaults.apply(result.row);
  defaults.fill_in(result.row);
  result.columns = defaults.filled();
  return result;
}

TEST(FocusDefaults, WhatUsageLacksIsFilledInAndCounted) {
  const Filled usage = filled(bare_line(ChargeCategory::kUsage));
  EXPECT_EQ(usage.text("SkuId"), "Unspecified");
  EXPECT_EQ(usage.text("SkuPriceId"), "Unspecified");
  EXPECT_EQ(usage.text("PricingCategory"), "Standard");
  EXPECT_EQ(usage.text("ChargeFrequency"), "Usage-Based");
  EXPECT_EQ(usage.text("ServiceCategory"), "Other");
  EXPECT_EQ(usage.text("ServiceSubcategory"), "Other (Other)");
  EXPECT_EQ(usage.text("ConsumedUnit"), "Units");
  EXPECT_EQ(usage.text("PricingUnit"), "Units");
  EXPECT_EQ(usage.text("BillingAccountType"), "Billing Account");
  EXPECT_EQ(usage.text("PricingCurrency"), "USD");
  EXPECT_TRUE(usage.is_null("SubAccountName"));
  EXPECT_TRUE(usage.is_null("RegionName"));
  for (const char* column : {"SkuId", "ServiceName", "ConsumedQuantity", "InvoiceIssuerName"}) {
    EXPECT_EQ(usage.columns.at(column), 1u) << column;
  }
  EXPECT_FALSE(usage.columns.contains("BilledCost"));
}

TEST(FocusDefaults, NamesAreTheIdsWhereTheBillHasNoOther) {
  Charge charge = bare_line(ChargeCategory::kTax);
  charge.billing_account_id = "b-1";
  charge.sub_account_id = "s-1";
  charge.region_id = "eu-1";
  charge.service_provider_name = "Microsoft";
  const Filled tax = filled(charge);
  EXPECT_EQ(tax.text("BillingAccountName"), "b-1");
  EXPECT_EQ(tax.text("SubAccountName"), "s-1");
  EXPECT_EQ(tax.text("SubAccountType"), "Subscription");
  EXPECT_EQ(tax.text("RegionName"), "eu-1");
  EXPECT_EQ(tax.text("InvoiceIssuerName"), "Microsoft");
  EXPECT_EQ(tax.text("ChargeFrequency"), "One-Time");
  EXPECT_TRUE(tax.is_null("SkuId"));
  EXPECT_TRUE(tax.is_null("PricingQuantity"));
}

TEST(FocusDefaults, ACommitmentSaysHowMuchOfItIsUsed) {
  Charge charge = bare_line(ChargeCategory::kUsage);
  charge.commitment_discount_id = "sp-1";
  charge.commitment_discount_type = "Savings Plan";
  charge.resource_id = "i-1";
  const Filled spend = filled(charge);
  EXPECT_EQ(spend.text("CommitmentDiscountCategory"), "Spend");
  EXPECT_EQ(spend.text("CommitmentDiscountStatus"), "Used");
  EXPECT_EQ(spend.text("CommitmentDiscountUnit"), "USD");
  EXPECT_EQ(std::get<Decimal>(spend.row[spend.table.column_index("CommitmentDiscountQuantity")]),
            Decimal::from_units(6));
  charge.commitment_discount_type = "Reservation";
  charge.resource_id.clear();
  const Filled unused = filled(charge);
  EXPECT_EQ(unused.text("CommitmentDiscountCategory"), "Usage");
  EXPECT_EQ(unused.text("CommitmentDiscountStatus"), "Unused");
  EXPECT_EQ(unused.text("CommitmentDiscountUnit"), "Units");
  EXPECT_TRUE(unused.is_null("ConsumedQuantity"));
}

TEST(FocusDefaults, WhatTheSpecificationDefinesIsNotCounted) {
  Charge charge = bare_line(ChargeCategory::kCredit);
  charge.service_provider_name = "AWS";
  const Filled credit = filled(charge);
  EXPECT_EQ(credit.text("HostProviderName"), "AWS");
  EXPECT_EQ(
      std::get<Decimal>(credit.row[credit.table.column_index("PricingCurrencyEffectiveCost")]),
      Decimal::from_units(6));
  EXPECT_FALSE(credit.columns.contains("PricingCurrencyEffectiveCost"));
}

TEST(FocusDefaults, APricingCurrencyWithoutItsAmountsGivesWay) {
  Charge charge = bare_line(ChargeCategory::kUsage);
  charge.other_columns = R"({"PricingCurrency":"EUR","PricingCurrencyListUnitPrice":"5"})";
  const Filled half = filled(charge);
  EXPECT_EQ(half.text("PricingCurrency"), "USD");
  EXPECT_EQ(half.text(kReplacedValues),
            R"({"PricingCurrency":"EUR","PricingCurrencyListUnitPrice":"5"})");
}

}  // namespace
}  // namespace pennyweight
