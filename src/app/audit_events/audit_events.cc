#include "app/audit_events/audit_events.h"

#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <tuple>
#include <utility>

#include "app/context/paths.h"
#include "app/import/input_format.h"
#include "core/decimal.h"
#include "core/json_text.h"
#include "core/try.h"
#include "ledger/counts_by_kind.h"
#include "server/access/accounts.h"
#include "server/api/audit_log.h"
#include "server/api/recorded_change.h"

namespace pennyweight {
namespace {

constexpr std::size_t kNamesBytesMax = 512;  // names of the files of one import
constexpr std::uint32_t kLeastKib = 64;

std::string user_name() {
  std::array<char, 4096> buffer;
  passwd entry = {};
  passwd* found = nullptr;
  const uid_t id = ::geteuid();
  if (::getpwuid_r(id, &entry, buffer.data(), buffer.size(), &found) == 0 && found != nullptr) {
    return found->pw_name;
  }
  return fmt::format("uid {}", id);
}

void add_counts(JsonObjectBuilder& facts, const ImportOutcome& outcome) {
  for (const auto& [name, counts] : counts_by_kind(outcome)) facts.count(name, counts.created);
  facts.count("rejected", outcome.rejected)
      .count("removed", outcome.restated.removed)
      .count("reversed", outcome.restated.reversed)
      .count("late", outcome.restated.late);
}

// Null: there are none. Nobody signs in here, so password hashing may be cheap.
Result<std::unique_ptr<access::Accounts>> open_known_accounts(Context& context) {
  const std::string path = accounts_path(context.config);
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return nullptr;
  return access::Accounts::open({.path = path, .argon2_kib = kLeastKib, .argon2_rounds = 1},
                                context.clock);
}

// Stores the head with the accounts, so that a truncated log is found out even if the command line
// wrote its last line.
Result<void> save_known_head(Context& context, const audit_log::Head& head) {
  const auto accounts = TRY(open_known_accounts(context));
  return accounts ? api::save_known_head(*accounts, head) : Result<void>();
}

bool changed_something(const ImportOutcome& outcome) {
  JsonObjectBuilder facts;
  add_counts(facts, outcome);
  return !facts.empty();
}

}  // namespace

void JsonObjectBuilder::name(std::string_view name) {
  if (!members_.empty()) members_ += ',';
  append_json_string(members_, name);
  members_ += ':';
}

JsonObjectBuilder& JsonObjectBuilder::text(std::string_view name, std::string_view value) {
  if (value.empty()) return *this;
  this->name(name);
  append_json_string(members_, value);
  return *this;
}

JsonObjectBuilder& JsonObjectBuilder::count(std::string_view name, std::uint64_t value) {
  if (value == 0) return *this;
  this->name(name);
  members_ += std::to_string(value);
  return *this;
}

audit_log::LogFiles audit_log_files(const Config& config) {
  audit_log::LogFiles files = audit_log::LogFiles::beside(audit_log_path(config));
  if (!config.audit.key_file.empty()) files.key = config.audit.key_file;
  files.anchor = config.audit.anchor_file;
  files.syslog = config.audit.syslog;
  return files;
}

Result<std::unique_ptr<audit_log::AuditLog>> open_audit_log(Context& context) {
  auto log = TRY(audit_log::AuditLog::open(audit_log_files(context.config), context.clock));
  const auto accounts = TRY(open_known_accounts(context));
  if (accounts) {
    TRY(api::check_known_head(*accounts, *log, audit_log_path(context.config),
                              accounts_path(context.config)));
  }
  return log;
}

api::Author cli_author() { return {.actor = "cli:" + user_name()}; }

Result<void> begin_change(Context& context, std::string_view action, std::string_view subject,
                          const std::string& facts) {
  const auto audit_log = open_audit_log(context);
  if (!audit_log) return std::unexpected(api::not_recorded_error(audit_log.error()));
  return api::record_intent(**audit_log, cli_author(), action, subject, facts);
}

void end_change(Context& context, std::string_view action, std::string_view subject,
                bool is_recorded, const Error* failure) {
  if (failure == nullptr && is_recorded) return;
  const auto audit_log = open_audit_log(context);
  if (!audit_log) return;  // the change was announced, and nothing came of it
  if (failure != nullptr) {
    api::record_failure(**audit_log, cli_author(), action, subject, *failure);
  } else {
    static_cast<void>((*audit_log)
                          ->append({.actor = cli_author().actor,
                                    .action = std::string(action) + ".unchanged",
                                    .subject = std::string(subject)}));
  }
}

Result<void> record_audit_event(Context& context, std::string_view action, std::string_view subject,
                                const std::string& before, const std::string& after) {
  const auto audit_log = open_audit_log(context);
  const auto recorded = audit_log ? (*audit_log)
                                        ->append({.number = 0,
                                                  .at = {},
                                                  .actor = cli_author().actor,
                                                  .peer = "",
                                                  .action = std::string(action),
                                                  .subject = std::string(subject),
                                                  .before = before,
                                                  .after = after,
                                                  .hash = ""})
                                  : Result<audit_log::Head>(std::unexpected(audit_log.error()));
  if (!recorded) {
    return std::unexpected(recorded.error().during(
        "the change was made, but the audit log could not record its result"));
  }
  ++context.audit_events;
  if (auto stored = save_known_head(context, *recorded); !stored) {
    return std::unexpected(stored.error().during(
        "the change is made and recorded, but the accounts could not store the audit log's head"));
  }
  return {};
}

Result<void> announce_audit_event(Context& context, std::string_view action,
                                  std::string_view subject, const std::string& before,
                                  const std::string& after) {
  const auto audit_log = open_audit_log(context);
  if (!audit_log) return std::unexpected(api::not_recorded_error(audit_log.error()));
  const auto head = (*audit_log)
                        ->append({.number = 0,
                                  .at = {},
                                  .actor = cli_author().actor,
                                  .peer = "",
                                  .action = std::string(action),
                                  .subject = std::string(subject),
                                  .before = before,
                                  .after = after,
                                  .hash = ""});
  if (!head) return std::unexpected(api::not_recorded_error(head.error()));
  ++context.audit_events;
  std::ignore = save_known_head(context, *head);  // what is in the log counts
  return {};
}

std::optional<AuditEvent> pricing_event(const std::string& month, const std::string& files,
                                        const ImportOutcome& outcome) {
  if (!changed_something(outcome)) return std::nullopt;
  JsonObjectBuilder facts;
  facts.text("name", files).count("import", outcome.number);
  add_counts(facts, outcome);
  return AuditEvent{
      .action = "price", .subject = "month " + month, .before = "", .after = facts.json()};
}

AuditEvent allocation_event(const Run& run) {
  const std::string& cluster = run.scope.cluster.text();
  return {.action = "allocate",
          .subject = fmt::format("cluster {}, month {}", cluster.empty() ? "(none)" : cluster,
                                 run.scope.month),
          .before = run.number > 1 ? JsonObjectBuilder().count("run", run.number - 1).json() : "",
          .after = JsonObjectBuilder()
                       .count("run", run.number)
                       .text("policy", to_text(run.policy_version))
                       .text("catalog", to_text(run.catalog_version))
                       .count("postings", run.postings)
                       .text("digest", to_text(run.postings_digest))
                       .json()};
}

std::string files_subject(std::span<const std::string> files) {
  return fmt::format("{} {}", files.size(), files.size() == 1 ? "file" : "files");
}

std::string names_for_audit(std::span<const std::string> files) {
  std::string names;
  for (const std::string& file : files) {
    if (names.size() + file.size() > kNamesBytesMax) {
      names += ", …";
      break;
    }
    names += (names.empty() ? "" : ", ") + file;
  }
  return names;
}

std::optional<AuditEvent> import_event(std::span<const std::string> files,
                                       const FileImport& imported) {
  const ImportOutcome& outcome = imported.outcome;
  if (!changed_something(outcome)) return std::nullopt;
  JsonObjectBuilder facts;
  facts.text("format", imported.format->description).text("name", names_for_audit(files));
  facts.count("files", files.size());
  add_counts(facts, outcome);
  return AuditEvent{.action = "import",
                    .subject = fmt::format("import {}", outcome.number),
                    .before = "",
                    .after = facts.json()};
}

Result<void> record_import(Context& context, std::span<const std::string> files,
                           const FileImport& imported) {
  const auto change = import_event(files, imported);
  if (!change) return {};
  return record_audit_event(context, change->action, change->subject, change->before,
                            change->after);
}

Result<FileImport> import_with_intent(Context& context, Store& store,
                                      const std::vector<std::string>& files,
                                      const ImportOptions& options) {
  return with_intent(context, "import", files_subject(files),
                     JsonObjectBuilder().text("name", names_for_audit(files)).json(),
                     [&]() -> Result<FileImport> {
                       auto imported = TRY(import_files(store, files, options, context.config,
                                                        context.console, context.clock));
                       TRY(record_import(context, files, imported));
                       return imported;
                     });
}

Result<void> record_pricing(Context& context, const std::string& month, const std::string& files,
                            const ImportOutcome& outcome) {
  const auto change = pricing_event(month, files, outcome);
  if (!change) return {};
  return record_audit_event(context, change->action, change->subject, change->before,
                            change->after);
}

Result<void> record_allocation(Context& context, std::span<const AllocatedScope> scopes) {
  for (const AllocatedScope& done : scopes) {
    if (done.unchanged) continue;
    const AuditEvent change = allocation_event(done.run);
    const auto recorded =
        record_audit_event(context, change.action, change.subject, change.before, change.after);
    if (!recorded) return recorded;
  }
  return {};
}

Result<void> record_period_close(Context& context, const Closing& closing) {
  return record_audit_event(context, "period.close", "month " + closing.month, "",
                            JsonObjectBuilder()
                                .text("by", closing.by)
                                .text("reason", closing.reason)
                                .count("lines", closing.lines)
                                .count("runs", closing.runs)
                                .text("digest", to_text(closing.digest))
                                .json());
}

Result<void> record_invoices(Context& context, std::span<const Invoice> invoices) {
  for (const Invoice& invoice : invoices) {
    if (invoice.number.empty()) continue;
    const auto recorded =
        record_audit_event(context, "invoice.issue", "invoice " + invoice.number, "",
                           JsonObjectBuilder()
                               .text("month", invoice.month)
                               .text("customer", invoice.customer)
                               .text("total", to_text(invoice.total_shown.amount()))
                               .text("currency", invoice.currency.text())
                               .text("refers_to", invoice.refers_to)
                               .text("reason", invoice.reason)
                               .json());
    if (!recorded) return recorded;
  }
  return {};
}

Result<void> record_backfill(Context& context, std::string_view address, const Interval& window,
                             const BackfillTotals& totals) {
  JsonObjectBuilder facts;
  facts.count("usages", totals.usages)
      .count("outcomes", totals.outcomes)
      .count("gpus", totals.gpus)
      .count("nodes", totals.nodes)
      .count("rejected", totals.conflicts);
  if (facts.empty()) return {};
  facts.text("from", address);
  return record_audit_event(context, "backfill", to_text(window), "", facts.json());
}

}  // namespace pennyweight
