// replay: what a month would have cost, and how long jobs would have waited, under another
// scheduler, fleet, demand or price.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "app/cli/replay_files.h"
#include "app/cli/replayed_ledger.h"
#include "app/cli/shared_options.h"
#include "app/cli/trace_ledger.h"
#include "app/cli/verb.h"
#include "app/context/catalog_file.h"
#include "app/context/price_files.h"
#include "config/policy_document.h"
#include "core/files/file.h"
#include "core/files/output_path.h"
#include "core/limits.h"
#include "core/try.h"
#include "insight/queries/what_if_query.h"
#include "insight/what_if/interruptions.h"
#include "insight/what_if/scenario_text.h"
#include "reporting/queries/currency.h"
#include "server/api/what_if_report.h"

namespace pennyweight {
namespace {

constexpr std::uint32_t kWaitErrorPercentsMax = 1'000'000;

struct ReplayOptions {
  std::string month;
  std::string cluster;
  TraceFiles trace;  // replayed instead of the ledger's month
  what_if::ScenarioTexts scenario;
  std::string calibrate_order = "fcfs";
  std::string calibrate_blocked = "skip";
  std::string calibrate_placement = "best-fit";
  std::string calibrate_lengths = "true";
  std::optional<std::uint32_t> error_max;  // 5 if not given
  std::uint32_t wait_error_max = what_if::kWaitErrorPercentMax;
  std::string by = "team";
  std::string cost = "effective";
  std::optional<unsigned> threads;
  std::string out;     // a ledger of the replayed month; empty: none
  std::string files;   // a folder of tables and charts; empty: none
  std::string report;  // a PDF; empty: none
  CurrencyOptions conversion;
  TableOptions table;
};

Result<WhatIfQuery> parse_query(const ReplayOptions& options, const Config& config) {
  WhatIfQuery query;
  query.cluster = options.cluster;
  query.scenario = TRY(what_if::parse_scenario(options.scenario));
  if (!options.scenario.spot_trace.empty()) {
    const std::string& path = options.scenario.spot_trace;
    const std::string text = TRY(read_file(path, what_if::kInterruptionBytesMax));
    query.scenario.interruptions = TRY(what_if::parse_interruptions(text, path));
  }
  if (!options.scenario.policy.empty()) {
    const std::string& path = options.scenario.policy;
    const std::string yaml = TRY(read_file(path, limits::kConfigBytesMax));
    query.policy = TRY(parse_policy(yaml, path, config.policy));
    query.policy_name = query.policy->name.empty() ? std::filesystem::path(path).filename().string()
                                                   : query.policy->name;
  }
  query.calibration = TRY(what_if::parse_scheduling(
      options.calibrate_order, options.calibrate_blocked, options.calibrate_placement));
  query.calibration_limits = TRY(what_if::parse_lengths(options.calibrate_lengths));
  query.error_percent_max = options.error_max.value_or(query.error_percent_max);
  query.wait_error_percent_max = options.wait_error_max;
  query.questions = TRY(what_if::parse_questions(options.scenario));
  query.by = options.by;
  query.cost = options.cost;
  query.threads = resolve_threads(options.threads, config);
  return query;
}

Result<void> write_files(const ReplayOptions& options, const WhatIfQuery& query,
                         const WhatIfMonth& month, const what_if::WhatIf& result,
                         const WhatIfTables& tables, Context& context) {
  if (!options.files.empty()) {
    const std::size_t files = TRY(write_replay_files(options.files, query, month, result, tables));
    context.console.say(fmt::format("pennyweight: wrote {} files of tables and charts to {}", files,
                                    options.files));
  }
  if (!options.report.empty()) {
    const std::string bytes = TRY(api::what_if_report(month.month, month.cluster.text(),
                                                      what_if::scenario_line(options.scenario),
                                                      tables, context.config.invoice.font));
    auto file = TRY(OutputFile::create(options.report));
    TRY(file.write(bytes));
    TRY(file.commit());
    context.console.say("pennyweight: wrote " + options.report);
  }
  return {};
}

// The conversion into the currency that was asked for. Each currency of the bill has its rate, or
// this is an Error: better than after a replay of minutes.
Result<std::optional<CurrencyConversion>> conversion_of(const ReplayOptions& options,
                                                        const WhatIfMonth& month,
                                                        const Config& config) {
  const auto to = TRY(chosen_currency(options.conversion, config));
  if (!to) return std::nullopt;
  CurrencyConversion conversion(
      *to,
      [&options, &config, to](const Currency& foreign) {
        return rates_between(foreign, *to, options.conversion, config);
      },
      rate_search(config));
  std::set<Currency> currencies;
  for (const Charge& charge : month.facts.charges) currencies.insert(charge.costs.currency());
  for (const Currency currency : currencies) {
    std::ignore = TRY(conversion.convert(Money::zero(currency), month.month));
  }
  return conversion;
}

Result<WhatIfTables> tables_in(CurrencyConversion& conversion, const WhatIfQuery& query,
                               const WhatIfTables& billed) {
  auto tables = TRY(what_if_tables_in(
      conversion.to(), [&](const Money& amount) { return conversion.convert(amount, query.month); },
      query, billed));
  note_rates(conversion.used(), tables);
  return tables;
}

Result<ExitCode> run(const ReplayOptions& options, Context& context) {
  const Config& config = context.config;
  auto parsed = parse_query(options, config);
  if (!parsed) return as_usage_error(parsed.error());
  if (!options.out.empty() && !options.scenario.new_teams.empty()) {
    return usage_error(
        "--out can't be combined with --new-team: a ledger knows teams by the labels of their "
        "jobs, and those of a new team are not known");
  }
  if (!options.out.empty()) TRY(check_new_ledger(options.out));
  if (!options.files.empty()) TRY(check_new_folder(options.files));
  if (!options.report.empty()) TRY(check_may_be_replaced(options.report));
  WhatIfQuery query = *std::move(parsed);
  const auto catalog = TRY(load_catalog(config));
  std::optional<WhatIfMonth> month;
  BillLines lines;  // for a ledger of the replayed month
  {
    std::optional<TraceLedger> trace;
    std::unique_ptr<Store> ledger;
    if (options.trace.is_any()) {
      auto made = TRY(TraceLedger::make(options.trace, options.cluster, options.month, context));
      trace.emplace(std::move(made));
      // Nothing ran on this fleet: where no job waited, there is nothing to come near to.
      if (!trace->says_waits() && !options.error_max) query.error_percent_max = 100;
      query.has_one_time_of_jobs = !trace->says_waits();
    } else {
      ledger = TRY(open_ledger(config));
    }
    Store* const store = trace ? &trace->store() : ledger.get();
    query.month = TRY(choose_month(options.month, *store));
    auto loaded = load_what_if_month(query, config.policy, config.join_rules, *store);
    if (!loaded) return as_usage_error(loaded.error());
    month = *std::move(loaded);
    if (trace) {
      TRY(trace->warn_of_others(month->cluster, month->period, query.month, context));
    }
    if (!options.out.empty()) {
      TRY(check_booked_month(query.month, month->facts.charges));
      auto read = TRY(read_bill_lines(*store, query.month));
      lines = std::move(read);
    }
  }
  auto conversion = TRY(conversion_of(options, *month, config));
  const what_if::WhatIf result =
      TRY(run_what_if(query, *month, config.policy, catalog, config.join_rules, nullptr,
                      [&](Currency from, Currency to, Date day) -> Result<FoundRate> {
                        const auto rates = TRY(rates_between(from, to, options.conversion, config));
                        return rates.rate_on(from, to, day, rate_search(config));
                      }));
  if (!options.out.empty()) {
    TRY(write_replayed_ledger({.path = options.out,
                               .month = query.month,
                               .facts = result.month,
                               .lines = lines,
                               .policy = query.policy ? *query.policy : config.policy,
                               .catalog = catalog,
                               .threads = query.threads,
                               .config = config,
                               .now = context.clock.now()}));
    context.console.say(fmt::format(
        "pennyweight: wrote {}, a ledger of {} on {} as replayed, allocated; it has nothing else. "
        "Read it with --store {}",
        options.out, query.month, month->cluster.text(), options.out));
  }
  WhatIfTables tables = what_if_tables(query, *month, result);
  if (conversion) tables = TRY(tables_in(*conversion, query, tables));
  TRY(write_files(options, query, *month, result, tables, context));
  std::vector<Table> about_jobs = {tables.calibration, tables.jobs};
  if (tables.range) about_jobs.push_back(*tables.range);
  for (const auto* search : {&tables.fleets, &tables.tiers, &tables.mig}) {
    if (*search) about_jobs.push_back(**search);
  }
  for (const auto* taken : {&tables.prices, &tables.speeds, &tables.commitments}) {
    if (*taken) about_jobs.push_back(**taken);
  }
  about_jobs.push_back(tables.teams);
  // What people read is rounded; programs get the figures themselves as well.
  if (options.table.format == "csv" || options.table.format == "json") {
    about_jobs.push_back(tables.exact);
  }
  if (options.table.format == "csv") {
    // Tables with different columns: one header each, and an empty line between them.
    for (const Table& table : about_jobs) {
      print_tables({table}, options.table, context);
      context.console.print("\n");
    }
    print_tables(tables.costs, options.table, context);
    context.console.print("\n");
    print_tables(tables.tier_costs, options.table, context);
    return ExitCode::kDone;
  }
  std::vector<Table> all = about_jobs;
  all.insert(all.end(), tables.costs.begin(), tables.costs.end());
  all.insert(all.end(), tables.tier_costs.begin(), tables.tier_costs.end());
  print_tables(all, options.table, context);
  return ExitCode::kDone;
}

// Who may hold what when, and jobs and nodes that come and go.
void add_team_options(CLI::App& command, what_if::ScenarioTexts& texts) {
  command.add_option("--quota", texts.quotas,
                     "TEAM=GPUS of its own; it may borrow what other quotas leave unused, at most "
                     "so many: nlp=16+8. Together teams hold at most the GPUs of all quotas");
  command.add_option("--off-peak", texts.windows,
                     "TEAM=FROM-TO in UTC: its jobs start in that part of the day only, such as "
                     "nlp=20:00-06:00");
  command
      .add_option("--guard", texts.guard_min,
                  "Minutes after which nobody overtakes a job that doesn't fit, with --blocked "
                  "skip or backfill")
      ->check(CLI::Range(1u, what_if::kMinutesMax));
  command.add_option("--spill-over", texts.spill_over,
                     "pool@LENGTH, region@LENGTH or cluster@LENGTH: jobs stay in the pool, region "
                     "or cluster in which they ran, and go to another once they have waited so "
                     "long, such as pool@60m");
  command
      .add_option("--same-rack", texts.same_rack,
                  "A job on several nodes gets those of one rack; racks have so many nodes, in the "
                  "order of their names")
      ->check(CLI::Range(1u, what_if::kRackNodesMax));
  command.add_option("--outage", texts.outages,
                     "N@TIME/LENGTH: so many nodes are away, and which: "
                     "4@2026-03-05T00:00:00Z/24h:model=H100-SXM5-80GB,pool=train");
  command.add_option("--autoscale", texts.autoscaled,
                     "N@START/KEPT or N-MOST@START/KEPT: nodes that start while jobs wait and stop "
                     "without work, and which: 4-20@5m/10m:model=H100-SXM5-80GB,pool=train keeps 4 "
                     "of at most 20 on");
  command.add_option("--slo", texts.slos,
                     "TEAM=MINUTES, or MINUTES for all others: also print the share of jobs that "
                     "wait longer");
  command.add_option("--power", texts.power,
                     "MODEL=HELD/IDLE: the watts of a GPU while it is held and while it is idle, "
                     "for the energy; its TDP and 15 % of it if not given");
  command.add_option("--new-team", texts.new_teams,
                     "NAME=TEAM@PERCENT%: a new team with so many percent of another one's jobs, "
                     "such as acme=nlp@50%");
  command.add_option("--repeat", texts.repeated,
                     "TEAM=GPUSxLENGTH@DAY HH:MM in UTC: a job that comes each week or daily, such "
                     "as 'nlp=8x24h@mon 02:00'");
}

// The searches of the cheapest mix of tiers and of the best MIG layout.
void add_search_options(CLI::App& command, what_if::ScenarioTexts& texts) {
  command
      .add_option("--cheapest-tiers", texts.cheapest_tiers,
                  "Search the cheapest mix of nodes on demand, spot and committed with which 95 % "
                  "of jobs wait at most so many minutes, and print the mixes that were tried")
      ->check(CLI::Range(0u, what_if::kMinutesMax));
  command.add_option("--committed", texts.committed,
                     "With --cheapest-tiers: what a commitment costs of the price on demand, such "
                     "as 60%; none is bought if not given");
  command.add_option("--spot-tier", texts.spot_tier,
                     "With --cheapest-tiers: what spot nodes cost of the price on demand, and the "
                     "share of them that is taken back each hour, such as 35%@2%; none are spot if "
                     "not given. See --checkpoint, --replaced-after and --restart");
  command.add_option("--tier-model", texts.tier_model,
                     "With --cheapest-tiers: only nodes with this GPU model; all with GPUs if not "
                     "given");
  command.add_option(
      "--tier-kept", texts.tier_kept_min,
      fmt::format("With --cheapest-tiers: minutes for which an empty node is still paid for; {} "
                  "if not given",
                  what_if::kTierKeptMinutes));
  command
      .add_option("--best-mig", texts.best_mig,
                  "Search the MIG layout, and the fewest nodes cut so, with which 95 % of the jobs "
                  "of --slice, and of all jobs, wait at most so many minutes")
      ->check(CLI::Range(0u, what_if::kMinutesMax));
  command.add_option("--mig-model", texts.mig_model,
                     "With --best-mig: the GPU model that is cut; the only one if not given");
  command.add_option(
      "--tries", texts.tries,
      fmt::format("Replays that --cheapest-tiers and --best-mig make at most; {} if not given",
                  what_if::kTries));
}

}  // namespace

Verb declare_replay(CLI::App& app) {
  const auto options = std::make_shared<ReplayOptions>();
  CLI::App* command = app.add_subcommand(
      "replay", "Replay a month under another scheduler, fleet, demand or price");
  command->add_option("--month", options->month,
                      "The billing month; optional if the ledger has only one");
  command->add_option(
      "--cluster", options->cluster,
      "Optional if the month has only one; with --spill-over cluster: the clusters that are "
      "replayed together, such as a,b, or all");
  command->add_option(
      "--jobs", options->trace.jobs,
      "Replay the jobs of these files instead of the ledger's: a trace as CSV (job, "
      "submit, gpus, duration_s), or whatever import knows of jobs. Needs --fleet, "
      "--cluster, and --bill or --rate-card");
  command->add_option("--fleet", options->trace.fleet,
                      "With --jobs: the nodes that they run on, as import takes them");
  command->add_option("--bill", options->trace.bills, "With --jobs: what these nodes cost");
  command->add_option("--rate-card", options->trace.rate_card,
                      "With --jobs: prices of these nodes, instead of a bill");
  command
      ->add_option("--scheduler", options->scenario.order,
                   "Who goes first: " + replay::queue_order_names())
      ->capture_default_str();
  command
      ->add_option("--blocked", options->scenario.blocked,
                   "What happens while the first job doesn't fit: " + replay::when_blocked_names())
      ->capture_default_str();
  command
      ->add_option("--placement", options->scenario.placement,
                   "Which node a job goes to: " + replay::placement_rule_names())
      ->capture_default_str();
  command->add_flag("--preempt", options->scenario.preempts,
                    "Jobs that come first interrupt others, which keep their progress");
  command
      ->add_option("--restart", options->scenario.restart_s,
                   fmt::format("Seconds that an interruption costs a job, with --preempt or "
                               "--spot; {} if not given",
                               what_if::kRestartSeconds))
      ->check(CLI::Range(0u, what_if::kRestartSecondsMax));
  command->add_option("--weight", options->scenario.weights,
                      "TEAM=N for fair queues; 1 if not given");
  command
      ->add_option("--depth", options->scenario.depth,
                   fmt::format("Jobs tried behind a blocked one at each event, without those that "
                               "a quota or part of the day refuses; {} if not given",
                               what_if::kDepth))
      ->check(CLI::Range(1u, what_if::kDepthMax));
  command
      ->add_option("--seed", options->scenario.seed, "Of --placement random, --spot and --fitted")
      ->capture_default_str();
  command->add_option(
      "--nodes", options->scenario.nodes,
      "-N or +N, and which: -20:model=H100-SXM5-80GB,pool=train. An added node costs what "
      "the first one of its kind does");
  command->add_flag("--fitted", options->scenario.fitted,
                    "Jobs are drawn anew by a generator that is fitted to the month: arrivals by "
                    "hour of the week, sizes and lengths; see --seed and --seeds");
  command->add_option("--demand", options->scenario.demand,
                      "TEAM=PERCENT%, or PERCENT% for all teams");
  command->add_option("--price", options->scenario.prices,
                      "MODEL=PERCENT% of the nodes' price, or PERCENT% for all nodes");
  command->add_option("--policy", options->scenario.policy,
                      "A policy file by which the scenario's cost is divided instead of the "
                      "ledger's policy");
  command->add_option(
      "--list-price", options->scenario.list_prices,
      "Nodes at list prices: same, PROVIDER or TYPE, and as needed :tier=spot, "
      "region=, date=, currency=, and which nodes: gcp:tier=committed_1y,date=2026-07-30,"
      "model=A100-SXM4-40GB. --price is in percent of it then");
  command->add_option("--replace-model", options->scenario.models,
                      "MODEL=MODEL: all GPUs of the first are replaced by as many of the second, "
                      "such as A100-SXM4-40GB=H100-SXM5-80GB; see --bound");
  command->add_option("--bound", options->scenario.bounds,
                      "What limits jobs on other GPUs: compute, memory, unknown, or how long they "
                      "take there (55%); for all, or TEAM=memory, or workload:train-*=compute; "
                      "unknown if not given");
  command->add_option("--commitment-buy", options->scenario.purchases,
                      "NODES@PRICE of an hour of each, NODES@committed_1y for the list price, or "
                      "AMOUNT@PERCENT% an hour; with the term and which nodes: "
                      "40@7.50/1y:model=H100-SXM5-80GB,pool=train,from=2026-03-10");
  command->add_option("--commitment-end", options->scenario.commitments,
                      "When commitments end: TIME for each of them, ID@TIME for one, and "
                      "ID@TIME=60% where it is exchanged for one that costs 60 % of the price on "
                      "demand");
  command->add_option(
      "--spot", options->scenario.spot,
      "MODEL=PERCENT% or PERCENT% of the nodes are taken back each hour; jobs go on "
      "elsewhere from their last checkpoint. Give their price with --price");
  command->add_option(
      "--spot-trace", options->scenario.spot_trace,
      "A CSV file with the columns node, from and to: when each node was taken back "
      "and until when none was there instead");
  command
      ->add_option(
          "--replaced-after", options->scenario.replaced_min,
          fmt::format("Minutes until a node that was taken back is replaced; {} if not given",
                      what_if::kReplacedMinutes))
      ->check(CLI::Range(0u, what_if::kMinutesMax));
  command
      ->add_option(
          "--checkpoint", options->scenario.checkpoint_min,
          fmt::format("Minutes of work between checkpoints; 0: none, a job begins anew; {} if "
                      "not given",
                      what_if::kCheckpointMinutes))
      ->check(CLI::Range(0u, what_if::kMinutesMax));
  command->add_flag("--any-model", options->scenario.any_model,
                    "A job may run on any GPU model, at the speed it had");
  command
      ->add_option("--lengths", options->scenario.lengths,
                   "What the scheduler knows of a job's length: true, or its time limit (limit)")
      ->capture_default_str();
  command->add_option("--slice", options->scenario.slices,
                      "TEAM=PROFILE or PROFILE for all, such as nlp=1g.5gb@120%: jobs of one GPU "
                      "get a MIG instance, and take 120 % of their time; nlp=25%@130%: a part of a "
                      "shared GPU; nlp=1g.5gb/08:00-20:00: those that come in that part of the day "
                      "in UTC");
  command->add_option("--mig-nodes", options->scenario.mig_nodes,
                      "N=PROFILE or N=PROFILE/FROM-TO in UTC: so many nodes are cut into "
                      "instances, in that part of each day, and which: "
                      "10=1g.5gb/08:00-20:00:model=A100-SXM4-40GB. Jobs of --slice with that "
                      "profile run there only");
  command
      ->add_option("--calibrate-scheduler", options->calibrate_order,
                   "The scheduling that really ran")
      ->capture_default_str();
  command->add_option("--calibrate-blocked", options->calibrate_blocked, "The same")
      ->capture_default_str();
  command->add_option("--calibrate-placement", options->calibrate_placement, "The same")
      ->capture_default_str();
  command->add_option("--calibrate-lengths", options->calibrate_lengths, "The same")
      ->capture_default_str();
  command
      ->add_option("--error-max", options->error_max,
                   "Percent of GPU time by which the replay of what really ran may be off; 5 if "
                   "not given, and 100 for a trace that doesn't say when jobs started")
      ->check(CLI::Range(0, 100));
  command
      ->add_option("--wait-error-max", options->wait_error_max,
                   "Likewise for its waits (median and 95th percentile), where jobs say when they "
                   "were submitted; less than half an hour is never too much")
      ->check(CLI::Range(0u, kWaitErrorPercentsMax))
      ->capture_default_str();
  CLI::Option* fewest =
      command
          ->add_option("--fewest-nodes", options->scenario.fewest_nodes,
                       "Search the fewest nodes with which 95 % of jobs wait at most so many "
                       "minutes, and print the fleets that were tried")
          ->check(CLI::Range(0u, what_if::kMinutesMax));
  command
      ->add_option("--fewest-model", options->scenario.fewest_model,
                   "Only nodes with this GPU model may go or come")
      ->needs(fewest);
  add_team_options(*command, options->scenario);
  add_search_options(*command, options->scenario);
  command
      ->add_option("--seeds", options->scenario.seeds,
                   "Replay the scenario under so many seeds, from --seed on, and print the range")
      ->check(CLI::Range(1u, what_if::kSeedsMax))
      ->capture_default_str();
  command
      ->add_option("--demand-range", options->scenario.demand_range,
                   "Replay it also with so many percent less and more demand, and print the range")
      ->check(CLI::Range(1u, what_if::kDemandRangeMax));
  command->add_option("--by", options->by, "A dimension of the policy; its values are the teams")
      ->capture_default_str();
  command->add_option("--out", options->out,
                      "Also write the replayed month as a ledger of its own, allocated, to this "
                      "new file; read it with --store");
  command->add_option("--files", options->files,
                      "Also write every table as CSV and Parquet, single jobs and nodes among "
                      "them, and charts as SVG, to this new folder");
  command->add_option("--report", options->report, "Also write the tables as a PDF to this file");
  add_currency_options(*command, options->conversion);
  add_cost_option(*command, options->cost);
  add_threads_option(*command, options->threads);
  add_table_options(*command, options->table);
  command->footer(examples_footer("replay"));
  return {command, [options](Context& context) { return run(*options, context); }};
}

}  // namespace pennyweight
