#include "server/annotation_book/annotation_book.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace pennyweight {
namespace {

const Annotation kMove{.first = *parse_date("2026-03-02"),
                       .last = *parse_date("2026-03-04"),
                       .filters = {"team=nlp,a\\,b", "node!=x"},
                       .for_everyone = true,
                       .text = "moved\tto \"cluster b\"\nat last",
                       .who = "ana",
                       .at = *parse_instant("2026-03-04T10:00:00.007Z")};

const auto kUnrecorded = [](const Annotation&) -> Result<void> { return {}; };

std::string fresh_path(const std::string& name) {
  const std::string path = testing::TempDir() + "/" + name;
  std::filesystem::remove(path);
  return path;
}

TEST(AnnotationBook, IsReadBackByAnother) {
  const std::string path = fresh_path("annotations.jsonl");
  AnnotationBook book(path);
  EXPECT_TRUE(book.annotations()->empty());
  Annotation kept = kMove;
  kept.id = 1'772'618'400'007;
  const auto added = book.add(kMove, kUnrecorded);
  ASSERT_TRUE(added);
  EXPECT_EQ(*added, kept);
  AnnotationBook other(path);
  EXPECT_EQ(*other.annotations(), (std::vector<Annotation>{kept}));
  // Two of one instant have two ids.
  const auto second = other.add(kMove, kUnrecorded);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->id, kept.id + 1);
  EXPECT_EQ(book.annotations()->size(), 2u);
}

TEST(AnnotationBook, WhatIsRemovedGoesAndNoId) {
  AnnotationBook book(fresh_path("removed.jsonl"));
  const auto first = book.add(kMove, kUnrecorded);
  const auto second = book.add(kMove, kUnrecorded);
  ASSERT_TRUE(first && second);
  std::string removed_text;
  ASSERT_TRUE(book.remove(first->id, [&](const Annotation& one) -> Result<void> {
    removed_text = one.text;
    return {};
  }));
  EXPECT_EQ(removed_text, kMove.text);
  EXPECT_EQ(*book.annotations(), (std::vector<Annotation>{*second}));
  const auto gone = book.remove(first->id, kUnrecorded);
  ASSERT_FALSE(gone);
  EXPECT_EQ(gone.error().code, ErrorCode::kNotFound);
}

TEST(AnnotationBook, NothingChangesThatIsNotRecorded) {
  AnnotationBook book(fresh_path("unrecorded.jsonl"));
  const auto kept = book.add(kMove, kUnrecorded);
  ASSERT_TRUE(kept);
  const auto refuse = [](const Annotation&) -> Result<void> {
    return fail(ErrorCode::kIo, "the audit log is full");
  };
  EXPECT_FALSE(book.add(kMove, refuse));
  EXPECT_FALSE(book.remove(kept->id, refuse));
  EXPECT_EQ(*book.annotations(), (std::vector<Annotation>{*kept}));
}

TEST(AnnotationBook, NobodyFillsItForAll) {
  const std::string path = fresh_path("full.jsonl");
  ASSERT_TRUE(AnnotationBook(path).add(kMove, kUnrecorded));
  std::string line;
  std::getline(std::ifstream(path), line);
  std::ofstream file(path, std::ios::app);
  for (std::size_t i = 1; i < kAnnotationsOfAuthorMax; ++i) file << line << "\n";
  file.close();
  AnnotationBook book(path);
  const auto refused = book.add(kMove, kUnrecorded);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kConflict);
  EXPECT_NE(refused.error().message.find("2000 annotations"), std::string::npos)
      << refused.error().message;
  Annotation of_another = kMove;
  of_another.who = "bo";
  EXPECT_TRUE(book.add(of_another, kUnrecorded));
}

TEST(AnnotationBook, ALineThatIsNoneIsNamed) {
  for (const char* line :
       {"{}", "no JSON", "{\"id\": -1}", "[1]",
        R"({"id": 1, "at": "2026-03-04T10:00:00Z", "who": "a", "first": "2026-02-30", )"
        R"("last": "2026-03-01", "filters": [], "for_everyone": false, "text": "x"})",
        R"({"id": 1, "at": "2026-03-04T10:00:00Z", "who": "a", "first": "2026-03-01", )"
        R"("last": "2026-03-01", "filters": [7], "for_everyone": false, "text": "x"})"}) {
    const std::string path = fresh_path("torn.jsonl");
    ASSERT_TRUE(AnnotationBook(path).add(kMove, kUnrecorded));
    std::ofstream(path, std::ios::app) << line << "\n";
    AnnotationBook book(path);
    const auto read = book.annotations();
    ASSERT_FALSE(read) << line;
    EXPECT_NE(read.error().message.find("torn.jsonl:2"), std::string::npos) << read.error().message;
    // What can't be read is not written over.
    EXPECT_FALSE(book.add(kMove, kUnrecorded)) << line;
    std::stringstream text;
    text << std::ifstream(path).rdbuf();
    EXPECT_NE(text.str().find(line), std::string::npos);
  }
}

}  // namespace
}  // namespace pennyweight
