#include "allocation/pricing/exchange.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <string_view>

namespace pennyweight {
namespace {

constexpr Currency kGbp{"GBP"};
constexpr Currency kJpy{"JPY"};
constexpr Currency kChf{"CHF"};

Date day(std::string_view text) { return parse_date(text).value(); }
Decimal decimal(std::string_view text) { return parse_exact_decimal(text).value(); }
Money money(std::string_view text, Currency currency) {
  return Money::from_decimal(decimal(text), currency);
}

ExchangeRates rates_of(std::string_view rows) {
  auto rates = ExchangeRates::parse("date,from,to,rate,source\n" + std::string(rows), "r.csv");
  EXPECT_TRUE(rates.has_value()) << rates.error().message;
  return rates ? *std::move(rates) : ExchangeRates();
}

TEST(Exchange, RowsThatAreRefused) {
  struct Case {
    std::string_view rows;
    std::string_view want;  // prefix of the message
  };
  const Case cases[] = {
      {"2026-03-32,USD,EUR,1,\n", "r.csv:2: date: "},
      {"2026-03-31T00:00,USD,EUR,1,\n", "r.csv:2: date: '2026-03-31T00:00' is not a date"},
      {",USD,EUR,1,\n", "r.csv:2: date: '' is not a date"},
      {"2026-03-31,usd,EUR,1,\n", "r.csv:2: from: "},
      {"2026-03-31,USD,EURO,1,\n", "r.csv:2: to: "},
      {"2026-03-31,USD,USD,1,\n", "r.csv:2: a rate from USD to itself"},
      {"2026-03-31,USD,EUR,0,\n", "r.csv:2: rate 0 is not above 0"},
      {"2026-03-31,USD,EUR,-1,\n", "r.csv:2: rate -1 is not above 0"},
      {"2026-03-31,USD,EUR,1000000000.1,\n", "r.csv:2: rate 1000000000.1 is not above 0 and at"},
      {"2026-03-31,USD,EUR,0.1234567890123456789,\n", "r.csv:2: rate: "},
      {"2026-03-31,USD,EUR,\"0,92\",\n", "r.csv:2: a quote"},
      {"2026-03-31,USD,EUR,1,a\n2026-03-31,USD,EUR,1,a\n",
       "r.csv:3: a second rate from USD to EUR on 2026-03-31"},
      {"2026-03-31,USD,EUR\n", "r.csv:2: 3 fields"},
  };
  for (const Case& c : cases) {
    const auto rates =
        ExchangeRates::parse("date,from,to,rate,source\n" + std::string(c.rows), "r.csv");
    ASSERT_FALSE(rates.has_value()) << c.rows;
    EXPECT_EQ(rates.error().message.substr(0, c.want.size()), c.want) << c.rows;
  }
  EXPECT_FALSE(ExchangeRates::parse("", "r.csv").has_value());
  EXPECT_FALSE(ExchangeRates::parse("date,from,rate\n", "r.csv").has_value());
}

TEST(Exchange, TheRateInForceAndTheWayToIt) {
  const ExchangeRates rates = rates_of(
      "2026-02-27,USD,EUR,0.91,ecb\n"
      "2026-03-31,USD,EUR,0.92,ecb\n"
      "2026-03-15,EUR,USD,1.1,bank\n"
      "2026-03-31,EUR,GBP,0.85,ecb\n"
      "2026-03-30,JPY,EUR,0.00625,\n");
  struct Case {
    Currency from, to;
    std::string_view date, want;
  };
  const Case cases[] = {
      {kUsd, kUsd, "1999-01-01", "1 USD = 1 USD"},
      {kUsd, kEur, "2026-02-27", "1 USD = 0.91 EUR (2026-02-27, ecb)"},
      {kUsd, kEur, "2026-03-14", "1 USD = 0.91 EUR (2026-02-27, ecb)"},
      // The inverse is the later one, until the pair has a newer rate of its own.
      {kUsd, kEur, "2026-03-15",
       "1 USD = 0.909090909090909091 EUR, the inverse of 1 EUR = 1.1 USD (2026-03-15, bank)"},
      {kUsd, kEur, "2026-03-31", "1 USD = 0.92 EUR (2026-03-31, ecb)"},
      {kUsd, kEur, "2026-05-01", "1 USD = 0.92 EUR (2026-03-31, ecb)"},  // 31 days
      {kEur, kUsd, "2026-03-14",
       "1 EUR = 1.098901098901098901 USD, the inverse of 1 USD = 0.91 EUR (2026-02-27, ecb)"},
      {kUsd, kGbp, "2026-03-31",
       "1 USD = 0.782 GBP, from 1 USD = 0.92 EUR (2026-03-31, ecb) and 1 EUR = 0.85 GBP "
       "(2026-03-31, ecb)"},
      {kGbp, kJpy, "2026-03-31",
       "1 GBP = 188.23529411764705888 JPY, from 1 EUR = 0.85 GBP (2026-03-31, ecb) and 1 JPY = "
       "0.00625 EUR (2026-03-30, r.csv:6)"},
  };
  for (const Case& c : cases) {
    const auto found = rates.rate_on(c.from, c.to, day(c.date), {});
    ASSERT_TRUE(found.has_value()) << found.error().message;
    EXPECT_EQ(to_text(*found), c.want);
  }
}

TEST(Exchange, WhatHasNoRate) {
  const ExchangeRates rates = rates_of(
      "2026-03-31,USD,EUR,0.92,ecb\n"
      "2026-03-31,GBP,EUR,1.17,ecb\n"
      "2026-03-31,USD,CHF,0.8,ecb\n"
      "2026-03-31,GBP,CHF,1.1,ecb\n");
  const auto error = [&](Currency from, Currency to, std::string_view date, RateSearch search) {
    const auto found = rates.rate_on(from, to, day(date), search);
    return found ? "found " + to_text(*found) : found.error().message;
  };
  EXPECT_EQ(error(kUsd, kEur, "2026-03-30", {}),
            "r.csv: no rate from USD to EUR on 2026-03-30; add a row '2026-03-30,USD,EUR,RATE'");
  EXPECT_EQ(error(kUsd, kEur, "2026-05-02", {}),
            "r.csv: no rate from USD to EUR on 2026-05-02; the last before it, 1 USD = 0.92 EUR "
            "(2026-03-31, ecb), is more than 31 days old; add a row '2026-05-02,USD,EUR,RATE'");
  EXPECT_TRUE(
      error(kUsd, kEur, "2026-05-02", {.days_valid_max = 32, .pivot = {}}).starts_with("found"));
  EXPECT_TRUE(error(kUsd, kEur, "2026-04-01", {.days_valid_max = 0, .pivot = {}})
                  .starts_with("r.csv: no rate"));
  EXPECT_TRUE(error(kJpy, kEur, "2026-03-31", {}).starts_with("r.csv: no rate from JPY to EUR"));
  // Two paths, and the file does not say which one applies.
  EXPECT_EQ(error(kUsd, kGbp, "2026-03-31", {}),
            "r.csv: from USD to GBP on 2026-03-31 there are rates through each of CHF, EUR; state "
            "which currency to cross through, or add the rate itself");
  EXPECT_TRUE(error(kUsd, kGbp, "2026-03-31", {.days_valid_max = 31, .pivot = kEur})
                  .starts_with("found 1 USD = 0.78632478632478632"));
  EXPECT_TRUE(error(kUsd, kGbp, "2026-03-31", {.days_valid_max = 31, .pivot = kChf})
                  .starts_with("found 1 USD = 0.72727272727272"));
  EXPECT_TRUE(error(kUsd, kGbp, "2026-03-31", {.days_valid_max = 31, .pivot = kJpy})
                  .find("nor through JPY") != std::string::npos);
  // Never through two pivots.
  EXPECT_FALSE(rates_of("2026-03-31,USD,EUR,2,\n2026-03-31,EUR,CHF,2,\n2026-03-31,CHF,JPY,2,\n")
                   .rate_on(kUsd, kJpy, day("2026-03-31"), {})
                   .has_value());
  EXPECT_EQ(ExchangeRates().rate_on(kUsd, kEur, day("2026-03-31"), {}).error().message,
            "no rates are configured: no rate from USD to EUR on 2026-03-31; add a row "
            "'2026-03-31,USD,EUR,RATE'");
}

TEST(Exchange, Amounts) {
  const ExchangeRates rates =
      rates_of("2026-03-31,USD,EUR,0.92,ecb\n2026-03-31,USD,CHF,0.000000000000000001,\n");
  const auto converted = [&](std::string_view amount, Currency to) {
    const auto result = rates.convert(money(amount, kUsd), to, day("2026-03-31"), {});
    return result ? to_text(result->amount.amount()) + (result->rounded ? " rounded" : "")
                  : result.error().message;
  };
  EXPECT_EQ(converted("98.32", kEur), "90.4544");
  EXPECT_EQ(converted("-98.32", kEur), "-90.4544");
  EXPECT_EQ(converted("0.000000000000000001", kEur), "0.000000000000000001 rounded");
  EXPECT_EQ(converted("0.5", kChf), "0 rounded");  // half a tick, to even
  EXPECT_EQ(converted("1.5", kChf), "0.000000000000000002 rounded");
  EXPECT_EQ(converted("7", kUsd), "7");
  const ExchangeRates large = rates_of("2026-03-31,USD,EUR,1000000000,\n");
  EXPECT_FALSE(large.convert(money("10000000000000", kUsd), kEur, day("2026-03-31"), {}));
}

// A credit converts to the same amount as the charge that it reverses.
RC_GTEST_PROP(ExchangeProperty, SignsMirror, ()) {
  const auto ticks = *rc::gen::inRange<std::int64_t>(0, 1'000'000'000'000'000'000);
  const auto rate = *rc::gen::inRange<std::int64_t>(1, 1'000'000'000'000'000'000);
  const FoundRate found{kUsd, kEur, Decimal::from_ticks(rate), RatePath::kDirect, {}};
  const auto plus = convert_at(Money::from_ticks(ticks, kUsd), found);
  const auto minus = convert_at(Money::from_ticks(-Int128{ticks}, kUsd), found);
  RC_ASSERT(plus.has_value() && minus.has_value());
  RC_ASSERT(plus->amount == -minus->amount);
  RC_ASSERT(plus->rounded == minus->rounded);
}

// Converted there and back by a rate and its inverse: off by at most the rounding of the inverse.
RC_GTEST_PROP(ExchangeProperty, AnInverseIsWithinHalfATick, ()) {
  const auto ticks = *rc::gen::inRange<std::int64_t>(1, 1'000'000'000'000'000'000);
  const ExchangeRates rates =
      rates_of("2026-03-31,USD,EUR," + to_text(Decimal::from_ticks(Int128{ticks} * 1000)) + ",\n");
  const auto inverse = rates.rate_on(kEur, kUsd, day("2026-03-31"), {});
  RC_ASSERT(inverse.has_value());
  //
  // inverse * rate - 1
  // <= rate / 2 ticks of a tick squared.
  const Int128 product = inverse->rate.ticks();
  const UInt128 rate = static_cast<UInt128>(ticks) * 1000;
  const auto back = multiply_divide(static_cast<UInt128>(product), rate, 1);
  const auto one =
      static_cast<UInt128>(Decimal::kTicksPerUnit) * static_cast<UInt128>(Decimal::kTicksPerUnit);
  const UInt128 off = back.quotient > one ? back.quotient - one : one - back.quotient;
  RC_ASSERT(off * 2 <= rate);
}

}  // namespace
}  // namespace pennyweight
