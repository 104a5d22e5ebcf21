// Reads the samples of a period into ActivityProfiles, window by window, and goes on from what was
// counted the time before.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "core/error.h"
#include "core/id.h"
#include "insight/advice/activity_profile.h"
#include "ledger/store.h"

namespace pennyweight {

// What was counted of a cluster's month up to its last whole hours, kept in memory: a day more then
// takes the time of a day. It holds as long as no sample of that time is imported and what held
// GPUs in it stays the same. Any thread may use it.
class ActivityKeep {
 public:
  struct Kept {
    ImportRecord last_import;  // when it was counted
    Instant begin;             // of the samples
    std::shared_ptr<const advising::ActivityState> state;
  };
  std::optional<Kept> find(const ClusterId& cluster, const std::string& month) const;
  void keep(const ClusterId& cluster, const std::string& month, Kept kept);

 private:
  static constexpr std::size_t kKeptMax = 4;
  mutable std::mutex mutex_;  // guards kept_
  std::map<std::pair<std::string, std::string>, Kept> kept_;
};

struct ActivityPeriod {
  ClusterId cluster;
  std::string month;
  Interval sampled;  // with the time before, whose readings may hold into the period
  Instant end;       // of the period
};

// REQUIRES: nothing was added to the profiles. `keep` may be null.
Result<void> read_activity(Store& store, const ActivityPeriod& period, ActivityKeep* keep,
                           advising::ActivityProfiles& profiles);

}  // namespace pennyweight
