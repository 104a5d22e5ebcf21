// SharedLedger: the one ledger of a `serve`, for all its threads, and for other verbs in between.
//
// DuckDB lets one process have the file, and a Store is used by one thread at a time. So whoever
// asks gets it alone; it stays open for a moment, since people click in bursts, and is closed for a
// breath where it was open for long, so that an import or a report beside `serve` gets its turn.
// A ledger on ClickHouse is for many programs at once; it is closed when nobody asks for it.
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

  // Makes the ledger where there is none. From any thread; what `ask` returns is returned. An Error
  // where another program has it for longer than we wait.
  Result<void> with(const std::function<Result<void>(Store&)>& ask);

  // Closes the file now; the next question opens it again.
  void let_go();

  // A mark that differs once somebody else has written to the file; of a ledger on ClickHouse it
  // differs every ten seconds. Empty: there is no file.
  std::string mark() const;

 private:
  void close_when_idle();

  const Config& config_;
  std::mutex mutex_;  // of the following
  std::condition_variable changed_;
  std::unique_ptr<Store> store_;
  std::chrono::steady_clock::time_point opened_at_;
  std::chrono::steady_clock::time_point used_at_;
  bool stopping_ = false;
  std::thread closer_;  // last: it uses the others from its first moment
};

}  // namespace pennyweight
