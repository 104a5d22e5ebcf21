#include "insight/what_if/figures.h"

#include <algorithm>
#include <bit>
#include <set>

#include "core/check.h"

namespace pennyweight::what_if {
namespace {

constexpr std::uint64_t kPerMille = 1000;

std::int64_t quantile(const std::vector<std::int64_t>& sorted, std::uint64_t per_mille) {
  if (sorted.empty()) return 0;
  return sorted[std::min(sorted.size() - 1,
                         static_cast<std::size_t>(sorted.size() * per_mille / kPerMille))];
}

std::vector<std::int64_t> percentiles(const std::vector<std::int64_t>& sorted) {
  std::vector<std::int64_t> values;
  for (std::uint64_t percent = 0; percent <= 100 && !sorted.empty(); ++percent) {
    values.push_back(quantile(sorted, percent * 10));
  }
  return values;
}

// From submission to first start, waiting before the period included.
std::int64_t wait_of(const ReplayWorld& world, const replay::Replay& replay, std::size_t job) {
  return *replay.jobs[job].first_start_us - world.jobs[job].submit_us +
         world.origins[job].before_us;
}
std::optional<std::int64_t> known_wait_of(const ReplayWorld& world, const replay::Replay& replay,
                                          std::size_t job) {
  if (!replay.jobs[job].first_start_us) return std::nullopt;
  return wait_of(world, replay, job);
}
std::int64_t completion_of(const ReplayWorld& world, const replay::Replay& replay,
                           std::size_t job) {
  return replay.jobs[job].end_us - world.jobs[job].submit_us + world.origins[job].before_us;
}

// Of GPU time that a job held: what was seen and used of it in the month.
void add_measured(const ReplayWorld& world, std::size_t job, Int128 held, JobFigures& figures) {
  if (world.measured.empty()) return;
  figures.seen += held * Int128{world.measured[job].seen_ppm};
  figures.used += held * Int128{world.measured[job].used_ppm};
}

// Counts a job in figures of jobs that may wait so long. `waited_us`: nothing where it never
// started.
template <class Figures>
void count_limit(Figures& figures, std::optional<std::int64_t> limit_us,
                 std::optional<std::int64_t> waited_us) {
  if (!limit_us) return;
  ++figures.with_limit;
  if (!waited_us || *waited_us > *limit_us) ++figures.over_limit;
}

std::set<std::uint32_t> machines_of_pools(const replay::Replay& replay) {
  std::set<std::uint32_t> machines(replay.never_on.begin(), replay.never_on.end());
  for (const replay::PowerSpan& span : replay.powered) machines.insert(span.machine);
  return machines;
}

// GPU time of each machine within the period: held by jobs, and on.
struct MachineTimes {
  std::vector<Int128> held;
  std::vector<Int128> on;
};
MachineTimes machine_times(const ReplayWorld& world, const replay::Replay& replay) {
  const std::int64_t end = period_us(world.period);
  MachineTimes times;
  times.held.resize(world.machines.size());
  const auto add = [&](std::vector<Int128>& sums, std::uint32_t machine, std::int64_t from,
                       std::int64_t to, Int128 milli) {
    if (std::min(to, end) > from) sums[machine] += milli * Int128{std::min(to, end) - from};
  };
  const auto milli_of = [&](std::uint32_t machine) {
    return Int128{replay::kMilliPerGpu} * Int128{world.machines[machine].gpus};
  };
  for (const replay::Machine& machine : world.machines) {
    times.on.push_back(Int128{replay::kMilliPerGpu} * Int128{machine.gpus} * Int128{end});
  }
  const std::set<std::uint32_t> of_pools = machines_of_pools(replay);
  for (const std::uint32_t machine : of_pools) times.on[machine] = 0;
  for (const replay::PowerSpan& span : replay.powered) {
    add(times.on, span.machine, span.begin_us, span.end_us.value_or(end), milli_of(span.machine));
  }
  for (const replay::Outage& outage : replay.outages) {
    if (of_pools.contains(outage.machine)) continue;  // its span has ended
    add(times.on, outage.machine, outage.begin_us, outage.end_us, -milli_of(outage.machine));
  }
  for (const replay::JobRun& run : replay.runs) {
    for (const replay::Share& share : run.shares) {
      add(times.held, share.machine, run.begin_us, run.end_us,
          Int128{std::popcount(share.gpu_mask)} * Int128{share.gpu_milli});
    }
  }
  // A machine that is cut by the hour is one with the whole one.
  for (const replay::CutMachine& layout : world.layouts) {
    times.held[layout.whole] += times.held[layout.cut];
    times.held[layout.cut] = times.on[layout.cut] = 0;
  }
  return times;
}

// Jobs that have other places, and ran in one.
std::uint64_t jobs_elsewhere(const ReplayWorld& world, const replay::Replay& replay) {
  std::set<std::uint32_t> jobs;
  for (const replay::JobRun& run : replay.runs) {
    const replay::Job& job = world.jobs[run.job];
    if (job.elsewhere == 0 || run.shares.empty()) continue;
    const std::uint32_t model = world.machines[run.shares.front().machine].model;
    if (((job.request.models >> model) & 1) == 0) jobs.insert(run.job);
  }
  return jobs.size();
}

// What nobody held of each machine while it was on, which with all the rest is the capacity; and
// what GPUs drew.
void add_idle_and_energy(const ReplayWorld& world, const replay::Replay& replay,
                         JobFigures& figures) {
  const MachineTimes times = machine_times(world, replay);
  Int128 energy = 0;
  bool has_watts = false;
  for (std::size_t i = 0; i < world.machines.size() - world.layouts.size(); ++i) {
    CHECK(times.held[i] >= 0 && times.held[i] <= times.on[i], "jobs hold machines that are on");
    figures.idle += times.on[i] - times.held[i];
    if (world.watts.empty() || world.machines[i].gpus == 0) continue;
    if (!world.watts[i]) {
      figures.gpus_without_watts += world.machines[i].gpus;
      continue;
    }
    has_watts = true;
    energy += times.held[i] * Int128{world.watts[i]->held} +
              (times.on[i] - times.held[i]) * Int128{world.watts[i]->idle};
  }
  figures.idle -= figures.starting;
  CHECK(figures.held + figures.idle + figures.unavailable + figures.off + figures.starting ==
            figures.capacity,
        "what is held, idle, away, off and starting makes up the capacity");
  if (has_watts) figures.energy = energy;
}

// Machines of pools that were off, or starting.
void add_power(const ReplayWorld& world, const replay::Replay& replay, JobFigures& figures) {
  const std::int64_t end = period_us(world.period);
  const auto milli_of = [&](std::uint32_t machine) {
    return Int128{replay::kMilliPerGpu} * Int128{world.machines[machine].gpus};
  };
  const std::set<std::uint32_t> of_pools = machines_of_pools(replay);
  for (const replay::PowerSpan& span : replay.powered) {
    const std::int64_t until = std::min(end, span.end_us.value_or(end));
    if (until <= span.begin_us) continue;
    figures.off -= milli_of(span.machine) * Int128{until - span.begin_us};
    figures.starting +=
        milli_of(span.machine) * Int128{std::min(until, span.ready_us) - span.begin_us};
  }
  for (const std::uint32_t machine : of_pools) figures.off += milli_of(machine) * Int128{end};
  for (const replay::Outage& outage : replay.outages) {
    if (!of_pools.contains(outage.machine)) continue;
    figures.off -=
        milli_of(outage.machine) * Int128{std::min(outage.end_us, end) - outage.begin_us};
  }
  figures.node_starts = replay.machine_starts;
}

}  // namespace

std::int64_t period_us(const Interval& period) {
  return static_cast<std::int64_t>(period.length_ms()) * 1000;
}

TimeFigures time_figures(std::vector<std::int64_t>& times) {
  TimeFigures figures;
  if (times.empty()) return figures;
  std::sort(times.begin(), times.end());
  Int128 sum = 0;
  for (const std::int64_t time : times) sum += time;
  figures.mean = static_cast<std::int64_t>(sum / static_cast<Int128>(times.size()));
  figures.p50 = quantile(times, 500);
  figures.p95 = quantile(times, 950);
  figures.p99 = quantile(times, 990);
  return figures;
}

std::vector<std::int64_t> waits_of(const ReplayWorld& world, const replay::Replay& replay) {
  std::vector<std::int64_t> waits;
  for (std::size_t i = 0; i < world.jobs.size(); ++i) {
    if (replay.jobs[i].first_start_us) waits.push_back(wait_of(world, replay, i));
  }
  return waits;
}

JobFigures figures_of(const ReplayWorld& world, const replay::Replay& replay) {
  const std::int64_t end = period_us(world.period);
  JobFigures figures;
  figures.jobs = world.jobs.size();
  figures.makespan = replay.end_us;
  figures.capacity = static_cast<Int128>(replay.capacity_milli_gpus) * static_cast<Int128>(end);
  std::vector<std::int64_t> waits = waits_of(world, replay);
  std::vector<std::int64_t> completions;
  for (std::size_t i = 0; i < world.jobs.size(); ++i) {
    const replay::JobResult& result = replay.jobs[i];
    const auto gpus = static_cast<Int128>(world.jobs[i].request.milli_gpus());
    figures.interruptions += result.interruptions;
    figures.unfinished += gpus * static_cast<Int128>(world.jobs[i].work_us);
    count_limit(figures, world.limits.of(world.jobs[i].team), known_wait_of(world, replay, i));
    if (!result.first_start_us) {
      ++figures.never_start;
      continue;
    }
    completions.push_back(completion_of(world, replay, i));
  }
  for (const replay::JobRun& run : replay.runs) {
    const std::int64_t until = std::min(run.end_us, end);
    if (until <= run.begin_us) continue;
    const auto gpus = static_cast<Int128>(world.jobs[run.job].request.milli_gpus());
    const std::int64_t span = until - run.begin_us;
    figures.held += gpus * static_cast<Int128>(span);
    add_measured(world, run.job, gpus * static_cast<Int128>(span), figures);
    // Nodes are taken back within the period only: a run beyond its end has lost nothing.
    const std::int64_t lost = run.end_us <= end ? run.lost_us : 0;
    figures.unfinished -= gpus * static_cast<Int128>(span - std::min(span, run.restart_us) - lost);
    figures.lost += gpus * static_cast<Int128>(lost);
  }
  for (const replay::Outage& outage : replay.outages) {
    const std::uint64_t milli =
        std::uint64_t{replay::kMilliPerGpu} * world.machines[outage.machine].gpus;
    figures.unavailable += static_cast<Int128>(milli) *
                           static_cast<Int128>(std::min(outage.end_us, end) - outage.begin_us);
  }
  CHECK(figures.unfinished >= 0, "no more work is done than there was");
  if (!world.places.empty()) figures.elsewhere = jobs_elsewhere(world, replay);
  figures.fragmentation = fragmentation_of(world, replay);
  figures.layout_changes = replay.layout_changes;
  figures.draining = replay.draining_milli_gpu_us;
  add_power(world, replay, figures);
  add_idle_and_energy(world, replay, figures);
  figures.wait = time_figures(waits);
  figures.wait_percentiles = percentiles(waits);
  figures.completion = time_figures(completions);
  return figures;
}

FiguresByTeam team_figures(const ReplayWorld& world, const replay::Replay& replay) {
  const std::int64_t end = period_us(world.period);
  struct Times {
    std::vector<std::int64_t> waits;
    std::vector<std::int64_t> completions;
    Int128 completion = 0;
    Int128 work = 0;
  };
  FiguresByTeam teams;
  std::map<std::string, Times> times;
  for (std::size_t i = 0; i < world.jobs.size(); ++i) {
    const replay::Job& job = world.jobs[i];
    TeamFigures& team = teams[job.team];
    ++team.jobs;
    count_limit(team, world.limits.of(job.team), known_wait_of(world, replay, i));
    if (!replay.jobs[i].first_start_us) {
      ++team.never_start;
      continue;
    }
    Times& of_team = times[job.team];
    of_team.waits.push_back(wait_of(world, replay, i));
    of_team.completions.push_back(completion_of(world, replay, i));
    of_team.completion += of_team.completions.back();
    of_team.work += job.work_us;
  }
  for (const replay::JobRun& run : replay.runs) {
    const std::int64_t until = std::min(run.end_us, end);
    if (until <= run.begin_us) continue;
    const replay::Job& job = world.jobs[run.job];
    teams[job.team].held +=
        static_cast<Int128>(job.request.milli_gpus()) * static_cast<Int128>(until - run.begin_us);
  }
  for (auto& [name, of_team] : times) {
    TeamFigures& team = teams[name];
    team.wait = time_figures(of_team.waits);
    team.completion = time_figures(of_team.completions);
    team.stretch_milli = static_cast<std::uint64_t>(of_team.completion * 1000 / of_team.work);
  }
  return teams;
}

// Jain's index of how much longer the teams' jobs took, in millionths: 1,000,000 where all teams
// were stretched alike, 1,000,000 / teams where one alone was.
std::uint64_t jain_index(const FiguresByTeam& teams) {
  UInt128 sum = 0;
  UInt128 squares = 0;
  std::uint64_t count = 0;
  for (const auto& [name, team] : teams) {
    if (team.jobs == team.never_start) continue;
    // A stretch beyond a million is as unfair as one of a million.
    const std::uint64_t stretch = std::min<std::uint64_t>(team.stretch_milli, 1'000'000'000);
    sum += stretch;
    squares += UInt128{stretch} * stretch;
    ++count;
  }
  if (count == 0 || squares == 0) return 1'000'000;
  return static_cast<std::uint64_t>(sum * sum * 1'000'000 / (squares * count));
}

// GPUs held and jobs waiting, at evenly spaced moments of the period.
std::vector<Moment> moments_of(const ReplayWorld& world, const replay::Replay& replay) {
  const std::int64_t end = period_us(world.period);
  std::vector<Moment> moments(kMomentsMax);
  const auto step = std::max<std::int64_t>(1, end / static_cast<std::int64_t>(kMomentsMax));
  for (std::size_t i = 0; i < moments.size(); ++i) {
    moments[i].at_us = static_cast<std::int64_t>(i) * step;
  }
  // The first moment at or after `us`.
  const auto moment_at = [&](std::int64_t us) {
    return static_cast<std::size_t>(
        std::min<std::int64_t>((us + step - 1) / step, static_cast<std::int64_t>(kMomentsMax)));
  };
  std::vector<std::int64_t> held(kMomentsMax + 1, 0);  // differences
  std::vector<std::int64_t> waiting(kMomentsMax + 1, 0);
  for (const replay::JobRun& run : replay.runs) {
    const auto milli = static_cast<std::int64_t>(world.jobs[run.job].request.milli_gpus());
    held[moment_at(run.begin_us)] += milli;
    held[moment_at(run.end_us)] -= milli;
  }
  // A job waits from its submission on, except while it runs.
  for (std::size_t i = 0; i < world.jobs.size(); ++i) {
    if (!replay.jobs[i].first_start_us) continue;
    ++waiting[moment_at(world.jobs[i].submit_us)];
    --waiting[moment_at(replay.jobs[i].end_us)];
  }
  for (const replay::JobRun& run : replay.runs) {
    --waiting[moment_at(run.begin_us)];
    ++waiting[moment_at(run.end_us)];
  }
  std::int64_t held_now = 0;
  std::int64_t waiting_now = 0;
  for (std::size_t i = 0; i < moments.size(); ++i) {
    held_now += held[i];
    waiting_now += waiting[i];
    CHECK(held_now >= 0 && waiting_now >= 0, "nothing ends before it begins");
    moments[i].held_milli = static_cast<std::uint64_t>(held_now);
    moments[i].waiting = static_cast<std::uint64_t>(waiting_now);
  }
  return moments;
}

std::vector<JobTimes> job_times(const ReplayWorld& world, const replay::Replay& replay) {
  std::vector<JobTimes> times;
  times.reserve(world.jobs.size());
  for (std::size_t i = 0; i < world.jobs.size(); ++i) {
    const replay::Job& job = world.jobs[i];
    const replay::JobResult& result = replay.jobs[i];
    times.push_back({.name = job.name,
                     .team = job.team,
                     .milli_gpus = job.request.milli_gpus(),
                     .submit_us = job.submit_us - world.origins[i].before_us,
                     .start_us = result.first_start_us,
                     .end_us = result.end_us,
                     .held_us = result.held_us,
                     .interruptions = result.interruptions});
  }
  return times;
}

JobFigures figures_as_it_was(const ReplayWorld& world) {
  JobFigures figures;
  figures.jobs = world.jobs.size();
  for (const replay::Machine& machine : world.machines) {
    figures.capacity += static_cast<Int128>(machine.gpus * replay::kMilliPerGpu) *
                        static_cast<Int128>(period_us(world.period));
  }
  std::vector<std::int64_t> waits;
  std::vector<std::int64_t> completions;
  for (std::size_t i = 0; i < world.jobs.size(); ++i) {
    const replay::Job& job = world.jobs[i];
    figures.held +=
        static_cast<Int128>(job.request.milli_gpus()) * static_cast<Int128>(job.work_us);
    add_measured(world, i,
                 static_cast<Int128>(job.request.milli_gpus()) * static_cast<Int128>(job.work_us),
                 figures);
    const std::int64_t waited = world.origins[i].waited_us.value_or(0);
    waits.push_back(waited);
    if (world.origins[i].waited_us) count_limit(figures, world.limits.of(job.team), waited);
    completions.push_back(waited + job.work_us);
    const std::int64_t end = job.submit_us + waited - world.origins[i].before_us + job.work_us;
    figures.makespan = std::max(figures.makespan, end);
  }
  figures.wait = time_figures(waits);
  figures.wait_percentiles = percentiles(waits);
  figures.completion = time_figures(completions);
  figures.idle = figures.capacity - figures.held;
  return figures;
}

}  // namespace pennyweight::what_if
