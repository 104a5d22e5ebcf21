// SessionLock: one session at a time, in a transaction that is rolled back unless it is committed.
#pragma once

#include <utility>

#include "core/duckdb/database.h"
#include "core/try.h"
#include "ledger/store_rules.h"

namespace pennyweight {

class SessionLock {
 public:
  // Begins the transaction. `open` says whether a session is open; both outlive the lock.
  static Result<SessionLock> begin(duckdb::Database& database, bool& open) {
    if (open) return fail(ErrorCode::kStore, kSessionIsOpen);
    duckdb::Connection connection = TRY(database.connect());
    TRY(connection.execute("BEGIN"));
    return SessionLock(database, std::move(connection), open);
  }
  SessionLock(SessionLock&& other) noexcept
      : database_(other.database_),
        connection_(std::move(other.connection_)),
        open_(std::exchange(other.open_, nullptr)) {}
  SessionLock& operator=(SessionLock&&) = delete;
  ~SessionLock() {
    // Disconnecting rolls back.
    if (open_ != nullptr) *open_ = false;
  }

  duckdb::Connection& connection() { return connection_; }
  // Nobody else writes now, so this is the time for a checkpoint.
  Result<void> commit() {
    TRY(connection_.execute("COMMIT"));
    database_.checkpoint_if_due();
    return {};
  }

 private:
  SessionLock(duckdb::Database& database, duckdb::Connection connection, bool& open)
      : database_(database), connection_(std::move(connection)), open_(&open) {
    open = true;
  }
  duckdb::Database& database_;
  duckdb::Connection connection_;
  bool* open_;
};

}  // namespace pennyweight
