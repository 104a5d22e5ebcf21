// advise: what to change about the fleet and the work on it, and what each change would save.
#include <fmt/format.h>

#include "app/cli/advise_decisions.h"
#include "app/cli/shared_options.h"
#include "app/cli/verb.h"
#include "app/context/catalog_file.h"
#include "core/billing_period.h"
#include "core/date.h"
#include "core/try.h"
#include "insight/queries/advice_query.h"

namespace pennyweight {
namespace {

struct AdviseOptions {
  std::string month;
  std::string cluster;
  std::vector<std::string> kinds;
  std::string team;
  std::string effort;
  std::string confidence;
  std::string cost = "effective";
  std::string prices_as_of;
  bool dismissed = false;
  std::string id;
  bool only_apply = false;
  TableOptions table;
};

Result<OpenedAdvice> open_advice(const AdviseOptions& options, Context& context) {
  const std::string today = local_date(context.clock.now(), context.config.policy.time_zone);
  AdviceQuery query{.month = options.month,
                    .cluster = options.cluster,
                    .kinds = options.kinds,
                    .team = options.team,
                    .effort = options.effort,
                    .confidence = options.confidence,
                    .cost = options.cost,
                    .prices_at = context.clock.now(),
                    .dismissed = options.dismissed,
                    .today = TRY(parse_date(today))};
  if (!options.prices_as_of.empty()) {
    const auto at = parse_instant(options.prices_as_of);
    if (!at) return usage_error("--prices-as-of: " + at.error().message);
    query.prices_at = *at;
  }
  auto catalog = TRY(load_catalog(context.config));
  auto store = TRY(open_ledger(context.config));
  return OpenedAdvice{std::move(store), std::move(query), std::move(catalog)};
}

Result<ExitCode> run(const AdviseOptions& options, bool shows_one, Context& context) {
  auto opened = TRY(open_advice(options, context));
  if (shows_one) opened.query.dismissed = true;
  const auto result = query_advice(*opened.store, opened.query,
                                   {.policy = context.config.policy,
                                    .catalog = opened.catalog,
                                    .join_rules = context.config.join_rules,
                                    .clusters = context.config.clusters});
  if (!result) return as_usage_error(result.error());
  if (!shows_one) {
    print_tables(advice_tables(*result), options.table, context);
    return ExitCode::kDone;
  }
  if (options.only_apply) {
    const advising::Proposal* found = TRY(find_proposal(*result, options.id));
    if (found == nullptr) {
      return fail(ErrorCode::kNotFound,
                  fmt::format("no advice of {} has the id '{}'", result->month, options.id));
    }
    context.console.print(found->apply + (found->apply.ends_with('\n') ? "" : "\n"));
    return ExitCode::kDone;
  }
  const Table detail = TRY(advice_detail(*result, options.id));
  print_tables({detail}, options.table, context);
  return ExitCode::kDone;
}

void add_advice_options(CLI::App& command, AdviseOptions& options) {
  command.add_option("--month", options.month,
                     "The billing month to learn from; by default, the last one");
  command.add_option("--cluster", options.cluster, "Only this cluster");
  command.add_option("--kind", options.kinds, "Only this kind; may be repeated");
  command.add_option("--team", options.team, "Only the work of this team");
  command.add_option("--effort", options.effort, "At most this effort: low, medium or high");
  command.add_flag("--dismissed", options.dismissed, "With advice that somebody dismissed");
  command.add_option("--confidence,--sure", options.confidence,
                     "At least this confidence: low, medium or high; --sure is its old name");
  add_cost_option(command, options.cost);
  command.add_option("--prices-as-of", options.prices_as_of,
                     "List prices of what could be bought, such as 2026-07-31; by default, today");
  add_table_options(command, options.table);
}

}  // namespace

Verb declare_advise(CLI::App& app) {
  const auto options = std::make_shared<AdviseOptions>();
  CLI::App* command = app.add_subcommand(
      "advise", "Say what to change, what it would save a month, and with what confidence");
  add_advice_options(*command, *options);
  CLI::App* show = command->add_subcommand("show", "One advice with its evidence and its risk");
  show->add_option("id", options->id, "Its id, or how it begins")->required();
  show->add_flag("--apply", options->only_apply, "Print the text to apply, and nothing else");
  add_advice_options(*show, *options);
  const auto decisions = declare_advise_decisions(*command);
  command->footer(examples_footer("advise"));
  return {command, [options, show, decisions](Context& context) -> Result<ExitCode> {
            if (!is_decision(*decisions)) return run(*options, show->parsed(), context);
            const OpenAdvice open = [&](Context& within) { return open_advice(*options, within); };
            return run_decision(*decisions, open, options->table, context);
          }};
}

}  // namespace pennyweight
