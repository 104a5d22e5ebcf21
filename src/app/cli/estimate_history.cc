#include "app/cli/estimate_history.h"

#include <string_view>
#include <utility>

#include "allocation/dimensions.h"
#include "app/cli/budget_changes.h"
#include "core/date.h"
#include "core/try.h"
#include "insight/guardrails/approval.h"
#include "insight/guardrails/findings.h"
#include "insight/queries/approval_budgets.h"
#include "insight/queries/similar_workloads.h"
#include "reporting/queries/selection.h"

namespace pennyweight {
namespace {

constexpr std::size_t kHistoryMonths = 3;

Result<Table> budgets_after_table(const guardrails::Estimate& estimate, Date today,
                                  const SummarySource& summarise, const Context& context) {
  Table table;
  table.title = "Budgets after it";
  table.currency = estimate.currency;
  table.columns = {
      {"workload", "workload", ColumnKind::kText},    {"cost_of", "costs a", ColumnKind::kText},
      {"cost", "at most", ColumnKind::kMoney},        {"budget", "budget", ColumnKind::kText},
      {"owner", "owner", ColumnKind::kText},          {"left", "left", ColumnKind::kMoney},
      {"after", "left after it", ColumnKind::kMoney}, {"charged", "charged", ColumnKind::kText}};
  const auto budgets = TRY(all_budgets(context));
  const Policy& policy = context.config.policy;
  for (const guardrails::WorkloadEstimate& workload : estimate.workloads) {
    const auto request =
        guardrails::request_of(workload, guardrails::Verdict(), estimate.currency, &policy);
    if (!request.cost) continue;
    const auto after = TRY(budgets_after(request, budgets, today, policy, summarise));
    for (const BudgetAfter& one : after) {
      table.rows.push_back({request.workload, request.cost_of, *request.cost, one.name, one.owner,
                            one.left, one.after,
                            std::string(one.is_certain ? "yes" : "not known yet")});
    }
  }
  if (!table.rows.empty()) {
    table.notes.emplace_back("each workload alone: several that one budget pays add up");
  }
  return table;
}

}  // namespace

Result<std::vector<Table>> estimate_history(const guardrails::Estimate& estimate,
                                            const std::string& by, Context& context) {
  const Policy& policy = context.config.policy;
  const auto checked = parse_dimensions({by}, policy);
  if (!checked) return as_usage_error(checked.error().during("--by"));
  const auto store = TRY(open_ledger(context.config));
  const std::string today_text = local_date(context.clock.now(), policy.time_zone);
  const Date today = TRY(parse_date(today_text));
  const auto overview = TRY(store->overview());
  SimilarQuery query{
      .months =
          last_months(overview.months, std::string_view(today_text).substr(0, 7), kHistoryMonths),
      .by = by,
      .currency = estimate.currency};
  for (const ClusterConfig& cluster : context.config.clusters) {
    if (cluster.kind == ClusterKind::kSlurm) query.slurm_clusters.push_back(cluster.name);
  }
  const auto similar = TRY(find_similar_workloads(estimate.workloads, query, policy, *store));
  std::vector<Table> tables = {similar_table(similar, query)};
  auto budgets = TRY(budgets_after_table(
      estimate, today, [&](const SummaryQuery& summary) { return store->summarise(summary); },
      context));
  if (!budgets.rows.empty()) tables.push_back(std::move(budgets));
  return tables;
}

}  // namespace pennyweight
