// Options that several verbs share.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "allocation/pricing/exchange.h"
#include "app/cli/verb.h"
#include "ledger/charge.h"
#include "reporting/queries/selection.h"
#include "reporting/table.h"

namespace pennyweight {

struct TableOptions {
  std::string format = "text";
  std::optional<int> digits;  // of money; absent: those of each currency
};

void add_table_options(CLI::App& command, TableOptions& options);
// --cost: which of the four costs; "effective" by default.
void add_cost_option(CLI::App& command, std::string& name);
// REQUIRES: --cost has checked the name.
Money Costs::* cost_named(const std::string& name);
void add_date_options(CLI::App& command, DateOptions& dates);
void add_booked_month_option(CLI::App& command, std::string& month);
struct CurrencyOptions {
  std::string currency;  // "original": as billed
  std::string rates;     // a file
};

// --currency and --rates.
void add_currency_options(CLI::App& command, CurrencyOptions& options);
// The currency to convert to: that of --currency, else the configured one; empty: none.
Result<std::optional<Currency>> chosen_currency(const CurrencyOptions& options,
                                                const Config& config);
// Those of --rates, else the configured ones. An Error without either names both currencies.
Result<ExchangeRates> rates_between(const Currency& foreign, const Currency& to,
                                    const CurrencyOptions& options, const Config& config);
void add_threads_option(CLI::App& command, std::optional<unsigned>& threads);

// The number of threads to use: that of --threads, else the configured one; 0 is one per core.
unsigned resolve_threads(std::optional<unsigned> option, const Config& config);
// The billing month of --month or, without it, the only one with charges. An Error if the month has
// no charges, or if there are several to choose from.
Result<std::string> choose_month(const std::string& option, Store& store);

void print_tables(const std::vector<Table>& tables, const TableOptions& options,
                  const Context& context);

// Says which months were last allocated before facts came that may change them
// (reporting/queries/staleness.h); `month`: only of this one; empty: of all.
Result<void> warn_of_staleness(Store& store, const std::string& month, const Context& context);

}  // namespace pennyweight
