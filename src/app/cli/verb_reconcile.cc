// reconcile: compares every charge with its postings, and lists the differences.
#include <fmt/format.h>

#include "app/cli/shared_options.h"
#include "app/cli/verb.h"
#include "app/import/delivery_effect.h"
#include "core/try.h"
#include "reporting/number_format.h"
#include "reporting/queries/bill_status.h"
#include "reporting/queries/reconcile.h"
#include "reporting/queries/selection.h"

namespace pennyweight {
namespace {

struct ReconcileOptions {
  std::string month;
  bool lines = false;
  bool provider = false;
  std::string by;  // empty: totals and lines
  std::uint64_t top = 10'000;
  TableOptions table;
};

// Billed and effective cost by group.
Result<ExitCode> run_by(const ReconcileOptions& options, Store& store, Context& context) {
  const auto by = parse_reconcile_by(options.by);
  if (!by) return usage_error("--by: use invoice, account, service or day");
  if (options.lines)
    return usage_error("--lines lists bill lines and --by sums them; use only one of them");
  const auto answer =
      query_grouped_reconciliation(store, options.month, *by, context.config.policy.time_zone);
  if (!answer) return as_usage_error(answer.error());
  print_tables(answer->tables, options.table, context);
  if (answer->exact) return ExitCode::kDone;
  return fail(ErrorCode::kConflict,
              "some bill lines differ from their postings; 'pennyweight reconcile' lists them, and "
              "'pennyweight allocate' posts what is missing");
}

// The charge tables of all months.
std::vector<Table> tables_of_lines(const ReconcileResult& answer, const ReconcileOptions& options) {
  std::vector<Table> all;
  for (const ReconciledMonth& month : answer.months) {
    for (Table& table : charge_check_tables(
             fmt::format(
                 "{}: {}", month.month,
                 options.lines ? "bill lines" : "bill lines that differ from their postings"),
             month.lines)) {
      if (month.hidden > 0) {
        table.notes.push_back(counted(month.hidden, "further line") + "; --top shows more");
      }
      all.push_back(std::move(table));
    }
  }
  return all;
}

// A CSV file has one header and so one kind of table: the charges, if they were requested.
std::vector<Table> output_tables(const ReconcileResult& answer, const ReconcileOptions& options) {
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
    Table set_aside = rejected_table(answer.rejected);
    if (answer.rejected_all > answer.rejected.size()) {
      set_aside.notes.push_back(
          fmt::format("{} of {} set-aside rows", answer.rejected.size(), answer.rejected_all));
    }
    shown.push_back(std::move(set_aside));
  }
  return shown;
}

std::string open_money(const BillStatus& status) {
  std::string text = counted(status.aside_money.rows, "row") + " of bills set aside";
  for (const auto& [currency, costs] : status.aside_money.costs) {
    text += ", " + exact_money(costs.billed) + " billed";
  }
  if (status.aside_money.unreadable > 0) {
    text += ", " + counted(status.aside_money.unreadable, "row") + " whose cost is not readable";
  }
  return text + ": 'pennyweight import aside' lists them";
}

// What the provider says beside what the ledger has.
Result<ExitCode> run_provider(const ReconcileOptions& options, Store& store, Context& context) {
  if (!options.month.empty()) {
    if (const auto month = check_month(options.month); !month) return as_usage_error(month.error());
  }
  const auto status = TRY(query_bill_status(store, options.month));
  std::vector<Table> tables;
  if (!status.totals.empty()) tables.push_back(totals_table(status));
  if (!status.aside.empty()) tables.push_back(aside_table(status));
  if (!tables.empty()) print_tables(tables, options.table, context);
  context.console.say(status.checked_against());
  for (const MissingParts& one : status.missing) {
    context.console.warn(
        fmt::format("{}; the parts that came hold {}", one.text(), billed_text(one.there)));
  }
  if (!status.totals_equal()) {
    return fail(ErrorCode::kConflict, "the ledger's totals differ from the provider's; see above");
  }
  if (status.aside_money.rows > 0) return fail(ErrorCode::kConflict, open_money(status));
  if (!status.missing.empty()) return fail(ErrorCode::kConflict, "a delivery is not complete");
  return ExitCode::kDone;
}

Result<ExitCode> run(const ReconcileOptions& options, Context& context) {
  const auto store = TRY(open_ledger(context.config));
  if (options.provider) return run_provider(options, *store, context);
  if (!options.by.empty()) return run_by(options, *store, context);
  const auto answer = query_reconciliation(
      *store, {.month = options.month, .lines = options.lines, .top = options.top});
  if (!answer) return as_usage_error(answer.error());
  print_tables(output_tables(*answer, options), options.table, context);
  TRY(warn_of_staleness(*store, options.month, context));
  const auto status = TRY(query_bill_status(*store, options.month));
  if (status.aside_money.rows > 0) context.console.warn(open_money(status));
  for (const CheckedTotal& total : status.totals) {
    if (total.equal()) continue;
    context.console.warn(fmt::format("{}: the provider says {} ({}), the ledger has {} billed",
                                     total.total.month, exact_money(total.total.billed),
                                     total.total.source, exact_money(total.found)));
  }
  if (answer->exact()) {
    context.console.say(fmt::format("every bill line is posted to its last digit ({} lines)",
                                    format_count(answer->lines(), Thousands::kSeparated)));
    return ExitCode::kDone;
  }
  return fail(
      ErrorCode::kConflict,
      "the postings do not add up to the bill lines above, or transfers do not add up to zero; "
      "'pennyweight allocate' posts what is missing; if a difference stays, the ledger was "
      "modified outside of pennyweight: restore a backup");
}

}  // namespace

Verb declare_reconcile(CLI::App& app) {
  const auto options = std::make_shared<ReconcileOptions>();
  CLI::App* command =
      app.add_subcommand("reconcile", "Check that every bill line is posted to the last digit");
  command->add_option("--month", options->month, "The billing month, such as 2026-03");
  command->add_flag("--lines", options->lines, "List every line, not only those with differences");
  command->add_flag("--provider", options->provider,
                    "Compare the ledger with the provider's totals, and list what is open");
  command->add_option("--by", options->by, "Sums of billed and effective cost by one of these")
      ->check(CLI::IsMember({"invoice", "account", "service", "day"}));
  command->add_option("--top", options->top, "List at most this many lines")->capture_default_str();
  add_table_options(*command, options->table);
  command->footer(examples_footer("reconcile"));
  return {command, [options](Context& context) { return run(*options, context); }};
}

}  // namespace pennyweight
