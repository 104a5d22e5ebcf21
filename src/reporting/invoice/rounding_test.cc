// What is printed adds up, whatever the amounts are.
#include "reporting/invoice/rounding.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace pennyweight {
namespace {

Money usd(std::string_view text) { return Money::from_decimal(*parse_exact_decimal(text), kUsd); }

std::vector<Money> usd_all(const std::vector<std::string>& texts) {
  std::vector<Money> amounts;
  for (const std::string& text : texts) amounts.push_back(usd(text));
  return amounts;
}

std::string shown(const std::vector<std::string>& amounts, std::string_view target) {
  const RoundedAmounts rounded = round_to_total(usd_all(amounts), usd(target));
  std::string text;
  for (const Money& one : rounded.shown) text += (text.empty() ? "" : " ") + format_minor(one);
  if (!rounded.residue.is_zero()) text += " left " + format_minor(rounded.residue);
  return text;
}

TEST(RoundedAmounts, DigitsOfISO4217) {
  const auto digits = [](const char* code) { return minor_digits(*Currency::parse(code)); };
  EXPECT_EQ(digits("USD"), 2);
  EXPECT_EQ(digits("EUR"), 2);
  EXPECT_EQ(digits("JPY"), 0);
  EXPECT_EQ(digits("KRW"), 0);
  EXPECT_EQ(digits("KWD"), 3);
  EXPECT_EQ(digits("CLF"), 4);
  EXPECT_EQ(digits("XYZ"), 2);
}

TEST(RoundedAmounts, RoundsToTheMinorUnitHalfEven) {
  const auto rounded = [](std::string_view text) {
    return format_minor(round_to_minor(usd(text)));
  };
  EXPECT_EQ(rounded("0.005"), "0.00");
  EXPECT_EQ(rounded("0.015"), "0.02");
  EXPECT_EQ(rounded("0.0150001"), "0.02");
  EXPECT_EQ(rounded("0.014999"), "0.01");
  EXPECT_EQ(rounded("-0.005"), "0.00");
  EXPECT_EQ(rounded("-0.015"), "-0.02");
  EXPECT_EQ(rounded("-1234.567"), "-1,234.57");
  const Currency yen("JPY");
  EXPECT_EQ(format_minor(round_to_minor(Money::from_decimal(*parse_exact_decimal("1234.5"), yen))),
            "1,234");
}

TEST(RoundedAmounts, ByHand) {
  // Three thirds of a dollar: rounded each by itself they would be 0.99.
  EXPECT_EQ(shown({"0.333333", "0.333333", "0.333334"}, "1"), "0.33 0.33 0.34");
  EXPECT_EQ(shown({"0.335", "0.335", "0.33"}, "1"), "0.34 0.33 0.33");  // ties to the earlier
  // Two half cents: both up would be 0.02.
  EXPECT_EQ(shown({"0.005", "0.005"}, "0.01"), "0.01 0.00");
  // A whole cent is never changed, though it comes first.
  EXPECT_EQ(shown({"0.01", "0.004", "0.006"}, "0.02"), "0.01 0.00 0.01");
  EXPECT_EQ(shown({"5", "-2.005", "-1.005"}, "1.99"), "5.00 -2.00 -1.01");
  EXPECT_EQ(shown({}, "0"), "");
}

TEST(RoundedAmounts, ACreditIsTheMirrorOfItsCharge) {
  EXPECT_EQ(shown({"0.335", "0.335", "0.33"}, "1"), "0.34 0.33 0.33");
  EXPECT_EQ(shown({"-0.335", "-0.335", "-0.33"}, "-1"), "-0.34 -0.33 -0.33");
}

TEST(RoundedAmounts, SaysWhatItCannotReach) {
  EXPECT_EQ(shown({"0.50"}, "0.51"), "0.50 left 0.01");
  EXPECT_EQ(shown({"0.505"}, "0.52"), "0.51 left 0.01");
  EXPECT_EQ(shown({"0.505"}, "0.49"), "0.50 left -0.01");
}

RC_GTEST_PROP(RoundedAmounts, AddsUpAndIsNeverAUnitAway, ()) {
  const auto code = *rc::gen::element<std::string>("USD", "JPY", "KWD", "CLF");
  const Currency currency = *Currency::parse(code);
  const auto ticks = *rc::gen::container<std::vector<std::int64_t>>(rc::gen::oneOf(
      rc::gen::arbitrary<std::int64_t>(),
      rc::gen::map(rc::gen::inRange<std::int64_t>(-300, 300),
                   [](std::int64_t cents) { return cents * 5'000'000'000'000'000; })));
  std::vector<Money> amounts;
  Money sum = Money::zero(currency);
  for (const std::int64_t tick : ticks) {
    amounts.push_back(Money::from_ticks(Int128{tick} * 7, currency));
    sum += amounts.back();
  }
  const RoundedAmounts rounded = round_to_total(amounts, round_to_minor(sum));
  RC_ASSERT(rounded.residue.is_zero());
  Int128 unit = Money::kTicksPerUnit;
  for (int i = 0; i < minor_digits(currency); ++i) unit /= 10;
  Money shown_sum = Money::zero(currency);
  for (std::size_t i = 0; i < amounts.size(); ++i) {
    const Int128 away = rounded.shown[i].ticks() - amounts[i].ticks();
    RC_ASSERT(away < unit && -away < unit);
    RC_ASSERT(rounded.shown[i].ticks() % unit == 0);
    shown_sum += rounded.shown[i];
  }
  RC_ASSERT(shown_sum == round_to_minor(sum));
  std::vector<Money> mirror;
  for (const Money& amount : amounts) mirror.push_back(-amount);
  const RoundedAmounts back = round_to_total(mirror, -round_to_minor(sum));
  for (std::size_t i = 0; i < amounts.size() && !sum.is_zero(); ++i) {
    RC_ASSERT(back.shown[i] == -rounded.shown[i]);
  }
}

}  // namespace
}  // namespace pennyweight
