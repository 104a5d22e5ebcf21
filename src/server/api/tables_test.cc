// Tables as answers: every digit, complete in each format, and in the requested format.
#include "server/api/tables.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/card_share.h"

namespace pennyweight::api {
namespace {

Table table() {
  Table one{.title = "Cost by team",
            .currency = kUsd,
            .columns = {{"team", "team", ColumnKind::kText},
                        {"effective_cost", "effective", ColumnKind::kMoney},
                        {"share", "%", ColumnKind::kPercent},
                        {"gpu_hours", "GPU-hours", ColumnKind::kGpuHours},
                        {"postings", "postings", ColumnKind::kCount}},
            .rows = {},
            .total = {},
            .notes = {"a note"}};
  const Money cost = Money::from_decimal(*parse_exact_decimal("0.000000000000000001"), kUsd);
  const GpuTime third = GpuTime::of(UInt128{CardShare::kUnitsPerCard} * 1'200'000);
  one.rows.push_back({std::string("a \"b\""), cost, Ratio{1, 8}, third, std::uint64_t{3}});
  one.total = Row{std::string("total"), cost, Cell(), third, std::uint64_t{3}};
  return one;
}

std::string read(const server::Response& response) {
  if (!response.stream) return response.body;
  std::string text;
  EXPECT_TRUE(response.stream([&](std::string_view piece) {
    text += piece;
    return true;
  }));
  return text;
}

TEST(Answer, JsonHasColumnsAndEveryDigit) {
  EXPECT_EQ(read(answer({table()}, AnswerFormat::kJson, "\"x\"")),
            R"({"tables":[{"title":"Cost by team","currency":"USD","columns":[)"
            R"({"name":"team","title":"team","kind":"text"},)"
            R"({"name":"effective_cost","title":"effective","kind":"money"},)"
            R"({"name":"share","title":"%","kind":"percent"},)"
            R"({"name":"gpu_hours","title":"GPU-hours","kind":"gpu_hours"},)"
            R"({"name":"postings","title":"postings","kind":"count"}],"rows":[)"
            R"({"team":"a \"b\"","effective_cost":"0.000000000000000001","share":"12.5000",)"
            R"("gpu_hours":"0.3333","gpu_hours_exact":"1/3","postings":3}],)"
            R"("total":{"team":"total","effective_cost":"0.000000000000000001","share":null,)"
            R"("gpu_hours":"0.3333","gpu_hours_exact":"1/3","postings":3},"notes":["a note"]}],)"
            R"("etag":"\"x\""})"
            "\n");
}

TEST(Answer, StreamsHoldEveryRowOnce) {
  Table long_one = table();
  for (std::size_t i = 1; i < 1234; ++i) {
    long_one.rows.push_back(long_one.rows.front());
    long_one.rows.back()[4] = std::uint64_t{i};
  }
  const std::vector<Table> both = {long_one, table()};
  EXPECT_EQ(read(answer(both, AnswerFormat::kCsv, "")), render_csv(both));
  const std::string lines = read(answer(both, AnswerFormat::kJsonLines, ""));
  EXPECT_EQ(std::ranges::count(lines, '\n'), 1235);
  EXPECT_TRUE(lines.starts_with(R"({"currency":"USD","team":"a \"b\"",)"));
  // After the client has gone, nothing more is written.
  std::size_t pieces = 0;
  EXPECT_FALSE(
      answer(both, AnswerFormat::kCsv, "").stream([&](std::string_view) { return ++pieces < 2; }));
  EXPECT_EQ(pieces, 2U);
}

TEST(Answer, ASheetHasNoFormulasOfOthers) {
  for (const std::string formula : {"=cmd|' /C calc'!A0", "+1+cmd", "-2+3", "@SUM(A1)", "\t=1",
                                    "\r=1", "\n=1", "=", "-", "+", "--1", "\uff1d1", "\uff20SUM"}) {
    EXPECT_EQ(sheet_text(formula), "'" + formula);
  }
  for (const std::string text : {"", "nlp", "a=1", " =1", "-0.5", "+12", "(unallocated)", "'=1"}) {
    EXPECT_EQ(sheet_text(text), text);
  }
  Table named = table();
  std::get<std::string>(named.rows[0][0]) = "=HYPERLINK(\"http://evil.example\")";
  const std::string sheet = read(answer({named}, AnswerFormat::kSheet, ""));
  EXPECT_NE(sheet.find("\n\"'=HYPERLINK("), std::string::npos) << sheet;
  const std::string csv = read(answer({named}, AnswerFormat::kCsv, ""));
  EXPECT_NE(csv.find("\n\"=HYPERLINK("), std::string::npos) << "programs get names as they are";
  EXPECT_EQ(answer({named}, AnswerFormat::kSheet, "").content_type, "text/csv; charset=utf-8");
}

TEST(Answer, ATableWithoutRowsHasItsHeader) {
  Table none = table();
  none.rows.clear();
  EXPECT_EQ(read(answer({none}, AnswerFormat::kCsv, "")),
            "team,currency,effective_cost,share,gpu_hours,gpu_hours_exact,postings\n");
  EXPECT_EQ(read(answer({}, AnswerFormat::kCsv, "")), "");
}

TEST(Answer, ParquetIsOne) {
  const std::string file = read(answer({table()}, AnswerFormat::kParquet, ""));
  ASSERT_GT(file.size(), 8U);
  EXPECT_EQ(file.substr(0, 4), "PAR1");
  EXPECT_EQ(file.substr(file.size() - 4), "PAR1");
}

AnswerFormat asked_for(const std::string& format, const std::string& accept, bool parquet = true) {
  server::Request request;
  if (!format.empty()) request.query.emplace("format", format);
  request.accept = accept;
  QueryParams params(request);
  const AnswerFormat found = choose_format(params, request, parquet);
  EXPECT_FALSE(params.problem()) << format;
  return found;
}

TEST(FormatOf, TheParameterThenAcceptThenJson) {
  EXPECT_EQ(asked_for("", ""), AnswerFormat::kJson);
  EXPECT_EQ(asked_for("", "*/*"), AnswerFormat::kJson);
  EXPECT_EQ(asked_for("csv", "application/json"), AnswerFormat::kCsv);
  EXPECT_EQ(asked_for("", "text/csv"), AnswerFormat::kCsv);
  EXPECT_EQ(asked_for("sheet", ""), AnswerFormat::kSheet);
  EXPECT_EQ(asked_for("", "application/jsonl"), AnswerFormat::kJsonLines);
  EXPECT_EQ(asked_for("", "application/vnd.apache.parquet"), AnswerFormat::kParquet);
  EXPECT_EQ(asked_for("", "application/vnd.apache.parquet", false), AnswerFormat::kJson);
  EXPECT_EQ(asked_for("", "text/csv, application/json"), AnswerFormat::kJson);
  server::Request request;
  request.query.emplace("format", "parquet");
  QueryParams params(request);
  choose_format(params, request, false);
  EXPECT_EQ(params.problem()->status, 422);
}

}  // namespace
}  // namespace pennyweight::api
