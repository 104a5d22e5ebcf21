#include "server/forecast_book/forecast_book.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace pennyweight {
namespace {

using forecasting::KeptForecast;
using forecasting::MoneyRange;

Money usd(std::int64_t units) { return Money::from_units(units, kUsd); }
const Date kFirst = *parse_date("2026-03-01");

KeptForecast forecast_from(Date first, const std::string& by, const std::string& key) {
  return {first, by, key, {{usd(100), MoneyRange{usd(90), usd(110)}, {}}, {usd(-3), {}, {}}}};
}

class ForecastBookTest : public testing::Test {
 protected:
  void SetUp() override {
    path_ = testing::TempDir() + "forecast_book_" + std::to_string(::getpid()) + ".jsonl";
    std::filesystem::remove(path_);
  }
  void TearDown() override { std::filesystem::remove(path_); }
  std::string path_;
};

TEST_F(ForecastBookTest, KeepsForecastsAcrossPrograms) {
  ForecastBook book(path_);
  EXPECT_TRUE(book.kept("team")->empty());
  EXPECT_FALSE(*book.has("team", kFirst));
  const std::vector some{forecast_from(kFirst, "team", "a \"quoted\" team"),
                         forecast_from(kFirst, "", "")};
  ASSERT_TRUE(book.add(some));
  ForecastBook other(path_);
  EXPECT_TRUE(*other.has("team", kFirst));
  EXPECT_TRUE(*other.has("", kFirst));
  EXPECT_FALSE(*other.has("project", kFirst));
  const auto kept = other.kept("team");
  ASSERT_TRUE(kept && kept->size() == 1) << kept.error().message;
  const KeptForecast& one = kept->front();
  EXPECT_EQ(one.first, kFirst);
  EXPECT_EQ(one.key, "a \"quoted\" team");
  ASSERT_EQ(one.days.size(), 2u);
  EXPECT_EQ(one.days[0].expected, usd(100));
  EXPECT_EQ(one.days[0].range80->low, usd(90));
  EXPECT_FALSE(one.days[0].range95);
  EXPECT_EQ(one.days[1].expected, usd(-3));
}

TEST_F(ForecastBookTest, DropsOldOnes) {
  ForecastBook book(path_);
  ASSERT_TRUE(book.add(std::vector{forecast_from(kFirst, "team", "nlp")}));
  ASSERT_TRUE(book.add(std::vector{forecast_from(kFirst + ForecastBook::kKeptFor, "team", "nlp")}));
  EXPECT_EQ(book.kept("team")->size(), 2u);
  ASSERT_TRUE(book.add(std::vector{
      forecast_from(kFirst + ForecastBook::kKeptFor + std::chrono::days(1), "team", "nlp")}));
  EXPECT_EQ(book.kept("team")->size(), 2u);
  EXPECT_FALSE(*book.has("team", kFirst));
}

TEST_F(ForecastBookTest, ALineThatCantBeReadIsNamed) {
  const std::string head = R"({"first": "2026-03-01", "by": "", "key": "", "currency": "USD", )";
  const std::string lines[] = {"nonsense",
                               "{}",
                               head + R"("days": []})",
                               head + R"("days": [["1"]]})",
                               head + R"("days": [["x", null, null]]})",
                               head + R"("days": [["1", ["1"], null]]})"};
  for (const std::string& line : lines) {
    std::ofstream(path_) << line << "\n";
    ForecastBook book(path_);
    const auto kept = book.kept("");
    ASSERT_FALSE(kept) << line;
    EXPECT_THAT(kept.error().message, testing::HasSubstr(":1 can't be read")) << line;
  }
}

}  // namespace
}  // namespace pennyweight
