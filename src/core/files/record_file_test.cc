#include "core/files/record_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace pennyweight {
namespace {

Result<std::vector<std::string>> lines_of(std::string_view text, std::size_t begin = 0) {
  std::vector<std::string> lines;
  const auto done =
      read_records("book", text, begin, kMendRecords, [&](std::string_view line) -> Result<void> {
        if (line == "bad") return fail(ErrorCode::kBadFile, "no record");
        lines.emplace_back(line);
        return {};
      });
  if (!done) return std::unexpected(done.error());
  return lines;
}

TEST(RecordFile, GivesEachLine) {
  EXPECT_EQ(lines_of("").value(), std::vector<std::string>{});
  EXPECT_EQ(lines_of("a\nb\n").value(), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(lines_of("a\nb").value(), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(lines_of("a\n\nb\n").value(), (std::vector<std::string>{"a", "", "b"}));
  EXPECT_EQ(lines_of("a\nb\n", 2).value(), std::vector<std::string>{"b"});
}

TEST(RecordFile, NamesTheLineThatCantBeRead) {
  for (const std::size_t begin : {0u, 2u}) {
    const auto lines = lines_of("a\nb\nbad\n", begin);
    ASSERT_FALSE(lines);
    EXPECT_THAT(lines.error().message,
                testing::HasSubstr("book:3 can't be read; restore the file"));
    EXPECT_THAT(lines.error().message, testing::HasSubstr("no record"));
  }
}

TEST(RecordFile, WhatIsAddedBeginsALine) {
  EXPECT_EQ(with_records("", "c\n"), "c\n");
  EXPECT_EQ(with_records("a\n", "c\n"), "a\nc\n");
  EXPECT_EQ(with_records("a\nb", "c\n"), "a\nb\nc\n") << "an editor has left out the last end";
  EXPECT_FALSE(is_whole_records("a\nb"));
}

TEST(RecordFile, OneThatIsNotThereIsEmpty) {
  EXPECT_EQ(read_record_file(testing::TempDir() + "/no-such-book", 10).value(), "");
}

}  // namespace
}  // namespace pennyweight
