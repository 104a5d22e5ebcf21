#include "app/cli/shared_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "app/context/price_files.h"
#include "core/try.h"
#include "reporting/number_format.h"
#include "reporting/queries/coverage.h"
#include "reporting/queries/staleness.h"

namespace pennyweight {

void add_table_options(CLI::App& command, TableOptions& options) {
  command
      .add_option("--format", options.format, "text is rounded for reading; csv and json are exact")
      ->check(CLI::IsMember({"text", "csv", "json"}))
      ->capture_default_str();
  command
      .add_option("--digits", options.digits,
                  "Digits of money in text; default: those of its currency")
      ->check(CLI::Range(0, Decimal::kFractionDigits));
}

void add_cost_option(CLI::App& command, std::string& name) {
  command.add_option("--cost", name, "Which cost of the bill")
      ->check(CLI::IsMember({"effective", "billed", "list", "contracted"}))
      ->capture_default_str();
}

Money Costs::* cost_named(const std::string& name) {
  if (name == "billed") return &Costs::billed;
  if (name == "list") return &Costs::list;
  if (name == "contracted") return &Costs::contracted;
  return &Costs::effective;
}

void add_date_options(CLI::App& command, DateOptions& dates) {
  command.add_option("--month", dates.month, "The billing month, such as 2026-03");
  command.add_option("--from", dates.from, "The first local day, such as 2026-03-01");
  command.add_option("--to", dates.to, "The last local day, inclusive");
}

void add_booked_month_option(CLI::App& command, std::string& month) {
  command.add_option("--month", month, "The booked month, such as 2026-03");
}

constexpr std::string_view kOriginal = "original";

void add_currency_options(CLI::App& command, CurrencyOptions& options) {
  command.add_option(
      "--currency", options.currency,
      "Convert everything to this currency, such as EUR, and list the rates; 'original': "
      "as billed. Default: currencies.report");
  command.add_option("--rates", options.rates,
                     "A file of dated exchange rates; default: currencies.rates");
}

Result<std::optional<Currency>> chosen_currency(const CurrencyOptions& options,
                                                const Config& config) {
  if (options.currency == kOriginal) return std::nullopt;
  if (options.currency.empty()) return config.currencies.report;
  const auto parsed = Currency::parse(options.currency);
  if (!parsed) {
    return usage_error(
        fmt::format("--currency: {}; or use '{}'", parsed.error().message, kOriginal));
  }
  return *parsed;
}

Result<ExchangeRates> rates_between(const Currency& foreign, const Currency& to,
                                    const CurrencyOptions& options, const Config& config) {
  const std::string& file = options.rates.empty() ? config.currencies.rates_file : options.rates;
  if (!file.empty()) return load_exchange_rates(file);
  return fail(ErrorCode::kConfig,
              fmt::format("there are costs in {}, but no exchange rates to show them in {}; use "
                          "--rates FILE, or set currencies.rates in the configuration",
                          foreign.text(), to.text()));
}

void add_threads_option(CLI::App& command, std::optional<unsigned>& threads) {
  command.add_option("--threads", threads, "0: one per core; the figures do not depend on it")
      ->check(CLI::Range(0, 1024));
}

unsigned resolve_threads(std::optional<unsigned> option, const Config& config) {
  const unsigned threads = option.value_or(config.threads);
  return threads > 0 ? threads : std::max(1U, std::thread::hardware_concurrency());
}

Result<std::string> choose_month(const std::string& option, Store& store) {
  if (!option.empty()) {
    if (const auto month = check_month(option); !month) return as_usage_error(month.error());
  }
  TRY(check_has_charges(store, option));
  if (!option.empty()) return option;
  const auto overview = TRY(store.overview());
  if (overview.months.size() == 1) return overview.months.front();
  return usage_error(fmt::format("there are bill lines of {} to {}; choose a month with --month",
                                 overview.months.front(), overview.months.back()));
}

void print_tables(const std::vector<Table>& tables, const TableOptions& options,
                  const Context& context) {
  const TableFormat format = parse_table_format(options.format).value_or(TableFormat::kText);
  context.console.print(render(tables, format, context.console.style(options.digits)));
}

Result<void> warn_of_staleness(Store& store, const std::string& month, const Context& context) {
  constexpr std::size_t kMonthsNamed = 3;
  auto stale = TRY(query_staleness(store, context.config.policy));
  if (!month.empty()) {
    std::erase_if(stale, [&](const StaleMonth& one) { return one.month != month; });
  }
  for (std::size_t i = 0; i < stale.size() && i < kMonthsNamed; ++i) {
    context.console.warn(printable(to_text(stale[i])));
  }
  if (stale.size() > kMonthsNamed) {
    context.console.warn(fmt::format("… and {} more: 'pennyweight allocate' takes in what came",
                                     counted(stale.size() - kMonthsNamed, "month")));
  }
  return {};
}

}  // namespace pennyweight
