// compliance: whether the work of clients ran only where, and beside whom, it may.
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>

#include "app/cli/open_accounts.h"
#include "app/cli/shared_options.h"
#include "app/cli/verb.h"
#include "app/context/paths.h"
#include "config/guardrail_config.h"
#include "core/files/file.h"
#include "core/try.h"
#include "insight/queries/compliance_query.h"
#include "server/api/compliance_access.h"

namespace pennyweight {
namespace {

struct ComplianceArguments {
  std::string client;
  std::string month;
  bool checks = false;
  std::string pdf;
  TableOptions table;
};

// Who may see it and who changed what, as far as the ledger has accounts and an audit log.
Result<void> add_who(const ComplianceQuery& query, Compliance& compliance, Context& context) {
  std::error_code ignored;
  if (std::filesystem::exists(accounts_path(context.config), ignored)) {
    const auto accounts = TRY(open_accounts(context));
    TRY(api::add_access(query, *accounts, context.config.invoice.by, context.clock.now(),
                        compliance));
  }
  return api::add_changes(query, audit_log_path(context.config), context.config.policy.time_zone,
                          compliance);
}

Result<ExitCode> run_compliance(const ComplianceArguments& arguments, Context& context) {
  const auto& clients = context.config.guardrails->clients;
  if (clients.empty()) {
    return usage_error("the configuration has no clients; state them in guardrails.clients");
  }
  const auto store = TRY(open_ledger(context.config));
  const std::string month = TRY(choose_month(arguments.month, *store));
  const ComplianceQuery query{.month = month, .client = arguments.client, .clients = clients};
  auto found = query_compliance(query, context.config.policy, *store);
  if (!found) return as_usage_error(found.error());
  TRY(add_who(query, *found, context));
  const ExitCode exit_code =
      arguments.checks && !found->findings.empty() ? ExitCode::kCheckFailed : ExitCode::kDone;
  if (found->clients.empty()) context.console.say("no client was charged for work in " + month);
  if (!arguments.pdf.empty()) {
    const auto bytes = TRY(render_compliance_pdf(query, *found, context.config));
    auto file = TRY(OutputFile::create(arguments.pdf));
    TRY(file.write(bytes));
    TRY(file.commit());
    context.console.say("written to " + arguments.pdf);
    return exit_code;
  }
  auto tables = compliance_tables(*found);
  // Rows of one file have one header, so the findings are what a program gets.
  if (arguments.table.format == "csv") {
    std::erase_if(tables, [](const Table& table) { return table.title != kFindingsTitle; });
  }
  print_tables(tables, arguments.table, context);
  return exit_code;
}

}  // namespace

Verb declare_compliance(CLI::App& app) {
  const auto arguments = std::make_shared<ComplianceArguments>();
  CLI::App* command = app.add_subcommand(
      "compliance", "Show where work of clients ran that may not run there, or beside others");
  command->add_option("client", arguments->client, "One of guardrails.clients; default: all");
  add_booked_month_option(*command, arguments->month);
  command->add_flag("--check", arguments->checks, "Exit with 1 if there is a finding");
  command->add_option("--pdf", arguments->pdf, "Write it to this file, as a PDF");
  add_table_options(*command, arguments->table);
  command->footer(examples_footer("compliance"));
  return {command, [arguments](Context& context) { return run_compliance(*arguments, context); }};
}

}  // namespace pennyweight
