#include "insight/advice/time_limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/whole_count.h"

namespace pennyweight::advising {
namespace {

constexpr std::uint64_t kLimitMinuteMs = 60'000;
constexpr std::uint64_t kLimitHourMs = 60 * kLimitMinuteMs;
constexpr std::uint64_t kTimeLimitMinutesMax = 100'000'000;
constexpr std::uint64_t kUnusedGpuHoursMin = 1000;
constexpr std::size_t kLimitedRunsMin = 3;
constexpr std::uint64_t kRoundedToMs = 30 * kLimitMinuteMs;

struct LimitedRuns {
  std::set<WorkloadId> runs;
  UInt128 used = 0;     // GPU ms
  UInt128 allowed = 0;  // GPU ms
  std::uint64_t longest_ms = 0;
  std::uint64_t shortest_limit_ms = 0;
  std::uint64_t longest_limit_ms = 0;
};

// "2-04:30:00", "04:30:00"
std::string slurm_time(std::uint64_t ms) {
  const std::uint64_t minutes = ms / kLimitMinuteMs;
  const std::uint64_t days = minutes / 1440;
  const std::string time = fmt::format("{:02}:{:02}:00", minutes / 60 % 24, minutes % 60);
  return days == 0 ? time : fmt::format("{}-{}", days, time);
}

std::string gpu_hours_text(UInt128 gpu_ms) {
  return fmt::format("{}", static_cast<std::uint64_t>(gpu_ms / kLimitHourMs));
}

}  // namespace

std::vector<Proposal> propose_time_limits(const ClusterMonth& month,
                                          const ActivityProfiles& profiles, Currency currency) {
  std::map<std::string, LimitedRuns> works;
  for (const Holding& holding : month.holdings) {
    const auto label = holding.labels.find("time_limit_minutes");
    if (!label || !holding.ended) continue;
    const auto minutes = parse_count(*label, kTimeLimitMinutesMax);
    const std::uint64_t gpus = device_count(holding);
    if (!minutes || *minutes == 0 || gpus == 0) continue;
    const std::uint64_t limit_ms = *minutes * kLimitMinuteMs;
    LimitedRuns& of = works[work_of(holding)];
    if (of.runs.empty()) of.shortest_limit_ms = limit_ms;
    of.runs.insert(holding.workload);
    of.used += UInt128{holding.held.length_ms()} * gpus;
    of.allowed += UInt128{limit_ms} * gpus;
    of.longest_ms = std::max(of.longest_ms, holding.held.length_ms());
    of.shortest_limit_ms = std::min(of.shortest_limit_ms, limit_ms);
    of.longest_limit_ms = std::max(of.longest_limit_ms, limit_ms);
  }
  const Money none = Money::zero(currency);
  std::vector<Proposal> proposals;
  for (const auto& [work, of] : works) {
    if (of.runs.size() < kLimitedRunsMin || of.used * 5 > of.allowed) continue;
    if (of.allowed - of.used < UInt128{kUnusedGpuHoursMin} * kLimitHourMs) continue;
    const std::uint64_t enough =
        (of.longest_ms + of.longest_ms / 2 + kRoundedToMs - 1) / kRoundedToMs * kRoundedToMs;
    if (enough >= of.shortest_limit_ms) continue;  // a run needs what some of them ask for
    Proposal advice{.id = proposal_id(AdviceKind::kTimeLimit, month.cluster, work),
                    .kind = AdviceKind::kTimeLimit,
                    .cluster = month.cluster,
                    .subject = fmt::format("work {}", work),
                    .change = fmt::format("Ask for {} instead of up to {}", slurm_time(enough),
                                          slurm_time(of.longest_limit_ms)),
                    .monthly = {none, none, none},
                    .observed = none,
                    .moved = none};
    advice.evidence = {
        fmt::format("{} runs used {} of the {} GPU-hours that their limits allowed", of.runs.size(),
                    gpu_hours_text(of.used), gpu_hours_text(of.allowed)),
        fmt::format("the longest took {}; the new limit is at least one and a half times that",
                    slurm_time(of.longest_ms)),
        "nothing falls off the bill: the scheduler can fill gaps with shorter jobs, so they wait "
        "less"};
    advice.confidence = Confidence::kMedium;
    advice.confidence_reason = fmt::format("{} runs", of.runs.size());
    advice.risk = "A run that takes longer than any before it is ended at the limit.";
    advice.apply = fmt::format("#SBATCH --time={}\n", slurm_time(enough));
    advice.owner = profiles.owner_of_work(work);
    advice.looked_for = fmt::format("work {}", work);
    advice.workload = of.runs.size() == 1 ? *of.runs.begin() : WorkloadId("(several)");
    proposals.push_back(std::move(advice));
  }
  return proposals;
}

}  // namespace pennyweight::advising
