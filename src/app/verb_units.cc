// units: what a request, a million tokens or a training job cost.
#include <fmt/format.h>

#include "app/table_options.h"
#include "app/verb.h"
#include "questions/units.h"

namespace pennyweight {
namespace {

struct UnitOptions {
  UnitQuestion question;
  int unit_digits = 6;
  TableOptions table;
};

Result<ExitCode> run(const UnitOptions& options, Context& context) {
  UnitQuestion question = options.question;
  question.digits = options.table.format == "text" ? options.unit_digits : Decimal::kFractionDigits;
  const Policy& policy = context.config.policy;
  if (const auto known = check_units(question, policy); !known) return as_usage(known.error());
  const auto store = open_ledger(context.config);
  if (!store) return std::unexpected(store.error());
  const auto tables = ask_units(**store, question, policy);
  if (!tables) return as_usage(tables.error());
  print_tables(*tables, options.table, context);
  if (tables->empty()) context.console.say("no job was charged for anything");
  return ExitCode::kDone;
}

}  // namespace

Verb declare_units(CLI::App& app) {
  const auto options = std::make_shared<UnitOptions>();
  CLI::App* command =
      app.add_subcommand("units", "Show what a request, a million tokens or a training job cost");
  command->add_option("--month", options->question.month,
                      "The month of the accounts, such as 2026-03");
  command
      ->add_option("--by", options->question.by,
                   "A dimension, workload, cluster, or a label of outcomes: user, client, model")
      ->capture_default_str();
  command
      ->add_option("--measure", options->question.measures,
                   "What is counted, such as requests or output_tokens; else all there are")
      ->delimiter(',');
  command
      ->add_option("--per", options->question.per, "Cost of so many; else a million tokens, or one")
      ->check(CLI::PositiveNumber);
  command->add_flag("--jobs", options->question.jobs,
                    "What each job cost over all of its attempts, useful and lost");
  command->add_option("--top", options->question.top, "The most expensive N rows");
  command->add_option("--unit-digits", options->unit_digits, "Digits of unit costs in text")
      ->check(CLI::Range(0, Decimal::kFractionDigits))
      ->capture_default_str();
  add_table_options(*command, options->table);
  command->footer(examples_of("units"));
  return {command, [options](Context& context) { return run(*options, context); }};
}

}  // namespace pennyweight
