// ExchangeRates: what one currency was worth in another, day by day, as a file says.
//
// Amounts in the ledger keep the currency of their bill; a report converts them and says at which
// rate. So an answer is never only an amount: it carries the rate, its date and the way it was
// found.
//
// A rate is in force from its date until the next of the same pair, but for no longer than
// RateSearch::days_valid_max: a forgotten file must not price this year's bills at last year's
// rates. Rates are exact decimals; nothing but what is said at `rate_on` is ever rounded.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/date.h"
#include "core/decimal.h"
#include "core/error.h"
#include "core/money.h"

namespace pennyweight {

struct ExchangeRate {
  Date date;
  Currency from = kUsd;
  Currency to = kUsd;
  Decimal rate;        // one unit of `from` is that many of `to`
  std::string source;  // as the file says, or the place in it: "rates.csv:12"
  bool operator==(const ExchangeRate&) const = default;
};

struct RateSearch {
  int days_valid_max = 31;  // how old a rate may be: 0 is the day itself only
  // Through which currency to cross where the file has no rate between the two; nothing: through
  // the only one that there is, and an error where there are several.
  std::optional<Currency> pivot = std::nullopt;
};

enum class RatePath {
  kSame,     // no conversion: the rate is 1
  kDirect,   // the file's own rate
  kInverse,  // one divided by the file's rate
  kCrossed,  // one rate times another
};

// A rate as found, with everything that a footnote needs.
struct FoundRate {
  Currency from = kUsd;
  Currency to = kUsd;
  Decimal rate;
  RatePath path = RatePath::kSame;
  std::vector<ExchangeRate> steps;  // the file's rates that it comes from: none, one or two
  bool operator==(const FoundRate&) const = default;
};

// "1 USD = 0.92 EUR (2026-03-31, ecb)"; an inverse or crossed rate says from what it was made.
std::string to_text(const FoundRate& found);

struct Converted {
  Money amount;
  bool rounded = false;  // the product had digits beyond 10^-18; half-even
  FoundRate rate;
};

class ExchangeRates {
 public:
  ExchangeRates() = default;  // no rates: nothing converts but into itself
  // Columns date,from,to,rate and, where wanted, source; in any order of rows. An error carries the
  // place. Refused are, besides malformed values: a rate of zero or less or above
  // kExchangeRateMax, one of a currency into itself, and two of one pair on one date.
  static Result<ExchangeRates> parse(std::string_view csv, std::string_view name);

  // The rate at which one amount of `from` on `date` is so many of `to`. In this order:
  //   the later of the pair's own rate and its inverse, at one date the pair's own;
  //   else two rates through a pivot, each found likewise.
  // An inverse is 1/rate rounded half-even to 10^-18, a crossed rate a product rounded likewise. An
  // error names the pair, the date and what the file has instead.
  Result<FoundRate> rate_on(Currency from, Currency to, Date date, const RateSearch& search) const;

  Result<Converted> convert(Money amount, Currency to, Date date, const RateSearch& search) const;

  const std::vector<ExchangeRate>& rates() const { return rates_; }  // by (from, to, date)

 private:
  const ExchangeRate* last_at(Currency from, Currency to, Date date) const;
  std::optional<FoundRate> one_step(Currency from, Currency to, Date date,
                                    const RateSearch& search) const;
  std::vector<Currency> pivots_of(Currency from, Currency to, Date date,
                                  const RateSearch& search) const;
  Error missing(Currency from, Currency to, Date date, const RateSearch& search) const;

  std::string name_;
  std::vector<ExchangeRate> rates_;
};

// A rate above this is taken for a slip of the pen and refused.
inline constexpr Decimal kExchangeRateMax = Decimal::from_units(1'000'000'000);

// `amount` at a rate that was found. REQUIRES: the amount is in found.from. An error where the
// product leaves the range of money.
Result<Converted> convert_at(Money amount, const FoundRate& found);

}  // namespace pennyweight
