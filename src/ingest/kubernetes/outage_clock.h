// OutageClock: how long a node is out of use, told in pieces as it lasts.
//
// An Outage states its end, and a node that is out of use now has none. So outages are cut at full
// hours, and a piece is told when it is over: idle money of the last hour at most is still called
// unallocated. The pieces depend on the beginning and on the clock alone, so that a collector which
// starts anew tells the same ones.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/id.h"
#include "ledger/outage.h"

namespace pennyweight::kubernetes {

inline constexpr std::chrono::hours kOutagePiece{1};
// A node that was broken for longer when it is first seen is told so from here on only.
inline constexpr std::chrono::days kOutageAgeMax{62};

class OutageClock {
 public:
  // The reason as it is at `at`, since `since` where that is known; empty: in use. Where it changes
  // the earlier one ends, at `since` of the new one or else at `at`.
  void set(std::string_view reason, std::optional<Instant> since, Instant at);
  // In use again, since `since` where that is known.
  void clear(std::optional<Instant> since, Instant at);
  // What is over by `now` and was not told.
  void tell(const ClusterId& cluster, const NodeId& node, Instant now, std::vector<Outage>& into);

 private:
  struct Spell {
    std::string reason;
    Instant begin;
    Instant told;                // up to here
    std::optional<Instant> end;  // nothing: it lasts
  };
  void end_spell(Instant end);

  std::vector<Spell> spells_;  // the last one may last
};

}  // namespace pennyweight::kubernetes
