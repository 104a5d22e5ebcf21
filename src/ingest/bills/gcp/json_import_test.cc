#include "ingest/bills/gcp/json_import.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/limits.h"
#include "ingest/bills/collecting_sink_testing.h"
#include "ingest/bills/gcp/gcp_testing.h"

namespace pennyweight::gcp {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr std::string_view kRow =
    R"({"billing_account_id":"01","service":{"id":"6F81","description":"Compute Engine"},)"
    R"("sku":{"id":"S","description":"GPU"},"usage_start_time":"2026-03-10 05:00:00 UTC",)"
    R"("usage_end_time":"2026-03-10 06:00:00 UTC","cost":COST,"currency":"USD",)"
    R"("invoice":{"month":"202603"},"credits":[],"cost_type":"regular"MORE})";

std::string row(const std::string& cost, const std::string& more = "") {
  std::string text(kRow);
  text.replace(text.find("COST"), 4, cost);
  text.replace(text.find("MORE"), 4, more);
  return text;
}

struct Read {
  std::vector<std::string> lines;
  std::vector<std::string> bad;  // "2: reason"
  std::string others;            // of the first line
  std::string error;
};

Read read(const std::string& text) {
  bill::CollectingSink seen;
  const auto summary = import_json(text, "bill.json", seen);
  Read read{.lines = charge_text(seen.lines), .bad = {}, .others = {}, .error = {}};
  for (const RejectedRow& bad : seen.bad) {
    read.bad.push_back(std::to_string(bad.line) + ": " + bad.reason);
  }
  if (!seen.lines.empty()) read.others = seen.lines[0].other_columns;
  if (!summary) {
    read.error = summary.error().message;
  } else {
    EXPECT_EQ(summary->rows, summary->imported + seen.bad.size());
  }
  return read;
}

TEST(JsonImport, NumbersAsNumbersAndAsTexts) {
  const Read seen = read(row("0.1") + "\n" + row("\"0.1\"") + "\r\n\n  \n" +
                         row("123456789012345678.123456789012345678") + "\n" + row("1E-18"));
  EXPECT_EQ(seen.error, "");
  EXPECT_THAT(seen.bad, IsEmpty());
  EXPECT_THAT(seen.lines,
              ElementsAre("Usage 0.1 0.1 0.1 0.1", "Usage 0.1 0.1 0.1 0.1",
                          "Usage 123456789012345678.123456789012345678 "
                          "123456789012345678.123456789012345678 "
                          "123456789012345678.123456789012345678 "
                          "123456789012345678.123456789012345678",
                          "Usage 0.000000000000000001 0.000000000000000001 0.000000000000000001 "
                          "0.000000000000000001"));
}

TEST(JsonImport, ABadLineIsKeptAsideWithItsNumber) {
  const Read seen =
      read("\xEF\xBB\xBF" + row("1") + "\n{\"cost\":1\n" + row("x") + "\n\n7\n" +
           row("1", ",\"cost\":2") + "\n" + row("null") + "\n\"\xFF\"\n" + row("2") + "\n{}\n");
  EXPECT_EQ(seen.error, "");
  EXPECT_THAT(seen.lines, ElementsAre("Usage 1 1 1 1", "Usage 2 2 2 2"));
  EXPECT_THAT(seen.bad,
              ElementsAre(HasSubstr("2: the line is not JSON"), HasSubstr("3: the line"),
                          HasSubstr("5: the line is not a JSON object"),
                          HasSubstr("6: member 'cost' stands twice"), HasSubstr("7: cost is empty"),
                          HasSubstr("8: the line is not UTF-8"), HasSubstr("10: ")));
}

TEST(JsonImport, MembersThatTheSchemaDoesNotHaveAreKept) {
  const Read seen = read(row("1", R"(,"new_thing":{"a": [1, 2]},"b_c":"t","null_one":null)"));
  EXPECT_EQ(seen.others, R"({"x_BC":"t","x_CostType":"regular","x_NewThing":"{\"a\":[1,2]}",)"
                         R"("x_ServiceId":"6F81"})");
}

TEST(JsonImport, FilesThatAreNone) {
  EXPECT_THAT(read("").error, HasSubstr("no rows"));
  EXPECT_THAT(read("\n \n").error, HasSubstr("no rows"));
  EXPECT_THAT(read("[" + row("1") + "]").error, HasSubstr("one JSON list"));
}

TEST(JsonImport, ALineHasALimit) {
  const std::string long_text(limits::kRowBytesMax, 'x');
  const Read seen =
      read(row("1") + "\n" + row("1", ",\"a\":\"" + long_text + "\"") + "\n" + row("2") + "\n" +
           row("3", ",\"labels\":\"" + long_text.substr(0, limits::kFieldBytesMax + 1) + "\""));
  EXPECT_THAT(seen.lines, ElementsAre("Usage 1 1 1 1", "Usage 2 2 2 2"));
  EXPECT_THAT(seen.bad, ElementsAre(HasSubstr("2: a line of more than"),
                                    HasSubstr("4: member 'labels' has more than")));
}

TEST(JsonImport, KnowsItsLines) {
  EXPECT_TRUE(is_gcp_json(row("1")));
  EXPECT_TRUE(is_gcp_json("\xEF\xBB\xBF" + row("1") + "\r\n"));
  EXPECT_FALSE(is_gcp_json("{\"cost\":1}"));
  EXPECT_FALSE(is_gcp_json("[]"));
  EXPECT_FALSE(is_gcp_json("billing_account_id,cost"));
  EXPECT_FALSE(is_gcp_json(""));
}

}  // namespace
}  // namespace pennyweight::gcp
