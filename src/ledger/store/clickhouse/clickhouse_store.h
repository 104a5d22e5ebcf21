// The ledger on ClickHouse: one server, or shards and replicas, behind the Store that every store
// is. docs/ARCHITECTURE.md "On a cluster" says how rows become visible.
//
// Several programs may have the same ledger open and write it at once. What one commits another
// sees in the next call that it makes.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>

#include "core/clickhouse/address.h"
#include "core/clock.h"
#include "core/error.h"
#include "ledger/store.h"

namespace pennyweight {

struct ClickhouseOptions {
  clickhouse::Address address;
  bool read_only = false;
  std::chrono::milliseconds lease{30'000};  // of a writer that is silent while it commits
  Clock* clock = nullptr;                   // not null; lives longer than the store
  // Of the numbers of sessions: one that no other store gets, in this program or another.
  std::uint64_t seed = 0;
};

// Makes the database and its tables where there are none and the store may write.
Result<std::unique_ptr<Store>> open_clickhouse_store(const ClickhouseOptions& options);

}  // namespace pennyweight
