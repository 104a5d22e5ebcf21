// ActivityProfile: what telemetry saw a piece of work do with the GPUs that it held, and when it
// did nothing with them.
//
// Runs of one piece of work are put together: those of one user with one job name, or the pods of
// one app. All counts are whole numbers of milliseconds in bins of a tenth of a percent and of 64
// MiB, so profiles merge exactly and in any order, and a quantile is the upper end of its bin.
//
// Only GPUs that one holding had for itself are looked at: with several on one GPU the device's
// values are nobody's own. Samples beyond their scale (over 100 %, more memory used than there is)
// are left out and counted, and so is the time that no sample covers.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "allocation/policy/policy.h"
#include "core/gpu/gpu_model.h"
#include "insight/advice/fleet_hours.h"
#include "insight/compare/collect_windows.h"
#include "insight/compare/fleet_view.h"
#include "ledger/usage.h"

namespace pennyweight::advising {

// What is measured, from what says most to what says least. GPU_UTIL says only that some kernel
// ran.
enum class ActivityMetric { kSmActive, kEngineActive, kGpuUtil };
std::string_view to_text(ActivityMetric metric);  // "SM_ACTIVE", "GR_ENGINE_ACTIVE", "GPU_UTIL"

class FlatBins;

// Milliseconds by the upper end of a bin.
class TimeBins {
 public:
  explicit TimeBins(std::uint64_t width) : width_(width) {}
  void add(std::uint64_t value, std::uint64_t ms);
  void merge(const TimeBins& other);
  std::uint64_t width() const { return width_; }
  std::uint64_t total_ms() const { return total_ms_; }
  std::uint64_t peak() const { return peak_; }  // exact
  // The mean, rounded down. REQUIRES: total_ms() > 0.
  std::uint64_t mean() const;
  // The smallest bin end that at least per_mille of the time did not exceed. REQUIRES: the same.
  std::uint64_t quantile(std::uint32_t per_mille) const;
  bool operator==(const TimeBins&) const = default;

 private:
  friend class FlatBins;  // activity_profile.cc
  std::uint64_t width_;
  std::map<std::uint64_t, std::uint64_t> bins_;
  UInt128 sum_ = 0;  // of value times ms
  std::uint64_t total_ms_ = 0;
  std::uint64_t peak_ = 0;
};

inline constexpr std::uint64_t kActivityBinPpm = 1000;
inline constexpr std::uint64_t kMemoryBinBytes = 64ull << 20;
// Held without any activity for so long, a GPU is idle; before that it may be between two steps.
inline constexpr std::uint64_t kIdleAfterMs = 60ull * 60 * 1000;

struct ActivityProfile {
  std::string work;  // "ann/train", "ml/api", or the workload
  Labels owner;
  std::string gpu_model;      // as its GPUs are known in the tables; empty: unknown
  std::string instance_type;  // of the first node by order of its samples; may be empty
  std::string region;
  std::set<WorkloadId> runs;
  std::set<std::int64_t> days;    // since 1970, on which it was observed
  std::uint64_t held_ms = 0;      // of whole GPUs, each counted
  std::uint64_t observed_ms = 0;  // with a sample of activity
  std::uint64_t idle_ms = 0;      // beyond the first hour of each idle stretch
  std::uint64_t longest_idle_ms = 0;
  std::uint64_t impossible = 0;  // samples left out
  std::array<TimeBins, 3> activity = {TimeBins(kActivityBinPpm), TimeBins(kActivityBinPpm),
                                      TimeBins(kActivityBinPpm)};  // by ActivityMetric
  TimeBins dram = TimeBins(kActivityBinPpm);
  TimeBins memory = TimeBins(kMemoryBinBytes);

  // The one that says most, of those that cover nine tenths of what any covers; nothing without
  // samples.
  std::optional<ActivityMetric> metric() const;
  void merge(const ActivityProfile& other);
};

struct IdleStretch {
  std::uint32_t holding;
  std::uint32_t node;
  GpuId gpu;
  Interval idle;  // without its first hour
  std::uint64_t whole_ms;
};

class ActivityProfiles {
 public:
  using OwnerOf = std::function<Labels(const Holding&)>;

  // REQUIRES: the arguments outlive it.
  ActivityProfiles(const ClusterMonth& month, const FleetView& fleet, const UsageRules& rules,
                   const Interval& period, const OwnerOf& owner_of);

  // All samples of one GPU, or of several, in the order of Store::scan_usage().
  void add(std::span<const Usage> usages);

  // Adds the time of runs that no sample has seen. Call it once, after the last add().
  void complete();

  // By work and GPU model.
  const std::map<std::pair<std::string, std::string>, ActivityProfile>& profiles() const {
    return profiles_;
  }
  const std::vector<IdleStretch>& idle() const { return idle_; }
  const Labels& owner_of(std::uint32_t holding) const { return owners_[holding]; }
  // What all holdings of the work have in common: a dimension in which they differ has no owner.
  const Labels& owner_of_work(const std::string& work) const { return owner_of_work_.at(work); }
  // GPU time of whole GPUs, and how much of it has samples of activity.
  std::uint64_t held_ms(std::uint32_t holding) const;
  std::uint64_t observed_ms(std::uint32_t holding) const;
  // What the GPUs of services did in each hour of the period, from its first whole hour of UTC on,
  // by work whose name says that it is one. SM or engine activity, all its GPUs together.
  struct ServedHour {
    UInt128 ppm_ms = 0;    // activity times time
    std::uint64_t ms = 0;  // with a sample of it
  };
  const std::map<std::string, std::vector<ServedHour>>& served() const { return served_; }
  std::uint64_t samples() const { return samples_; }
  std::uint64_t impossible() const { return impossible_; }

 private:
  struct HoldingPeriod {
    Interval held;
    std::uint32_t holding;
  };

  void add_gpu(std::span<const Usage> usages);
  ActivityProfile& profile_of(std::uint32_t holding, std::uint32_t node);
  void add_served(std::uint32_t holding, const Interval& during, std::uint64_t ppm);
  void end_idle(std::uint32_t holding, std::uint32_t node, const GpuId& gpu, Instant begin,
                Instant end);

  const ClusterMonth& month_;
  const FleetView& fleet_;
  const UsageRules& rules_;
  Interval period_;
  std::vector<Labels> owners_;  // by holding
  std::map<std::string, Labels> owner_of_work_;
  std::vector<std::string> works_;  // by holding
  std::map<GpuId, std::vector<HoldingPeriod>> of_gpu_;
  std::map<std::uint32_t, std::vector<HoldingPeriod>> of_node_;  // that hold all GPUs of the node
  std::map<std::uint32_t, std::uint64_t> observed_;              // by holding
  std::map<std::pair<std::string, std::string>, ActivityProfile> profiles_;
  std::vector<IdleStretch> idle_;
  std::map<std::string, std::vector<ServedHour>> served_;
  std::vector<std::vector<ServedHour>*> served_by_;  // by holding; null: no service
  std::uint64_t samples_ = 0;
  std::uint64_t impossible_ = 0;
};

// The piece of work that a holding is a run of.
std::string work_of(const Holding& holding);

}  // namespace pennyweight::advising
