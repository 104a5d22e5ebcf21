#include "app/cli/audit_log_verbs.h"

#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <vector>

#include "app/audit_events/audit_events.h"
#include "app/cli/open_accounts.h"
#include "app/context/paths.h"
#include "app/daemon/security_services.h"
#include "core/try.h"
#include "reporting/number_format.h"
#include "server/api/accounts_proof.h"
#include "server/api/audit_log.h"
#include "server/audit_log/audit_log.h"

namespace pennyweight {
namespace {

std::string audit_log_file(const AuditLogOptions& options, const Config& config) {
  return options.file.empty() ? audit_log_path(config) : options.file;
}

// The entries that the log must have: the one of --head, and for the ledger's own log the one that
// the accounts remember.
Result<std::vector<audit_log::Head>> known_heads(const AuditLogOptions& options, Context& context) {
  std::vector<audit_log::Head> known;
  if (!options.head.empty()) {
    auto head = audit_log::parse_head(options.head);
    if (!head) {
      return usage_error(
          "--head: write it as NUMBER:HASH, as 'pennyweight audit verify' prints it");
    }
    known.push_back(*std::move(head));
  }
  std::error_code ignored;
  if (!options.file.empty() || !std::filesystem::exists(accounts_path(context.config), ignored)) {
    return known;
  }
  const auto accounts = TRY(open_accounts(context));
  auto kept = TRY(api::load_known_head(*accounts));
  if (kept) known.push_back(*std::move(kept));
  return known;
}

Error no_log(const std::string& path) {
  return {
      ErrorCode::kNotFound,
      fmt::format("there is no audit log {} yet; the first change of the ledger creates it", path)};
}

}  // namespace

namespace {

// The ledger's own log with what proves it; another file stands for itself.
audit_log::LogFiles files_to_verify(const AuditLogOptions& options, const Config& config) {
  if (options.file.empty()) return audit_log_files(config);
  return {.log = options.file};
}

// Differences between the accounts and the ledger's own log; none where there are no accounts.
Result<std::vector<api::AccountsDifference>> accounts_differences(const AuditLogOptions& options,
                                                                  Context& context) {
  std::error_code ignored;
  if (!options.file.empty() || !std::filesystem::exists(accounts_path(context.config), ignored)) {
    return std::vector<api::AccountsDifference>();
  }
  const auto accounts = TRY(open_accounts(context));
  return api::compare_accounts_with_log(*accounts, audit_log_path(context.config));
}

// Marks lines whose changes never happened. A log that is not the kept one takes no further line;
// what is wrong with it is told by verifying it.
void settle_what_was_killed(const AuditLogOptions& options, Context& context) {
  std::error_code ignored;
  if (!options.file.empty() || !std::filesystem::exists(accounts_path(context.config), ignored) ||
      !std::filesystem::exists(audit_log_path(context.config), ignored)) {
    return;
  }
  const auto accounts = open_accounts(context);
  const auto log = open_audit_log(context);
  if (accounts && log) static_cast<void>(api::settle_lines(**accounts, **log));
}

Result<ExitCode> report_marks(const audit_log::Verdict& verdict, const AuditLogOptions& options,
                              Context& context) {
  for (const audit_log::Entry& entry : verdict.adopted) {
    context.console.say(fmt::format(
        "{} were written before the log's end was recorded separately; entry {} vouches for them",
        entry.subject, entry.number));
  }
  for (const audit_log::Entry& entry : verdict.accepted) {
    context.console.warn(api::accepted_text(entry));
  }
  const auto differences = TRY(accounts_differences(options, context));
  for (const api::AccountsDifference& difference : differences) {
    context.console.warn(difference.text);
  }
  if (!differences.empty()) {
    return fail(ErrorCode::kConflict, fmt::format("the accounts differ from the audit log: {}",
                                                  counted(differences.size(), "difference")));
  }
  if (!verdict.accepted.empty() && !options.allow_accepted) {
    return fail(ErrorCode::kConflict,
                "the audit log was cut or replaced, and that was accepted: see above "
                "(--allow-accepted takes that for known)");
  }
  return ExitCode::kDone;
}

}  // namespace

Result<ExitCode> run_audit_verify(const AuditLogOptions& options, Context& context) {
  const audit_log::LogFiles files = files_to_verify(options, context.config);
  const std::string& path = files.log;
  settle_what_was_killed(options, context);
  // Read before the log, so that entries appended meanwhile come later.
  const auto known = known_heads(options, context);
  if (!known) return std::unexpected(known.error());
  auto verdict =
      audit_log::verify(files, known->empty() ? std::nullopt : std::optional((*known)[0]));
  for (std::size_t i = 1; i < known->size() && verdict && verdict->whole; ++i) {
    verdict = audit_log::verify(files, (*known)[i]);
  }
  if (!verdict) {
    const bool is_missing = verdict.error().code == ErrorCode::kNotFound;
    std::error_code ignored;
    if (is_missing && !known->empty()) {
      return fail(ErrorCode::kConflict,
                  fmt::format("the audit log {} is missing, although its entry number {} is known",
                              path, known->front().number));
    }
    if (is_missing && std::filesystem::exists(files.head, ignored)) {
      return fail(ErrorCode::kConflict,
                  fmt::format("the audit log {} is missing, although its head {} was kept", path,
                              files.head));
    }
    return std::unexpected(is_missing ? no_log(path) : verdict.error());
  }
  if (!verdict->whole) {
    return fail(ErrorCode::kConflict, fmt::format("{} is not intact: line {}: {}", path,
                                                  verdict->bad_line, verdict->reason));
  }
  if (verdict->head.number == 0) {
    context.console.print(fmt::format("{} is intact: it is empty\n", path));
  } else {
    context.console.print(fmt::format("{} is intact: {} entries, the last is {}:{}\n", path,
                                      verdict->head.number, verdict->head.number,
                                      verdict->head.hash));
  }
  return report_marks(*verdict, options, context);
}

namespace {

// What was recorded last, as far as that can be read.
std::string kept_text(const audit_log::LogFiles& files) {
  const auto verdict = audit_log::verify(files);
  JsonObjectBuilder text;
  text.text("problem", verdict ? verdict->reason : verdict.error().message);
  return text.json();
}

}  // namespace

Result<ExitCode> run_audit_accept(const AuditLogOptions& options, Context& context) {
  const audit_log::LogFiles files = audit_log_files(context.config);
  const std::string problem = kept_text(files);
  const auto head =
      TRY(audit_log::accept(files,
                            {.actor = cli_author().actor,
                             .action = std::string(audit_log::kAcceptedAction),
                             .subject = "the audit log as it is",
                             .before = problem,
                             .after = JsonObjectBuilder().text("reason", options.reason).json()},
                            context.clock));
  context.console.say(
      fmt::format("accepted by entry {}; 'pennyweight audit verify' tells it from now on; restart "
                  "'pennyweight serve' if it runs",
                  head.number));
  std::error_code ignored;
  if (!std::filesystem::exists(accounts_path(context.config), ignored)) return ExitCode::kDone;
  const auto accounts = TRY(open_accounts(context));
  TRY(accounts->put(access::kAuditHeadText, audit_log::write_head(head)));
  const auto differences =
      TRY(api::compare_accounts_with_log(*accounts, audit_log_path(context.config)));
  const auto log = TRY(open_audit_log(context));
  for (const api::AccountsDifference& difference : differences) {
    audit_log::Entry entry = difference.record;
    entry.actor = cli_author().actor;
    std::ignore = TRY(log->append(std::move(entry)));
    context.console.say("recorded: " + difference.text);
  }
  return ExitCode::kDone;
}

Result<ExitCode> run_audit_log(const AuditLogOptions& options, Context& context) {
  const std::string path = audit_log_file(options, context.config);
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return std::unexpected(no_log(path));
  const auto audit_log = audit_log::AuditLog::open_to_read(path, context.clock);
  if (!audit_log) return std::unexpected(audit_log.error());
  const auto entries =
      TRY((*audit_log)->entries(0, options.limit, [&](const audit_log::Entry& entry) {
        return (options.actor.empty() || entry.actor == options.actor) &&
               (options.action.empty() || entry.action == options.action);
      }));
  if (entries.empty()) {
    context.console.say("no entry matches");
    return ExitCode::kDone;
  }
  Table table;
  table.title = "Audit log, newest first";
  table.columns = {{"number", "number", ColumnKind::kId},   {"at", "at", ColumnKind::kId},
                   {"actor", "actor", ColumnKind::kText},   {"peer", "from", ColumnKind::kText},
                   {"action", "action", ColumnKind::kText}, {"subject", "what", ColumnKind::kText},
                   {"before", "before", ColumnKind::kText}, {"after", "after", ColumnKind::kText}};
  for (const audit_log::Entry& entry : entries) {
    table.rows.push_back({std::to_string(entry.number), to_text(entry.at), entry.actor, entry.peer,
                          entry.action, entry.subject, entry.before, entry.after});
  }
  print_tables({table}, options.table, context);
  return ExitCode::kDone;
}

std::shared_ptr<AuditLogOptions> declare_audit_log(CLI::App& audit) {
  const auto options = std::make_shared<AuditLogOptions>();
  options->verify =
      audit.add_subcommand("verify", "Prove that no entry of the audit log was changed or removed");
  options->log = audit.add_subcommand("log", "Show the audit log, newest first: who did what");
  options->accept = audit.add_subcommand(
      "accept", "Go on with an audit log that was cut or replaced; marks it for ever");
  options->accept->add_option("--reason", options->reason, "Why, for whoever verifies the log")
      ->required();
  options->accept->footer(examples_footer("audit"));
  options->verify->add_flag("--allow-accepted", options->allow_accepted,
                            "Succeed although another log was accepted once; it is still shown");
  for (CLI::App* command : {options->verify, options->log}) {
    command->add_option("--trail", options->file, "The log's file; default: the ledger's own");
    command->footer(examples_footer("audit"));
  }
  options->verify->add_option("--head", options->head,
                              "NUMBER:HASH of an entry known from elsewhere: proves that the log "
                              "still reaches it. The entry that the accounts remember of the "
                              "ledger's own log is always checked");
  options->log->add_option("--limit", options->limit, "At most this many entries")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  options->log->add_option("--actor", options->actor,
                           "Only entries of this actor, such as ana or cli:root");
  options->log->add_option("--action", options->action,
                           "Only entries of this action, such as import or user.add");
  add_table_options(*options->log, options->table);
  return options;
}

}  // namespace pennyweight
