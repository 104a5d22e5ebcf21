// Line: a charge on its way through a run: what it is for, over which stretches, divided how.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "allocate/components.h"
#include "allocate/fleet_index.h"
#include "core/instant.h"
#include "fleet/cloud_resource.h"
#include "ledger/charge.h"

namespace pennyweight {

// What a charge is for.
enum class TargetKind {
  kMachine,  // its resource is a node of the inventory
  kPool,     // its x_PoolId names a pool of nodes
  kIdle,     // a commitment or reservation that nothing used: capacity that nobody held
  kShared,   // none of these: support, network, storage, tax, a purchase
};

struct Line {
  const Charge* charge;
  TargetKind kind = TargetKind::kShared;
  std::vector<std::uint32_t> machines;   // kMachine: the node's facts that overlap the charge
  std::vector<std::uint32_t> leaves;     // kPool
  NodeId node{""};                       // the node, where the resource is one (also when kShared)
  ComponentSplit split;                  // kMachine, kPool
  std::vector<std::uint32_t> stretches;  // indices of Lines::stretches: its period, cut by day
  std::vector<bool> carries_time;        // for each stretch: its postings carry the GPU time
  // Not posted: it can't change, and is there since holders in a pool are told their time once over
  // all lines of a stretch.
  bool is_posted = true;
};

struct Lines {
  std::vector<Line> all;            // by charge id
  std::vector<Interval> stretches;  // all that occur, by begin, then end
  std::uint64_t without_price = 0;  // residual was asked for and no hourly price was known
  std::uint64_t ambiguous = 0;      // their resource fits several nodes, and they got none
  std::string ambiguous_example;    // the first of those resources by name
};

// What a run over the changed time has to look at: the local days on which a charge lies whose
// period overlaps it. What is said of these days depends on nothing before or after them. Nothing
// where no charge does.
std::optional<Interval> reach_of(std::span<const Charge> charges, const Interval& changed,
                                 const TimeZone& zone);

// Finds each charge's target and cuts its period by the policy's days.
//
// A node may have several lines for the same hours (usage, a refund, a support fee). Its GPU time
// must be told once: by the plain usage line with the largest list cost that covers the stretch.
// With `changed`, charges whose period does not overlap it are not posted, and of their stretches
// only those are kept that a posted one has too.
Lines lines_of(std::span<const Charge> charges, const Fleet& fleet, const Policy& policy,
               const Catalog& catalog, const std::optional<Interval>& changed,
               std::span<const JoinRule> rules);

}  // namespace pennyweight
