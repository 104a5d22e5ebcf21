// Where on ClickHouse a ledger is, or is to be.
#pragma once

#include <chrono>
#include <cstdint>

#include "clickhouse/address.h"
#include "core/clock.h"

namespace pennyweight::move {

struct ClickhousePlace {
  clickhouse::Address address;
  Clock* clock = nullptr;  // not null; lives longer than what is opened
  std::uint64_t seed = 0;  // one that nobody else has
  // Of a target: for how long it is watched, where an attempt was not ended by itself, whether
  // that is still under way.
  std::chrono::milliseconds watched{8'000};
};

}  // namespace pennyweight::move
