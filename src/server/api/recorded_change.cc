#include "server/api/recorded_change.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "core/try.h"
#include "core/whole_count.h"
#include "server/api/answers.h"

namespace pennyweight::api {
namespace {

// An error can quote a file; the log has a limit for each field.
constexpr std::size_t kReasonBytesMax = 4096;

constexpr std::string_view kAccountsActions[] = {
    "user.add",        "user.change",        "user.remove",     "user.password",
    "user.totp_off",   "user.unvouched",     "sign_in",         "sign_out",
    "sign_in_confirm", "session.end",        "session.end_all", "password.change",
    "totp.add",        "totp.remove",        "totp.codes",      "token.add",
    "token.revoke",    "view.add",           "view.remove",     "view.schedule",
    "view.unschedule", "user.password_reset"};

std::string reason_json(const Error& why) {
  JsonWriter out;
  out.begin_object()
      .field("reason", std::string_view(why.message).substr(0, kReasonBytesMax))
      .end_object();
  return out.text();
}

std::string undone_json(std::uint64_t number, std::string_view action, std::string_view reason) {
  JsonWriter out;
  out.begin_object()
      .field("number", number)
      .field("action", action)
      .field("reason", reason)
      .end_object();
  return out.text();
}

}  // namespace

bool is_accounts_action(std::string_view action) {
  return std::ranges::find(kAccountsActions, action) != std::end(kAccountsActions);
}

std::optional<std::uint64_t> undone_number(const audit_log::Entry& entry) {
  constexpr std::string_view kEntry = "entry ";
  if (entry.action != kUndoneAction || !entry.subject.starts_with(kEntry)) return std::nullopt;
  const auto number = parse_count(std::string_view(entry.subject).substr(kEntry.size()),
                                  std::numeric_limits<std::int64_t>::max());
  return number ? std::optional(*number) : std::nullopt;
}

Error not_recorded_error(const Error& why) {
  return {ErrorCode::kIo,
          "nothing was changed, since the audit log can't record it: " + why.message};
}

RecordedChange::RecordedChange(audit_log::AuditLog& log, Author author, std::string_view action,
                               Describe describe)
    : log_(log),
      author_(std::move(author)),
      action_(action),
      describe_(std::move(describe)),
      recorder_([this](const access::Change& change) { return record(change); }) {}

Result<access::RecordedLine> RecordedChange::record(const access::Change& change) {
  audit_log::Entry entry{.actor = author_.actor, .peer = author_.peer, .action = action_};
  describe_(change, entry);
  const auto head = log_.append(std::move(entry));
  if (!head) return std::unexpected(not_recorded_error(head.error()));
  line_ = access::RecordedLine{.number = head->number, .head = audit_log::write_head(*head)};
  return *line_;
}

void RecordedChange::undo(const Error& why) {
  if (!line_) return;
  static_cast<void>(log_.append({.actor = author_.actor,
                                 .peer = author_.peer,
                                 .action = std::string(kUndoneAction),
                                 .subject = fmt::format("entry {}", line_->number),
                                 .before = "",
                                 .after = undone_json(line_->number, action_, why.message)}));
}

Result<void> record_intent(audit_log::AuditLog& log, const Author& author, std::string_view action,
                           std::string_view subject, const std::string& facts) {
  const auto head = log.append({.actor = author.actor,
                                .peer = author.peer,
                                .action = std::string(action) + std::string(kIntentSuffix),
                                .subject = std::string(subject),
                                .before = "",
                                .after = facts});
  if (!head) return std::unexpected(not_recorded_error(head.error()));
  return {};
}

void record_failure(audit_log::AuditLog& log, const Author& author, std::string_view action,
                    std::string_view subject, const Error& why) {
  static_cast<void>(log.append({.actor = author.actor,
                                .peer = author.peer,
                                .action = std::string(action) + std::string(kFailedSuffix),
                                .subject = std::string(subject),
                                .before = "",
                                .after = reason_json(why)}));
}

Result<void> settle_lines(access::Accounts& accounts, audit_log::AuditLog& log) {
  return accounts.settle_lines(
      [&](std::optional<std::uint64_t> settled,
          const std::set<std::uint64_t>& committed) -> Result<std::uint64_t> {
        const auto head = TRY(log.head());
        std::set<std::uint64_t> undone;
        std::vector<audit_log::Entry> lost;
        std::ignore = TRY(log.entries(0, 1, [&](const audit_log::Entry& entry) {
          // Earlier versions wrote the line after the change, and kept no numbers.
          const bool is_settled =
              settled ? entry.number <= *settled : entry.action == audit_log::kAdoptedAction;
          if (is_settled) return true;  // ends the search
          const auto number = undone_number(entry);
          if (number) undone.insert(*number);
          if (is_accounts_action(entry.action) && !committed.contains(entry.number) &&
              !undone.contains(entry.number)) {
            lost.push_back(entry);
          }
          return false;
        }));
        std::uint64_t now_settled = head.number;
        for (auto entry = lost.rbegin(); entry != lost.rend(); ++entry) {
          const auto written = TRY(log.append(
              {.actor = "system",
               .peer = "",
               .action = std::string(kUndoneAction),
               .subject = fmt::format("entry {}", entry->number),
               .before = "",
               .after = undone_json(entry->number, entry->action,
                                    "the process ended before the change took effect")}));
          now_settled = written.number;
        }
        return now_settled;
      });
}

}  // namespace pennyweight::api
