#include "app/audit_trail.h"

#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <vector>

#include "api/audit_log.h"
#include "app/doors.h"
#include "app/open_accounts.h"
#include "app/told_changes.h"
#include "trail/trail.h"

namespace pennyweight {
namespace {

std::string file_of(const TrailOptions& options, const Config& config) {
  return options.file.empty() ? trail_path(config) : options.file;
}

// What is known of the log's lines: what --head says, and what the accounts keep of the ledger's
// own log. Of any other log they know nothing.
Result<std::vector<trail::Head>> known_heads(const TrailOptions& options, Context& context) {
  std::vector<trail::Head> known;
  if (!options.head.empty()) {
    auto head = trail::parse_head(options.head);
    if (!head) {
      return wrong_usage(
          "--head: write it as NUMBER:HASH, as 'pennyweight audit verify' prints it");
    }
    known.push_back(*std::move(head));
  }
  std::error_code ignored;
  if (!options.file.empty() || !std::filesystem::exists(accounts_path(context.config), ignored)) {
    return known;
  }
  const auto accounts = open_accounts(context);
  if (!accounts) return std::unexpected(accounts.error());
  auto kept = api::kept_head(**accounts);
  if (!kept) return std::unexpected(kept.error());
  if (*kept) known.push_back(**std::move(kept));
  return known;
}

Error no_log(const std::string& path) {
  return {ErrorCode::kNotFound,
          fmt::format("there is no audit log {} yet; what changes the ledger begins it", path)};
}

}  // namespace

Result<ExitCode> run_trail_verify(const TrailOptions& options, Context& context) {
  const std::string path = file_of(options, context.config);
  // Before the log is read: what is appended meanwhile comes after it.
  const auto known = known_heads(options, context);
  if (!known) return std::unexpected(known.error());
  auto verdict = trail::verify(path, known->empty() ? std::nullopt : std::optional((*known)[0]));
  for (std::size_t i = 1; i < known->size() && verdict && verdict->whole; ++i) {
    verdict = trail::verify(path, (*known)[i]);
  }
  if (!verdict) {
    const bool is_missing = verdict.error().code == ErrorCode::kNotFound;
    if (is_missing && !known->empty()) {
      return fail(ErrorCode::kConflict,
                  fmt::format("there is no audit log {}, and its entry number {} is known", path,
                              known->front().number));
    }
    return std::unexpected(is_missing ? no_log(path) : verdict.error());
  }
  if (!verdict->whole) {
    return fail(ErrorCode::kConflict, fmt::format("{} is not whole: line {}: {}", path,
                                                  verdict->bad_line, verdict->reason));
  }
  if (verdict->head.number == 0) {
    context.console.print(fmt::format("{} is whole: it is empty\n", path));
    return ExitCode::kDone;
  }
  context.console.print(fmt::format("{} is whole: {} entries, the last is {}:{}\n", path,
                                    verdict->head.number, verdict->head.number,
                                    verdict->head.hash));
  return ExitCode::kDone;
}

Result<ExitCode> run_trail_log(const TrailOptions& options, Context& context) {
  const std::string path = file_of(options, context.config);
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return std::unexpected(no_log(path));
  const auto trail = trail::Trail::open(path, context.clock);
  if (!trail) return std::unexpected(trail.error());
  const auto entries = (*trail)->entries(0, options.limit, [&](const trail::Entry& entry) {
    return (options.actor.empty() || entry.actor == options.actor) &&
           (options.action.empty() || entry.action == options.action);
  });
  if (!entries) return std::unexpected(entries.error());
  if (entries->empty()) {
    context.console.say("there is no such entry");
    return ExitCode::kDone;
  }
  Table table;
  table.title = "Audit log, the newest first";
  table.columns = {{"number", "number", ColumnKind::kId},   {"at", "at", ColumnKind::kId},
                   {"actor", "actor", ColumnKind::kText},   {"peer", "from", ColumnKind::kText},
                   {"action", "action", ColumnKind::kText}, {"subject", "what", ColumnKind::kText},
                   {"before", "before", ColumnKind::kText}, {"after", "after", ColumnKind::kText}};
  for (const trail::Entry& entry : *entries) {
    table.rows.push_back({std::to_string(entry.number), to_text(entry.at), entry.actor, entry.peer,
                          entry.action, entry.subject, entry.before, entry.after});
  }
  print_tables({table}, options.table, context);
  return ExitCode::kDone;
}

std::shared_ptr<TrailOptions> declare_trail_audit(CLI::App& audit) {
  const auto options = std::make_shared<TrailOptions>();
  options->verify =
      audit.add_subcommand("verify", "Prove that no entry of the audit log was changed or removed");
  options->log = audit.add_subcommand("log", "Who did what: the audit log, the newest first");
  for (CLI::App* command : {options->verify, options->log}) {
    command->add_option("--trail", options->file, "The log's file; else the ledger's own");
    command->footer(examples_of("audit"));
  }
  options->verify->add_option("--head", options->head,
                              "NUMBER:HASH of an entry that is known from elsewhere: shows also "
                              "that nothing was cut off after it. What the accounts know of the "
                              "ledger's own log is held to it always");
  options->log->add_option("--limit", options->limit, "How many entries at most")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  options->log->add_option("--actor", options->actor, "Only what this one did: ana, cli:root");
  options->log->add_option("--action", options->action, "Only this: import, user.add, …");
  add_table_options(*options->log, options->table);
  return options;
}

}  // namespace pennyweight
