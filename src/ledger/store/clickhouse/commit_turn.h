// CommitTurn: the exclusive right to commit to a ledger, and the log as it was when the turn began.
// The destructor releases it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "core/error.h"
#include "ledger/store/clickhouse/database.h"
#include "ledger/store/clickhouse/log/commit_log.h"
#include "ledger/store_rules.h"

namespace pennyweight {

class CommitTurn {
 public:
  // Waits for a turn. `database` must outlive it.
  static Result<CommitTurn> begin(ClickhouseDatabase& database);
  CommitTurn(CommitTurn&&) noexcept = default;
  CommitTurn& operator=(CommitTurn&&) = delete;
  ~CommitTurn();

  const commit_log::View& view() const { return view_; }
  // Whether entries of these kinds were committed since an earlier view.
  bool has_new_entries(const commit_log::View& since,
                       std::span<const std::string_view> kinds) const;
  // Call it between longer statements. Fails if another writer has taken over the turn.
  Result<void> alive() { return log_->alive(); }
  // Makes a session count. The error says whether it certainly doesn't, or that this is unknown.
  Result<void> commit(std::uint64_t session, const char* what);
  // Ensures that a session never counts (sweep.h). False: it counts already.
  Result<bool> condemn(std::uint64_t session);

 private:
  CommitTurn(std::unique_ptr<commit_log::CommitLog> log, commit_log::View view)
      : log_(std::move(log)), view_(std::move(view)) {}
  // The session's entry: this one, or the one that it has already.
  Result<commit_log::Entry> put(std::uint64_t session, const char* what);
  std::unique_ptr<commit_log::CommitLog> log_;
  commit_log::View view_;
};

// Allows one session at a time in a store, for as long as it lives.
class SessionGuard {
 public:
  static Result<SessionGuard> set(bool& open) {
    if (open) return fail(ErrorCode::kStore, kSessionIsOpen);
    return SessionGuard(open);
  }
  SessionGuard(SessionGuard&& other) noexcept : open_(std::exchange(other.open_, nullptr)) {}
  SessionGuard& operator=(SessionGuard&&) = delete;
  ~SessionGuard() {
    if (open_ != nullptr) *open_ = false;
  }

 private:
  explicit SessionGuard(bool& open) : open_(&open) { open = true; }
  bool* open_;
};

}  // namespace pennyweight
