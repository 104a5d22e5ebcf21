// The figures of a replay for programs: unrounded, over time, by percentile.
#include <fmt/format.h>

#include <chrono>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "insight/queries/what_if_tables.h"
#include "insight/queries/what_if_text.h"

namespace pennyweight {
namespace {

using what_if::JobFigures;
using what_if::TimeFigures;

// A count of so many parts of a unit, unrounded: 1500000 of 1000000 parts is "1.500000".
std::string decimal_text(Int128 parts, Int128 of) {
  const Int128 size = parts < 0 ? -parts : parts;
  std::string rest;
  for (Int128 digit = of / 10; digit > 0; digit /= 10) {
    rest += static_cast<char>('0' + static_cast<int>(size / digit % 10));
  }
  return fmt::format("{}{}.{}", parts < 0 ? "-" : "", to_text(size / of), rest);
}

}  // namespace

Table what_if_exact_table(const WhatIfQuery& query, const what_if::WhatIf& result,
                          const std::string& title) {
  Table table;
  table.title = title + ", exact figures";
  table.columns = {{query.by, query.by, ColumnKind::kText},
                   {"figure", "figure", ColumnKind::kText},
                   {"unit", "unit", ColumnKind::kText},
                   {"as_it_was", "as it was", ColumnKind::kText},
                   {"replayed_as_it_was", "its replay", ColumnKind::kText},
                   {"what_if", "what if", ColumnKind::kText}};
  const auto seconds = [](std::int64_t us) { return decimal_text(us, 1'000'000); };
  const auto gpu_seconds = [](Int128 milli_us) { return decimal_text(milli_us, 1'000'000'000); };
  const auto count = [](std::uint64_t number) { return std::to_string(number); };
  const auto add = [&](std::string_view figure, std::string_view unit, auto text) {
    table.rows.push_back({std::string("(all)"), std::string(figure), std::string(unit),
                          text(result.was), text(result.calibrated), text(result.would_be)});
  };
  const auto add_count = [&](std::string_view figure, std::uint64_t JobFigures::* number) {
    add(figure, "jobs", [&](const JobFigures& each) { return count(each.*number); });
  };
  const auto add_gpu_time = [&](std::string_view figure, Int128 JobFigures::* time) {
    add(figure, "GPU s", [&](const JobFigures& each) { return gpu_seconds(each.*time); });
  };
  constexpr std::pair<std::string_view, std::int64_t TimeFigures::*> kTimes[] = {
      {"mean", &TimeFigures::mean},
      {"p50", &TimeFigures::p50},
      {"p95", &TimeFigures::p95},
      {"p99", &TimeFigures::p99}};
  add_count("jobs", &JobFigures::jobs);
  add_count("never start", &JobFigures::never_start);
  for (const auto& [name, time] : kTimes) {
    add(fmt::format("wait, {}", name), "s",
        [&](const JobFigures& each) { return seconds(each.wait.*time); });
  }
  for (const auto& [name, time] : kTimes) {
    add(fmt::format("completion, {}", name), "s",
        [&](const JobFigures& each) { return seconds(each.completion.*time); });
  }
  add("makespan", "s", [&](const JobFigures& each) { return seconds(each.makespan); });
  add_gpu_time("capacity", &JobFigures::capacity);
  add_gpu_time("held", &JobFigures::held);
  add_gpu_time("done again", &JobFigures::lost);
  add_gpu_time("idle", &JobFigures::idle);
  add_gpu_time("unavailable", &JobFigures::unavailable);
  add_gpu_time("off", &JobFigures::off);
  add_gpu_time("starting", &JobFigures::starting);
  add_gpu_time("unfinished", &JobFigures::unfinished);
  // In millionths of the unit of GPU time.
  const auto add_measured = [&](std::string_view figure, Int128 JobFigures::* time) {
    add(figure, "GPU s", [&](const JobFigures& each) {
      return result.was.seen == 0 ? std::string() : decimal_text(each.*time, 1'000'000'000'000'000);
    });
  };
  add_measured("measured", &JobFigures::seen);
  add_measured("used, as measured", &JobFigures::used);
  add("interruptions", "times", [&](const JobFigures& each) { return count(each.interruptions); });
  add("node starts", "times", [&](const JobFigures& each) { return count(each.node_starts); });
  add_count("ran elsewhere", &JobFigures::elsewhere);
  add_count("with a limit of waiting", &JobFigures::with_limit);
  add_count("over their limit", &JobFigures::over_limit);
  add("GPUs without known power", "GPUs",
      [&](const JobFigures& each) { return count(each.gpus_without_watts); });
  add("energy of GPUs", "J", [](const JobFigures& each) {
    return each.energy ? decimal_text(*each.energy, 1'000'000'000) : std::string();
  });
  std::map<std::string, std::pair<what_if::TeamFigures, what_if::TeamFigures>> teams;
  for (const auto& [team, figures] : result.teams_calibrated) teams[team].first = figures;
  for (const auto& [team, figures] : result.teams_would_be) teams[team].second = figures;
  for (const auto& [team, pair] : teams) {
    const auto add_to = [&](std::string_view figure, std::string_view unit, auto text) {
      table.rows.push_back({team.empty() ? std::string("(none)") : team, std::string(figure),
                            std::string(unit), std::string(), text(pair.first), text(pair.second)});
    };
    using what_if::TeamFigures;
    add_to("jobs", "jobs", [&](const TeamFigures& each) { return count(each.jobs); });
    add_to("never start", "jobs", [&](const TeamFigures& each) { return count(each.never_start); });
    add_to("held", "GPU s", [&](const TeamFigures& each) { return gpu_seconds(each.held); });
    for (const auto& [name, time] : kTimes) {
      add_to(fmt::format("wait, {}", name), "s",
             [&](const TeamFigures& each) { return seconds(each.wait.*time); });
    }
    for (const auto& [name, time] : kTimes) {
      add_to(fmt::format("completion, {}", name), "s",
             [&](const TeamFigures& each) { return seconds(each.completion.*time); });
    }
    add_to("with a limit of waiting", "jobs",
           [&](const TeamFigures& each) { return count(each.with_limit); });
    add_to("over their limit", "jobs",
           [&](const TeamFigures& each) { return count(each.over_limit); });
  }
  return table;
}

Table what_if_moment_table(const WhatIfMonth& month, const what_if::WhatIf& result,
                           const std::string& title) {
  Table table;
  table.title = title + ", over time";
  table.columns = {{"at", "at", ColumnKind::kText},
                   {"gpus_held", "GPUs held", ColumnKind::kText},
                   {"gpus_held_what_if", "what if", ColumnKind::kText},
                   {"waiting", "jobs waiting", ColumnKind::kCount},
                   {"waiting_what_if", "what if", ColumnKind::kCount}};
  for (std::size_t i = 0; i < result.moments_calibrated.size(); ++i) {
    const what_if::Moment& was = result.moments_calibrated[i];
    const what_if::Moment& is = result.moments_would_be[i];
    const Instant at = month.period.begin() + std::chrono::milliseconds(was.at_us / 1000);
    table.rows.push_back({to_text(at), thousandths_text(was.held_milli),
                          thousandths_text(is.held_milli), was.waiting, is.waiting});
  }
  return table;
}

Table what_if_wait_table(const what_if::WhatIf& result, const std::string& title) {
  Table table;
  table.title = title + ", waits";
  table.columns = {{"percent_of_jobs", "percent of jobs", ColumnKind::kCount},
                   {"seconds_at_most", "wait at most, s", ColumnKind::kCount},
                   {"seconds_at_most_what_if", "what if", ColumnKind::kCount}};
  const auto seconds = [](const std::vector<std::int64_t>& waits, std::size_t percent) -> Cell {
    if (percent >= waits.size()) return std::monostate{};
    return static_cast<std::uint64_t>(waits[percent] / 1'000'000);
  };
  for (std::size_t percent = 0; percent <= 100; ++percent) {
    table.rows.push_back({static_cast<std::uint64_t>(percent),
                          seconds(result.calibrated.wait_percentiles, percent),
                          seconds(result.would_be.wait_percentiles, percent)});
  }
  return table;
}

}  // namespace pennyweight
