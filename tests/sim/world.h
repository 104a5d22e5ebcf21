// World: a small fleet over a few days, with everything that happened on it, made from one seed.
//
// It contains both sides. The facts (nodes, GPUs, holdings, charges …) are the engine's input. The
// requests and the targets of charges are the truth: they are recorded while the world is made, and
// never derived from the facts by the code under test. The same seed gives the same world on every
// machine.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "allocation/policy/policy.h"
#include "allocation/pricing/catalog.h"
#include "ledger/charge.h"
#include "ledger/correction.h"
#include "ledger/holding.h"
#include "ledger/node.h"
#include "ledger/outage.h"
#include "ledger/usage.h"
#include "testing/generate/random.h"

namespace pennyweight::sim {

inline constexpr std::int64_t kHourMs = 3'600'000;

// GPU compute and memory in CardShare units, CPU in milli, host memory in bytes.
inline constexpr std::size_t kAxisCount = 4;
using Units = std::array<std::uint64_t, kAxisCount>;

// What a holder can have to itself: a GPU, or one MIG instance.
struct Seat {
  GpuId id;
  std::array<std::uint64_t, 2> units;  // compute, memory
};

// The truth about a Gpu fact: how the GPU is divided, and what of it nobody can use.
struct Card {
  std::array<std::uint64_t, 2> units;
  std::array<std::uint64_t, 2> stranded{};
  bool is_cut = false;     // then its last seat is what could still be cut
  bool is_watched = true;  // its compute is measured; false where the profiling is known to be
                           // wrong
  std::vector<Seat> seats;
};

inline constexpr std::size_t kAnywhere = ~std::size_t{0};

// What one holding truly requests of one seat or node, while both are there.
struct TrueRequest {
  std::size_t holding;  // of World::holdings
  std::size_t machine;  // of World::nodes
  std::size_t card;     // of World::gpus and World::cards; kAnywhere: on the node
  std::size_t seat;     // of the GPU
  Interval during;
  Units units;
};

// What a holding requests of a pool of nodes.
struct TruePoolRequest {
  std::size_t holding;
  std::vector<PoolId> pools;  // empty: anywhere in the cluster
  Units units;
};

// What a charge is truly for.
enum class Target { kNode, kPool, kUnused, kShared };

struct BillLine {
  Charge charge;
  Target target;
  ClusterId cluster;   // empty: none
  NodeId node;         // kNode, and fees that name a node
  std::uint32_t file;  // of the bill; charges for the same thing come in one file
};

// What a device truly reported, or a workload's own values on it, at an instant of true time.
// Unmeasured values are absent; a sample without any value does not exist.
struct Sampled {
  GpuId device;  // as Seat::id
  WorkloadId workload;
  Instant at;
  std::optional<std::uint64_t> compute, memory;  // in units of the device
};

struct World {
  std::uint64_t seed = 0;
  Interval days;  // when things happen: whole UTC days
  std::string month;
  std::vector<ClusterId> clusters;
  std::vector<Node> nodes;
  std::vector<Gpu> gpus;
  std::vector<Card> cards;        // of `gpus`
  std::vector<Holding> holdings;  // as they ended, or as last read
  std::vector<Outage> outages;
  std::vector<Usage> usages;
  std::vector<Correction> corrections;
  std::vector<BillLine> bill;
  std::vector<TrueRequest> requests;
  std::vector<TruePoolRequest> pool_requests;
  // Nodes whose jobs are placed on GPUs by telemetry alone. The oracle does not follow them there.
  std::vector<NodeId> loose_nodes;
  std::vector<Sampled> samples;  // the truth behind `usages`
  Policy policy;

  const Catalog& catalog() const { return Catalog::built_in(); }
  // When the fact at this index holds: until its end, or until the next fact of that name.
  std::optional<Interval> presence_of_node(std::size_t index) const;
  std::optional<Interval> presence_of_gpu(std::size_t index) const;
  bool has_pool_holders(const ClusterId& cluster) const;
  // The units of one of the node's GPUs, and of all that it has.
  std::uint64_t card_units(const Node& node) const;
};

World make_world(std::uint64_t seed);

// The steps of make_world(), each in a file of its own.
void add_bill(World& world);
void add_telemetry(World& world);
Policy any_policy(Random& random);

}  // namespace pennyweight::sim
