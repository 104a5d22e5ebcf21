// reconcile: every bill line beside its postings; what is off is named.
#include <fmt/format.h>

#include "app/table_options.h"
#include "app/verb.h"
#include "questions/reconcile.h"
#include "report/number_format.h"

namespace pennyweight {
namespace {

struct ReconcileOptions {
  std::string month;
  bool lines = false;
  std::string by;  // empty: totals and lines
  std::uint64_t top = 10'000;
  TableOptions table;
};

// Both ledgers by what lines say of themselves.
Result<ExitCode> run_by(const ReconcileOptions& options, Store& store, Context& context) {
  const auto by = parse_reconcile_by(options.by);
  if (!by) return wrong_usage("--by takes invoice, account, service or day");
  if (options.lines) return wrong_usage("--lines shows lines, and --by their sums; choose one");
  const auto answer = ask_two_ledgers(store, options.month, *by, context.config.policy.time_zone);
  if (!answer) return as_usage(answer.error());
  print_tables(answer->tables, options.table, context);
  if (answer->exact) return ExitCode::kDone;
  return fail(ErrorCode::kConflict,
              "the postings do not add up to some of the bill lines; 'pennyweight reconcile' names "
              "them, and 'pennyweight allocate' posts what is missing");
}

// The tables of lines of all months.
std::vector<Table> tables_of_lines(const ReconcileAnswer& answer, const ReconcileOptions& options) {
  std::vector<Table> all;
  for (const ReconciledMonth& month : answer.months) {
    for (Table& table :
         line_tables(fmt::format("{}: {}", month.month,
                                 options.lines ? "bill lines" : "bill lines that are off"),
                     month.lines)) {
      if (month.hidden > 0) {
        table.notes.push_back(fmt::format("{} further lines; --top shows more", month.hidden));
      }
      all.push_back(std::move(table));
    }
  }
  return all;
}

// A CSV has one header, so it has one kind of table: the lines where they were asked for.
std::vector<Table> tables_of(const ReconcileAnswer& answer, const ReconcileOptions& options) {
  const bool csv = options.table.format == "csv";
  std::vector<Table> shown;
  if (!csv || !options.lines) {
    for (const ReconciledMonth& month : answer.months) {
      for (Table& table : month.tables()) shown.push_back(std::move(table));
    }
  }
  if (!csv || options.lines) {
    for (Table& table : tables_of_lines(answer, options)) shown.push_back(std::move(table));
  }
  if (!csv && !answer.rejected.empty()) {
    Table kept_aside = rejected_table(answer.rejected);
    if (answer.rejected_all > answer.rejected.size()) {
      kept_aside.notes.push_back(
          fmt::format("{} of {} rows kept aside", answer.rejected.size(), answer.rejected_all));
    }
    shown.push_back(std::move(kept_aside));
  }
  return shown;
}

Result<ExitCode> run(const ReconcileOptions& options, Context& context) {
  const auto store = open_ledger(context.config);
  if (!store) return std::unexpected(store.error());
  if (!options.by.empty()) return run_by(options, **store, context);
  const auto answer =
      ask_reconcile(**store, {.month = options.month, .lines = options.lines, .top = options.top});
  if (!answer) return as_usage(answer.error());
  print_tables(tables_of(*answer, options), options.table, context);
  if (answer->exact()) {
    context.console.say(fmt::format("every bill line is posted to its last digit ({} lines)",
                                    format_count(answer->lines(), Thousands::kSeparated)));
    return ExitCode::kDone;
  }
  return fail(ErrorCode::kConflict,
              "the postings do not add up to the bill lines named above, or transfers not to zero; "
              "'pennyweight allocate' posts what is missing; what stays off was changed behind the "
              "ledger's back: restore a backup");
}

}  // namespace

Verb declare_reconcile(CLI::App& app) {
  const auto options = std::make_shared<ReconcileOptions>();
  CLI::App* command =
      app.add_subcommand("reconcile", "Check that every bill line is posted to its last digit");
  command->add_option("--month", options->month, "A bill's month, such as 2026-03");
  command->add_flag("--lines", options->lines, "Show every line, not only those that are off");
  command->add_option("--by", options->by, "Both ledgers, billed and effective, for each of these")
      ->check(CLI::IsMember({"invoice", "account", "service", "day"}));
  command->add_option("--top", options->top, "How many lines at most")->capture_default_str();
  add_table_options(*command, options->table);
  command->footer(examples_of("reconcile"));
  return {command, [options](Context& context) { return run(*options, context); }};
}

}  // namespace pennyweight
