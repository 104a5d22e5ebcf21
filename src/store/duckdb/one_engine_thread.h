// OneEngineThread: while it lives, the engine runs its work on the thread that asks for it.
//
// An appender's rows go into one table one after another; with more threads the engine only hands
// them from one to the other and waits in between, which costs processor time and memory.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "store/duckdb/fact_table.h"

namespace pennyweight {

class OneEngineThread {
 public:
  // `database` outlives it.
  static Result<std::unique_ptr<OneEngineThread>> begin(duckdb::Database& database) {
    Result<duckdb::Connection> connection = database.connect();
    if (!connection) return std::unexpected(std::move(connection.error()));
    const auto threads =
        counts_of<1>(connection->query("SELECT current_setting('threads')::UBIGINT"));
    if (!threads) return std::unexpected(threads.error());
    if (Result<void> set = connection->execute("SET threads = 1"); !set) {
      return std::unexpected(std::move(set.error()));
    }
    return std::make_unique<OneEngineThread>(std::move(*connection), (*threads)[0]);
  }
  // For begin(): `before` is how many threads there were.
  OneEngineThread(duckdb::Connection connection, std::uint64_t before)
      : connection_(std::move(connection)), before_(before) {}
  // As many as there were before. Too few threads are no error, only slow.
  ~OneEngineThread() {
    [[maybe_unused]] const Result<void> set =
        connection_.execute("SET threads = " + std::to_string(before_));
  }
  OneEngineThread(const OneEngineThread&) = delete;
  OneEngineThread& operator=(const OneEngineThread&) = delete;

 private:
  duckdb::Connection connection_;
  std::uint64_t before_;
};

}  // namespace pennyweight
