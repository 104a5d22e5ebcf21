// Converts summary rows of several currencies into one currency, and reports the rates it used.
//
// Rate date: the last day of the month in which the posting is booked, whatever time buckets the
// report has. A month therefore comes to the same figure by day and as a whole. A document with a
// date of its own, such as an invoice, uses that date instead. A rate is the last one at or before
// its date, for a limited time (allocation/pricing/exchange.h).
//
// Rounding: each cost of each row of each month is multiplied by its rate and rounded once,
// half-even at 10^-18. Merged rows and totals are sums of these amounts, so a page adds up to its
// total exactly.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "allocation/pricing/exchange.h"
#include "core/error.h"
#include "ledger/summary.h"

namespace pennyweight {

struct ConversionRequest {
  Currency to = kUsd;
  std::optional<Date> on = std::nullopt;  // a document's date; empty: the end of each row's month
  RateSearch search = {};
};

// A rate that a report used, for rate_footnotes().
struct UsedRate {
  Date on;              // the date the rate was looked up for
  FoundRate rate;       // with the date of the rate itself
  Costs before, after;  // the sums it was applied to, and the results
};

struct ConvertedRows {
  std::vector<SummaryRow> rows;  // by bucket, then keys
  std::vector<UsedRate> rates;   // by date, then currency; none for rows already in `to`
};

// The group_by of the query whose rows convert_rows() takes: "month" in front of the report's own.
std::vector<std::string> converted_group_by(std::vector<std::string> group_by);

// REQUIRES: rows of a query grouped by converted_group_by(). Removes the month's key, then merges
// rows of equal bucket and keys. Fails, naming currency and date, where a rate is missing: a total
// never leaves an amount out.
Result<ConvertedRows> convert_rows(std::span<const SummaryRow> rows, const ExchangeRates& rates,
                                   const ConversionRequest& request);

// REQUIRES: all rows are in `currency`.
Costs sum_costs(std::span<const SummaryRow> rows, Currency currency);

// One sentence per rate: "EUR 1,234.50 at 2026-03-31: 1 EUR = 1.08 USD (2026-03-31, ecb)".
std::vector<std::string> rate_footnotes(std::span<const UsedRate> rates);

}  // namespace pennyweight
