// forecast: what the next days and months will cost, with ranges.
#include <fmt/format.h>

#include "app/cli/shared_options.h"
#include "app/cli/verb.h"
#include "app/context/paths.h"
#include "core/billing_period.h"
#include "core/try.h"
#include "insight/queries/forecast_query.h"
#include "server/forecast_book/forecast_book.h"

namespace pennyweight {
namespace {

struct ForecastOptions {
  ForecastQuery query{.costs = {.by = "team"}};
  std::string today;
  bool explains = false;
  bool is_whole = false;
  TableOptions table;
};

Result<Date> chosen_today(const std::string& text, Context& context) {
  const std::string zone_today = local_date(context.clock.now(), context.config.policy.time_zone);
  auto day = parse_date(text.empty() ? zone_today : text);
  if (!day) return usage_error("--today: " + day.error().message);
  return *day;
}

Result<ExitCode> run(const ForecastOptions& options, Context& context) {
  ForecastQuery query = options.query;
  if (options.is_whole) query.costs.by.clear();
  query.costs.today = TRY(chosen_today(options.today, context));
  query.events = context.config.events;
  ForecastBook book(forecast_book_path(context.config));
  query.kept = [&book](const std::string& by) { return book.kept(by); };
  const auto store = TRY(open_ledger(context.config));
  const auto result =
      query_forecast(query, context.config.policy,
                     [&](const SummaryQuery& summary) { return store->summarise(summary); });
  if (!result) return as_usage_error(result.error());
  auto table = forecast_table(*result, query);
  if (!table) return as_usage_error(table.error());
  TRY(warn_of_staleness(*store, "", context));
  std::vector<Table> tables{*std::move(table)};
  if (options.explains) {
    // In CSV a file has one header, so the explanation stands for the forecast.
    if (options.table.format == "csv") tables.clear();
    tables.push_back(forecast_explanation(*result, query));
    if (options.table.format != "csv") tables.push_back(kept_forecast_table(*result, query));
  }
  print_tables(tables, options.table, context);
  return ExitCode::kDone;
}

}  // namespace

Verb declare_forecast(CLI::App& app) {
  const auto options = std::make_shared<ForecastOptions>();
  CLI::App* command =
      app.add_subcommand("forecast", "Show what the next days and months will cost, with ranges");
  command->add_option("--by", options->query.costs.by, "A dimension")->capture_default_str();
  command->add_flag("--whole", options->is_whole, "Everything together, not by a dimension");
  command->add_option(
      "--filter", options->query.costs.filters,
      "DIMENSION=VALUE[,VALUE…] or DIMENSION!=…; may be repeated; write a comma in a value as \\,");
  command->add_option("--days", options->query.days, "Days ahead")
      ->check(CLI::Range(1, kForecastDaysMax))
      ->capture_default_str();
  command->add_option("--every", options->query.step, "One row per day or month")
      ->check(CLI::IsMember({"none", "day", "month"}));
  command->add_option("--cost", options->query.costs.cost, "Which cost of the bill")
      ->check(CLI::IsMember({"effective", "billed", "list", "contracted", "gpu_hours"}))
      ->capture_default_str();
  command
      ->add_option("--top", options->query.costs.keys_max,
                   "The N largest have a forecast of their own")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command->add_option("--today", options->today,
                      "Forecast as on this day, such as 2026-04-01: only days before it are known");
  command->add_flag("--explain", options->explains,
                    "The methods tried, whether the ranges held, and how near kept forecasts came");
  add_table_options(*command, options->table);
  command->footer(examples_footer("forecast"));
  return {command, [options](Context& context) { return run(*options, context); }};
}

}  // namespace pennyweight
