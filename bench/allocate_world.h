// A generated cluster for bench/allocate: nodes of eight H100, their bill, their jobs and the usage
// of their devices, all from a seed.
//
// Of twenty nodes fourteen run whole-GPU jobs (one to eight GPUs, one to sixteen hours), two have
// four MIG instances on each GPU, three time-slice each GPU among four pods, and one is idle.
// Telemetry is one sample a minute for each GPU or instance, and on time-sliced GPUs for each pod;
// one device in fifty misses an hour of each day. Samples are whole thousandths, so that doubles
// can be compared with integers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "allocation/allocate.h"
#include "allocation/utilization.h"

namespace pennyweight::bench {

struct WorldOptions {
  std::uint64_t gpus = 1000;
  std::uint32_t days = 1;
  bool hourly = false;      // one charge for a node and hour; otherwise for a node and day
  bool whole_node = false;  // all of a node's price to its GPUs; else the residual split
  std::uint64_t seed = 1;
};

// The names of GPUs, MIG instances and workloads by ordinal. Ordinals sort as the names do.
GpuId gpu_id(std::uint64_t gpu);
GpuId instance_id(std::uint64_t gpu, std::uint64_t instance);
WorkloadId workload_id(std::uint64_t holding);

enum class Mode { kWhole, kMig, kTimeSliced, kIdle };

// Something that has a series: a GPU, a MIG instance, or a place on a time-sliced GPU.
struct SampledDevice {
  std::uint64_t gpu;
  std::uint32_t part;  // its instance or place on the GPU; 0 for a whole GPU
  Mode mode;
};

inline constexpr std::uint32_t kPlacesPerCard = 4;

class World {
 public:
  explicit World(const WorldOptions& options);

  Interval during() const;
  Interval day(std::uint32_t number) const;
  // One minute of one GPU, however many share it.
  std::uint64_t device_minutes() const { return options.gpus * 1440 * options.days; }
  std::uint64_t node_count() const { return nodes.size(); }
  Mode mode_of(std::uint64_t gpu) const;
  // REQUIRES: `during` within the world's days, and no longer than 49 of them.
  ObservedUtilization observe(const Interval& during) const;

  WorldOptions options;
  std::vector<Node> nodes;
  std::vector<Gpu> gpus;
  std::vector<Charge> charges;  // by node, then time
  std::vector<Holding> holdings;
  // By place (gpu, then part), its holdings in the order of time.
  std::vector<SampledDevice> places;
  std::vector<std::vector<std::uint32_t>> holders;
  Policy policy;

 private:
  void add_node(std::uint64_t node);
  void add_charges(std::uint64_t node);
  void add_jobs(std::uint64_t node, std::uint64_t cards);
  void add_sequence(std::span<const std::uint32_t> on, std::uint64_t key);
  UtilizationSeries series_of(std::uint32_t place, const Interval& during,
                              const Interval& within) const;
  std::vector<GpuId> devices_of(std::span<const std::uint32_t> on) const;
};

}  // namespace pennyweight::bench
