#include "questions/costs.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "report/conversion.h"

namespace pennyweight {
namespace {

std::optional<std::vector<CostColumn>> costs_of(std::string_view cost) {
  if (cost == "effective") return std::vector{CostColumn::kEffective};
  if (cost == "billed") return std::vector{CostColumn::kBilled};
  if (cost == "list") return std::vector{CostColumn::kList};
  if (cost == "contracted") return std::vector{CostColumn::kContracted};
  if (cost != "all") return std::nullopt;
  return std::vector{CostColumn::kEffective, CostColumn::kBilled, CostColumn::kList,
                     CostColumn::kContracted};
}

std::string title_of(const CostQuestion& question, const CostReport& report) {
  std::string title = "Cost by ";
  for (std::size_t i = 0; i < report.dimensions.size(); ++i) {
    title += (i == 0 ? "" : ", ") + report.dimensions[i];
  }
  if (report.bucket != TimeBucket::kNone) title += ", every " + question.step;
  if (!question.dates.month.empty()) title += ", " + question.dates.month;
  if (!question.dates.from.empty()) title += ", from " + question.dates.from;
  if (!question.dates.to.empty()) title += ", to " + question.dates.to;
  for (const std::string& filter : question.filters) title += ", " + filter;
  if (question.as_of) title += fmt::format(", as of {}", to_text(*question.as_of));
  if (question.currency) title += fmt::format(", in {}", question.currency->text());
  return title;
}

Result<CostReport> report_of(const CostQuestion& question, const Policy& policy) {
  auto dimensions = parse_dimensions(question.by, policy);
  if (!dimensions) return std::unexpected(dimensions.error());
  if (std::ranges::find(*dimensions, "currency") != dimensions->end()) {
    return fail(ErrorCode::kBadValue,
                "every currency has a table of its own already; do not group by it");
  }
  auto costs = costs_of(question.cost);
  if (!costs) {
    return fail(ErrorCode::kBadValue,
                fmt::format("'{}' is not a cost; there are effective, billed, list, contracted, "
                            "all",
                            question.cost));
  }
  const auto bucket = parse_time_bucket(question.step);
  if (!bucket) {
    return fail(ErrorCode::kBadValue,
                fmt::format("'{}' is not a step; there are none, day, week, month", question.step));
  }
  if (question.sort != "cost" && question.sort != "key") {
    return fail(ErrorCode::kBadValue,
                fmt::format("'{}' is not an order; there are cost and key", question.sort));
  }
  CostReport report{.title = "",
                    .dimensions = *std::move(dimensions),
                    .costs = *std::move(costs),
                    .bucket = *bucket,
                    .sort = question.sort == "key" ? CostSort::kKey : CostSort::kCost};
  if (question.top > 0) report.top = question.top;
  report.title = title_of(question, report);
  return report;
}

// Nothing where all rows are needed: what is converted is rounded row by row.
Result<std::optional<std::vector<Table>>> tables_of_first(const CostPlan& plan,
                                                          const OwnersSource& owners) {
  if (!owners || !plan.report.top) return std::nullopt;
  SummaryQuery query = plan.query;
  query.group_by = query_dimensions(plan.report);
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

Result<CostPlan> plan_costs(const CostQuestion& question, const Policy& policy) {
  auto report = report_of(question, policy);
  if (!report) return std::unexpected(report.error());
  SummaryQuery query;
  query.bucket = report->bucket;
  query.group_by = query_dimensions(*report);
  if (const auto dates = select_dates(question.dates, query); !dates) {
    return std::unexpected(dates.error());
  }
  for (const std::string& text : question.filters) {
    const auto filters = parse_filter(text, policy);
    if (!filters) return std::unexpected(filters.error());
    query.filters.insert(query.filters.end(), filters->begin(), filters->end());
  }
  query.as_of = question.as_of;
  if (question.currency) query.group_by = converted_group_by(query.group_by);
  return CostPlan{
      .report = *std::move(report), .query = std::move(query), .currency = question.currency};
}

Result<std::vector<Table>> ask_costs(const CostPlan& plan, const Summariser& summarise,
                                     const RatesSource& rates, const RateSearch& search,
                                     const OwnersSource& owners) {
  auto first = tables_of_first(plan, owners);
  if (!first) return std::unexpected(first.error());
  if (*first) return **std::move(first);
  auto rows = summarise(plan.query);
  if (!rows) return std::unexpected(rows.error());
  std::vector<std::string> notes;
  if (plan.currency) {
    const auto foreign = std::ranges::find_if(
        *rows, [&](const SummaryRow& row) { return row.costs.currency() != *plan.currency; });
    ExchangeRates known;
    if (foreign != rows->end()) {
      auto loaded = rates(foreign->costs.currency());
      if (!loaded) return std::unexpected(loaded.error());
      known = *std::move(loaded);
    }
    auto in_one =
        convert_rows(*rows, known, {.to = *plan.currency, .on = std::nullopt, .search = search});
    if (!in_one) return std::unexpected(in_one.error());
    *rows = std::move(in_one->rows);
    notes = footnotes(in_one->rates);
  }
  auto tables = cost_tables(*rows, plan.report);
  if (!tables.empty()) {
    std::ranges::move(notes, std::back_inserter(tables.front().notes));
  }
  return tables;
}

}  // namespace pennyweight
