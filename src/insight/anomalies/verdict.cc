#include "insight/anomalies/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <ranges>

#include "insight/anomalies/anomaly.h"

namespace pennyweight {
namespace {

constexpr std::int64_t kGrowthMax = 2;

// Compared without their signs.
bool is_larger(const Money& one, const Money& other) {
  return one.ticks() < 0 ? -one.ticks() > std::max(other.ticks(), -other.ticks())
                         : one.ticks() > std::max(other.ticks(), -other.ticks());
}

// Whether what was said of one incident holds for a later one of its series. A score at its bound
// measures nothing, and sizes in two currencies can't be compared.
bool holds_for(const AnomalyVerdict& verdict, const IncidentName& incident,
               const IncidentSize& size) {
  if (!verdict.teaches) return false;
  const auto later = incident.first - verdict.incident.first;
  if (later <= std::chrono::days(0) || later > kVerdictTeaches) return false;
  const IncidentSize& known = verdict.size;
  if ((known.score_milli < 0) != (size.score_milli < 0)) return false;
  const std::int64_t known_score = std::abs(known.score_milli);
  const std::int64_t score = std::abs(size.score_milli);
  if (!verdict.is_expected) return score >= known_score;
  if (known_score >= kScoreBound || score > known_score) return false;
  return known.per_day && size.per_day && known.per_day->currency() == size.per_day->currency() &&
         !is_larger(*size.per_day, *known.per_day);
}

bool has_grown(const IncidentSize& known, const IncidentSize& size) {
  if (std::abs(size.score_milli) > std::abs(known.score_milli) * kGrowthMax) return true;
  return known.per_day && size.per_day && known.per_day->currency() == size.per_day->currency() &&
         is_larger(*size.per_day, *known.per_day + *known.per_day);
}

}  // namespace

const AnomalyVerdict* judge_incident(std::span<const AnomalyVerdict> verdicts,
                                     const IncidentName& incident, const IncidentSize& size) {
  const AnomalyVerdict* like = nullptr;
  for (const AnomalyVerdict& verdict : std::views::reverse(verdicts)) {
    if (verdict.incident.by != incident.by || verdict.incident.key != incident.key) continue;
    if (verdict.incident.first == incident.first) {
      return verdict.is_expected && has_grown(verdict.size, size) ? nullptr : &verdict;
    }
    if (like == nullptr && holds_for(verdict, incident, size)) like = &verdict;
  }
  return like;
}

std::string verdict_text(const AnomalyVerdict* verdict, const IncidentName& incident) {
  if (verdict == nullptr) return "";
  const bool is_own = verdict->incident == incident;
  return fmt::format("{}{}{} ({}{})", verdict->is_expected ? "expected" : "not expected",
                     verdict->reason.empty() ? "" : ": ", verdict->reason, verdict->who,
                     is_own ? "" : ", as on " + to_text(verdict->incident.first));
}

}  // namespace pennyweight
