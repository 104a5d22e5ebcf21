// MachineIndex: finds the machine for a request without looking at every machine.
//
// Machines lie in classes by the most that a request for GPUs could get of them: those without a
// free GPU by the largest free part of one, the others by their free GPUs. A request needs a least
// class, so that full machines are never visited.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "core/int128.h"
#include "insight/replay/cluster_state.h"
#include "insight/replay/job.h"

namespace pennyweight::replay {

// The order in which machines that fit are preferred; among equals, that which was given first.
enum class MachineOrder { kAsGiven, kLeastFree, kMostFree };

class MachineIndex {
 public:
  // REQUIRES: cluster outlives it, and update() follows each change of a machine.
  MachineIndex(const ClusterState& cluster, MachineOrder order);

  void update(std::uint32_t machine);
  void update_changed();  // after ClusterState::clear()

  // False: no machine can hold the request. True: one may, if CPU and memory suffice as well.
  bool may_fit(const Request& request) const;
  // The machine that comes first among those that can hold it.
  std::optional<std::uint32_t> first(const Request& request) const;
  // GPUs of machines of which every GPU is free.
  std::uint64_t idle_gpus() const { return idle_gpus_; }

 private:
  // Parts in tenths of a GPU, then 1 to kGpusPerMachineMax GPUs.
  static constexpr std::size_t kPartClasses = 10;
  static constexpr std::size_t kClasses = kPartClasses + kGpusPerMachineMax;
  struct Key {
    Int128 free;  // by the order
    std::uint32_t machine;
    auto operator<=>(const Key&) const = default;
  };
  struct Model {
    std::uint64_t classes = 0;  // bit i: class i has machines
    std::array<std::set<Key>, kClasses> machines;
  };
  struct Position {
    Key key;
    std::size_t at_class;
    bool is_idle;
  };

  Position position_of(std::uint32_t machine) const;
  std::size_t model_of(std::uint32_t machine) const { return cluster_.machines()[machine].model; }
  static std::size_t least_class(const Request& request);

  const ClusterState& cluster_;
  MachineOrder order_;
  Int128 cpu_max_ = 1;  // of a machine, for weights between CPU and GPU
  Int128 gpu_max_ = 1;
  std::uint64_t idle_gpus_ = 0;
  std::vector<Model> models_;
  std::vector<Position> positions_;     // of each machine
  std::vector<std::uint32_t> changed_;  // since the cluster was empty
  std::vector<bool> is_changed_;
};

}  // namespace pennyweight::replay
