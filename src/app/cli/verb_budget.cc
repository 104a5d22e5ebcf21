// budget: how far budgets have come, and when they will be exhausted.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <vector>

#include "app/alerting/reported_costs.h"
#include "app/cli/budget_changes.h"
#include "app/cli/chosen_conversion.h"
#include "app/cli/event_changes.h"
#include "app/cli/shared_options.h"
#include "app/cli/verb.h"
#include "app/context/paths.h"
#include "core/billing_period.h"
#include "core/try.h"
#include "insight/queries/budget_explanation.h"
#include "insight/queries/budget_query.h"
#include "server/anomaly_book/anomaly_book.h"

namespace pennyweight {
namespace {

struct BudgetOptions {
  std::string name;
  std::string today;
  bool checks = false;
  bool explains = false;
  TableOptions table;
};

struct AnomalyOptions {
  AnomalyQuery query;
  std::string today;
  bool explains = false;
  CurrencyOptions conversion;
  TableOptions table;
};

Result<Date> day_or_today(const std::string& text, Context& context) {
  const std::string zone_today = local_date(context.clock.now(), context.config.policy.time_zone);
  auto day = parse_date(text.empty() ? zone_today : text);
  if (!day) return usage_error("--today: " + day.error().message);
  return *day;
}

Result<ExitCode> run_budget(const BudgetOptions& options, Context& context) {
  const std::vector<Budget> budgets = TRY(all_budgets(context));
  if (budgets.empty()) {
    return fail(ErrorCode::kNotFound,
                "there is no budget; 'pennyweight budget set nlp --filter team=nlp --amount \"5000 "
                "USD\"' sets one, or add it to the configuration: budgets: [{name: nlp, filter: "
                "team=nlp, amount: 5000 USD}]");
  }
  const Date today = TRY(day_or_today(options.today, context));
  const auto events = TRY(all_events(context));
  const auto store = TRY(open_ledger(context.config));
  auto statuses = query_budgets({.budgets = budgets,
                                 .name = options.name,
                                 .today = today,
                                 .events = events,
                                 .conversion = configured_conversion(context.config.currencies)},
                                context.config.policy, [&](const SummaryQuery& summary) {
                                  return store->summarise(summary);
                                });
  if (!statuses) return as_usage_error(statuses.error());
  if (options.explains) {
    for (BudgetStatus& status : *statuses) {
      const auto why = explain_budget(status, today);
      status.notes.insert(status.notes.begin(), why.begin(), why.end());
    }
  }
  print_tables(budget_tables(*statuses), options.table, context);
  // One that could not be measured may be exceeded.
  const bool is_exceeded = std::ranges::any_of(*statuses, [](const BudgetStatus& status) {
    return status.state() == "exceeded" || status.state() == "unknown";
  });
  return options.checks && is_exceeded ? ExitCode::kCheckFailed : ExitCode::kDone;
}

Result<ExitCode> run_anomalies(const AnomalyOptions& options, Context& context) {
  AnomalyQuery query = options.query;
  query.costs.today = TRY(day_or_today(options.today, context));
  std::string unread;  // why the verdicts can't be read
  if (auto verdicts = AnomalyBook(anomaly_book_path(context.config)).verdicts()) {
    query.verdicts = *std::move(verdicts);
  } else {
    unread = verdicts.error().message;
  }
  const auto store = TRY(open_ledger(context.config));
  if (options.explains) {
    query.postings = [&](const SummaryQuery& summary, std::uint64_t at_most) {
      return store->largest_postings(summary, at_most);
    };
  }
  auto conversion = TRY(chosen_conversion(options.conversion, query.costs.cost, context.config));
  SummarySource summarise = [&](const SummaryQuery& summary) { return store->summarise(summary); };
  if (conversion) summarise = convert_source(summarise, *conversion);
  const auto found = query_anomalies(query, context.config.policy, summarise);
  if (!found) return as_usage_error(found.error());
  Table table = anomaly_table(*found, query);
  if (conversion) std::ranges::move(conversion->used(), std::back_inserter(table.notes));
  if (!unread.empty()) {
    table.notes.push_back("what people say of unusual days can't be read: " + unread);
  }
  if (options.explains) {
    for (const FoundAnomaly& one : *found) table.notes.push_back(one.sentence);
  }
  if (found->empty()) context.console.say("no unusual day");
  print_tables({table}, options.table, context);
  return ExitCode::kDone;
}

}  // namespace

Verb declare_budget(CLI::App& app) {
  const auto options = std::make_shared<BudgetOptions>();
  CLI::App* command =
      app.add_subcommand("budget", "Show how far budgets have come, and when they are exhausted");
  command->add_option("name", options->name, "A budget; default: all");
  command->add_option("--today", options->today, "As on this day, such as 2026-04-01");
  command->add_flag("--check", options->checks,
                    "Exit with 1 if a budget is exceeded, can't be measured, or has a scope "
                    "that no known cost matches");
  command->add_flag("--explain", options->explains,
                    "The arithmetic of each in sentences, with the report of the same costs");
  add_table_options(*command, options->table);
  command->footer(examples_footer("budget"));
  const std::vector<CLI::Option*> shown_only = command->get_options();
  const auto change = add_budget_changes(*command);
  for (CLI::App* subcommand : command->get_subcommands([](CLI::App*) { return true; })) {
    for (CLI::Option* option : shown_only) {
      if (option != command->get_help_ptr()) subcommand->excludes(option);
    }
  }
  return {command, [options, change](Context& context) {
            if (auto done = change(context)) return *std::move(done);
            return run_budget(*options, context);
          }};
}

Verb declare_anomalies(CLI::App& app) {
  const auto options = std::make_shared<AnomalyOptions>();
  options->query.costs.by = "team";
  CLI::App* command =
      app.add_subcommand("anomalies", "Show days whose cost is unusual, and what explains them");
  command->add_option("--by", options->query.costs.by, "A dimension")->capture_default_str();
  command->add_option("--cause", options->query.cause,
                      "The dimension that explains; default: that of --by");
  command->add_option("--filter", options->query.costs.filters,
                      "DIMENSION=VALUE[,VALUE…] or DIMENSION!=…; may be repeated");
  command->add_option("--cost", options->query.costs.cost, "Which cost of the bill, or GPU-hours")
      ->check(CLI::IsMember({"effective", "billed", "list", "contracted", "gpu_hours"}))
      ->capture_default_str();
  command
      ->add_option("--impact", options->query.rules.impact_percent,
                   "The smallest difference, in percent of a day's expected cost")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command->add_option("--today", options->today, "As on this day, such as 2026-04-01");
  command->add_flag("--explain", options->explains, "A sentence for each, with its causes");
  add_currency_options(*command, options->conversion);
  add_table_options(*command, options->table);
  command->footer(examples_footer("anomalies"));
  return {command, [options](Context& context) { return run_anomalies(*options, context); }};
}

}  // namespace pennyweight
