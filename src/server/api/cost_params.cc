#include "server/api/cost_params.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace pennyweight::api {
namespace {

constexpr std::uint64_t kTopMax = 10'000;
constexpr std::string_view kOriginal = "original";

}  // namespace

std::optional<Currency> read_currency(QueryParams& params,
                                      const std::optional<Currency>& configured) {
  const auto text = params.text("currency");
  if (!text) return configured;
  if (*text == kOriginal) return std::nullopt;
  const auto currency = Currency::parse(*text);
  if (currency) return *currency;
  params.reject("currency", currency.error().message + "; or 'original'");
  return std::nullopt;
}

DateOptions read_dates(QueryParams& params) {
  DateOptions dates;
  dates.month = params.month("month").value_or("");
  if (const auto from = params.date("from")) dates.from = to_text(*from);
  if (const auto to = params.date("to")) dates.to = to_text(*to);
  return dates;
}

std::vector<std::string> read_filters(QueryParams& params) {
  std::vector<std::string> filters = params.texts("filter");
  if (filters.size() > kFiltersMax) params.reject("filter", fmt::format("at most {}", kFiltersMax));
  return filters;
}

CostQuery read_cost_query(QueryParams& params, const Policy& policy,
                          const std::optional<Currency>& currency) {
  CostQuery query;
  query.by = params.name_list("by");
  if (query.by.empty()) {
    query.by = {policy.dimensions.empty() ? "cluster" : policy.dimensions.front().dimension};
  }
  if (query.by.size() > kGroupByMax) {
    params.reject("by", fmt::format("at most {} dimensions", kGroupByMax));
  }
  query.filters = read_filters(params);
  query.dates = read_dates(params);
  query.step = params.choice("step", {"none", "day", "week", "month"});
  query.cost = params.choice("cost", {"effective", "billed", "list", "contracted", "all"});
  query.sort = params.choice("sort", {"cost", "key"});
  query.top = params.number("top", 0, kTopMax).value_or(0);
  query.as_of = params.instant("as_of");
  query.currency = read_currency(params, currency);
  const std::string kinds = params.choice("kinds", {"all", "held", "used"});
  if (kinds == "held") query.filters.emplace_back("kind=used,held_idle");
  if (kinds == "used") query.filters.emplace_back("kind=used");
  return query;
}

void read_selection(QueryParams& params, const Policy& policy, SummaryQuery& query) {
  if (const auto dates = apply_dates(read_dates(params), query); !dates) {
    params.reject("from", dates.error().message);
  }
  for (const std::string& text : read_filters(params)) {
    const auto filters = parse_filter(text, policy);
    if (!filters) {
      params.reject("filter", filters.error().message);
      return;
    }
    query.filters.insert(query.filters.end(), filters->begin(), filters->end());
  }
}

bool has_part(std::string_view text, std::string_view part) {
  const auto lower = [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  };
  const auto same = [&](char a, char b) { return lower(a) == lower(b); };
  return !std::ranges::search(text, part, same).empty();
}

}  // namespace pennyweight::api
