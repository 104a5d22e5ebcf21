// forecast: what the next days and months will cost, with ranges; and when GPUs run out.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "app/cli/chosen_conversion.h"
#include "app/cli/event_changes.h"
#include "app/cli/shared_options.h"
#include "app/cli/verb.h"
#include "app/context/paths.h"
#include "core/billing_period.h"
#include "core/try.h"
#include "insight/queries/capacity_query.h"
#include "insight/queries/forecast_query.h"
#include "insight/queries/known_events.h"
#include "server/forecast_book/forecast_book.h"

namespace pennyweight {
namespace {

struct ForecastOptions {
  ForecastQuery query{.costs = {.by = "team"}};
  std::string today;
  bool explains = false;
  bool is_whole = false;
  CurrencyOptions conversion;
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
  auto conversion = TRY(chosen_conversion(options.conversion, query.costs.cost, context.config));
  query.events = TRY(all_events(context));
  ForecastBook book(forecast_book_path(context.config));
  query.kept = [&book](const std::string& by) { return book.kept(by); };
  const auto store = TRY(open_ledger(context.config));
  SummarySource summarise = [&](const SummaryQuery& summary) { return store->summarise(summary); };
  if (conversion) summarise = convert_source(summarise, *conversion);
  if (const auto last = last_complete_day(query.costs.today, summarise); last && *last) {
    query.events = convert_events(query.events, conversion ? &*conversion : nullptr, **last);
  }
  const auto result = query_forecast(query, context.config.policy, summarise);
  if (!result) return as_usage_error(result.error());
  auto table = forecast_table(*result, query);
  if (!table) return as_usage_error(table.error());
  if (conversion) std::ranges::move(conversion->used(), std::back_inserter(table->notes));
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

struct CapacityOptions {
  std::vector<std::string> clusters;
  std::string today;
  TableOptions table;
};

Result<ExitCode> run_capacity(const CapacityOptions& options, Context& context) {
  const TimeZone& zone = context.config.policy.time_zone;
  CapacityQuery query{.now = context.clock.now(), .zone = zone};
  if (!options.today.empty()) {
    const auto day = parse_date(options.today);
    if (!day) return usage_error("--today: " + day.error().message);
    query.now = TRY(parse_local_time(options.today + "T00:00:00", zone, Ambiguous::kEarlier));
  }
  query.join_rules = context.config.join_rules;
  query.clusters = options.clusters;
  for (const CommitmentEnd& one : context.config.alerts.commitments) {
    query.ends.push_back({one.id, one.ends});
  }
  const auto store = TRY(open_ledger(context.config));
  const auto result = query_capacity(*store, query);
  if (!result) return as_usage_error(result.error());
  std::vector<Table> tables = capacity_tables(*result);
  // In CSV a file has one header.
  if (options.table.format == "csv") tables.resize(1);
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
  add_currency_options(*command, options->conversion);
  add_table_options(*command, options->table);
  const auto capacity = std::make_shared<CapacityOptions>();
  CLI::App* capacity_command = command->add_subcommand(
      "capacity", "Show when GPUs run out, how many are unused, and what to buy or let go");
  capacity_command->add_option("--cluster", capacity->clusters,
                               "Only this cluster; may be repeated");
  capacity_command->add_option("--today", capacity->today, "As on this day, such as 2026-04-01");
  add_table_options(*capacity_command, capacity->table);
  const auto run_event = add_event_changes(*command);
  command->footer(examples_footer("forecast"));
  return {command, [=](Context& context) {
            const auto chosen = command->get_subcommands();
            if (chosen.empty()) return run(*options, context);
            for (const CLI::Option* option : command->get_options()) {
              if (option->count() == 0) continue;
              return Result<ExitCode>(usage_error(fmt::format(
                  "{} is for forecasts of cost, and not for 'forecast {}'; its --help lists "
                  "what it takes",
                  option->get_name(), chosen.front()->get_name())));
            }
            if (auto done = run_event(context)) return *std::move(done);
            return run_capacity(*capacity, context);
          }};
}

}  // namespace pennyweight
