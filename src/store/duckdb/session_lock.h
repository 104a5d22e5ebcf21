// SessionLock: one session at a time, in one transaction that is undone unless it is committed.
#pragma once

#include <utility>

#include "duckdb/database.h"

namespace pennyweight {

class SessionLock {
 public:
  // Begins the transaction. `open` says whether a session is open; it outlives the lock.
  static Result<SessionLock> begin(duckdb::Database& database, bool& open) {
    if (open) {
      return fail(ErrorCode::kStore,
                  "an import or a run is already open in this store; finish it first");
    }
    Result<duckdb::Connection> connection = database.connect();
    if (!connection) return std::unexpected(std::move(connection.error()));
    if (Result<void> begun = connection->execute("BEGIN"); !begun) {
      return std::unexpected(std::move(begun.error()));
    }
    return SessionLock(std::move(*connection), open);
  }
  SessionLock(SessionLock&& other) noexcept
      : connection_(std::move(other.connection_)), open_(std::exchange(other.open_, nullptr)) {}
  SessionLock& operator=(SessionLock&&) = delete;
  ~SessionLock() {
    // Disconnecting undoes what was not committed.
    if (open_ != nullptr) *open_ = false;
  }

  duckdb::Connection& connection() { return connection_; }
  Result<void> commit() { return connection_.execute("COMMIT"); }

 private:
  SessionLock(duckdb::Connection connection, bool& open)
      : connection_(std::move(connection)), open_(&open) {
    open = true;
  }
  duckdb::Connection connection_;
  bool* open_;
};

}  // namespace pennyweight
