// What people say of unusual days, "expected" or "not expected", and what is learnt from it: a
// later change of the same series, in the same direction and no larger than one that was expected,
// neither in deviations nor in money a day, is expected too.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/date.h"
#include "core/instant.h"
#include "core/money.h"

namespace pennyweight {

// An incident: the days of one value that begin on one day.
struct IncidentName {
  std::string by;   // "team"; empty: everything together
  std::string key;  // "nlp"
  Date first;
  bool operator==(const IncidentName&) const = default;
};

struct IncidentSize {
  std::int64_t score_milli = 0;       // with its sign
  std::optional<Money> per_day = {};  // the mean impact of its days, with its sign
  bool operator==(const IncidentSize&) const = default;
};

struct AnomalyVerdict {
  IncidentName incident;
  IncidentSize size = {};  // when it was said
  bool is_expected = false;
  std::string reason;
  std::string who;
  Instant at = {};
  // Whether it says something of later incidents, as the word of those may who answer for alerts.
  bool teaches = false;
  bool operator==(const AnomalyVerdict&) const = default;
};

// For so long one incident says something of later ones.
inline constexpr std::chrono::days kVerdictTeaches{180};

// The verdict that counts for an incident of this size: what was last said of it itself, unless
// it has grown to twice the size since, or else the last one that says something of its like.
// `verdicts`: in the order in which they were made. Null: nothing was said.
const AnomalyVerdict* judge_incident(std::span<const AnomalyVerdict> verdicts,
                                     const IncidentName& incident, const IncidentSize& size);

// "expected: the yearly run (ana, as on 2026-03-02)"; empty: nothing was said.
std::string verdict_text(const AnomalyVerdict* verdict, const IncidentName& incident);

}  // namespace pennyweight
