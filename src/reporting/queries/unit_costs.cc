#include "reporting/queries/unit_costs.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "config/nearest.h"
#include "core/billing_period.h"
#include "core/try.h"
#include "ledger/host_usage.h"
#include "ledger/job_without_time.h"
#include "reporting/queries/run_scan.h"
#include "reporting/queries/selection.h"
#include "reporting/unit_cost.h"
#include "reporting/unit_cost_jobs.h"
#include "reporting/unit_cost_tables.h"

namespace pennyweight {
namespace {

// Beside dimensions, labels that outcomes have of their own.
constexpr std::string_view kOutcomeLabels[] = {"user", "client", "model"};

Result<void> check_by(const std::string& by, const Policy& policy) {
  std::vector<std::string> known = {"workload", "cluster"};
  for (const DimensionRule& rule : policy.dimensions) known.push_back(rule.dimension);
  for (const std::string_view label : kOutcomeLabels) {
    if (std::ranges::find(known, label) == known.end()) known.emplace_back(label);
  }
  if (std::ranges::find(known, by) != known.end()) return {};
  return fail(ErrorCode::kBadValue, fmt::format("units has no dimension '{}'{}; there are {}", by,
                                                suggestion(by, known), fmt::join(known, ", ")));
}

// Outcomes of a month are those that begin in it, by the policy's days.
Result<Interval> month_interval(const std::string& month, const TimeZone& zone) {
  const auto period = TRY(BillingPeriod::parse(month, zone));
  return period.to_interval();
}

// The workloads of a scope: of each that has a posting in it.
using Workload = std::pair<ClusterId, WorkloadId>;

SummaryQuery summary_query(const UnitCostQuery& params) {
  SummaryQuery query;
  query.group_by = {"cluster", "workload", "kind"};
  query.filters = params.scope;
  if (!params.month.empty()) query.filters.push_back({"month", {params.month}, false});
  return query;
}

class Visible {
 public:
  static Result<Visible> of(Store& store, const UnitCostQuery& params) {
    Visible visible;
    if (params.scope.empty()) return visible;
    const auto rows = TRY(store.summarise(summary_query(params)));
    visible.workloads_.emplace();
    for (const SummaryRow& row : rows) {
      visible.workloads_->emplace(ClusterId(row.keys[0]), WorkloadId(row.keys[1]));
    }
    return visible;
  }
  bool operator()(const ClusterId& cluster, const WorkloadId& workload) const {
    return !workloads_ || workloads_->contains({cluster, workload});
  }

 private:
  std::optional<std::set<Workload>> workloads_;  // nothing: all
};

Result<void> add_costs(Store& store, const UnitCostQuery& params, UnitCosts& costs) {
  const SummaryQuery query = summary_query(params);
  const auto rows = TRY(store.summarise(query));
  for (const SummaryRow& row : rows) {
    const auto kind = parse_posting_kind(row.keys[2]);
    if (!kind)
      return fail(ErrorCode::kStore, "a posting of the unknown kind '" + row.keys[2] + "'");
    costs.add_cost(ClusterId(row.keys[0]), WorkloadId(row.keys[1]), *kind, row.costs.effective);
  }
  return {};
}

// Of the clusters that have nodes, holdings or outcomes, and of those that have cost.
Result<std::set<ClusterId>> scope_clusters(Store& store, std::span<const Scope> scopes) {
  const auto overview = TRY(store.overview());
  std::set<ClusterId> clusters;
  for (const std::string& cluster : overview.clusters) clusters.emplace(cluster);
  for (const Scope& scope : scopes) clusters.insert(scope.cluster);
  return clusters;
}

// Of the months that have cost: what was counted in others would be set against nothing.
Result<void> add_outcomes(Store& store, const TimeZone& zone, std::span<const Scope> scopes,
                          const Visible& visible, UnitCosts& costs) {
  const auto clusters = TRY(scope_clusters(store, scopes));
  std::set<std::string> months;
  for (const Scope& scope : scopes) months.insert(scope.month);
  for (const std::string& month : months) {
    const auto during = TRY(month_interval(month, zone));
    for (const ClusterId& cluster : clusters) {
      TRY(store.scan_outcomes(cluster, during, [&](std::span<const Outcome> batch) {
        for (const Outcome& outcome : batch) {
          if (is_measure_of_jobs_without_time(outcome.measure) ||
              is_measure_of_host_usage(outcome.measure)) {
            continue;
          }
          if (visible(outcome.cluster, outcome.workload)) costs.add_outcome(outcome);
        }
        return true;
      }));
    }
  }
  return {};
}

UnitTableOptions table_options(const UnitCostQuery& params) {
  return {.period_label = month_label(params.month),
          .by = params.by,
          .per = params.per == 0 ? std::nullopt : std::optional(params.per),
          .digits = params.digits,
          .top = params.top == 0 ? std::nullopt : std::optional(params.top)};
}

Result<std::vector<Table>> ask_jobs(Store& store, const UnitCostQuery& params,
                                    std::span<const Scope> scopes, const Visible& visible) {
  RunScan scan(store);
  JobCosts costs(scan.holding_finder());
  for (const Scope& scope : scopes) {
    TRY(scan.scan(
        scope,
        [&](const Holding& holding) {
          if (visible(scope.cluster, holding.workload)) costs.add(holding);
        },
        [&](const Posting& posting) {
          if (visible(scope.cluster, posting.workload)) costs.add(scope.cluster, posting);
        }));
  }
  return job_cost_tables(costs.report(), table_options(params));
}

}  // namespace

Result<void> check_unit_cost_query(const UnitCostQuery& params, const Policy& policy) {
  if (!params.month.empty()) {
    TRY(check_month(params.month));
  }
  return check_by(params.by, policy);
}

Result<std::vector<Table>> query_unit_costs(Store& store, const UnitCostQuery& params,
                                            const Policy& policy) {
  const auto scopes = TRY(allocated_scopes(store, params.month));
  const auto visible = TRY(Visible::of(store, params));
  if (params.jobs) return ask_jobs(store, params, scopes, visible);
  UnitCosts costs(params.by);
  for (const Scope& scope : scopes) {
    const auto dimensions = TRY(store.dimensions_of(scope));
    costs.add_dimensions(scope.cluster, dimensions);
  }
  TRY(add_costs(store, params, costs));
  TRY(add_outcomes(store, policy.time_zone, scopes, visible, costs));
  const std::vector<std::string> known = costs.measures();
  if (known.empty()) {
    return fail(ErrorCode::kNotFound,
                fmt::format("there are no outcomes{}; they come from 'serve' (requests and tokens "
                            "of vLLM, Triton, TGI) or by import, see docs/formats.md; training "
                            "jobs need none: --jobs",
                            params.month.empty() ? "" : " of " + params.month));
  }
  for (const std::string& measure : params.measures) {
    if (std::ranges::find(known, measure) != known.end()) continue;
    return fail(ErrorCode::kBadValue,
                fmt::format("no outcome measures '{}'{}; there are {}", measure,
                            suggestion(measure, known), fmt::join(known, ", ")));
  }
  std::vector<Table> tables;
  for (const std::string& measure : params.measures.empty() ? known : params.measures) {
    std::ranges::move(unit_cost_tables(costs.report(measure), table_options(params)),
                      std::back_inserter(tables));
  }
  return tables;
}

}  // namespace pennyweight
