#include "ingest/csv/reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "ingest/csv/utf8.h"
#include "ingest/csv/writer.h"

namespace pennyweight::csv {
namespace {

using Fields = std::vector<std::string>;
using testing::ElementsAre;
using testing::HasSubstr;

struct RowText {
  std::uint64_t line;
  Fields fields;
  bool operator==(const RowText&) const = default;
};

struct Bad {
  std::uint64_t line;
  std::string reason;
  bool operator==(const Bad&) const = default;
};

class Collect : public Sink {
 public:
  Result<void> header(const Header& header) override {
    names = header.names();
    return {};
  }
  Result<void> row(const Row& row) override {
    rows.push_back({row.line, Fields(row.fields.begin(), row.fields.end())});
    quoted.emplace_back(row.quoted.begin(), row.quoted.end());
    texts.emplace_back(row.text);
    return {};
  }
  Result<void> bad_row(const BadRow& row) override {
    bad.push_back({row.line, row.reason});
    bad_texts.emplace_back(row.text);
    return {};
  }

  Fields names;
  std::vector<RowText> rows;
  std::vector<std::vector<std::uint8_t>> quoted;
  Fields texts;
  std::vector<Bad> bad;
  Fields bad_texts;
};

constexpr Options kPlain{.has_header = false, .require_rows = false};

Collect read_plain(std::string_view text, Options options = kPlain) {
  Collect seen;
  const auto ok = read(text, options, seen);
  EXPECT_TRUE(ok) << (ok ? "" : ok.error().message);
  return seen;
}

TEST(Reader, SplitsRowsAndFields) {
  struct Case {
    std::string_view text;
    std::vector<RowText> want;
  };
  const Case cases[] = {
      {"a,b\nc,d\n", {{1, {"a", "b"}}, {2, {"c", "d"}}}},
      {"a,b\r\nc,d", {{1, {"a", "b"}}, {2, {"c", "d"}}}},
      {"a,b\rc,d\r", {{1, {"a", "b"}}, {2, {"c", "d"}}}},
      {"\xEF\xBB\xBFx,y\n", {{1, {"x", "y"}}}},
      {",\n", {{1, {"", ""}}}},
      {"a,,c\n", {{1, {"a", "", "c"}}}},
      {"a,", {{1, {"a", ""}}}},
      {"\n\r\n\na\n\n", {{4, {"a"}}}},
      {"\"\"\n", {{1, {""}}}},
      {"\"a,b\",c\n", {{1, {"a,b", "c"}}}},
      {"\"say \"\"hi\"\"\",c\n", {{1, {"say \"hi\"", "c"}}}},
      {"\"\"\"\"\n", {{1, {"\""}}}},
      {"\"two\nlines\",x\nnext,y\n", {{1, {"two\nlines", "x"}}, {3, {"next", "y"}}}},
      {"\"two\r\nlines\",x\r\nnext,y\r\n", {{1, {"two\r\nlines", "x"}}, {3, {"next", "y"}}}},
      {"\xC3\xA9,\xE2\x82\xAC,\xF0\x9F\x92\xB0\n", {{1, {"é", "€", "💰"}}}},
      {" a , b \n", {{1, {" a ", " b "}}}},
      {"", {}},
  };
  for (const Case& c : cases) EXPECT_EQ(read_plain(c.text).rows, c.want) << c.text;
}

TEST(Reader, TellsQuotedFieldsAndTheRowsText) {
  const Collect seen = read_plain("NULL,\"NULL\",\"a\"\"b\"\r\n");
  EXPECT_THAT(seen.quoted, ElementsAre(ElementsAre(0, 1, 1)));
  EXPECT_THAT(seen.texts, ElementsAre("NULL,\"NULL\",\"a\"\"b\""));
}

TEST(Reader, DelimiterAndTrimming) {
  Options options = kPlain;
  options.delimiter = '|';
  EXPECT_EQ(read_plain("a,b|c\n", options).rows, (std::vector<RowText>{{1, {"a,b", "c"}}}));
  options = kPlain;
  options.trim_spaces = true;
  EXPECT_EQ(read_plain("0, NVIDIA H100 ,\t9 %\n1, \"x, y\" ,z\n", options).rows,
            (std::vector<RowText>{{1, {"0", "NVIDIA H100", "9 %"}}, {2, {"1", "x, y", "z"}}}));
}

// A bad row costs itself and nothing else.
TEST(Reader, BadRowsAreHandedOverAndReadingGoesOn) {
  struct Case {
    std::string_view text;
    std::uint64_t line;
    std::string_view reason;
    std::vector<RowText> good;
  };
  const Case cases[] = {
      {"a,b\nc\nd,e\n", 2, "the row has 1 fields, the header 2", {{3, {"d", "e"}}}},
      {"a,b\nc,d,e\nf,g\n", 2, "the row has 3 fields, the header 2", {{3, {"f", "g"}}}},
      {"a,b\n5\" disk,x\nf,g\n", 2, "a quote inside field 1", {{3, {"f", "g"}}}},
      {"a,b\n\"x\"y,x\nf,g\n", 2, "text after the closing quote of field 1", {{3, {"f", "g"}}}},
      {"a,b\n\"x,y\nf,g\nh,i\n", 2, "never closed", {{3, {"f", "g"}}, {4, {"h", "i"}}}},
      {"a,b\n\"x,y\nf,\"g\"\n", 2, "text after the closing quote", {{3, {"f", "g"}}}},
      {"a,b\n\xFF,y\nf,g\n", 2, "byte 1 of the row (0xFF) is not UTF-8", {{3, {"f", "g"}}}},
      {"a,b\nx,\xC3\nf,g\n", 2, "byte 3 of the row (0xC3) is not UTF-8", {{3, {"f", "g"}}}},
      {"a,b\n\"x\n\xED\xA0\x80\",y\nf,g\n", 2, "is not UTF-8", {{4, {"f", "g"}}}},
      {{"a,b\nx,\0\nf,g\n", 12}, 2, "a NUL byte at byte 3", {{3, {"f", "g"}}}},
  };
  for (const Case& c : cases) {
    const Collect seen = read_plain(c.text, {});
    EXPECT_EQ(seen.rows, c.good) << c.text;
    ASSERT_EQ(seen.bad.size(), 1u) << c.text;
    EXPECT_EQ(seen.bad[0].line, c.line) << c.text;
    EXPECT_THAT(seen.bad[0].reason, HasSubstr(c.reason)) << c.text;
  }
}

TEST(Reader, LimitsMakeBadRows) {
  const Options options{
      .row_bytes_max = 20, .field_bytes_max = 8, .columns_max = 4, .row_lines_max = 3};
  struct Case {
    std::string_view row;
    std::string_view reason;
  };
  const Case cases[] = {
      {"123456789,b", "field 1 has 9 bytes, more than the 8 allowed"},
      {"\"123456789\",b", "field 1 has 9 bytes"},
      {"1,2,3,4,5", "more than 4 columns"},
      {"1234567,1234567,1234567", "more than the 20 bytes"},
      {"\"a\nb\nc\nd\",x", "not closed within 3 lines"},
      {"\"345678901234567890123456", "not closed within 20 bytes"},
  };
  for (const Case& c : cases) {
    const Collect seen = read_plain("a,b\n" + std::string(c.row) + "\nf,g\n", options);
    ASSERT_FALSE(seen.bad.empty()) << c.row;
    EXPECT_THAT(seen.bad[0].reason, HasSubstr(c.reason)) << c.row;
    EXPECT_EQ(seen.rows.back().fields, (Fields{"f", "g"})) << c.row;
  }
}

TEST(Reader, ATenMegabyteLineIsOneBadRow) {
  Collect seen;
  Reader reader({}, seen);
  ASSERT_TRUE(reader.feed("a,b\n1,2\n"));
  const std::string piece(64 << 10, 'x');
  for (int i = 0; i < 160; ++i) ASSERT_TRUE(reader.feed(piece));
  ASSERT_TRUE(reader.feed("\n3,4\n"));
  ASSERT_TRUE(reader.finish());
  EXPECT_EQ(seen.rows, (std::vector<RowText>{{2, {"1", "2"}}, {4, {"3", "4"}}}));
  ASSERT_EQ(seen.bad.size(), 1u);
  EXPECT_EQ(seen.bad[0].line, 3u);
  EXPECT_EQ(seen.bad_texts[0].size(), limits::kRejectedTextBytesMax);
}

// Found by the fuzzer: the empty line after a bad row was lost from the count.
TEST(Reader, LinesAreCountedAcrossABadRowThatEndsAChunk) {
  Collect seen;
  Reader reader(kPlain, seen);
  for (const char* piece : {"12345", "a\"b\r\n", "\nx\n", "yyy\n"}) ASSERT_TRUE(reader.feed(piece));
  ASSERT_TRUE(reader.finish());
  EXPECT_EQ(seen.rows, (std::vector<RowText>{{3, {"x"}}, {4, {"yyy"}}}));
}

TEST(Reader, FilesThatAreNotCsvAreErrors) {
  struct Case {
    std::string_view text;
    std::string_view want;
  };
  const Case cases[] = {
      {"", "the file is empty"},
      {"\n\n", "the file is empty"},
      {"\xEF\xBB\xBF", "the file is empty"},
      {"a,b\n", "a header and no rows"},
      {{"\xFF\xFE\x61\0", 4}, "UTF-16"},
      {{"\xFE\xFF\0a", 4}, "UTF-16"},
      {{"a\0,\0b\0\n\0", 8}, "iconv -f UTF-16LE"},
      {{"\0\0ab\n", 5}, "not text"},
      {"\x1F\x8B\x08", "gzip"},
      {"PK\x03\x04", "spreadsheet"},
      {"PAR1", "Parquet"},
      {"a,b,a\n1,2,3\n", "names column 'a' twice, as columns 1 and 3"},
      {"a,,b\n1,2,3\n", "column 2 of the header has no name"},
      {"a,\"b\n1,2\n", "the header (line 1) can't be read: a quote opened in field 2"},
      {"a,\xFF\n1,2\n", "is not UTF-8"},
  };
  for (const Case& c : cases) {
    Collect seen;
    const auto ok = read(c.text, {}, seen);
    ASSERT_FALSE(ok) << c.text;
    EXPECT_EQ(ok.error().code, ErrorCode::kBadFile);
    EXPECT_THAT(ok.error().message, HasSubstr(c.want));
  }
}

TEST(Reader, AnErrorOfTheSinkEndsTheReading) {
  class Refuse : public Collect {
    Result<void> row(const Row&) override { return fail(ErrorCode::kStore, "disk full"); }
  };
  Refuse sink;
  EXPECT_EQ(read("a\n1\n2\n", {}, sink), fail(ErrorCode::kStore, "disk full"));
}

TEST(Header, RequireListsWhatIsMissingAndWhatIsThere) {
  const std::vector<std::string_view> names{"Job", " user ", "x"};
  const auto header = Header::of(names);
  ASSERT_TRUE(header);
  const std::vector<std::string_view> ask{"x", "user"};
  EXPECT_THAT(*header->require(ask), ElementsAre(2, 1));
  const std::vector<std::string_view> wrong{"job", "gpus"};
  EXPECT_EQ(
      header->require(wrong).error().message,
      "missing columns: job (there is 'Job': write it as job), gpus; the header has: Job, user, x");
}

// What feeding gives may not depend on where the chunks are cut.
TEST(Reader, AnyCutOfTheBytesGivesTheSameRows) {
  EXPECT_TRUE(rc::check("feed in pieces == read at once", [] {
    const auto text = *rc::gen::container<std::string>(
        rc::gen::elementOf(std::string("aab\"\"\"\",,,\n\n\r\r\n\xC3\xA9\xFF ")));
    const Options options{.has_header = false,
                          .require_rows = false,
                          .row_bytes_max = 24,
                          .field_bytes_max = 16,
                          .row_lines_max = 4};
    const auto sizes =
        *rc::gen::container<std::vector<std::size_t>>(rc::gen::inRange<std::size_t>(1, 9));
    Collect whole;
    Collect pieces;
    const auto ok = read(text, options, whole);
    Reader reader(options, pieces);
    std::string_view rest = text;
    Result<void> fed;
    for (std::size_t i = 0; fed && !rest.empty(); ++i) {
      const std::size_t size = std::min(rest.size(), sizes.empty() ? 1 : sizes[i % sizes.size()]);
      fed = reader.feed(rest.substr(0, size));
      rest.remove_prefix(size);
    }
    if (fed) fed = reader.finish();
    RC_ASSERT(fed.has_value() == ok.has_value());
    RC_ASSERT(pieces.rows == whole.rows);
    RC_ASSERT(pieces.bad == whole.bad);
  }));
}

TEST(Writer, QuotesWhatMustBe) {
  Writer writer;
  writer.field("a")
      .field("b,c")
      .field("d\"e")
      .field(" f")
      .field("g\n")
      .quoted_field("NULL")
      .field("")
      .end_row();
  writer.field("").end_row();
  EXPECT_EQ(writer.take(), "a,\"b,c\",\"d\"\"e\",\" f\",\"g\n\",\"NULL\",\n\"\"\n");
  EXPECT_EQ(writer.text(), "");
}

TEST(Writer, WhatIsWrittenIsReadBack) {
  EXPECT_TRUE(rc::check("read(write(rows)) == rows", [] {
    const auto field =
        rc::gen::container<std::string>(rc::gen::elementOf(std::string("abc,;\"\"\n\r \t'")));
    auto rows = *rc::gen::container<std::vector<Fields>>(
        rc::gen::nonEmpty(rc::gen::container<Fields>(field)));
    Writer writer;
    for (const Fields& row : rows) {
      for (const std::string& text : row) writer.field(text);
      writer.end_row();
    }
    Collect seen;
    Options options = kPlain;
    options.row_lines_max = 1 << 20;
    RC_ASSERT(read(writer.text(), options, seen).has_value());
    std::vector<Fields> back;
    for (const RowText& row : seen.rows) back.push_back(row.fields);
    RC_ASSERT(back == rows);
  }));
}

TEST(Utf8, RefusesWhatTheStandardRefuses) {
  const std::string_view bad[] = {
      "\x80",         "\xC0\x80",         "\xC1\xBF",         "\xE0\x9F\xBF",
      "\xED\xA0\x80", "\xF0\x8F\xBF\xBF", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80",
      "\xE2\x82",     "\xE2\x28\xA1"};
  for (const std::string_view text : bad) EXPECT_LT(first_bad_byte(text), text.size());
  const std::string_view good[] = {"",
                                   "plain",
                                   "\xC2\x80",
                                   "\xE0\xA0\x80",
                                   "\xED\x9F\xBF",
                                   "\xEE\x80\x80",
                                   "\xF0\x90\x80\x80",
                                   "\xF4\x8F\xBF\xBF"};
  for (const std::string_view text : good) EXPECT_EQ(first_bad_byte(text), text.size());
}

}  // namespace
}  // namespace pennyweight::csv
