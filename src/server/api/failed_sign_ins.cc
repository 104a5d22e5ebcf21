#include "server/api/failed_sign_ins.h"

#include <algorithm>
#include <utility>

#include "core/try.h"
#include "server/access/lock_out.h"
#include "server/api/answers.h"

namespace pennyweight::api {
namespace {

constexpr std::string_view kOthers = "others";

audit_log::Entry failure_entry(const std::string& user, const std::string& peer,
                               std::string after) {
  return {.actor = "",
          .peer = peer,
          .action = "sign_in_failed",
          .subject = user.empty() ? "an unknown user" : "user " + user,
          .before = "",
          .after = std::move(after)};
}

}  // namespace

Result<void> FailedSignIns::add(const std::string& user, const std::string& peer,
                                std::string_view reason, Instant now, const Append& append) {
  const std::lock_guard lock(mutex_);
  TRY(record_due_locked(now, false, append));
  if (counts_.empty()) begun_ = now;
  Key key{user, access::address_group(peer), std::string(reason)};
  auto found = counts_.find(key);
  if (found == counts_.end() && counts_.size() >= kOwnEntriesMax) {
    key = {"", "", std::string(kOthers)};
    found = counts_.try_emplace(key, Count{.times = 0, .from = now, .to = now}).first;
  }
  if (found != counts_.end()) {
    Count& count = found->second;
    if (count.times == 0) count.from = now;
    ++count.times;
    count.to = now;
    return {};
  }
  JsonWriter why;
  why.begin_object().field("reason", reason).end_object();
  TRY(append(failure_entry(user, peer, why.text())));
  counts_.emplace(std::move(key), Count{.times = 0, .from = now, .to = now});
  return {};
}

Result<void> FailedSignIns::record_due(Instant now, bool all, const Append& append) {
  const std::lock_guard lock(mutex_);
  return record_due_locked(now, all, append);
}

Result<void> FailedSignIns::record_due_locked(Instant now, bool all, const Append& append) {
  // A clock that was set back ends a window too.
  if (counts_.empty() || (!all && now >= begun_ && now - begun_ < kWindow)) return {};
  while (!counts_.empty()) {
    const auto& [key, count] = *counts_.begin();
    if (count.times > 0) {
      JsonWriter facts;
      facts.begin_object()
          .field("reason", key.reason)
          .field("times", count.times)
          .field("from", count.from)
          .field("to", count.to)
          .end_object();
      auto entry = failure_entry(key.user, key.peer, facts.text());
      if (key.reason == kOthers) entry.subject = "several users or addresses";
      TRY(append(std::move(entry)));
    }
    counts_.erase(counts_.begin());
  }
  return {};
}

}  // namespace pennyweight::api
