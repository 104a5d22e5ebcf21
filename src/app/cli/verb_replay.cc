// replay: what a month would have cost, and how long jobs would have waited, under another
// scheduler, fleet, demand or price.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>

#include "app/cli/shared_options.h"
#include "app/cli/verb.h"
#include "app/context/catalog_file.h"
#include "core/billing_period.h"
#include "core/try.h"
#include "insight/what_if/what_if.h"
#include "reporting/number_format.h"
#include "reporting/queries/ledger_month.h"

namespace pennyweight {
namespace {

// What an interruption costs a job if nobody says otherwise.
constexpr std::uint32_t kRestartSeconds = 300;

struct ReplayOptions {
  std::string month;
  std::string cluster;
  std::string order = "fcfs";
  std::string blocked = "backfill";
  std::string placement = "best-fit";
  bool preempts = false;
  std::optional<std::uint32_t> restart_s;
  std::uint32_t depth = 500;
  std::uint64_t seed = 1;
  std::vector<std::string> weights;
  std::vector<std::string> nodes;
  std::vector<std::string> demand;
  std::vector<std::string> prices;
  bool any_model = false;
  std::string spot;
  std::uint32_t replaced_min = 5;
  std::uint32_t checkpoint_min = 60;
  std::string calibrate_order = "fcfs";
  std::string calibrate_blocked = "skip";
  std::string calibrate_placement = "best-fit";
  std::uint32_t error_max = 5;
  std::string by = "team";
  std::string cost = "effective";
  std::optional<unsigned> threads;
  TableOptions table;
};

template <class Number>
std::optional<Number> parse_number(std::string_view text) {
  Number number{};
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// "NAME=60%", "60%": a name, which may be empty, and percent up to 10,000.
struct NamedPercent {
  std::string name;
  std::uint32_t percent;
};
Result<NamedPercent> parse_percent(const std::string& text, std::string_view option) {
  const std::size_t equals = text.rfind('=');
  const std::string name = equals == std::string::npos ? "" : text.substr(0, equals);
  std::string_view number(text);
  number.remove_prefix(equals == std::string::npos ? 0 : equals + 1);
  if (number.ends_with('%')) {
    number.remove_suffix(1);
    const auto percent = parse_number<std::uint32_t>(number);
    if (percent && *percent <= 10'000) return NamedPercent{name, *percent};
  }
  return usage_error(fmt::format(
      "{} '{}': write NAME=PERCENT% or PERCENT% for all, such as nlp=150% (0% to 10000%)", option,
      text));
}

// "H100-SXM5-80GB=0.5%", "2%": a model, which may be empty, and percent up to 100 with up to four
// decimals.
Result<what_if::SpotChange> parse_spot(const std::string& text) {
  constexpr std::size_t kDecimals = 4;
  constexpr std::uint32_t kAll = 1'000'000;  // millionths
  const std::size_t equals = text.rfind('=');
  what_if::SpotChange change;
  if (equals != std::string::npos) change.gpu_model = text.substr(0, equals);
  std::string number = text.substr(equals == std::string::npos ? 0 : equals + 1);
  const auto wrong = [&] {
    return usage_error(fmt::format(
        "--spot '{}': write MODEL=PERCENT% or PERCENT% for all nodes, the share of "
        "them that is taken back each hour, such as H100-SXM5-80GB=0.5% (0.0001% to 100%)",
        text));
  };
  if (!number.ends_with('%')) return wrong();
  number.pop_back();
  const std::size_t point = number.find('.');
  std::string decimals = point == std::string::npos ? "" : number.substr(point + 1);
  if (point != std::string::npos && (decimals.empty() || decimals.size() > kDecimals)) {
    return wrong();
  }
  decimals.resize(kDecimals, '0');
  const auto whole = parse_number<std::uint32_t>(std::string_view(number).substr(0, point));
  const auto rest = parse_number<std::uint32_t>(decimals);
  if (!whole || !rest || *whole > 100) return wrong();
  change.reclaimed_per_hour = *whole * 10'000 + *rest;
  if (change.reclaimed_per_hour == 0 || change.reclaimed_per_hour > kAll) {
    return wrong();
  }
  if (!change.gpu_model.empty() && find_gpu_model(change.gpu_model) == nullptr) {
    return usage_error(
        fmt::format("--spot '{}': GPU model '{}' is unknown or fits several; write it in full, "
                    "such as H100-SXM5-80GB",
                    text, change.gpu_model));
  }
  return change;
}

// "-20", "+4", "-20:model=H100-SXM5-80GB,pool=train".
Result<what_if::FleetChange> parse_nodes(const std::string& text) {
  const auto wrong = [&] {
    return usage_error(fmt::format(
        "--nodes '{}': write +N or -N, and which: -20:model=H100-SXM5-80GB,pool=train", text));
  };
  what_if::FleetChange change;
  const std::size_t colon = text.find(':');
  std::string_view number(text);
  number = number.substr(0, colon);
  if (number.starts_with('+')) number.remove_prefix(1);
  const auto nodes = parse_number<std::int64_t>(number);
  if (!nodes || *nodes == 0 || *nodes > 100'000 || *nodes < -100'000) return wrong();
  change.nodes = *nodes;
  std::size_t begin = colon;
  while (begin != std::string::npos) {
    const std::size_t end = text.find(',', begin + 1);
    const std::string part =
        text.substr(begin + 1, end == std::string::npos ? end : end - begin - 1);
    if (part.starts_with("model=")) {
      change.gpu_model = part.substr(6);
    } else if (part.starts_with("pool=")) {
      change.pool = part.substr(5);
    } else {
      return wrong();
    }
    begin = end;
  }
  if (!change.gpu_model.empty() && find_gpu_model(change.gpu_model) == nullptr) {
    return usage_error(
        fmt::format("--nodes '{}': GPU model '{}' is unknown or fits several models; write it in "
                    "full, such as H100-SXM5-80GB",
                    text, change.gpu_model));
  }
  return change;
}

Result<replay::Scheduling> parse_scheduling(const std::string& order, const std::string& blocked,
                                            const std::string& placement) {
  replay::Scheduling scheduling;
  const auto queue = replay::parse_queue_order(order);
  if (!queue) {
    return usage_error(fmt::format("scheduler '{}' is unknown; use one of {}", order,
                                   replay::queue_order_names()));
  }
  const auto rule = replay::parse_when_blocked(blocked);
  if (!rule) {
    return usage_error(
        fmt::format("'{}' is not a rule for when the first job is blocked; use one of {}", blocked,
                    replay::when_blocked_names()));
  }
  const auto place = replay::parse_placement_rule(placement);
  if (!place) {
    return usage_error(fmt::format("placement '{}' is unknown; use one of {}", placement,
                                   replay::placement_rule_names()));
  }
  scheduling.order = *queue;
  scheduling.when_blocked = *rule;
  scheduling.placement = *place;
  return scheduling;
}

Result<what_if::Scenario> parse_scenario(const ReplayOptions& options) {
  what_if::Scenario scenario;
  scenario.scheduling = TRY(parse_scheduling(options.order, options.blocked, options.placement));
  if (options.preempts && replay::is_fair(scenario.scheduling.order)) {
    return usage_error(fmt::format(
        "--preempt can't be combined with --scheduler {}: a fair queue interrupts no job",
        options.order));
  }
  scenario.scheduling.preempts = options.preempts;
  scenario.scheduling.depth = options.depth;
  scenario.scheduling.seed = options.seed;
  if (options.restart_s && !options.preempts && options.spot.empty()) {
    return usage_error("--restart is what an interruption costs; give --preempt or --spot too");
  }
  scenario.restart_us = std::int64_t{options.restart_s.value_or(kRestartSeconds)} * 1'000'000;
  for (const std::string& text : options.weights) {
    const std::size_t equals = text.rfind('=');
    const auto weight =
        equals == std::string::npos
            ? std::nullopt
            : parse_number<std::uint32_t>(std::string_view(text).substr(equals + 1));
    if (!weight || *weight == 0 || *weight > 1'000'000) {
      return usage_error(fmt::format("--weight '{}': write TEAM=N, N from 1 to 1000000", text));
    }
    scenario.scheduling.team_weights[text.substr(0, equals)] = *weight;
  }
  for (const std::string& text : options.nodes) scenario.fleet.push_back(TRY(parse_nodes(text)));
  for (const std::string& text : options.demand) {
    const NamedPercent share = TRY(parse_percent(text, "--demand"));
    scenario.demand.push_back({share.name, share.percent});
  }
  for (const std::string& text : options.prices) {
    const NamedPercent share = TRY(parse_percent(text, "--price"));
    if (!share.name.empty() && find_gpu_model(share.name) == nullptr) {
      return usage_error(
          fmt::format("--price '{}': GPU model '{}' is unknown or fits several; write it in full, "
                      "such as H100-SXM5-80GB",
                      text, share.name));
    }
    scenario.prices.push_back({share.name, share.percent});
  }
  scenario.any_model = options.any_model;
  if (!options.spot.empty()) {
    if (options.preempts) {
      return usage_error(
          "--spot can't be combined with --preempt: a replay interrupts for one reason only");
    }
    scenario.spot = TRY(parse_spot(options.spot));
    scenario.spot.replaced_after_us = std::int64_t{options.replaced_min} * 60 * 1'000'000;
    scenario.spot.checkpoint_every_us = std::int64_t{options.checkpoint_min} * 60 * 1'000'000;
    scenario.spot.seed = options.seed;
  }
  return scenario;
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

std::string duration(std::int64_t us) {
  const std::int64_t seconds = us / 1'000'000;
  if (seconds < 60) return fmt::format("{} s", seconds);
  if (seconds < 3600) return fmt::format("{} min {:02} s", seconds / 60, seconds % 60);
  return fmt::format("{} h {:02} min", seconds / 3600, seconds / 60 % 60);
}

GpuTime gpu_time(Int128 milli_gpu_us) {
  // A thousandth of a GPU is 72,072 of its units.
  return GpuTime::of(static_cast<UInt128>(milli_gpu_us) * (CardShare::kUnitsPerCard / 1000) / 1000);
}

std::string gpu_hours_text(Int128 milli_gpu_us) {
  return format_gpu_hours(gpu_time(milli_gpu_us), 2, Thousands::kSeparated);
}

// Hundredths of a percent as "97.35 %".
std::string share_text(Int128 part, Int128 whole) {
  if (whole == 0) return "-";
  const auto hundredths = static_cast<std::int64_t>(part * 10'000 / whole);
  return fmt::format("{}.{:02} %", hundredths / 100, hundredths % 100);
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
  table.rows.push_back({"GPU-hours held", gpu_hours_text(result.was.held),
                        gpu_hours_text(result.calibrated.held),
                        share_text(off < 0 ? -off : off, result.was.held)});
  table.rows.push_back({"GPUs allocated", share_text(result.was.held, result.was.capacity),
                        share_text(result.calibrated.held, result.calibrated.capacity), "-"});
  const auto wait = [&](const std::string& name, std::int64_t replayed) {
    table.rows.push_back({name, "0 s", duration(replayed), duration(replayed)});
  };
  wait("wait, p50", result.calibrated.wait_p50);
  wait("wait, p95", result.calibrated.wait_p95);
  table.notes.push_back(
      "A job counts as submitted when it began to hold, so all waiting of the replay is its "
      "error.");
  return table;
}

Table team_table(const what_if::WhatIf& result, const std::string& by, const std::string& title) {
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
                   {"wait_p95_what_if", "what if", ColumnKind::kText}};
  std::map<std::string, std::pair<what_if::TeamFigures, what_if::TeamFigures>> teams;
  for (const auto& [team, figures] : result.teams_calibrated) teams[team].first = figures;
  for (const auto& [team, figures] : result.teams_would_be) teams[team].second = figures;
  for (const auto& [team, pair] : teams) {
    const auto& [was, would_be] = pair;
    table.rows.push_back(
        {team.empty() ? "(none)" : team, std::to_string(was.jobs), std::to_string(would_be.jobs),
         gpu_hours_text(was.held), gpu_hours_text(would_be.held), duration(was.wait_mean),
         duration(would_be.wait_mean), duration(was.wait_p95), duration(would_be.wait_p95)});
  }
  table.notes.push_back("Each first column is the replay of what really ran.");
  return table;
}

Table job_table(const what_if::WhatIf& result, const std::string& title) {
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
  using what_if::JobFigures;
  add("jobs", [](const JobFigures& each) { return std::to_string(each.jobs); });
  add("never start", [](const JobFigures& each) { return std::to_string(each.never_start); });
  add("mean wait", [](const JobFigures& each) { return duration(each.wait_mean); });
  add("wait, p50", [](const JobFigures& each) { return duration(each.wait_p50); });
  add("wait, p95", [](const JobFigures& each) { return duration(each.wait_p95); });
  add("wait, p99", [](const JobFigures& each) { return duration(each.wait_p99); });
  add("GPU-hours held", [](const JobFigures& each) { return gpu_hours_text(each.held); });
  add("GPU-hours of that done again",
      [](const JobFigures& each) { return gpu_hours_text(each.lost); });
  add("GPU-hours idle", [](const JobFigures& each) {
    return gpu_hours_text(each.capacity - each.held - each.unavailable);
  });
  add("GPU-hours unavailable",
      [](const JobFigures& each) { return gpu_hours_text(each.unavailable); });
  add("GPU-hours unfinished",
      [](const JobFigures& each) { return gpu_hours_text(each.unfinished); });
  add("GPUs allocated", [](const JobFigures& each) {
    return each.capacity == 0 ? std::string("-") : to_text(each.held * 100 / each.capacity) + " %";
  });
  add("interruptions", [](const JobFigures& each) { return std::to_string(each.interruptions); });
  table.notes.push_back(
      "A job counts as submitted when it began to hold: waiting before that is not known.");
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
    for (const auto& [key, pair] : rows) {
      table.rows.push_back({key.second, pair.was, pair.would_be, pair.would_be - pair.was});
      total.was += pair.was;
      total.would_be += pair.would_be;
    }
    table.total = Row{"total", total.was, total.would_be, total.would_be - total.was};
    table.notes.push_back(
        "Divided by what was requested on both sides, since a replay has no telemetry.");
    tables.push_back(std::move(table));
  }
  return tables;
}

Result<ClusterId> choose_cluster(const std::string& option, const LedgerMonth& month) {
  std::vector<std::string> names;
  for (const ClusterId& id : month.clusters()) {
    if (!id.empty()) names.push_back(id.text());
  }
  if (option.empty() && names.size() == 1) return ClusterId(names.front());
  if (std::find(names.begin(), names.end(), option) != names.end()) return ClusterId(option);
  return usage_error(fmt::format("{}; the clusters of {} are {}",
                                 option.empty() ? std::string("name a cluster with --cluster")
                                                : fmt::format("there is no cluster '{}'", option),
                                 month.name(), fmt::join(names, ", ")));
}

Result<ExitCode> run(const ReplayOptions& options, Context& context) {
  what_if::Scenario scenario = TRY(parse_scenario(options));
  const replay::Scheduling calibration = TRY(parse_scheduling(
      options.calibrate_order, options.calibrate_blocked, options.calibrate_placement));
  const Policy& policy = context.config.policy;
  const bool is_known =
      std::any_of(policy.dimensions.begin(), policy.dimensions.end(),
                  [&](const DimensionRule& rule) { return rule.dimension == options.by; });
  if (!is_known) {
    return usage_error(fmt::format("--by '{}' is not a dimension of the policy", options.by));
  }
  const auto catalog = TRY(load_catalog(context.config));
  const auto store = TRY(open_ledger(context.config));
  const auto name = TRY(choose_month(options.month, *store));
  auto month = TRY(LedgerMonth::load(*store, name, context.config.join_rules));
  const ClusterId cluster = TRY(choose_cluster(options.cluster, month));
  const ClusterFacts facts = TRY(month.take_facts(*store, cluster));
  const auto period = charged_span(facts.charges);
  if (!period) {
    return fail(ErrorCode::kNotFound,
                fmt::format("cluster {} has no charge in {}", cluster.text(), name));
  }
  const what_if::WhatIf result =
      TRY(what_if::what_if({.month = name,
                            .period = *period,
                            .cluster = {.facts = {.cluster = cluster,
                                                  .charges = facts.charges,
                                                  .nodes = facts.nodes,
                                                  .gpus = facts.gpus,
                                                  .holdings = facts.holdings,
                                                  .catalog = catalog,
                                                  .join_rules = context.config.join_rules},
                                        .outages = facts.outages},
                            .policy = policy,
                            .scenario = std::move(scenario),
                            .calibration = calibration,
                            .error_percent_max = options.error_max,
                            .team_dimension = options.by,
                            .cost = cost_named(options.cost),
                            .threads = resolve_threads(options.threads, context.config)}));
  const std::string title = fmt::format("{} of cluster {}", name, cluster.text());
  std::vector<Table> tables = {calibration_table(result, title), job_table(result, title),
                               team_table(result, options.by, title)};
  const std::vector<Table> costs = cost_tables(result, options.by, title + ", " + options.cost);
  if (options.table.format == "csv") {
    // Tables with different columns: one header each, and an empty line between them.
    for (const Table& table : tables) {
      print_tables({table}, options.table, context);
      context.console.print("\n");
    }
    print_tables(costs, options.table, context);
    return ExitCode::kDone;
  }
  tables.insert(tables.end(), costs.begin(), costs.end());
  print_tables(tables, options.table, context);
  return ExitCode::kDone;
}

}  // namespace

Verb declare_replay(CLI::App& app) {
  const auto options = std::make_shared<ReplayOptions>();
  CLI::App* command = app.add_subcommand(
      "replay", "Replay a month under another scheduler, fleet, demand or price; writes nothing");
  command->add_option("--month", options->month,
                      "The billing month; optional if the ledger has only one");
  command->add_option("--cluster", options->cluster, "Optional if the month has only one");
  command
      ->add_option("--scheduler", options->order, "Who goes first: " + replay::queue_order_names())
      ->capture_default_str();
  command
      ->add_option("--blocked", options->blocked,
                   "What happens while the first job doesn't fit: " + replay::when_blocked_names())
      ->capture_default_str();
  command
      ->add_option("--placement", options->placement,
                   "Which node a job goes to: " + replay::placement_rule_names())
      ->capture_default_str();
  command->add_flag("--preempt", options->preempts,
                    "Jobs that come first interrupt others, which keep their progress");
  command
      ->add_option("--restart", options->restart_s,
                   fmt::format("Seconds that an interruption costs a job, with --preempt or "
                               "--spot; {} if not given",
                               kRestartSeconds))
      ->check(CLI::Range(0, 86'400));
  command->add_option("--weight", options->weights, "TEAM=N for fair queues; 1 if not given");
  command->add_option("--depth", options->depth, "Jobs tried behind a blocked one at each event")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  command->add_option("--seed", options->seed, "Of --placement random and --spot")
      ->capture_default_str();
  command->add_option(
      "--nodes", options->nodes,
      "-N or +N, and which: -20:model=H100-SXM5-80GB,pool=train. An added node costs what "
      "the first one of its kind does");
  command->add_option("--demand", options->demand, "TEAM=PERCENT%, or PERCENT% for all teams");
  command->add_option("--price", options->prices,
                      "MODEL=PERCENT% of the nodes' price, or PERCENT% for all nodes");
  CLI::Option* spot = command->add_option(
      "--spot", options->spot,
      "MODEL=PERCENT% or PERCENT% of the nodes are taken back each hour; jobs go on "
      "elsewhere from their last checkpoint. Give their price with --price");
  command
      ->add_option("--replaced-after", options->replaced_min,
                   "Minutes until a node that was taken back is replaced")
      ->needs(spot)
      ->check(CLI::Range(0, 44'640))
      ->capture_default_str();
  command
      ->add_option("--checkpoint", options->checkpoint_min,
                   "Minutes of work between checkpoints; 0: none, a job begins anew")
      ->needs(spot)
      ->check(CLI::Range(0, 44'640))
      ->capture_default_str();
  command->add_flag("--any-model", options->any_model,
                    "A job may run on any GPU model, at the speed it had");
  command
      ->add_option("--calibrate-scheduler", options->calibrate_order,
                   "The scheduling that really ran")
      ->capture_default_str();
  command->add_option("--calibrate-blocked", options->calibrate_blocked, "The same")
      ->capture_default_str();
  command->add_option("--calibrate-placement", options->calibrate_placement, "The same")
      ->capture_default_str();
  command
      ->add_option("--error-max", options->error_max,
                   "Percent of GPU time by which the replay of what really ran may be off")
      ->check(CLI::Range(0, 100))
      ->capture_default_str();
  command->add_option("--by", options->by, "A dimension of the policy; its values are the teams")
      ->capture_default_str();
  add_cost_option(*command, options->cost);
  add_threads_option(*command, options->threads);
  add_table_options(*command, options->table);
  command->footer(examples_footer("replay"));
  return {command, [options](Context& context) { return run(*options, context); }};
}

}  // namespace pennyweight
