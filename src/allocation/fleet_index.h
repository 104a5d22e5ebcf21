// Fleet: an index of the machines, GPUs and seats of one cluster, built once for a run.
//
// A machine is a node from one of its facts to the next, and a card is a GPU likewise. A seat is
// what a holder can have to itself: a whole GPU, or one MIG instance. A card with a MIG layout has
// one seat for each instance, one for what could still be cut from it, and a stranded rest that
// nobody can have.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "allocation/components.h"
#include "allocation/gpu_memory.h"
#include "core/card_share.h"
#include "core/instant.h"
#include "ledger/node.h"
#include "ledger/outage.h"

namespace pennyweight {

// Everything is counted on four axes: GPU compute and GPU memory in CardShare units, host CPU in
// thousandths, host memory in bytes. Over time, these are multiplied by milliseconds.
inline constexpr std::size_t kAxes = 4;
inline constexpr std::size_t kGpuAxes = 2;
enum Axis : std::size_t { kCompute, kMemory, kCpu, kHostMemory };
using AxisAmounts = std::array<UInt128, kAxes>;
using AxisUnits = std::array<std::uint64_t, kAxes>;
using GpuUnits = std::array<std::uint64_t, kGpuAxes>;

inline constexpr std::uint32_t kNoIndex = ~std::uint32_t{0};

// `share` of `units`, rounded down.
std::uint64_t scale_units(std::uint64_t units, CardShare share);

// The nodes of one pool with one GPU model: interchangeable for a holding in a pool.
struct NodeGroup {
  PoolId pool;
  std::string gpu_model;
  std::vector<std::uint32_t> nodes;
};

class Fleet {
 public:
  Fleet(std::span<const Node> nodes, std::span<const Gpu> gpus, std::span<const Outage> outages,
        const Catalog& catalog);

  struct Machine {
    const Node* node;
    NodeShape shape;
    std::uint64_t gpu_memory_bytes = 0;  // of one GPU; 0: unknown model
    std::uint32_t gpu_count = 0;         // as the node's fact says, but no fewer than the GPUs
                                         // observed at once
    std::optional<Interval> present;  // absent: it ended before it began, or was replaced at once
    std::uint32_t node_group = 0;
    std::vector<std::uint32_t> cards;  // present at some time, by UUID and begin
    std::vector<Interval> outages;     // of the node as a whole; may overlap

    // Of one of its GPUs: less than a whole one where the cloud sells a fraction.
    std::uint64_t card_units() const { return shape.card_share.units(); }
    AxisUnits capacity() const;
  };
  struct InstalledGpu {
    const Gpu* gpu;
    std::optional<Interval> present;
    GpuUnits units{};     // of the GPU as the machine has it
    GpuUnits stranded{};  // in no instance, and too small for another one
    bool is_cut = false;  // into a MIG layout that fits on it
    // Other names of its instances, and the instance: "GPU-1/gi7", "MIG-…".
    std::vector<std::pair<GpuId, GpuId>> aliases;
    std::uint32_t first_seat = 0;
    std::uint32_t seats = 0;
    std::vector<Interval> outages;
  };
  struct Seat {
    std::uint32_t card;
    GpuId id;  // the GPU's UUID, or an instance's
    GpuUnits units{};
    bool is_rest = false;  // what could still be cut from the GPU
  };

  const std::vector<Machine>& machines() const { return machines_; }
  const std::vector<InstalledGpu>& cards() const { return cards_; }
  const std::vector<Seat>& seats() const { return seats_; }
  const GpuMemory& gpu_memory() const { return gpu_memory_; }
  const std::vector<NodeGroup>& node_groups() const { return node_groups_; }
  std::span<const Seat> seats_of(const InstalledGpu& card) const;

  // The machines of a node name, by their begin, and the cards of a GPU UUID or MIG instance id.
  std::span<const std::uint32_t> machines_named(const NodeId& name) const;
  std::span<const std::uint32_t> cards_named(const GpuId& id) const;
  // The name that the card's seat has: its own, or the one that `id` is another name of.
  static const GpuId& seat_name(const InstalledGpu& card, const GpuId& id);
  // MIG layouts that do not fit on their GPU, or on a model without MIG: the problem, and the
  // number of GPUs. Such a GPU is one seat, shared by all who name it.
  const std::map<std::string, std::uint64_t>& problems() const { return problems_; }

 private:
  void add_machines(std::span<const Node> nodes, const Catalog& catalog);
  void add_cards(std::span<const Gpu> gpus);
  void add_seats(std::uint32_t card);
  void add_outages(std::span<const Outage> outages);
  // Raises gpu_count to the number of GPUs present at once.
  void count_cards(Machine& machine) const;

  GpuMemory gpu_memory_;
  std::vector<Machine> machines_;
  std::vector<InstalledGpu> cards_;
  std::vector<Seat> seats_;
  std::vector<NodeGroup> node_groups_;
  // For lookup only, never iterated; the keys belong to the facts.
  std::unordered_map<std::string_view, std::vector<std::uint32_t>> machines_by_name_;
  std::unordered_map<std::string, std::vector<std::uint32_t>> cards_by_id_;
  std::map<std::string, std::uint64_t> problems_;
};

}  // namespace pennyweight
