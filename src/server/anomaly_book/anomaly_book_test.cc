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

TEST(AnomalyBook, IsReadBackAndOnlyAddedTo) {
  const std::string path = testing::TempDir() + "/anomalies.jsonl";
  std::filesystem::remove(path);
  AnomalyBook book(path);
  EXPECT_TRUE(book.verdicts()->empty());
  const auto recorded = []() -> Result<void> { return {}; };
  ASSERT_TRUE(book.add(kVerdict, recorded));
  AnomalyVerdict second = kVerdict;
  second.is_expected = false;
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
