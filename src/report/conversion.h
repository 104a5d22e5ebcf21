// Conversion: summary rows of several currencies → rows of one, and at which rates.
//
// Which rate: that of the last day of the month in whose accounts the posting is, however the
// report is cut in time; so a month comes to one figure, by the day or as a whole. For a document
// that has a date of its own, such as an invoice, that date instead. Rates are searched as
// pricing/exchange.h says: the last at or before the date, for a limited time.
//
// What is rounded: each cost of each row of each month is multiplied by its rate and rounded
// half-even at 10^-18 once. Everything shown afterwards, merged rows and totals alike, is a sum of
// those, so a page adds up to its total with ==.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/error.h"
#include "ledger/summary.h"
#include "pricing/exchange.h"

namespace pennyweight {

struct ConversionRequest {
  Currency to = kUsd;
  std::optional<Date> on = std::nullopt;  // of the document; nothing: the end of each row's month
  RateSearch search = {};
};

// A rate that a report used, for its footnotes.
struct UsedRate {
  Date on;              // the date that was asked for
  FoundRate rate;       // with the date of the rate itself
  Costs before, after;  // the sums that it was used on, and what they became
};

struct ConvertedRows {
  std::vector<SummaryRow> rows;  // by bucket, then keys
  std::vector<UsedRate> rates;   // by date, then currency; none for rows that were in `to` already
};

// The group_by of the query whose rows convert_rows() takes: "month" in front of the report's own.
std::vector<std::string> converted_group_by(std::vector<std::string> group_by);

// REQUIRES: rows of a query grouped by converted_group_by(); the key of the month is taken off.
// Rows that then have one bucket and the same keys become one. An error names the currency and the
// date for which there is no rate: nothing is left out of a total.
Result<ConvertedRows> convert_rows(std::span<const SummaryRow> rows, const ExchangeRates& rates,
                                   const ConversionRequest& request);

// The sum of the rows. REQUIRES: they are in one currency, `currency`.
Costs sum_of(std::span<const SummaryRow> rows, Currency currency);

// A sentence for each rate: "EUR 1,234.50 at 2026-03-31: 1 EUR = 1.08 USD (2026-03-31, ecb)".
std::vector<std::string> footnotes(std::span<const UsedRate> rates);

}  // namespace pennyweight
