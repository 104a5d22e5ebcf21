#include "ingest/csv/cells.h"

#include <gtest/gtest.h>

#include "ingest/csv/columns.h"

namespace pennyweight::csv {
namespace {

Header header(std::initializer_list<std::string_view> names) {
  return Header::of(std::vector<std::string_view>(names)).value();
}

// One cell of one column, "x".
struct OneCell {
  explicit OneCell(std::string_view value)
      : names(header({"x"})),
        fields{value},
        row{.line = 2, .fields = fields, .quoted = {}, .text = {}} {}
  OneCell(const OneCell&) = delete;
  Header names;
  std::vector<std::string_view> fields;
  Row row;
  Cells cells{names, row};
};

TEST(Cells, Values) {
  EXPECT_EQ(OneCell("a b").cells.name("x"), "a b");
  EXPECT_EQ(OneCell("").cells.optional_name("x"), "");
  EXPECT_EQ(OneCell("42").cells.count("x", 42), 42u);
  EXPECT_EQ(OneCell("").cells.optional_count("x", 42), std::nullopt);
  EXPECT_EQ(OneCell("1.5").cells.scaled("x", 1000), 1500u);
  EXPECT_EQ(OneCell("").cells.optional_scaled("x", 1000), std::nullopt);
  EXPECT_EQ(OneCell("503.53").cells.optional_nearest("x", 1u << 30), 540'661'220'639u);
  EXPECT_EQ(OneCell("2026-03-01").cells.instant("x"), parse_instant("2026-03-01").value());
  EXPECT_EQ(OneCell("").cells.optional_instant("x"), std::nullopt);
  EXPECT_EQ(OneCell("1").cells.text("another"), "");
}

TEST(Cells, Refusals) {
  const auto refused = [](std::string_view value, auto read) {
    OneCell one(value);
    read(one.cells);
    return one.cells.refusal() && one.cells.refusal()->column == "x" &&
           !one.cells.refusal()->reason.empty();
  };
  EXPECT_TRUE(refused("", [](Cells& cells) { cells.name("x"); }));
  EXPECT_TRUE(refused("NULL", [](Cells& cells) { cells.name("x"); }));
  EXPECT_TRUE(refused("null", [](Cells& cells) { cells.optional_name("x"); }));
  EXPECT_TRUE(refused(std::string(3000, 'a'), [](Cells& cells) { cells.name("x"); }));
  for (const char* value : {"", "43", "-1", "1.0", "1e2", " 1", "x"}) {
    EXPECT_TRUE(refused(value, [](Cells& cells) { cells.count("x", 42); })) << value;
  }
  for (const char* value : {"", "0.0001", "-1", "x", "1,5", "NaN"}) {
    EXPECT_TRUE(refused(value, [](Cells& cells) { cells.scaled("x", 1000); })) << value;
  }
  EXPECT_TRUE(refused("-0.1", [](Cells& cells) { cells.optional_nearest("x", 10); }));
  EXPECT_TRUE(refused("", [](Cells& cells) { cells.instant("x"); }));
  EXPECT_TRUE(refused("1.3.2026", [](Cells& cells) { cells.optional_instant("x"); }));
}

TEST(Cells, TheFirstRefusalStays) {
  OneCell one("a");
  one.cells.refuse("first", "1");
  one.cells.refuse("second", "2");
  EXPECT_EQ(one.cells.refusal()->column, "first");
}

TEST(Columns, RequiredOptionalAndOpenOnes) {
  constexpr std::string_view kRequired[] = {"a"};
  constexpr std::string_view kOptional[] = {"b"};
  const Columns columns{.required = kRequired, .optional = kOptional, .open_prefix = "label:"};
  EXPECT_TRUE(check_columns(header({"a"}), columns));
  EXPECT_TRUE(check_columns(header({"b", "label:x", "a"}), columns));
  for (const auto& names : {header({"b"}), header({"a", "c"}), header({"a", "label:"}),
                            header({"a", "B"}), header({"a", "labelx"})}) {
    EXPECT_FALSE(check_columns(names, columns));
  }
  const auto unknown = check_columns(header({"a", "tema"}), columns);
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().message.find("'tema'"), std::string::npos);
}

}  // namespace
}  // namespace pennyweight::csv
