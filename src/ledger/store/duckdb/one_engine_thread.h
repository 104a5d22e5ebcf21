// OneEngineThread: while it lives, the engine does its work on the calling thread.
//
// An appender's rows go into one table one after another; with more threads the engine only hands
// them from one to the other and waits in between, which costs processor time and memory.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "core/try.h"
#include "ledger/store/duckdb/fact_table.h"

namespace pennyweight {

class OneEngineThread {
 public:
  // `database` outlives it.
  static Result<std::unique_ptr<OneEngineThread>> begin(duckdb::Database& database) {
    duckdb::Connection connection = TRY(database.connect());
    const auto threads =
        counts_of<1>(connection.query("SELECT current_setting('threads')::UBIGINT"));
    if (!threads) return std::unexpected(threads.error());
    TRY(connection.execute("SET threads = 1"));
    return std::make_unique<OneEngineThread>(std::move(connection), (*threads)[0]);
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
