// doctor: what is configured, found and missing, and what to do about it.
#include <fmt/format.h>

#include <filesystem>

#include "app/catalog_file.h"
#include "app/checkup.h"
#include "app/table_options.h"
#include "app/verb.h"
#include "app/version.h"

namespace pennyweight {
namespace {

std::string_view to_text(Verdict verdict) {
  switch (verdict) {
    case Verdict::kFine:
      return "ok";
    case Verdict::kNote:
      return "note";
    case Verdict::kWrong:
      return "WRONG";
  }
  return "";
}

Finding config_finding(const Config& config) {
  if (config.source.empty()) {
    return {Verdict::kFine, "configuration", "defaults; no pennyweight.yaml here", ""};
  }
  return {Verdict::kFine, "configuration",
          fmt::format("{}, {} clusters", config.source, config.clusters.size()), ""};
}

// The ledger's findings, or why it can't be read.
std::vector<Finding> ledger_findings(const Config& config, const Catalog& catalog) {
  std::string name = ledger_name(config);
  if (!is_on_clickhouse(config)) {
    std::error_code problem;
    const auto bytes = std::filesystem::file_size(config.store_path, problem);
    if (problem) {
      return {
          {Verdict::kNote, "ledger", name + " is not there yet", "'pennyweight import' makes it"}};
    }
    name += fmt::format(", {} KB", bytes / 1000);
  }
  const auto store = open_ledger(config);
  if (!store) {
    return {{Verdict::kWrong, "ledger", store.error().message, "see the message"}};
  }
  std::vector<Finding> findings = {{Verdict::kFine, "ledger", name, ""}};
  auto checked = check_ledger(**store, config, catalog);
  if (!checked) {
    findings.push_back({Verdict::kWrong, "ledger", checked.error().message, "restore a backup"});
    return findings;
  }
  findings.insert(findings.end(), checked->begin(), checked->end());
  return findings;
}

Result<ExitCode> run(const TableOptions& options, Context& context) {
  std::vector<Finding> findings = {
      {Verdict::kFine, "program", fmt::format("pennyweight {}", kProgramVersion), ""},
      config_finding(context.config),
      check_time_zones(context.config)};
  const auto catalog = load_catalog(context.config);
  if (catalog) {
    findings.push_back(check_catalog(*catalog));
  } else {
    findings.push_back(
        {Verdict::kWrong, "prices", catalog.error().message, "mend the file or prices.override"});
  }
  for (Finding& finding : check_pricing(context.config)) findings.push_back(std::move(finding));
  for (Finding& finding :
       ledger_findings(context.config, catalog ? *catalog : Catalog::built_in())) {
    findings.push_back(std::move(finding));
  }
  findings.push_back({Verdict::kFine, "terminal", context.console.describe(), ""});

  Table table;
  table.columns = {{"verdict", "", ColumnKind::kText},
                   {"what", "what", ColumnKind::kText},
                   {"found", "found", ColumnKind::kText},
                   {"advice", "what to do", ColumnKind::kText}};
  std::uint64_t wrong = 0;
  for (const Finding& finding : findings) {
    table.rows.push_back(
        {std::string(to_text(finding.verdict)), finding.what, finding.found, finding.advice});
    if (finding.verdict == Verdict::kWrong) ++wrong;
  }
  print_tables({table}, options, context);
  if (wrong == 0) return ExitCode::kDone;
  return fail(ErrorCode::kBadValue, fmt::format("{} things are wrong", wrong));
}

}  // namespace

Verb declare_doctor(CLI::App& app) {
  const auto options = std::make_shared<TableOptions>();
  CLI::App* command =
      app.add_subcommand("doctor", "Look at what is configured, found and missing, and what to do");
  add_table_options(*command, *options);
  command->footer(examples_of("doctor"));
  return {command, [options](Context& context) { return run(*options, context); }};
}

}  // namespace pennyweight
