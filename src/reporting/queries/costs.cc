#include "reporting/queries/costs.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/billing_period.h"
#include "core/try.h"
#include "reporting/conversion.h"

namespace pennyweight {
namespace {

std::optional<std::vector<CostColumn>> parse_cost_columns(std::string_view cost) {
  if (cost == "effective") return std::vector{CostColumn::kEffective};
  if (cost == "billed") return std::vector{CostColumn::kBilled};
  if (cost == "list") return std::vector{CostColumn::kList};
  if (cost == "contracted") return std::vector{CostColumn::kContracted};
  if (cost != "all") return std::nullopt;
  return std::vector{CostColumn::kEffective, CostColumn::kBilled, CostColumn::kList,
                     CostColumn::kContracted};
}

std::string report_title(const CostQuery& params, const CostReport& report) {
  std::string title = "Cost by ";
  for (std::size_t i = 0; i < report.dimensions.size(); ++i) {
    title += (i == 0 ? "" : ", ") + report.dimensions[i];
  }
  if (report.bucket != TimeBucket::kNone) title += ", every " + params.step;
  if (!params.dates.month.empty()) title += ", " + params.dates.month;
  if (!params.dates.from.empty()) title += ", from " + params.dates.from;
  if (!params.dates.to.empty()) title += ", to " + params.dates.to;
  for (const std::string& filter : params.filters) title += ", " + filter;
  if (params.as_of) title += fmt::format(", as of {}", to_text(*params.as_of));
  if (params.currency) title += fmt::format(", in {}", params.currency->text());
  return title;
}

// Where days are not those of UTC, a month of a bill is not a month of the calendar.
std::vector<std::string> notes_on_months(const CostQuery& params, const CostReport& report,
                                         const Policy& policy) {
  const bool is_by_month = !params.dates.month.empty() ||
                           std::ranges::find(report.dimensions, "month") != report.dimensions.end();
  const std::string& zone = policy.time_zone.name();
  if (!is_by_month || zone == TimeZone::utc().name()) return {};
  return {
      fmt::format("a month is the bill's, from midnight UTC; days, --every, --from and --to are of "
                  "{}, so the hours at its borders may be in another month there",
                  zone)};
}

Result<CostReport> parse_report(const CostQuery& params, const Policy& policy) {
  auto dimensions = TRY(parse_dimensions(params.by, policy));
  if (std::ranges::find(dimensions, "currency") != dimensions.end()) {
    return fail(ErrorCode::kBadValue,
                "every currency has its own table already; leave it out of the dimensions");
  }
  auto costs = parse_cost_columns(params.cost);
  if (!costs) {
    return fail(ErrorCode::kBadValue,
                fmt::format("'{}' is not a cost; use effective, billed, list, contracted or "
                            "all",
                            params.cost));
  }
  const auto bucket = parse_time_bucket(params.step);
  if (!bucket) {
    return fail(ErrorCode::kBadValue,
                fmt::format("'{}' is not a step; use none, day, week or month", params.step));
  }
  if (params.sort != "cost" && params.sort != "key") {
    return fail(ErrorCode::kBadValue,
                fmt::format("'{}' is not an order; use cost or key", params.sort));
  }
  CostReport report{.title = "",
                    .dimensions = std::move(dimensions),
                    .costs = *std::move(costs),
                    .bucket = *bucket,
                    .sort = params.sort == "key" ? CostSort::kKey : CostSort::kCost};
  if (params.top > 0) report.top = params.top;
  report.title = report_title(params, report);
  report.notes = notes_on_months(params, report, policy);
  return report;
}

// Empty where all rows are needed. Converted costs are: they are rounded row by row.
Result<std::optional<std::vector<Table>>> top_owner_tables(const CostPlan& plan,
                                                           const TopOwnersSource& owners) {
  if (!owners || !plan.report.top) return std::nullopt;
  SummaryQuery query = plan.query;
  query.group_by = report_group_by(plan.report);
  const auto found = owners(query, plan.report);
  if (!found) return std::unexpected(found.error());
  if (!*found) return std::nullopt;
  const auto is_foreign = [&](const SummaryRow& row) {
    return plan.currency && row.costs.currency() != *plan.currency;
  };
  if (std::ranges::any_of((*found)->rows, is_foreign)) return std::nullopt;
  return cost_tables((*found)->rows, (*found)->others, plan.report);
}

}  // namespace

std::optional<TimeBucket> parse_time_bucket(std::string_view text) {
  if (text == "none") return TimeBucket::kNone;
  if (text == "day") return TimeBucket::kDay;
  if (text == "week") return TimeBucket::kWeek;
  if (text == "month") return TimeBucket::kMonth;
  return std::nullopt;
}

Result<CostPlan> plan_cost_query(const CostQuery& params, const Policy& policy) {
  auto report = TRY(parse_report(params, policy));
  SummaryQuery query;
  query.bucket = report.bucket;
  query.group_by = report_group_by(report);
  TRY(apply_dates(params.dates, query));
  for (const std::string& text : params.filters) {
    const auto filters = TRY(parse_filter(text, policy));
    query.filters.insert(query.filters.end(), filters.begin(), filters.end());
  }
  query.as_of = params.as_of;
  if (params.currency) query.group_by = converted_group_by(query.group_by);
  return CostPlan{
      .report = std::move(report), .query = std::move(query), .currency = params.currency};
}

Result<std::vector<Table>> query_costs(const CostPlan& plan, const SummarySource& summarise,
                                       const RatesSource& rates, const RateSearch& search,
                                       const TopOwnersSource& owners) {
  auto first = TRY(top_owner_tables(plan, owners));
  if (first) return *std::move(first);
  auto rows = TRY(summarise(plan.query));
  std::vector<std::string> notes;
  if (plan.currency) {
    const auto foreign = std::ranges::find_if(
        rows, [&](const SummaryRow& row) { return row.costs.currency() != *plan.currency; });
    ExchangeRates known;
    if (foreign != rows.end()) {
      auto loaded = TRY(rates(foreign->costs.currency()));
      known = std::move(loaded);
    }
    auto in_one = TRY(
        convert_rows(rows, known, {.to = *plan.currency, .on = std::nullopt, .search = search}));
    rows = std::move(in_one.rows);
    notes = rate_footnotes(in_one.rates);
  }
  auto tables = cost_tables(rows, plan.report);
  if (!tables.empty()) {
    std::ranges::move(notes, std::back_inserter(tables.front().notes));
  }
  return tables;
}

}  // namespace pennyweight
