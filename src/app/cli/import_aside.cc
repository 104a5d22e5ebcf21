#include "app/cli/import_aside.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "app/audit_events/audit_events.h"
#include "app/import/importer.h"
#include "core/files/file.h"
#include "core/limits.h"
#include "core/try.h"
#include "reporting/number_format.h"
#include "reporting/queries/bill_status.h"
#include "reporting/queries/selection.h"

namespace pennyweight {
namespace {

// The rows that the arguments name, each once.
Result<std::vector<OpenAsideRow>> named_rows(const std::vector<std::string>& names,
                                             const BillStatus& status) {
  std::vector<OpenAsideRow> rows;
  for (const std::string& name : names) {
    if (name == "all") {
      rows = status.aside;
      continue;
    }
    const auto found = std::ranges::find(status.aside, name, &OpenAsideRow::id);
    if (found == status.aside.end()) {
      return fail(
          ErrorCode::kNotFound,
          fmt::format("no row {} is set aside; 'pennyweight import aside' lists the rows that are",
                      name));
    }
    const bool is_known = std::ranges::find(rows, name, &OpenAsideRow::id) != rows.end();
    if (!is_known) rows.push_back(*found);
  }
  return rows;
}

std::vector<AsideDecision> decisions_about(const std::vector<OpenAsideRow>& rows, bool mended,
                                           const AsideOptions& options) {
  std::vector<AsideDecision> decisions;
  for (const OpenAsideRow& row : rows) {
    decisions.push_back({.import = row.import,
                         .row = row.row.number,
                         .mended = mended,
                         .by = options.by,
                         .reason = options.reason});
  }
  return decisions;
}

Result<void> record(Context& context, const std::vector<OpenAsideRow>& rows, const char* what) {
  for (const OpenAsideRow& row : rows) {
    JsonObjectBuilder after;
    after.text("state", what).text("file", row.row.file).count("line", row.row.line);
    TRY(record_audit_event(context, "import.aside", "row " + row.id(), "", after.json()));
  }
  return {};
}

Result<void> dismiss(const AsideOptions& options, const BillStatus& status, Store& store,
                     Context& context) {
  if (options.by.empty() || options.reason.empty()) {
    return usage_error(
        "--dismiss needs --by and --reason: who decides, and why the row's money is not due");
  }
  const auto rows = TRY(named_rows(options.dismiss, status));
  BillStatement statement;
  statement.decisions = decisions_about(rows, false, options);
  const auto session = TRY(store.begin_import({.format = "bill-decisions",
                                               .name = "rows dismissed by " + options.by,
                                               .file_hash = {},
                                               .at = context.clock.now(),
                                               .reason = options.reason}));
  std::ignore = TRY(session->commit_on({.statement = to_text(statement)}));
  TRY(record(context, rows, "dismissed"));
  context.console.say(counted(rows.size(), "row") + " dismissed");
  return {};
}

Result<void> mend(const AsideOptions& options, const BillStatus& status, Store& store,
                  Context& context) {
  if (options.mended_file.empty() || options.by.empty()) {
    return usage_error(
        "--mend needs --by, and --with FILE: a bill in the same format with the corrected rows");
  }
  const auto rows = TRY(named_rows(options.mend, status));
  ImportOptions import;
  import.style = DeliveryStyle::kDelta;
  import.reason = options.reason;
  import.mends = decisions_about(rows, true, options);
  const FileImport done = TRY(import_file(store, options.mended_file, import, context.config,
                                          context.console, context.clock));
  TRY(record_import(context, std::vector{options.mended_file}, done));
  TRY(record(context, rows, "mended"));
  context.console.say(fmt::format("{} mended: {}", counted(rows.size(), "row"),
                                  counted(done.outcome.charges.created, "bill line")));
  return {};
}

Result<void> export_rows(const AsideOptions& options, const BillStatus& status, Store& store) {
  const auto texts = TRY(store.rejected_rows(limits::kRejectedRowsKeptMax));
  std::map<std::tuple<std::string, std::uint64_t, std::string>, std::string> by_place;
  for (const RejectedRow& row : texts) by_place[{row.file, row.line, row.reason}] = row.text;
  auto file = TRY(OutputFile::create(options.export_file));
  TRY(file.write("row,month,file,line,billed,currency,reason,text\n"));
  for (const OpenAsideRow& open : status.aside) {
    std::string line;
    const auto& costs = open.row.costs;
    for (const std::string& cell :
         {open.id(), open.row.month, open.row.file, std::to_string(open.row.line),
          costs ? to_text(costs->billed.amount()) : std::string(),
          costs ? costs->currency().text() : std::string(), open.row.reason,
          by_place[{open.row.file, open.row.line, open.row.reason}]}) {
      if (!line.empty()) line += ',';
      line += '"';
      for (const char c : cell) line += c == '"' ? "\"\"" : std::string(1, c);
      line += '"';
    }
    TRY(file.write(line + "\n"));
  }
  return file.commit();
}

}  // namespace

std::shared_ptr<AsideOptions> declare_import_aside(CLI::App& import) {
  const auto options = std::make_shared<AsideOptions>();
  CLI::App* command = import.add_subcommand(
      "aside", "Rows of bills that were set aside: list, export, mend or dismiss them");
  options->command = command;
  command->add_option("--month", options->month, "Only rows of this month, such as 2026-03");
  command->add_option("--dismiss", options->dismiss,
                      "Dismiss this row, such as 4.2, or all: its money is not due");
  command->add_option("--mend", options->mend, "Replace this row, such as 4.2, or all");
  command->add_option("--with", options->mended_file,
                      "With --mend: a bill of the same form that holds the mended rows");
  command->add_option("--export", options->export_file, "Write the rows to this CSV file");
  command->add_option("--by", options->by, "Who decides");
  command->add_option("--reason", options->reason, "Why, for the record");
  add_table_options(*command, options->table);
  command->footer(examples_footer("import"));
  return options;
}

Result<ExitCode> run_import_aside(const AsideOptions& options, Context& context) {
  if (!options.month.empty()) {
    if (const auto month = check_month(options.month); !month) return as_usage_error(month.error());
  }
  if (!options.dismiss.empty() && !options.mend.empty()) {
    return usage_error("--dismiss and --mend are two decisions; make them one after the other");
  }
  const auto store = TRY(open_ledger(context.config));
  auto status = TRY(query_bill_status(*store, options.month));
  if (!options.dismiss.empty()) {
    TRY(dismiss(options, status, *store, context));
  } else if (!options.mend.empty()) {
    TRY(mend(options, status, *store, context));
  } else if (!options.export_file.empty()) {
    TRY(export_rows(options, status, *store));
    context.console.say(counted(status.aside.size(), "row") + " written");
    return ExitCode::kDone;
  }
  if (!options.dismiss.empty() || !options.mend.empty()) {
    status = TRY(query_bill_status(*store, options.month));
  }
  if (status.aside_money.rows == 0) {
    context.console.say("no row of a bill is aside");
    return ExitCode::kDone;
  }
  print_tables({aside_table(status)}, options.table, context);
  return ExitCode::kDone;
}

}  // namespace pennyweight
