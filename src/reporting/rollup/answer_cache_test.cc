#include "reporting/rollup/answer_cache.h"

#include <gtest/gtest.h>

namespace pennyweight::rollup {
namespace {

RollupAnswer of_rows(std::size_t count) {
  const SummaryRow row{{}, {"a key that is longer than most"}, Costs::zero(kUsd), {}, {}, {}, {},
                       1};
  return std::vector<SummaryRow>(count, row);
}

std::size_t rows_in(const CachedAnswer& answer) {
  return std::get<std::vector<SummaryRow>>(*answer).size();
}

TEST(AnswersTest, AreOfOneVersion) {
  AnswerCache answers(1 << 20);
  answers.keep("q", 7, of_rows(1));
  EXPECT_NE(answers.find("q", 7), nullptr);
  EXPECT_EQ(answers.find("q", 8), nullptr);
  EXPECT_EQ(answers.find("other", 7), nullptr);
  answers.keep("q", 6, of_rows(2));  // of a reader that was slow
  EXPECT_EQ(rows_in(answers.find("q", 7)), 1u);
  answers.keep("r", 8, of_rows(3));
  EXPECT_EQ(answers.find("q", 7), nullptr);
  EXPECT_EQ(answers.find("q", 8), nullptr);
  EXPECT_EQ(rows_in(answers.find("r", 8)), 3u);
}

TEST(AnswersTest, TheLongestUnusedGoFirst) {
  AnswerCache answers(std::uint64_t{50} * sizeof(SummaryRow));
  for (const char* query : {"a", "b", "c", "d"}) answers.keep(query, 1, of_rows(5));
  EXPECT_NE(answers.find("a", 1), nullptr);
  for (int i = 0; i < 6; ++i) answers.keep("more" + std::to_string(i), 1, of_rows(5));
  EXPECT_NE(answers.find("a", 1), nullptr);
  EXPECT_EQ(answers.find("b", 1), nullptr);
  answers.keep("large", 1, of_rows(40));
  EXPECT_EQ(answers.find("large", 1), nullptr);
  EXPECT_NE(answers.find("a", 1), nullptr);
}

TEST(AnswersTest, NoTwoQuestionsLookAlike) {
  const std::chrono::sys_days day(std::chrono::year(2026) / 3 / 4);
  const std::vector<SummaryQuery> queries = {
      {},
      {.first_day = day},
      {.last_day = day},
      {.bucket = TimeBucket::kDay},
      {.group_by = {"team", "user"}},
      {.group_by = {"user", "team"}},
      {.group_by = {"team4:user"}},
      {.group_by = {"team", "user", ""}},
      {.filters = {{"team", {"user"}, false}}},
      {.filters = {{"team", {"user"}, true}}},
      {.filters = {{"team", {}, false}, {"user", {}, false}}},
      {.group_by = {"team"}, .filters = {{"user", {}, false}}},
      {.as_of = Instant()},
  };
  std::vector<std::string> prints;
  for (const SummaryQuery& query : queries) prints.push_back(fingerprint(query));
  const SummaryQuery& query = queries[4];
  for (const OwnersRequest& asked : {OwnersRequest{.count = 5},
                                     {.count = 6},
                                     {.by_key = true, .count = 5},
                                     {.costs = {Cost::kList}, .count = 5},
                                     {.costs = {Cost::kEffective, Cost::kList}, .count = 5}}) {
    prints.push_back(fingerprint(query, asked));
  }
  for (const PageRequest& asked :
       {PageRequest{.count = 5},
        {.count = 6},
        {.order = PageRequest::Order::kKey, .count = 5},
        {.order = PageRequest::Order::kKey, .count = 5, .all_or_none = true},
        {.prefix = "a", .count = 5},
        {.after = PageRequest::Cursor{{"a", "b"}, kUsd}, .count = 5},
        {.after = PageRequest::Cursor{{"a;1:b"}, kUsd}, .count = 5},
        {.after = PageRequest::Cursor{{"a", "b"}, kEur}, .count = 5}}) {
    prints.push_back(fingerprint(query, asked));
  }
  for (std::size_t i = 0; i < prints.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) EXPECT_NE(prints[i], prints[j]) << i << " and " << j;
  }
}

}  // namespace
}  // namespace pennyweight::rollup
