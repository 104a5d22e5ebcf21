// Money: an exact amount of one currency.
//
// It is a 128-bit count of ticks of 10^-18 of the currency unit. The same integer is stored as
// DECIMAL(38,18) in DuckDB and Decimal(38,18) in ClickHouse, so a value never changes on its way to
// disk and back. The scale is fixed for the life of the product: changing it would rewrite every
// posting ever made.
//
// There is no Money without a currency, no operator/, and no conversion from double. To divide an
// amount among several parties use split() (core/split.h), which loses nothing.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/check.h"
#include "core/decimal.h"
#include "core/error.h"
#include "core/int128.h"

namespace pennyweight {

// An ISO 4217 code. It is a value and not a template parameter, because the currency of a bill is
// known only when the bill is read.
class Currency {
 public:
  explicit consteval Currency(const char (&code)[4]) : code_{code[0], code[1], code[2]} {}
  // Three capital letters; anything else is an error.
  static Result<Currency> parse(std::string_view code);
  std::string text() const { return {code_, 3}; }
  constexpr auto operator<=>(const Currency&) const = default;

 private:
  constexpr Currency(char a, char b, char c) : code_{a, b, c} {}
  char code_[3];
};

inline constexpr Currency kUsd{"USD"};
inline constexpr Currency kEur{"EUR"};

class Money {
 public:
  static constexpr std::int64_t kTicksPerUnit = Decimal::kTicksPerUnit;

  static constexpr Money zero(Currency currency) { return Money(0, currency); }
  static constexpr Money from_ticks(Int128 ticks, Currency currency) {
    return Money(ticks, currency);
  }
  static constexpr Money from_units(std::int64_t units, Currency currency) {
    return Money(Int128{units} * kTicksPerUnit, currency);
  }
  static constexpr Money from_decimal(Decimal amount, Currency currency) {
    return Money(amount.ticks(), currency);
  }
  constexpr Int128 ticks() const { return ticks_; }
  constexpr Decimal amount() const { return Decimal::from_ticks(ticks_); }
  constexpr Currency currency() const { return currency_; }

  constexpr Money operator-() const { return zero(currency_) - *this; }
  friend constexpr Money operator+(Money a, Money b) {
    CHECK(a.currency_ == b.currency_,
          "amounts of two currencies don't add; convert one, or keep them apart");
    Int128 sum{};
    const bool overflow = __builtin_add_overflow(a.ticks_, b.ticks_, &sum);
    CHECK(!overflow, "money overflow");
    return Money(sum, a.currency_);
  }
  friend constexpr Money operator-(Money a, Money b) {
    CHECK(a.currency_ == b.currency_, "amounts of two currencies don't subtract");
    Int128 difference{};
    const bool overflow = __builtin_sub_overflow(a.ticks_, b.ticks_, &difference);
    CHECK(!overflow, "money overflow");
    return Money(difference, a.currency_);
  }
  constexpr Money& operator+=(Money other) { return *this = *this + other; }
  constexpr bool operator==(const Money&) const = default;
  constexpr bool is_negative() const { return ticks_ < 0; }
  constexpr bool is_zero() const { return ticks_ == 0; }

 private:
  constexpr Money(Int128 ticks, Currency currency) : ticks_(ticks), currency_(currency) {}
  Int128 ticks_;
  Currency currency_;
};

}  // namespace pennyweight
