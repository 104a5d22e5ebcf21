#include "server/anomaly_book/anomaly_book.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace pennyweight {
namespace {

const AnomalyVerdict kVerdict{{"team", "a \"b\"", *parse_date("2026-03-02")},
                              {-4'200, Money::from_decimal(Decimal::from_ticks(-1), kEur)},
                              true,
                              "moved\tto another cluster",
                              "ana",
                              *parse_instant("2026-03-04T10:00:00Z"),
                              true};

constexpr std::size_t kVerdictsOfAuthorMax = 2'000;
constexpr std::chrono::days kVerdictKept{732};

const auto kRecorded = []() -> Result<void> { return {}; };

TEST(AnomalyBook, WhatWasSaidAgainOrLongAgoGoes) {
  const std::string path = testing::TempDir() + "/again.jsonl";
  std::filesystem::remove(path);
  AnomalyBook book(path);
  AnomalyVerdict again = kVerdict, other = kVerdict, mute = kVerdict;
  again.is_expected = false;
  other.incident.first = *parse_date("2026-02-02");
  ASSERT_TRUE(book.add(other, kRecorded));
  ASSERT_TRUE(book.add(kVerdict, kRecorded));
  ASSERT_TRUE(book.add(again, kRecorded));
  EXPECT_EQ(*book.verdicts(), (std::vector<AnomalyVerdict>{other, again}));
  // The word of somebody who may not teach does not take the lesson away.
  mute.teaches = false;
  mute.who = "bo";
  ASSERT_TRUE(book.add(mute, kRecorded));
  EXPECT_EQ(*book.verdicts(), (std::vector<AnomalyVerdict>{other, again, mute}));
  AnomalyVerdict late = kVerdict;
  late.incident.key = "nlp";
  late.at += kVerdictKept + std::chrono::hours(1);
  ASSERT_TRUE(book.add(late, kRecorded));
  EXPECT_EQ(*book.verdicts(), (std::vector<AnomalyVerdict>{late}));
  std::filesystem::remove(path);
}

TEST(AnomalyBook, NobodyFillsItForAll) {
  const std::string path = testing::TempDir() + "/many.jsonl";
  AnomalyVerdict first = kVerdict;
  first.incident.key = "n0";
  {
    std::filesystem::remove(path);
    AnomalyBook book(path);
    ASSERT_TRUE(book.add(first, kRecorded));
  }
  std::string line;
  std::getline(std::ifstream(path), line);
  std::ofstream file(path, std::ios::app);
  for (std::size_t i = 1; i < kVerdictsOfAuthorMax; ++i) {
    std::string one = line;
    one.replace(one.find("n0"), 2, "n" + std::to_string(i));
    file << one << "\n";
  }
  file.close();
  AnomalyBook book(path);
  ASSERT_EQ(book.verdicts()->size(), kVerdictsOfAuthorMax);
  AnomalyVerdict more = kVerdict;
  const auto refused = book.add(more, kRecorded);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kLimit);
  EXPECT_NE(refused.error().message.find("2000 incidents"), std::string::npos)
      << refused.error().message;
  EXPECT_TRUE(book.add(first, kRecorded)) << "to say it again is no more";
  more.who = "bo";
  EXPECT_TRUE(book.add(more, kRecorded));
  std::filesystem::remove(path);
}

TEST(AnomalyBook, IsReadBackByAnother) {
  const std::string path = testing::TempDir() + "/anomalies.jsonl";
  std::filesystem::remove(path);
  AnomalyBook book(path);
  EXPECT_TRUE(book.verdicts()->empty());
  const auto recorded = []() -> Result<void> { return {}; };
  ASSERT_TRUE(book.add(kVerdict, recorded));
  AnomalyVerdict second = kVerdict;
  second.is_expected = false;
  second.incident.first = *parse_date("2026-03-09");
  AnomalyBook other(path);
  ASSERT_TRUE(other.add(second, recorded));
  EXPECT_EQ(*book.verdicts(), (std::vector<AnomalyVerdict>{kVerdict, second}));
  const auto refused = book.add(
      kVerdict, []() -> Result<void> { return fail(ErrorCode::kIo, "the audit log is full"); });
  EXPECT_FALSE(refused);
  EXPECT_EQ(book.verdicts()->size(), 2u);
  std::ofstream(path, std::ios::app) << "{\"at\": \"2026-03-04T10:00:00Z\"}\n";
  const auto damaged = book.verdicts();
  ASSERT_FALSE(damaged);
  EXPECT_NE(damaged.error().message.find("anomalies.jsonl:3 can't be read"), std::string::npos)
      << damaged.error().message;
  std::filesystem::remove(path);
  std::filesystem::remove(path + ".lock");
}

TEST(AnomalyBook, TakesLinesThatPeopleMended) {
  const std::string path = testing::TempDir() + "/mended.jsonl";
  const std::string line =
      R"({"at": "2026-03-04T10:00:00Z", "who": "ana", "by": "", "key": "nlp", )"
      R"("first": "2026-03-02", "expected": true, "reason": "", "score": )";
  const auto write = [&](std::string_view score) {
    std::ofstream(path, std::ios::trunc) << line << score << "}";
  };
  write("1000000000000");
  AnomalyBook book(path);
  ASSERT_TRUE(book.add(kVerdict, []() -> Result<void> { return {}; }));
  const auto verdicts = book.verdicts();
  ASSERT_TRUE(verdicts) << verdicts.error().message;
  ASSERT_EQ(verdicts->size(), 2u);
  EXPECT_FALSE(verdicts->front().teaches);
  EXPECT_EQ(verdicts->back(), kVerdict);
  for (const char* score : {"1000000000001", "-1000000000001", "-9223372036854775808"}) {
    write(score);
    EXPECT_FALSE(book.verdicts()) << score;
  }
  std::filesystem::remove(path);
  std::filesystem::remove(path + ".lock");
}

}  // namespace
}  // namespace pennyweight
