#include "insight/what_if/fitted_jobs.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "core/int128.h"
#include "core/try.h"
#include "insight/what_if/copy_names.h"
#include "insight/what_if/scenario_facts.h"

namespace pennyweight::what_if {
namespace {

constexpr std::int64_t kHourMs = std::int64_t{3600} * 1000;
constexpr std::size_t kHoursOfWeek = 168;
constexpr std::uint64_t kMeanParts = 1024;

// e^(-1/1024) as a fraction of 2^64, rounded to nearest.
constexpr std::uint64_t kStepBack = 18'428'738'468'430'479'223u;

std::uint64_t times_fraction(std::uint64_t a, std::uint64_t b) {
  return static_cast<std::uint64_t>((UInt128{a} * b) >> 64);
}

// e^(-parts/1024) as a fraction of 2^64. REQUIRES: parts > 0.
std::uint64_t exponential_of(std::uint64_t parts) {
  std::uint64_t power = kStepBack;
  std::uint64_t result = ~std::uint64_t{0};
  for (; parts > 0; parts /= 2) {
    if (parts % 2 == 1) result = times_fraction(result, power);
    power = times_fraction(power, power);
  }
  return result;
}

// 0: Monday from 00:00 to 01:00, UTC. Unix time began on a Thursday.
std::size_t hour_of_week(std::int64_t hour) {
  constexpr std::int64_t kHours = kHoursOfWeek;
  return static_cast<std::size_t>(((hour + std::int64_t{3} * 24) % kHours + kHours) % kHours);
}

// A part of an hour that lies in the period, in milliseconds of Unix time.
struct PeriodHour {
  std::size_t hour_of_week;
  std::int64_t begin_ms;
  std::int64_t length_ms;
};

// What arrives in an hour of the week.
struct Arrivals {
  std::vector<std::uint32_t> jobs;  // numbers in the world
  std::int64_t length_ms = 0;       // of all its hours in the period
};

}  // namespace

std::uint64_t draw_poisson(std::uint64_t mean_1024ths, replay::SeededRandom& random) {
  // A sum of draws with means of at most eight: few random numbers for each, and all digits kept.
  constexpr std::uint64_t kMeanMax = 8 * kMeanParts;
  std::uint64_t drawn = 0;
  while (mean_1024ths > 0) {
    const std::uint64_t mean = std::min(mean_1024ths, kMeanMax);
    mean_1024ths -= mean;
    // Knuth: how many numbers in [0, 1) can be multiplied before the product is below e^-mean.
    const std::uint64_t least = exponential_of(mean);
    std::uint64_t product = ~std::uint64_t{0};
    while (true) {
      product = times_fraction(product, random.below(~std::uint64_t{0}));
      if (product < least) break;
      ++drawn;
    }
  }
  return drawn;
}

Result<void> draw_fitted_jobs(ReplayWorld& world, std::uint64_t seed, const StopCheck& is_stopped) {
  const std::int64_t begin_ms = world.period.begin().time_since_epoch().count();
  const std::int64_t end_ms = world.period.end().time_since_epoch().count();
  const auto hour_at = [](std::int64_t ms) { return ms / kHourMs - (ms % kHourMs < 0 ? 1 : 0); };
  std::vector<PeriodHour> hours;
  std::array<Arrivals, kHoursOfWeek> week;
  for (std::int64_t hour = hour_at(begin_ms); hour * kHourMs < end_ms; ++hour) {
    const std::int64_t from = std::max(begin_ms, hour * kHourMs);
    const std::int64_t to = std::min(end_ms, (hour + 1) * kHourMs);
    hours.push_back({hour_of_week(hour), from, to - from});
    week[hours.back().hour_of_week].length_ms += to - from;
  }
  std::vector<replay::Job> jobs;
  std::vector<JobOrigin> origins;
  std::uint64_t arriving = 0;
  for (std::uint32_t i = 0; i < world.jobs.size(); ++i) {
    if (world.jobs[i].submit_us == 0) {  // it was there at the beginning
      jobs.push_back(world.jobs[i]);
      origins.push_back(world.origins[i]);
      continue;
    }
    ++arriving;
    week[hour_of_week(hour_at(begin_ms + world.jobs[i].submit_us / 1000))].jobs.push_back(i);
  }
  if (arriving == 0) {
    return fail(ErrorCode::kConfig,
                "no job of the month was submitted in it, so there is nothing to fit a generator "
                "to");
  }
  CopyNames names(world);
  std::vector<bool> is_used(world.jobs.size(), false);
  replay::SeededRandom random(seed);
  for (const PeriodHour& hour : hours) {
    TRY(go_on(is_stopped));
    const Arrivals& cell = week[hour.hour_of_week];
    if (cell.jobs.empty()) continue;
    const auto length = static_cast<std::uint64_t>(hour.length_ms);
    const auto of = static_cast<std::uint64_t>(cell.length_ms);
    const auto mean =
        static_cast<std::uint64_t>((UInt128{cell.jobs.size()} * kMeanParts * length + of / 2) / of);
    std::vector<std::pair<std::int64_t, std::uint32_t>> drawn(draw_poisson(mean, random));
    if (jobs.size() + drawn.size() > kReplayJobsMax) {
      return fail(ErrorCode::kLimit,
                  fmt::format("over {} jobs would be drawn; a scenario has at most so many. Leave "
                              "fitted out",
                              kReplayJobsMax));
    }
    for (auto& [at_us, job] : drawn) {
      at_us = (hour.begin_ms - begin_ms) * 1000 +
              static_cast<std::int64_t>(random.below(length * 1000));
      job = cell.jobs[random.below(cell.jobs.size())];
    }
    std::sort(drawn.begin(), drawn.end());
    for (const auto& [at_us, original] : drawn) {
      replay::Job job = world.jobs[original];
      JobOrigin origin = world.origins[original];
      if (is_used[original]) job.name = names.next(origin);
      is_used[original] = true;
      job.submit_us = at_us;
      origin.waited_us.reset();
      origin.before_us = 0;
      jobs.push_back(std::move(job));
      origins.push_back(origin);
    }
  }
  world.jobs = std::move(jobs);
  world.origins = std::move(origins);
  return {};
}

}  // namespace pennyweight::what_if
