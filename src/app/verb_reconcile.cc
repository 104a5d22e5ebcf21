// reconcile: every bill line beside its postings; what is off is named.
#include <fmt/format.h>

#include "app/table_options.h"
#include "app/verb.h"
#include "report/number_format.h"
#include "report/reconcile_report.h"

namespace pennyweight {
namespace {

constexpr std::uint64_t kRejectedShown = 20;

struct ReconcileOptions {
  std::string month;
  bool lines = false;
  std::uint64_t top = 10'000;
  TableOptions table;
};

struct Month {
  std::vector<ReconcileTotals> totals;
  std::vector<LineCheck> lines;  // the first `top`
  std::uint64_t hidden = 0;
};

Result<Month> check(Store& store, const std::string& month, const ReconcileOptions& options) {
  Month result;
  const auto totals = store.reconcile(month, !options.lines, [&](const LineCheck& line) {
    if (result.lines.size() < options.top) {
      result.lines.push_back(line);
    } else {
      ++result.hidden;
    }
    return true;
  });
  if (!totals) return std::unexpected(totals.error());
  result.totals = *totals;
  return result;
}

bool is_exact(const Month& month) {
  for (const ReconcileTotals& totals : month.totals) {
    if (totals.lines_off > 0 || totals.transfers_off > 0) return false;
  }
  return true;
}

std::string about_transfers(const ReconcileTotals& totals) {
  return totals.transfers_off == 0
             ? fmt::format("{} transfers between owners and buckets, each adding up to zero",
                           format_count(totals.transfers, Thousands::kSeparated))
             : fmt::format("{} of {} transfers do not add up to zero",
                           format_count(totals.transfers_off, Thousands::kSeparated),
                           format_count(totals.transfers, Thousands::kSeparated));
}

Result<ExitCode> run(const ReconcileOptions& options, Context& context) {
  const auto store = open_ledger(context.config);
  if (!store) return std::unexpected(store.error());
  const auto overview = (*store)->overview();
  if (!overview) return std::unexpected(overview.error());
  std::vector<std::string> months = overview->months;
  if (!options.month.empty()) {
    if (const auto month = check_month(options.month); !month) {
      return std::unexpected(month.error());
    }
    months = {options.month};
  }

  std::vector<Table> tables;
  std::vector<Table> lines;
  bool exact = true;
  std::uint64_t lines_all = 0;
  for (const std::string& month : months) {
    auto checked = check(**store, month, options);
    if (!checked) return std::unexpected(checked.error());
    exact = exact && is_exact(*checked);
    for (const ReconcileTotals& totals : checked->totals) lines_all += totals.lines;
    std::vector<Table> of_month = reconcile_tables(month, checked->totals);
    for (std::size_t i = 0; i < of_month.size(); ++i) {
      const ReconcileTotals& totals = checked->totals[i];
      if (totals.transfers > 0) of_month[i].notes.push_back(about_transfers(totals));
      tables.push_back(std::move(of_month[i]));
    }
    for (Table& table : line_tables(
             fmt::format("{}: {}", month, options.lines ? "bill lines" : "bill lines that are off"),
             checked->lines)) {
      if (checked->hidden > 0) {
        table.notes.push_back(fmt::format("{} further lines; --top shows more", checked->hidden));
      }
      lines.push_back(std::move(table));
    }
  }
  if (lines_all == 0) {
    return fail(ErrorCode::kNotFound,
                months.empty() ? "there are no bill lines yet; import a bill first"
                               : fmt::format("there are no bill lines of {}", options.month));
  }
  const auto rejected = (*store)->rejected_rows(kRejectedShown);
  if (!rejected) return std::unexpected(rejected.error());

  // A CSV has one header, so it has one kind of table: the lines where they were asked for.
  const bool csv = options.table.format == "csv";
  std::vector<Table> shown;
  if (!csv || !options.lines) shown = std::move(tables);
  if (!csv || options.lines) shown.insert(shown.end(), lines.begin(), lines.end());
  if (!csv && !rejected->empty()) {
    Table kept_aside = rejected_table(*rejected);
    if (overview->rejected > rejected->size()) {
      kept_aside.notes.push_back(
          fmt::format("{} of {} rows kept aside", rejected->size(), overview->rejected));
    }
    shown.push_back(std::move(kept_aside));
  }
  print_tables(shown, options.table, context);
  if (exact) {
    context.console.say(fmt::format("every bill line is posted to its last digit ({} lines)",
                                    format_count(lines_all, Thousands::kSeparated)));
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
  command->add_option("--top", options->top, "How many lines at most")->capture_default_str();
  add_table_options(*command, options->table);
  command->footer(examples_of("reconcile"));
  return {command, [options](Context& context) { return run(*options, context); }};
}

}  // namespace pennyweight
