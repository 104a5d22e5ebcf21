#include "insight/replay/simulation.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "core/check.h"
#include "core/int128.h"

namespace pennyweight::replay {
namespace {

std::vector<std::uint32_t> in_order_of_arrival(std::span<const Job> jobs) {
  std::vector<std::uint32_t> order(jobs.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return jobs[a].submit_us < jobs[b].submit_us;
  });
  return order;
}

}  // namespace

Simulation::Simulation(std::span<const Job> jobs, std::span<const Machine> machines,
                       const ReplayOptions& options)
    : jobs_(jobs),
      options_(options),
      policy_(options.scheduling),
      kinds_(request_kinds(jobs)),
      random_(policy_.seed),
      cluster_(machines),
      placement_(cluster_, policy_.placement, kinds_.kinds, random_, policy_.same_rack),
      // A machine that is cut by the hour counts once.
      usage_(jobs, machines.first(machines.size() - options.layouts.size()), policy_),
      admission_(jobs, usage_.team_of_jobs(), usage_.team_count(), policy_.admission),
      held_(jobs.size()),
      begun_us_(jobs.size(), 0),
      restarts_us_(jobs.size(), 0),
      arrivals_(in_order_of_arrival(jobs)) {
  replay_.jobs.resize(jobs.size());
  replay_.capacity_milli_gpus = cluster_.capacity_milli_gpus();
  for (std::size_t i = 0; i < options.layouts.size(); ++i) {
    const CutMachine& layout = options.layouts[i];
    CHECK(layout.cut == machines.size() - options.layouts.size() + i &&
              machines[layout.cut].gpus == machines[layout.whole].gpus,
          "the cut machines come last, with as many GPUs");
    replay_.capacity_milli_gpus -= std::uint64_t{kMilliPerGpu} * machines[layout.cut].gpus;
  }
  for (const Job& job : jobs) {
    CHECK(job.work_us > 0 && job.submit_us >= 0, "the caller leaves out jobs without work");
  }
  drop_impossible(machines);
}

Replay Simulation::take_result() {
  if (replay_.is_stopped) return std::move(replay_);
  const Int128 capacity =
      static_cast<Int128>(replay_.capacity_milli_gpus) * static_cast<Int128>(replay_.end_us);
  // Held time is summed by job, idle time by the clock; neither is derived from the other.
  CHECK(replay_.held_milli_gpu_us + replay_.idle_milli_gpu_us + replay_.unavailable_milli_gpu_us +
                replay_.off_milli_gpu_us + replay_.starting_milli_gpu_us ==
            capacity,
        "GPU time of jobs, idle and unavailable GPU time make up the capacity");
  return std::move(replay_);
}

bool Simulation::is_stopped() {
  if (options_.watch == nullptr) return false;
  replay_.is_stopped = options_.watch->stop.load(std::memory_order_relaxed);
  return replay_.is_stopped;
}

void Simulation::advance_to(std::int64_t to_us) {
  replay_.idle_milli_gpu_us +=
      static_cast<Int128>(cluster_.free_milli_gpus()) * static_cast<Int128>(to_us - now_us_);
  replay_.unavailable_milli_gpu_us +=
      static_cast<Int128>(unavailable_milli_) * static_cast<Int128>(to_us - now_us_);
  replay_.off_milli_gpu_us +=
      static_cast<Int128>(off_milli_) * static_cast<Int128>(to_us - now_us_);
  replay_.starting_milli_gpu_us +=
      static_cast<Int128>(starting_milli_) * static_cast<Int128>(to_us - now_us_);
  replay_.draining_milli_gpu_us +=
      static_cast<Int128>(draining_milli_) * static_cast<Int128>(to_us - now_us_);
  usage_.advance(to_us);
  now_us_ = to_us;
}

void Simulation::record_start(std::uint32_t job) {
  begun_us_[job] = now_us_;
  auto& first = replay_.jobs[job].first_start_us;
  if (!first) first = now_us_;
  usage_.start(usage_.team_of(job), jobs_[job].request);
  admission_.start(usage_.team_of(job), jobs_[job].request.milli_gpus());
}

void Simulation::record_stop(std::uint32_t job, std::int64_t lost_us) {
  const std::int64_t span = now_us_ - begun_us_[job];
  const auto milli_gpus = jobs_[job].request.milli_gpus();
  usage_.stop(usage_.team_of(job), jobs_[job].request);
  admission_.stop(usage_.team_of(job), milli_gpus);
  replay_.jobs[job].held_us += span;
  replay_.held_milli_gpu_us += static_cast<Int128>(span) * static_cast<Int128>(milli_gpus);
  if (options_.keep_runs && span > 0) {
    replay_.runs.push_back(
        {job, begun_us_[job], now_us_, std::min(span, restarts_us_[job]), lost_us, held_[job]});
  }
}

void Simulation::record_end(std::uint32_t job) {
  record_stop(job);
  replay_.jobs[job].end_us = now_us_;
  replay_.end_us = now_us_;
  if (options_.watch != nullptr) {
    options_.watch->jobs_ended.fetch_add(1, std::memory_order_relaxed);
  }
}

void Simulation::drop_impossible(std::span<const Machine> machines) {
  ClusterState empty(machines);
  SeededRandom unused(0);
  Placement placement(empty, PlacementRule::kFirstFit, {}, unused, policy_.same_rack);
  for (const RequestKind& kind : kinds_.kinds) {
    fits_at_home_.push_back(placement.find(kind.request).has_value());
  }
  std::map<std::pair<std::uint32_t, std::uint32_t>, bool> fits_elsewhere;
  const auto is_possible = [&](std::uint32_t job) {
    const std::uint32_t kind = kinds_.kind_of_job[job];
    if (fits_at_home_[kind]) return true;
    if (jobs_[job].elsewhere == 0) return false;
    const auto [at, is_new] = fits_elsewhere.try_emplace({kind, jobs_[job].elsewhere}, false);
    if (!is_new) return at->second;
    for (const ModelSet models : options_.spill_over.places[jobs_[job].elsewhere - 1]) {
      Request there = jobs_[job].request;
      there.models = models;
      if (placement.find(there)) at->second = true;
    }
    return at->second;
  };
  std::erase_if(arrivals_, [&](std::uint32_t job) {
    return !is_possible(job) ||
           !admission_.is_possible(usage_.team_of(job), jobs_[job].request.milli_gpus());
  });
}

}  // namespace pennyweight::replay
