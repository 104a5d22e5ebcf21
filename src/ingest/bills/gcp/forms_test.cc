// The same bill in every form in which BigQuery gives it: flattened with dots, with underscores,
// records in a CSV, newline-delimited JSON, Parquet. All give the same lines.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "core/duckdb/database.h"
#include "core/json_text.h"
#include "ingest/bills/gcp/gcp_testing.h"
#include "ingest/bills/gcp/json_import.h"
#include "ingest/bills/json_column.h"
#include "ingest/bills/parquet_import.h"

namespace pennyweight::gcp {
namespace {

// Times as no form changes them.
std::vector<Cells> the_bill() {
  const Cells times = {{"usage_start_time", "2026-03-10T05:00:00Z"},
                       {"usage_end_time", "2026-03-10T06:00:00Z"},
                       {"export_time", "2026-03-10T09:11:12Z"}};
  std::vector<Cells> rows = {
      usage_row({{"labels", R"([{"key":"team","value":"a \"b\" é"}])"},
                 {"tags", R"([{"key":"env","value":"prod","inherited":true,"namespace":"82"}])"},
                 {"project.labels", R"([{"key":"cc","value":"7"}])"},
                 {"cost_at_list", "90.125"},
                 {"price.effective_price", "9.79625"},
                 {"price.tier_start_amount", "0"}}),
      usage_row({{"cost", "8"},
                 {"credits", R"([{"name":"c","amount":-6.0,"full_name":"C","id":"c1",)"
                             R"("type":"COMMITTED_USAGE_DISCOUNT"},{"name":"Trial","amount":-0.1,)"
                             R"("full_name":"Free trial","id":"t","type":"PROMOTION"}])"}}),
      usage_row({{"sku.description", "Compute Flexible CUD 1 Year"},
                 {"cost", "0.125637"},
                 {"price.effective_price", "1"},
                 {"consumption_model.id", "7754-699E-0EBF"},
                 {"consumption_model.description", "Default"},
                 {"subscription.instance_id", "subscriptions/1"},
                 {"credits", R"([{"name":"o","amount":-0.1256348,"full_name":"O","id":"o1",)"
                             R"("type":"FEE_UTILIZATION_OFFSET"}])"}}),
      usage_row({{"cost", "1.25e-05"},
                 {"cost_type", "tax"},
                 {"project.id", ""},
                 {"project.name", ""},
                 {"resource.name", ""},
                 {"resource.global_name", ""}}),
      usage_row({{"cost", "-3"},
                 {"invoice.month", "202604"},
                 {"adjustment_info.id", "adj-1"},
                 {"adjustment_info.type", "USAGE_CORRECTION"},
                 {"adjustment_info.mode", "COMPLETE_NEGATION"}}),
  };
  for (Cells& row : rows) {
    for (const auto& [name, text] : times) row[name] = text;
  }
  return rows;
}

bool is_number(const std::string& name) {
  return name == "cost" || name == "cost_at_list" || name == "usage.amount" ||
         name == "usage.amount_in_pricing_units" || name.starts_with("price.");
}

std::string json_value(const std::string& name, const std::string& text) {
  if (text.starts_with('[') || is_number(name)) return text;
  std::string out;
  append_stored_json_string(out, text);
  return out;
}

// Top-level member → its JSON; nothing that is empty.
Cells members_of_row(const Cells& row) {
  Cells records;
  Cells members;
  for (const auto& [name, text] : row) {
    if (text.empty()) continue;
    const std::size_t dot = name.find('.');
    if (dot == std::string::npos) {
      members[name] = json_value(name, text);
      continue;
    }
    std::string& record = records[name.substr(0, dot)];
    record += record.empty() ? "{" : ", ";
    append_stored_json_string(record, name.substr(dot + 1));
    record += ": " + json_value(name, text);
  }
  for (const auto& [name, record] : records) members[name] = record + "}";
  return members;
}

std::string json_of(const std::vector<Cells>& rows) {
  std::string text;
  for (const Cells& row : rows) {
    std::string line;
    for (const auto& [name, json] : members_of_row(row)) {
      line += line.empty() ? "{" : ",";
      append_stored_json_string(line, name);
      line += ':' + json;
    }
    text += line + "}\n";
  }
  return text;
}

std::vector<Charge> without_places(std::vector<Charge> lines) {
  for (Charge& line : lines) line.source = {};
  return lines;
}

void expect_same(const std::vector<Charge>& lines, const std::vector<Charge>& expected,
                 const char* form) {
  ASSERT_EQ(lines.size(), expected.size()) << form;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    EXPECT_EQ(charge_text(lines[i]), charge_text(expected[i])) << form << ' ' << i;
    EXPECT_EQ(lines[i].other_columns, expected[i].other_columns) << form << ' ' << i;
    EXPECT_EQ(difference(lines[i], expected[i]), difference(expected[i], expected[i]));
    EXPECT_TRUE(lines[i] == expected[i]) << form << ' ' << i;
    EXPECT_TRUE(natural_key(lines[i]) == natural_key(expected[i])) << form << ' ' << i;
  }
}

class Forms : public testing::Test {
 protected:
  Forms() : expected_(without_places(import_rows(the_bill()).lines)) {
    EXPECT_EQ(expected_.size(), 1u + 3 + 3 + 1 + 1);
  }
  std::vector<Charge> expected_;
};

TEST_F(Forms, CsvWithUnderscores) {
  std::vector<Cells> rows;
  for (const Cells& row : the_bill()) {
    Cells changed;
    for (const auto& [dotted, text] : row) {
      std::string name = dotted;
      for (char& c : name) c = c == '.' ? '_' : c;
      changed[name] = text;
    }
    rows.push_back(changed);
  }
  expect_same(without_places(import_rows(rows).lines), expected_, "underscores");
}

TEST_F(Forms, CsvWithRecords) {
  std::vector<Cells> rows;
  for (const Cells& row : the_bill()) {
    Cells changed;
    for (const auto& [name, json] : members_of_row(row)) {
      changed[name] = json.starts_with('"') ? row.at(name) : json;
    }
    rows.push_back(changed);
  }
  expect_same(without_places(import_rows(rows).lines), expected_, "records");
}

TEST_F(Forms, Json) {
  const std::string text = json_of(the_bill());
  EXPECT_TRUE(is_gcp_json(text.substr(0, text.find('\n'))));
  for (const std::size_t cut : {std::size_t{1}, std::size_t{7}, std::size_t{1000}, text.size()}) {
    bill::CollectingSink seen;
    JsonImport import("bill.json", seen);
    for (std::size_t at = 0; at < text.size(); at += cut) {
      ASSERT_TRUE(import.feed(std::string_view(text).substr(at, cut)));
    }
    const auto summary = import.finish();
    ASSERT_TRUE(summary);
    EXPECT_EQ(summary->rows, the_bill().size());
    EXPECT_THAT(seen.bad, testing::IsEmpty());
    expect_same(without_places(seen.lines), expected_, "json");
  }
}

TEST_F(Forms, Parquet) {
  const auto stem =
      std::filesystem::temp_directory_path() / ("pennyweight_gcp_" + std::to_string(getpid()));
  const std::string json = stem.string() + ".json";
  const std::string parquet = stem.string() + ".parquet";
  std::ofstream(json, std::ios::binary) << json_of(the_bill());
  const char* const kColumns =
      "{billing_account_id: 'VARCHAR', service: 'STRUCT(id VARCHAR, description VARCHAR)',"
      " sku: 'STRUCT(id VARCHAR, description VARCHAR)', usage_start_time: 'TIMESTAMP',"
      " usage_end_time: 'TIMESTAMP', export_time: 'TIMESTAMP',"
      " project: 'STRUCT(id VARCHAR, name VARCHAR, labels STRUCT(\"key\" VARCHAR, \"value\" "
      "VARCHAR)[])', labels: 'STRUCT(\"key\" VARCHAR, \"value\" VARCHAR)[]',"
      " system_labels: 'STRUCT(\"key\" VARCHAR, \"value\" VARCHAR)[]',"
      " location: 'STRUCT(location VARCHAR, region VARCHAR, zone VARCHAR)',"
      " resource: 'STRUCT(name VARCHAR, global_name VARCHAR)',"
      " tags: 'STRUCT(\"key\" VARCHAR, \"value\" VARCHAR, inherited BOOLEAN, namespace VARCHAR)[]',"
      " price: 'STRUCT(effective_price DOUBLE, tier_start_amount DOUBLE)', cost: 'DOUBLE',"
      " cost_at_list: 'DOUBLE', currency: 'VARCHAR', currency_conversion_rate: 'DOUBLE',"
      " usage: 'STRUCT(amount DOUBLE, unit VARCHAR, amount_in_pricing_units DOUBLE, pricing_unit "
      "VARCHAR)', credits: 'STRUCT(name VARCHAR, amount DOUBLE, full_name VARCHAR, id VARCHAR, "
      "type VARCHAR)[]', invoice: 'STRUCT(\"month\" VARCHAR)', cost_type: 'VARCHAR',"
      " adjustment_info: 'STRUCT(id VARCHAR, type VARCHAR, mode VARCHAR)',"
      " consumption_model: 'STRUCT(id VARCHAR, description VARCHAR)',"
      " subscription: 'STRUCT(instance_id VARCHAR)'}";
  auto database = duckdb::Database::open({});
  ASSERT_TRUE(database);
  auto connection = database->connect();
  ASSERT_TRUE(connection);
  const auto written =
      connection->execute("COPY (SELECT * FROM read_json(" + duckdb::quote_text(json) +
                          ", format = 'newline_delimited', columns = " + kColumns + ")) TO " +
                          duckdb::quote_text(parquet) + " (FORMAT parquet)");
  ASSERT_TRUE(written) << written.error().message;

  bill::CollectingSink seen;
  const auto reader = gcp_bill();
  const auto summary = bill::import_parquet(parquet, parquet, reader, seen);
  const auto names = bill::parquet_columns(parquet);
  std::filesystem::remove(json);
  std::filesystem::remove(parquet);
  ASSERT_TRUE(summary) << summary.error().message;
  ASSERT_TRUE(names);
  EXPECT_TRUE(is_gcp_header(*names));
  EXPECT_THAT(seen.bad, testing::IsEmpty()) << (seen.bad.empty() ? "" : seen.bad[0].reason);
  expect_same(without_places(seen.lines), expected_, "parquet");
}

// As a reader of Parquet gives lists that it does not know for such.
TEST_F(Forms, ListsInTheirParquetWrapping) {
  const auto lines = import_rows(
      {usage_row({{"labels", R"({"list":[{"element":{"key":"team","value":"a"}}]})"},
                  {"credits", R"({"list":[{"element":{"type":"DISCOUNT","amount":-1}}]})"},
                  {"cost", "3"}})});
  ASSERT_EQ(lines.lines.size(), 1u) << lines.error;
  EXPECT_EQ(charge_text(lines.lines[0]), "Usage 2 2 3 3");
  EXPECT_EQ(lines.lines[0].tags.find("team"), "a");
}

}  // namespace
}  // namespace pennyweight::gcp
