// Placement: chooses the machines for a job.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/int128.h"
#include "insight/replay/cluster_state.h"
#include "insight/replay/job.h"
#include "insight/replay/machine_index.h"
#include "insight/replay/seeded_random.h"

namespace pennyweight::replay {

// A job that one machine can hold goes to one machine. A larger one takes empty machines whole, in
// their order, and what remains of it goes to one more machine.
enum class PlacementRule {
  kFirstFit,  // the first machine that has room
  kBestFit,   // the machine on which the least of CPU and GPU together remains
  kWorstFit,  // the machine on which the most remains
  kRandom,
  // The least dot product of what is free and what is asked for, CPU and GPU, in hundredths.
  kDotProduct,
  // Machines that hold jobs of this size and no other, then those that hold others too, then empty
  // ones, then those with others only (Gandiva's GPU clustering).
  kGpuClustering,
  // GPUs in use first, then free GPUs of machines in use, then idle machines.
  kGpuPacking,
  // Least growth of fragmentation: Weng et al., "Beware of Fragmentation", USENIX ATC 2023.
  kLeastFragmentation,
};
std::string_view to_text(PlacementRule rule);  // "first-fit" …
std::optional<PlacementRule> parse_placement_rule(std::string_view text);
std::string placement_rule_names();  // "first-fit, best-fit, …"

// A kind of request and how many jobs make it; what fragmentation is measured against.
struct RequestKind {
  Request request;
  std::uint64_t jobs;
};
// In order of first appearance; priorities, names and times don't matter.
struct RequestKinds {
  std::vector<RequestKind> kinds;
  std::vector<std::uint32_t> kind_of_job;
};
RequestKinds request_kinds(std::span<const Job> jobs);

// GPU thousandths of a machine that the kinds can't use, times jobs: for a kind that the machine
// can't host, and for one without GPU, everything that is free; else the GPUs with less free than
// the kind wants of one.
Int128 fragmentation(const FreeMachine& free, const Machine& machine,
                     std::span<const RequestKind> kinds);

class Placement {
 public:
  // REQUIRES: all arguments outlive it. `kinds` matters to kLeastFragmentation alone.
  // `same_rack`: what goes to several machines gets those of one rack, the first that has room.
  Placement(ClusterState& cluster, PlacementRule rule, std::span<const RequestKind> kinds,
            SeededRandom& random, bool same_rack = false);

  // What the job would get now; nothing if it doesn't fit.
  std::optional<Shares> find(const Request& request);
  // The same, and takes it.
  std::optional<Shares> place(const Request& request);
  bool is_free(const Shares& shares) const;
  void take(const Shares& shares);       // REQUIRES: they are free
  void give_back(const Shares& shares);  // REQUIRES: they were taken through this object
  void set_closed(std::uint32_t machine, bool is_closed);  // to jobs that start
  void clear();                                            // everything is free
  // GPUs of machines of which every GPU is free.
  std::uint64_t idle_gpus() const { return index_.idle_gpus(); }

 private:
  struct Choice {
    Share share;
    Int128 cost = 0;     // lower is better
    Int128 remains = 0;  // of the machine; among equal costs the tightest fit is taken
  };
  // What a machine's fragmentation is, and what a request kind would add; 0 version: not known.
  struct FragmentationMemo {
    std::uint64_t version = 0;
    Int128 growth = 0;
    std::uint32_t gpu_mask = 0;
  };

  std::optional<Share> choose(const Request& request);
  // Free CPU and GPU that the machine would keep, in millionths of the largest machine's.
  Int128 what_remains(std::uint32_t machine, const Request& request) const;
  Int128 cost_of(std::uint32_t machine, const Request& request) const;
  Choice least_fragmentation(std::uint32_t machine, const Request& request, std::size_t kind);
  std::optional<Shares> find_on_several(const Request& request);
  std::optional<Shares> find_in_rack(const Request& request,
                                     std::span<const std::uint32_t> rack) const;
  void take(const Share& share);

  ClusterState& cluster_;
  MachineIndex index_;
  PlacementRule rule_;
  std::span<const RequestKind> kinds_;
  SeededRandom& random_;
  std::vector<std::vector<std::uint32_t>> racks_;         // machines of each; empty: none matter
  std::vector<std::uint64_t> versions_;                   // of each machine's free resources
  std::vector<std::vector<FragmentationMemo>> memos_;     // [kind][machine]
  std::vector<std::vector<std::uint32_t>> held_by_size_;  // [machine][GPUs of a job]: jobs
  std::uint64_t cpu_max_ = 1;  // of a machine, for weights between CPU and GPU
  std::uint64_t gpu_max_ = 1;
};

}  // namespace pennyweight::replay
