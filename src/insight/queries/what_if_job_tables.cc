// What a replay says of jobs: calibration, all jobs, the jobs of each team.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "insight/queries/what_if_tables.h"
#include "insight/queries/what_if_text.h"
#include "reporting/number_format.h"

namespace pennyweight {
namespace {

using what_if::JobFigures;
using what_if::TimeFigures;

constexpr Int128 kKilowattHour = Int128{1000} * 3600 * 1'000'000 * 1000;  // watts x milli-GPU x us

std::string energy_text(const JobFigures& figures) {
  if (!figures.energy) return "-";
  const Int128 hundredths = (*figures.energy * 100 + kKilowattHour / 2) / kKilowattHour;
  return fmt::format(
      "{}.{:02}", format_count(static_cast<std::uint64_t>(hundredths / 100), Thousands::kSeparated),
      static_cast<std::uint64_t>(hundredths % 100));
}

// Of the GPU time that telemetry saw: what it saw used.
std::string used_text(const JobFigures& figures) {
  return figures.seen == 0 ? "-" : replayed_share_text(figures.used, figures.seen);
}
std::string seen_text(const JobFigures& figures) {
  constexpr Int128 kMillion = 1'000'000;
  return replayed_share_text(figures.seen, figures.held * kMillion);
}

// What a scenario's limits of waiting are: "nlp 60 min, others 30 min".
std::string limits_text(const WhatIfQuery& query) {
  std::string text;
  for (const what_if::QueueLimit& limit : query.scenario.queue_limits) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ",
                        limit.team.empty() ? std::string("others") : limit.team,
                        replayed_duration_text(limit.wait_us));
  }
  return text;
}

}  // namespace

Table what_if_calibration_table(const WhatIfQuery& query, const what_if::WhatIf& result,
                                const std::string& title) {
  Table table;
  table.title = title + ", calibration";
  table.columns = {{"figure", "", ColumnKind::kText},
                   {"as_it_was", "as it was", ColumnKind::kText},
                   {"replayed_as_it_was", "its replay", ColumnKind::kText},
                   {"off_by", "off by", ColumnKind::kText}};
  const Int128 off = result.was.held - result.calibrated.held;
  table.rows.push_back({"GPU-hours held", replayed_hours_text(result.was.held),
                        replayed_hours_text(result.calibrated.held),
                        replayed_share_text(off < 0 ? -off : off, result.was.held)});
  table.rows.push_back({"GPUs allocated", replayed_share_text(result.was.held, result.was.capacity),
                        replayed_share_text(result.calibrated.held, result.calibrated.capacity),
                        "-"});
  const auto wait = [&](const std::string& name, std::int64_t TimeFigures::* figure) {
    const std::int64_t was = result.was.wait.*figure;
    const std::int64_t replayed = result.calibrated.wait.*figure;
    table.rows.push_back({name, replayed_duration_text(was), replayed_duration_text(replayed),
                          difference_text(was, replayed)});
  };
  wait("wait, p50", &TimeFigures::p50);
  wait("wait, p95", &TimeFigures::p95);
  if (result.with_submit > 0) {
    table.notes.push_back(
        "Waits count from when a job could run, where it says so (Slurm's Eligible), and from "
        "submission where it does not: there, a job that waited for another one, or that asked to "
        "begin later, counts as waiting for GPUs.");
  }
  if (query.has_one_time_of_jobs) {
    table.notes.push_back(
        "The files of jobs don't say both when a job was submitted and when it started, so both "
        "count as one time: all waiting of the replay is its error.");
  } else if (result.with_submit == 0) {
    table.notes.push_back(
        "No job says when it was submitted, so each counts as submitted when it began to hold: all "
        "waiting of the replay is its error.");
  } else if (result.with_submit < result.was.jobs) {
    table.notes.push_back(fmt::format(
        "{} of {} jobs say when they were submitted; the others count as submitted when they began "
        "to hold.",
        format_count(result.with_submit, Thousands::kSeparated),
        format_count(result.was.jobs, Thousands::kSeparated)));
  }
  return table;
}

Table what_if_job_table(const WhatIfQuery& query, const what_if::WhatIf& result,
                        const std::string& title) {
  Table table;
  table.title = title + ", jobs";
  table.columns = {{"figure", "", ColumnKind::kText},
                   {"as_it_was", "as it was", ColumnKind::kText},
                   {"replayed_as_it_was", "its replay", ColumnKind::kText},
                   {"what_if", "what if", ColumnKind::kText}};
  const auto add = [&](const std::string& name, auto shown) {
    table.rows.push_back(
        {name, shown(result.was), shown(result.calibrated), shown(result.would_be)});
  };
  add("jobs", [](const JobFigures& each) { return replayed_count_text(each.jobs); });
  add("never start", [](const JobFigures& each) { return replayed_count_text(each.never_start); });
  add("mean wait", [](const JobFigures& each) { return replayed_duration_text(each.wait.mean); });
  add("wait, p50", [](const JobFigures& each) { return replayed_duration_text(each.wait.p50); });
  add("wait, p95", [](const JobFigures& each) { return replayed_duration_text(each.wait.p95); });
  add("wait, p99", [](const JobFigures& each) { return replayed_duration_text(each.wait.p99); });
  add("mean completion",
      [](const JobFigures& each) { return replayed_duration_text(each.completion.mean); });
  add("completion, p50",
      [](const JobFigures& each) { return replayed_duration_text(each.completion.p50); });
  add("completion, p95",
      [](const JobFigures& each) { return replayed_duration_text(each.completion.p95); });
  add("completion, p99",
      [](const JobFigures& each) { return replayed_duration_text(each.completion.p99); });
  add("makespan", [](const JobFigures& each) { return replayed_duration_text(each.makespan); });
  add("GPU-hours held", [](const JobFigures& each) { return replayed_hours_text(each.held); });
  add("GPU-hours of that done again",
      [](const JobFigures& each) { return replayed_hours_text(each.lost); });
  add("GPU-hours idle", [](const JobFigures& each) { return replayed_hours_text(each.idle); });
  if (result.would_be.off + result.would_be.starting > 0) {
    add("GPU-hours off", [](const JobFigures& each) { return replayed_hours_text(each.off); });
    add("GPU-hours starting",
        [](const JobFigures& each) { return replayed_hours_text(each.starting); });
    add("node starts",
        [](const JobFigures& each) { return replayed_count_text(each.node_starts); });
  }
  add("GPU-hours unavailable",
      [](const JobFigures& each) { return replayed_hours_text(each.unavailable); });
  add("GPU-hours unfinished",
      [](const JobFigures& each) { return replayed_hours_text(each.unfinished); });
  add("GPUs allocated",
      [](const JobFigures& each) { return replayed_share_text(each.held, each.capacity); });
  table.rows.push_back({"GPU use while held, measured", used_text(result.was),
                        used_text(result.calibrated), used_text(result.would_be)});
  if (result.was.seen > 0) {
    table.rows.push_back({"GPU-hours of that measured", seen_text(result.was),
                          seen_text(result.calibrated), seen_text(result.would_be)});
  }
  if (result.would_be.off > 0) {
    add("GPUs allocated, of those on", [](const JobFigures& each) {
      return replayed_share_text(each.held, each.capacity - each.off);
    });
  }
  const auto fragmented = [](const std::optional<what_if::Fragmentation>& each) {
    return each ? replayed_share_text(each->unusable, each->idle) : std::string("-");
  };
  table.rows.push_back({"fragmentation of idle GPUs", "-",
                        fragmented(result.calibrated.fragmentation),
                        fragmented(result.would_be.fragmentation)});
  add("interruptions",
      [](const JobFigures& each) { return replayed_count_text(each.interruptions); });
  if (result.would_be.layout_changes > 0) {
    add("changes of layout",
        [](const JobFigures& each) { return replayed_count_text(each.layout_changes); });
    add("GPU-hours idle before them",
        [](const JobFigures& each) { return replayed_hours_text(each.draining); });
  }
  if (query.scenario.spill_over) {
    add("jobs elsewhere",
        [](const JobFigures& each) { return replayed_count_text(each.elsewhere); });
  }
  if (!query.scenario.queue_limits.empty()) {
    add("over their limit", [](const JobFigures& each) {
      return replayed_share_text(Int128{each.over_limit}, Int128{each.with_limit});
    });
  }
  add("energy of GPUs, kWh", energy_text);
  table.rows.push_back({"fairness (Jain)", "-", millionths_text(result.jain_was),
                        millionths_text(result.jain_would_be)});
  if (result.with_submit < result.was.jobs) {
    table.notes.push_back(
        "A job that does not say when it was submitted counts as submitted when it began to hold: "
        "waiting before that is not known.");
  }
  if (result.would_be.never_start > 0) {
    table.notes.push_back(fmt::format(
        "{} on no node{} of the changed fleet and never {}: their GPU-hours are unfinished work.",
        counted(result.would_be.never_start, "job") +
            (result.would_be.never_start == 1 ? " fits" : " fit"),
        query.scenario.rack_nodes > 0 ? " or rack" : "",
        result.would_be.never_start == 1 ? "starts" : "start"));
  }
  if (result.partly_there > 0) {
    table.notes.push_back(
        fmt::format("{} {} not there all the time, and {} replayed as if; the bill is that of the "
                    "time for which it charges them.",
                    replayed_count_text(result.partly_there),
                    result.partly_there == 1 ? "node was" : "nodes were",
                    result.partly_there == 1 ? "is" : "are"));
  }
  if (result.left_as_they_were > 0) {
    table.notes.push_back(fmt::format(
        "{} {} of claims, GPU groups or reservations left as they were.", result.left_as_they_were,
        result.left_as_they_were == 1 ? "holding is" : "holdings are"));
  }
  if (result.rounded_up > 0) {
    table.notes.push_back(
        fmt::format("{} {} fractions of more than one GPU in all, and {} whole GPUs in the replay.",
                    counted(result.rounded_up, "job"), result.rounded_up == 1 ? "holds" : "hold",
                    result.rounded_up == 1 ? "gets" : "get"));
  }
  if (result.would_be.off + result.would_be.starting > 0) {
    table.notes.push_back(
        "Autoscaled nodes are charged from the moment they are started to the moment they are "
        "stopped or taken back, at what they cost by the hour; while off they are not charged.");
    if (result.nodes_at_average > 0) {
      table.notes.push_back(fmt::format(
          "{} of them {} on at times for which the bill does not charge {}: there {} "
          "what {} by the hour on average.",
          replayed_count_text(result.nodes_at_average), result.nodes_at_average == 1 ? "is" : "are",
          result.nodes_at_average == 1 ? "it" : "them",
          result.nodes_at_average == 1 ? "it costs" : "they cost",
          result.nodes_at_average == 1 ? "it costs" : "they cost"));
    }
    if (result.charges_kept_whole > 0) {
      table.notes.push_back(fmt::format(
          "{} of these nodes {} not go by time, and {} charged whole: fees, taxes, credits, what a "
          "commitment covers, and what reaches out of the period.",
          counted(result.charges_kept_whole, "charge"),
          result.charges_kept_whole == 1 ? "does" : "do",
          result.charges_kept_whole == 1 ? "is" : "are"));
    }
  }
  if (query.scenario.fitted) {
    table.notes.push_back(
        "The scenario's jobs are drawn: as many arrive in each hour of the week as in the month on "
        "average, and each is a copy of one of them. One draw says little: ask for several with "
        "--seeds.");
  }
  if (query.scenario.spill_over) {
    table.notes.push_back(fmt::format(
        "Jobs elsewhere: they ran in another {0} than in the month, after they had waited {1} for "
        "room in their own, or since it could never hold them. The replay of what really ran keeps "
        "nobody in a {0}.",
        query.scenario.spill_over->scope == what_if::HomeScope::kPool ? "pool" : "region",
        replayed_duration_text(query.scenario.spill_over->after_us)));
  }
  if (!query.scenario.queue_limits.empty()) {
    table.notes.push_back(fmt::format(
        "Over their limit: the share of jobs that waited longer than they may ({}), or never "
        "started.",
        limits_text(query)));
  }
  if (result.was.seen > 0) {
    table.notes.emplace_back(
        "GPU use while held: of the GPU-hours that telemetry saw held, those that it saw "
        "computing, "
        "by the month's allocation. In a replay each job uses its GPUs as it did in the month; "
        "jobs "
        "on a slice, and those that a scenario makes up, count as not measured.");
  }
  if (result.would_be.energy) {
    table.notes.push_back(fmt::format(
        "Energy: GPUs that are held draw their TDP, as the catalogue has it, and those that are on "
        "and idle {} % of it, unless --power says otherwise; no CPUs, fans, networks or cooling. "
        "What was really drawn depends on the work: this is an upper bound.",
        what_if::kIdlePowerPercent));
  }
  if (result.would_be.gpus_without_watts > 0) {
    table.notes.push_back(fmt::format("{} of models whose power is not known {} left out of it.",
                                      counted(result.would_be.gpus_without_watts, "GPU"),
                                      result.would_be.gpus_without_watts == 1 ? "is" : "are"));
  }
  if (result.would_be.unavailable > 0) {
    table.notes.push_back(
        query.scenario.autoscaled.empty()
            ? "Nodes that are taken back are charged all the same: their bill says nothing of it."
            : "Nodes that are taken back and in no autoscaled pool are charged all the same: their "
              "bill says nothing of it.");
  }
  if (result.would_be.unfinished > 0) {
    table.notes.push_back(
        "Unfinished work would run, and cost, in the next month: compare costs with that in mind.");
  }
  return table;
}

Table what_if_team_table(const WhatIfQuery& query, const what_if::WhatIf& result,
                         const std::string& title) {
  const std::string& by = query.by;
  const bool has_limits = !query.scenario.queue_limits.empty();
  Table table;
  table.title = fmt::format("{}, jobs by {}", title, by);
  table.columns = {{by, by, ColumnKind::kText},
                   {"jobs", "jobs", ColumnKind::kText},
                   {"jobs_what_if", "what if", ColumnKind::kText},
                   {"held", "GPU-hours held", ColumnKind::kText},
                   {"held_what_if", "what if", ColumnKind::kText},
                   {"mean_wait", "mean wait", ColumnKind::kText},
                   {"mean_wait_what_if", "what if", ColumnKind::kText},
                   {"wait_p95", "wait, p95", ColumnKind::kText},
                   {"wait_p95_what_if", "what if", ColumnKind::kText},
                   {"completion", "mean completion", ColumnKind::kText},
                   {"completion_what_if", "what if", ColumnKind::kText},
                   {"stretch", "stretch", ColumnKind::kText},
                   {"stretch_what_if", "what if", ColumnKind::kText}};
  if (has_limits) {
    table.columns.push_back({"over_limit", "over their limit", ColumnKind::kText});
    table.columns.push_back({"over_limit_what_if", "what if", ColumnKind::kText});
  }
  std::map<std::string, std::pair<what_if::TeamFigures, what_if::TeamFigures>> teams;
  for (const auto& [team, figures] : result.teams_calibrated) teams[team].first = figures;
  for (const auto& [team, figures] : result.teams_would_be) teams[team].second = figures;
  for (const auto& [team, pair] : teams) {
    const auto& [was, would_be] = pair;
    table.rows.push_back(
        {team.empty() ? "(none)" : team, replayed_count_text(was.jobs),
         replayed_count_text(would_be.jobs), replayed_hours_text(was.held),
         replayed_hours_text(would_be.held), replayed_duration_text(was.wait.mean),
         replayed_duration_text(would_be.wait.mean), replayed_duration_text(was.wait.p95),
         replayed_duration_text(would_be.wait.p95), replayed_duration_text(was.completion.mean),
         replayed_duration_text(would_be.completion.mean), thousandths_text(was.stretch_milli),
         thousandths_text(would_be.stretch_milli)});
    if (!has_limits) continue;
    for (const what_if::TeamFigures* each : {&was, &would_be}) {
      table.rows.back().push_back(
          replayed_share_text(Int128{each->over_limit}, Int128{each->with_limit}));
    }
  }
  std::vector<std::pair<std::int64_t, std::string>> longer;  // by how much, who
  for (const auto& [team, pair] : teams) {
    const std::int64_t more = pair.second.wait.p95 - pair.first.wait.p95;
    if (more != 0) longer.emplace_back(more, team.empty() ? "(none)" : team);
  }
  std::ranges::stable_sort(longer, std::ranges::greater(),
                           &std::pair<std::int64_t, std::string>::first);
  const auto tell = [&](const auto& entry) {
    table.notes.push_back(
        fmt::format("95 % of the jobs of {} wait at most {} {}.", entry.second,
                    replayed_duration_text(entry.first < 0 ? -entry.first : entry.first),
                    entry.first < 0 ? "less" : "longer"));
  };
  constexpr std::size_t kTold = 3;
  for (std::size_t i = 0; i < std::min(kTold, longer.size()) && longer[i].first > 0; ++i) {
    tell(longer[i]);
  }
  if (!longer.empty() && longer.back().first < 0) tell(longer.back());
  table.notes.push_back("Each first column is the replay of what really ran.");
  table.notes.push_back(
      "Stretch: how many times as long the jobs took, from submission to end, as they would have "
      "without waiting and interruptions.");
  return table;
}

}  // namespace pennyweight
