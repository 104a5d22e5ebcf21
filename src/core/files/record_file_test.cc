#include "core/files/record_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
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

// A disk that is full after some bytes.
class AlmostFullDisk : public Disk {
 public:
  explicit AlmostFullDisk(std::size_t left) : left_(left) {}
  std::int64_t write(int file, const char* bytes, std::size_t size) override {
    if (left_ == 0) {
      errno = ENOSPC;
      return -1;
    }
    const std::size_t part = std::min(size, left_);
    left_ -= part;
    return Disk::write(file, bytes, part);
  }

 private:
  std::size_t left_;
};

TEST(RecordFile, LinesAreAddedWholeOrNotAtAll) {
  const std::string path = testing::TempDir() + "/added-book";
  const auto text = [&] { return read_record_file(path, 1000).value(); };
  ASSERT_TRUE(replace_file(path, "a\n"));
  const auto before = record_file_state(path).value();
  EXPECT_EQ(record_file_state(path).value(), before);
  ASSERT_TRUE(append_records(path, 2, "bb\n"));
  EXPECT_EQ(text(), "a\nbb\n");
  EXPECT_NE(record_file_state(path).value(), before);
  for (std::size_t left : {0U, 1U, 2U}) {
    AlmostFullDisk disk(left);
    EXPECT_FALSE(append_records(path, 5, "ccc\n", disk));
    EXPECT_EQ(text(), "a\nbb\n") << left;
  }
  const auto changed = append_records(path, 2, "c\n");
  ASSERT_FALSE(changed);
  EXPECT_EQ(changed.error().code, ErrorCode::kConflict);
  EXPECT_EQ(record_file_state(testing::TempDir() + "/no-such-book").value(), std::nullopt);
  EXPECT_FALSE(append_records(testing::TempDir() + "/no-such-book", 0, "c\n"));
  ASSERT_TRUE(keep_torn_record(path, "{\"to"));
  ASSERT_TRUE(keep_torn_record(path, "{"));
  EXPECT_EQ(read_record_file(path + ".torn", 1000).value(), "{\"to\n{\n");
  std::filesystem::remove(path);
  std::filesystem::remove(path + ".torn");
}

}  // namespace
}  // namespace pennyweight
