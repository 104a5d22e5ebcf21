// report: sums of postings by any dimensions.
#include <fmt/format.h>

#include "app/cli/shared_options.h"
#include "app/cli/verb.h"
#include "app/context/price_files.h"
#include "core/try.h"
#include "reporting/queries/activity_query.h"
#include "reporting/queries/costs.h"

namespace pennyweight {
namespace {

struct ReportOptions {
  CostQuery query;
  std::string as_of;
  CurrencyOptions conversion;
  TableOptions table;
  std::string as;  // a report of activity; empty: of costs
  CLI::App* command = nullptr;
};

Result<CostPlan> plan_report(const ReportOptions& options, const Config& config) {
  CostQuery query = options.query;
  if (!options.as_of.empty()) {
    const auto as_of = parse_instant(options.as_of);
    if (!as_of) return usage_error("--as-of: " + as_of.error().message);
    query.as_of = *as_of;
  }
  const auto currency = TRY(chosen_currency(options.conversion, config));
  query.currency = currency;
  auto plan = plan_cost_query(query, config.policy);
  if (!plan) return as_usage_error(plan.error());
  return plan;
}

// Jobs and hours, from holdings instead of postings.
Result<ExitCode> run_activity(const ReportOptions& options, Context& context) {
  for (const char* option :
       {"--cost", "--sort", "--top", "--as-of", "--currency", "--rates", "--digits"}) {
    if (options.command->count(option) == 0) continue;
    return usage_error(
        fmt::format("report: {} is for costs, which --as {} does not report", option, options.as));
  }
  ActivityQuery query{.by = {},
                      .filters = options.query.filters,
                      .dates = options.query.dates,
                      .step = options.query.step,
                      .as = options.as};
  if (options.command->count("--by") > 0) query.by = options.query.by;
  const auto store = TRY(open_ledger(context.config));
  auto table = query_activity(*store, query, context.config.policy, context.clock.now());
  if (!table) return as_usage_error(table.error());
  if (table->rows.empty()) context.console.warn("no holding matches the filters and dates");
  print_tables({*std::move(table)}, options.table, context);
  return ExitCode::kDone;
}

Result<ExitCode> run(const ReportOptions& options, Context& context) {
  if (!options.as.empty()) return run_activity(options, context);
  const auto plan = TRY(plan_report(options, context.config));
  const auto store = TRY(open_ledger(context.config));
  const auto tables = query_costs(
      plan, [&](const SummaryQuery& query) { return store->summarise(query); },
      [&](const Currency& foreign) {
        return rates_between(foreign, *plan.currency, options.conversion, context.config);
      },
      rate_search(context.config));
  if (!tables) return std::unexpected(tables.error());
  print_tables(*tables, options.table, context);
  // A report as of an earlier time is of the runs of that time.
  if (options.as_of.empty()) {
    TRY(warn_of_staleness(*store, options.query.dates.month, context));
  }
  if (!tables->empty()) return ExitCode::kDone;

  const auto overview = TRY(store->overview());
  if (overview.postings == 0) {
    return fail(ErrorCode::kNotFound, "nothing is allocated yet; run 'pennyweight allocate' first");
  }
  context.console.warn("no posting matches the filters and dates");
  return ExitCode::kDone;
}

}  // namespace

Verb declare_report(CLI::App& app) {
  const auto options = std::make_shared<ReportOptions>();
  CLI::App* command = app.add_subcommand("report", "Show costs by team, cluster, or any dimension");
  command->add_option("--by", options->query.by, "Dimensions, separated by commas")
      ->capture_default_str();
  command->add_option(
      "--filter", options->query.filters,
      "DIMENSION=VALUE[,VALUE…] or DIMENSION!=…; may be repeated; write a comma in a value as \\,");
  add_date_options(*command, options->query.dates);
  command
      ->add_option("--every", options->query.step, "One row per day, week (from Monday) or month")
      ->check(CLI::IsMember({"none", "day", "week", "month"}));
  command->add_option("--cost", options->query.cost, "Which cost of the bill")
      ->check(CLI::IsMember({"effective", "billed", "list", "contracted", "all"}))
      ->capture_default_str();
  command->add_option("--sort", options->query.sort, "Largest first, or by name")
      ->check(CLI::IsMember({"cost", "key"}))
      ->capture_default_str();
  command->add_option("--top", options->query.top,
                      "Show the first N owners, and one row for the others");
  command->add_option("--as-of", options->as_of,
                      "As the report was at this time, such as 2026-04-05 or "
                      "2026-04-05T10:00:00Z");
  add_currency_options(*command, options->conversion);
  std::vector<std::string> names;
  std::string described = "Instead of costs, what workloads held and how many there were:";
  for (const NamedActivityReport& each : activity_reports()) {
    names.emplace_back(each.name);
    described +=
        fmt::format("{} {}: {}", names.size() == 1 ? "" : ";", each.name, each.description);
  }
  command->add_option("--as", options->as, described)->check(CLI::IsMember(names));
  options->command = command;
  add_table_options(*command, options->table);
  command->footer(examples_footer("report"));
  return {command, [options](Context& context) { return run(*options, context); }};
}

}  // namespace pennyweight
