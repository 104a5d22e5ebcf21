// close: closes a month, for good.
#include <fmt/format.h>

#include "app/audit_events/audit_events.h"
#include "app/cli/shared_options.h"
#include "app/cli/verb.h"
#include "core/try.h"
#include "reporting/queries/close_books.h"
#include "reporting/queries/selection.h"

namespace pennyweight {
namespace {

struct CloseOptions {
  std::string month;
  std::string by;
  std::string reason;
  std::string even_so;
  TableOptions table;
};

Table closing_table(const std::vector<Closing>& closings) {
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
      "the digest covers the month's bill lines and runs; later changes are booked in the first "
      "open month");
  return table;
}

Result<void> close_recorded(Store& store, const CloseOptions& options, Context& context) {
  const std::string facts = JsonObjectBuilder()
                                .text("by", options.by)
                                .text("reason", options.reason)
                                .text("even_so", options.even_so)
                                .json();
  return with_intent(
      context, "period.close", "month " + options.month, facts, [&]() -> Result<void> {
        const auto closed = TRY(close_books(store,
                                            {.month = options.month,
                                             .at = context.clock.now(),
                                             .by = options.by,
                                             .reason = options.reason,
                                             .last_import = 0,
                                             .lines = 0,
                                             .runs = 0,
                                             .digest = {}},
                                            options.even_so));
        TRY(record_period_close(context, closed.closing));
        context.console.say(fmt::format("{} is closed, {}", options.month, closed.checked));
        return {};
      });
}

Result<ExitCode> run(const CloseOptions& options, Context& context) {
  const auto store = TRY(open_ledger(context.config));
  if (!options.month.empty()) {
    if (const auto month = check_month(options.month); !month) return as_usage_error(month.error());
    if (options.by.empty()) return usage_error("--by is missing: who closes the month?");
    TRY(warn_of_staleness(*store, options.month, context));
    TRY(close_recorded(*store, options, context));
  }
  const auto closings = TRY(store->closings());
  if (closings.empty()) {
    context.console.say("no month is closed yet");
    return ExitCode::kDone;
  }
  print_tables({closing_table(closings)}, options.table, context);
  return ExitCode::kDone;
}

}  // namespace

Verb declare_close(CLI::App& app) {
  const auto options = std::make_shared<CloseOptions>();
  CLI::App* command = app.add_subcommand(
      "close", "Close a month, so that it no longer changes; or list closed months");
  command->add_option("MONTH", options->month,
                      "Such as 2026-03; without it, lists the closed months");
  command->add_option("--by", options->by, "Who closes it");
  command->add_option("--reason", options->reason, "A reason, for the record");
  command->add_option("--even-so", options->even_so,
                      "Why a month that is not over is closed all the same");
  add_table_options(*command, options->table);
  command->footer(examples_footer("close"));
  return {command, [options](Context& context) { return run(*options, context); }};
}

}  // namespace pennyweight
