// units: shows what a request, a million tokens or a training job costs.
#include <fmt/format.h>

#include "app/cli/shared_options.h"
#include "app/cli/verb.h"
#include "core/try.h"
#include "reporting/queries/unit_costs.h"

namespace pennyweight {
namespace {

struct UnitOptions {
  UnitCostQuery query;
  int unit_digits = 6;
  TableOptions table;
};

Result<ExitCode> run(const UnitOptions& options, Context& context) {
  UnitCostQuery query = options.query;
  query.digits = options.table.format == "text" ? options.unit_digits : Decimal::kFractionDigits;
  const Policy& policy = context.config.policy;
  if (const auto known = check_unit_cost_query(query, policy); !known)
    return as_usage_error(known.error());
  const auto store = TRY(open_ledger(context.config));
  const auto tables = query_unit_costs(*store, query, policy);
  if (!tables) return as_usage_error(tables.error());
  print_tables(*tables, options.table, context);
  TRY(warn_of_staleness(*store, options.query.month, context));
  if (tables->empty()) context.console.say("no job was charged");
  return ExitCode::kDone;
}

}  // namespace

Verb declare_units(CLI::App& app) {
  const auto options = std::make_shared<UnitOptions>();
  CLI::App* command =
      app.add_subcommand("units", "Show what a request, a million tokens or a training job costs");
  add_booked_month_option(*command, options->query.month);
  command
      ->add_option("--by", options->query.by,
                   "A dimension, workload, cluster, or a label of outcomes: user, client, model")
      ->capture_default_str();
  command
      ->add_option("--measure", options->query.measures,
                   "What is counted, such as requests or output_tokens; default: all")
      ->delimiter(',');
  command
      ->add_option("--per", options->query.per,
                   "The cost of this many; default: a million tokens, or one")
      ->check(CLI::PositiveNumber);
  command->add_flag("--jobs", options->query.jobs,
                    "The cost of each job over all of its attempts, useful and lost");
  command->add_option("--top", options->query.top, "Show the N most expensive rows");
  command->add_option("--unit-digits", options->unit_digits, "Digits of unit costs in text")
      ->check(CLI::Range(0, Decimal::kFractionDigits))
      ->capture_default_str();
  add_table_options(*command, options->table);
  command->footer(examples_footer("units"));
  return {command, [options](Context& context) { return run(*options, context); }};
}

}  // namespace pennyweight
