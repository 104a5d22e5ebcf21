// guard: what the guardrails of the configuration decide about workloads, and tests of the rules.
#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "app/cli/guard_approvals.h"
#include "app/cli/guard_cases.h"
#include "app/cli/guard_limits.h"
#include "app/cli/pricing_options.h"
#include "app/cli/shared_options.h"
#include "app/cli/verb.h"
#include "app/context/catalog_file.h"
#include "app/context/cluster_objects_file.h"
#include "config/guardrail_config.h"
#include "core/files/file.h"
#include "core/limits.h"
#include "core/plain_text.h"
#include "core/try.h"
#include "core/week_hours.h"
#include "ingest/manifests/manifest_files.h"
#include "insight/guardrails/changed_estimate.h"
#include "insight/guardrails/findings.h"
#include "insight/guardrails/rules.h"
#include "insight/guardrails/usage_limit.h"
#include "insight/queries/guard_replay.h"
#include "insight/queries/limit_query.h"

namespace pennyweight {
namespace {

using guardrails::Decision;
using guardrails::GuardrailRule;

struct GuardReplayArguments {
  std::string rules;  // a file of its own; empty: the configuration
  std::string month;
  std::string cluster;
  std::string by = "team";
  TableOptions table;
};

struct GuardArguments {
  std::vector<std::string> paths;
  PricingOptions pricing;
  std::string today;
  GuardApprovalOptions approvals;
  TableOptions table;
};

// What the verbs check before they price anything.
Result<void> check_rules(const Config& config, Currency currency) {
  if (config.guardrails->rules.empty()) {
    return usage_error("the configuration has no rules; state them in guardrails.rules");
  }
  const auto in = TRY(guardrails::rules_currency(config.guardrails->rules));
  if (!in || *in == currency) return {};
  return usage_error(
      fmt::format("the amounts of the rules are in {}; price in it too: --currency {}", in->text(),
                  in->text()));
}

Result<void> check_limits(const Config& config, Currency currency) {
  for (const guardrails::UsageLimit& limit : config.guardrails->limits) {
    if (!limit.per_month || limit.per_month->currency() == currency) continue;
    const auto in = limit.per_month->currency();
    return usage_error(
        fmt::format("the amount of the limit {} is in {}; price in it too: "
                    "--currency {}",
                    limit.name, in.text(), in.text()));
  }
  return {};
}

Result<Date> read_today(const std::string& text, Instant now) {
  if (text.empty()) return std::chrono::floor<std::chrono::days>(now);
  const auto day = parse_date(text);
  if (!day) return usage_error("--today: " + day.error().message);
  return *day;
}

std::string hit_names(const guardrails::Verdict& verdict) {
  std::string names;
  for (const guardrails::RuleHit& hit : verdict.hits) {
    if (!names.empty()) names += ", ";
    names += hit.rule;
  }
  return names;
}

void add_hit_rows(const std::string& title, const guardrails::Verdict& verdict, Table& table) {
  for (const guardrails::RuleHit& hit : verdict.hits) {
    std::string counts = fmt::format("{}", to_text(hit.effect));
    if (hit.mode != guardrails::RuleMode::kEnforce)
      counts += fmt::format(" ({})", to_text(hit.mode));
    if (!hit.exempted_for.empty()) counts = "exempt: " + hit.exempted_for;
    std::string why = hit.because;
    for (const std::string* more : {&hit.reason, &hit.way_out}) {
      if (!more->empty()) why += (why.empty() ? "" : "; ") + *more;
    }
    table.rows.push_back({title, hit.rule, counts, why});
  }
}

Result<ExitCode> run_check(const GuardArguments& arguments, Context& context) {
  const auto options =
      TRY(read_pricing_options(arguments.pricing, context.config, context.clock.now()));
  TRY(check_limits(context.config, options.currency));
  // Limits can be checked without rules.
  if (!context.config.guardrails->rules.empty() || context.config.guardrails->limits.empty()) {
    TRY(check_rules(context.config, options.currency));
  }
  const Date today = TRY(read_today(arguments.today, context.clock.now()));
  const auto catalog = TRY(load_catalog(context.config));
  const auto arrived = TRY(estimate_paths(arguments.paths, catalog, options));
  const auto budgets = TRY(measured_budgets(context, today));
  guardrails::RuleContext when{
      .today = today, .budgets = budgets, .policy = &context.config.policy};
  when.now = wall_time(context.clock.now(), context.config.policy.time_zone);
  auto listed = TRY(load_cluster_objects(context.config));
  const auto cluster = manifests::with_files(std::move(listed), arrived.cluster);
  when.cluster = &cluster;
  const auto estimate = TRY(guardrails::estimate_changed(arrived, context.config.guardrails->rules,
                                                         catalog, options, when));
  Table decisions;
  decisions.title = "Decisions";
  decisions.currency = estimate.currency;
  decisions.columns = {{"workload", "workload", ColumnKind::kText},
                       {"decision", "decision", ColumnKind::kText},
                       {"cost_per_hour", "per hour", ColumnKind::kMoney},
                       {"not_priced", "parts not priced", ColumnKind::kCount}};
  Table hits;
  hits.title = "Rules that apply";
  hits.columns = {{"workload", "workload", ColumnKind::kText},
                  {"rule", "rule", ColumnKind::kText},
                  {"effect", "effect", ColumnKind::kText},
                  {"why", "why", ColumnKind::kId}};
  Table approvals;
  approvals.title = "Approvals";
  approvals.columns = {{"workload", "workload", ColumnKind::kText},
                       {"approval", "approval", ColumnKind::kId}};
  // Approvals are used up only where everything passes.
  struct LiftedWorkload {
    const guardrails::WorkloadEstimate* workload;
    guardrails::Verdict verdict;
  };
  std::vector<LiftedWorkload> lifted;
  GuardApprovalOptions looks = arguments.approvals;
  looks.uses = false;
  Decision strictest = Decision::kAllowed;
  const auto limits = TRY(measured_limits(context));
  const std::uint64_t left_ms = month_left_ms(context.clock.now(), context.config.policy);
  for (const guardrails::WorkloadEstimate& workload : estimate.workloads) {
    auto verdict = guardrails::judge_workload(workload, context.config.guardrails->rules,
                                              estimate.currency, when);
    guardrails::add_hits(guardrails::limit_hits(workload, limits, estimate.currency, left_ms,
                                                &context.config.policy),
                         verdict);
    const std::string title = guardrails::workload_title(workload.workload);
    const auto totals = guardrails::totals_of(workload, estimate.currency);
    Decision decision = verdict.decision;
    std::string shown(to_text(decision));
    if (decision == Decision::kNeedsApproval) {
      const auto settled =
          TRY(settle_approval(workload, verdict, estimate.currency, looks, context));
      if (settled.is_approved) {
        lifted.push_back({&workload, verdict});
        decision = Decision::kAllowed;
        shown = "approved";
      }
      if (!settled.what.empty()) approvals.rows.push_back({title, settled.what});
    }
    decisions.rows.push_back({title, shown, totals.per_hour, totals.not_priced});
    add_hit_rows(title, verdict, hits);
    strictest = std::max(strictest, decision);
  }
  // What is not understood at all no rule can judge, so it does not pass.
  bool is_all_judged = true;
  for (const manifests::UnpricedObject& object : estimate.unpriced) {
    if (object.runs_nothing) continue;
    is_all_judged = false;
    context.console.warn(fmt::format(
        "{}:{}: {} {}: no rule can judge it: {}", printable_text(object.file, 400), object.line,
        printable_text(object.kind, 80), printable_text(object.name, 200), object.reason));
  }
  if (arguments.approvals.uses && strictest < Decision::kNeedsApproval && is_all_judged) {
    for (const LiftedWorkload& one : lifted) {
      const auto used = TRY(settle_approval(*one.workload, one.verdict, estimate.currency,
                                            arguments.approvals, context));
      if (used.is_approved) continue;
      strictest = Decision::kNeedsApproval;
      approvals.rows.push_back({guardrails::workload_title(one.workload->workload), used.what});
    }
  }
  std::vector<Table> tables = {std::move(decisions)};
  if (!hits.rows.empty() && arguments.table.format != "csv") tables.push_back(std::move(hits));
  if (!approvals.rows.empty() && arguments.table.format != "csv") {
    tables.push_back(std::move(approvals));
  }
  print_tables(tables, arguments.table, context);
  const bool passes = strictest < Decision::kNeedsApproval && is_all_judged;
  return passes ? ExitCode::kDone : ExitCode::kCheckFailed;
}

// The verdict of a case's only workload.
Result<guardrails::Verdict> judge_case(const GuardCase& one, const Catalog& catalog,
                                       const guardrails::EstimateOptions& options,
                                       const Config& config, Date today, Instant now) {
  const manifests::ManifestFile file{.name = one.name, .text = one.manifest};
  const auto reading = TRY(manifests::read_manifest_files({&file, 1}));
  if (!one.today.empty()) {
    const Date stated = TRY(parse_date(one.today));
    today = stated;
  }
  guardrails::RuleContext when{.today = today, .policy = &config.policy};
  when.now = one.now ? *one.now : wall_time(now, config.policy.time_zone);
  const auto budgets = TRY(stated_budgets(one, config, today));
  when.budgets = budgets;
  when.cluster = &reading.cluster;  // a case says all that it is about
  const auto arrived = TRY(guardrails::estimate_workloads(reading, catalog, options));
  const auto estimate =
      TRY(guardrails::estimate_changed(arrived, config.guardrails->rules, catalog, options, when));
  if (estimate.workloads.size() != 1) {
    return fail(ErrorCode::kBadFile,
                fmt::format("the manifest has {} workloads that can be read, and a case has one{}",
                            estimate.workloads.size(),
                            reading.unpriced.empty() ? "" : ": " + reading.unpriced[0].reason));
  }
  return guardrails::judge_workload(estimate.workloads[0], config.guardrails->rules,
                                    estimate.currency, when);
}

// What is wrong with a verdict; empty: nothing.
std::string mismatch(const GuardCase& one, const guardrails::Verdict& verdict) {
  if (verdict.decision != one.expected) {
    return fmt::format("{} instead of {}; rules that apply: {}", to_text(verdict.decision),
                       to_text(one.expected), hit_names(verdict));
  }
  if (!one.rules) return "";
  std::vector<std::string> hits;
  for (const guardrails::RuleHit& hit : verdict.hits) hits.push_back(hit.rule);
  if (hits == *one.rules) return "";
  return fmt::format("other rules apply than expected: {}", hit_names(verdict));
}

Result<ExitCode> run_test(const GuardArguments& arguments, Context& context) {
  const auto options =
      TRY(read_pricing_options(arguments.pricing, context.config, context.clock.now()));
  TRY(check_rules(context.config, options.currency));
  const Date today = TRY(read_today(arguments.today, context.clock.now()));
  const auto catalog = TRY(load_catalog(context.config));
  std::uint64_t passed = 0;
  std::uint64_t failed = 0;
  for (const std::string& path : arguments.paths) {
    const std::string text = TRY(read_file(path, limits::kConfigBytesMax));
    const auto cases = TRY(parse_guard_cases(text, path));
    for (const GuardCase& one : cases) {
      const auto verdict =
          judge_case(one, catalog, options, context.config, today, context.clock.now());
      const std::string wrong = verdict ? mismatch(one, *verdict) : verdict.error().message;
      ++(wrong.empty() ? passed : failed);
      if (wrong.empty()) continue;
      context.console.print(
          fmt::format("{}:{}: {}: {}\n", path, one.line, printable_text(one.name, 200), wrong));
    }
  }
  context.console.print(fmt::format("{} passed, {} failed\n", passed, failed));
  return failed == 0 ? ExitCode::kDone : ExitCode::kCheckFailed;
}

// The rules of another file, so that several sets can be tried on one ledger.
Result<std::shared_ptr<const GuardrailConfig>> replayed_rules(const std::string& file,
                                                              const Config& config) {
  if (file.empty()) return config.guardrails;
  const std::string text = TRY(read_file(file, limits::kConfigBytesMax));
  const auto other = parse_config(text, file);
  if (!other) return as_usage_error(other.error());
  return other->guardrails;
}

Result<ExitCode> run_replay(const GuardReplayArguments& arguments, Context& context) {
  const auto guardrails = TRY(replayed_rules(arguments.rules, context.config));
  if (guardrails->rules.empty()) {
    return usage_error("there are no rules; state them in guardrails.rules");
  }
  const auto store = TRY(open_ledger(context.config));
  const std::string month = TRY(choose_month(arguments.month, *store));
  GuardReplayQuery query{.month = month,
                         .cluster = arguments.cluster,
                         .rules = guardrails->rules,
                         .currency = guardrails->pricing.currency,
                         .by = arguments.by};
  for (const ClusterConfig& cluster : context.config.clusters) {
    if (cluster.kind == ClusterKind::kSlurm) query.slurm_clusters.push_back(cluster.name);
  }
  const auto replay = replay_guardrails(query, context.config.policy, *store);
  if (!replay) return as_usage_error(replay.error());
  auto tables = guard_replay_tables(*replay);
  // Rows of one file have one header.
  if (arguments.table.format == "csv") tables.resize(1);
  print_tables(tables, arguments.table, context);
  return ExitCode::kDone;
}

void add_guard_options(CLI::App& command, GuardArguments& arguments, const char* files) {
  command.add_option("FILE", arguments.paths, files)->required();
  add_pricing_options(command, arguments.pricing);
  command.add_option("--today", arguments.today,
                     "The day on which exemptions are tried; by default, today");
}

}  // namespace

Verb declare_guard(CLI::App& app) {
  const auto arguments = std::make_shared<GuardArguments>();
  CLI::App* command = app.add_subcommand("guard", "Say what the guardrails decide about workloads");
  command->require_subcommand(1);
  CLI::App* check = command->add_subcommand(
      "check", "Judge manifests, job scripts and plans; exit code 1 where one is stopped");
  add_guard_options(*check, *arguments, "Files, folders, or - for standard input");
  add_guard_approval_options(*check, arguments->approvals);
  add_table_options(*check, arguments->table);
  CLI::App* test =
      command->add_subcommand("test", "Try the rules on cases; exit code 1 where one fails");
  add_guard_options(*test, *arguments, "Files of cases");
  const auto replayed = std::make_shared<GuardReplayArguments>();
  CLI::App* replay = command->add_subcommand(
      "replay", "Judge a past month of the ledger: who would have been stopped, and what it cost");
  add_booked_month_option(*replay, replayed->month);
  replay->add_option("--cluster", replayed->cluster, "Only this one");
  replay->add_option("--rules", replayed->rules,
                     "The rules of another configuration file; by default, of this one");
  replay->add_option("--by", replayed->by, "The dimension of who is told of")
      ->capture_default_str();
  add_table_options(*replay, replayed->table);
  const auto limited = std::make_shared<GuardLimitArguments>();
  CLI::App* limits = command->add_subcommand(
      "limits", "Show how much of each limit is used, or write it for those who place work");
  limits->add_option("--export", limited->system, "resourcequota, kueue, volcano, runai or slurm");
  limits->add_option(
      "--drift", limited->drift,
      "With --export: compare with these files of what a cluster has; exit code 1 if "
      "something differs");
  limits->add_flag("--check", limited->checks, "Exit with 1 if a hard limit is used up");
  add_table_options(*limits, limited->table);
  const auto exported = std::make_shared<GuardExportArguments>();
  CLI::App* exports =
      command->add_subcommand("export", "Write the rules that Kubernetes can enforce by itself");
  exports->add_option("--policy", exported->system, "cel, kyverno or gatekeeper")
      ->capture_default_str();
  const auto stopped = std::make_shared<GuardStopArguments>();
  CLI::App* stops = command->add_subcommand(
      "stops", "Show which running work limits stop, as pennyweight serve knows it; stops nothing");
  add_serve_options(*stops, stopped->serve);
  stops->add_flag("--due", stopped->due_only, "Only what may be stopped now");
  stops->add_option("--cluster", stopped->cluster, "Only of this one; commands are for one");
  stops->add_option("--format", stopped->format, "text, csv, json, or commands: of what is due")
      ->check(CLI::IsMember({"text", "csv", "json", "commands"}))
      ->capture_default_str();
  command->footer(examples_footer("guard"));
  return {command, [=](Context& context) {
            if (limits->parsed()) return run_guard_limits(*limited, context);
            if (stops->parsed()) return run_guard_stops(*stopped, context);
            if (exports->parsed()) return run_guard_export(*exported, context);
            if (replay->parsed()) return run_replay(*replayed, context);
            return check->parsed() ? run_check(*arguments, context) : run_test(*arguments, context);
          }};
}

}  // namespace pennyweight
