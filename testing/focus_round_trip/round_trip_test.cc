// A bill that is written as a FOCUS table and read again is unchanged, field by field.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "core/json_text.h"
#include "ingest/bills/collecting_sink_testing.h"
#include "ingest/bills/focus/focus_bill.h"
#include "ingest/bills/json_column.h"
#include "reporting/export/allocated_rows.h"
#include "reporting/export/focus_csv.h"
#include "reporting/export/focus_parquet.h"

namespace pennyweight {
namespace {

// Texts that are hard for CSV and JSON, and the words for null.
std::string any_text() {
  return *rc::gen::weightedOneOf<std::string>(
      {{3, rc::gen::just(std::string())},
       {1, rc::gen::elementOf(std::vector<std::string>{"NULL", "null", "\\N", "é€💰", " x ", "1,5",
                                                       "a\"b", "two\nlines", "\r", "{}", "-"})},
       {2, rc::gen::container<std::string>(
               rc::gen::elementOf(std::string("ab,\"\n\r\t \\;:{}'\x01")))}});
}

Decimal any_number() {
  const auto high = *rc::gen::arbitrary<std::int64_t>();
  const auto low = *rc::gen::arbitrary<std::int64_t>();
  const Int128 ticks = Int128{high} * (*rc::gen::arbitrary<bool>() ? low : 1);
  return Decimal::from_ticks(ticks % Decimal::kTicksMax);
}

std::optional<Decimal> maybe_number() {
  return *rc::gen::arbitrary<bool>() ? std::optional(any_number()) : std::nullopt;
}

template <class Code>
std::optional<Code> maybe_code(int last) {
  const int value = *rc::gen::inRange(-1, last + 1);
  return value < 0 ? std::nullopt : std::optional(static_cast<Code>(value));
}

Interval any_interval() {
  const auto begin = *rc::gen::inRange<std::int64_t>(0, 4'000'000'000'000);
  const auto length = *rc::gen::inRange<std::int64_t>(1, 3'000'000'000);
  return {from_unix_ms(begin), from_unix_ms(begin + length)};
}

std::string any_other_columns() {
  std::map<std::string, std::string> columns;
  for (const char* name : {"RegionName", "HostProviderName", "ContractApplied", "InvoiceDetailId",
                           "x_Any", "x_zed", "Odd, name"}) {
    if (std::string text = any_text(); !text.empty()) columns[name] = std::move(text);
  }
  std::string json;
  for (const auto& [name, text] : columns) {
    json += json.empty() ? '{' : ',';
    append_stored_json_string(json, name);
    json += ':';
    append_stored_json_string(json, text);
  }
  return json.empty() ? json : json + "}";
}

Charge any_charge() {
  const Currency currency = *rc::gen::arbitrary<bool>() ? kUsd : kEur;
  const auto money = [&] { return Money::from_decimal(any_number(), currency); };
  Charge c(any_interval(), any_interval(), {money(), money(), money(), money()});
  for (std::string* text : {&c.billing_account_id,
                            &c.billing_account_name,
                            &c.sub_account_id,
                            &c.sub_account_name,
                            &c.invoice_id,
                            &c.invoice_issuer_name,
                            &c.service_provider_name,
                            &c.charge_description,
                            &c.service_category,
                            &c.service_subcategory,
                            &c.service_name,
                            &c.region_id,
                            &c.availability_zone,
                            &c.resource_id,
                            &c.resource_name,
                            &c.resource_type,
                            &c.sku_id,
                            &c.sku_meter,
                            &c.sku_price_id,
                            &c.pricing_unit,
                            &c.consumed_unit,
                            &c.commitment_discount_id,
                            &c.commitment_discount_type,
                            &c.capacity_reservation_id,
                            &c.cluster,
                            &c.pool}) {
    *text = any_text();
  }
  if (*rc::gen::arbitrary<bool>()) {
    c.sku_price_details = R"({"InstanceType": "p5.48xlarge", "GpuCount":8, "x":{"y":[1,2]}})";
    c.instance_type = "p5.48xlarge";
  } else {
    c.instance_type = any_text();
  }
  c.charge_category = static_cast<ChargeCategory>(*rc::gen::inRange(0, 5));
  c.is_correction = *rc::gen::arbitrary<bool>();
  c.charge_frequency = maybe_code<ChargeFrequency>(2);
  c.pricing_category = maybe_code<PricingCategory>(3);
  c.commitment_discount_category =
      *rc::gen::elementOf(std::vector<std::string>{"", "Spend", "Usage"});
  c.commitment_discount_status = maybe_code<UsedOrUnused>(1);
  c.capacity_reservation_status = maybe_code<UsedOrUnused>(1);
  c.pricing_quantity = maybe_number();
  c.list_unit_price = maybe_number();
  c.contracted_unit_price = maybe_number();
  c.consumed_quantity = maybe_number();
  for (const char* key : {"team", "k8s/app", "käse"}) {
    if (*rc::gen::arbitrary<bool>()) RC_ASSERT(c.tags.set(key, any_text()).has_value());
  }
  c.other_columns = any_other_columns();
  return c;
}

// The differences after writing and reading; empty if there are none.
std::string changed_on_the_way(const std::vector<Charge>& charges, FocusVersion version) {
  const auto csv = focus_csv(version, charges);
  if (!csv) return csv.error().message;
  bill::CollectingSink seen;
  const auto summary = focus::import_csv(*csv, "written.csv", seen);
  if (!summary) return summary.error().message;
  if (!seen.bad.empty()) return seen.bad[0].reason;
  if (seen.lines.size() != charges.size()) return "the number of lines";
  for (std::size_t i = 0; i < charges.size(); ++i) {
    Charge& back = seen.lines[i];
    back.source = charges[i].source;  // the row's place in the file is not part of the charge
    if (!(back == charges[i])) return "line differs: " + difference(charges[i], back);
  }
  return "";
}

TEST(RoundTrip, ImportOfWhatIsWrittenEqualsTheCharges) {
  EXPECT_TRUE(rc::check("import(write(charges)) == charges", [] {
    std::vector<Charge> charges;
    const int count = *rc::gen::inRange(1, 5);
    for (int i = 0; i < count; ++i) charges.push_back(any_charge());
    const auto version = *rc::gen::elementOf(std::vector{FocusVersion::k1_3, FocusVersion::k1_4});
    RC_ASSERT(changed_on_the_way(charges, version) == "");
  }));
}

TEST(RoundTrip, PublicSamplesSurviveToo) {
  for (const std::string name : {"aws_1_2", "aws_1_3", "azure_1_2", "azure_1_3", "gcp_1_2",
                                 "gcp_1_3", "official_1_0_sample"}) {
    std::ifstream in(std::string(TEST_DATA) + "/focus/" + name + ".csv", std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    bill::CollectingSink seen;
    ASSERT_TRUE(focus::import_csv(text.str(), name, seen)) << name;
    for (const FocusVersion version : {FocusVersion::k1_3, FocusVersion::k1_4}) {
      EXPECT_EQ(changed_on_the_way(seen.lines, version), "") << name;
    }
  }
}

// The table of `export focus --rows charges`, which follows the specification to the letter.
// Nothing for charges that are refused: list and contracted cost of two signs have no unit price.
struct Exported {
  std::vector<FocusColumn> columns;
  std::vector<FocusRow> rows;
  std::string csv;
};

std::optional<Exported> exported(const std::vector<Charge>& charges, FocusVersion version) {
  FocusTable table(version, Fidelity::kConformant);
  EXPECT_TRUE(table.note(charges));
  table.fix_columns();
  AllocatedRows rows(table, {});
  Exported out{.columns = table.columns(), .rows = {}, .csv = {}};
  append_csv_header(out.csv, out.columns);
  for (const Charge& charge : charges) {
    const auto written = rows.write(charge, {}, [&](const FocusRow& row) -> Result<void> {
      append_csv_row(out.csv, row);
      out.rows.push_back(row);
      return {};
    });
    if (!written) return std::nullopt;
  }
  return out;
}

std::vector<Charge> read_back(const std::string& csv) {
  bill::CollectingSink seen;
  const auto summary = focus::import_csv(csv, "written.csv", seen);
  EXPECT_TRUE(summary) << (summary ? "" : summary.error().message);
  EXPECT_TRUE(seen.bad.empty()) << seen.bad[0].reason;
  return seen.lines;
}

constexpr FocusVersion kVersions[] = {FocusVersion::k1_2, FocusVersion::k1_3, FocusVersion::k1_4};

TEST(RoundTrip, ExportOfAnImportedExportIsTheSameBytes) {
  EXPECT_TRUE(rc::check("export(import(export(charges))) == export(charges)", [] {
    std::vector<Charge> charges;
    const int count = *rc::gen::inRange(1, 4);
    for (int i = 0; i < count; ++i) charges.push_back(any_charge());
    const auto version =
        *rc::gen::elementOf(std::vector<FocusVersion>(std::begin(kVersions), std::end(kVersions)));
    const auto first = exported(charges, version);
    if (!first) RC_DISCARD("these charges are refused");
    const auto second = exported(read_back(first->csv), version);
    RC_ASSERT(second.has_value());
    RC_ASSERT(second->csv == first->csv);
  }));
}

TEST(RoundTrip, ParquetSaysWhatCsvSays) {
  const auto path = std::filesystem::temp_directory_path() /
                    ("pennyweight_" + std::to_string(getpid()) + "_focus.parquet");
  for (const std::string name : {"aws_1_2", "azure_1_3", "gcp_1_3", "official_1_0_sample"}) {
    std::ifstream in(std::string(TEST_DATA) + "/focus/" + name + ".csv", std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    bill::CollectingSink bill;
    ASSERT_TRUE(focus::import_csv(text.str(), name, bill)) << name;
    for (const FocusVersion version : kVersions) {
      const auto out = exported(bill.lines, version);
      ASSERT_TRUE(out) << name;
      auto parquet = FocusParquet::create(out->columns, "");
      ASSERT_TRUE(parquet) << parquet.error().message;
      for (const FocusRow& row : out->rows) ASSERT_TRUE(parquet->append(row));
      ASSERT_TRUE(parquet->write(path.string()));
      bill::CollectingSink seen;
      ASSERT_TRUE(focus::import_parquet(path.string(), seen)) << name;
      ASSERT_TRUE(seen.bad.empty()) << seen.bad[0].reason;
      const auto again = exported(seen.lines, version);
      ASSERT_TRUE(again) << name;
      EXPECT_EQ(again->csv, out->csv) << name;
    }
  }
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace pennyweight
