#include "insight/queries/what_if_query.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "core/gpu/gpu_model.h"
#include "core/try.h"
#include "insight/queries/replayed_runs.h"
#include "insight/queries/what_if_clusters.h"
#include "insight/queries/what_if_tables.h"

namespace pennyweight {
namespace {

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

// Another policy of division is one, and knows whose cost it divides.
Result<void> check_policy_change(const WhatIfQuery& query, const Policy& policy) {
  if (!query.policy) return {};
  Policy renamed = *query.policy;
  renamed.name = policy.name;
  if (renamed == policy) {
    return fail(ErrorCode::kBadValue,
                fmt::format("the policy {} has the rules of the ledger's own, so it changes "
                            "nothing",
                            query.policy_name));
  }
  const auto& dimensions = query.policy->dimensions;
  if (std::ranges::any_of(dimensions,
                          [&](const DimensionRule& rule) { return rule.dimension == query.by; })) {
    return {};
  }
  return fail(ErrorCode::kBadValue,
              fmt::format("the policy {} has no dimension '{}', by which cost is shown; give it "
                          "one, or choose another with --by",
                          query.policy_name, query.by));
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
  TRY(check_policy_change(query, policy));
  auto month = TRY(LedgerMonth::load(store, query.month, join_rules));
  const auto& spill_over = query.scenario.spill_over;
  ClusterId cluster{""};
  std::vector<ClusterId> clusters;
  ClusterFacts facts;
  MeasuredUses measured;
  if (spill_over && spill_over->scope == what_if::HomeScope::kCluster) {
    clusters = TRY(choose_replayed_clusters(query.cluster, month));
    std::vector<ClusterFacts> parts;
    std::vector<std::string> names;
    // Of each holding of the parts: what is merged keeps their order, and may rename workloads.
    std::vector<std::optional<what_if::MeasuredUse>> uses;
    for (const ClusterId& one : clusters) {
      auto part = TRY(month.take_facts(store, one));
      const MeasuredUses of_cluster = TRY(measured_uses(store, query.month, one));
      for (const Holding& holding : part.holdings) {
        const auto found = of_cluster.find(holding.workload);
        uses.push_back(found == of_cluster.end() ? std::nullopt : std::optional(found->second));
      }
      parts.push_back(std::move(part));
      names.push_back(one.text());
    }
    facts = TRY(merge_clusters(clusters, std::move(parts)));
    for (std::size_t i = 0; i < uses.size(); ++i) {
      if (uses[i]) measured.emplace(facts.holdings[i].workload, *uses[i]);
    }
    cluster = ClusterId(fmt::format("{}", fmt::join(names, ", ")));
  } else {
    cluster = TRY(choose_replayed_cluster(query.cluster, month));
    facts = TRY(month.take_facts(store, cluster));
    measured = TRY(measured_uses(store, query.month, cluster));
  }
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
                     .clusters = std::move(clusters),
                     .facts = std::move(facts),
                     .measured = std::move(measured),
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
                                    what_if::WhatIfProgress* progress,
                                    const what_if::RateOn& rate_on) {
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
                           .clusters = month.clusters,
                           .policy = policy,
                           .scenario_policy = query.policy,
                           .measured = month.measured,
                           .scenario = query.scenario,
                           .variations = variations_of(query),
                           .questions = query.questions,
                           .calibration = query.calibration,
                           .calibration_limits = query.calibration_limits,
                           .error_percent_max = query.error_percent_max,
                           .wait_error_percent_max = query.wait_error_percent_max,
                           .team_dimension = query.by,
                           .cost = what_if_cost(query.cost),
                           .rate_on = rate_on,
                           .threads = query.threads,
                           .progress = progress});
}

std::vector<std::pair<std::string_view, const Table*>> named_tables(const WhatIfTables& tables) {
  std::vector<std::pair<std::string_view, const Table*>> named = {
      {"calibration", &tables.calibration}, {"jobs", &tables.jobs}};
  for (const auto& [name, table] :
       {std::pair{"range", &tables.range}, std::pair{"fleets", &tables.fleets},
        std::pair{"tiers", &tables.tiers}, std::pair{"mig", &tables.mig},
        std::pair{"prices", &tables.prices}, std::pair{"speeds", &tables.speeds},
        std::pair{"commitments", &tables.commitments}}) {
    if (*table) named.emplace_back(name, &**table);
  }
  named.emplace_back("teams", &tables.teams);
  named.emplace_back("exact", &tables.exact);
  named.emplace_back("moments", &tables.moments);
  named.emplace_back("waits", &tables.waits);
  named.emplace_back("gantt", &tables.gantt);
  return named;
}

namespace {

// Makes the tables with amounts from these.
void show_amounts(const WhatIfQuery& query, WhatIfTables& tables) {
  const WhatIfAmounts& amounts = tables.amounts;
  const std::string& title = tables.title;
  if (!amounts.fleets.empty()) tables.fleets = what_if_fleet_table(query, amounts.fleets, title);
  if (amounts.tiers) tables.tiers = what_if_tier_table(query, *amounts.tiers, title);
  if (amounts.mig) tables.mig = what_if_mig_table(query, *amounts.mig, title);
  if (!amounts.commitments.empty()) {
    tables.commitments = what_if_commitment_table(amounts.commitments, title);
  }
  tables.costs =
      what_if_cost_tables(amounts, query.by, query.policy_name, title + ", " + query.cost);
  tables.tier_costs = what_if_tier_cost_tables(amounts, title + ", " + query.cost);
}

}  // namespace

WhatIfTables what_if_tables(const WhatIfQuery& query, const WhatIfMonth& month,
                            const what_if::WhatIf& result) {
  const std::string title = fmt::format("{} of cluster {}", month.month, month.cluster.text());
  WhatIfTables tables{.title = title,
                      .calibration = what_if_calibration_table(query, result, title),
                      .jobs = what_if_job_table(query, result, title),
                      .range = result.varied.empty()
                                   ? std::nullopt
                                   : std::optional(what_if_range_table(query, result, title)),
                      .fleets = {},
                      .tiers = {},
                      .mig = {},
                      .prices = {},
                      .speeds = {},
                      .commitments = {},
                      .teams = what_if_team_table(query, result, title),
                      .costs = {},
                      .tier_costs = {},
                      .exact = what_if_exact_table(query, result, title),
                      .moments = what_if_moment_table(month, result, title),
                      .waits = what_if_wait_table(result, title),
                      .gantt = gantt_table(query, month, result, kGanttRows),
                      .amounts = what_if_amounts(result, query.by)};
  if (!result.prices.empty()) tables.prices = what_if_price_table(query, result.prices, title);
  if (!result.speeds.empty()) tables.speeds = what_if_speed_table(query, result.speeds, title);
  show_amounts(query, tables);
  return tables;
}

Result<WhatIfTables> what_if_tables_in(Currency currency, const ConvertAmount& convert,
                                       const WhatIfQuery& query, const WhatIfTables& tables) {
  auto converted = TRY(convert_amounts(tables.amounts, currency, convert));
  WhatIfTables shown = tables;
  shown.amounts = std::move(converted);
  show_amounts(query, shown);
  return shown;
}

void note_rates(std::span<const std::string> rates, WhatIfTables& tables) {
  const auto note = [&](Table& table) {
    for (const std::string& rate : rates) table.notes.push_back("Converted at " + rate + ".");
  };
  for (Table& table : tables.costs) note(table);
  for (Table& table : tables.tier_costs) note(table);
  for (auto* search : {&tables.fleets, &tables.tiers, &tables.mig, &tables.commitments}) {
    if (*search) note(**search);
  }
}

}  // namespace pennyweight
