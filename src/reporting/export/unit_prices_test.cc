// Cost = unit price × quantity, whatever the bill says of either, and the cost never changes.
#include "reporting/export/unit_prices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <optional>
#include <string>

namespace pennyweight {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

std::optional<Decimal> decimal_of(std::string_view text) {
  if (text.empty()) return std::nullopt;
  return *parse_exact_decimal(text);
}

Charge priced(std::string_view cost, std::string_view quantity, std::string_view price) {
  const Interval march(*parse_instant("2026-03-01"), *parse_instant("2026-04-01"));
  Charge charge(march, march, Costs::zero(kUsd));
  charge.costs.list = charge.costs.contracted = Money::from_decimal(*decimal_of(cost), kUsd);
  charge.pricing_quantity = decimal_of(quantity);
  charge.pricing_unit = quantity.empty() ? "" : "Hours";
  charge.list_unit_price = charge.contracted_unit_price = decimal_of(price);
  return charge;
}

TEST(UnitPrices, StatedPricesThatFitStay) {
  const auto fitted = fit_prices(priced("6.15", "3", "2.05"));
  ASSERT_TRUE(fitted);
  EXPECT_THAT(fitted->replaced, IsEmpty());
  EXPECT_EQ(fitted->prices.list, decimal_of("2.05"));
}

TEST(UnitPrices, WhatIsMissingOrMissesIsTheQuotient) {
  struct Case {
    const char* cost;
    const char* quantity;
    const char* price;
    const char* want_quantity;
    const char* want_unit;
    const char* want_price;
  };
  for (const Case& one : std::vector<Case>{
           {"6", "3", "", "3", "Hours", "2"},
           {"10.01", "3", "3.33", "3", "Hours", "3.336666666666666667"},
           {"5", "", "", "1", "Units", "5"},
           {"5", "0", "2", "1", "Units", "5"},
           {"0", "0", "2", "0", "Hours", "2"},
           {"0", "0", "", "0", "Hours", "0"},
           {"-6", "3", "2", "-3", "Hours", "2"},
           {"-6", "", "", "-1", "Units", "6"},
           // 10^9 hours and a cost with its own rounding: in thousands of hours.
           {"1234567.0000001", "3000000000", "0.0004", "3000", "1000000 Hours",
            "411.5223333333666667"},
       }) {
    const auto fitted = fit_prices(priced(one.cost, one.quantity, one.price));
    ASSERT_TRUE(fitted) << one.cost;
    EXPECT_EQ(fitted->prices.quantity, decimal_of(one.want_quantity)) << one.cost;
    EXPECT_EQ(fitted->prices.unit, one.want_unit) << one.cost;
    const std::string got = to_text(*fitted->prices.list);
    EXPECT_EQ(got.substr(0, 18), std::string(one.want_price).substr(0, 18)) << one.cost;
  }
}

TEST(UnitPrices, WhatTheBillSaidIsKept) {
  const auto fitted = fit_prices(priced("-6.3", "3", "2"));
  ASSERT_TRUE(fitted);
  EXPECT_THAT(fitted->replaced,
              ElementsAre(Pair("ContractedUnitPrice", "2"), Pair("ListUnitPrice", "2"),
                          Pair("PricingQuantity", "3")));
}

TEST(UnitPrices, TwoSignsAreRefusedWithBothAmounts) {
  Charge charge = priced("6", "3", "2");
  charge.costs.contracted = -charge.costs.list;
  const auto fitted = fit_prices(charge);
  ASSERT_FALSE(fitted);
  EXPECT_THAT(fitted.error().message, HasSubstr("ListCost is 6 and ContractedCost -6"));
}

TEST(UnitPrices, TheProductIsTheCostOfAnyLine) {
  EXPECT_TRUE(rc::check("price × quantity == cost but for what is forgiven", [] {
    const auto any = [] {
      const auto size = *rc::gen::arbitrary<std::int64_t>();
      const auto scale =
          *rc::gen::elementOf(std::vector<std::int64_t>{1, 1000, 1'000'000'000, 1'000'000'000'000});
      return Decimal::from_ticks(Int128{size < 0 ? -(size + 1) : size} * scale);
    };
    const auto maybe = [&]() -> std::optional<Decimal> {
      if (*rc::gen::arbitrary<bool>()) return std::nullopt;
      return any();
    };
    Charge charge = priced("0", "", "");
    const bool is_negative = *rc::gen::arbitrary<bool>();
    const auto cost = [&] {
      const Decimal size = any();
      return Money::from_decimal(is_negative ? -size : size, kUsd);
    };
    charge.costs.list = cost();
    charge.costs.contracted = cost();
    charge.pricing_quantity = maybe();
    charge.pricing_unit = *rc::gen::elementOf(std::vector<std::string>{"", "Hours", "100 GB"});
    charge.list_unit_price = maybe();
    charge.contracted_unit_price = maybe();
    charge.consumed_quantity = maybe();
    const auto fitted = fit_prices(charge);
    RC_ASSERT(fitted.has_value());
    const auto check = [&](Decimal price, const Money& want) {
      RC_ASSERT(!price.is_negative());
      const auto product = multiply(price, *fitted->prices.quantity, Rounding::kHalfEven);
      RC_ASSERT(product.has_value());
      const Int128 miss = product->ticks() - want.ticks();
      RC_ASSERT((miss < 0 ? -miss : miss) <=
                (price.ticks() + Decimal::kTicksPerUnit) / 1'000'000'000'000);
    };
    check(*fitted->prices.list, charge.costs.list);
    check(*fitted->prices.contracted, charge.costs.contracted);
    RC_ASSERT(!fitted->prices.unit.empty());
  }));
}

}  // namespace
}  // namespace pennyweight
