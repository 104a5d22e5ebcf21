#include "ingest/rated/any_focus.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "ingest/bill/collect_test.h"
#include "ingest/bill/csv_import.h"

namespace pennyweight::rated {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

RateCard card() {
  return RateCard::parse("sku,unit,price,currency\na,Hours,2,USD\n", "card.csv").value();
}

struct Imported {
  bill::Collected sink;
  bill::ImportSummary summary;
  std::string error;
};

// Rows of March: the columns and cells given, besides the periods.
Imported import_rows(std::string_view columns, const std::vector<std::string_view>& rows,
                     const RateCard* prices) {
  std::string text =
      "BillingPeriodStart,BillingPeriodEnd,ChargePeriodStart,ChargePeriodEnd,ChargeCategory,"
      "BillingCurrency," +
      std::string(columns) + "\n";
  for (const std::string_view row : rows) {
    text +=
        "2026-03-01T00:00:00Z,2026-04-01T00:00:00Z,2026-03-01T00:00:00Z,2026-03-02T00:00:00Z,"
        "Usage,USD," +
        std::string(row) + "\n";
  }
  Imported out;
  auto summary = bill::import_csv(text, "bill.csv", any_focus_bill(prices), out.sink);
  if (summary) {
    out.summary = *std::move(summary);
  } else {
    out.error = summary.error().message;
  }
  return out;
}

constexpr std::string_view kUsage = "SkuId,PricingQuantity,PricingUnit";
constexpr std::string_view kBoth =
    "BilledCost,EffectiveCost,ListCost,ContractedCost,SkuId,PricingQuantity,PricingUnit";

TEST(AnyFocus, TheHeaderAndTheFirstRowTellWhetherThereIsMoney) {
  const RateCard prices = card();
  const struct {
    std::string_view columns;
    std::vector<std::string_view> rows;
    std::vector<std::string> totals;  // of what is taken
    std::size_t bad;
  } kCases[] = {
      {kUsage, {"a,3,Hours"}, {"6", "6", "6", "6"}, 0},
      {kUsage, {"a,3,Hours", "b,1,Hours"}, {"6", "6", "6", "6"}, 1},
      {kBoth, {",,,,a,3,Hours", "NULL,NULL,,null,a,1,Hours"}, {"8", "8", "8", "8"}, 0},
      // A row of such a file may still say what it costs.
      {kBoth, {",,,,a,3,Hours", "1,2,3,4,,,"}, {"7", "8", "9", "10"}, 0},
      // A bill with money: an empty cost is a fault, and the card prices nothing.
      {kBoth, {"1,2,3,4,a,3,Hours", ",,,,a,3,Hours"}, {"1", "2", "3", "4"}, 1},
      {kBoth, {"1,2,3,,a,3,Hours", "1,2,3,4,a,3,Hours"}, {"1", "2", "3", "4"}, 1},
      {"BilledCost,EffectiveCost,ListCost,ContractedCost", {"1,2,3,4"}, {"1", "2", "3", "4"}, 0},
      {"BilledCost,EffectiveCost,ListCost", {"1,2,3"}, {"1", "2", "3", "1"}, 0},
  };
  for (const auto& c : kCases) {
    const Imported bill = import_rows(c.columns, c.rows, &prices);
    ASSERT_EQ(bill.error, "") << c.columns;
    EXPECT_EQ(bill.sink.totals(), c.totals) << c.rows.front();
    EXPECT_EQ(bill.sink.bad.size(), c.bad) << c.rows.front();
  }
}

TEST(AnyFocus, WithoutACardTheReasonNamesIt) {
  const Imported no_columns = import_rows(kUsage, {"a,3,Hours"}, nullptr);
  EXPECT_THAT(no_columns.error, HasSubstr("no column of costs"));
  EXPECT_THAT(no_columns.error, HasSubstr("--rate-card"));
  const Imported empty = import_rows(kBoth, {",,,,a,3,Hours", ",,,,a,1,Hours"}, nullptr);
  ASSERT_EQ(empty.error, "");
  ASSERT_EQ(empty.sink.bad.size(), 2u);
  for (const RejectedRow& row : empty.sink.bad) EXPECT_THAT(row.reason, HasSubstr("--rate-card"));
}

TEST(AnyFocus, ABillWithMoneyNeedsNoCard) {
  const Imported bill = import_rows(kBoth, {"1,2,3,4,a,3,Hours"}, nullptr);
  EXPECT_THAT(bill.sink.totals(), ElementsAre("1", "2", "3", "4"));
  EXPECT_THAT(bill.summary.kind, HasSubstr("FOCUS"));
}

TEST(AnyFocus, WhatOnlyMoneyNeedsMayBeMissingWhereACardPrices) {
  const RateCard prices = card();
  const std::string text =
      "BillingPeriodStart,BillingPeriodEnd,ChargePeriodStart,ChargePeriodEnd,BilledCost,SkuId,"
      "PricingQuantity,PricingUnit\n2026-03-01T00:00:00Z,2026-04-01T00:00:00Z,"
      "2026-03-01T00:00:00Z,2026-03-02T00:00:00Z,,a,3,Hours\n";
  bill::Collected sink;
  ASSERT_TRUE(bill::import_csv(text, "b.csv", any_focus_bill(&prices), sink));
  EXPECT_THAT(sink.totals(), ElementsAre("6", "6", "6", "6"));
  EXPECT_FALSE(bill::import_csv(text, "b.csv", any_focus_bill(nullptr), sink));
}

TEST(AnyFocus, WhatFocusNeedsIsAskedForAsBefore) {
  bill::Collected sink;
  const auto summary = bill::import_csv("BilledCost,ChargePeriodStart\n1,2\n", "b.csv",
                                        any_focus_bill(nullptr), sink);
  ASSERT_FALSE(summary);
  EXPECT_THAT(summary.error().message, HasSubstr("missing columns: EffectiveCost"));
}

}  // namespace
}  // namespace pennyweight::rated
