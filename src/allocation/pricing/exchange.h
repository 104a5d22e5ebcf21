// ExchangeRates: the dated exchange rates of a file.
//
// Amounts in the ledger keep the currency of their bill; a report converts them and states the
// rate. So an answer is never just an amount: it has the rate, its date and how it was found.
//
// A rate is in force from its date until the next rate of the same pair, but for no longer than
// RateSearch::days_valid_max: a forgotten file must not convert this year's bills at last year's
// rates. Rates are exact decimals, rounded only as rate_on() documents.
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
  Decimal rate;        // one unit of `from` is this many of `to`
  std::string source;  // as the file says, or the place in it: "rates.csv:12"
  bool operator==(const ExchangeRate&) const = default;
};

struct RateSearch {
  int days_valid_max = 31;  // how old a rate may be; 0: of the same day only
  // The currency to cross through where the file has no rate between the two; nothing: the only one
  // that is possible, and an Error where there are several.
  std::optional<Currency> pivot = std::nullopt;
};

enum class RatePath {
  kSame,     // no conversion: the rate is 1
  kDirect,   // the file's own rate
  kInverse,  // one divided by the file's rate
  kCrossed,  // one rate times another
};

// A rate that was found, with everything that a footnote needs.
struct FoundRate {
  Currency from = kUsd;
  Currency to = kUsd;
  Decimal rate;
  RatePath path = RatePath::kSame;
  std::vector<ExchangeRate> steps;  // the file's rates that it is computed from: none, one or two
  bool operator==(const FoundRate&) const = default;
};

// "1 USD = 0.92 EUR (2026-03-31, ecb)"; for an inverse or crossed rate also what it is computed
// from.
std::string to_text(const FoundRate& found);

struct Converted {
  Money amount;
  bool rounded = false;  // the product had digits beyond 10^-18; half-even
  FoundRate rate;
};

class ExchangeRates {
 public:
  ExchangeRates() = default;  // no rates: a currency converts only into itself
  // The columns are date,from,to,rate and optionally source, with rows in any order. An Error has
  // the place. Besides malformed values it refuses a rate of zero or less or above
  // kExchangeRateMax, a rate of a currency into itself, and two rates of one pair on one date.
  static Result<ExchangeRates> parse(std::string_view csv, std::string_view name);

  // The rate from `from` to `to` on `date`. It is
  //   the later of the pair's own rate and its inverse, and of two on one date the pair's own;
  //   else the product of two rates through a pivot, each found likewise.
  // An inverse is 1/rate rounded half-even to 10^-18, a crossed rate a product rounded likewise. An
  // Error names the pair, the date and what the file has instead.
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

// A rate above this is refused as a mistake.
inline constexpr Decimal kExchangeRateMax = Decimal::from_units(1'000'000'000);

// Converts an amount at a rate that was found. REQUIRES: the amount is in found.from. An Error
// where the product leaves the range of money.
Result<Converted> convert_at(Money amount, const FoundRate& found);

}  // namespace pennyweight
