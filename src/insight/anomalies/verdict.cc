#include "insight/anomalies/verdict.h"

#include <fmt/format.h>

#include <cstdlib>
#include <ranges>

namespace pennyweight {
namespace {

constexpr std::int64_t kGrowthMax = 2;

// Whether what was said of one incident holds for another one of its series.
bool teaches(const AnomalyVerdict& verdict, const IncidentName& incident,
             std::int64_t score_milli) {
  if ((verdict.score_milli < 0) != (score_milli < 0)) return false;
  const auto apart = incident.first - verdict.incident.first;
  if (apart > kVerdictTeaches || -apart > kVerdictTeaches) return false;
  const std::int64_t size = std::abs(score_milli);
  const std::int64_t known = std::abs(verdict.score_milli);
  return verdict.is_expected ? size <= known : size >= known;
}

}  // namespace

const AnomalyVerdict* judge_incident(std::span<const AnomalyVerdict> verdicts,
                                     const IncidentName& incident, std::int64_t score_milli) {
  const AnomalyVerdict* like = nullptr;
  for (const AnomalyVerdict& verdict : std::views::reverse(verdicts)) {
    if (verdict.incident.by != incident.by || verdict.incident.key != incident.key) continue;
    if (verdict.incident.first == incident.first) {
      const bool has_grown =
          std::abs(score_milli) > std::abs(verdict.score_milli) * kGrowthMax && verdict.is_expected;
      return has_grown ? nullptr : &verdict;
    }
    if (like == nullptr && teaches(verdict, incident, score_milli)) like = &verdict;
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
