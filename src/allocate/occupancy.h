// Occupancy: over a stretch of time, who held what of a cluster, and what nobody held.
//
// Holdings reach the fleet on three levels, each taking from what the one before left over:
//   card   a holding names a GPU or a MIG instance;
//   node   it names a number of devices on a node;
//   pool   it names a number of devices somewhere in a pool of nodes. Pools that are narrower come
//          first; a holder in a pool has a part of every free device of the pool, in proportion.
// On each level claims are scaled down only where together they ask for more than there is.
//
// Everything is counted on four axes: GPU compute and GPU memory (in CardShare units), the host's
// CPU (milli) and memory (bytes), times milliseconds.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "allocate/components.h"
#include "core/card_share.h"
#include "core/instant.h"
#include "core/quantity.h"
#include "core/split.h"
#include "ledger/holding.h"
#include "ledger/node.h"

namespace pennyweight {

inline constexpr std::size_t kAxes = 4;
enum Axis : std::size_t { kCompute, kMemory, kCpu, kHostMemory };
using AxisAmounts = std::array<UInt128, kAxes>;

// Nodes of one pool with one GPU model: interchangeable as far as a holding in a pool can tell.
struct Leaf {
  PoolId pool;
  std::string gpu_model;
  std::vector<std::uint32_t> nodes;
};

// The fleet of one cluster, indexed once. A node that changed (two facts of one name) stands there
// once for each of its facts.
class Fleet {
 public:
  Fleet(std::span<const Node> nodes, std::span<const Gpu> gpus, const Catalog& catalog);

  struct Machine {
    const Node* node;
    NodeShape shape;
    std::uint64_t gpu_memory_bytes = 0;  // of one GPU; 0: the model is not known
    std::optional<Interval> present;  // nothing: it ended before it began, or was replaced at once
    std::uint32_t leaf = 0;
  };
  struct Card {
    const Gpu* gpu;
    std::optional<Interval> present;
  };

  const std::vector<Machine>& machines() const { return machines_; }
  const std::vector<Card>& cards() const { return cards_; }
  const std::vector<Leaf>& leaves() const { return leaves_; }

  // Machines of a node's name, by their begin; and cards of a GPU UUID or MIG instance id.
  std::span<const std::uint32_t> machines_named(const NodeId& name) const;
  std::span<const std::uint32_t> cards_named(const GpuId& id) const;

 private:
  std::vector<Machine> machines_;
  std::vector<Card> cards_;
  std::vector<Leaf> leaves_;
  std::map<NodeId, std::vector<std::uint32_t>> machines_by_name_;
  std::map<GpuId, std::vector<std::uint32_t>> cards_by_id_;
};

inline constexpr std::uint32_t kNone = ~std::uint32_t{0};

// A holder's part of one machine or one card.
struct HeldPart {
  std::uint32_t holding;
  std::uint32_t card = kNone;  // an index of Fleet::cards where the holding named one
  Interval during;             // within the stretch
  AxisAmounts given{};
  GpuTime gpu_time;  // as asked for, before any scaling
  MemoryTime memory_time;
};

struct MachineOccupancy {
  AxisAmounts capacity{};
  AxisAmounts residual{};  // left to the pool
  std::vector<HeldPart> parts;
};

// A holder's part of what a leaf's machines left to the pool.
struct PoolPart {
  std::uint32_t holding;
  Interval during;
  AxisAmounts given{};
};

struct LeafOccupancy {
  AxisAmounts capacity{};
  AxisAmounts residual{};       // what its machines left to the pool
  std::vector<PoolPart> parts;  // by holding; on no axis more than `residual` in all
};

struct Occupancy {
  Interval stretch;
  std::vector<MachineOccupancy> machines;          // as Fleet::machines
  std::vector<LeafOccupancy> leaves;               // as Fleet::leaves
  std::map<std::uint32_t, GpuTime> pool_gpu_time;  // by holding, as asked for
  std::map<std::uint32_t, MemoryTime> pool_memory_time;
};

// What a holding asks for and where, resolved against the fleet once, so that each stretch only has
// to cut it.
struct Demand {
  std::uint32_t holding;
  enum class Level { kCard, kMachine, kPool } level;
  std::uint32_t target;  // a card, a machine, or an index of selectors
  Interval during;       // the holding's, within the target's presence
  std::array<std::uint64_t, kAxes> units{};
  std::uint64_t gpu_memory_bytes = 0;  // of one card of the target; 0: not known
};

// Any of these leaves, ascending.
using Selector = std::vector<std::uint32_t>;

struct Demands {
  std::vector<Demand> all;                        // by holding
  std::vector<Selector> selectors;                // narrower first
  std::map<std::string, std::uint64_t> problems;  // what could not be placed, with its count
};

// `Demand::holding` is an index of `holdings`.
Demands resolve(std::span<const Holding* const> holdings, const Fleet& fleet);

// REQUIRES: `active` are the demands that overlap the stretch, in their order.
Occupancy occupancy_of(const Interval& stretch, const Fleet& fleet,
                       std::span<const Selector> selectors, std::span<const Demand* const> active);

}  // namespace pennyweight
