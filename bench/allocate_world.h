// A made-up cluster for bench/allocate: nodes of eight H100, their bill, their jobs and what their
// devices were seen to do, all from a seed.
//
// Of twenty nodes fourteen run whole-GPU jobs (one to eight cards, one to sixteen hours), two are
// cut by MIG into four instances a card, three time-slice each card among four pods, and one
// stands idle. Telemetry is one sample a minute, as cards and instances report it, and on
// time-sliced cards for each pod; a device in fifty misses an hour of each day. Samples have whole
// thousandths, so that doubles can be held against integers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "allocate/allocate.h"
#include "allocate/seen.h"

namespace pennyweight::bench {

struct WorldOptions {
  std::uint64_t gpus = 1000;
  std::uint32_t days = 1;
  bool hourly = false;      // a bill line a node and hour; else a node and day
  bool whole_node = false;  // all of a node's price to its GPUs; else the residual split
  std::uint64_t seed = 1;
};

// What an ordinal of GPUs, MIG instances and workloads is called. Ordinals ascend as names do.
GpuId gpu_id(std::uint64_t gpu);
GpuId instance_id(std::uint64_t gpu, std::uint64_t instance);
WorkloadId workload_id(std::uint64_t holding);

enum class Mode { kWhole, kMig, kTimeSliced, kIdle };

// Something of which there is a series: a card, a MIG instance, or a place on a time-sliced card.
struct Place {
  std::uint64_t gpu;
  std::uint32_t part;  // of a card: its instance or place; 0 for a whole card
  Mode mode;
};

inline constexpr std::uint32_t kPlacesPerCard = 4;

class World {
 public:
  explicit World(const WorldOptions& options);

  Interval during() const;
  Interval day(std::uint32_t number) const;
  // One minute of one card, however many share it.
  std::uint64_t device_minutes() const { return options.gpus * 1440 * options.days; }
  std::uint64_t node_count() const { return nodes.size(); }
  Mode mode_of(std::uint64_t gpu) const;
  // REQUIRES: `during` within the world's days, and no longer than 49 of them.
  SeenUsage see(const Interval& during) const;

  WorldOptions options;
  std::vector<Node> nodes;
  std::vector<Gpu> gpus;
  std::vector<Charge> charges;  // by node, then time
  std::vector<Holding> holdings;
  // For each place, by gpu then part, its holdings in their order of time.
  std::vector<Place> places;
  std::vector<std::vector<std::uint32_t>> holders;
  Policy policy;

 private:
  void add_node(std::uint64_t node);
  void add_charges(std::uint64_t node);
  void add_jobs(std::uint64_t node, std::uint64_t cards);
  void add_sequence(std::span<const std::uint32_t> on, std::uint64_t key);
  SeenSeries series_of(std::uint32_t place, const Interval& during, const Interval& within) const;
  std::vector<GpuId> devices_of(std::span<const std::uint32_t> on) const;
};

}  // namespace pennyweight::bench
