// FailedSignIns: sums up refused sign-ins for the audit log, so that whoever guesses passwords can
// fill neither the disk nor the log.
//
// The first refusal of a user, from an address, for a reason is recorded at once; those that follow
// within a minute as one entry with their number. Who tries many users or comes from many addresses
// gets a few entries a minute and one for all the rest. What a killed process had counted in its
// last minute is lost; each had its first entry.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>

#include "core/error.h"
#include "core/instant.h"
#include "server/audit_log/audit_log.h"

namespace pennyweight::api {

class FailedSignIns {
 public:
  static constexpr std::chrono::minutes kWindow{1};
  // Different ones that get entries of their own in one window.
  static constexpr std::size_t kOwnEntriesMax = 20;

  using Append = std::function<Result<void>(audit_log::Entry)>;

  // `user` is an existing user, or ""; `peer` an address. Thread-safe.
  Result<void> add(const std::string& user, const std::string& peer, std::string_view reason,
                   Instant now, const Append& append);
  // Records what was counted in windows that are over; `all`: in all of them.
  Result<void> record_due(Instant now, bool all, const Append& append);

 private:
  struct Key {
    std::string user, peer, reason;
    auto operator<=>(const Key&) const = default;
  };
  struct Count {
    std::uint64_t times = 0;  // beyond the one that was recorded at once
    Instant from, to;
  };
  Result<void> record_due_locked(Instant now, bool all, const Append& append);

  std::mutex mutex_;
  std::map<Key, Count> counts_;  // of the window that began at begun_
  Instant begun_;
};

}  // namespace pennyweight::api
