// close: a month's accounts, for good.
#include <fmt/format.h>

#include "app/table_options.h"
#include "app/told_changes.h"
#include "app/verb.h"
#include "questions/selection.h"

namespace pennyweight {
namespace {

struct CloseOptions {
  std::string month;
  std::string by;
  std::string reason;
  TableOptions table;
};

Table table_of(const std::vector<Closing>& closings) {
  Table table;
  table.title = "Closed months";
  table.columns = {{"month", "month", ColumnKind::kText},
                   {"closed_at", "closed at", ColumnKind::kText},
                   {"closed_by", "by", ColumnKind::kText},
                   {"reason", "reason", ColumnKind::kText},
                   {"lines", "bill lines", ColumnKind::kCount},
                   {"runs", "runs", ColumnKind::kCount},
                   {"last_import", "last import", ColumnKind::kCount},
                   {"digest", "digest", ColumnKind::kId}};
  for (const Closing& closing : closings) {
    table.rows.push_back({closing.month, to_text(closing.at), closing.by, closing.reason,
                          closing.lines, closing.runs, closing.last_import,
                          to_text(closing.digest)});
  }
  table.notes.emplace_back(
      "the digest is of the month's bill lines and runs; what comes later is booked in the first "
      "open month");
  return table;
}

Result<ExitCode> run(const CloseOptions& options, Context& context) {
  const auto store = open_ledger(context.config);
  if (!store) return std::unexpected(store.error());
  if (!options.month.empty()) {
    if (const auto month = check_month(options.month); !month) return as_usage(month.error());
    if (options.by.empty()) return wrong_usage("--by: say who closes the month");
    const auto closed = (*store)->close_month({.month = options.month,
                                               .at = context.clock.now(),
                                               .by = options.by,
                                               .reason = options.reason,
                                               .last_import = 0,
                                               .lines = 0,
                                               .runs = 0,
                                               .digest = {}});
    if (!closed) return std::unexpected(closed.error());
    if (const auto told = tell_closed(context, *closed); !told) {
      return std::unexpected(told.error());
    }
  }
  const auto closings = (*store)->closings();
  if (!closings) return std::unexpected(closings.error());
  if (closings->empty()) {
    context.console.say("no month is closed yet");
    return ExitCode::kDone;
  }
  print_tables({table_of(*closings)}, options.table, context);
  return ExitCode::kDone;
}

}  // namespace

Verb declare_close(CLI::App& app) {
  const auto options = std::make_shared<CloseOptions>();
  CLI::App* command = app.add_subcommand(
      "close", "Close a month: from then on it does not change; or list closed months");
  command->add_option("MONTH", options->month, "Such as 2026-03; without it, what is closed");
  command->add_option("--by", options->by, "Who closes it");
  command->add_option("--reason", options->reason, "In your words, for the record");
  add_table_options(*command, options->table);
  command->footer(examples_of("close"));
  return {command, [options](Context& context) { return run(*options, context); }};
}

}  // namespace pennyweight
