// How fast a replay is, and how it grows with the number of jobs.
//
//   bench_replay --jobs 10000,100000,1000000 [--gpus 10000] [--load 95] [--scheduler fcfs]
//                [--blocked backfill] [--placement best-fit] [--preempt] [--wrong-estimates]
//                [--quota 100] [--borrow]
//
// --quota: each of the 20 teams has a quota, together so many percent of the GPUs; none borrows,
// unless --borrow says so.
// Prints a line for each number of jobs: processor seconds on one core, events a second, peak
// memory of the process so far, share of GPUs held, 95th percentile of waiting.
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/check.h"
#include "insight/replay/simulate.h"

namespace {

using namespace pennyweight;
using namespace pennyweight::replay;

constexpr std::int64_t kSecond = 1'000'000;
constexpr std::uint32_t kGpusPerMachine = 8;
constexpr std::uint32_t kTeams = 20;

struct Options {
  std::vector<std::size_t> jobs = {10'000, 100'000, 1'000'000};
  std::uint32_t gpus = 10'000;
  std::uint64_t load_percent = 95;  // of the GPU time, asked for
  bool has_wrong_estimates = false;
  std::uint64_t quota_percent = 0;  // of the GPUs, for all teams; 0: no quotas
  bool borrows = false;
  Scheduling scheduling = {.order = QueueOrder::kFirstComeFirstServed,
                           .when_blocked = WhenBlocked::kBackfill,
                           .placement = PlacementRule::kBestFit};
};

// Sizes as in published traces: most jobs hold one GPU, few hold several machines.
std::uint32_t draw_gpus(SeededRandom& random) {
  constexpr std::array<std::pair<std::uint64_t, std::uint32_t>, 7> kSizes = {
      {{600, 1}, {700, 2}, {800, 4}, {950, 8}, {980, 16}, {995, 32}, {1000, 64}}};
  const std::uint64_t at = random.below(1000);
  return std::find_if(kSizes.begin(), kSizes.end(),
                      [&](const auto& size) { return at < size.first; })
      ->second;
}

// From a minute to some 17 hours, as many in each doubling.
std::int64_t draw_length_us(SeededRandom& random) {
  const std::uint64_t minutes = std::uint64_t{1} << random.below(10);
  return static_cast<std::int64_t>(60 * minutes + random.below(60 * minutes)) * kSecond;
}

std::vector<Job> make_jobs(std::size_t count, const Options& options) {
  SeededRandom random(1);
  std::vector<Job> jobs(count);
  std::uint64_t asked = 0;  // GPU microseconds
  for (Job& job : jobs) {
    job.team = fmt::format("team-{}", random.below(kTeams));
    job.request.gpus = draw_gpus(random);
    job.work_us = draw_length_us(random);
    if (options.has_wrong_estimates) {
      job.estimate_us = job.work_us * static_cast<std::int64_t>(1 + random.below(5));
    }
    job.submit_us = static_cast<std::int64_t>(asked / options.gpus * 100 / options.load_percent);
    asked += static_cast<std::uint64_t>(job.work_us) * job.request.gpus;
  }
  return jobs;
}

AdmissionRules quotas_of(const Options& options) {
  AdmissionRules rules;
  if (options.quota_percent == 0) return rules;
  const TeamQuota quota{
      .milli_gpus = std::uint64_t{1000} * options.gpus * options.quota_percent / 100 / kTeams,
      .borrowed_milli_max = options.borrows ? std::nullopt : std::optional<std::uint64_t>(0)};
  for (std::uint32_t team = 0; team < kTeams; ++team) {
    rules.quotas[fmt::format("team-{}", team)] = quota;
  }
  return rules;
}

std::uint64_t peak_mib() {
  rusage usage{};
  CHECK(getrusage(RUSAGE_SELF, &usage) == 0, "a process may ask for its own use");
  return static_cast<std::uint64_t>(usage.ru_maxrss) / 1024;
}

void measure(std::size_t count, const Options& options) {
  const std::vector<Job> jobs = make_jobs(count, options);
  std::vector<Machine> machines(options.gpus / kGpusPerMachine);
  for (Machine& machine : machines) machine.gpus = kGpusPerMachine;
  Scheduling scheduling = options.scheduling;
  scheduling.admission = quotas_of(options);
  const std::clock_t begin = std::clock();
  const Replay replay = simulate(jobs, machines, {.scheduling = scheduling, .keep_runs = true});
  const double taken = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  std::vector<std::int64_t> waits;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    CHECK(replay.jobs[i].first_start_us.has_value(), "every job fits an empty cluster");
    waits.push_back(*replay.jobs[i].first_start_us - jobs[i].submit_us);
  }
  const auto p95 = waits.begin() + static_cast<std::ptrdiff_t>(waits.size() * 95 / 100);
  std::nth_element(waits.begin(), p95, waits.end());
  const auto capacity = static_cast<Int128>(replay.capacity_milli_gpus) * replay.end_us;
  Int128 asked = 0;
  for (const Job& job : jobs) {
    asked += static_cast<Int128>(job.request.milli_gpus()) * job.work_us;
  }
  CHECK(replay.held_milli_gpu_us - replay.restart_milli_gpu_us == asked, "all work is done once");
  CHECK(replay.held_milli_gpu_us + replay.idle_milli_gpu_us == capacity,
        "what nobody holds is idle");
  fmt::print("{} jobs on {} GPUs: {:.2f} s, {:.0f} jobs/s, peak {} MiB, {} % held, p95 wait {} s\n",
             count, options.gpus, taken, static_cast<double>(count) / taken, peak_mib(),
             static_cast<int>(replay.held_milli_gpu_us * 100 / capacity), *p95 / kSecond);
  std::fflush(stdout);
}

[[noreturn]] void wrong(const std::string& option) {
  fmt::print(stderr, "bench_replay: {} is not understood; see bench/replay.cc\n", option);
  std::exit(2);
}

template <class Value>
Value known(const std::optional<Value>& value, const std::string& text) {
  if (!value) wrong(text);
  return *value;
}

std::vector<std::size_t> numbers_in(const std::string& list) {
  std::vector<std::size_t> numbers;
  for (std::size_t at = 0; at <= list.size();) {
    const std::size_t comma = std::min(list.find(',', at), list.size());
    numbers.push_back(std::stoull(list.substr(at, comma - at)));
    at = comma + 1;
  }
  return numbers;
}

Options parse(int count, char** words) {
  Options options;
  for (int i = 1; i < count; ++i) {
    const std::string option = words[i];
    if (option == "--preempt") {
      options.scheduling.preempts = true;
      continue;
    }
    if (option == "--wrong-estimates") {
      options.has_wrong_estimates = true;
      continue;
    }
    if (option == "--borrow") {
      options.borrows = true;
      continue;
    }
    if (++i == count) wrong(option);
    const std::string value = words[i];
    if (option == "--jobs") {
      options.jobs = numbers_in(value);
    } else if (option == "--gpus") {
      options.gpus = static_cast<std::uint32_t>(std::stoul(value));
    } else if (option == "--load") {
      options.load_percent = std::stoull(value);
    } else if (option == "--quota") {
      options.quota_percent = std::stoull(value);
    } else if (option == "--scheduler") {
      options.scheduling.order = known(parse_queue_order(value), value);
    } else if (option == "--blocked") {
      options.scheduling.when_blocked = known(parse_when_blocked(value), value);
    } else if (option == "--placement") {
      options.scheduling.placement = known(parse_placement_rule(value), value);
    } else {
      wrong(option);
    }
  }
  return options;
}

}  // namespace

int main(int count, char** words) {
  const Options options = parse(count, words);
  for (const std::size_t jobs : options.jobs) measure(jobs, options);
  return 0;
}
