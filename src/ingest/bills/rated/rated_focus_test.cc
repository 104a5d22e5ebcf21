#include "ingest/bills/rated/rated_focus.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <string_view>

#include "ingest/bills/collecting_sink_testing.h"
#include "ingest/bills/csv_import.h"
#include "ingest/bills/json_records.h"

namespace pennyweight::rated {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string file(std::string_view name) {
  std::ifstream in(std::string(TEST_DATA) + "/rated/" + std::string(name), std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

RateCard focus_card() { return RateCard::parse(file("card.csv"), "card.csv").value(); }

struct ImportedFocus {
  bill::CollectingSink sink;
  bill::ImportSummary summary;
  std::string error;
};

ImportedFocus import_text(std::string_view text, const RateCard& rates) {
  ImportedFocus out;
  auto summary = bill::import_csv(text, "usage.csv", rated_focus_bill(rates), out.sink);
  if (summary) {
    out.summary = *std::move(summary);
  } else {
    out.error = summary.error().message;
  }
  return out;
}

TEST(RatedFocus, ABillOfQuantitiesIsPricedFromTheCard) {
  const RateCard rates = focus_card();
  const ImportedFocus bill = import_text(file("usage_only_focus.csv"), rates);
  ASSERT_EQ(bill.error, "");
  EXPECT_EQ(bill.summary.kind, "FOCUS 1.2 without money, priced from card.csv");
  EXPECT_EQ(bill.summary.rows, 4u);
  EXPECT_EQ(bill.summary.imported, 3u);
  EXPECT_EQ(bill.summary.rejected, 1u);
  EXPECT_EQ(bill.summary.rounded_numbers, 0u);
  // 127.5 GPU-hours at 2.39 and 10,240 GiB-hours at 0.00009589; at list 6.155.
  EXPECT_THAT(bill.sink.totals(),
              ElementsAre("305.7069136", "305.7069136", "785.7444136", "305.7069136"));

  const Charge& first = bill.sink.lines.front();
  EXPECT_EQ(to_text(first.costs.billed.amount()), "152.96");
  EXPECT_EQ(first.costs.currency(), kUsd);
  EXPECT_EQ(to_text(*first.pricing_quantity), "64");
  EXPECT_EQ(first.pricing_unit, "GPU-Hours");
  EXPECT_EQ(to_text(*first.contracted_unit_price), "2.39");
  EXPECT_EQ(to_text(*first.list_unit_price), "6.155");
  EXPECT_EQ(first.pricing_category, PricingCategory::kStandard);
  EXPECT_EQ(first.cluster, "prod");
  EXPECT_EQ(first.service_provider_name, "CoreWeave");
  EXPECT_EQ(first.other_columns, "");

  EXPECT_EQ(bill.sink.bad.front().line, 5u);
  EXPECT_EQ(bill.sink.bad.front().reason,
            "no price in card.csv for provider=CoreWeave, sku=public-ipv4, service=Public IP, "
            "region=US-EAST-04, unit=IP-Hours, currency=USD at 2026-03-01T00:00:00Z; add a row to "
            "it");
}

constexpr std::string_view kPeriods =
    "BillingPeriodStart,BillingPeriodEnd,ChargePeriodStart,ChargePeriodEnd";
constexpr std::string_view kMarch = "2026-03-01,2026-04-01,2026-03-05,2026-03-06";

TEST(RatedFocus, RowsOneByOne) {
  const RateCard rates =
      RateCard::parse(
          "sku,unit,price,list_price,currency,from,to\n"
          "a,Hours,2,3,USD,,\na,Seconds,0.1,,EUR,,\nb,Hours,1,,EUR,,\n"
          "c,Hours,0.333333333333333333,,USD,,\nd,Hours,1,,USD,,2026-03-05T12:00\n",
          "card.csv")
          .value();
  struct Case {
    std::string_view columns, cells;
    std::string_view want;  // the costs billed and list, or the reason
  };
  const Case cases[] = {
      // PricingQuantity goes before ConsumedQuantity.
      {"SkuId,PricingQuantity,PricingUnit,ConsumedQuantity,ConsumedUnit", "a,5,Hours,9,Seconds",
       "10 15 USD"},
      {"SkuId,PricingQuantity,PricingUnit,ConsumedQuantity,ConsumedUnit", "a,,,9,Seconds",
       "0.9 0.9 EUR"},
      {"SkuId,PricingQuantity,PricingUnit", "a,-5,Hours", "-10 -15 USD"},
      {"SkuId,PricingQuantity,PricingUnit", "b,1,Hours", "1 1 EUR"},
      {"SkuId,PricingQuantity,PricingUnit,BillingCurrency", "b,1,Hours,EUR", "1 1 EUR"},
      {"SkuId,PricingQuantity,PricingUnit,BillingCurrency", "b,1,Hours,USD", "prices it in EUR"},
      {"SkuId,PricingQuantity,PricingUnit,BillingCurrency", "b,1,Hours,usd", "prices it in EUR"},
      {"SkuId,PricingQuantity,PricingUnit", "c,0.1,Hours",
       "0.033333333333333333 0.033333333333333333"
       " USD"},
      {"SkuId,PricingQuantity,PricingUnit", "d,1,Hours", "export the usage by day or hour"},
      {"SkuId,PricingQuantity,PricingUnit", "e,1,Hours",
       "no price in card.csv for sku=e, unit=Hours"},
      {"SkuId,PricingQuantity,PricingUnit", "a,,Hours", "neither costs nor a quantity"},
      {"SkuId,PricingQuantity,PricingUnit", "a,1,", "neither costs nor a quantity"},
      {"SkuId,PricingQuantity,PricingUnit", "a,x,Hours", "PricingQuantity: "},
      {"SkuId,PricingQuantity,PricingUnit", "a,99999999999999999999,Hours", "out of range"},
      {"SkuId,PricingQuantity,PricingUnit,ContractedUnitPrice", "a,1,Hours,2", "2 3 USD"},
      {"SkuId,PricingQuantity,PricingUnit,ContractedUnitPrice", "a,1,Hours,2.5",
       "the bill says 2.5 and card.csv:2 says 2"},
      {"SkuId,PricingQuantity,PricingUnit,ListUnitPrice", "a,2,Hours,7", "4 14 USD"},
      // Money that the bill has stands; parts of it are not money.
      {"SkuId,PricingQuantity,PricingUnit,BilledCost,EffectiveCost,ListCost,ContractedCost,"
       "BillingCurrency",
       "e,1,Hours,7,6,5,4,USD", "7 5 USD"},
      {"SkuId,PricingQuantity,PricingUnit,BilledCost,EffectiveCost,ListCost,ContractedCost",
       "e,1,Hours,7,6,5,4", "not their currency"},
      {"SkuId,PricingQuantity,PricingUnit,BilledCost,EffectiveCost,ListCost,ContractedCost",
       "a,1,Hours,NULL,null,,\\N", "2 3 USD"},
      {"SkuId,PricingQuantity,PricingUnit,BilledCost", "a,1,Hours,7", "some of the four costs"},
  };
  for (const Case& c : cases) {
    std::string text(kPeriods);
    text += ',';
    text += c.columns;
    text += '\n';
    text += kMarch;
    text += ',';
    text += c.cells;
    text += '\n';
    const ImportedFocus bill = import_text(text, rates);
    ASSERT_EQ(bill.error, "") << c.cells;
    std::string got;
    if (bill.sink.lines.size() == 1) {
      const Costs& costs = bill.sink.lines.front().costs;
      got = to_text(costs.billed.amount()) + " " + to_text(costs.list.amount()) + " " +
            costs.currency().text();
    } else if (bill.sink.bad.size() == 1) {
      got = bill.sink.bad.front().reason;
    }
    EXPECT_THAT(got, HasSubstr(c.want)) << c.cells;
  }
}

TEST(RatedFocus, ARoundedProductIsCounted) {
  const RateCard rates =
      RateCard::parse("sku,unit,price,currency\na,Hours,0.3,USD\n", "card.csv").value();
  const ImportedFocus bill =
      import_text(std::string(kPeriods) + ",SkuId,ConsumedQuantity,ConsumedUnit\n" +
                      std::string(kMarch) + ",a,0.000000000000000001,Hours\n",
                  rates);
  EXPECT_EQ(bill.summary.rounded_numbers, 1u);
  EXPECT_EQ(to_text(bill.sink.lines.front().costs.billed.amount()), "0");
}

TEST(RatedFocus, WithoutQuantitiesThereIsNothingToPrice) {
  const RateCard rates = focus_card();
  EXPECT_THAT(
      import_text(std::string(kPeriods) + ",SkuId\n" + std::string(kMarch) + ",a\n", rates).error,
      HasSubstr("neither PricingQuantity"));
  EXPECT_THAT(import_text("ConsumedQuantity,ConsumedUnit\n1,Hours\n", rates).error,
              HasSubstr("ChargePeriodStart"));
}

TEST(RatedFocus, TheSameAsJson) {
  const RateCard rates = focus_card();
  const auto reader = rated_focus_bill(rates);
  bill::CollectingSink sink;
  const auto summary = bill::import_json(
      R"({"total_rows": 1, "data": [{"BillingPeriodStart": "2026-03-01T00:00:00Z",
          "BillingPeriodEnd": "2026-04-01T00:00:00Z", "ChargePeriodStart": "2026-03-01T00:00:00Z",
          "ChargePeriodEnd": "2026-03-01T01:00:00Z", "ProviderName": "CoreWeave",
          "SkuId": "gd-8xh100ib-i128", "ConsumedQuantity": 64.0, "ConsumedUnit": "GPU-Hours",
          "Tags": {"team": "a"}, "RegionName": null}]})",
      "usage.json", reader, sink);
  ASSERT_TRUE(summary.has_value()) << summary.error().message;
  EXPECT_EQ(summary->imported, 1u);
  EXPECT_THAT(sink.totals(), ElementsAre("152.96", "152.96", "393.92", "152.96"));
  EXPECT_EQ(sink.lines.front().tags.find("team"), "a");
}

}  // namespace
}  // namespace pennyweight::rated
