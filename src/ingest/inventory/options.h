// What a reader of our own tables is told beside the table.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "core/id.h"
#include "core/instant.h"

namespace pennyweight::inventory {

struct Options {
  std::string file;   // for messages
  ClusterId cluster;  // of rows that name none; empty: each row must name its own
};

struct HoldingOptions {
  std::string file;
  ClusterId cluster;  // as above
  Instant read_at;    // now: a holding without an end still runs, and none begins or ends later
  // The profile of a MIG instance, as the inventory has it; nothing where it is unknown. May be
  // empty, then each row with `mig` must say its profile.
  std::function<std::optional<std::string>(const ClusterId&, const GpuId&)> profile_of;
};

struct Counts {
  std::uint64_t facts = 0;  // rows that are in order
  std::uint64_t rejected = 0;
  bool operator==(const Counts&) const = default;
};

}  // namespace pennyweight::inventory
