// Downloads: turns for answers as CSV, JSON lines or Parquet, whose rows are in memory from the
// query to the last byte that the client takes.
//
// Such an answer may have a million rows, and its client may read slowly. So a user makes two at a
// time, and all users together eight; further ones wait for a while before they are refused.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>

#include "server/server.h"
#include "server/stream_permits.h"

namespace pennyweight::api {

struct DownloadLimits {
  std::uint32_t all_max = 8;
  std::uint32_t user_max = 2;
  std::chrono::milliseconds wait_max{30'000};
};

class Downloads {
 public:
  using Turn = std::shared_ptr<const void>;

  explicit Downloads(const DownloadLimits& limits = {});

  // Waits for a turn of whoever asks; it lasts as long as any copy of it. Null: none came within
  // wait_max, or the thread is interrupted (core/interruption.h). From any thread.
  Turn take(const server::Request& request) const;

 private:
  const std::chrono::milliseconds wait_max_;
  const std::shared_ptr<server::StreamPermits> permits_;
};

// The answer to whom no turn came.
server::Response no_turn();
// The answer, which keeps the turn until all of it is sent. Without a turn: the answer as it is.
server::Response with_turn(server::Response answer, Downloads::Turn turn);

}  // namespace pennyweight::api
