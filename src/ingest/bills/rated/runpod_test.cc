#include "ingest/bills/rated/runpod.h"

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

std::string runpod_file(std::string_view name) {
  std::ifstream in(std::string(TEST_DATA) + "/rated/" + std::string(name), std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

struct ImportedRunpod {
  bill::CollectingSink sink;
  bill::ImportSummary summary;
  std::string error;
};

ImportedRunpod import_records(std::string_view json, const RunpodOptions& options = {}) {
  const RateCard card = RateCard::parse(runpod_file("card.csv"), "card.csv").value();
  const auto reader = runpod_bill(card, options);
  ImportedRunpod out;
  auto summary = bill::import_json(json, "pods.json", reader, out.sink);
  if (summary) {
    out.summary = *std::move(summary);
  } else {
    out.error = summary.error().message;
  }
  return out;
}

TEST(Runpod, RecordsWithAndWithoutAmounts) {
  const ImportedRunpod bill = import_records(runpod_file("pod_billing.json"));
  ASSERT_EQ(bill.error, "");
  EXPECT_EQ(bill.summary.kind, "RunPod billing by the day");
  EXPECT_EQ(bill.summary.rows, 4u);
  EXPECT_EQ(bill.summary.imported, 3u);
  // Digit by digit: 8.160000000000001 + 1.5 h x 0.34 + 0.0015.
  EXPECT_THAT(bill.sink.totals(), ElementsAre("8.671500000000001", "8.671500000000001",
                                              "8.671500000000001", "8.671500000000001"));
  const Charge& pod = bill.sink.lines[0];
  EXPECT_EQ(pod.resource_id, "xedezhzb9la3ye");
  EXPECT_EQ(pod.resource_type, "Pod");
  EXPECT_EQ(pod.sku_id, "NVIDIA GeForce RTX 4090");
  EXPECT_EQ(pod.service_name, "Pods");
  EXPECT_EQ(to_text(pod.billing_period), "2026-03-01T00:00:00Z/2026-04-01T00:00:00Z");
  EXPECT_EQ(to_text(pod.charge_period), "2026-03-01T00:00:00Z/2026-03-02T00:00:00Z");
  EXPECT_EQ(to_text(*pod.pricing_quantity), "24");
  EXPECT_EQ(to_text(*pod.consumed_quantity), "86400000");
  EXPECT_EQ(pod.consumed_unit, "Milliseconds");
  EXPECT_EQ(pod.other_columns, R"({"x_DiskSpaceBilledQuantity":"50"})");
  EXPECT_FALSE(pod.contracted_unit_price.has_value());
  const Charge& priced = bill.sink.lines[1];
  EXPECT_EQ(to_text(priced.costs.billed.amount()), "0.51");
  EXPECT_EQ(to_text(*priced.contracted_unit_price), "0.34");
  const Charge& endpoint = bill.sink.lines[2];
  EXPECT_EQ(endpoint.resource_id, "ep-1");
  EXPECT_EQ(endpoint.service_name, "Serverless");
  ASSERT_EQ(bill.sink.bad.size(), 1u);
  EXPECT_EQ(bill.sink.bad.front().line, 3u);
  EXPECT_THAT(bill.sink.bad.front().reason,
              HasSubstr("no price in card.csv for provider=RunPod, sku=NVIDIA B200"));
}

TEST(Runpod, RecordsOneByOne) {
  struct Case {
    std::string_view record;
    BucketSize bucket;
    std::string_view want;  // the billed cost, or the reason
  };
  const Case cases[] = {
      {R"({"amount": 1, "time": "2026-03-01T05:00:00Z"})", BucketSize::kHour, "1"},
      {R"({"amount": "1.25", "time": "2026-03-01"})", BucketSize::kMonth, "1.25"},
      {R"({"amount": -2, "time": "2026-03-01"})", BucketSize::kDay, "-2"},
      {R"({"amount": 1, "time": "2026-03-01T05:00:00Z"})", BucketSize::kDay,
       "2026-03-01T05:00:00Z is not the beginning of a bucket of one day"},
      {R"({"amount": 1, "time": "2026-03-02"})", BucketSize::kMonth,
       "not the beginning of a bucket of one month"},
      {R"({"amount": 1, "time": "2026-03-01T05:30:00Z"})", BucketSize::kHour,
       "not the beginning of a bucket of one hour"},
      {R"({"amount": 1, "time": null})", BucketSize::kDay, ""},
      {R"({"amount": "$1", "time": "2026-03-01"})", BucketSize::kDay, "'$1'"},
      {R"({"time": "2026-03-01", "amount": null})", BucketSize::kDay, "neither an amount nor"},
      {R"({"time": "2026-03-01", "amount": {"usd": 1}})", BucketSize::kDay, "usd"},
  };
  for (const Case& c : cases) {
    const ImportedRunpod bill =
        import_records("[" + std::string(c.record) + "]", {.bucket = c.bucket, .account = "me"});
    ASSERT_EQ(bill.error, "") << c.record;
    std::string got;
    if (bill.sink.lines.size() == 1) got = to_text(bill.sink.lines.front().costs.billed.amount());
    if (bill.sink.bad.size() == 1) got = bill.sink.bad.front().reason;
    EXPECT_THAT(got, HasSubstr(c.want)) << c.record;
  }
}

TEST(Runpod, TheSameNamesAsCsv) {
  const RateCard card;
  bill::CollectingSink sink;
  const auto summary = bill::import_csv(
      "time,podId,amount,timeBilledMs,Data Center\n2026-03-01,p,0.5,1000,EU-RO-1\n", "pods.csv",
      runpod_bill(card, {}), sink);
  ASSERT_TRUE(summary.has_value());
  EXPECT_THAT(sink.totals(), ElementsAre("0.5", "0.5", "0.5", "0.5"));
  EXPECT_EQ(sink.lines.front().other_columns, R"({"x_DataCenter":"EU-RO-1"})");
  EXPECT_EQ(summary->rounded_numbers, 1u);  // a second is no finite decimal of an hour
}

TEST(JsonImport, WhatIsNoDocumentOfRecords) {
  struct Case {
    std::string_view json;
    std::string_view want;
  };
  const Case cases[] = {
      {"", "no JSON records"},
      {"[", "no JSON records"},
      {"1", "neither an array nor an object"},
      {"{}", "no member is an array"},
      {R"({"a": [], "b": []})", "several members are arrays"},
      {"[]", "the array is empty"},
      {R"([{"amount": 1, "time": "2026-03-01"}] x)", "no JSON records"},
      {R"([{"amount": 1, "time": "2026-03-01"}, )", "no JSON records"},
      {R"([{"amount": 1}])", "have 'time' and"},
      {R"([{"amount": tru, "time": "2026-03-01"}])", "no JSON records"},
      {R"([{"amount": nul, "time": "2026-03-01"}])", "no JSON records"},
      {R"([{"": 1, "time": "2026-03-01"}])", "name"},
  };
  for (const Case& c : cases) {
    EXPECT_THAT(import_records(c.json).error, HasSubstr(c.want)) << c.json;
  }
}

// As BigQuery and other warehouses write it.
TEST(JsonImport, ARecordInEachLine) {
  const ImportedRunpod bill = import_records(
      "{\"amount\": 1.5, \"time\": \"2026-03-01\", \"podId\": \"a\", \"x\": [1, 2]}\r\n\n"
      "{\"amount\": 2, \"time\": \"2026-03-01\", \"podId\": \"b\"}\n"
      "{\"amount\": 3, \"time\": \n"
      "{\"amount\": 4, \"time\": \"2026-03-01\"} 5\n"
      "7\n"
      "{\"amount\": 8, \"time\": \"2026-03-01\", \"podId\": \"c\"}");
  ASSERT_EQ(bill.error, "");
  EXPECT_EQ(bill.summary.rows, 6u);
  EXPECT_THAT(bill.sink.totals(), ElementsAre("11.5", "11.5", "11.5", "11.5"));
  ASSERT_EQ(bill.sink.bad.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(bill.sink.bad[i].line, i + 4);
    EXPECT_THAT(bill.sink.bad[i].reason, HasSubstr("the line is not a JSON object"));
  }
  EXPECT_EQ(bill.sink.lines[1].source.line, 3u);
  // One line is a record where it says what records say, and else an object around them.
  EXPECT_EQ(import_records(R"({"amount": 1, "time": "2026-03-01", "x": [1]})").summary.imported,
            1u);
  EXPECT_EQ(import_records(R"({"n": 1, "rows": [{"amount": 1, "time": "2026-03-01"}]})"
                           "\n")
                .summary.imported,
            1u);
}

TEST(JsonImport, BadRecordsAreKeptAside) {
  const ImportedRunpod bill = import_records(
      R"({"metadata": {"n": 4}, "records": [{"amount": 1, "time": "2026-03-01"}, 5,
          {"amount": 1, "amount": 2, "time": "2026-03-01"},
          {"amount": 1, "podId": "a\u0000b", "time": "2026-03-01"}]})");
  ASSERT_EQ(bill.error, "");
  EXPECT_EQ(bill.summary.rows, 4u);
  EXPECT_EQ(bill.summary.imported, 1u);
  ASSERT_EQ(bill.sink.bad.size(), 3u);
  EXPECT_EQ(bill.sink.bad[0].reason, "is not a JSON object");
  EXPECT_EQ(bill.sink.bad[0].text, "5");
  EXPECT_EQ(bill.sink.bad[1].reason, "says 'amount' twice");
  EXPECT_EQ(bill.sink.bad[1].line, 3u);
  EXPECT_THAT(bill.sink.bad[2].reason, HasSubstr("podId holds a NUL"));
}

}  // namespace
}  // namespace pennyweight::rated
