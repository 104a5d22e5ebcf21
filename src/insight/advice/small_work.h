// Pools of nodes that only small work holds, so that fewer of them could hold all of it: with MIG,
// or with GPUs that are shared.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "allocation/policy/policy.h"
#include "core/gpu/gpu_model.h"
#include "core/money.h"
#include "insight/advice/fleet_hours.h"
#include "insight/advice/node_bill.h"
#include "insight/advice/proposal.h"
#include "insight/compare/collect_windows.h"
#include "insight/compare/fleet_view.h"

namespace pennyweight::advising {

struct SmallWorkPool {
  std::string pool;
  std::string instance_type;
  std::string region;
  const GpuModel* model = nullptr;
  std::uint64_t gpus_each = 0;       // of a node; all have as many
  std::vector<std::uint32_t> nodes;  // those that are held longest first
  std::map<std::uint32_t, HourFlags> held;
  std::map<std::string, std::uint64_t> peak;  // held at once, by what the holdings take of a GPU
  std::set<std::string> works;
  std::set<WorkloadId> workloads;

  std::string name() const;
  // What falls off the bill if only this many nodes are kept: in each hour those beyond.
  std::map<Currency, Money> saved_beyond(std::uint64_t kept, const FleetHours& hours,
                                         const NodeBill& bill) const;
};

// What a holding takes of a GPU of this model, by a name; nothing: it is no small work.
struct PlacedHolding {
  const Holding& holding;
  const GpuModel& model;
  std::uint64_t devices;  // on this node
  std::size_t nodes;      // that it holds
};
using TakenOf = std::function<std::optional<std::string>(const PlacedHolding&)>;

// Of nodes that are billed by the hour, and that nothing but such work ever held; two at least.
// `released`: hours in which nodes go anyway.
std::vector<SmallWorkPool> find_small_work_pools(const ClusterMonth& month, const FleetView& fleet,
                                                 const FleetHours& hours, const NodeBill& bill,
                                                 const std::map<std::uint32_t, HourFlags>& released,
                                                 const Policy& policy, const TakenOf& taken_of);

// The set of alternatives that layouts and sharing of the pool are.
std::string alternatives_of(const ClusterId& cluster, const SmallWorkPool& pool);
// Sets of alternatives for the work and the nodes of the pool, which can't be followed as well.
std::vector<std::string> conflicts_of(const ClusterId& cluster, const SmallWorkPool& pool,
                                      Currency currency);

}  // namespace pennyweight::advising
