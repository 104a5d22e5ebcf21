#include "core/gpu/plain_table.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "core/limits.h"

namespace pennyweight {
namespace {

constexpr std::string_view kRequired[] = {"name", "count"};
constexpr std::string_view kOptional[] = {"note"};

Result<PlainTable> parse(std::string_view text) {
  return PlainTable::parse(text, "t.csv", {.required = kRequired, .optional = kOptional});
}

TEST(PlainTable, CellsComeInTheOrderOfTheShape) {
  for (const std::string_view text : {"count,name\n1,a\n2,b\n", "count,name\r\n1,a\r\n2,b\r\n",
                                      "\xEF\xBB\xBF"
                                      "count,name\n1,a\n\n2,b",
                                      "\ncount,name,note\n1,a,\n2,b,\n"}) {
    SCOPED_TRACE(text);
    const auto table = parse(text);
    ASSERT_TRUE(table.has_value()) << table.error().message;
    ASSERT_EQ(table->size(), 2u);
    EXPECT_EQ(table->row(0)[0], "a");
    EXPECT_EQ(table->row(0)[1], "1");
    EXPECT_EQ(table->row(0)[2], "");
    EXPECT_EQ(table->row(1)[0], "b");
    EXPECT_EQ(table->row(1)[1], "2");
  }
  EXPECT_EQ(parse("name,count\na,1\n\nb,2\n")->place(1), "t.csv:4");
  EXPECT_EQ(parse("name,count\n")->size(), 0u);
}

TEST(PlainTable, ErrorsSayWhere) {
  struct Case {
    std::string text;
    std::string_view want;
  };
  const Case cases[] = {
      {"", "t.csv: empty; the first line names the columns name,count"},
      {"\n\n", "t.csv: empty; the first line names the columns name,count"},
      {"name\na\n", "t.csv:1: no column 'count' in the first line"},
      {"name,count,colour\n", "t.csv:1: unknown column 'colour'; known are name, count, note"},
      {"name,count,name\n", "t.csv:1: column 'name' appears twice"},
      {"name,count\na,1,x\n", "t.csv:2: 3 fields; the first line has 2"},
      {"name,count\na\n", "t.csv:2: 1 fields; the first line has 2"},
      {"name,count\n\"a\",1\n",
       "t.csv:2: a quote; this format has none, so write the value without"},
      {std::string("name,count\na\0,1\n", 16),
       "t.csv:2: a control character; is this a text file with commas?"},
      {"name,count\n" + std::string(limits::kRowBytesMax + 1, 'x'),
       "t.csv:2: a line of 4194305 bytes; at most 4194304 are read"},
  };
  for (const Case& c : cases) {
    const auto table = parse(c.text);
    ASSERT_FALSE(table.has_value()) << c.want;
    EXPECT_EQ(table.error().message, c.want);
  }
}

TEST(PlainTable, ColumnsMayBeIgnoredWhereTheCallerSaysSo) {
  const auto table = PlainTable::parse("x,name,y,count\n1,a,2,3\n", "t.csv",
                                       {.required = kRequired, .others_ignored = true});
  ASSERT_TRUE(table.has_value()) << table.error().message;
  EXPECT_EQ(table->row(0)[0], "a");
  EXPECT_EQ(table->row(0)[1], "3");
}

}  // namespace
}  // namespace pennyweight
