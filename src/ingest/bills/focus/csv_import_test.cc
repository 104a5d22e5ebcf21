#include "ingest/bills/csv_import.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/limits.h"
#include "core/plain_text.h"
#include "ingest/bills/collecting_sink_testing.h"
#include "ingest/bills/currency_code.h"
#include "ingest/bills/focus/column.h"
#include "ingest/bills/focus/focus_bill.h"
#include "ingest/bills/number.h"

namespace pennyweight::focus {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::string_view kHeader =
    "BilledCost,EffectiveCost,ListCost,ContractedCost,BillingCurrency,ChargeCategory,"
    "BillingPeriodStart,BillingPeriodEnd,ChargePeriodStart,ChargePeriodEnd";

// A bill of one line: the columns that are needed, some replaced, some more.
using Columns = std::vector<std::pair<std::string, std::string>>;

std::string one_line(const Columns& changes) {
  Columns columns = {{"BilledCost", "1"},
                     {"EffectiveCost", "2"},
                     {"ListCost", "3"},
                     {"ContractedCost", "4"},
                     {"BillingCurrency", "USD"},
                     {"ChargeCategory", "Usage"},
                     {"BillingPeriodStart", "2026-03-01T00:00:00Z"},
                     {"BillingPeriodEnd", "2026-04-01T00:00:00Z"},
                     {"ChargePeriodStart", "2026-03-05T00:00:00Z"},
                     {"ChargePeriodEnd", "2026-03-05T01:00:00Z"}};
  for (const auto& [name, value] : changes) {
    const auto there = std::ranges::find(columns, name, &Columns::value_type::first);
    if (there == columns.end()) {
      columns.emplace_back(name, value);
    } else {
      there->second = value;
    }
  }
  std::string header;
  std::string row;
  for (const auto& [name, value] : columns) {
    header += (header.empty() ? "" : ",") + name;
    row += (row.empty() && header == name ? "" : ",") + value;
  }
  return header + "\n" + row + "\n";
}

Charge taken(const Columns& changes) {
  bill::CollectingSink seen;
  const auto summary = import_csv(one_line(changes), "bill.csv", seen);
  EXPECT_TRUE(summary) << (summary ? "" : summary.error().message);
  EXPECT_EQ(seen.lines.size(), 1u) << (seen.bad.empty() ? "" : seen.bad[0].reason);
  if (seen.lines.empty())
    return Charge(Interval(Instant{}, from_unix_ms(1)), Interval(Instant{}, from_unix_ms(1)),
                  Costs::zero(kUsd));
  return seen.lines[0];
}

TEST(CsvImport, TakesWhatIsUnusualButRight) {
  const Charge negative = taken({{"BilledCost", "-0.000000000000000001"}, {"ListCost", "1.5E-3"}});
  EXPECT_EQ(negative.costs.billed.ticks(), Int128{-1});
  EXPECT_EQ(to_text(negative.costs.list.amount()), "0.0015");

  for (const std::string text : {"2026-03-05 00:00:00", "2026-03-05T00:00:00.000Z", "2026-03-05",
                                 "2026-03-05T02:00:00+02:00", "2026-03-04T19:00:00-0500"}) {
    EXPECT_EQ(to_text(taken({{"ChargePeriodStart", text}}).charge_period.begin()),
              "2026-03-05T00:00:00Z")
        << text;
  }
  // A correction's charge period may lie outside its billing period.
  const Charge correction = taken({{"ChargeClass", "Correction"},
                                   {"ChargePeriodStart", "2025-12-01T00:00:00Z"},
                                   {"ChargePeriodEnd", "2025-12-02T00:00:00Z"}});
  EXPECT_TRUE(correction.is_correction);
}

TEST(CsvImport, NullIsAbsent) {
  for (const std::string null : {"", "NULL", "null", "\\N", "\"\""}) {
    const Charge charge = taken({{"ResourceName", null},
                                 {"PricingQuantity", null},
                                 {"PricingCategory", null},
                                 {"Tags", null},
                                 {"x_Cost", null}});
    EXPECT_EQ(charge.resource_name, "") << null;
    EXPECT_FALSE(charge.pricing_quantity) << null;
    EXPECT_FALSE(charge.pricing_category) << null;
    EXPECT_TRUE(charge.tags.empty()) << null;
    EXPECT_EQ(charge.other_columns, "") << null;
  }
  // In quotes it is a text, but not a number.
  const Charge quoted = taken({{"ResourceName", "\"NULL\""}, {"PricingQuantity", "\"NULL\""}});
  EXPECT_EQ(quoted.resource_name, "NULL");
  EXPECT_FALSE(quoted.pricing_quantity);
}

TEST(CsvImport, OldNamesMeanTheColumnsOfToday) {
  EXPECT_EQ(taken({{"ProviderName", "AWS"}}).service_provider_name, "AWS");
  EXPECT_EQ(taken({{"ProviderName", "AWS"}, {"ServiceProviderName", "Snow"}}).service_provider_name,
            "Snow");
  EXPECT_EQ(taken({{"ProviderName", "AWS"}, {"ServiceProviderName", "Snow"}}).other_columns,
            R"({"ProviderName":"AWS"})");
  EXPECT_EQ(taken({{"ProviderName", "AWS"}, {"PublisherName", "AWS"}}).other_columns, "");
  EXPECT_EQ(taken({{"ProviderName", "AWS"}, {"PublisherName", "Snow"}}).other_columns,
            R"({"PublisherName":"Snow"})");
  EXPECT_EQ(taken({{"Region", "us-east-1"}}).region_id, "us-east-1");
}

TEST(CsvImport, PlacesALineOnTheFleet) {
  const Charge charge =
      taken({{"x_ClusterId", "philly"}, {"x_PoolId", "p5"}, {"x_InstanceType", "p5.48xlarge"}});
  EXPECT_EQ(charge.cluster, "philly");
  EXPECT_EQ(charge.pool, "p5");
  EXPECT_EQ(charge.instance_type, "p5.48xlarge");
  EXPECT_EQ(charge.other_columns, "");
  const Charge both =
      taken({{"SkuPriceDetails", R"("{""InstanceType"":""a""}")"}, {"x_InstanceType", "b"}});
  EXPECT_EQ(both.instance_type, "a");
  EXPECT_EQ(both.other_columns, R"({"x_InstanceType":"b"})");
}

TEST(CsvImport, KeepsOtherColumnsWordForWordSortedByName) {
  EXPECT_EQ(taken({{"x_Zed", "\"say \"\"hi\"\"\n\""},
                   {"RegionName", "\" US, East\""},
                   {"HostProviderName", "\"a\tb\""},
                   {"Odd", "1.50"}})
                .other_columns.substr(0, 40),
            R"({"HostProviderName":"a\tb","Odd":"1.50",)");
}

std::string quoted_json(std::string_view json) {
  std::string out = "\"";
  for (const char c : json) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + "\"";
}

TEST(CsvImport, TagsBecomeLabels) {
  const Charge charge =
      taken({{"Tags", quoted_json(R"({"b":"x\u00e9\"","a":1.50,"t":true,"n":null})")}});
  EXPECT_THAT(charge.tags.entries(),
              ElementsAre(Labels::Entry{"a", "1.50"}, Labels::Entry{"b", "xé\""},
                          Labels::Entry{"n", ""}, Labels::Entry{"t", "true"}));
}

// Google's FOCUS export, and maps that a query engine wrote as JSON.
TEST(CsvImport, AListOfKeysAndValuesIsTagsToo) {
  const Charge google = taken(
      {{"Tags", quoted_json(R"([{"key":"team","value":"nlp","x_type":"label","x_inherited":false,)"
                            R"("x_namespace":"n/a"},{"key":"team","value":"ml","x_type":)"
                            R"("project_label"},{"key":"env","value":"prod","x_type":"tag",)"
                            R"("x_inherited":true,"x_namespace":"acme"}])")}});
  EXPECT_THAT(google.tags.entries(),
              ElementsAre(Labels::Entry{"project/team", "ml"},
                          Labels::Entry{"tag/acme/env", "prod"}, Labels::Entry{"team", "nlp"}));
  EXPECT_EQ(google.other_columns, "");
  EXPECT_THAT(taken({{"Tags", quoted_json(R"([{"Key":"a","Value":1},{"Key":"a","Value":1}])")}})
                  .tags.entries(),
              ElementsAre(Labels::Entry{"a", "1"}));
  const Charge none = taken({{"Tags", "[]"}});
  EXPECT_TRUE(none.tags.empty());
  EXPECT_EQ(none.other_columns, "");
}

// The money of a line is not lost for a bad tag.
TEST(CsvImport, BadJsonIsKeptAsTextAndCounted) {
  for (const std::string_view json :
       {R"({"a":{"b":1}})", R"({"a":[1]})", R"({"a":"x")", R"([1])", R"("a":"b")",
        R"([{"value":"b"}])", R"([{"key":"a"}] x)", R"([{"key":"a","value":[1]}])",
        R"([{"key":"a","value":1},{"key":"a","value":2}])", R"([{"key":"a","value":"b"})",
        R"({"a":1,"a":2})", R"({"a":1.2.3})", R"({"a":01})", R"({"a":1} x)", R"({"a":tru})",
        R"({"a":nul})", R"({"a":n5ll})", R"({"":"x"})", "7"}) {
    bill::CollectingSink seen;
    const auto summary = import_csv(one_line({{"Tags", quoted_json(json)}}), "bill.csv", seen);
    ASSERT_TRUE(summary) << json;
    EXPECT_EQ(summary->unread_json, 1u) << json;
    ASSERT_EQ(seen.lines.size(), 1u) << json;
    EXPECT_TRUE(seen.lines[0].tags.empty()) << json;
    EXPECT_THAT(seen.lines[0].other_columns, HasSubstr("{\"Tags\":\"")) << json;
  }
  const Charge charge = taken({{"SkuPriceDetails", "nothing"}});
  EXPECT_EQ(charge.sku_price_details, "");
  EXPECT_EQ(charge.other_columns, R"({"SkuPriceDetails":"nothing"})");
}

TEST(CsvImport, RejectsLinesThatCannotBeRight) {
  struct Case {
    std::string column;
    std::string value;
    std::string_view reason;
  };
  const Case cases[] = {
      {"BilledCost", "", "BilledCost is empty"},
      {"BilledCost", "NULL", "BilledCost is empty"},
      {"BilledCost", "\"1,000\"", "no separators or symbols"},
      {"BilledCost", "++1", "not a decimal number"},
      {"BilledCost", "+-1", "not a decimal number"},
      {"BilledCost", "1 000", "separators"},
      {"BillingCurrency", "us", "not a currency of ISO 4217"},
      {"BilledCost", "1E+", "malformed exponent"},
      {"BilledCost", "$1", "not a decimal number"},
      {"BilledCost", "NaN", "not a decimal number"},
      {"BilledCost", "Infinity", "not a decimal number"},
      {"BilledCost", "0x10", "unexpected 'x"},
      {"BilledCost", "123456789012345678901", "more than 20 digits"},
      {"ListCost", "1e9999", "not a decimal number"},
      {"BillingCurrency", "XYZ", "not a currency of ISO 4217"},
      {"BillingCurrency", "", "not a currency of ISO 4217"},
      {"BillingPeriodStart", "4/1/25", "is not a time"},
      {"BillingPeriodEnd", "9999-12-31T00:00:00Z", "years are 1970 to 2199"},
      {"BillingPeriodEnd", "2026-03-01T00:00:00Z", "is not after BillingPeriodStart"},
      {"ChargePeriodEnd", "2026-03-04T00:00:00Z", "is not after ChargePeriodStart"},
      {"ChargePeriodStart", "2026-02-30T00:00:00Z", "is not a time"},
      {"PricingQuantity", "many", "PricingQuantity: 'many' is not a decimal number"},
  };
  for (const Case& c : cases) {
    bill::CollectingSink seen;
    const auto summary = import_csv(one_line({{c.column, c.value}}), "bill.csv", seen);
    ASSERT_TRUE(summary) << summary.error().message;
    EXPECT_EQ(summary->rejected, 1u) << c.column << "=" << c.value;
    ASSERT_EQ(seen.bad.size(), 1u) << c.column << "=" << c.value;
    EXPECT_EQ(seen.bad[0].file, "bill.csv");
    EXPECT_EQ(seen.bad[0].line, 2u);
    EXPECT_EQ(seen.bad[0].column, c.column);
    EXPECT_THAT(seen.bad[0].reason, HasSubstr(c.reason));
  }
}

// A code says what a charge is, and not how much: none costs the row its money.
TEST(CsvImport, ACodeOfTheEmittersOwnNeverCostsTheRowItsMoney) {
  struct Case {
    std::string column;
    std::string value;
    std::string kept;
    std::string_view warning;
  };
  const Case cases[] = {
      {"ChargeCategory", "use", "use", "was taken as Usage"},
      {"ChargeCategory", "", "", "ChargeCategory is none of"},
      {"ChargeClass", "Refund", "Refund", "in 1 row a code is not one that FOCUS knows"},
      {"ChargeFrequency", "Monthly", "Monthly", "a code is not one"},
      {"PricingCategory", "Spot", "Spot", "a code is not one"},
      {"CommitmentDiscountCategory", "Money", "Money", "a code is not one"},
      {"CommitmentDiscountStatus", "usage", "usage", "a code is not one"},
      {"CapacityReservationStatus", "Free", "Free", "a code is not one"},
  };
  for (const Case& c : cases) {
    bill::CollectingSink seen;
    const auto summary = import_csv(one_line({{c.column, c.value}}), "bill.csv", seen);
    ASSERT_TRUE(summary) << summary.error().message;
    ASSERT_EQ(seen.lines.size(), 1u) << c.column << "=" << c.value;
    const std::string kept = "\"x_" + c.column + "\":\"" + c.kept + "\"";
    if (!c.kept.empty()) {
      EXPECT_THAT(seen.lines[0].other_columns, HasSubstr(kept));
    }
    EXPECT_THAT(summary->warnings, testing::Contains(HasSubstr(c.warning))) << c.column;
  }
  EXPECT_EQ(taken({{"ChargeCategory", "use"}, {"PricingQuantity", ""}, {"ConsumedQuantity", ""}})
                .charge_category,
            ChargeCategory::kAdjustment);
  EXPECT_EQ(taken({{"ChargeCategory", "use"}, {"PricingQuantity", "2"}}).charge_category,
            ChargeCategory::kUsage);
}

TEST(CsvImport, WordsOfDraftsAndOtherSpellingsAreTakenAndCounted) {
  EXPECT_EQ(taken({{"PricingCategory", "On-Demand"}}).pricing_category, PricingCategory::kStandard);
  EXPECT_EQ(taken({{"PricingCategory", "on_demand"}}).pricing_category, PricingCategory::kStandard);
  EXPECT_EQ(taken({{"PricingCategory", "Commitment-Based"}}).pricing_category,
            PricingCategory::kCommitted);
  EXPECT_EQ(taken({{"ChargeFrequency", "usage_based"}}).charge_frequency,
            ChargeFrequency::kUsageBased);
  const Charge padded = taken({{"BilledCost", " +5.00 "}, {"BillingCurrency", " usd"}});
  EXPECT_EQ(padded.costs.billed, Money::from_units(5, kUsd));
  bill::CollectingSink seen;
  const auto summary = import_csv(
      one_line(
          {{"PricingCategory", "On-Demand"}, {"BilledCost", "+5.00"}, {"BillingCurrency", "usd"}}),
      "b.csv", seen);
  ASSERT_TRUE(summary);
  EXPECT_THAT(summary->warnings,
              testing::IsSupersetOf({HasSubstr("in 1 row PricingCategory is of FOCUS before 1.0"),
                                     HasSubstr("in 1 row a number, currency or time has a '+'"),
                                     HasSubstr("in 1 row codes are in another letter case")}));
}

// A file that was cut within its last value reads as a whole one.
TEST(CsvImport, AMissingFinalLineEndIsSaid) {
  bill::CollectingSink seen;
  std::string text = one_line({});
  const auto whole = import_csv(text, "b.csv", seen);
  ASSERT_TRUE(whole);
  EXPECT_THAT(whole->warnings, testing::Not(testing::Contains(HasSubstr("no line end"))));
  text.pop_back();
  const auto cut = import_csv(text, "b.csv", seen);
  ASSERT_TRUE(cut);
  EXPECT_THAT(cut->warnings, testing::Contains(HasSubstr("the last line has no line end")));
  bill::CsvImport import("b.csv", focus_bill(), seen);
  ASSERT_TRUE(import.feed(text));
  const auto fed = import.finish();
  ASSERT_TRUE(fed);
  EXPECT_THAT(fed->warnings, testing::Contains(HasSubstr("the last line has no line end")));
}

// Cut within its last field, a line would be of another account, or of another export.
TEST(CsvImport, ALastFieldThatSaysWhoseLineItIsMustBeWhole) {
  for (const std::string column : {"SubAccountId", "BillingAccountId", "x_ExportTime"}) {
    const std::string text =
        "BilledCost,BillingCurrency,ChargeCategory,ChargePeriodStart,ChargePeriodEnd," + column +
        "\n1,USD,Usage,2026-03-01T00:00:00Z,2026-03-02T00:00:00Z,";
    for (const std::string last : {"", "12", "\"12\"", "12\n"}) {
      bill::CollectingSink seen;
      const auto summary = import_csv(text + last, "b.csv", seen);
      ASSERT_TRUE(summary) << summary.error().message;
      const bool is_whole = last.size() > 2;
      EXPECT_EQ(summary->imported, is_whole ? 1u : 0u) << column << " " << last;
      EXPECT_EQ(summary->rejected, is_whole ? 0u : 1u) << column << " " << last;
    }
  }
}

// Berlin, where the clocks change in March.
TEST(CsvImport, AMonthOfLocalMidnightsIsThatMonth) {
  const std::string text =
      "BilledCost,BillingCurrency,ChargeCategory,BillingPeriodStart,BillingPeriodEnd,"
      "ChargePeriodStart,ChargePeriodEnd\n"
      "12.5,USD,Usage,2026-03-01T00:00:00+01:00,2026-04-01T00:00:00+02:00,"
      "2026-03-29T01:00:00+01:00,2026-03-29T03:00:00+02:00\n"
      "12.5,USD,Usage,2026-03-01T00:00:00-08:00,2026-04-01T00:00:00-07:00,"
      "2026-03-08T01:00:00-08:00,2026-03-08T03:00:00-07:00\n";
  bill::CollectingSink seen;
  const auto summary = import_csv(text, "b.csv", seen);
  ASSERT_TRUE(summary) << summary.error().message;
  ASSERT_EQ(summary->imported, 2u);
  EXPECT_EQ(to_text(seen.lines[0].billing_period), "2026-03-01T00:00:00Z/2026-04-01T00:00:00Z");
  EXPECT_EQ(to_text(seen.lines[0].charge_period), "2026-03-29T00:00:00Z/2026-03-29T01:00:00Z");
  EXPECT_EQ(to_text(seen.lines[1].billing_period), "2026-03-01T08:00:00Z/2026-04-01T07:00:00Z");
  EXPECT_THAT(summary->warnings, testing::Contains(HasSubstr("in 1 row the billing period begins "
                                                             "and ends at local midnights")));
}

TEST(CsvImport, OnlyMidnightsOfATimeZoneBeginALocalMonth) {
  struct Period {
    const char* begin;
    const char* end;
    const char* month;  // in which the bill is booked; "": the row is set aside
  };
  const auto text_of = [](const std::vector<Period>& periods) {
    std::string text =
        "BilledCost,BillingCurrency,ChargeCategory,BillingPeriodStart,BillingPeriodEnd,"
        "ChargePeriodStart,ChargePeriodEnd\n";
    for (const Period& period : periods) {
      text += fmt::format("12.5,USD,Usage,{},{},2026-03-05T00:00:00Z,2026-03-06T00:00:00Z\n",
                          period.begin, period.end);
    }
    return text;
  };
  const std::vector<std::vector<Period>> files = {
      {{"2026-02-28T23:00:00Z", "2026-03-31T22:00:00Z", "2026-03"}},  // Berlin
      {{"2026-02-28T18:15:00Z", "2026-03-31T18:15:00Z", "2026-03"}},  // Kathmandu
      {{"2026-03-31T10:15:00Z", "2026-04-30T11:15:00Z", "2026-04"}},  // the Chatham Islands
      {{"2026-02-28T10:00:00Z", "2026-03-31T10:00:00Z", "2026-03"}},  // Kiritimati
      // London, Dublin and Lisbon: in UTC, and an hour ahead in summer.
      {{"2026-09-30T23:00:00Z", "2026-11-01T00:00:00Z", "2026-10"},
       {"2026-03-01T00:00:00Z", "2026-03-31T23:00:00Z", "2026-03"},
       {"2026-03-31T23:00:00Z", "2026-04-30T23:00:00Z", "2026-04"},
       {"2026-11-01T00:00:00Z", "2026-12-01T00:00:00Z", "2026-11"}},
      {{"2026-10-01T00:00:00+01:00", "2026-11-01T00:00:00+00:00", "2026-10"},
       {"2026-02-28T15:00:00Z", "2026-03-31T15:00:00Z", "2026-03"}},
      {{"2026-09-30T22:00:00Z", "2026-11-01T00:00:00Z", "2026-09"}},
      {{"2026-10-01T00:00:00+01:00", "2026-11-01T01:00:00+01:00", "2026-09"}},
      {{"2026-09-30T23:00:00Z", "2026-10-01T00:00:00Z", "2026-09"}},  // the last hour
      {{"2026-02-28T09:00:00Z", "2026-03-31T09:00:00Z", "2026-02"}},  // nobody is so far ahead
      {{"2026-02-28T18:07:00Z", "2026-03-31T18:07:00Z", "2026-02"}},
      {{"2026-02-28T22:45:00Z", "2026-03-31T22:45:00Z", "2026-02"}},
      {{"2026-02-28T23:00:01Z", "2026-03-31T22:00:01Z", "2026-02"}},
      {{"2026-02-28T23:00:00Z", "2026-03-31T18:00:00Z", "2026-02"}},  // of two zones
      {{"2026-02-28T23:00:00Z", "2026-03-28T23:00:00Z", "2026-02"}},
      {{"2026-02-28T20:00:00+01:00", "2026-03-31T20:00:00+02:00", "2026-02"}},  // evenings
      {{"2026-02-28T18:00:00-05:00", "2026-03-31T18:00:00-05:00", "2026-02"}},
      {{"2026-02-28T18:00:00-0500", "2026-03-31T23:00:00Z", "2026-02"}},
      {{"2026-02-28T23:00:00-00:00", "2026-03-31T22:00:00Z", "2026-03"}},
      // One zone in a file, with its summer time, beside UTC and zones that are stated.
      {{"2026-02-28T23:00:00Z", "2026-03-31T22:00:00Z", "2026-03"},
       {"2026-03-31T22:00:00Z", "2026-04-30T22:00:00Z", "2026-04"},
       {"2026-03-01T00:00:00Z", "2026-04-01T00:00:00Z", "2026-03"},
       {"2026-03-01T00:00:00+0900", "2026-04-01T00:00:00+0900", "2026-03"},
       {"2026-03-01T00:00:00-08:00", "2026-04-01T00:00:00-07:00", "2026-03"},
       {"2026-02-28T15:00:00Z", "2026-03-31T15:00:00Z", ""}},
      {{"2026-02-28T15:00:00Z", "2026-03-31T15:00:00Z", "2026-03"},
       {"2026-02-28T23:00:00Z", "2026-03-31T22:00:00Z", ""}},
  };
  for (const auto& periods : files) {
    SCOPED_TRACE(text_of(periods));
    bill::CollectingSink seen;
    const auto summary = import_csv(text_of(periods), "b.csv", seen);
    ASSERT_TRUE(summary) << summary.error().message;
    std::vector<std::string> want, got;
    for (const Period& period : periods) {
      const std::string month = period.month;
      if (!month.empty()) want.push_back(month);
    }
    for (const Charge& line : seen.lines) {
      got.push_back(to_text(line.billing_period.begin()).substr(0, 7));
    }
    EXPECT_EQ(got, want);
    const std::string first = periods[0].month;
    const bool is_odd = (first == "2026-02" || first == "2026-09") &&
                        std::string(periods[0].begin) != "2026-02-28T09:00:00Z";
    EXPECT_EQ(std::ranges::any_of(summary->warnings,
                                  [](const std::string& warning) {
                                    return warning.contains("at no midnight of a time zone");
                                  }),
              is_odd);
    EXPECT_EQ(summary->rejected, periods.size() - want.size());
  }
}

TEST(CsvImport, OneCostIsEnoughAndTheOthersAreCounted) {
  const std::string columns = ",BillingCurrency,ChargeCategory,ChargePeriodStart,ChargePeriodEnd\n";
  const std::string cells = ",USD,Usage,2026-03-31T22:00:00Z,2026-04-01T00:00:00Z\n";
  for (const std::string only : {"BilledCost", "EffectiveCost", "ListCost", "ContractedCost"}) {
    bill::CollectingSink seen;
    const auto summary = import_csv(only + columns + "12.5" + cells + cells, "b.csv", seen);
    ASSERT_TRUE(summary) << summary.error().message;
    EXPECT_EQ(summary->imported, 1u);
    EXPECT_EQ(summary->rejected, 1u) << "no amount at all";
    EXPECT_THAT(seen.totals(), ElementsAre("12.5", "12.5", "12.5", "12.5"));
    EXPECT_EQ(to_text(seen.lines[0].billing_period), "2026-03-01T00:00:00Z/2026-04-01T00:00:00Z");
    EXPECT_THAT(summary->warnings,
                testing::IsSupersetOf({HasSubstr(only + " took its place"),
                                       HasSubstr("in 1 row no whole billing period is stated")}));
  }
}

TEST(CsvImport, RowsAreTakenPlusRejected) {
  const std::string good = "1,1,1,1,USD,Usage,2026-03-01,2026-04-01,2026-03-01,2026-03-02\n";
  std::string text = std::string(kHeader) + "\n";
  for (int i = 0; i < 10'000; ++i) text += i % 7 == 3 ? "1,2\n" : i % 7 == 5 ? "\xFF" + good : good;
  bill::CollectingSink seen;
  bill::CsvImport import("bill.csv", focus_bill(), seen);
  for (std::size_t at = 0; at < text.size(); at += 1000) {
    ASSERT_TRUE(import.feed(std::string_view(text).substr(at, 1000)));
  }
  const auto summary = import.finish();
  ASSERT_TRUE(summary);
  EXPECT_EQ(summary->rows, 10'000u);
  EXPECT_EQ(summary->imported, seen.lines.size());
  EXPECT_EQ(summary->rejected, seen.bad.size());
  EXPECT_EQ(seen.lines.size() + seen.bad.size(), 10'000u);
  EXPECT_EQ(seen.lines.back().source.line, 10'000u);
}

// A store takes only well-formed UTF-8, also of what was refused.
TEST(CsvImport, RejectedRowsCanBeKept) {
  std::string long_text(59, 'x');
  while (long_text.size() < 5000) long_text += "é";
  bill::CollectingSink seen;
  ASSERT_TRUE(import_csv(one_line({{"BillingCurrency", long_text}}), "bill.csv", seen));
  ASSERT_TRUE(import_csv(one_line({{"x_Any", "caf\xE9"}}), "bill.csv", seen));
  ASSERT_EQ(seen.bad.size(), 2u);
  for (const RejectedRow& row : seen.bad) {
    EXPECT_TRUE(is_plain_text(row.reason));
    EXPECT_TRUE(is_plain_text(row.text));
    EXPECT_LE(row.text.size(), limits::kRejectedTextBytesMax);
  }
}

TEST(CsvImport, AFileWithoutTheCostsIsRefused) {
  bill::CollectingSink seen;
  const auto summary = import_csv("BilledCost,billingcurrency\n1,USD\n", "bill.csv", seen);
  ASSERT_FALSE(summary);
  EXPECT_EQ(summary.error().code, ErrorCode::kBadFile);
  EXPECT_THAT(summary.error().message, HasSubstr("missing columns: BillingCurrency"));
  EXPECT_THAT(summary.error().message, HasSubstr("there is 'billingcurrency'"));
}

TEST(CsvImport, WithoutAColumnOfContractedCostTheBilledTakesItsPlaceAndIsCounted) {
  const std::string columns =
      "BilledCost,EffectiveCost,ListCost,BillingCurrency,ChargeCategory,BillingPeriodStart,"
      "BillingPeriodEnd,ChargePeriodStart,ChargePeriodEnd";
  const std::string cells =
      ",USD,Usage,2026-03-01T00:00:00Z,2026-04-01T00:00:00Z,2026-03-05T00:00:00Z,"
      "2026-03-05T01:00:00Z\n";
  bill::CollectingSink seen;
  const auto summary =
      import_csv(columns + "\n0.1234567890123456785,2,3" + cells + "5,6,7" + cells + ",6,7" + cells,
                 "b.csv", seen);
  ASSERT_TRUE(summary) << summary.error().message;
  EXPECT_EQ(summary->imported, 2u);
  EXPECT_EQ(summary->rejected, 1u);
  EXPECT_EQ(summary->rounded_numbers, 1u) << "one number, though it stands twice in the charge";
  EXPECT_THAT(seen.totals(),
              ElementsAre("5.123456789012345678", "8", "10", "5.123456789012345678"));
  EXPECT_THAT(summary->warnings,
              testing::Contains("the file has no ContractedCost; in 2 rows BilledCost took its "
                                "place"));
}

// Nobody is invoiced them: Oracle's rows of the official sample have no ContractedCost, and taxes
// in Google's view no ListCost.
TEST(CsvImport, AnEmptyListOrContractedCostDoesNotLoseTheRow) {
  bill::CollectingSink seen;
  const std::string text = one_line({{"ContractedCost", ""}});
  const std::string row = text.substr(text.find('\n') + 1);
  const auto summary = import_csv(
      text + "5,6,NULL,7" + row.substr(row.find(",USD")) + "8,9,," + row.substr(row.find(",USD")),
      "b.csv", seen);
  ASSERT_TRUE(summary) << summary.error().message;
  EXPECT_EQ(summary->imported, 3u) << (seen.bad.empty() ? "" : seen.bad[0].reason);
  EXPECT_THAT(seen.totals(), ElementsAre("14", "17", "18", "16"));
  EXPECT_THAT(summary->warnings,
              testing::IsSupersetOf(
                  {HasSubstr("in 2 rows ContractedCost is empty; BilledCost took its place"),
                   HasSubstr("in 2 rows ListCost is empty; ContractedCost took its place")}));
}

TEST(CsvImport, CodesInAnotherLetterCaseAreTakenAndCounted) {
  bill::CollectingSink seen;
  const auto summary = import_csv(one_line({{"ChargeCategory", "usage"},
                                            {"ChargeClass", "correction"},
                                            {"ChargeFrequency", "USAGE-BASED"},
                                            {"PricingCategory", "committed"},
                                            {"CommitmentDiscountCategory", "spend"},
                                            {"CommitmentDiscountStatus", "used"}}),
                                  "b.csv", seen);
  ASSERT_TRUE(summary);
  ASSERT_EQ(seen.lines.size(), 1u);
  const Charge& line = seen.lines[0];
  EXPECT_EQ(line.charge_category, ChargeCategory::kUsage);
  EXPECT_TRUE(line.is_correction);
  EXPECT_EQ(line.charge_frequency, ChargeFrequency::kUsageBased);
  EXPECT_EQ(line.pricing_category, PricingCategory::kCommitted);
  EXPECT_EQ(line.commitment_discount_category, "Spend");
  EXPECT_EQ(line.commitment_discount_status, UsedOrUnused::kUsed);
  EXPECT_THAT(summary->warnings, testing::Contains(HasSubstr("in 1 row codes are in another")));
}

TEST(CsvImport, AChargeOfAMomentHasAPeriod) {
  const auto period = [](const std::string& category, const std::string& moment) {
    const Charge line = taken(
        {{"ChargeCategory", category}, {"ChargePeriodStart", moment}, {"ChargePeriodEnd", moment}});
    EXPECT_EQ(line.other_columns, R"({"x_ChargePeriodStart":")" + moment + "\"}");
    return to_text(line.charge_period);
  };
  EXPECT_EQ(period("Usage", "2026-03-05T12:00:00Z"), "2026-03-05T00:00:00Z/2026-03-06T00:00:00Z");
  EXPECT_EQ(period("Tax", "2026-03-31T07:00:00Z"), "2026-03-01T00:00:00Z/2026-04-01T00:00:00Z");
  EXPECT_EQ(period("Purchase", "2026-03-01"), "2026-03-01T00:00:00Z/2026-04-01T00:00:00Z");
  // A moment of another month does not say what it is for.
  bill::CollectingSink seen;
  ASSERT_TRUE(
      import_csv(one_line({{"ChargePeriodStart", "2026-01-05"}, {"ChargePeriodEnd", "2026-01-05"}}),
                 "b.csv", seen));
  ASSERT_EQ(seen.bad.size(), 1u);
  EXPECT_EQ(seen.bad[0].column, "ChargePeriodEnd");
}

TEST(CsvImport, TimesFinerThanAMillisecondAreCut) {
  bill::CollectingSink seen;
  const auto summary =
      import_csv(one_line({{"ChargePeriodStart", "2026-03-05T00:00:00.123999Z"},
                           {"ChargePeriodEnd", "2026-03-05 01:00:00.5000019 UTC"}}),
                 "b.csv", seen);
  ASSERT_TRUE(summary);
  ASSERT_EQ(seen.lines.size(), 1u);
  EXPECT_EQ(to_text(seen.lines[0].charge_period),
            "2026-03-05T00:00:00.123Z/2026-03-05T01:00:00.500Z");
  EXPECT_THAT(summary->warnings, testing::Contains(HasSubstr("in 1 row times are finer")));
}

TEST(CsvImport, AQuantityBeyondAllBoundsDoesNotLoseTheRow) {
  bill::CollectingSink seen;
  const auto summary = import_csv(one_line({{"ConsumedQuantity", "2.6e+21"},
                                            {"ConsumedUnit", "Bytes"},
                                            {"x_ListUnitPrice", "a"},
                                            {"ListUnitPrice", "1e30"},
                                            {"PricingQuantity", "1.5e+3"}}),
                                  "b.csv", seen);
  ASSERT_TRUE(summary);
  ASSERT_EQ(seen.lines.size(), 1u) << seen.bad[0].reason;
  EXPECT_FALSE(seen.lines[0].consumed_quantity);
  EXPECT_EQ(to_text(*seen.lines[0].pricing_quantity), "1500");
  EXPECT_EQ(seen.lines[0].other_columns,
            R"({"x_ConsumedQuantity":"2.6e+21","x_ListUnitPrice":"a"})");
  EXPECT_THAT(summary->warnings, testing::Contains(HasSubstr("in 1 row a quantity or unit price")));
}

TEST(CsvImport, CreditsOfGoogleAreWarnedOf) {
  bill::CollectingSink seen;
  const auto summary = import_csv(one_line({{"ProviderName", "Google Cloud"},
                                            {"x_Credits", quoted_json(R"([{"Amount":-1}])")}}),
                                  "b.csv", seen);
  ASSERT_TRUE(summary);
  EXPECT_THAT(summary->warnings, testing::Contains(HasSubstr("in 1 row there are x_Credits")));
}

TEST(CsvImport, AHeaderWithoutRowsIsABillOfNothingAndSaysSo) {
  const std::string text = one_line({});
  bill::CollectingSink seen;
  const auto summary = import_csv(text.substr(0, text.find('\n') + 1), "b.csv", seen);
  ASSERT_TRUE(summary) << summary.error().message;
  EXPECT_EQ(summary->rows, 0u);
  EXPECT_THAT(summary->warnings, testing::Contains(HasSubstr("a header and no rows")));
  EXPECT_FALSE(import_csv("", "b.csv", seen));
  EXPECT_FALSE(import_csv("BilledCost\n", "b.csv", seen)) << "it must be the header of a bill";
}

TEST(CsvImport, SaysWhatTheVersionWouldHaveHad) {
  bill::CollectingSink seen;
  const auto summary =
      import_csv(one_line({{"HostProviderName", "AWS"}, {"Id", "1"}}), "b.csv", seen);
  ASSERT_TRUE(summary);
  EXPECT_EQ(summary->kind, "FOCUS 1.4");
  EXPECT_THAT(summary->warnings,
              ElementsAre(HasSubstr("FOCUS 1.4 has columns that this file lacks: BillingAccountId"),
                          HasSubstr("as they are: Id")));
}

TEST(CsvImport, CountsNumbersBeyondTheLastDigitKept) {
  bill::CollectingSink seen;
  const auto summary =
      import_csv(one_line({{"BilledCost", "0.1234567890123456785"}, {"ListUnitPrice", "1e-19"}}),
                 "b.csv", seen);
  ASSERT_TRUE(summary);
  EXPECT_EQ(summary->rounded_numbers, 2u);
  EXPECT_EQ(to_text(seen.lines[0].costs.billed.amount()), "0.123456789012345678");
}

TEST(Column, VersionsAreToldByTheirColumns) {
  struct Case {
    std::vector<std::string> names;
    Version want;
  };
  const Case cases[] = {
      {{"BilledCost", "ProviderName"}, Version::k1_0},
      {{"SkuMeter"}, Version::k1_1},
      {{"SkuMeter", "InvoiceId"}, Version::k1_2},
      {{"ServiceProviderName", "ProviderName"}, Version::k1_3},
      {{"ServiceProviderName"}, Version::k1_4},
      {{"InvoiceDetailId", "ProviderName"}, Version::k1_4},
  };
  for (const Case& c : cases) EXPECT_EQ(detect_version(c.names), c.want);
  EXPECT_TRUE(std::ranges::is_sorted(columns(), {}, &Column::name));
  EXPECT_EQ(find_column("ListCost")->name, "ListCost");
  EXPECT_EQ(find_column("listcost"), nullptr);
}

TEST(Column, NamesInAnotherSpellingAreKnown) {
  EXPECT_EQ(focus_spelling("billedcost"), "BilledCost");
  EXPECT_EQ(focus_spelling("BILLED_COST"), "BilledCost");
  EXPECT_EQ(focus_spelling("Billed Cost"), "BilledCost");
  EXPECT_EQ(focus_spelling("usage_unit"), "UsageUnit") << "of a draft";
  EXPECT_EQ(focus_spelling("x_billed_cost"), "");
  EXPECT_EQ(focus_spelling("cost"), "");
  EXPECT_TRUE(is_focus_header(std::vector<std::string>{"a", "charge_period_start"}));
  EXPECT_FALSE(is_focus_header(std::vector<std::string>{"cost", "x_BilledCost"}));

  const std::string_view names[] = {"billedcost", "BILLEDCOST", "Tags", "tags", "x_a"};
  const RespelledHeader header = respell_header(*csv::Header::of(names));
  EXPECT_THAT(header.header.names(),
              ElementsAre("BilledCost", "BILLEDCOST", "Tags", "tags", "x_a"));
  EXPECT_THAT(header.changed, ElementsAre("billedcost"));
}

TEST(CurrencyCode, KnowsIso4217) {
  for (const char* code : {"USD", "EUR", "JPY", "AED", "ZWL"})
    EXPECT_TRUE(bill::is_iso_currency(code));
  for (const char* code : {"", "US", "usd", "SD ", "D A", "XXY", "USDE"})
    EXPECT_FALSE(bill::is_iso_currency(code));
}

TEST(Number, AsProgramsPrintIt) {
  EXPECT_EQ(to_text(bill::parse_printed_number("1.5e+3")->value), "1500");
  EXPECT_EQ(to_text(bill::parse_printed_number("-2E+0")->value), "-2");
  for (const char* text : {"e+3", "1e+", "1e+-3", "1e++3", "+1", "1+e3"})
    EXPECT_FALSE(bill::parse_printed_number(text)) << text;
  for (const char* text : {"1e20", "-1e+20", "2.6E21", "123456789012345678901", "1e999999"})
    EXPECT_TRUE(bill::is_number_out_of_range(text)) << text;
  for (const char* text :
       {"", "-", ".", "1e", "1e+", "x", "1e20x", "99999999999999999999", "1.2.3"})
    EXPECT_FALSE(bill::is_number_out_of_range(text)) << text;
}

TEST(Number, EqualsTheExactParserForEveryText) {
  EXPECT_TRUE(rc::check("parse_number == parse_decimal", [] {
    const auto text = *rc::gen::oneOf(
        rc::gen::container<std::string>(rc::gen::elementOf(std::string("0123456789.-e+x"))),
        rc::gen::map(
            rc::gen::tuple(rc::gen::arbitrary<std::int64_t>(), rc::gen::arbitrary<std::uint64_t>()),
            [](const std::tuple<std::int64_t, std::uint64_t>& parts) {
              return std::to_string(std::get<0>(parts)) + "." + std::to_string(std::get<1>(parts));
            }));
    const auto fast = bill::parse_number(text);
    const auto exact = parse_decimal(text);
    RC_ASSERT(fast.has_value() == exact.has_value());
    if (fast) {
      RC_ASSERT(fast->value == exact->value);
      RC_ASSERT(fast->rounded == exact->rounded);
    }
  }));
}

}  // namespace
}  // namespace pennyweight::focus
