// restatements: shows what later deliveries changed, where it is booked, and why.
#include <fmt/format.h>

#include <algorithm>

#include "app/cli/shared_options.h"
#include "app/cli/verb.h"
#include "core/try.h"
#include "reporting/queries/restatements.h"
#include "reporting/queries/selection.h"

namespace pennyweight {
namespace {

struct RestatementOptions {
  std::string month;
  bool ids = false;
  TableOptions table;
};

// Ids are for programs and for `explain`; on a terminal they would crowd out the other columns.
void drop_ids(Table& table) {
  const auto is_id = [](const Column& column) { return column.kind == ColumnKind::kId; };
  const auto kept =
      static_cast<std::size_t>(std::ranges::find_if(table.columns, is_id) - table.columns.begin());
  table.columns.resize(kept);
  for (Row& row : table.rows) row.resize(kept);
  if (table.total) table.total->resize(kept);
  table.notes.emplace_back("--ids adds the ids of the lines, as explain and the exports use them");
}

Result<ExitCode> run(const RestatementOptions& options, Context& context) {
  if (!options.month.empty()) {
    if (const auto month = check_month(options.month); !month) return as_usage_error(month.error());
  }
  const auto store = TRY(open_ledger(context.config));
  const auto answer = TRY(query_restatements(*store, options.month));
  std::vector<Table> tables = answer.tables();
  if (tables.empty()) {
    context.console.say("no delivery changed an earlier one");
    return ExitCode::kDone;
  }
  if (options.table.format == "text" && !options.ids) std::ranges::for_each(tables, drop_ids);
  print_tables(tables, options.table, context);
  return ExitCode::kDone;
}

}  // namespace

Verb declare_restatements(CLI::App& app) {
  const auto options = std::make_shared<RestatementOptions>();
  CLI::App* command =
      app.add_subcommand("restatements", "Show what later deliveries changed in a bill, and why");
  command->add_option("--month", options->month,
                      "The billing month, such as 2026-03; default: all");
  command->add_flag("--ids", options->ids, "Show the ids of the lines in text, too");
  add_table_options(*command, options->table);
  command->footer(examples_footer("restatements"));
  return {command, [options](Context& context) { return run(*options, context); }};
}

}  // namespace pennyweight
