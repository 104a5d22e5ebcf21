#include "reporting/export/null_rules.h"

#include <gtest/gtest.h>

namespace pennyweight {
namespace {

Charge line(ChargeCategory category) {
  Charge charge(Interval(*parse_instant("2026-03-01"), *parse_instant("2026-04-01")),
                Interval(*parse_instant("2026-03-05"), *parse_instant("2026-03-06")),
                Costs::zero(kUsd));
  charge.charge_category = category;
  charge.sku_id = "SKU";
  charge.sku_price_id = "PRICE";
  charge.sku_meter = "hours";
  charge.pricing_quantity = Decimal::from_units(2);
  charge.pricing_unit = "Hours";
  charge.list_unit_price = Decimal::from_units(3);
  charge.consumed_quantity = Decimal::from_units(2);
  charge.consumed_unit = "Hours";
  charge.service_provider_name = "AWS";
  return charge;
}

struct Ruled {
  FocusTable table;
  FocusRow row;
  std::map<std::string, std::uint64_t> emptied;
  bool is_null(std::string_view column) const {
    return std::holds_alternative<std::monostate>(row[table.column_index(column)]);
  }
};

Ruled ruled(const Charge& charge, FocusVersion version) {
  Ruled ruled{FocusTable(version, Fidelity::kConformant), {}, {}};
  EXPECT_TRUE(ruled.table.note({&charge, 1}));
  ruled.table.fix_columns();
  EXPECT_TRUE(ruled.table.fill(charge, ruled.row));
  NullRules rules(ruled.table);
  rules.apply(ruled.row);
  ruled.emptied = rules.emptied();
  return ruled;
}

TEST(NullRules, TaxHasNoPrice) {
  const Ruled tax = ruled(line(ChargeCategory::kTax), FocusVersion::k1_4);
  for (const char* column : {"SkuId", "SkuPriceId", "SkuMeter", "PricingQuantity", "PricingUnit",
                             "ListUnitPrice", "ConsumedQuantity", "ConsumedUnit"}) {
    EXPECT_TRUE(tax.is_null(column)) << column;
    EXPECT_EQ(tax.emptied.at(column), 1u) << column;
  }
}

TEST(NullRules, WhatABillSaysOfAPriceWithoutANameStays) {
  Charge charge = line(ChargeCategory::kUsage);
  charge.sku_price_id.clear();
  const Ruled usage = ruled(charge, FocusVersion::k1_3);
  EXPECT_FALSE(usage.is_null("PricingQuantity"));
  EXPECT_TRUE(usage.emptied.empty());
}

TEST(NullRules, NoTextStandsForNull) {
  Charge charge = line(ChargeCategory::kUsage);
  charge.resource_id = "i-1";
  charge.resource_name = "N/A";
  charge.availability_zone = "  ";
  charge.region_id = "None";
  charge.other_columns = R"({"x_Any":"None"})";
  const Ruled usage = ruled(charge, FocusVersion::k1_4);
  EXPECT_TRUE(usage.is_null("ResourceName"));
  EXPECT_TRUE(usage.is_null("AvailabilityZone"));
  EXPECT_TRUE(usage.is_null("RegionId"));
  EXPECT_FALSE(usage.is_null("x_Any"));
  EXPECT_EQ(usage.emptied.size(), 3u);
}

TEST(NullRules, NamesAndUnitsGoWithWhatTheyDescribe) {
  Charge charge = line(ChargeCategory::kPurchase);
  charge.resource_type = "VM";
  charge.commitment_discount_type = "Reserved";
  const Ruled purchase = ruled(charge, FocusVersion::k1_2);
  for (const char* column :
       {"ResourceType", "CommitmentDiscountType", "ConsumedQuantity", "ConsumedUnit"}) {
    EXPECT_TRUE(purchase.is_null(column)) << column;
  }
}

}  // namespace
}  // namespace pennyweight
