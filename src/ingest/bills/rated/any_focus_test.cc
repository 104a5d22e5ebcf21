#include "ingest/bills/rated/any_focus.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "ingest/bills/collecting_sink_testing.h"
#include "ingest/bills/csv_import.h"
#include "ingest/bills/json_records.h"

namespace pennyweight::rated {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

RateCard card() {
  return RateCard::parse("sku,unit,price,currency\na,Hours,2,USD\n", "card.csv").value();
}

struct Imported {
  bill::CollectingSink sink;
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
      {kBoth, {"1,2,3,,a,3,Hours", "1,2,3,4,a,3,Hours"}, {"2", "4", "6", "5"}, 0},
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

// Athena writes names in small letters, Snowflake in capitals, people as FOCUS displays them.
TEST(AnyFocus, ColumnsMayBeSpelledInOtherWays) {
  const std::string cells =
      "\n1,2,3,4,USD,Usage,2026-03-01,2026-04-01,2026-03-01,2026-03-02,\"{\"\"a\"\":\"\"b\"\"}\","
      "x\n";
  for (const std::string header :
       {"billedcost,effectivecost,listcost,contractedcost,billingcurrency,chargecategory,"
        "billingperiodstart,billingperiodend,chargeperiodstart,chargeperiodend,tags,x_mine",
        "BILLED_COST,EFFECTIVE_COST,LIST_COST,CONTRACTED_COST,BILLING_CURRENCY,CHARGE_CATEGORY,"
        "BILLING_PERIOD_START,BILLING_PERIOD_END,CHARGE_PERIOD_START,CHARGE_PERIOD_END,TAGS,x_mine",
        "Billed Cost,Effective Cost,List Cost,Contracted Cost,Billing Currency,Charge Category,"
        "Billing Period Start,Billing Period End,Charge Period Start,Charge Period End,Tags,"
        "x_mine"}) {
    bill::CollectingSink sink;
    const auto summary = bill::import_csv(header + cells, "b.csv", any_focus_bill(nullptr), sink);
    ASSERT_TRUE(summary) << summary.error().message;
    EXPECT_THAT(sink.totals(), ElementsAre("1", "2", "3", "4")) << header;
    EXPECT_EQ(sink.lines[0].tags.find("a"), "b");
    EXPECT_EQ(sink.lines[0].other_columns, R"({"x_mine":"x"})");
    EXPECT_THAT(summary->warnings, testing::Contains(HasSubstr("columns in other spellings")));
  }
}

// Made by hand, as the query writes it that Google published for FOCUS (March 2024): lists, codes
// in small letters, taxes of a moment and without a list cost. BigQuery extracts it as lines of
// JSON.
TEST(AnyFocus, AsGooglesViewHasIt) {
  constexpr std::string_view kShared =
      R"("BillingAccountId":"0101","BillingCurrency":"EUR","BillingPeriodStart":)"
      R"("2026-03-01 08:00:00 UTC","BillingPeriodEnd":"2026-03-31 07:00:00 UTC","ProviderName":)"
      R"("Google Cloud","x_ExportTime":"2026-03-02 05:12:33.123456 UTC",)";
  std::string lines;
  for (const std::string_view row : {
           R"("BilledCost":"12.345678","EffectiveCost":"12.345678","ContractedCost":"12.345678",
              "ListCost":"15.5","ChargeCategory":"usage","ChargePeriodStart":
              "2026-03-02 00:00:00 UTC","ChargePeriodEnd":"2026-03-02 01:00:00 UTC",
              "ConsumedQuantity":"3600","ConsumedUnit":"seconds","PricingCategory":"standard",
              "Tags":[{"key":"team","value":"nlp","x_type":"label","x_inherited":false}],
              "x_Credits":[{"Name":"promotion","Amount":"-2.5"}])",
           R"("BilledCost":"19.01","EffectiveCost":"19.01","ContractedCost":"19.01",
              "ChargeCategory":"tax","ChargePeriodStart":"2026-03-31 07:00:00 UTC",
              "ChargePeriodEnd":"2026-03-31 07:00:00 UTC","Tags":[],"x_Credits":[])"}) {
    std::string line = "{" + std::string(kShared) + std::string(row) + "}";
    std::erase(line, '\n');
    lines += line + "\n";
  }
  const auto reader = any_focus_bill(nullptr);
  bill::CollectingSink sink;
  const auto summary = bill::import_json(lines, "google.json", reader, sink);
  ASSERT_TRUE(summary) << summary.error().message;
  ASSERT_EQ(sink.lines.size(), 2u) << (sink.bad.empty() ? "" : sink.bad[0].reason);
  EXPECT_THAT(sink.totals(), ElementsAre("31.355678", "31.355678", "34.51", "31.355678"));
  EXPECT_EQ(sink.lines[0].tags.find("team"), "nlp");
  EXPECT_EQ(sink.lines[0].pricing_category, PricingCategory::kStandard);
  EXPECT_EQ(to_text(sink.lines[1].charge_period), "2026-03-01T08:00:00Z/2026-03-31T07:00:00Z");
  EXPECT_THAT(summary->warnings,
              testing::IsSupersetOf({HasSubstr("in 1 row ListCost is empty"),
                                     HasSubstr("in 2 rows codes are in another letter case"),
                                     HasSubstr("in 1 row the charge period is a moment"),
                                     HasSubstr("in 1 row there are x_Credits")}));
}

TEST(AnyFocus, WhatOnlyMoneyNeedsMayBeMissingWhereACardPrices) {
  const RateCard prices = card();
  const std::string text =
      "BillingPeriodStart,BillingPeriodEnd,ChargePeriodStart,ChargePeriodEnd,BilledCost,SkuId,"
      "PricingQuantity,PricingUnit\n2026-03-01T00:00:00Z,2026-04-01T00:00:00Z,"
      "2026-03-01T00:00:00Z,2026-03-02T00:00:00Z,,a,3,Hours\n";
  bill::CollectingSink sink;
  ASSERT_TRUE(bill::import_csv(text, "b.csv", any_focus_bill(&prices), sink));
  EXPECT_THAT(sink.totals(), ElementsAre("6", "6", "6", "6"));
  EXPECT_FALSE(bill::import_csv(text, "b.csv", any_focus_bill(nullptr), sink));
}

TEST(AnyFocus, WhatFocusNeedsIsAskedForAsBefore) {
  bill::CollectingSink sink;
  const auto summary = bill::import_csv("BilledCost,ChargePeriodStart\n1,2\n", "b.csv",
                                        any_focus_bill(nullptr), sink);
  ASSERT_FALSE(summary);
  EXPECT_THAT(summary.error().message, HasSubstr("missing columns: BillingCurrency"));
}

}  // namespace
}  // namespace pennyweight::rated
