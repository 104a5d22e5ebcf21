// Demand: what a holding requests and where, in terms of the fleet index.
//
// Demands are resolved once for a run, so that each segment only has to cut them to its time.
// Devices of a shared claim (DRA) are divided here among the holdings that share it at each moment.
// Fractions of a reserved GPU (KAI, Run:ai) are placed on the GPU that their reservation pod holds;
// the reservation itself requests nothing.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "allocation/fleet_index.h"
#include "core/quantity.h"
#include "ledger/holding.h"

namespace pennyweight {

struct Demand {
  std::uint32_t holding;
  enum class Level { kSeat, kMachine, kPool } level;
  std::uint32_t target;   // a seat, a machine, or an index of selectors
  std::uint32_t machine;  // kSeat: the machine of its GPU
  Interval during;        // the holding's time, within the target's presence
  AxisUnits units{};
  // kMachine, kPool: how many devices `units` are for; 0: none that telemetry may place.
  std::uint32_t devices = 1;
  std::uint64_t gpu_memory_bytes = 0;  // of one GPU of the target; 0: unknown
};

// Any of these node groups, ascending.
using Selector = std::vector<std::uint32_t>;

// What holdings had of GPUs, or of MIG instances, while no fact has these (missing_times.h).
struct MissingGpus {
  std::uint64_t holdings = 0;
  GpuTime time;
  std::string example;  // the first by its text
};

struct Demands {
  std::vector<Demand> all;                        // by holding
  std::vector<Selector> selectors;                // those with fewer node groups first
  std::map<std::string, std::uint64_t> problems;  // holdings that could not be placed: why, and how
                                                  // many
  MissingGpus missing_gpus;
  MissingGpus missing_instances;
};

// `Demand::holding` is an index into `holdings`.
Demands resolve_demands(std::span<const Holding* const> holdings, const Fleet& fleet,
                        unsigned threads);

}  // namespace pennyweight
