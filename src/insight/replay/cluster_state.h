// ClusterState: what is free on every machine at a moment of a replay.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "insight/replay/job.h"

namespace pennyweight::replay {

constexpr std::uint32_t kMilliPerGpu = 1000;
constexpr std::uint32_t kGpusPerMachineMax = 32;

// What one job holds on one machine.
struct Share {
  std::uint32_t machine;
  std::uint32_t gpu_mask = 0;   // bit i: GPU i of the machine
  std::uint32_t gpu_milli = 0;  // of each of these GPUs; kMilliPerGpu: all of it
  bool closes = false;          // nobody else gets onto the machine, not even with nothing to hold
  std::uint64_t cpu_milli = 0;
  std::uint64_t memory_mib = 0;
  bool operator==(const Share&) const = default;
};
using Shares = std::vector<Share>;

struct FreeMachine {
  std::uint64_t cpu_milli = 0;
  std::uint64_t memory_mib = 0;
  std::uint32_t whole_gpus = 0;  // GPUs that nobody holds anything of
  std::uint32_t gpu_milli = 0;   // over all GPUs
  std::uint16_t by_gpu[kGpusPerMachineMax] = {};
  bool is_closed = false;  // off, or taken back
};

// Whether a machine with this much free can take the request, and the GPUs that it would get.
bool fits(const FreeMachine& free, const Machine& machine, const Request& request);
// REQUIRES: no more comes back than was taken.
void give_back(FreeMachine& free, const Machine& machine, const Share& share);

class ClusterState {
 public:
  // REQUIRES: machines outlive it; each has at most kGpusPerMachineMax GPUs and a model below 64.
  explicit ClusterState(std::span<const Machine> machines);

  std::span<const Machine> machines() const { return machines_; }
  const FreeMachine& free_on(std::uint32_t machine) const { return free_[machine]; }
  std::uint64_t free_milli_gpus() const { return free_milli_; }
  std::uint64_t capacity_milli_gpus() const { return capacity_milli_; }
  std::uint32_t largest_machine() const { return largest_; }  // GPUs

  // Whether the machine alone can take the request now.
  bool fits(std::uint32_t machine, const Request& request) const {
    return replay::fits(free_[machine], machines_[machine], request);
  }
  // The GPUs that a request which fits would get: the lowest free ones, or for a fraction the GPU
  // with the least room that suffices. REQUIRES: fits(machine, request).
  Share share_on(std::uint32_t machine, const Request& request) const {
    return share_of(free_[machine], machine, request);
  }
  // The same on a machine with this much free. REQUIRES: the request fits there.
  Share share_of(const FreeMachine& free, std::uint32_t machine, const Request& request) const;

  bool is_free(const Share& share) const;
  void take(const Share& share);       // REQUIRES: it is free
  void give_back(const Share& share);  // REQUIRES: it was taken
  void clear();                        // everything is free
  // Whether jobs may start there; those on it go on.
  void set_closed(std::uint32_t machine, bool is_closed) { free_[machine].is_closed = is_closed; }
  // Whether nobody holds any GPU, CPU or memory of it.
  bool is_untouched(std::uint32_t machine) const;

 private:
  std::span<const Machine> machines_;
  std::vector<FreeMachine> all_;  // of an empty cluster
  std::vector<FreeMachine> free_;
  std::uint64_t capacity_milli_ = 0;
  std::uint64_t free_milli_ = 0;
  std::uint32_t largest_ = 0;
};

// Whether a machine's model is among those that the request allows.
bool allows_model(const Request& request, const Machine& machine);

}  // namespace pennyweight::replay
