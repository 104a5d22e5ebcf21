// ReservedCapacity: which GPUs of a fleet commitments and capacity reservations cover, and how many
// of them end with these.
//
// It is read from the lines of the newest billed month. A commitment may float: an hour of it
// covers one node and the next hour another, or a part of an hour. So each covers a node for a
// share of the time, and the GPUs of a commitment are the mean of that over the last week. A node
// that several cover is there as long as one of them is, and never counts twice.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/date.h"
#include "core/error.h"
#include "core/gpu/cloud_resource.h"
#include "core/instant.h"
#include "ledger/node.h"
#include "ledger/store.h"

namespace pennyweight {

using GpuModelAndRegion = std::pair<std::string, std::string>;

// When a commitment or a capacity reservation ends, of which the bill does not say so.
struct ReservationEnd {
  std::string id;
  Date ends;
};

// GPUs of one model and region that one commitment or capacity reservation covers.
struct ReservedGpus {
  std::string id;
  std::string model;
  std::string region;
  std::int64_t gpus_milli = 0;  // the mean, in thousandths of GPUs
  std::optional<Date> ends;
};

class ReservedCapacity {
 public:
  // Of the nodes that are there `now`. What `ends` says goes before what the bill says.
  static Result<ReservedCapacity> read(Store& store, std::span<const Node> nodes,
                                       std::span<const JoinRule> join_rules,
                                       std::span<const ReservationEnd> ends, Instant now);

  // By end, those without one last. One that covers nodes in two regions is there twice.
  const std::vector<ReservedGpus>& reserved() const { return reserved_; }
  // In thousandths of GPUs: those whose coverage, that goes on `today`, has ended by `day`. What
  // ended before today is gone or has become something else, as the nodes that are there say.
  std::int64_t ended_milli(const GpuModelAndRegion& key, Date today, Date day) const;

 private:
  struct Share {
    std::int64_t milli = 0;  // of the time
    std::optional<Date> ends;
  };
  struct CoveredNode {
    std::int64_t gpus = 0;
    std::vector<Share> shares;
  };
  std::vector<ReservedGpus> reserved_;
  std::map<GpuModelAndRegion, std::vector<CoveredNode>> nodes_;
};

}  // namespace pennyweight
