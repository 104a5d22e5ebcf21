// Records changes before they take effect, so that whatever fails there is no change without its
// line in the audit log.
//
// Changes of the accounts write their line inside their own transaction (access::Recorder): if the
// line can't be written, nothing changes. Changes of the ledger, which has another transaction,
// have two lines: what is about to happen, "period.close.intent", then what came of it,
// "period.close" or "period.close.failed".
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/error.h"
#include "server/access/accounts.h"
#include "server/audit_log/audit_log.h"

namespace pennyweight::api {

// The action of a line whose change did not take effect after all.
inline constexpr std::string_view kUndoneAction = "undone";
inline constexpr std::string_view kIntentSuffix = ".intent";
inline constexpr std::string_view kFailedSuffix = ".failed";

// Who changes something, from where.
struct Author {
  std::string actor;
  std::string peer = {};
};

// Whether lines of this action are written by changes of the accounts.
bool is_accounts_action(std::string_view action);

// A change of the accounts with its line:
//
//   RecordedChange change(log, author, "user.add", user_states);
//   auto added = change.finish(accounts.add_user(user, password, true, change.recorder()));
class RecordedChange {
 public:
  // Fills in subject, before and after.
  using Describe = std::function<void(const access::Change&, audit_log::Entry&)>;
  // `log` outlives this. REQUIRES: is_accounts_action(action).
  RecordedChange(audit_log::AuditLog& log, Author author, std::string_view action,
                 Describe describe);
  RecordedChange(const RecordedChange&) = delete;
  RecordedChange& operator=(const RecordedChange&) = delete;

  const access::Recorder& recorder() const { return recorder_; }
  // Passes the result on. If the change failed after its line was written, a further line says so;
  // if that can't be written either, the next start finds out.
  template <class T>
  Result<T> finish(Result<T> done) {
    if (!done) undo(done.error());
    return done;
  }

 private:
  Result<access::RecordedLine> record(const access::Change& change);
  void undo(const Error& why);

  audit_log::AuditLog& log_;
  Author author_;
  std::string action_;
  Describe describe_;
  access::Recorder recorder_;
  std::optional<access::RecordedLine> line_;
};

// Tells what a change is not made for: the audit log can't record it.
Error not_recorded_error(const Error& why);

// Appends "<action>.intent" before a change of the ledger. An Error: don't make it.
Result<void> record_intent(audit_log::AuditLog& log, const Author& author, std::string_view action,
                           std::string_view subject, const std::string& facts);
// Appends "<action>.failed" after a change that was not made. Nothing depends on it.
void record_failure(audit_log::AuditLog& log, const Author& author, std::string_view action,
                    std::string_view subject, const Error& why);

// The number of the line that an entry of kUndoneAction is about; nothing for other entries.
std::optional<std::uint64_t> undone_number(const audit_log::Entry& entry);

// Marks the lines whose changes of the accounts were not committed, since a process was killed
// between the two. Other processes may make changes meanwhile.
Result<void> settle_lines(access::Accounts& accounts, audit_log::AuditLog& log);

}  // namespace pennyweight::api
