// doctor: checks the configuration and the ledger, and says what to do.
#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <set>
#include <utility>

#include "app/cli/doctor_checks.h"
#include "app/cli/serve_check.h"
#include "app/cli/shared_options.h"
#include "app/cli/verb.h"
#include "app/context/catalog_file.h"
#include "app/context/ledger_log.h"
#include "app/context/version.h"
#include "reporting/number_format.h"

namespace pennyweight {
namespace {

std::string_view level_text(FindingLevel level) {
  switch (level) {
    case FindingLevel::kOk:
      return "ok";
    case FindingLevel::kNote:
      return "note";
    case FindingLevel::kProblem:
      return "WRONG";
  }
  return "";
}

Finding config_finding(const Config& config) {
  if (config.source.empty()) {
    return {FindingLevel::kOk, "configuration", "defaults; no pennyweight.yaml here", ""};
  }
  std::set<ClusterId> clusters;
  for (const auto& cluster : config.clusters) clusters.insert(cluster.name);
  for (const KubernetesConfig& kubernetes : config.live.kubernetes) {
    clusters.insert(kubernetes.cluster);
  }
  for (const SlurmConfig& slurm : config.live.slurm) clusters.insert(slurm.cluster);
  return {FindingLevel::kOk, "configuration",
          fmt::format("{}, {}", config.source, counted(clusters.size(), "cluster")), ""};
}

// The findings about the ledger, or why it can't be read.
std::vector<Finding> ledger_findings(const Config& config, const Catalog& catalog) {
  std::string name = ledger_name(config);
  if (!is_on_clickhouse(config)) {
    std::error_code problem;
    const auto bytes = std::filesystem::file_size(config.store_path, problem);
    if (problem) {
      return {{FindingLevel::kNote, "ledger", name + " does not exist yet",
               "'pennyweight import' creates it"}};
    }
    name += fmt::format(", {} KB", bytes / 1000);
  }
  const auto store = open_ledger(config);
  if (!store) {
    return {{FindingLevel::kProblem, "ledger", store.error().message, "see the message"}};
  }
  std::vector<Finding> findings = {{FindingLevel::kOk, "ledger", name, ""}};
  auto checked = check_ledger(**store, config, catalog);
  if (!checked) {
    findings.push_back(
        {FindingLevel::kProblem, "ledger", checked.error().message, "restore a backup"});
    return findings;
  }
  findings.insert(findings.end(), checked->begin(), checked->end());
  return findings;
}

// After the ledger was closed, which ends with a checkpoint.
std::optional<Finding> ledger_log_finding(const Config& config) {
  auto overlong = overlong_ledger_log(config);
  if (!overlong) return std::nullopt;
  return Finding{FindingLevel::kProblem, "ledger", *std::move(overlong),
                 overlong_ledger_log_advice(config)};
}

Result<ExitCode> run(const TableOptions& options, Context& context) {
  std::vector<Finding> findings = {
      {FindingLevel::kOk, "program", fmt::format("pennyweight {}", kProgramVersion), ""},
      config_finding(context.config),
      check_time_zones(context.config)};
  const auto catalog = load_catalog(context.config);
  if (catalog) {
    findings.push_back(check_catalog(*catalog));
  } else {
    findings.push_back({FindingLevel::kProblem, "prices", catalog.error().message,
                        "correct the file or prices.override"});
  }
  for (Finding& finding : check_pricing(context.config)) findings.push_back(std::move(finding));
  for (Finding& finding : check_serve(context.config)) findings.push_back(std::move(finding));
  for (Finding& finding :
       ledger_findings(context.config, catalog ? *catalog : Catalog::built_in())) {
    findings.push_back(std::move(finding));
  }
  if (auto finding = ledger_log_finding(context.config)) findings.push_back(*std::move(finding));
  findings.push_back({FindingLevel::kOk, "terminal", context.console.describe(), ""});

  Table table;
  table.columns = {{"verdict", "", ColumnKind::kText},
                   {"what", "what", ColumnKind::kText},
                   {"found", "found", ColumnKind::kText},
                   {"advice", "what to do", ColumnKind::kText}};
  std::uint64_t wrong = 0;
  for (const Finding& finding : findings) {
    table.rows.push_back(
        {std::string(level_text(finding.level)), finding.subject, finding.found, finding.advice});
    if (finding.level == FindingLevel::kProblem) ++wrong;
  }
  print_tables({table}, options, context);
  if (wrong == 0) return ExitCode::kDone;
  return fail(ErrorCode::kBadValue, counted(wrong, "problem") + " found");
}

}  // namespace

Verb declare_doctor(CLI::App& app) {
  const auto options = std::make_shared<TableOptions>();
  CLI::App* command =
      app.add_subcommand("doctor", "Check the configuration and the ledger, and say what to do");
  add_table_options(*command, *options);
  command->footer(examples_footer("doctor"));
  return {command, [options](Context& context) { return run(*options, context); }};
}

}  // namespace pennyweight
