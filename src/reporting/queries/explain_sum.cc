#include "reporting/queries/explain_sum.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "core/try.h"
#include "reporting/conversion.h"

namespace pennyweight {
namespace {

using PartKey = std::tuple<Currency, PostingKind, Component>;

ExplainedPart& part_of(std::map<PartKey, ExplainedPart>& parts, Currency currency, PostingKind kind,
                       Component component) {
  return parts
      .try_emplace({currency, kind, component}, ExplainedPart{.kind = kind,
                                                              .component = component,
                                                              .cost = Money::zero(currency),
                                                              .gpu_time = {},
                                                              .postings = 0})
      .first->second;
}

void add_total(std::vector<Money>& totals, const Money& amount) {
  const auto at = std::ranges::find(totals, amount.currency(), &Money::currency);
  if (at == totals.end()) {
    totals.push_back(amount);
  } else {
    *at += amount;
  }
}

void take_parts(ExplainedSum& sum, std::map<PartKey, ExplainedPart>& parts) {
  for (const auto& [key, part] : parts) {
    sum.postings += part.postings;
    sum.parts.push_back(part);
  }
}

}  // namespace

Result<ExplainedSum> explain_sum(const ExplainQuery& params, const Policy& policy,
                                 const SummarySource& summarise, CurrencyConversion* conversion) {
  const CostColumn cost = TRY(parse_explained_cost(params.cost));
  SummaryQuery query = TRY(explained_selection(params, policy));
  ExplainedSum sum;

  query.group_by = {"kind", "component"};
  const auto part_rows = TRY(summarise(query));
  std::map<PartKey, ExplainedPart> parts;
  for (const SummaryRow& row : part_rows) {
    const auto kind = parse_posting_kind(row.keys[0]);
    const auto component = parse_component(row.keys[1]);
    if (!kind || !component) {
      return fail(ErrorCode::kStore, "a posting has an unknown kind or component");
    }
    ExplainedPart& part = part_of(parts, row.costs.currency(), *kind, *component);
    part.cost += select_cost(row.costs, cost);
    part.gpu_time += row.gpu_time;
    part.postings += row.postings;
  }
  take_parts(sum, parts);

  // The rows of the report, each of which is converted by itself.
  query.group_by = params.charge.empty() ? params.by : std::vector<std::string>();
  query.group_by.emplace_back("kind");
  query.group_by = converted_group_by(query.group_by);
  const auto rows = TRY(summarise(query));
  std::map<std::pair<std::string, Currency>, std::vector<SummaryRow>> by_month;
  for (const SummaryRow& row : rows) {
    by_month[{row.keys.front(), row.costs.currency()}].push_back(row);
  }
  for (const auto& [key, all] : by_month) {
    const auto& [month, currency] = key;
    Money billed = Money::zero(currency);
    for (const SummaryRow& row : all) billed += select_cost(row.costs, cost);
    Money shown = billed;
    if (conversion != nullptr) {
      const auto converted = TRY(conversion->convert(all));
      shown = Money::zero(conversion->to());
      for (const SummaryRow& row : converted) shown += select_cost(row.costs, cost);
    }
    sum.months.push_back({month, billed, shown});
    add_total(sum.total, shown);
  }
  return sum;
}

ExplainedSum sum_of_postings(std::span<const Posting> postings, const std::string& month,
                             CostColumn cost) {
  ExplainedSum sum;
  std::map<PartKey, ExplainedPart> parts;
  for (const Posting& posting : postings) {
    const Money& amount = select_cost(posting.costs, cost);
    ExplainedPart& part = part_of(parts, amount.currency(), posting.kind, posting.component);
    part.cost += amount;
    part.gpu_time += posting.gpu_time;
    ++part.postings;
    add_total(sum.total, amount);
  }
  take_parts(sum, parts);
  for (const Money& total : sum.total) sum.months.push_back({month, total, total});
  return sum;
}

}  // namespace pennyweight
