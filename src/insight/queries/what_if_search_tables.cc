// What was asked besides one replay: ranges, and what searches tried.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "insight/queries/what_if_tables.h"
#include "insight/queries/what_if_text.h"
#include "reporting/number_format.h"

namespace pennyweight {
namespace {

using what_if::JobFigures;

std::string bill_text(const std::map<Currency, Money>& bill) {
  std::string text;
  for (const auto& [currency, cost] : bill) {
    if (!text.empty()) text += " + ";
    text += fmt::format("{} {}", format_rounded(cost.amount(), 2, Thousands::kSeparated),
                        currency.text());
  }
  return text.empty() ? "-" : text;
}

std::string yes_or_no(bool is_so) { return is_so ? "yes" : "no"; }

std::string replays_text(std::size_t count) {
  return counted(static_cast<std::uint64_t>(count), "replay");
}

}  // namespace

Table what_if_range_table(const WhatIfQuery& query, const what_if::WhatIf& result,
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
    add(name, time, [&](const JobFigures& each) { return replayed_duration_text(time(each)); });
  };
  const auto add_hours = [&](const std::string& name, Int128 JobFigures::* hours) {
    add(
        name, [&](const JobFigures& each) { return each.*hours; },
        [&](const JobFigures& each) { return replayed_hours_text(each.*hours); });
  };
  const auto add_count = [&](const std::string& name, std::uint64_t JobFigures::* count) {
    add(
        name, [&](const JobFigures& each) { return each.*count; },
        [&](const JobFigures& each) { return replayed_count_text(each.*count); });
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
  const bool has_unknown = std::ranges::any_of(result.speeds, [](const what_if::SpeedUse& use) {
    return use.bound == what_if::Bound::kUnknown && !use.stated_percent;
  });
  if (has_unknown) {
    table.notes.push_back(
        "Two of the replays take all jobs of which nobody says it as limited by compute, and by "
        "memory.");
  }
  table.notes.push_back(
      fmt::format("Of {} replays: {}{}{}. {}", all.size(),
                  query.questions.seeds > 1
                      ? fmt::format("seeds {} to {}", first, first + query.questions.seeds - 1)
                      : "",
                  query.questions.seeds > 1 && query.questions.demand_range_percent > 0 ? ", " : "",
                  query.questions.demand_range_percent > 0
                      ? fmt::format("demand as given and {} % below and above it",
                                    query.questions.demand_range_percent)
                  : query.questions.seeds > 1 ? ""
                                              : "what limits jobs on other GPUs",
                  query.scenario.autoscaled.empty()
                      ? "The bill is the same in each, since the nodes are."
                      : "The bill that is shown is that of the scenario itself."));
  table.notes.push_back("These are what was replayed, not bounds: a month may fall outside them.");
  return table;
}

Table what_if_fleet_table(const WhatIfQuery& query, const std::vector<what_if::FleetPoint>& fleets,
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
  for (const what_if::FleetPoint& point : fleets) {
    table.rows.push_back({point.nodes, fmt::format("{:+}", point.change),
                          exact_duration_text(point.figures.wait.p95),
                          replayed_share_text(point.figures.held, point.figures.capacity),
                          replayed_hours_text(point.figures.unfinished), bill_text(point.bill),
                          std::string(point.is_enough ? "yes" : "no")});
  }
  const std::string goal =
      fmt::format("95 % of jobs wait at most {}",
                  replayed_duration_text(query.questions.fleet->wait_p95_max_us));
  const auto found = std::find_if(fleets.begin(), fleets.end(),
                                  [](const what_if::FleetPoint& each) { return each.is_enough; });
  table.notes.push_back(
      found == fleets.end()
          ? fmt::format("No fleet that was tried is enough: {} in none.", goal)
          : fmt::format("{} nodes are enough: {}, and each job fits a node that does today.",
                        format_count(found->nodes, Thousands::kSeparated), goal));
  table.notes.push_back(
      "A search by halves: waiting need not grow with each node that goes, so another fleet may do "
      "as well. A commitment stays charged whatever the bill here says.");
  return table;
}

Table what_if_tier_table(const WhatIfQuery& query, const what_if::TierAnswer& answer,
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
      fmt::format("95 % of jobs wait at most {}", replayed_duration_text(goal.wait_p95_max_us));
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
      replayed_duration_text(goal.prices.kept_us)));
  return table;
}

Table what_if_mig_table(const WhatIfQuery& query, const what_if::MigAnswer& answer,
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
                                         replayed_duration_text(goal.wait_p95_max_us));
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

}  // namespace pennyweight
