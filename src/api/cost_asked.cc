#include "api/cost_asked.h"

#include <fmt/format.h>

#include <utility>

namespace pennyweight::api {
namespace {

constexpr std::uint64_t kTopMax = 10'000;
constexpr std::string_view kOriginal = "original";

std::optional<Currency> currency_of(Asked& asked, const std::optional<Currency>& configured) {
  const auto text = asked.text("currency");
  if (!text) return configured;
  if (*text == kOriginal) return std::nullopt;
  const auto currency = Currency::parse(*text);
  if (currency) return *currency;
  asked.wrong("currency", currency.error().message + "; or 'original'");
  return std::nullopt;
}

}  // namespace

DateOptions dates_of(Asked& asked) {
  DateOptions dates;
  dates.month = asked.month("month").value_or("");
  if (const auto from = asked.date("from")) dates.from = to_text(*from);
  if (const auto to = asked.date("to")) dates.to = to_text(*to);
  return dates;
}

std::vector<std::string> filters_of(Asked& asked) {
  std::vector<std::string> filters = asked.texts("filter");
  if (filters.size() > kFiltersMax) asked.wrong("filter", fmt::format("at most {}", kFiltersMax));
  return filters;
}

CostQuestion cost_question(Asked& asked, const Policy& policy,
                           const std::optional<Currency>& currency) {
  CostQuestion question;
  question.by = asked.names("by");
  if (question.by.empty()) {
    question.by = {policy.dimensions.empty() ? "cluster" : policy.dimensions.front().dimension};
  }
  if (question.by.size() > kGroupByMax) {
    asked.wrong("by", fmt::format("at most {} dimensions", kGroupByMax));
  }
  question.filters = filters_of(asked);
  question.dates = dates_of(asked);
  question.step = asked.choice("step", {"none", "day", "week", "month"});
  question.cost = asked.choice("cost", {"effective", "billed", "list", "contracted", "all"});
  question.sort = asked.choice("sort", {"cost", "key"});
  question.top = asked.number("top", 0, kTopMax).value_or(0);
  question.as_of = asked.instant("as_of");
  question.currency = currency_of(asked, currency);
  const std::string kinds = asked.choice("kinds", {"all", "held", "used"});
  if (kinds == "held") question.filters.emplace_back("kind=used,held_idle");
  if (kinds == "used") question.filters.emplace_back("kind=used");
  return question;
}

void select(Asked& asked, const Policy& policy, SummaryQuery& query) {
  if (const auto dates = select_dates(dates_of(asked), query); !dates) {
    asked.wrong("from", dates.error().message);
  }
  for (const std::string& text : filters_of(asked)) {
    const auto filters = parse_filter(text, policy);
    if (!filters) {
      asked.wrong("filter", filters.error().message);
      return;
    }
    query.filters.insert(query.filters.end(), filters->begin(), filters->end());
  }
}

}  // namespace pennyweight::api
