// ClickhouseLocation: where on ClickHouse a ledger is, or will be.
#pragma once

#include <chrono>
#include <cstdint>

#include "core/clickhouse/address.h"
#include "core/clock.h"

namespace pennyweight::move {

struct ClickhouseLocation {
  clickhouse::Address address;
  Clock* clock = nullptr;  // not null; lives longer than what is opened
  std::uint64_t seed = 0;  // one that nobody else has
  // For a target that an earlier attempt didn't release: how long to watch whether that attempt is
  // still alive.
  std::chrono::milliseconds takeover_wait{8'000};
};

}  // namespace pennyweight::move
