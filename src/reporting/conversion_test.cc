#include "reporting/conversion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace pennyweight {
namespace {

using testing::ElementsAre;

constexpr Currency kGbp{"GBP"};

Date day(std::string_view text) { return parse_date(text).value(); }

ExchangeRates rates_of(std::string_view rows) {
  return ExchangeRates::parse("date,from,to,rate,source\n" + std::string(rows), "r.csv").value();
}

ExchangeRates some_rates() {
  return rates_of(
      "2026-02-27,EUR,USD,1.05,ecb\n"
      "2026-03-31,EUR,USD,1.08,ecb\n"
      "2026-03-31,EUR,GBP,0.85,ecb\n");
}

SummaryRow row(std::string_view month, std::string_view team, std::string_view amount,
               Currency currency) {
  const Money money = Money::from_decimal(parse_exact_decimal(amount).value(), currency);
  return {.bucket = {},
          .keys = {std::string(month), std::string(team)},
          .costs = {money, money + money, money, money},
          .gpu_time = GpuTime::of(3),
          .idle_time = GpuTime::of(1),
          .memory_time = {},
          .observed_time = {},
          .postings = 2};
}

std::vector<std::string> shown(const std::vector<SummaryRow>& rows) {
  std::vector<std::string> out;
  for (const SummaryRow& r : rows) {
    std::string text;
    for (const std::string& key : r.keys) text += key + " ";
    out.push_back(text + to_text(r.costs.billed.amount()) + " " +
                  to_text(r.costs.effective.amount()) + " " + r.costs.currency().text());
  }
  return out;
}

TEST(Conversion, EachMonthByItsLastDay) {
  const std::vector<SummaryRow> rows = {
      row("2026-02", "a", "100", kEur), row("2026-03", "a", "100", kEur),
      row("2026-03", "a", "7", kUsd), row("2026-03", "b", "10", kGbp)};
  const auto converted = convert_rows(rows, some_rates(), {.to = kUsd, .on = {}, .search = {}});
  ASSERT_TRUE(converted.has_value()) << converted.error().message;
  EXPECT_THAT(shown(converted->rows),
              ElementsAre("a 220 440 USD",  // 105 + 108 + 7
                          "b 12.70588235294117647 25.41176470588235294 USD"));
  EXPECT_EQ(converted->rows.front().postings, 6u);
  EXPECT_EQ(converted->rows.front().gpu_time, GpuTime::of(9));
  EXPECT_THAT(
      rate_footnotes(converted->rates),
      ElementsAre("EUR 200.00 at 2026-02-28: 1 EUR = 1.05 USD (2026-02-27, ecb)",
                  "EUR 200.00 at 2026-03-31: 1 EUR = 1.08 USD (2026-03-31, ecb)",
                  "GBP 20.00 at 2026-03-31: 1 GBP = 1.270588235294117647 USD, from 1 EUR = 0.85 "
                  "GBP (2026-03-31, ecb) and 1 EUR = 1.08 USD (2026-03-31, ecb)"));
}

TEST(Conversion, ADocumentByItsOwnDate) {
  const std::vector<SummaryRow> rows = {row("2026-02", "a", "100", kEur)};
  const auto converted =
      convert_rows(rows, some_rates(), {.to = kUsd, .on = day("2026-04-05"), .search = {}});
  ASSERT_TRUE(converted.has_value());
  EXPECT_THAT(shown(converted->rows), ElementsAre("a 108 216 USD"));
  EXPECT_THAT(rate_footnotes(converted->rates),
              ElementsAre("EUR 200.00 at 2026-04-05: 1 EUR = 1.08 USD (2026-03-31, ecb)"));
}

TEST(Conversion, OneCurrencyIsLeftAsItIs) {
  const std::vector<SummaryRow> rows = {row("2026-02", "a", "100", kEur)};
  const auto converted = convert_rows(rows, ExchangeRates(), {.to = kEur, .on = {}, .search = {}});
  ASSERT_TRUE(converted.has_value());
  EXPECT_THAT(shown(converted->rows), ElementsAre("a 100 200 EUR"));
  EXPECT_TRUE(converted->rates.empty());
}

TEST(Conversion, WithoutARateThereIsNoReport) {
  const std::vector<SummaryRow> rows = {row("2026-03", "a", "1", kUsd),
                                        row("2026-06", "a", "1", kEur)};
  const auto converted = convert_rows(rows, some_rates(), {.to = kUsd, .on = {}, .search = {}});
  ASSERT_FALSE(converted.has_value());
  EXPECT_TRUE(converted.error().message.starts_with("r.csv: no rate from EUR to USD on 2026-06-30"))
      << converted.error().message;
  EXPECT_FALSE(convert_rows(std::vector{row("March", "a", "1", kEur)}, some_rates(),
                            {.to = kUsd, .on = {}, .search = {}})
                   .has_value());
}

TEST(Conversion, DaysOfAMonthHaveOneRate) {
  SummaryRow first = row("2026-03", "a", "1", kEur);
  SummaryRow last = row("2026-03", "a", "1", kEur);
  first.bucket = day("2026-03-01");
  last.bucket = day("2026-03-31");
  const auto converted =
      convert_rows(std::vector{last, first}, some_rates(), {.to = kUsd, .on = {}, .search = {}});
  ASSERT_TRUE(converted.has_value());
  EXPECT_THAT(shown(converted->rows), ElementsAre("a 1.08 2.16 USD", "a 1.08 2.16 USD"));
  EXPECT_EQ(converted->rows.front().bucket, day("2026-03-01"));
}

TEST(Conversion, TheQueryAsksForTheMonthFirst) {
  EXPECT_THAT(converted_group_by({"team", "kind"}), ElementsAre("month", "team", "kind"));
}

// However rows are grouped, what is shown adds up to what the rates' rate_footnotes say.
RC_GTEST_PROP(ConversionProperty, PagesFoot, ()) {
  const ExchangeRates rates = rates_of(
      "2026-03-31,EUR,USD,1.0812345678901,\n"
      "2026-02-28,EUR,USD,1.0712345678901,\n"
      "2026-03-31,GBP,USD,1.2712345678901,\n"
      "2026-02-28,GBP,USD,1.2812345678901,\n");
  std::vector<SummaryRow> rows;
  const auto count = *rc::gen::inRange(0, 40);
  for (int i = 0; i < count; ++i) {
    const Currency currency = *rc::gen::elementOf(std::vector<Currency>{kUsd, kEur, kGbp});
    SummaryRow one = row(*rc::gen::element<std::string>("2026-02", "2026-03"),
                         *rc::gen::element<std::string>("a", "b", ""), "0", currency);
    const auto amount = [&] {
      return Money::from_ticks(
          *rc::gen::inRange<std::int64_t>(-1'000'000'000'000'000'000, 1'000'000'000'000'000'000),
          currency);
    };
    one.costs = {amount(), amount(), amount(), amount()};
    rows.push_back(std::move(one));
  }
  const auto converted = convert_rows(rows, rates, {.to = kUsd, .on = {}, .search = {}});
  RC_ASSERT(converted.has_value());
  Costs expected = Costs::zero(kUsd);
  for (const SummaryRow& one : rows) {
    if (one.costs.currency() == kUsd) expected += one.costs;
  }
  for (const UsedRate& used : converted->rates) expected += used.after;
  RC_ASSERT(sum_costs(converted->rows, kUsd) == expected);
}

}  // namespace
}  // namespace pennyweight
