#include "insight/queries/what_if_query.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <map>
#include <string_view>
#include <utility>

#include "core/gpu/gpu_model.h"
#include "core/try.h"
#include "insight/queries/replayed_runs.h"
#include "reporting/number_format.h"

namespace pennyweight {
namespace {

using what_if::JobFigures;
using what_if::TimeFigures;

constexpr std::uint64_t kMillion = 1'000'000;

Money Costs::* what_if_cost(const std::string& name) {
  if (name == "billed") return &Costs::billed;
  if (name == "list") return &Costs::list;
  if (name == "contracted") return &Costs::contracted;
  return &Costs::effective;
}

// From the first to the last charge of the month: a bill of four days is replayed for four days.
// A fee that is paid for a year counts with its month only.
std::optional<Interval> charged_span(std::span<const Charge> charges) {
  std::optional<Interval> span;
  for (const Charge& charge : charges) {
    const auto period = charge.charge_period.overlap(charge.billing_period);
    if (!period) continue;
    span = span ? Interval(std::min(span->begin(), period->begin()),
                           std::max(span->end(), period->end()))
                : period;
  }
  return span;
}

std::string duration_text(std::int64_t us) {
  const std::int64_t seconds = us / 1'000'000;
  if (seconds < 60) return fmt::format("{} s", seconds);
  if (seconds < 3600) return fmt::format("{} min {:02} s", seconds / 60, seconds % 60);
  return fmt::format("{} h {:02} min", seconds / 3600, seconds / 60 % 60);
}

// To the second, rounded up: what is longer than a limit never reads like the limit.
std::string exact_duration_text(std::int64_t us) {
  const std::int64_t seconds = (us + 999'999) / 1'000'000;
  if (seconds < 3600) return duration_text(seconds * 1'000'000);
  return fmt::format("{} h {:02} min {:02} s", seconds / 3600, seconds / 60 % 60, seconds % 60);
}

GpuTime replayed_gpu_time(Int128 milli_gpu_us) {
  // A thousandth of a GPU is 72,072 of its units.
  return GpuTime::of(static_cast<UInt128>(milli_gpu_us) * (CardShare::kUnitsPerCard / 1000) / 1000);
}

std::string replayed_hours_text(Int128 milli_gpu_us) {
  return format_gpu_hours(replayed_gpu_time(milli_gpu_us), 2, Thousands::kSeparated);
}

// Hundredths of a percent as "97.35 %".
std::string replayed_share_text(Int128 part, Int128 whole) {
  if (whole == 0) return "-";
  const auto hundredths = static_cast<std::int64_t>(part * 10'000 / whole);
  return fmt::format("{}.{:02} %", hundredths / 100, hundredths % 100);
}

constexpr Int128 kKilowattHour = Int128{1000} * 3600 * 1'000'000 * 1000;  // watts x milli-GPU x us

std::string energy_text(const JobFigures& figures) {
  if (!figures.energy) return "-";
  const Int128 hundredths = (*figures.energy * 100 + kKilowattHour / 2) / kKilowattHour;
  return fmt::format(
      "{}.{:02}", format_count(static_cast<std::uint64_t>(hundredths / 100), Thousands::kSeparated),
      static_cast<std::uint64_t>(hundredths % 100));
}

std::string millionths_text(std::uint64_t millionths) {
  return fmt::format("{}.{:06}", millionths / kMillion, millionths % kMillion);
}

std::string thousandths_text(std::uint64_t thousandths) {
  return fmt::format("{}.{:03}", thousandths / 1000, thousandths % 1000);
}

// By how much two times differ: "+5 min 00 s".
std::string difference_text(std::int64_t was, std::int64_t is) {
  if (was == is) return "0 s";
  return fmt::format("{}{}", is > was ? "+" : "-", duration_text(is > was ? is - was : was - is));
}

// How well the replay of what really ran gives what was, before anything is changed.
Table calibration_table(const what_if::WhatIf& result, const std::string& title) {
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
    table.rows.push_back(
        {name, duration_text(was), duration_text(replayed), difference_text(was, replayed)});
  };
  wait("wait, p50", &TimeFigures::p50);
  wait("wait, p95", &TimeFigures::p95);
  if (result.with_submit > 0) {
    table.notes.push_back(
        "Waits count from when a job could run, where it says so (Slurm's Eligible), and from "
        "submission where it does not: there, a job that waited for another one, or that asked to "
        "begin later, counts as waiting for GPUs.");
  }
  if (result.with_submit == 0) {
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

Table team_table(const WhatIfQuery& query, const what_if::WhatIf& result,
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
        {team.empty() ? "(none)" : team, std::to_string(was.jobs), std::to_string(would_be.jobs),
         replayed_hours_text(was.held), replayed_hours_text(would_be.held),
         duration_text(was.wait.mean), duration_text(would_be.wait.mean),
         duration_text(was.wait.p95), duration_text(would_be.wait.p95),
         duration_text(was.completion.mean), duration_text(would_be.completion.mean),
         thousandths_text(was.stretch_milli), thousandths_text(would_be.stretch_milli)});
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
    table.notes.push_back(fmt::format("95 % of the jobs of {} wait at most {} {}.", entry.second,
                                      duration_text(entry.first < 0 ? -entry.first : entry.first),
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

// What a scenario's limits of waiting are: "nlp 60 min, others 30 min".
std::string limits_text(const WhatIfQuery& query) {
  std::string text;
  for (const what_if::QueueLimit& limit : query.scenario.queue_limits) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ",
                        limit.team.empty() ? std::string("others") : limit.team,
                        duration_text(limit.wait_us));
  }
  return text;
}

Table job_table(const WhatIfQuery& query, const what_if::WhatIf& result, const std::string& title) {
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
  add("jobs", [](const JobFigures& each) { return std::to_string(each.jobs); });
  add("never start", [](const JobFigures& each) { return std::to_string(each.never_start); });
  add("mean wait", [](const JobFigures& each) { return duration_text(each.wait.mean); });
  add("wait, p50", [](const JobFigures& each) { return duration_text(each.wait.p50); });
  add("wait, p95", [](const JobFigures& each) { return duration_text(each.wait.p95); });
  add("wait, p99", [](const JobFigures& each) { return duration_text(each.wait.p99); });
  add("mean completion",
      [](const JobFigures& each) { return duration_text(each.completion.mean); });
  add("completion, p50", [](const JobFigures& each) { return duration_text(each.completion.p50); });
  add("completion, p95", [](const JobFigures& each) { return duration_text(each.completion.p95); });
  add("completion, p99", [](const JobFigures& each) { return duration_text(each.completion.p99); });
  add("makespan", [](const JobFigures& each) { return duration_text(each.makespan); });
  add("GPU-hours held", [](const JobFigures& each) { return replayed_hours_text(each.held); });
  add("GPU-hours of that done again",
      [](const JobFigures& each) { return replayed_hours_text(each.lost); });
  add("GPU-hours idle", [](const JobFigures& each) { return replayed_hours_text(each.idle); });
  if (result.would_be.off + result.would_be.starting > 0) {
    add("GPU-hours off", [](const JobFigures& each) { return replayed_hours_text(each.off); });
    add("GPU-hours starting",
        [](const JobFigures& each) { return replayed_hours_text(each.starting); });
    add("node starts", [](const JobFigures& each) { return std::to_string(each.node_starts); });
  }
  add("GPU-hours unavailable",
      [](const JobFigures& each) { return replayed_hours_text(each.unavailable); });
  add("GPU-hours unfinished",
      [](const JobFigures& each) { return replayed_hours_text(each.unfinished); });
  add("GPUs allocated",
      [](const JobFigures& each) { return replayed_share_text(each.held, each.capacity); });
  add("interruptions", [](const JobFigures& each) { return std::to_string(each.interruptions); });
  if (query.scenario.spill_over) {
    add("jobs elsewhere", [](const JobFigures& each) { return std::to_string(each.elsewhere); });
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
    table.notes.push_back(fmt::format("{} {} not there all the time, and {} replayed as if.",
                                      result.partly_there,
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
        "stopped, at what they cost by the hour; while off they are not charged.");
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
        duration_text(query.scenario.spill_over->after_us)));
  }
  if (!query.scenario.queue_limits.empty()) {
    table.notes.push_back(fmt::format(
        "Over their limit: the share of jobs that waited longer than they may ({}), or never "
        "started.",
        limits_text(query)));
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
        "Nodes that are taken back are charged all the same: their bill says nothing of it.");
  }
  if (result.would_be.unfinished > 0) {
    table.notes.push_back(
        "Unfinished work would run, and cost, in the next month: compare costs with that in mind.");
  }
  return table;
}

// How far the figures of the scenario depend on seed and demand.
Table range_table(const WhatIfQuery& query, const what_if::WhatIf& result,
                  const std::string& title) {
  Table table;
  table.title = title + ", range";
  table.columns = {{"figure", "", ColumnKind::kText},
                   {"lowest", "lowest", ColumnKind::kText},
                   {"what_if", "what if", ColumnKind::kText},
                   {"highest", "highest", ColumnKind::kText}};
  std::vector<const JobFigures*> all = {&result.would_be};
  for (const JobFigures& each : result.varied) all.push_back(&each);
  const auto add = [&](const std::string& name, auto value, auto shown) {
    const auto [lowest, highest] = std::minmax_element(
        all.begin(), all.end(),
        [&](const JobFigures* a, const JobFigures* b) { return value(*a) < value(*b); });
    table.rows.push_back({name, shown(**lowest), shown(result.would_be), shown(**highest)});
  };
  const auto add_time = [&](const std::string& name, auto time) {
    add(name, time, [&](const JobFigures& each) { return duration_text(time(each)); });
  };
  const auto add_hours = [&](const std::string& name, Int128 JobFigures::* hours) {
    add(
        name, [&](const JobFigures& each) { return each.*hours; },
        [&](const JobFigures& each) { return replayed_hours_text(each.*hours); });
  };
  const auto add_count = [&](const std::string& name, std::uint64_t JobFigures::* count) {
    add(
        name, [&](const JobFigures& each) { return each.*count; },
        [&](const JobFigures& each) { return std::to_string(each.*count); });
  };
  add_count("jobs", &JobFigures::jobs);
  add_count("never start", &JobFigures::never_start);
  add_time("mean wait", [](const JobFigures& each) { return each.wait.mean; });
  add_time("wait, p50", [](const JobFigures& each) { return each.wait.p50; });
  add_time("wait, p95", [](const JobFigures& each) { return each.wait.p95; });
  add_time("mean completion", [](const JobFigures& each) { return each.completion.mean; });
  add_time("completion, p95", [](const JobFigures& each) { return each.completion.p95; });
  add_time("makespan", [](const JobFigures& each) { return each.makespan; });
  add_hours("GPU-hours held", &JobFigures::held);
  add_hours("GPU-hours of that done again", &JobFigures::lost);
  add_hours("GPU-hours unavailable", &JobFigures::unavailable);
  if (!query.scenario.autoscaled.empty()) {
    add_hours("GPU-hours off", &JobFigures::off);
    add_hours("GPU-hours starting", &JobFigures::starting);
  }
  add_hours("GPU-hours unfinished", &JobFigures::unfinished);
  add(
      "GPUs allocated", [](const JobFigures& each) { return each.held; },
      [](const JobFigures& each) { return replayed_share_text(each.held, each.capacity); });
  add_count("interruptions", &JobFigures::interruptions);
  if (!query.scenario.queue_limits.empty()) {
    add(
        "over their limit", [](const JobFigures& each) { return each.over_limit; },
        [](const JobFigures& each) {
          return replayed_share_text(Int128{each.over_limit}, Int128{each.with_limit});
        });
  }
  const std::uint64_t first = query.scenario.scheduling.seed;
  table.notes.push_back(
      fmt::format("Of {} replays: {}{}{}. {}", all.size(),
                  query.questions.seeds > 1
                      ? fmt::format("seeds {} to {}", first, first + query.questions.seeds - 1)
                      : "",
                  query.questions.seeds > 1 && query.questions.demand_range_percent > 0 ? ", " : "",
                  query.questions.demand_range_percent > 0
                      ? fmt::format("demand as given and {} % below and above it",
                                    query.questions.demand_range_percent)
                      : "",
                  query.scenario.autoscaled.empty()
                      ? "The bill is the same in each, since the nodes are."
                      : "The bill that is shown is that of the scenario itself."));
  table.notes.push_back("These are what was replayed, not bounds: a month may fall outside them.");
  return table;
}

std::string bill_text(const std::map<Currency, Money>& bill) {
  std::string text;
  for (const auto& [currency, cost] : bill) {
    if (!text.empty()) text += " + ";
    text += fmt::format("{} {}", format_rounded(cost.amount(), 2, Thousands::kSeparated),
                        currency.text());
  }
  return text.empty() ? "-" : text;
}

// The fleets that were tried, fewest nodes first, and what the search found.
Table fleet_table(const WhatIfQuery& query, const what_if::WhatIf& result,
                  const std::string& title) {
  Table table;
  table.title = title + ", fewest nodes";
  table.columns = {{"nodes", "nodes", ColumnKind::kCount},
                   {"change", "change", ColumnKind::kText},
                   {"wait_p95", "wait, p95", ColumnKind::kText},
                   {"allocated", "GPUs allocated", ColumnKind::kText},
                   {"unfinished", "GPU-hours unfinished", ColumnKind::kText},
                   {"bill", "bill", ColumnKind::kText},
                   {"enough", "enough", ColumnKind::kText}};
  for (const what_if::FleetPoint& point : result.fleets) {
    table.rows.push_back({point.nodes, fmt::format("{:+}", point.change),
                          exact_duration_text(point.figures.wait.p95),
                          replayed_share_text(point.figures.held, point.figures.capacity),
                          replayed_hours_text(point.figures.unfinished), bill_text(point.bill),
                          std::string(point.is_enough ? "yes" : "no")});
  }
  const std::string goal = fmt::format("95 % of jobs wait at most {}",
                                       duration_text(query.questions.fleet->wait_p95_max_us));
  const auto found = std::find_if(result.fleets.begin(), result.fleets.end(),
                                  [](const what_if::FleetPoint& each) { return each.is_enough; });
  table.notes.push_back(
      found == result.fleets.end()
          ? fmt::format("No fleet that was tried is enough: {} in none.", goal)
          : fmt::format("{} nodes are enough: {}, and each job fits a node that does today.",
                        format_count(found->nodes, Thousands::kSeparated), goal));
  table.notes.push_back(
      "A search by halves: waiting need not grow with each node that goes, so another fleet may do "
      "as well. A commitment stays charged whatever the bill here says.");
  return table;
}

std::string yes_or_no(bool is_so) { return is_so ? "yes" : "no"; }

std::string replays_text(std::size_t count) {
  return counted(static_cast<std::uint64_t>(count), "replay");
}

// The mixes of tiers that were tried, cheapest first, and what the search found.
Table tier_table(const WhatIfQuery& query, const what_if::TierAnswer& answer,
                 const std::string& title) {
  const what_if::TierGoal& goal = *query.questions.tiers;
  const auto money = [&](Int128 ticks) { return Money::from_ticks(ticks, answer.currency); };
  Table table;
  table.title = title + ", tiers";
  table.currency = answer.currency;
  table.columns = {{"nodes", "nodes", ColumnKind::kCount},
                   {"on_demand", "on demand", ColumnKind::kCount},
                   {"spot", "spot", ColumnKind::kCount},
                   {"committed", "committed", ColumnKind::kCount},
                   {"wait_p95", "wait, p95", ColumnKind::kText},
                   {"interruptions", "interruptions", ColumnKind::kCount},
                   {"unfinished", "GPU-hours unfinished", ColumnKind::kText},
                   {"committed_cost", "committed cost", ColumnKind::kMoney},
                   {"on_demand_cost", "on-demand cost", ColumnKind::kMoney},
                   {"spot_cost", "spot cost", ColumnKind::kMoney},
                   {"cost", "cost", ColumnKind::kMoney},
                   {"enough", "enough", ColumnKind::kText},
                   {"frontier", "frontier", ColumnKind::kText}};
  for (const what_if::TierPoint& point : answer.points) {
    table.rows.push_back({std::uint64_t{point.nodes}, std::uint64_t{point.nodes - point.spot},
                          std::uint64_t{point.spot}, std::uint64_t{point.committed},
                          exact_duration_text(point.wait_p95_us), point.interruptions,
                          replayed_hours_text(point.unfinished), money(point.committed_cost),
                          money(point.on_demand_cost), money(point.spot_cost), money(point.cost()),
                          yes_or_no(point.is_enough), yes_or_no(point.is_on_frontier)});
  }
  const std::string wanted =
      fmt::format("95 % of jobs wait at most {}", duration_text(goal.wait_p95_max_us));
  const auto best = std::ranges::find_if(answer.points, &what_if::TierPoint::is_enough);
  const auto amount = [&](Int128 ticks) {
    return fmt::format("{} {}", format_rounded(money(ticks).amount(), 2, Thousands::kSeparated),
                       answer.currency.text());
  };
  table.notes.push_back(
      best == answer.points.end()
          ? fmt::format("No mix that was tried is enough: {} in none.", wanted)
          : fmt::format("Cheapest of those that are enough ({}): up to {}, {} of them spot, with a "
                        "commitment worth {}, for {}. All {} on demand and all the time cost {}.",
                        wanted, counted(std::uint64_t{best->nodes}, "node"), best->spot,
                        counted(std::uint64_t{best->committed}, "node"), amount(best->cost()),
                        counted(answer.nodes, "node"), amount(answer.price)));
  table.notes.push_back(fmt::format(
      "{}, at most {}. Frontier: no other mix that was tried costs less and waits no longer, or "
      "costs as much and waits less.",
      replays_text(answer.points.size()), goal.tries_max));
  table.notes.push_back(fmt::format(
      "What the bill charges for a node counts as its price on demand. On-demand and spot nodes "
      "are paid for while a job holds something of them and {} afterwards; committed capacity is "
      "paid for all the time, and covers what runs on demand. Starting a node takes no time here.",
      duration_text(goal.prices.kept_us)));
  return table;
}

// The layouts that were tried, cheapest first, and what the search found.
Table mig_table(const WhatIfQuery& query, const what_if::MigAnswer& answer,
                const std::string& title) {
  const what_if::MigGoal& goal = *query.questions.mig;
  Table table;
  table.title = title + ", MIG layouts";
  table.currency = answer.currency;
  table.columns = {{"layout", "layout of each GPU", ColumnKind::kText},
                   {"nodes", "nodes cut", ColumnKind::kCount},
                   {"instances", "instances", ColumnKind::kCount},
                   {"wait_p95_moved", "wait on instances, p95", ColumnKind::kText},
                   {"wait_p95", "wait of all, p95", ColumnKind::kText},
                   {"never_start", "never start", ColumnKind::kCount},
                   {"cost", "cost of nodes cut", ColumnKind::kMoney},
                   {"enough", "enough", ColumnKind::kText},
                   {"frontier", "frontier", ColumnKind::kText}};
  for (const what_if::MigPoint& point : answer.found.points) {
    table.rows.push_back({point.layout, std::uint64_t{point.nodes}, point.instances,
                          exact_duration_text(point.moved_p95_us),
                          exact_duration_text(point.all_p95_us), point.never_start,
                          Money::from_ticks(point.cost, answer.currency),
                          yes_or_no(point.is_enough), yes_or_no(point.is_on_frontier)});
  }
  const std::string wanted = fmt::format("95 % of jobs, and of those on instances, wait at most {}",
                                         duration_text(goal.wait_p95_max_us));
  const auto best = std::ranges::find_if(answer.found.points, &what_if::MigPoint::is_enough);
  table.notes.push_back(
      best == answer.found.points.end()
          ? fmt::format("No layout that was tried is enough: {} with none.", wanted)
          : fmt::format("{} on {} of {} is enough for the {} that move: {}.", best->layout,
                        counted(std::uint64_t{best->nodes}, "node"), counted(answer.nodes, "node"),
                        counted(answer.jobs, "job"), wanted));
  table.notes.push_back(fmt::format(
      "{}, at most {}; {} of the {} of {} that hold these jobs, each of them full. Frontier: no "
      "other one that was tried costs less and waits no longer, or costs as much and waits less.",
      replays_text(answer.found.points.size()), goal.tries_max, answer.found.layouts_tried,
      counted(answer.found.layouts, "layout"), answer.gpu_model));
  table.notes.push_back(
      "Nodes that are cut have one layout on every GPU, all the time, and are there for the jobs "
      "that move alone; the others stay whole. CPUs and memory of cut nodes limit nobody here.");
  return table;
}

std::vector<what_if::Variation> variations_of(const WhatIfQuery& query) {
  std::vector<std::uint32_t> demands = {100};
  if (query.questions.demand_range_percent > 0) {
    demands.push_back(100 - query.questions.demand_range_percent);
    demands.push_back(100 + query.questions.demand_range_percent);
  }
  std::vector<what_if::Variation> variations;
  const std::uint64_t first = query.scenario.scheduling.seed;
  for (std::uint32_t n = 0; n < query.questions.seeds; ++n) {
    for (const std::uint32_t demand : demands) {
      if (n == 0 && demand == 100) continue;  // the scenario itself
      variations.push_back({.seed = first + n, .demand_percent = demand});
    }
  }
  return variations;
}

// Seeds of a scenario in which nothing is drawn would give one replay many times.
Result<void> check_seeds(const WhatIfQuery& query) {
  const bool draws = query.scenario.scheduling.placement == replay::PlacementRule::kRandom ||
                     query.scenario.spot.reclaimed_per_hour > 0 || query.scenario.fitted;
  if (query.questions.seeds <= 1 || draws) return {};
  return fail(
      ErrorCode::kConfig,
      fmt::format("{} seeds change nothing: only spot capacity, the placement 'random' "
                  "and fitted jobs are drawn. Give a range of demand instead (--demand-range 10)",
                  query.questions.seeds));
}

// By how much a figure changed: "-20.0 %"; nothing where there was none of it.
std::optional<std::string> change_text(Int128 was, Int128 is) {
  if (was <= 0 || is < 0) return std::nullopt;
  const Int128 change = is - was;
  const Int128 size = change < 0 ? -change : change;
  // Amounts are far below 2^117 ticks, so that a thousand times one fits.
  const auto tenths = static_cast<std::uint64_t>((size * 1000 + was / 2) / was);
  return fmt::format("{}{}.{} %", change < 0 ? "-" : "+", tenths / 10, tenths % 10);
}

struct CostChange {
  std::string key;
  Money was, would_be;
  Int128 size() const {
    const Int128 change = would_be.ticks() - was.ticks();
    return change < 0 ? -change : change;
  }
};

// Who pays less or more, and whether it is for fewer GPU-hours or for cheaper ones: those whose
// cost changes most.
std::vector<std::string> explain_costs(const what_if::WhatIf& result,
                                       std::vector<CostChange> changes) {
  constexpr std::size_t kExplained = 3;
  std::ranges::stable_sort(changes, std::ranges::greater(), &CostChange::size);
  const auto held_by = [](const what_if::FiguresByTeam& teams, const std::string& key) {
    const auto team = teams.find(key == "(none)" ? "" : key);
    return team == teams.end() ? Int128{0} : team->second.held;
  };
  std::vector<std::string> notes;
  for (const CostChange& change : changes) {
    if (change.size() == 0 || notes.size() == kExplained) break;
    const Money difference = change.would_be - change.was;
    const Money size = difference.is_negative() ? -difference : difference;
    std::string note = fmt::format(
        "{} pays {} {} {}", change.key, format_rounded(size.amount(), 2, Thousands::kSeparated),
        size.currency().text(), difference.is_negative() ? "less" : "more");
    const Int128 held_was = held_by(result.teams_calibrated, change.key);
    const Int128 held_is = held_by(result.teams_would_be, change.key);
    const auto held = change_text(held_was, held_is);
    // Per GPU-hour: cost and hours in units small enough to be multiplied.
    constexpr Int128 kNano = 1'000'000'000;
    constexpr Int128 kGpuSecond = Int128{1000} * 1'000'000;
    const Int128 seconds_was = held_was / kGpuSecond;
    const Int128 seconds_is = held_is / kGpuSecond;
    const auto each = seconds_is == 0 ? std::nullopt
                                      : change_text(change.was.ticks() / kNano * seconds_is,
                                                    change.would_be.ticks() / kNano * seconds_was);
    if (held) note += fmt::format("; GPU-hours held: {}", *held);
    if (each) note += fmt::format("; cost of each: {}", *each);
    notes.push_back(note + ".");
  }
  return notes;
}

// One table per currency.
std::vector<Table> cost_tables(const what_if::WhatIf& result, const std::string& by,
                               const std::string& title) {
  struct Pair {
    Money was, would_be;
  };
  std::map<Currency, std::map<std::pair<bool, std::string>, Pair>> sums;
  const auto add = [&](const MethodCosts& costs, Money Pair::* side) {
    for (const CostPart& part : costs.parts) {
      const bool is_bucket = part.workload.empty();
      std::string key = fmt::format("({})", part.bucket);
      if (!is_bucket) {
        const auto owner = costs.owners.find(part.workload);
        const auto value = owner == costs.owners.end() ? std::nullopt : owner->second.find(by);
        key = value ? std::string(*value) : "(none)";
      }
      const Currency currency = part.cost.currency();
      const auto row = sums[currency].try_emplace(
          {is_bucket, key}, Pair{Money::zero(currency), Money::zero(currency)});
      row.first->second.*side += part.cost;
    }
  };
  add(result.cost_was, &Pair::was);
  add(result.cost_would_be, &Pair::would_be);
  std::vector<Table> tables;
  for (const auto& [currency, rows] : sums) {
    Table table;
    table.title = fmt::format("{}, cost by {}, {}", title, by, currency.text());
    table.currency = currency;
    table.columns = {{by, by, ColumnKind::kText},
                     {"as_it_was", "as it was", ColumnKind::kMoney},
                     {"what_if", "what if", ColumnKind::kMoney},
                     {"difference", "difference", ColumnKind::kMoney}};
    Pair total{Money::zero(currency), Money::zero(currency)};
    std::vector<CostChange> changes;
    for (const auto& [key, pair] : rows) {
      if (!key.first) changes.push_back({key.second, pair.was, pair.would_be});
      table.rows.push_back({key.second, pair.was, pair.would_be, pair.would_be - pair.was});
      total.was += pair.was;
      total.would_be += pair.would_be;
    }
    table.total = Row{"total", total.was, total.would_be, total.would_be - total.was};
    table.notes = explain_costs(result, std::move(changes));
    table.notes.push_back(
        "Divided by what was requested on both sides, since a replay has no telemetry.");
    tables.push_back(std::move(table));
  }
  return tables;
}

// A count of so many parts of a unit, unrounded: 1500000 of 1000000 parts is "1.500000".
std::string decimal_text(Int128 parts, Int128 of) {
  const Int128 size = parts < 0 ? -parts : parts;
  std::string rest;
  for (Int128 digit = of / 10; digit > 0; digit /= 10) {
    rest += static_cast<char>('0' + static_cast<int>(size / digit % 10));
  }
  return fmt::format("{}{}.{}", parts < 0 ? "-" : "", to_text(size / of), rest);
}

// What the tables for people round: the figures of all jobs, and then those of each team, in units
// in which nothing is lost.
Table exact_table(const WhatIfQuery& query, const what_if::WhatIf& result,
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

// GPUs held and jobs waiting, at moments of the period.
Table moment_table(const WhatIfMonth& month, const what_if::WhatIf& result,
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

// How long the shortest-waiting N percent waited at most.
Table wait_table(const what_if::WhatIf& result, const std::string& title) {
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

Result<ClusterId> choose_replayed_cluster(const std::string& wanted, const LedgerMonth& month) {
  std::vector<std::string> names;
  for (const ClusterId& id : month.clusters()) {
    if (!id.empty()) names.push_back(id.text());
  }
  if (wanted.empty() && names.size() == 1) return ClusterId(names.front());
  if (std::find(names.begin(), names.end(), wanted) != names.end()) return ClusterId(wanted);
  if (names.empty()) {
    return fail(ErrorCode::kNotFound, fmt::format("{} has no charges of a cluster", month.name()));
  }
  return fail(ErrorCode::kBadValue,
              fmt::format("{}; the clusters of {} are {}",
                          wanted.empty() ? std::string("name a cluster")
                                         : fmt::format("there is no cluster '{}'", wanted),
                          month.name(), fmt::join(names, ", ")));
}

}  // namespace

Result<WhatIfMonth> load_what_if_month(const WhatIfQuery& query, const Policy& policy,
                                       std::span<const JoinRule> join_rules, Store& store) {
  const bool is_known =
      std::any_of(policy.dimensions.begin(), policy.dimensions.end(),
                  [&](const DimensionRule& rule) { return rule.dimension == query.by; });
  if (!is_known) {
    return fail(ErrorCode::kBadValue,
                fmt::format("'{}' is not a dimension of the policy", query.by));
  }
  auto month = TRY(LedgerMonth::load(store, query.month, join_rules));
  const ClusterId cluster = TRY(choose_replayed_cluster(query.cluster, month));
  ClusterFacts facts = TRY(month.take_facts(store, cluster));
  const auto period = charged_span(facts.charges);
  if (!period) {
    return fail(ErrorCode::kNotFound,
                fmt::format("cluster {} has no charge in {}", cluster.text(), query.month));
  }
  std::uint64_t last_import = 0;
  for (const ImportRecord& record : TRY(store.imports())) {
    last_import = std::max(last_import, record.number);
  }
  return WhatIfMonth{.month = query.month,
                     .cluster = cluster,
                     .facts = std::move(facts),
                     .period = *period,
                     .last_import = last_import};
}

Result<WhatIfChoices> what_if_choices(const std::string& month, const std::string& cluster,
                                      std::span<const JoinRule> join_rules, Store& store) {
  const auto loaded = TRY(LedgerMonth::load(store, month, join_rules));
  WhatIfChoices choices;
  for (const ClusterId& id : loaded.clusters()) {
    if (!id.empty()) choices.clusters.push_back(id.text());
  }
  if (choices.clusters.empty()) {
    return fail(ErrorCode::kNotFound, fmt::format("{} has no charges of a cluster", month));
  }
  choices.cluster = cluster.empty() ? choices.clusters.front() : cluster;
  if (std::ranges::find(choices.clusters, choices.cluster) == choices.clusters.end()) {
    return fail(ErrorCode::kNotFound,
                fmt::format("{} has no charges of a cluster '{}'", month, cluster));
  }
  const auto period = charged_span(loaded.charges(ClusterId(choices.cluster)));
  if (!period) return choices;
  // What each node was last in the period: a scenario selects nodes by that.
  const std::vector<Node> nodes = TRY(store.nodes());
  std::map<std::string_view, const Node*> last;
  for (const Node& node : nodes) {
    const bool was_there = node.from < period->end() && (!node.to || *node.to > period->begin());
    if (node.cluster.text() != choices.cluster || !was_there) continue;
    const Node*& known = last.try_emplace(node.name.text(), &node).first->second;
    if (known->from < node.from) known = &node;
  }
  for (const auto& [name, node] : last) {
    if (node->gpu_count == 0) continue;
    const GpuModel* model = find_gpu_model(node->gpu_model);
    if (model != nullptr) ++choices.models[model->name];
    ++choices.pools[node->pool.text()];
  }
  return choices;
}

Result<what_if::WhatIf> run_what_if(const WhatIfQuery& query, const WhatIfMonth& month,
                                    const Policy& policy, const Catalog& catalog,
                                    std::span<const JoinRule> join_rules,
                                    what_if::WhatIfProgress* progress) {
  TRY(check_seeds(query));
  return what_if::what_if({.month = month.month,
                           .period = month.period,
                           .cluster = {.facts = {.cluster = month.cluster,
                                                 .charges = month.facts.charges,
                                                 .nodes = month.facts.nodes,
                                                 .gpus = month.facts.gpus,
                                                 .holdings = month.facts.holdings,
                                                 .catalog = catalog,
                                                 .join_rules = join_rules},
                                       .outages = month.facts.outages},
                           .policy = policy,
                           .scenario = query.scenario,
                           .variations = variations_of(query),
                           .questions = query.questions,
                           .calibration = query.calibration,
                           .calibration_limits = query.calibration_limits,
                           .error_percent_max = query.error_percent_max,
                           .wait_error_percent_max = query.wait_error_percent_max,
                           .team_dimension = query.by,
                           .cost = what_if_cost(query.cost),
                           .threads = query.threads,
                           .progress = progress});
}

std::vector<std::pair<std::string_view, const Table*>> named_tables(const WhatIfTables& tables) {
  std::vector<std::pair<std::string_view, const Table*>> named = {
      {"calibration", &tables.calibration}, {"jobs", &tables.jobs}};
  for (const auto& [name, table] :
       {std::pair{"range", &tables.range}, std::pair{"fleets", &tables.fleets},
        std::pair{"tiers", &tables.tiers}, std::pair{"mig", &tables.mig}}) {
    if (*table) named.emplace_back(name, &**table);
  }
  named.emplace_back("teams", &tables.teams);
  named.emplace_back("exact", &tables.exact);
  named.emplace_back("moments", &tables.moments);
  named.emplace_back("waits", &tables.waits);
  named.emplace_back("gantt", &tables.gantt);
  return named;
}

WhatIfTables what_if_tables(const WhatIfQuery& query, const WhatIfMonth& month,
                            const what_if::WhatIf& result) {
  const std::string title = fmt::format("{} of cluster {}", month.month, month.cluster.text());
  return {
      .calibration = calibration_table(result, title),
      .jobs = job_table(query, result, title),
      .range =
          result.varied.empty() ? std::nullopt : std::optional(range_table(query, result, title)),
      .fleets =
          result.fleets.empty() ? std::nullopt : std::optional(fleet_table(query, result, title)),
      .tiers = result.tiers ? std::optional(tier_table(query, *result.tiers, title)) : std::nullopt,
      .mig = result.mig ? std::optional(mig_table(query, *result.mig, title)) : std::nullopt,
      .teams = team_table(query, result, title),
      .costs = cost_tables(result, query.by, title + ", " + query.cost),
      .exact = exact_table(query, result, title),
      .moments = moment_table(month, result, title),
      .waits = wait_table(result, title),
      .gantt = gantt_table(query, month, result, kGanttRows)};
}

}  // namespace pennyweight
