// Heartbeat: tells a ledger on ClickHouse, every third of a lease, that a claim is still worked on.
//
// It has a store of its own, since a store is used by one thread at a time, and opens it when it
// first needs it. That a sign could not be given is told by the log and nothing else: at worst
// somebody else takes the claim, and then the run that belongs to it is not kept.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "app/log.h"
#include "config/config.h"
#include "core/clock.h"
#include "ledger/store.h"

namespace pennyweight {

class Heartbeat {
 public:
  // All outlive it.
  Heartbeat(const Config& config, Clock& clock, Log& log);
  ~Heartbeat();
  Heartbeat(const Heartbeat&) = delete;
  Heartbeat& operator=(const Heartbeat&) = delete;

  // From any thread; null: no claim is held.
  void hold(const WorkClaim* claim);
  // Gives back what is held, while somebody else still works on it: its run will not be kept by
  // those who go by the newest claim, once another has it. Waits for `at_most`.
  void give_back(std::chrono::milliseconds at_most);

 private:
  void beat();
  void sign(const WorkClaim& claim, bool over);

  const Config& config_;
  Clock& clock_;
  Log& log_;
  std::unique_ptr<Store> store_;  // of the thread's own
  std::mutex mutex_;              // of the following
  std::condition_variable changed_;
  std::optional<WorkClaim> held_;
  bool giving_back_ = false;
  bool stopping_ = false;
  std::thread thread_;  // last: it uses the others from its first moment
};

}  // namespace pennyweight
