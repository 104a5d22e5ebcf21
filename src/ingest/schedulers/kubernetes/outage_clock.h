// OutageClock: how long a node is out of use, reported in pieces while it lasts.
//
// An Outage states its end, and a node that is out of use now has none yet. So outages are cut at
// full hours, and a piece is reported once it is over: until then, at most one hour of idle cost
// still counts as unallocated. The pieces depend only on the beginning and the clock, so a
// collector that restarts reports the same ones.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/id.h"
#include "ledger/outage.h"

namespace pennyweight::kubernetes {

inline constexpr std::chrono::hours kOutagePiece{1};
// A node that was already broken for longer when it is first seen counts as broken from then on
// only.
inline constexpr std::chrono::days kOutageAgeMax{62};

class OutageClock {
 public:
  // The reason at `at`, since `since` where that is known; empty: in use. Where it changes, the
  // earlier outage ends at `since` of the new one, or else at `at`.
  void set(std::string_view reason, std::optional<Instant> since, Instant at);
  // In use again, since `since` where that is known.
  void clear(std::optional<Instant> since, Instant at);
  // Adds the pieces that are over by `now` and were not reported.
  void report(const ClusterId& cluster, const NodeId& node, Instant now, std::vector<Outage>& into);

 private:
  struct OpenOutage {
    std::string reason;
    Instant begin;
    Instant reported;            // up to here
    std::optional<Instant> end;  // nothing: it lasts
  };
  void end_outage(Instant end);

  std::vector<OpenOutage> outages_;  // the last one may last
};

}  // namespace pennyweight::kubernetes
