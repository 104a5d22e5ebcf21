#include "core/clickhouse/block.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <limits>

#include "core/check.h"

namespace pennyweight::clickhouse {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string text_of(std::initializer_list<int> bytes) {
  std::string text;
  for (const int byte : bytes) text += static_cast<char>(byte);
  return text;
}

// All blocks of the bytes, which arrive in pieces of `piece` bytes; or the message of the Error.
struct Read {
  std::vector<Block> blocks = {};
  std::string error = {};
  bool at_end = false;
};
Read read(std::string_view bytes, std::size_t piece = std::numeric_limits<std::size_t>::max()) {
  Read read;
  BlockReader reader;
  while (!bytes.empty()) {
    const std::string_view some = bytes.substr(0, piece);
    bytes.remove_prefix(some.size());
    reader.add(some);
    for (;;) {
      Block block;
      const auto whole = reader.next(block);
      if (!whole) {
        read.error = whole.error().message;
        EXPECT_EQ(whole.error().code, ErrorCode::kStore);
        return read;
      }
      if (!*whole) break;
      read.blocks.push_back(std::move(block));
    }
  }
  read.at_end = reader.at_end();
  return read;
}

// The answer of clickhouse-server 18.16.1 and of the engine of 26.5.3 to
//   SELECT toDecimal128('1.5', 18) AS d, toFixedString('ab', 16) AS f, ['x', 'yy'] AS a,
//          toNullable(toUInt8(1)) AS n, CAST(NULL AS Nullable(String)) AS s, toInt32(-2) AS i
//   FORMAT Native
std::string answer_bytes() {
  return text_of({6, 1}) +                                                              //
         "\1d\x0f" + "Decimal(38, 18)" +                                                //
         text_of({0, 0, 0x16, 0x7b, 0x0d, 0x12, 0xd1, 0x14, 0, 0, 0, 0, 0, 0, 0, 0}) +  //
         "\1f\x0f" + "FixedString(16)" + "ab" + std::string(14, '\0') +                 //
         "\1a\x0d" + "Array(String)" + text_of({2, 0, 0, 0, 0, 0, 0, 0}) + "\1x\2yy" +  //
         "\1n\x0f" + "Nullable(UInt8)" + text_of({0, 1}) +                              //
         "\1s\x10" + "Nullable(String)" + text_of({1, 0}) +                             //
         "\1i\5Int32" + text_of({0xfe, 0xff, 0xff, 0xff});
}

TEST(Block, ReadsWhatServersAnswer) {
  for (const std::size_t piece : {1u, 2u, 3u, 7u, 1'000u}) {
    const Read answer = read(answer_bytes() + answer_bytes(), piece);
    ASSERT_EQ(answer.error, "");
    ASSERT_EQ(answer.blocks.size(), 2u);
    EXPECT_TRUE(answer.at_end);
    const Block& block = answer.blocks[1];
    EXPECT_EQ(block.rows, 1u);
    ASSERT_EQ(block.columns.size(), 6u);
    EXPECT_EQ(block.columns[0].name(), "d");
    EXPECT_EQ(block.columns[0].type(), "Decimal(38, 18)");
    EXPECT_TRUE(block.columns[0].wide(0) == Int128{1'500'000'000'000'000'000});
    EXPECT_EQ(block.columns[1].hash(0), (Hash128{.high = 0x6162'0000'0000'0000, .low = 0}));
    EXPECT_THAT(block.columns[2].texts(0), ElementsAre("x", "yy"));
    EXPECT_FALSE(block.columns[3].is_null(0));
    EXPECT_TRUE(block.columns[3].boolean(0));
    EXPECT_TRUE(block.columns[4].is_null(0));
    EXPECT_EQ(block.columns[5].int32(0), -2);
  }
}

TEST(Block, WritesWhatServersRead) {
  const ColumnSpec columns[] = {{"d", "Decimal(38, 18)"},  {"f", "FixedString(16)"},
                                {"a", "Array(String)"},    {"n", "Nullable(UInt8)"},
                                {"s", "Nullable(String)"}, {"i", "Int32"}};
  BlockWriter writer(columns);
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(writer.rows(), 0u);
    writer.column(0).add_wide(Int128{1'500'000'000'000'000'000});
    writer.column(1).add_hash({.high = 0x6162'0000'0000'0000, .low = 0});
    writer.column(2).add_texts(std::array<std::string_view, 2>{"x", "yy"});
    writer.column(3).add_bool(true);
    writer.column(4).add_null();
    writer.column(5).add_int32(-2);
    EXPECT_EQ(writer.rows(), 1u);
    EXPECT_EQ(writer.bytes(), 16u + 16 + (8 + 5) + 2 + 2 + 4);
    EXPECT_EQ(writer.take(), answer_bytes());  // and the writer is empty
  }
}

TEST(Block, TypesThatAreListedAndNoOthers) {
  for (const std::string type : {"String", "FixedString(16)", "UInt8", "UInt32", "UInt64", "Int32",
                                 "Int64", "Decimal(38, 18)", "Decimal(38,0)", "Decimal(38, 38)"}) {
    EXPECT_TRUE(parse_value_type(type)) << type;
    EXPECT_TRUE(parse_value_type("Nullable(" + type + ")")) << type;
    EXPECT_FALSE(parse_value_type("LowCardinality(" + type + ")")) << type;
    EXPECT_FALSE(parse_value_type(type + " ")) << type;
  }
  EXPECT_TRUE(parse_value_type("Array(String)"));
  for (const std::string type : {"",
                                 "Nullable",
                                 "Nullable()",
                                 "Nullable(Array(String))",
                                 "Array(Nullable(String))",
                                 "Array(UInt8)",
                                 "Nullable(Nullable(String))",
                                 "UInt16",
                                 "Float64",
                                 "Date",
                                 "DateTime",
                                 "FixedString(8)",
                                 "Decimal(38, 39)",
                                 "Decimal(38, )",
                                 "Decimal(38,  1)",
                                 "Decimal(38, -1)",
                                 "Decimal(38, 018)",
                                 "Decimal(18, 2)",
                                 "string",
                                 "Bool"}) {
    EXPECT_FALSE(parse_value_type(type)) << type;
  }
}

TEST(Block, TheEndsOfWhatNumbersCanBe) {
  const ColumnSpec columns[] = {{"w", "Decimal(38, 0)"}, {"u32", "UInt32"},
                                {"u64", "UInt64"},       {"i32", "Int32"},
                                {"i64", "Int64"},        {"h", "FixedString(16)"}};
  BlockWriter writer(columns);
  for (const bool most : {false, true}) {
    writer.column(0).add_wide(most ? kInt128Max : -kInt128Max - 1);
    writer.column(1).add_uint32(most ? 0xffff'ffffu : 0);
    writer.column(2).add_uint64(most ? ~std::uint64_t{0} : 0);
    writer.column(3).add_int32(most ? std::numeric_limits<std::int32_t>::max()
                                    : std::numeric_limits<std::int32_t>::min());
    writer.column(4).add_int64(most ? std::numeric_limits<std::int64_t>::max()
                                    : std::numeric_limits<std::int64_t>::min());
    writer.column(5).add_hash(most ? Hash128{.high = ~std::uint64_t{0}, .low = ~std::uint64_t{0}}
                                   : Hash128{.high = 1, .low = 0x80});
  }
  const Read answer = read(writer.take());
  ASSERT_EQ(answer.blocks.size(), 1u) << answer.error;
  const auto& got = answer.blocks[0].columns;
  EXPECT_TRUE(got[0].wide(0) == -kInt128Max - 1 && got[0].wide(1) == kInt128Max);
  EXPECT_EQ(got[1].uint32(1), 0xffff'ffffu);
  EXPECT_EQ(got[2].uint64(1), ~std::uint64_t{0});
  EXPECT_EQ(got[3].int32(0), std::numeric_limits<std::int32_t>::min());
  EXPECT_EQ(got[3].int32(1), std::numeric_limits<std::int32_t>::max());
  EXPECT_EQ(got[4].int64(0), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(got[4].int64(1), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(got[5].hash(0), (Hash128{.high = 1, .low = 0x80}));
}

// A column of any type with some rows, some of them null, and the expected values.
struct Made {
  std::string type;
  std::vector<bool> nulls;
  std::vector<std::string> texts;
  std::vector<std::vector<std::string>> lists;
  std::vector<Hash128> numbers;  // for every numeric type: their lowest bytes
};

const std::vector<std::string>& base_types() {
  static const std::vector<std::string> types = {"String", "FixedString(16)", "UInt8",
                                                 "UInt32", "UInt64",          "Int32",
                                                 "Int64",  "Decimal(38, 18)"};
  return types;
}

rc::Gen<Hash128> a_number() {
  return rc::gen::apply(
      [](std::uint64_t high, std::uint64_t low) { return Hash128{.high = high, .low = low}; },
      rc::gen::arbitrary<std::uint64_t>(), rc::gen::arbitrary<std::uint64_t>());
}
Int128 wide_of(const Hash128& number) {
  return static_cast<Int128>(static_cast<UInt128>(number.high) << 64 | number.low);
}

Made a_column(std::size_t rows) {
  Made made;
  if (*rc::gen::inRange(0, 5) == 0) {
    made.type = "Array(String)";
    made.lists = *rc::gen::container<std::vector<std::vector<std::string>>>(
        rows, rc::gen::arbitrary<std::vector<std::string>>());
    return made;
  }
  made.type = *rc::gen::elementOf(base_types());
  const bool is_text = made.type == "String";
  if (*rc::gen::arbitrary<bool>()) {
    made.type = "Nullable(" + made.type + ")";
    made.nulls = *rc::gen::container<std::vector<bool>>(rows, rc::gen::arbitrary<bool>());
  }
  if (is_text) {
    made.texts =
        *rc::gen::container<std::vector<std::string>>(rows, rc::gen::arbitrary<std::string>());
    // A text whose length needs more than one byte.
    if (rows > 0) made.texts[0] += std::string(*rc::gen::inRange<std::size_t>(0, 400), 'x');
  } else {
    made.numbers = *rc::gen::container<std::vector<Hash128>>(rows, a_number());
  }
  return made;
}

void write(const Made& made, std::size_t row, ColumnWriter& column) {
  const auto type = *parse_value_type(made.type);
  if (type.array) {
    column.add_texts(std::vector<std::string_view>(made.lists[row].begin(), made.lists[row].end()));
    return;
  }
  if (type.nullable && made.nulls[row]) return column.add_null();
  if (type.base == ValueType::Base::kString) return column.add_text(made.texts[row]);
  const Hash128& number = made.numbers[row];
  switch (type.base) {
    case ValueType::Base::kHash:
      return column.add_hash(number);
    case ValueType::Base::kUInt8:
      return column.add_bool(number.low % 2 == 1);
    case ValueType::Base::kUInt32:
      return column.add_uint32(static_cast<std::uint32_t>(number.low));
    case ValueType::Base::kUInt64:
      return column.add_uint64(number.low);
    case ValueType::Base::kInt32:
      return column.add_int32(static_cast<std::int32_t>(number.low));
    case ValueType::Base::kInt64:
      return column.add_int64(static_cast<std::int64_t>(number.low));
    case ValueType::Base::kDecimal:
      return column.add_wide(wide_of(number));
    case ValueType::Base::kString:
      break;
  }
}

bool is_same(const Made& made, std::size_t row, const Column& column) {
  const auto type = *parse_value_type(made.type);
  if (type.array) {
    const auto texts = column.texts(row);
    return std::ranges::equal(texts, made.lists[row]);
  }
  if (column.is_null(row)) return type.nullable && made.nulls[row];
  if (type.nullable && made.nulls[row]) return false;
  if (type.base == ValueType::Base::kString) return column.text(row) == made.texts[row];
  const Hash128& number = made.numbers[row];
  switch (type.base) {
    case ValueType::Base::kHash:
      return column.hash(row) == number;
    case ValueType::Base::kUInt8:
      return column.boolean(row) == (number.low % 2 == 1);
    case ValueType::Base::kUInt32:
      return column.uint32(row) == static_cast<std::uint32_t>(number.low);
    case ValueType::Base::kUInt64:
      return column.uint64(row) == number.low;
    case ValueType::Base::kInt32:
      return column.int32(row) == static_cast<std::int32_t>(number.low);
    case ValueType::Base::kInt64:
      return column.int64(row) == static_cast<std::int64_t>(number.low);
    case ValueType::Base::kDecimal:
      return column.wide(row) == wide_of(number);
    case ValueType::Base::kString:
      break;
  }
  return false;
}

RC_GTEST_PROP(Block, WhatIsWrittenIsReadInPiecesOfAnySize, ()) {
  std::vector<std::vector<Made>> blocks;
  std::string bytes;
  for (int i = *rc::gen::inRange(1, 4); i > 0; --i) {
    const auto rows = static_cast<std::size_t>(*rc::gen::inRange(0, 30));
    std::vector<Made> columns;
    std::vector<ColumnSpec> specs;
    for (int c = *rc::gen::inRange(1, 6); c > 0; --c) {
      columns.push_back(a_column(rows));
      specs.push_back({.name = *rc::gen::arbitrary<std::string>(), .type = columns.back().type});
    }
    BlockWriter writer(specs);
    for (std::size_t row = 0; row < rows; ++row) {
      for (std::size_t c = 0; c < columns.size(); ++c) write(columns[c], row, writer.column(c));
    }
    bytes += writer.take();
    blocks.push_back(std::move(columns));
  }
  const Read answer = read(bytes, static_cast<std::size_t>(*rc::gen::inRange(1, 200)));
  RC_ASSERT(answer.error.empty());
  RC_ASSERT(answer.at_end);
  RC_ASSERT(answer.blocks.size() == blocks.size());
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const Block& block = answer.blocks[i];
    RC_ASSERT(block.columns.size() == blocks[i].size());
    for (std::size_t c = 0; c < blocks[i].size(); ++c) {
      RC_ASSERT(block.columns[c].type() == blocks[i][c].type);
      for (std::uint64_t row = 0; row < block.rows; ++row) {
        RC_ASSERT(is_same(blocks[i][c], row, block.columns[c]));
      }
    }
  }
  // Any truncation is noticed.
  const auto cut = static_cast<std::size_t>(*rc::gen::inRange<std::size_t>(1, bytes.size()));
  const Read part = read(std::string_view(bytes).substr(0, cut));
  RC_ASSERT(part.error.empty());
  RC_ASSERT(!part.at_end || part.blocks.size() < answer.blocks.size());
}

TEST(Block, AHeaderWithoutRowsIsABlock) {
  const ColumnSpec columns[] = {{"a", "Array(String)"}, {"n", "Nullable(Int64)"}};
  BlockWriter writer(columns);
  const Read answer = read(writer.take());
  ASSERT_EQ(answer.blocks.size(), 1u);
  EXPECT_EQ(answer.blocks[0].rows, 0u);
  EXPECT_EQ(answer.blocks[0].columns[1].name(), "n");
  EXPECT_TRUE(answer.at_end);
  EXPECT_TRUE(read("").at_end);
  EXPECT_EQ(read(text_of({0, 0})).blocks.size(), 1u);
}

std::string varuint(std::uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>((value & 0x7f) | 0x80);
  return bytes + static_cast<char>(value);
}

TEST(Block, WhatIsNoBlockIsRefused) {
  const std::string one_column = text_of({1, 1}) + "\1a";
  const std::pair<std::string, std::string> cases[] = {
      {varuint(2'049), "2049 columns"},
      {varuint(~std::uint64_t{0}) + "\1", "18446744073709551615 columns"},
      {std::string(9, '\xff') + "\2", "more than 64 bits"},
      {std::string(10, '\x80'), "more than 64 bits"},
      {"\1" + varuint((1u << 24) + 1), "16777217 rows"},
      {text_of({0, 1}), "1 rows"},
      {text_of({1, 1}) + varuint(1'025), "a text of 1025 bytes"},
      {one_column + varuint(std::uint64_t{1} << 40), "a text of 1099511627776 bytes"},
      {one_column + "\7Float64", "column a has the type Float64"},
      {one_column + "\6LowCar", "column a has the type LowCar"},
      {one_column + "\6String" + varuint((1u << 30) + 1), "a text of 1073741825 bytes"},
      {one_column + "\6String" + varuint(~std::uint64_t{0}), "a text of 18446744073709551615"},
      {text_of({1, 2}) + "\1a" + "\x0d" + "Array(String)" + text_of({2, 0, 0, 0, 0, 0, 0, 0}) +
           text_of({1, 0, 0, 0, 0, 0, 0, 0}),
       "an array ends where it can't"},
      {one_column + "\x0d" + "Array(String)" + std::string(8, '\xff'),
       "an array ends where it can't"},
  };
  for (const auto& [bytes, words] : cases) {
    EXPECT_THAT(read(bytes).error, HasSubstr(words)) << words;
    EXPECT_THAT(read(bytes, 1).error, HasSubstr(words)) << words;
  }
}

TEST(Block, AnErrorStays) {
  BlockReader reader;
  reader.add(text_of({0, 1}));
  Block block;
  const auto first = reader.next(block);
  reader.add(answer_bytes());
  const auto second = reader.next(block);
  ASSERT_FALSE(first || second);
  EXPECT_EQ(first.error(), second.error());
  EXPECT_FALSE(reader.at_end());
}

TEST(Block, MisuseIsABug) {
  EXPECT_THROW(ColumnWriter("a", "Float64"), InvariantError);
  const ColumnSpec columns[] = {{"a", "Nullable(UInt64)"}, {"b", "Array(String)"}};
  BlockWriter writer(columns);
  EXPECT_THROW(writer.column(0).add_text("x"), InvariantError);
  EXPECT_THROW(writer.column(0).add_int64(1), InvariantError);
  EXPECT_THROW(writer.column(1).add_text("x"), InvariantError);
  EXPECT_THROW(writer.column(1).add_null(), InvariantError);
  writer.column(0).add_null();
  EXPECT_THROW(static_cast<void>(writer.take()), InvariantError);  // the other column has no row
  writer.column(1).add_texts({});
  const Read answer = read(writer.take());
  const Block& block = answer.blocks.at(0);
  EXPECT_THROW(static_cast<void>(block.columns[0].uint64(0)), InvariantError);  // a null
  EXPECT_THROW(static_cast<void>(block.columns[1].text(0)), InvariantError);
  EXPECT_THROW(static_cast<void>(block.columns[1].texts(1)), InvariantError);
}

}  // namespace
}  // namespace pennyweight::clickhouse
