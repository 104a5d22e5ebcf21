// ActivityProfile: what telemetry saw a piece of work do with the GPUs that it held, and when it
// did nothing with them.
//
// Runs of one piece of work are put together: those of one user with one job name, or the pods of
// one app. All counts are whole numbers of milliseconds in bins of a tenth of a percent and of 64
// MiB, so profiles merge exactly and in any order, and a quantile is the upper end of its bin.
//
// Samples are taken in windows of time, so that memory holds those of one window only, however long
// the period and however they are ordered in the store. A device keeps what reaches over a window's
// end: its holder, an idle stretch, and the last sample, whose end is known with the next one.
//
// Only GPUs that one holding had for itself are looked at: with several on one GPU the device's
// values are nobody's own. Samples beyond their scale (over 100 %, more memory used than there is)
// are left out and counted, and so is the time that no sample covers.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "allocation/policy/policy.h"
#include "core/gpu/gpu_model.h"
#include "core/hash.h"
#include "insight/advice/fleet_hours.h"
#include "insight/advice/time_bins.h"
#include "insight/compare/collect_windows.h"
#include "insight/compare/fleet_view.h"
#include "ledger/activity_scan.h"
#include "ledger/usage.h"

namespace pennyweight::advising {

// What is measured, from what says most to what says least. GPU_UTIL says only that some kernel
// ran.
enum class ActivityMetric { kSmActive, kEngineActive, kGpuUtil };
std::string_view to_text(ActivityMetric metric);  // "SM_ACTIVE", "GR_ENGINE_ACTIVE", "GPU_UTIL"

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

// What the GPUs of a service did in an hour: SM or engine activity, all its GPUs together.
struct ServedHour {
  UInt128 ppm_ms = 0;    // activity times time
  std::uint64_t ms = 0;  // with a sample of it
};

// Everything that ActivityProfiles has counted up to an instant; to go on from there another time.
struct ActivityState;
Instant end_of(const ActivityState& state);  // the `until` of ActivityProfiles::state()

class ActivityProfiles {
 public:
  using OwnerOf = std::function<Labels(const Holding&)>;
  using ServedHour = advising::ServedHour;

  // REQUIRES: the arguments outlive it.
  ActivityProfiles(const ClusterMonth& month, const FleetView& fleet, const UsageRules& rules,
                   const Interval& period, const OwnerOf& owner_of);
  ~ActivityProfiles();

  // Samples come in windows of time, one after the other: begin_window(), add() in any order, then
  // end_window(), or drop_window() to send the window's samples again. What comes of them does not
  // depend on where windows end. `series` are those of the window so far.
  void begin_window();
  void add(std::span<const ActivitySeries> series, std::span<const ActivitySample> samples);
  void end_window();
  void drop_window();
  std::size_t window_samples() const { return window_samples_; }

  // One window with all of these.
  void add(std::span<const Usage> usages);

  // What was counted of the samples before `until`, at which a window has just ended.
  std::shared_ptr<const ActivityState> state(Instant until) const;
  // Goes on from a state; its time is then not to be added again. False, and nothing is changed,
  // where the facts that it was counted with are not those that are here. REQUIRES: nothing was
  // added before.
  bool resume(const ActivityState& state);

  // Adds the time of runs that no sample has seen. Call it once, after the last window.
  void complete();

  // The following REQUIRE complete().

  // By work and GPU model.
  const std::map<std::pair<std::string, std::string>, ActivityProfile>& profiles() const {
    return profiles_;
  }
  const std::vector<IdleStretch>& idle() const;
  const Labels& owner_of(std::uint32_t holding) const { return owners_[holding]; }
  // What all holdings of the work have in common: a dimension in which they differ has no owner.
  const Labels& owner_of_work(const std::string& work) const { return owner_of_work_.at(work); }
  // GPU time of whole GPUs, and how much of it has samples of activity.
  std::uint64_t held_ms(std::uint32_t holding) const;
  std::uint64_t observed_ms(std::uint32_t holding) const;
  // What the GPUs of services did in each hour of the period, from its first whole hour of UTC on,
  // by work whose name says that it is one.
  const std::map<std::string, std::vector<ServedHour>>& served() const;
  std::uint64_t samples() const;
  std::uint64_t impossible() const;

 private:
  struct HoldingPeriod {
    Interval held;
    std::uint32_t holding;
  };
  // Holdings of a GPU or of a node, by begin.
  class HoldingPeriods {
   public:
    void add(const HoldingPeriod& period) { periods_.push_back(period); }
    void sort();
    // Those that contain `at`, and others, in the order of the holdings.
    std::span<const HoldingPeriod> around(Instant at) const;
    // The first instant after `at` at which one of them begins or ends.
    Instant change_after(Instant at) const;

   private:
    std::vector<HoldingPeriod> periods_;
    std::vector<Instant> ends_;      // sorted
    std::vector<Instant> ended_by_;  // of the periods up to each one, the last end
  };

  void run_device(std::uint32_t device, std::size_t ready);
  std::optional<std::uint32_t> holder_of(std::uint32_t device, const ActivitySample& sample) const;
  Instant change_after(std::uint32_t device, Instant at) const;
  std::uint32_t tally_of(std::uint32_t holding, std::uint32_t device);
  std::string describe_node(std::uint32_t node) const;
  void add_served(std::uint32_t holding, const Interval& during, std::uint64_t ppm);
  void end_idle(std::uint32_t device);
  std::uint32_t track_of(const ActivitySeries& series);
  Hash128 facts_until(Instant until, std::vector<std::uint32_t>& holdings) const;

  const ClusterMonth& month_;
  const FleetView& fleet_;
  const UsageRules& rules_;
  Interval period_;
  std::vector<Labels> owners_;  // by holding
  std::map<std::string, Labels> owner_of_work_;
  std::vector<std::string> works_;  // by holding
  std::vector<bool> is_service_;    // by holding
  std::map<GpuId, HoldingPeriods> of_gpu_;
  std::map<std::uint32_t, HoldingPeriods> of_node_;  // of holdings that name the node
  std::unique_ptr<ActivityState> state_;
  std::vector<std::uint32_t> track_of_series_;  // of the window
  std::size_t window_samples_ = 0;
  std::uint64_t window_impossible_ = 0;
  // Of the device at hand.
  std::array<FlatBins, 3> activity_bins_ = {FlatBins(kActivityBinPpm), FlatBins(kActivityBinPpm),
                                            FlatBins(kActivityBinPpm)};
  FlatBins dram_bins_ = FlatBins(kActivityBinPpm);
  FlatBins memory_bins_ = FlatBins(kMemoryBinBytes);
  std::map<std::pair<std::string, std::string>, ActivityProfile> profiles_;
};

// The piece of work that a holding is a run of.
std::string work_of(const Holding& holding);

}  // namespace pennyweight::advising
