#include "questions/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "config/nearest.h"
#include "core/billing_period.h"
#include "questions/run_scan.h"
#include "questions/selection.h"
#include "report/unit_cost.h"
#include "report/unit_cost_jobs.h"
#include "report/unit_cost_tables.h"

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
Result<Interval> month_of(const std::string& month, const TimeZone& zone) {
  const auto period = BillingPeriod::parse(month, zone);
  if (!period) return std::unexpected(period.error());
  return period->to_interval();
}

// The workloads of a scope: of each that has a posting in it.
using Workload = std::pair<ClusterId, WorkloadId>;

SummaryQuery query_of(const UnitQuestion& question) {
  SummaryQuery query;
  query.group_by = {"cluster", "workload", "kind"};
  query.filters = question.scope;
  if (!question.month.empty()) query.filters.push_back({"month", {question.month}, false});
  return query;
}

class Visible {
 public:
  static Result<Visible> of(Store& store, const UnitQuestion& question) {
    Visible visible;
    if (question.scope.empty()) return visible;
    const auto rows = store.summarise(query_of(question));
    if (!rows) return std::unexpected(rows.error());
    visible.workloads_.emplace();
    for (const SummaryRow& row : *rows) {
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

Result<void> add_costs(Store& store, const UnitQuestion& question, UnitCosts& costs) {
  const SummaryQuery query = query_of(question);
  const auto rows = store.summarise(query);
  if (!rows) return std::unexpected(rows.error());
  for (const SummaryRow& row : *rows) {
    const auto kind = parse_posting_kind(row.keys[2]);
    if (!kind)
      return fail(ErrorCode::kStore, "a posting of the unknown kind '" + row.keys[2] + "'");
    costs.add_cost(ClusterId(row.keys[0]), WorkloadId(row.keys[1]), *kind, row.costs.effective);
  }
  return {};
}

// Of the clusters that have nodes or holdings, and of those that have cost.
Result<std::set<ClusterId>> clusters_of(Store& store, std::span<const Scope> scopes) {
  const auto overview = store.overview();
  if (!overview) return std::unexpected(overview.error());
  std::set<ClusterId> clusters;
  for (const std::string& cluster : overview->clusters) clusters.emplace(cluster);
  for (const Scope& scope : scopes) clusters.insert(scope.cluster);
  return clusters;
}

// Of the months that have cost: what was counted in others would be set against nothing.
Result<void> add_outcomes(Store& store, const TimeZone& zone, std::span<const Scope> scopes,
                          const Visible& visible, UnitCosts& costs) {
  const auto clusters = clusters_of(store, scopes);
  if (!clusters) return std::unexpected(clusters.error());
  std::set<std::string> months;
  for (const Scope& scope : scopes) months.insert(scope.month);
  for (const std::string& month : months) {
    const auto during = month_of(month, zone);
    if (!during) return std::unexpected(during.error());
    for (const ClusterId& cluster : *clusters) {
      const auto scanned =
          store.scan_outcomes(cluster, *during, [&](std::span<const Outcome> batch) {
            for (const Outcome& outcome : batch) {
              if (visible(outcome.cluster, outcome.workload)) costs.add_outcome(outcome);
            }
            return true;
          });
      if (!scanned) return std::unexpected(scanned.error());
    }
  }
  return {};
}

UnitTableOptions table_options(const UnitQuestion& question) {
  return {.what = question.month.empty() ? "all months" : question.month,
          .by = question.by,
          .per = question.per == 0 ? std::nullopt : std::optional(question.per),
          .digits = question.digits,
          .top = question.top == 0 ? std::nullopt : std::optional(question.top)};
}

Result<std::vector<Table>> ask_jobs(Store& store, const UnitQuestion& question,
                                    std::span<const Scope> scopes, const Visible& visible) {
  RunScan scan(store);
  JobCosts costs(scan.finder());
  for (const Scope& scope : scopes) {
    const auto scanned = scan.scan(
        scope,
        [&](const Holding& holding) {
          if (visible(scope.cluster, holding.workload)) costs.add(holding);
        },
        [&](const Posting& posting) {
          if (visible(scope.cluster, posting.workload)) costs.add(scope.cluster, posting);
        });
    if (!scanned) return std::unexpected(scanned.error());
  }
  return job_cost_tables(costs.report(), table_options(question));
}

}  // namespace

Result<void> check_units(const UnitQuestion& question, const Policy& policy) {
  if (!question.month.empty()) {
    if (const auto month = check_month(question.month); !month) return month;
  }
  return check_by(question.by, policy);
}

Result<std::vector<Table>> ask_units(Store& store, const UnitQuestion& question,
                                     const Policy& policy) {
  const auto scopes = allocated_scopes(store, question.month);
  if (!scopes) return std::unexpected(scopes.error());
  const auto visible = Visible::of(store, question);
  if (!visible) return std::unexpected(visible.error());
  if (question.jobs) return ask_jobs(store, question, *scopes, *visible);
  UnitCosts costs(question.by);
  for (const Scope& scope : *scopes) {
    const auto dimensions = store.dimensions_of(scope);
    if (!dimensions) return std::unexpected(dimensions.error());
    costs.add_dimensions(scope.cluster, *dimensions);
  }
  if (const auto costed = add_costs(store, question, costs); !costed) {
    return std::unexpected(costed.error());
  }
  const auto added = add_outcomes(store, policy.time_zone, *scopes, *visible, costs);
  if (!added) return std::unexpected(added.error());
  const std::vector<std::string> known = costs.measures();
  if (known.empty()) {
    return fail(ErrorCode::kNotFound,
                fmt::format("there are no outcomes{}; they come from 'serve' (requests and tokens "
                            "of vLLM, Triton, TGI) or by import, see docs/formats.md; training "
                            "jobs need none: --jobs",
                            question.month.empty() ? "" : " of " + question.month));
  }
  for (const std::string& measure : question.measures) {
    if (std::ranges::find(known, measure) != known.end()) continue;
    return fail(ErrorCode::kBadValue,
                fmt::format("nothing counts '{}'{}; there are {}", measure,
                            suggestion(measure, known), fmt::join(known, ", ")));
  }
  std::vector<Table> tables;
  for (const std::string& measure : question.measures.empty() ? known : question.measures) {
    std::ranges::move(unit_cost_tables(costs.report(measure), table_options(question)),
                      std::back_inserter(tables));
  }
  return tables;
}

}  // namespace pennyweight
