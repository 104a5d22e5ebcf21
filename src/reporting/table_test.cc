// One table in three formats, and what hostile names become.
#include "reporting/table.h"

#include <gtest/gtest.h>

#include "core/card_share.h"
#include "core/json_text.h"

namespace pennyweight {
namespace {

Money usd(const char* text) { return Money::from_decimal(parse_decimal(text)->value, kUsd); }

Table example() {
  Table table;
  table.title = "Cost by team";
  table.currency = kUsd;
  table.columns = {{"team", "team", ColumnKind::kText},
                   {"effective_cost", "effective", ColumnKind::kMoney},
                   {"share_percent", "share", ColumnKind::kPercent},
                   {"gpu_hours", "GPU-hours", ColumnKind::kGpuHours},
                   {"postings", "postings", ColumnKind::kCount}};
  table.rows = {{std::string("nlp, \"big\""), usd("1234.005"), Ratio{1, 3},
                 CardShare::of(1, 7)->over_ms(3'600'000), std::uint64_t{12000}},
                {std::string("(unallocated)"), usd("0.005"), Ratio{2, 3}, {}, std::uint64_t{1}}};
  table.total = Row{std::string("total"), usd("1234.01"), Ratio{3, 3},
                    CardShare::of(1, 7)->over_ms(3'600'000), std::uint64_t{12001}};
  table.notes = {"a note"};
  return table;
}

TEST(RenderText, AlignsAndShowsTheTrueTotal) {
  EXPECT_EQ(render_text(example(), {}),
            "Cost by team\n"
            "team           effective    share  GPU-hours  postings\n"
            "─────────────  ─────────  ───────  ─────────  ────────\n"
            "nlp, \"big\"      1,234.00   33.3 %     0.1429    12,000\n"
            "(unallocated)       0.00   66.7 %                    1\n"
            "─────────────  ─────────  ───────  ─────────  ────────\n"
            "total           1,234.01  100.0 %     0.1429    12,001\n"
            "a note\n");
}

TEST(RenderText, CutsNamesAndNeverNumbersToTheWidth) {
  const std::string text =
      render_text(example(), {.money_digits = 2, .width = 50, .colour = false, .unicode = true});
  EXPECT_NE(text.find("(unalloc…"), std::string::npos) << text;
  EXPECT_NE(text.find("12,001"), std::string::npos) << text;
  const std::string tiny = render_text(example(), {.money_digits = 2, .width = 10});
  EXPECT_NE(tiny.find("1,234.01"), std::string::npos) << tiny;
}

TEST(RenderText, NeverCutsAnId) {
  Table table;
  table.columns = {{"charge", "charge", ColumnKind::kId}, {"node", "node", ColumnKind::kText}};
  table.rows = {{std::string("0123456789abcdef"), std::string("a-long-name-of-a-node")}};
  EXPECT_NE(render_text(table, {.width = 26}).find("0123456789abcdef  a-long-"), std::string::npos);
}

TEST(RenderText, ColoursOnlyWhenToldTo) {
  EXPECT_EQ(render_text(example(), {}).find('\x1b'), std::string::npos);
  EXPECT_NE(render_text(example(), {.colour = true}).find("\x1b[1mtotal"), std::string::npos);
}

TEST(RenderText, ExactMoneyShowsEveryDigitOfItsLongestAmount) {
  Table table;
  table.columns = {{"difference", "difference", ColumnKind::kExactMoney}};
  table.rows = {{usd("0.000000000000000001")}, {usd("-1234.5")}, {usd("0")}};
  EXPECT_EQ(render_text(table, {}),
            "               difference\n"
            "─────────────────────────\n"
            "     0.000000000000000001\n"
            "-1,234.500000000000000000\n"
            "     0.000000000000000000\n");
  table.rows = {{usd("0")}};
  EXPECT_NE(render_text(table, {}).find("         0\n"), std::string::npos);
}

TEST(RenderCsv, IsExactAndWithoutATotal) {
  EXPECT_EQ(render_csv({example()}),
            "team,currency,effective_cost,share_percent,gpu_hours,gpu_hours_exact,postings\n"
            "\"nlp, \"\"big\"\"\",USD,1234.005,33.3333,0.1429,1/7,12000\n"
            "(unallocated),USD,0.005,66.6667,,,1\n");
  EXPECT_EQ(render_csv({}), "");
}

TEST(RenderJson, HasDecimalsAsStrings) {
  EXPECT_EQ(render_json({example()}),
            "[{\"title\": \"Cost by team\", \"currency\": \"USD\",\n"
            "  \"rows\": [\n"
            "    {\"team\": \"nlp, \\\"big\\\"\", \"effective_cost\": \"1234.005\", "
            "\"share_percent\": \"33.3333\", \"gpu_hours\": \"0.1429\", "
            "\"gpu_hours_exact\": \"1/7\", \"postings\": 12000},\n"
            "    {\"team\": \"(unallocated)\", \"effective_cost\": \"0.005\", "
            "\"share_percent\": \"66.6667\", \"gpu_hours\": null, \"postings\": 1}],\n"
            "  \"total\": {\"team\": \"total\", \"effective_cost\": \"1234.01\", "
            "\"share_percent\": \"100.0000\", \"gpu_hours\": \"0.1429\", "
            "\"gpu_hours_exact\": \"1/7\", \"postings\": 12001},\n"
            "  \"notes\": [\"a note\"]}]\n");
  EXPECT_EQ(render_json(std::vector<Table>{}), "[]\n");
}

TEST(Printable, DisarmsTerminals) {
  const struct {
    std::string_view text;
    const char* want;
  } kCases[] = {
      {"plain", "plain"},
      {"\x1b[2J", "\\x1b[2J"},
      {"a\nb\tc", "a\\x0ab\\x09c"},
      {"Größe 中 😀", "Größe 中 😀"},
      {"\xff\xfe", "\\xff\\xfe"},
      {"\xc2\x9b", "\\xc2\\x9b"},
      {"\xed\xa0\x80", "\\xed\\xa0\\x80"},
      {std::string_view("a\0b", 3), "a\\x00b"},
  };
  for (const auto& [text, want] : kCases) EXPECT_EQ(printable(text), want);
  EXPECT_EQ(display_width("Größe"), 5U);
}

TEST(JsonString, EscapesWhatItMust) {
  const auto json = [](std::string_view text) {
    std::string out;
    append_json_string(out, text);
    return out;
  };
  EXPECT_EQ(json("a\"b\\c\n\x01"), "\"a\\\"b\\\\c\\n\\u0001\"");
  EXPECT_EQ(json("\xff"), "\"\\ufffd\"");
}

}  // namespace
}  // namespace pennyweight
