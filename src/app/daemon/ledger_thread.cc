#include "app/daemon/ledger_thread.h"

#include <algorithm>

#include "app/daemon/service_manager.h"

namespace pennyweight {
namespace {

// How often the thread asks whether a flush is wanted sooner.
constexpr std::chrono::milliseconds kFlushCheck{500};

}  // namespace

LedgerThread::LedgerThread(LiveLedger& ledger, const live::Engine& engine,
                           std::chrono::milliseconds every, Interruption& interruption)
    : thread_([this, &ledger, &engine, every, &interruption] {
        const Interruption::Scope scope(interruption);
        run(ledger, engine, every);
      }) {}

LedgerThread::~LedgerThread() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void LedgerThread::run(LiveLedger& ledger, const live::Engine& engine,
                       std::chrono::milliseconds every) {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    lock.unlock();
    ledger.cycle();
    notify_service_manager("WATCHDOG=1");
    lock.lock();
    const auto next = std::chrono::steady_clock::now() + every;
    do {
      changed_.wait_for(lock, std::min(every, kFlushCheck), [&] { return stopping_; });
    } while (!stopping_ && !engine.wants_flush() && !ledger.wants_view() &&
             std::chrono::steady_clock::now() < next);
  }
}

}  // namespace pennyweight
