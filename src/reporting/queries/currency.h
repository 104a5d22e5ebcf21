// Converts the sums of an answer into one currency, and remembers the rates used: one rule for
// every answer, so that the same cost is the same amount on every page (reporting/conversion.h).
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/money.h"
#include "ledger/summary.h"
#include "reporting/conversion.h"
#include "reporting/queries/costs.h"

namespace pennyweight {

// For one answer; not for several threads.
class CurrencyConversion {
 public:
  // `rates` is called at most once, when the first amount in another currency comes.
  CurrencyConversion(Currency to, RatesSource rates, RateSearch search);

  Currency to() const { return to_; }
  // REQUIRES: rows of a query grouped by converted_group_by(). The rows without the month's key, in
  // `to`. An Error where a rate is missing: a total never leaves an amount out.
  Result<std::vector<SummaryRow>> convert(std::span<const SummaryRow> rows);
  // An amount booked in `month`, "2026-03", at the rate of the month's last day.
  Result<Money> convert(const Money& amount, const std::string& month);

  // Each rate used for `since` or a later day, by date and currency: "1 EUR = 1.08 USD (2026-03-31,
  // ecb)". Nothing: all of them.
  std::vector<std::string> used(std::optional<Date> since = std::nullopt) const;
  // The newest rate of each currency that was used.
  std::vector<std::string> newest() const;

 private:
  Result<const ExchangeRates*> rates_for(const Currency& foreign);
  void remember(std::span<const UsedRate> used);

  Currency to_;
  RatesSource source_;
  RateSearch search_;
  std::optional<ExchangeRates> rates_;
  std::map<std::pair<Date, Currency>, std::string> used_;
};

// What `summarise` answers, in the currency of `conversion`, which outlives the source. Answers
// that are in it already are passed on as they are.
SummarySource convert_source(SummarySource summarise, CurrencyConversion& conversion);

// The currencies that the rates name, by code.
std::vector<std::string> rate_currencies(const ExchangeRates& rates);

}  // namespace pennyweight
