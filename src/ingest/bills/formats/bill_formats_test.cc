// The list of bill formats holds together: names and options are unique, and no header is a bill of
// two formats, so that the order of the list does not matter.
#include "ingest/bills/formats/bill_formats.h"

#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace pennyweight::bill {
namespace {

std::vector<std::string> header_of(const std::string& path) {
  std::ifstream file(std::string(TEST_DATA) + path);
  EXPECT_TRUE(file.is_open()) << path;
  std::string line;
  std::getline(file, line);
  if (line.starts_with("\xEF\xBB\xBF")) line.erase(0, 3);
  std::vector<std::string> names(1);
  for (const char c : line) {
    if (c == ',') {
      names.emplace_back();
    } else if (c != '"' && c != '\r') {
      names.back() += c;
    }
  }
  return names;
}

TEST(BillFormats, NamesAndOptionsAreUnique) {
  std::set<std::string_view> names;
  std::set<std::string_view> options;
  for (const BillFormat* format : bill_formats()) {
    EXPECT_TRUE(names.insert(format->name).second) << format->name;
    EXPECT_EQ(find_bill_format(format->name), format);
    EXPECT_EQ(format->name.find('-'), std::string_view::npos) << "the encoding follows a '-'";
    EXPECT_FALSE(format->title.empty()) << format->name;
    for (const BillOption& option : format->options) {
      EXPECT_TRUE(options.insert(option.key).second) << option.key;
      EXPECT_TRUE(option.flag.starts_with("--")) << option.key;
      EXPECT_FALSE(option.choices.empty()) << option.key;
    }
  }
  EXPECT_EQ(find_bill_format("csv"), nullptr);
}

TEST(BillFormats, EveryFormatCanBeRecognisedAndOpened) {
  for (const BillFormat* format : bill_formats()) {
    EXPECT_NE(format->has_columns, nullptr) << format->name;
    EXPECT_EQ(format->has_records != nullptr, format->in_json) << format->name;
    EXPECT_NE(format->open, nullptr) << format->name;
  }
}

TEST(BillFormats, AHeaderIsOfOneFormat) {
  const std::vector<std::pair<std::string_view, std::vector<std::string>>> headers = {
      {"focus", header_of("/focus/aws_1_2.csv")},
      {"aws", header_of("/aws/legacy_koku.csv")},
      {"azure", header_of("/azure/enterprise_2023.csv")},
      {"gcp", header_of("/gcp/gcp_2022-08-01_5.csv")},
      {"oci", header_of("/oci/oci_cost_report_head.csv")},
      {"runpod", {"amount", "time", "timeBilledMs", "podId", "gpuTypeId"}}};
  ASSERT_EQ(headers.size(), bill_formats().size()) << "a header for each format";
  for (const auto& [name, columns] : headers) {
    for (const BillFormat* format : bill_formats()) {
      EXPECT_EQ(format->has_columns(columns), format->name == name)
          << name << " as " << format->name;
    }
    ASSERT_NE(detect_bill_format(columns), nullptr) << name;
    EXPECT_EQ(detect_bill_format(columns)->name, name);
  }
  EXPECT_EQ(detect_bill_format(std::vector<std::string>{"node", "from"}), nullptr);
}

}  // namespace
}  // namespace pennyweight::bill
