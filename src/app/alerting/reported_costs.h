// The costs that budgets, unusual days and kept forecasts are made from, in the currency of
// `currencies.report` where one is configured.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "config/config.h"
#include "insight/queries/budget_query.h"
#include "reporting/queries/costs.h"
#include "reporting/queries/currency.h"

namespace pennyweight {

// At the rates of `currencies.rates`, which are read when they are needed, so that new ones count
// without a restart. Nothing: without `currencies.report`, costs stay as they are billed.
std::optional<BudgetConversion> configured_conversion(const CurrencyConfig& config);

// For one look at the costs. One thread at a time uses it.
class ReportedCosts {
 public:
  ReportedCosts(const CurrencyConfig& config, SummarySource as_billed);
  ReportedCosts(const ReportedCosts&) = delete;
  ReportedCosts& operator=(const ReportedCosts&) = delete;

  const SummarySource& source() const { return source_; }
  // Null: costs stay as they are billed.
  CurrencyConversion* conversion() { return conversion_ ? &*conversion_ : nullptr; }
  // The newest rate of each currency that was converted, "1 EUR = 1.08 USD (2026-03-31, ecb)",
  // separated by "; "; empty: nothing was.
  std::string newest_rates() const;

 private:
  std::optional<CurrencyConversion> conversion_;
  SummarySource source_;
};

}  // namespace pennyweight
