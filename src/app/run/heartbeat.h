// Heartbeat: renews a claim in a ledger on ClickHouse every third of its lease.
//
// It opens a store of its own when it first needs one, since a store is used by one thread at a
// time. A failed heartbeat is only logged: at worst another worker takes the claim over, and then
// this one's run is not committed.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "app/context/log.h"
#include "config/config.h"
#include "core/clock.h"
#include "ledger/store.h"

namespace pennyweight {

class Heartbeat {
 public:
  // REQUIRES: all arguments outlive it.
  Heartbeat(const Config& config, Clock& clock, Log& log);
  ~Heartbeat();
  Heartbeat(const Heartbeat&) = delete;
  Heartbeat& operator=(const Heartbeat&) = delete;

  // Thread-safe; null: no claim is held.
  void hold(const WorkClaim* claim);
  // Gives the held claim back while this worker may still be working on it. Once another worker has
  // claimed the scope, the run of the older claim is not committed. Waits for `at_most`.
  void give_back(std::chrono::milliseconds at_most);

 private:
  void beat();
  void sign(const WorkClaim& claim, bool over);

  const Config& config_;
  Clock& clock_;
  Log& log_;
  std::unique_ptr<Store> store_;  // used by the thread only
  std::mutex mutex_;              // guards the following
  std::condition_variable changed_;
  std::optional<WorkClaim> held_;
  bool giving_back_ = false;
  bool stopping_ = false;
  std::thread thread_;  // last: it uses the others from its start
};

}  // namespace pennyweight
