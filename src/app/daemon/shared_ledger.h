// SharedLedger: the one ledger of `serve`, for all its threads, and for other verbs in between.
//
// DuckDB lets one process open the file, and a Store is used by one thread at a time. So each
// caller gets it exclusively. It stays open for a moment, since users click in bursts. After it was
// open for long it is closed briefly, so that an import or a report beside `serve` gets its turn. A
// ledger on ClickHouse serves many programs at once; it is closed when it is not in use.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "config/config.h"
#include "core/error.h"
#include "ledger/store.h"

namespace pennyweight {

class SharedLedger {
 public:
  // `config` outlives it.
  explicit SharedLedger(const Config& config);
  ~SharedLedger();
  SharedLedger(const SharedLedger&) = delete;
  SharedLedger& operator=(const SharedLedger&) = delete;

  // Calls `ask` with the ledger, which is made where there is none, and returns its result. From
  // any thread. An Error where another program keeps the ledger for longer than we wait, or where
  // the thread is interrupted (core/interruption.h).
  Result<void> with(const std::function<Result<void>(Store&)>& ask);

  // Closes the file now; the next with() opens it again.
  void close();

  // A mark that differs once another program has written to the file; on ClickHouse it differs
  // every ten seconds. Empty: there is no file.
  std::string mark() const;

 private:
  void close_when_idle();

  const Config& config_;
  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::unique_ptr<Store> store_;
  std::chrono::steady_clock::time_point opened_at_;
  std::chrono::steady_clock::time_point used_at_;
  bool stopping_ = false;
  std::thread closer_;  // last: it uses the others from its first moment
};

}  // namespace pennyweight
