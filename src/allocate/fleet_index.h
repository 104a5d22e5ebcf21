// Fleet: the machines, cards and seats of one cluster, indexed once for a run.
//
// A machine is a node from one of its facts to the next; a card likewise. A seat is what a holder
// can have to itself: a whole card, or one MIG instance of it. A card that is cut has one seat for
// each instance, one for what could still be cut from it, and a stranded rest that nobody can have.
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

#include "allocate/components.h"
#include "core/card_share.h"
#include "core/instant.h"
#include "ledger/node.h"
#include "ledger/outage.h"

namespace pennyweight {

// Everything is counted on four axes: GPU compute and GPU memory (in CardShare units), the host's
// CPU (milli) and memory (bytes); over time, times milliseconds.
inline constexpr std::size_t kAxes = 4;
inline constexpr std::size_t kGpuAxes = 2;
enum Axis : std::size_t { kCompute, kMemory, kCpu, kHostMemory };
using AxisAmounts = std::array<UInt128, kAxes>;
using AxisUnits = std::array<std::uint64_t, kAxes>;
using GpuUnits = std::array<std::uint64_t, kGpuAxes>;

inline constexpr std::uint32_t kNone = ~std::uint32_t{0};

// Nodes of one pool with one GPU model: interchangeable as far as a holding in a pool can tell.
struct Leaf {
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
    std::uint64_t gpu_memory_bytes = 0;  // of one GPU; 0: the model is not known
    std::uint32_t gpu_count = 0;         // as its fact says, and no fewer than its cards
    std::optional<Interval> present;  // nothing: it ended before it began, or was replaced at once
    std::uint32_t leaf = 0;
    std::vector<std::uint32_t> cards;  // that it has at some time, by UUID and begin
    std::vector<Interval> outages;     // of the node as a whole; may overlap

    // Of one of its GPUs: less than a card where the cloud sells a part of one.
    std::uint64_t card_units() const { return shape.card_part.units(); }
    AxisUnits capacity() const;
  };
  struct Card {
    const Gpu* gpu;
    std::optional<Interval> present;
    GpuUnits units{};     // of the card as the machine has it
    GpuUnits stranded{};  // in no instance, and no further instance fits
    bool is_cut = false;  // into MIG instances that fit on it
    std::uint32_t first_seat = 0;
    std::uint32_t seats = 0;
    std::vector<Interval> outages;
  };
  struct Seat {
    std::uint32_t card;
    GpuId id;  // the card's UUID, or an instance's
    GpuUnits units{};
    bool is_rest = false;  // what could still be cut from a card
  };

  const std::vector<Machine>& machines() const { return machines_; }
  const std::vector<Card>& cards() const { return cards_; }
  const std::vector<Seat>& seats() const { return seats_; }
  const std::vector<Leaf>& leaves() const { return leaves_; }
  std::span<const Seat> seats_of(const Card& card) const;

  // Machines of a node's name, by their begin; and cards of a GPU UUID or MIG instance id.
  std::span<const std::uint32_t> machines_named(const NodeId& name) const;
  std::span<const std::uint32_t> cards_named(const GpuId& id) const;
  // Where the whole of a MIG layout does not fit on its card, or is of a model that has none: what
  // is wrong, in words, with how many cards. Such a card is one seat, shared by whoever names it.
  const std::map<std::string, std::uint64_t>& problems() const { return problems_; }

 private:
  void add_machines(std::span<const Node> nodes, const Catalog& catalog);
  void add_cards(std::span<const Gpu> gpus);
  void add_seats(std::uint32_t card);
  void add_outages(std::span<const Outage> outages);
  // Raises the count of GPUs to that of the cards it has at once.
  void count_cards(Machine& machine) const;

  std::vector<Machine> machines_;
  std::vector<Card> cards_;
  std::vector<Seat> seats_;
  std::vector<Leaf> leaves_;
  // Only looked into, never gone through; the names are those of the facts.
  std::unordered_map<std::string_view, std::vector<std::uint32_t>> machines_by_name_;
  std::unordered_map<std::string_view, std::vector<std::uint32_t>> cards_by_id_;
  std::map<std::string, std::uint64_t> problems_;
};

}  // namespace pennyweight
