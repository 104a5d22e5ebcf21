#include "insight/replay/admission.h"

#include <algorithm>

namespace pennyweight::replay {
namespace {

constexpr std::int64_t kMinuteUs = std::int64_t{60} * 1'000'000;
constexpr std::int64_t kDayUs = std::int64_t{24} * 60 * kMinuteUs;

}  // namespace

Admission::Admission(std::span<const Job> jobs, std::span<const std::uint32_t> team_of_job,
                     std::size_t team_count, const AdmissionRules& rules)
    : has_quotas_(!rules.quotas.empty()),
      has_windows_(!rules.windows.empty()),
      begin_of_day_us_(rules.begin_of_day_us),
      teams_(team_count) {
  for (const auto& [name, quota] : rules.quotas) cohort_ += quota.milli_gpus;
  for (std::size_t job = 0; job < jobs.size(); ++job) {
    Team& team = teams_[team_of_job[job]];
    if (const auto quota = rules.quotas.find(jobs[job].team); quota != rules.quotas.end()) {
      team.own = quota->second.milli_gpus;
      team.most.reset();
      if (quota->second.borrowed_milli_max) {
        team.most = team.own + *quota->second.borrowed_milli_max;
      }
    }
    if (const auto window = rules.windows.find(jobs[job].team); window != rules.windows.end()) {
      team.window = window->second;
    }
  }
}

bool Admission::is_possible(std::uint32_t team, std::uint64_t milli_gpus) const {
  if (!has_quotas_) return true;
  return milli_gpus <= cohort_ && (!teams_[team].most || milli_gpus <= *teams_[team].most);
}

bool Admission::admits(std::uint32_t team, std::uint64_t milli_gpus, std::int64_t now_us) const {
  const Team& asks = teams_[team];
  if (has_quotas_) {
    if (held_ + milli_gpus > cohort_) return false;
    if (asks.most && asks.held + milli_gpus > *asks.most) return false;
  }
  if (!asks.window) return true;
  const std::int64_t now = of_day_us(now_us);
  const std::int64_t from = asks.window->from_minute * kMinuteUs;
  const std::int64_t to = asks.window->to_minute * kMinuteUs;
  return from < to ? from <= now && now < to : from <= now || now < to;
}

void Admission::start(std::uint32_t team, std::uint64_t milli_gpus) {
  teams_[team].held += milli_gpus;
  held_ += milli_gpus;
}

void Admission::stop(std::uint32_t team, std::uint64_t milli_gpus) {
  teams_[team].held -= milli_gpus;
  held_ -= milli_gpus;
}

std::int64_t Admission::of_day_us(std::int64_t now_us) const {
  return (now_us + begin_of_day_us_) % kDayUs;
}

std::optional<std::int64_t> Admission::next_opening_us(std::int64_t now_us) const {
  std::optional<std::int64_t> next;
  for (const Team& team : teams_) {
    if (!team.window) continue;
    std::int64_t wait = team.window->from_minute * kMinuteUs - of_day_us(now_us);
    if (wait <= 0) wait += kDayUs;
    if (!next || now_us + wait < *next) next = now_us + wait;
  }
  return next;
}

}  // namespace pennyweight::replay
