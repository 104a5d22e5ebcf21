// What an amount of a report is made of: its parts by kind and component as billed, each month's
// conversion, and the total as the report shows it, to the last digit.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/error.h"
#include "ledger/posting.h"
#include "ledger/summary.h"
#include "reporting/queries/costs.h"
#include "reporting/queries/currency.h"
#include "reporting/queries/explain.h"

namespace pennyweight {

struct ExplainedPart {
  PostingKind kind;
  Component component;
  Money cost;  // as billed
  GpuTime gpu_time;
  std::uint64_t postings = 0;
};

// The cost booked in a month in one currency, and what it is in the currency of the report.
struct ExplainedMonth {
  std::string month;
  Money billed;
  Money shown;
};

// ENSURES: in each currency the parts add up to the months' `billed`, and the months' `shown` to
// the total.
struct ExplainedSum {
  std::vector<ExplainedPart> parts;    // by currency, then kind and component
  std::vector<ExplainedMonth> months;  // by month, then currency
  std::vector<Money> total;            // one per currency shown
  std::uint64_t postings = 0;
};

// `summarise` answers in billed currencies. Without `conversion` nothing is converted. Converted
// row by row as the report of params.by is, so the total is that of the report.
Result<ExplainedSum> explain_sum(const ExplainQuery& params, const Policy& policy,
                                 const SummarySource& summarise, CurrencyConversion* conversion);

// The same of listed postings, as billed. REQUIRES: all are booked in `month`.
ExplainedSum sum_of_postings(std::span<const Posting> postings, const std::string& month,
                             CostColumn cost);

}  // namespace pennyweight
