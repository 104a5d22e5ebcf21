// LedgerThread: runs the cycles of a LiveLedger until it is destroyed.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "app/daemon/live_ledger.h"
#include "core/interruption.h"
#include "telemetry/live/engine.h"

namespace pennyweight {

class LedgerThread {
 public:
  // Starts at once. A cycle begins `every` after the last one has ended, or sooner where the engine
  // wants a flush because a sender drains a backlog. Everything given outlives this.
  LedgerThread(LiveLedger& ledger, const live::Engine& engine, std::chrono::milliseconds every,
               Interruption& interruption);
  // Waits for the cycle that is under way, which `interruption` ends sooner.
  ~LedgerThread();
  LedgerThread(const LedgerThread&) = delete;
  LedgerThread& operator=(const LedgerThread&) = delete;

 private:
  void run(LiveLedger& ledger, const live::Engine& engine, std::chrono::milliseconds every);

  std::mutex mutex_;  // guards stopping_
  std::condition_variable changed_;
  bool stopping_ = false;
  std::thread thread_;  // last: it uses the others from its first moment
};

}  // namespace pennyweight
