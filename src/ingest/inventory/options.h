// What the readers of our own tables need besides the table.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "core/id.h"
#include "core/instant.h"

namespace pennyweight::inventory {

struct TableOptions {
  std::string file;   // for messages
  ClusterId cluster;  // of rows that name none; empty: each row must name its own
};

struct HoldingOptions {
  std::string file;
  ClusterId cluster;  // as above
  Instant read_at;    // now: a holding without an end still runs, and none begins or ends later
  // The profile of a MIG instance in the inventory; nothing if it is unknown. May be empty: then
  // each row with `mig` must state its profile.
  std::function<std::optional<std::string>(const ClusterId&, const GpuId&)> find_mig_profile;
};

struct TableCounts {
  std::uint64_t facts = 0;  // good rows
  std::uint64_t rejected = 0;
  bool operator==(const TableCounts&) const = default;
};

}  // namespace pennyweight::inventory
