// Rounding for display: tables of what is shown, and properties against the exact value.
#include "reporting/number_format.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "core/card_share.h"

namespace pennyweight {
namespace {

Decimal decimal(const char* text) { return parse_decimal(text)->value; }

TEST(FormatRounded, RoundsHalfToEven) {
  const struct {
    const char* value;
    int digits;
    Thousands thousands;
    const char* want;
  } kCases[] = {
      {"0", 2, Thousands::kSeparated, "0.00"},
      {"1234567.891", 2, Thousands::kSeparated, "1,234,567.89"},
      {"1234567.891", 2, Thousands::kPlain, "1234567.89"},
      {"999.995", 2, Thousands::kSeparated, "1,000.00"},
      {"0.125", 2, Thousands::kPlain, "0.12"},
      {"0.135", 2, Thousands::kPlain, "0.14"},
      {"-0.135", 2, Thousands::kPlain, "-0.14"},
      {"-0.001", 2, Thousands::kPlain, "0.00"},
      {"0.5", 0, Thousands::kPlain, "0"},
      {"1.5", 0, Thousands::kPlain, "2"},
      {"-1234", 0, Thousands::kSeparated, "-1,234"},
      {"0.000000000000000001", 18, Thousands::kPlain, "0.000000000000000001"},
      {"99999999999999999999.999999999999999999", 2, Thousands::kSeparated,
       "100,000,000,000,000,000,000.00"},
  };
  for (const auto& [value, digits, thousands, want] : kCases) {
    EXPECT_EQ(format_rounded(decimal(value), digits, thousands), want) << value;
  }
}

TEST(FormatRounded, RefusesDigitsThatMoneyDoesNotHave) {
  EXPECT_THROW((void)format_rounded(Decimal(), 19, Thousands::kPlain), InvariantError);
  EXPECT_THROW((void)format_rounded(Decimal(), -1, Thousands::kPlain), InvariantError);
}

RC_GTEST_PROP(FormatRounded, WithAllDigitsLosesNothing, (std::int64_t high, std::uint64_t low)) {
  const Decimal value = Decimal::from_ticks(Int128{high} * 1'000'000'000 + Int128{low % 1'000'000});
  const std::string text = format_rounded(value, 18, Thousands::kPlain);
  RC_ASSERT(parse_exact_decimal(text).value() == value);
}

TEST(FormatGpuHours, FourDigitsAndTheExactFraction) {
  const auto hours_of_ms = [](std::uint64_t ms) { return CardShare::whole().over_ms(ms); };
  const struct {
    GpuTime time;
    const char* rounded;
    const char* exact;
  } kCases[] = {
      {GpuTime(), "0.0000", "0"},
      {kGpuHour, "1.0000", "1"},
      {hours_of_ms(628094286'000), "174,470.6350", "34894127/200"},
      {hours_of_ms(1000), "0.0003", "1/3600"},
      {CardShare::of(1, 7)->over_ms(3'600'000), "0.1429", "1/7"},
      {GpuTime::of(kGpuHour.count() / 20'000), "0.0000", "1/20000"},        // 0.00005: to even
      {GpuTime::of(3 * (kGpuHour.count() / 20'000)), "0.0002", "3/20000"},  // 0.00015: to even
  };
  for (const auto& [time, rounded, exact] : kCases) {
    EXPECT_EQ(format_gpu_hours(time, 4, Thousands::kSeparated), rounded);
    EXPECT_EQ(exact_gpu_hours(time), exact);
  }
}

TEST(FormatPercent, SaysNothingOfNothing) {
  EXPECT_EQ(format_percent(1, 3, 1), "33.3");
  EXPECT_EQ(format_percent(2, 3, 4), "66.6667");
  EXPECT_EQ(format_percent(-1, 4, 1), "-25.0");
  EXPECT_EQ(format_percent(-1, -4, 0), "25");
  EXPECT_EQ(format_percent(0, 5, 1), "0.0");
  EXPECT_EQ(format_percent(1, 0, 1), std::nullopt);
  EXPECT_EQ(format_percent(kInt128Max, 1, 1), std::nullopt);
  EXPECT_EQ(format_percent(kInt128Max, kInt128Max, 1), "100.0");
}

TEST(NumberFormat, CountsWithTheirNoun) {
  EXPECT_EQ(counted(0, "job"), "0 jobs");
  EXPECT_EQ(counted(1, "job"), "1 job");
  EXPECT_EQ(counted(2'000, "job"), "2,000 jobs");
  EXPECT_EQ(counted(1, "entry", "entries"), "1 entry");
  EXPECT_EQ(counted(3, "entry", "entries"), "3 entries");
}

}  // namespace
}  // namespace pennyweight
