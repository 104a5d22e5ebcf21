// report: postings added up by any dimensions.
#include <fmt/format.h>

#include "app/price_files.h"
#include "app/table_options.h"
#include "app/verb.h"
#include "questions/costs.h"

namespace pennyweight {
namespace {

struct ReportOptions {
  CostQuestion question;
  std::string as_of;
  std::string currency;
  std::string rates;
  TableOptions table;
};

constexpr std::string_view kOriginal = "original";

// Into which currency: as told, else as configured; nothing: each stays what it is.
Result<std::optional<Currency>> currency_of(const ReportOptions& options, const Config& config) {
  if (options.currency == kOriginal) return std::nullopt;
  if (options.currency.empty()) return config.currencies.report;
  const auto parsed = Currency::parse(options.currency);
  if (!parsed) {
    return wrong_usage(
        fmt::format("--currency: {}; or write '{}'", parsed.error().message, kOriginal));
  }
  return *parsed;
}

Result<CostPlan> plan_of(const ReportOptions& options, const Config& config) {
  CostQuestion question = options.question;
  if (!options.as_of.empty()) {
    const auto as_of = parse_instant(options.as_of);
    if (!as_of) return wrong_usage("--as-of: " + as_of.error().message);
    question.as_of = *as_of;
  }
  const auto currency = currency_of(options, config);
  if (!currency) return std::unexpected(currency.error());
  question.currency = *currency;
  auto plan = plan_costs(question, config.policy);
  if (!plan) return as_usage(plan.error());
  return plan;
}

Result<ExchangeRates> rates_for(const Currency& foreign, const ReportOptions& options,
                                const CostPlan& plan, const Config& config) {
  const std::string& file = options.rates.empty() ? config.currencies.rates_file : options.rates;
  if (!file.empty()) return load_exchange_rates(file);
  return fail(ErrorCode::kConfig,
              fmt::format("there are costs in {}, and no exchange rates to show them in {}: give "
                          "--rates FILE, or set currencies.rates in the configuration",
                          foreign.text(), plan.currency->text()));
}

Result<ExitCode> run(const ReportOptions& options, Context& context) {
  const auto plan = plan_of(options, context.config);
  if (!plan) return std::unexpected(plan.error());
  const auto store = open_ledger(context.config);
  if (!store) return std::unexpected(store.error());
  const auto tables = ask_costs(
      *plan, [&](const SummaryQuery& query) { return (*store)->summarise(query); },
      [&](const Currency& foreign) { return rates_for(foreign, options, *plan, context.config); },
      rate_search(context.config));
  if (!tables) return std::unexpected(tables.error());
  print_tables(*tables, options.table, context);
  if (!tables->empty()) return ExitCode::kDone;

  const auto overview = (*store)->overview();
  if (!overview) return std::unexpected(overview.error());
  if (overview->postings == 0) {
    return fail(ErrorCode::kNotFound, "nothing is allocated yet; run 'pennyweight allocate' first");
  }
  context.console.warn("no posting matches the filters and dates");
  return ExitCode::kDone;
}

}  // namespace

Verb declare_report(CLI::App& app) {
  const auto options = std::make_shared<ReportOptions>();
  CLI::App* command = app.add_subcommand("report", "Show costs by team, cluster, or any dimension");
  command->add_option("--by", options->question.by, "Dimensions, separated by commas")
      ->capture_default_str();
  command->add_option(
      "--filter", options->question.filters,
      "DIMENSION=VALUE[,VALUE…] or DIMENSION!=…; may be repeated; \\, is a comma of a value");
  add_date_options(*command, options->question.dates);
  command
      ->add_option("--every", options->question.step,
                   "One row for each day, week (from Monday) or month")
      ->check(CLI::IsMember({"none", "day", "week", "month"}));
  command->add_option("--cost", options->question.cost, "Which of the bill's costs")
      ->check(CLI::IsMember({"effective", "billed", "list", "contracted", "all"}))
      ->capture_default_str();
  command->add_option("--sort", options->question.sort, "The largest first, or by name")
      ->check(CLI::IsMember({"cost", "key"}))
      ->capture_default_str();
  command->add_option("--top", options->question.top,
                      "Show the first N owners and the others as one row");
  command->add_option("--as-of", options->as_of,
                      "What a report of that time showed, such as 2026-04-05 or "
                      "2026-04-05T10:00:00Z");
  command->add_option("--currency", options->currency,
                      "Everything in this currency, such as EUR, and at which rates; 'original': "
                      "each as billed. Else as currencies.report");
  command->add_option("--rates", options->rates, "Dated exchange rates; else currencies.rates");
  add_table_options(*command, options->table);
  command->footer(examples_of("report"));
  return {command, [options](Context& context) { return run(*options, context); }};
}

}  // namespace pennyweight
