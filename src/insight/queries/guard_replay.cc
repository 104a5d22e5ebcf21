#include "insight/queries/guard_replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <tuple>
#include <utility>
#include <variant>

#include "allocation/dimensions.h"
#include "core/billing_period.h"
#include "core/try.h"
#include "core/week_hours.h"
#include "insight/guardrails/estimate.h"
#include "reporting/minor_unit.h"
#include "reporting/number_format.h"
#include "reporting/queries/selection.h"

namespace pennyweight {
namespace {

using guardrails::Decision;
using guardrails::GroupEstimate;
using guardrails::RuleEffect;
using guardrails::WorkloadEstimate;

constexpr std::uint64_t kMsPerHour = 3'600'000;
using WorkloadKey = std::pair<std::string, std::string>;  // cluster, workload

// What a workload cost, and on which machines most of it.
struct WorkloadCost {
  Money cost = Money::zero(kUsd);
  GpuTime gpu_time;
  std::string owner;
  guardrails::PricedMachine machine;
  Money machine_cost = Money::zero(kUsd);  // of the part on this machine
};

// What its holdings say: of several attempts the most GPUs, and all of the time.
struct WorkloadFacts {
  std::optional<Instant> begin;
  std::uint64_t ran_ms = 0;
  std::uint64_t month_ms = 0;  // of ran_ms, in the month
  std::uint64_t gpus = 0;
  std::map<std::string, std::uint64_t> gpus_of_run;
  std::uint64_t cpu_milli = 0;
  std::uint64_t memory_bytes = 0;
  std::string gpu_model;
  Labels labels;
};

bool asks_for_unknown(const guardrails::RuleConditions& when) {
  return !when.providers.empty() || when.per_month_above || !when.annotations.empty() ||
         !when.annotations_missing.empty() || !when.risks.empty() || !when.images.empty() ||
         !when.images_except.empty() || !when.runtime_classes_except.empty() ||
         !when.storage_classes_except.empty() || !when.unlimited_traffic.empty() ||
         when.budget_used_permille_above || when.exceeds_budget;
}

void add_to(ReplayedSum& sum, const WorkloadCost& cost) {
  ++sum.workloads;
  sum.gpu_time += cost.gpu_time;
  sum.cost += cost.cost;
}

class GuardReplayer {
 public:
  GuardReplayer(const GuardReplayQuery& query, const Policy& policy, Store& store)
      : query_(query), policy_(policy), store_(store) {
    replay_.currency = query.currency;
    replay_.month = query.month;
    replay_.by = query.by;
    for (ReplayedSum* sum : sums()) sum->cost = Money::zero(query.currency);
    for (const guardrails::GuardrailRule& rule : query.rules) {
      RuleReplay one{.rule = rule.name, .effect = rule.effect, .mode = rule.mode};
      one.hit.cost = one.exempted.cost = Money::zero(query.currency);
      replay_.rules.push_back(std::move(one));
      add_known_part(rule);
    }
  }

  Result<GuardReplay> run() {
    TRY(read_costs());
    if (costs_.empty()) {
      return fail(
          ErrorCode::kNotFound,
          fmt::format("no workload has costs in {}{}; import and allocate it first", query_.month,
                      query_.cluster.empty() ? "" : " in cluster " + query_.cluster));
    }
    TRY(read_facts());
    for (const auto& [key, cost] : costs_) judge(key, cost);
    finish();
    return std::move(replay_);
  }

 private:
  // Of a rule with conditions that the ledger can't decide nothing is judged, and an exemption with
  // such conditions exempts nothing.
  void add_known_part(guardrails::GuardrailRule rule) {
    const bool is_known = !asks_for_unknown(rule.when);
    const auto dropped = std::erase_if(
        rule.exemptions, [](const auto& exemption) { return asks_for_unknown(exemption.when); });
    if (!is_known || dropped > 0) ++replay_.rules_on_what_is_unknown;
    if (is_known) rules_.push_back(std::move(rule));
  }

  std::vector<ReplayedSum*> sums() {
    std::vector<ReplayedSum*> all = {&replay_.all, &replay_.without_holding};
    for (ReplayedSum& sum : replay_.decisions) all.push_back(&sum);
    return all;
  }

  Result<void> read_costs() {
    SummaryQuery summary{
        .group_by = {"cluster", "workload", query_.by, "instance_type", "region", "pricing"},
        .filters = {{.dimension = "month", .values = {query_.month}}}};
    if (!query_.cluster.empty()) {
      summary.filters.push_back({.dimension = "cluster", .values = {query_.cluster}});
    }
    const auto rows = TRY(store_.summarise(summary));
    for (const SummaryRow& row : rows) {
      if (row.keys[1].empty()) continue;  // what no workload held
      if (row.costs.effective.currency() != query_.currency) {
        other_currencies_.insert({row.keys[0], row.keys[1]});
        continue;
      }
      add_cost(row);
    }
    replay_.in_other_currencies = other_currencies_.size();
    return {};
  }

  void add_cost(const SummaryRow& row) {
    auto [at, is_new] = costs_.try_emplace({row.keys[0], row.keys[1]});
    WorkloadCost& cost = at->second;
    if (is_new) cost.cost = cost.machine_cost = Money::zero(query_.currency);
    cost.cost += row.costs.effective;
    cost.gpu_time += row.gpu_time;
    if (!is_new && row.costs.effective.ticks() <= cost.machine_cost.ticks()) return;
    cost.owner = row.keys[2];
    cost.machine_cost = row.costs.effective;
    cost.machine.instance_type = row.keys[3];
    cost.machine.region = row.keys[4];
    // FOCUS: what the provider sells from spare capacity.
    cost.machine.option =
        row.keys[5] == "Dynamic" ? PurchaseOption::kSpot : PurchaseOption::kOnDemand;
  }

  Result<void> read_facts() {
    std::vector<ClusterId> clusters;
    for (const auto& [key, cost] : costs_) {
      if (clusters.empty() || clusters.back().text() != key.first) clusters.emplace_back(key.first);
    }
    // Facts are of instants and a bill's month is of a time zone; what begins or ends a day apart
    // has no costs in the month.
    const auto month = TRY(BillingPeriod::parse(query_.month, TimeZone::utc()));
    const Interval period = month.to_interval();
    period_ = period;
    const auto begin = period.begin() - std::chrono::hours(24);
    const auto end = period.end() + std::chrono::hours(24);
    for (const ClusterId& cluster : clusters) {
      TRY(store_.scan_holdings(cluster, Interval::of(begin, end).value(),
                               [&](std::span<const Holding> batch) {
                                 for (const Holding& holding : batch) add_holding(holding);
                                 return true;
                               }));
    }
    return {};
  }

  void add_holding(const Holding& holding) {
    const WorkloadKey key(holding.cluster.text(), holding.workload.text());
    if (!costs_.contains(key)) return;
    WorkloadFacts& facts = facts_[key];
    // A run that holds several kinds of devices has a holding of each, at the same time.
    const auto [run, is_new] =
        facts.gpus_of_run.try_emplace(holding.attempt.substr(0, holding.attempt.find('/')), 0);
    if (is_new) {
      facts.ran_ms += holding.held.length_ms();
      const auto inside = holding.held.overlap(*period_);
      facts.month_ms += inside ? inside->length_ms() : 0;
    }
    if (!facts.begin || holding.held.begin() < *facts.begin) {
      facts.begin = holding.held.begin();
      facts.labels = holding.labels;
    }
    run->second += device_count(holding);
    if (run->second >= facts.gpus) {
      facts.gpus = run->second;
      if (!holding.gpu_model.empty()) facts.gpu_model = holding.gpu_model;
    }
    facts.cpu_milli = std::max(facts.cpu_milli, holding.cpu_milli.value_or(0));
    facts.memory_bytes = std::max(facts.memory_bytes, holding.memory_bytes.value_or(0));
  }

  bool is_slurm(const std::string& cluster) const {
    return std::ranges::any_of(query_.slurm_clusters,
                               [&](const ClusterId& id) { return id.text() == cluster; });
  }

  // What the workload would have asked for, as far as anybody knows.
  WorkloadEstimate estimate_of(const WorkloadKey& key, const WorkloadCost& cost,
                               const WorkloadFacts& facts) const {
    WorkloadEstimate estimate;
    manifests::WorkloadRequest& request = estimate.workload;
    request.kind = is_slurm(key.first) ? "Slurm job" : "Pod";
    request.lifetime = manifests::Lifetime::kRun;
    const std::size_t slash = key.second.find('/');
    request.name = key.second;
    if (slash != std::string::npos) {
      request.name_space = key.second.substr(0, slash);
      request.name = key.second.substr(slash + 1);
    }
    for (const auto& [label, value] : facts.labels.entries()) request.labels.emplace(label, value);
    const Labels resolved =
        resolve_dimensions(ClusterId(key.first), WorkloadId(key.second), facts.labels, policy_);
    for (const auto& [dimension, value] : resolved.entries()) {
      request.labels.emplace(dimension, value);
    }
    if (const auto name = facts.labels.find("job_name")) request.name = *name;
    GroupEstimate group;
    group.group.cpu_milli = facts.cpu_milli;
    group.group.memory_bytes = facts.memory_bytes;
    if (facts.gpus > 0) group.group.gpus = {manifests::whole_gpus(facts.gpus)};
    group.group.place.region = cost.machine.region;
    group.group.replica_ms_max = facts.ran_ms;
    group.machine = cost.machine;
    group.machine->gpu_model = facts.gpu_model;
    group.machine->per_hour = Money::zero(query_.currency);
    group.gpu = group.cpu = group.memory = group.idle = Money::zero(query_.currency);
    if (facts.month_ms > 0 && !cost.cost.is_negative()) {
      const auto hourly = guardrails::scale_amount(cost.cost, kMsPerHour, facts.month_ms);
      if (hourly) group.gpu = *hourly;
    }
    group.per_run_max = cost.cost;
    estimate.groups.push_back(std::move(group));
    return estimate;
  }

  void judge(const WorkloadKey& key, const WorkloadCost& cost) {
    add_to(replay_.all, cost);
    const auto facts = facts_.find(key);
    if (facts == facts_.end()) {
      add_to(replay_.without_holding, cost);
      return;
    }
    // Exemptions hold on the day on which it began.
    const Date day = std::chrono::floor<std::chrono::days>(*facts->second.begin);
    guardrails::RuleContext context{.today = day};
    if (looks_at_hours_) context.now = wall_time(*facts->second.begin, policy_.time_zone);
    const guardrails::Verdict verdict = guardrails::judge_workload(
        estimate_of(key, cost, facts->second), rules_, query_.currency, context);
    add_to(replay_.decisions[static_cast<std::size_t>(verdict.decision)], cost);
    for (const guardrails::RuleHit& hit : verdict.hits) {
      const auto rule = std::ranges::find(replay_.rules, hit.rule, &RuleReplay::rule);
      add_to(hit.exempted_for.empty() ? rule->hit : rule->exempted, cost);
    }
    if (verdict.decision == Decision::kAllowed) return;
    auto [owner, is_new] = owners_.try_emplace(cost.owner);
    OwnerReplay& sums = owner->second;
    if (is_new) {
      sums.owner = cost.owner;
      sums.denied.cost = sums.delayed.cost = sums.warned.cost = Money::zero(query_.currency);
    }
    add_to(verdict.decision == Decision::kDenied          ? sums.denied
           : verdict.decision == Decision::kNeedsApproval ? sums.delayed
                                                          : sums.warned,
           cost);
  }

  void finish() {
    for (auto& [name, sums] : owners_) replay_.owners.push_back(std::move(sums));
    std::ranges::stable_sort(replay_.owners, [](const OwnerReplay& a, const OwnerReplay& b) {
      const auto stopped = [](const OwnerReplay& one) {
        return (one.denied.cost + one.delayed.cost).ticks();
      };
      return std::pair(stopped(a), a.warned.cost.ticks()) >
             std::pair(stopped(b), b.warned.cost.ticks());
    });
  }

  const GuardReplayQuery& query_;
  const Policy& policy_;
  Store& store_;
  GuardReplay replay_;
  std::vector<guardrails::GuardrailRule> rules_;  // those that the ledger can decide
  const bool looks_at_hours_ = guardrails::looks_at_hours(query_.rules);
  std::optional<Interval> period_;  // the month
  std::map<WorkloadKey, WorkloadCost> costs_;
  std::map<WorkloadKey, WorkloadFacts> facts_;
  std::set<WorkloadKey> other_currencies_;
  std::map<std::string, OwnerReplay> owners_;
};

Row replayed_row(std::vector<Cell> before, const ReplayedSum& sum) {
  before.insert(before.end(), {sum.workloads, sum.gpu_time, sum.cost});
  return before;
}

constexpr std::string_view kMeans[] = {"runs", "runs, with a warning", "waits for an approval",
                                       "does not run"};

Table decision_table(const GuardReplay& replay) {
  Table table;
  table.title = fmt::format("What the rules would have decided, {}", month_label(replay.month));
  table.currency = replay.currency;
  table.columns = {{"decision", "decision"},
                   {"means", "means"},
                   {"workloads", "workloads", ColumnKind::kCount},
                   {"gpu_hours", "GPU-hours", ColumnKind::kGpuHours},
                   {"cost", "cost", ColumnKind::kMoney}};
  for (std::size_t i = 0; i < replay.decisions.size(); ++i) {
    table.rows.push_back(replayed_row(
        {std::string(guardrails::kDecisionWords[i]), std::string(kMeans[i])}, replay.decisions[i]));
  }
  if (replay.without_holding.workloads > 0) {
    table.rows.push_back(replayed_row(
        {std::string("unknown"), std::string("its facts are not there")}, replay.without_holding));
  }
  table.total = replayed_row({std::string("total"), std::string()}, replay.all);
  const Money saved = replay.decisions[static_cast<std::size_t>(Decision::kDenied)].cost;
  const Money delayed = replay.decisions[static_cast<std::size_t>(Decision::kNeedsApproval)].cost;
  table.notes.push_back(fmt::format(
      "{} {} would not have been spent, and {} {} only once somebody had agreed",
      format_minor(saved), replay.currency.text(), format_minor(delayed), replay.currency.text()));
  table.notes.emplace_back(
      "A run is judged by the time it took; its time limit may have been longer");
  if (replay.in_other_currencies > 0) {
    table.notes.push_back(fmt::format("{} in other currencies are not replayed",
                                      counted(replay.in_other_currencies, "workload")));
  }
  if (replay.rules_on_what_is_unknown > 0) {
    table.notes.push_back(
        fmt::format("{} a condition or an exemption on the provider, the cost per month, budgets, "
                    "annotations, images or risks, which runs of the past don't meet",
                    replay.rules_on_what_is_unknown == 1
                        ? std::string("1 rule has")
                        : fmt::format("{} rules have", replay.rules_on_what_is_unknown)));
  }
  return table;
}

Table rule_table(const GuardReplay& replay) {
  Table table;
  table.title = "By rule; a workload counts for each rule that applies";
  table.currency = replay.currency;
  table.columns = {{"rule", "rule"},
                   {"effect", "effect"},
                   {"mode", "mode"},
                   {"workloads", "workloads", ColumnKind::kCount},
                   {"gpu_hours", "GPU-hours", ColumnKind::kGpuHours},
                   {"cost", "cost", ColumnKind::kMoney},
                   {"exempted", "exempted", ColumnKind::kCount}};
  for (const RuleReplay& rule : replay.rules) {
    Row row = replayed_row(
        {rule.rule, std::string(to_text(rule.effect)), std::string(to_text(rule.mode))}, rule.hit);
    row.emplace_back(rule.exempted.workloads);
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table owner_table(const GuardReplay& replay) {
  Table table;
  table.title = "Who would have met a rule";
  table.currency = replay.currency;
  table.columns = {{replay.by, replay.by},
                   {"denied", "denied", ColumnKind::kCount},
                   {"saved", "saved", ColumnKind::kMoney},
                   {"needs_approval", "to approve", ColumnKind::kCount},
                   {"delayed", "delayed", ColumnKind::kMoney},
                   {"warned", "warned", ColumnKind::kCount},
                   {"warned_cost", "of cost", ColumnKind::kMoney}};
  Row total = {std::string("total"),         std::uint64_t{0},
               Money::zero(replay.currency), std::uint64_t{0},
               Money::zero(replay.currency), std::uint64_t{0},
               Money::zero(replay.currency)};
  for (const OwnerReplay& one : replay.owners) {
    const std::string owner = one.owner.empty() ? "(none)" : one.owner;
    table.rows.push_back({owner, one.denied.workloads, one.denied.cost, one.delayed.workloads,
                          one.delayed.cost, one.warned.workloads, one.warned.cost});
    std::size_t at = 1;
    for (const ReplayedSum* sum : {&one.denied, &one.delayed, &one.warned}) {
      std::get<std::uint64_t>(total[at]) += sum->workloads;
      std::get<Money>(total[at + 1]) += sum->cost;
      at += 2;
    }
  }
  table.total = std::move(total);
  return table;
}

}  // namespace

Result<GuardReplay> replay_guardrails(const GuardReplayQuery& query, const Policy& policy,
                                      Store& store) {
  const auto checked = parse_dimensions({query.by}, policy);
  if (!checked) return std::unexpected(checked.error());
  if (checked->size() != 1 || checked->front() != query.by) {
    return fail(ErrorCode::kBadValue, fmt::format("'{}' is not one dimension", query.by));
  }
  return GuardReplayer(query, policy, store).run();
}

std::vector<Table> guard_replay_tables(const GuardReplay& replay) {
  std::vector<Table> tables = {decision_table(replay), rule_table(replay)};
  if (!replay.owners.empty()) tables.push_back(owner_table(replay));
  return tables;
}

}  // namespace pennyweight
