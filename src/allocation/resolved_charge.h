// ResolvedCharge: a charge with its target (node, pool or none), its component split and its time
// segments.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "allocation/components.h"
#include "allocation/fleet_index.h"
#include "core/gpu/cloud_resource.h"
#include "core/instant.h"
#include "ledger/charge.h"

namespace pennyweight {

// What a charge is for.
enum class TargetKind {
  kMachine,           // its resource is a node of the inventory
  kPool,              // its x_PoolId names a pool of nodes
  kUnusedCommitment,  // a commitment or reservation that nothing used
  kShared,            // none of these: support, network, storage, tax, a purchase
};

struct ResolvedCharge {
  const Charge* charge;
  TargetKind kind = TargetKind::kShared;
  std::vector<std::uint32_t> machines;     // kMachine: the node's facts that overlap the charge
  std::vector<std::uint32_t> node_groups;  // kPool
  NodeId node{""};                      // the node, where the resource is one (also when kShared)
  ComponentSplit split;                 // kMachine, kPool
  std::vector<std::uint32_t> segments;  // its period, cut, as indices of ResolvedCharges::segments
  std::vector<bool> carries_time;       // by segment: whether its postings carry the GPU time
  // kPool, by segment: machines whose time charges of their own carry; ascending.
  std::vector<std::vector<std::uint32_t>> told_elsewhere;
  // False: the charge is not posted in this run because it can't change. It is only here because
  // holders in a pool report their time once over all charges of a segment.
  bool is_posted = true;
};

struct ResolvedCharges {
  std::vector<ResolvedCharge> all;  // by charge id
  std::vector<Interval> segments;   // all that occur, by begin, then end
  std::uint64_t without_price = 0;  // under `residual`, charges of nodes without a known hourly
                                    // price
  std::map<std::string, std::uint64_t> without_rate;  // ComponentSplit::rate_missing, and how often
  std::uint64_t ambiguous = 0;    // charges whose resource matches several nodes, and so none
  std::string ambiguous_example;  // the first of those resources by name
};

// The local days that a run limited to `changed` must read: all that a charge whose period overlaps
// it lies on. Nothing outside of these days affects them. Absent where no charge overlaps.
std::optional<Interval> affected_days(std::span<const Charge> charges, const Interval& changed,
                                      const TimeZone& zone);

// Finds the target of each charge and cuts its period into segments by the policy's local days.
//
// A node may have several charges for the same hours: usage, a refund, a support fee. Its GPU time
// must be reported once, so at every instant it goes with the plain usage charge of the largest
// list cost; a segment that is only partly reported by another charge is cut there. A charge for a
// pool carries the time of those nodes that no charge of their own reports. With `changed`, charges
// whose period does not overlap it are not posted, and only their segments that a posted charge
// shares are kept.
ResolvedCharges resolve_charges(std::span<const Charge> charges, const Fleet& fleet,
                                const Policy& policy, const Catalog& catalog,
                                const std::optional<Interval>& changed,
                                std::span<const JoinRule> rules);

}  // namespace pennyweight
