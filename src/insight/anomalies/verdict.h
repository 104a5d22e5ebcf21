// What people say of unusual days, "expected" or "not expected", and what is learnt from it: a
// change of the same series, in the same direction and no larger than one that was expected, is
// expected too.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/date.h"
#include "core/instant.h"

namespace pennyweight {

// An incident: the days of one value that begin on one day.
struct IncidentName {
  std::string by;   // "team"; empty: everything together
  std::string key;  // "nlp"
  Date first;
  bool operator==(const IncidentName&) const = default;
};

struct AnomalyVerdict {
  IncidentName incident;
  std::int64_t score_milli = 0;  // of the incident when it was said, with its sign
  bool is_expected = false;
  std::string reason;
  std::string who;
  Instant at = {};
  bool operator==(const AnomalyVerdict&) const = default;
};

// For so long one incident says something of others.
inline constexpr std::chrono::days kVerdictTeaches{180};

// The verdict that counts for an incident with this score: what was last said of it itself, unless
// it has grown to twice the score since, or else the last one that says something of its like.
// `verdicts`: in the order in which they were made. Null: nothing was said.
const AnomalyVerdict* judge_incident(std::span<const AnomalyVerdict> verdicts,
                                     const IncidentName& incident, std::int64_t score_milli);

// "expected: the yearly run (ana, as on 2026-03-02)"; empty: nothing was said.
std::string verdict_text(const AnomalyVerdict* verdict, const IncidentName& incident);

}  // namespace pennyweight
