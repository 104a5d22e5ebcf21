// Claim: that nobody else moves into this place. Held by signs of life in the table `moving`, which
// a thread writes; one who comes later watches for them before he takes over.
//
//   claim     `number`: 1, 2, …, and whose it is, `piece`
//   alive     of a claim `number`: `piece` counts them
//   released  claim `number` is given up
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>

#include "clickhouse/client.h"
#include "core/error.h"
#include "store/move/clickhouse_servers.h"

namespace pennyweight::move {

class Claim {
 public:
  // Waits as long as ClickhousePlace::watched says where an earlier claim was not released. An
  // Error where somebody else is at it. `servers` lives longer; `writer`: a number that nobody else
  // has.
  static Result<std::unique_ptr<Claim>> take(const Servers& servers, std::uint64_t writer);
  Claim(const Servers& servers, std::uint64_t writer);
  ~Claim();
  Claim(const Claim&) = delete;
  Claim& operator=(const Claim&) = delete;

  // An Error once it is somebody else's, or no sign of life could be given for too long.
  Result<void> holds() const;
  // To be called before the table goes.
  void end();

 private:
  Result<std::uint64_t> last_claim(clickhouse::Client& client) const;
  Result<void> watch(clickhouse::Client& client, std::uint64_t number) const;
  Result<void> write(clickhouse::Client& client, const char* what, std::uint64_t count) const;
  void live();

  const Servers& servers_;
  std::uint64_t writer_;
  std::uint64_t number_ = 0;  // 0: not yet ours
  std::atomic<bool> lost_ = false;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool ends_ = false;   // under mutex_
  std::thread living_;  // last: it uses the others from its first moment
};

}  // namespace pennyweight::move
