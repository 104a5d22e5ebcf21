// MoveLock: ensures that only one move writes to a target. A thread writes heartbeats into the
// table `moving`; a later program waits to see whether any come before it takes over.
//
//   claim     its `number`: 1, 2, …, and its writer in `piece`
//   alive     a heartbeat of the claim `number`; `piece` counts them
//   released  the claim `number` has ended
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>

#include "core/clickhouse/client.h"
#include "core/error.h"
#include "ledger/store/move/pending_ledger.h"

namespace pennyweight::move {

class MoveLock {
 public:
  // If an earlier claim was not released, watches it for ClickhouseLocation::takeover_wait. Fails
  // if another program is moving. `servers` must outlive the lock; `writer`: a unique number.
  static Result<std::unique_ptr<MoveLock>> take(const PendingLedger& pending, std::uint64_t writer);
  MoveLock(const PendingLedger& pending, std::uint64_t writer);
  ~MoveLock();
  MoveLock(const MoveLock&) = delete;
  MoveLock& operator=(const MoveLock&) = delete;

  // Fails if another program has taken over, or if no heartbeat could be written for too long.
  Result<void> holds() const;
  // Call it before the table is dropped.
  void end();

 private:
  Result<std::uint64_t> last_claim(clickhouse::Client& client) const;
  Result<void> watch(clickhouse::Client& client, std::uint64_t number) const;
  Result<void> write(clickhouse::Client& client, const char* what, std::uint64_t count) const;
  void live();

  const PendingLedger& pending_;
  std::uint64_t writer_;
  std::uint64_t number_ = 0;  // 0: not yet ours
  std::atomic<bool> lost_ = false;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool ends_ = false;   // under mutex_
  std::thread living_;  // last, since it uses the other members at once
};

}  // namespace pennyweight::move
