// restatements: what deliveries changed, both versions, where it is booked, and why.
#include <fmt/format.h>

#include <algorithm>

#include "app/table_options.h"
#include "app/verb.h"
#include "questions/restatements.h"
#include "questions/selection.h"

namespace pennyweight {
namespace {

struct RestatementOptions {
  std::string month;
  bool ids = false;
  TableOptions table;
};

// Ids are for programs and for `explain`; in a terminal they leave no room for the rest.
void drop_ids(Table& table) {
  const auto is_id = [](const Column& column) { return column.kind == ColumnKind::kId; };
  const auto kept =
      static_cast<std::size_t>(std::ranges::find_if(table.columns, is_id) - table.columns.begin());
  table.columns.resize(kept);
  for (Row& row : table.rows) row.resize(kept);
  if (table.total) table.total->resize(kept);
  table.notes.emplace_back("--ids shows the lines' ids, which explain and the exports know");
}

Result<ExitCode> run(const RestatementOptions& options, Context& context) {
  if (!options.month.empty()) {
    if (const auto month = check_month(options.month); !month) return as_usage(month.error());
  }
  const auto store = open_ledger(context.config);
  if (!store) return std::unexpected(store.error());
  const auto answer = ask_restatements(**store, options.month);
  if (!answer) return std::unexpected(answer.error());
  std::vector<Table> tables = answer->tables();
  if (tables.empty()) {
    context.console.say("no delivery changed what was there");
    return ExitCode::kDone;
  }
  if (options.table.format == "text" && !options.ids) std::ranges::for_each(tables, drop_ids);
  print_tables(tables, options.table, context);
  return ExitCode::kDone;
}

}  // namespace

Verb declare_restatements(CLI::App& app) {
  const auto options = std::make_shared<RestatementOptions>();
  CLI::App* command = app.add_subcommand(
      "restatements", "Show what deliveries changed of a bill, both versions, and why");
  command->add_option("--month", options->month, "Of one month's bill, such as 2026-03");
  command->add_flag("--ids", options->ids, "In text too, the ids of the lines");
  add_table_options(*command, options->table);
  command->footer(examples_of("restatements"));
  return {command, [options](Context& context) { return run(*options, context); }};
}

}  // namespace pennyweight
