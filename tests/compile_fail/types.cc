// Code that the compiler must refuse. check.py compiles each case alone; what stands
// after `refused:` must match the compiler's message (GCC's words, then clang's), so that no case
// is refused for a reason that is not its own. With no case picked the file must compile.
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/billing_period.h"
#include "core/card_share.h"
#include "core/decimal.h"
#include "core/id.h"
#include "core/instant.h"
#include "core/label.h"
#include "core/money.h"
#include "core/quantity.h"
#include "core/split.h"

namespace pennyweight {

void take_team(const TeamId&) {}
void take_share(CardShare) {}
void take_labels(const Labels&) {}

void uses() {
  [[maybe_unused]] const auto dollars = Money::from_units(1, kUsd);
  [[maybe_unused]] const auto time = GpuTime::of(1);
  [[maybe_unused]] const auto memory = MemoryTime::of(1);
  [[maybe_unused]] const auto energy = Energy::of(1);
  [[maybe_unused]] const auto price = Decimal::from_units(2);
  [[maybe_unused]] const auto job = JobId("train-17");
  [[maybe_unused]] const Instant begin = from_unix_seconds(0);
  [[maybe_unused]] const Interval hour(begin, begin + std::chrono::hours(1));
  [[maybe_unused]] const auto march = BillingPeriod::parse("2026-03", TimeZone::utc());
#if CASE == 1  // two kinds of resource
  // refused: no match for 'operator\+'|invalid operands
  (void)(time + energy);
#elif CASE == 2  // another two kinds
  // refused: no match for 'operator\+'|invalid operands
  (void)(time + memory);
#elif CASE == 3  // money and time
  // refused: no match for 'operator\+'|invalid operands
  (void)(dollars + time);
#elif CASE == 4  // a job is not a team
  // refused: Id<.*TeamTag|'take_team'
  take_team(job);
#elif CASE == 5  // division loses ticks; split() does not
  // refused: no match for 'operator/'|invalid operands
  (void)(dollars / 3);
#elif CASE == 6  // no double becomes money
  // refused: is private within|private constructor
  (void)Money(0.1, kUsd);
#elif CASE == 7  // nor does one by another overload
  // refused: narrowing|no matching|cannot convert|cannot be narrowed
  (void)Money::from_units({0.1}, kUsd);
#elif CASE == 8  // a bare string is no id
  // refused: invalid initialization of reference.*TeamId|'take_team'
  take_team("research");
#elif CASE == 9  // no way out without naming the unit
  // refused: cannot convert|no viable conversion
  [[maybe_unused]] const std::int64_t raw = dollars;
#elif CASE == 10  // no amount without a currency
  // refused: no matching function for call to '.*Money::Money\(\)'|no matching constructor
  [[maybe_unused]] const Money nothing;
#elif CASE == 11  // dollars squared mean nothing
  // refused: no match for 'operator\*'|invalid operands
  (void)(dollars * dollars);
#elif CASE == 12  // no double becomes a decimal
  // refused: is private within|private constructor|no matching
  (void)Decimal(0.1);
#elif CASE == 13  // a product names its rounding
  // refused: no match for 'operator\*'|invalid operands
  (void)(price * price);
#elif CASE == 14  // and so does multiply()
  // refused: too few arguments|no matching function
  (void)multiply(price, price);
#elif CASE == 15  // labels have limits that a bare map does not know
  // refused: invalid initialization of reference.*Labels|'take_labels'
  take_labels(std::map<std::string, std::string>{});
#elif CASE == 16  // a running job has no end: that is optional<>, not an interval
  // refused: no matching function for call to.*Interval|no matching constructor
  [[maybe_unused]] const Interval open(begin);
#elif CASE == 17  // a point is not a span
  // refused: no match for 'operator-'|invalid operands
  (void)(hour - begin);
#elif CASE == 18  // a number is no instant: seconds or milliseconds?
  // refused: conversion from .* to non-scalar type|no viable conversion
  [[maybe_unused]] const Instant at = 1'774'915'200;
#elif CASE == 19  // a month is no interval without its zone
  // refused: no matching function for call to|cannot convert|too few arguments
  (void)BillingPeriod::parse("2026-03");
#elif CASE == 20  // 3 of what? of(3, 7)
  // refused: could not convert .* to .*CardShare|'take_share'
  take_share(3);
#elif CASE == 21  // an unchecked currency code
  // refused: call to consteval|not a constant expression|no matching
  const std::string code = "USD";
  (void)Currency(code);
#elif CASE == 22  // weights are integers
  // refused: could not convert|no matching function|no known conversion
  (void)split(dollars, std::vector<double>{0.5, 0.5});
#elif CASE == 23  // a result may be an error: look first
  // refused: cannot convert|no viable conversion|conversion from
  [[maybe_unused]] const Decimal amount = parse_exact_decimal("0.1");
#endif
}

}  // namespace pennyweight
