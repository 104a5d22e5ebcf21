// ActivityState: everything that ActivityProfiles has counted up to an instant.
//
// Holdings are numbered as in the month that it was counted with; resume() numbers them anew.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/hash.h"
#include "core/id.h"
#include "core/instant.h"
#include "insight/advice/activity_profile.h"
#include "ledger/activity_scan.h"

namespace pennyweight::advising {

inline constexpr std::uint32_t kNoHolding = std::numeric_limits<std::uint32_t>::max();

struct ActivityState {
  // A GPU, and what reaches from one window into the next.
  struct Device {
    GpuId gpu;
    std::optional<std::uint32_t> node = {};  // of its first sample
    bool is_placed = false;                  // whether a node was looked for
    // Of this window, after `kept` of windows before: of the last instant, whose end is not known
    // until the next sample. Their series is a track.
    std::vector<ActivitySample> rows = {};
    std::size_t kept = 0;
    // The holder stays the same until the next holding of the GPU or of its node begins or ends.
    std::optional<std::uint32_t> holder = {};
    Instant same_until = Instant::min();
    std::uint32_t same_track = kNoHolding;
    // The stretch without activity that may go on.
    std::uint32_t idle_holding = kNoHolding;
    Instant idle_begin = {};
    Instant idle_end = {};
    Instant covered_until = {};  // by activity, so that a copy of a sample counts once
  };
  // What samples of a device have in common beside it.
  struct Track {
    std::uint32_t device = kNoHolding;  // none: nobody looks at these samples
    WorkloadId workload;
    NodeId node;
  };
  struct Tally {
    ActivityProfile profile;
    std::uint32_t first_device;  // the first by GPU
  };
  struct Seen {
    std::uint64_t observed_ms = 0;
    std::uint32_t first_device = kNoHolding;  // the first by GPU; none: no sample
    std::uint32_t tally = 0;                  // on that device
  };

  std::vector<Device> devices;
  std::map<std::string, std::uint32_t> device_of_gpu;
  std::vector<Track> tracks;
  std::map<std::string, std::uint32_t> track_of_texts;  // of a series
  std::vector<Tally> tallies;
  std::map<std::pair<std::string, std::string>, std::uint32_t> tally_of;  // by work and model
  std::vector<Seen> seen;                                                 // by holding
  std::vector<IdleStretch> idle;
  std::map<std::string, std::vector<ServedHour>> served;  // by work
  std::uint64_t samples = 0;
  std::uint64_t impossible = 0;

  // Of one that is kept.
  Instant until = {};
  Hash128 facts = {};
  std::vector<std::uint32_t> holdings = {};  // those that `facts` is about, in its order
  std::vector<std::string> node_names = {};  // by device; empty: it has no node
};

}  // namespace pennyweight::advising
