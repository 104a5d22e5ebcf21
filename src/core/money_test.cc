// Money and Currency: what can be added, and what is refused.
#include "core/money.h"

#include <gtest/gtest.h>

namespace pennyweight {
namespace {

TEST(Money, AddsExactlyAndRefusesTwoCurrencies) {
  const Money dime = Money::from_decimal(parse_decimal("0.1")->value, kUsd);
  EXPECT_EQ(dime + dime + dime, Money::from_decimal(parse_decimal("0.3")->value, kUsd));
  EXPECT_THROW((void)(dime + Money::from_units(1, kEur)), InvariantError);
  EXPECT_THROW((void)(dime - Money::from_units(1, kEur)), InvariantError);
}

TEST(Money, OverflowIsRefused) {
  const Money most = Money::from_ticks(kInt128Max, kUsd);
  EXPECT_THROW((void)(most + Money::from_ticks(1, kUsd)), InvariantError);
}

TEST(Currency, IsThreeCapitals) {
  EXPECT_EQ(*Currency::parse("USD"), kUsd);
  for (const char* bad : {"", "usd", "US", "USDT", "U D", "12$"}) {
    EXPECT_FALSE(Currency::parse(bad).has_value()) << bad;
  }
}

}  // namespace
}  // namespace pennyweight
