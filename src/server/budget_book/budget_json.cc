#include "server/budget_book/budget_json.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <array>

#include "config/budget_config.h"
#include "core/json_text.h"
#include "core/plain_text.h"
#include "core/try.h"

namespace pennyweight {
namespace {

using simdjson::dom::element;

constexpr std::size_t kFiltersMax = 20;
constexpr std::size_t kAmountsMax = 100;
constexpr std::size_t kTextBytesMax = 1000;
constexpr std::array<std::string_view, 4> kCosts = {"effective", "billed", "list", "contracted"};

std::unexpected<Error> wrong_key(std::string_view key, std::string_view what) {
  return fail(ErrorCode::kBadValue, fmt::format("{}: {}", printable_text(key, 50), what));
}

Result<std::string> json_text_of(std::string_view key, const element& value) {
  std::string_view text;
  if (value.get(text) != simdjson::SUCCESS) return wrong_key(key, "this is a text");
  if (text.size() > kTextBytesMax) return wrong_key(key, "this is too long");
  if (printable_text(text, kTextBytesMax) != text) {
    return wrong_key(key, "control characters are not allowed");
  }
  return std::string(text);
}

Result<Date> date_of(std::string_view key, const element& value) {
  const std::string text = TRY(json_text_of(key, value));
  const auto day = parse_date(text);
  if (!day) return wrong_key(key, day.error().message);
  return *day;
}

Result<Money> amount_of(std::string_view key, const element& value) {
  const std::string text = TRY(json_text_of(key, value));
  const auto amount = parse_amount(text);
  if (!amount) return wrong_key(key, amount.error().message);
  return *amount;
}

Result<void> read_filters(const element& value, Budget& budget) {
  simdjson::dom::array list;
  if (value.get(list) != simdjson::SUCCESS) {
    const std::string one = TRY(json_text_of("filter", value));
    if (!one.empty()) budget.filters = {one};
    return {};
  }
  for (const element item : list) {
    const std::string one = TRY(json_text_of("filter", item));
    budget.filters.push_back(one);
    if (budget.filters.size() > kFiltersMax) return wrong_key("filter", "at most 20 filters");
  }
  return {};
}

Result<void> read_amounts(const element& value, Budget& budget) {
  simdjson::dom::array list;
  if (value.get(list) != simdjson::SUCCESS) return wrong_key("amounts", "this is a list");
  for (const element item : list) {
    simdjson::dom::object object;
    if (item.get(object) != simdjson::SUCCESS || object.size() != 2) {
      return wrong_key("amounts", "each has from and amount");
    }
    element from;
    element amount;
    if (object["from"].get(from) != simdjson::SUCCESS ||
        object["amount"].get(amount) != simdjson::SUCCESS) {
      return wrong_key("amounts", "each has from and amount");
    }
    const Date day = TRY(date_of("amounts.from", from));
    const Money money = TRY(amount_of("amounts.amount", amount));
    budget.amounts.push_back({day, money});
    if (budget.amounts.size() > kAmountsMax) return wrong_key("amounts", "at most 100 amounts");
  }
  return {};
}

Result<void> read_period(std::string_view key, const element& value, Budget& budget) {
  const std::string text = TRY(json_text_of(key, value));
  const auto period = parse_budget_period(text);
  if (!period) return wrong_key(key, "use day, week, month, quarter, year or project");
  budget.period = *period;
  return {};
}

Result<void> read_cost(std::string_view key, const element& value, Budget& budget) {
  budget.cost = TRY(json_text_of(key, value));
  // What budget_json() writes of a budget of GPU-hours.
  if (budget.cost == kGpuHourCost) return {};
  if (std::ranges::find(kCosts, budget.cost) == kCosts.end()) {
    return wrong_key(key, "use effective, billed, list or contracted");
  }
  return {};
}

Result<void> read_key(std::string_view key, const element& value, Budget& budget,
                      std::optional<Money>& amount) {
  if (value.is_null()) return {};
  if (key == "name") {
    budget.name = TRY(json_text_of(key, value));
  } else if (key == "owner") {
    budget.owner = TRY(json_text_of(key, value));
  } else if (key == "parent") {
    budget.parent = TRY(json_text_of(key, value));
  } else if (key == "filter") {
    TRY(read_filters(value, budget));
  } else if (key == "cost") {
    TRY(read_cost(key, value, budget));
  } else if (key == "period") {
    TRY(read_period(key, value, budget));
  } else if (key == "from") {
    budget.from = TRY(date_of(key, value));
  } else if (key == "to") {
    budget.to = TRY(date_of(key, value));
  } else if (key == "amount") {
    amount = TRY(amount_of(key, value));
  } else if (key == "amounts") {
    TRY(read_amounts(value, budget));
  } else if (key == "roll_over") {
    if (value.get(budget.rolls_over) != simdjson::SUCCESS) {
      return wrong_key(key, "this is true or false");
    }
  } else {
    return wrong_key(key, "a budget has no such key");
  }
  return {};
}

}  // namespace

std::string budget_json(const Budget& budget) {
  const auto pair = [](std::string_view name, std::string_view value) {
    return fmt::format("{}: {}", json_string(name), json_string(value));
  };
  std::string text = "{" + pair("name", budget.name) + ", " + pair("owner", budget.owner);
  text += ", \"filter\": [";
  for (std::size_t i = 0; i < budget.filters.size(); ++i) {
    text += (i == 0 ? "" : ", ") + json_string(budget.filters[i]);
  }
  text += "], " + pair("cost", budget.cost) + ", " + pair("period", to_text(budget.period));
  if (budget.from) text += ", " + pair("from", to_text(*budget.from));
  if (budget.to) text += ", " + pair("to", to_text(*budget.to));
  text += fmt::format(", \"roll_over\": {}", budget.rolls_over);
  if (!budget.parent.empty()) text += ", " + pair("parent", budget.parent);
  std::size_t first = 0;
  // The first amount counts from the beginning, if no day is said.
  if (!budget.amounts.empty() && budget.amounts.front().from == Date()) {
    text += ", " + pair("amount", budget_amount_text(budget.amounts.front().amount));
    first = 1;
  }
  text += ", \"amounts\": [";
  for (std::size_t i = first; i < budget.amounts.size(); ++i) {
    const BudgetAmount& one = budget.amounts[i];
    text += fmt::format("{}{{{}, {}}}", i == first ? "" : ", ", pair("from", to_text(one.from)),
                        pair("amount", budget_amount_text(one.amount)));
  }
  return text + "]}";
}

std::string amounts_json(std::string_view text) {
  std::string list;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(';'), text.size());
    std::string_view one = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    while (one.starts_with(' ')) one.remove_prefix(1);
    while (one.ends_with(' ')) one.remove_suffix(1);
    if (one.empty()) continue;
    const std::size_t space = std::min(one.find(' '), one.size());
    list += fmt::format("{}{{\"from\": {}, \"amount\": {}}}", list.empty() ? "" : ", ",
                        json_string(one.substr(0, space)),
                        json_string(one.substr(std::min(space + 1, one.size()))));
  }
  return "[" + list + "]";
}

Result<Budget> parse_budget_json(std::string_view json, std::string_view name) {
  simdjson::dom::parser parser;
  simdjson::dom::object object;
  const simdjson::padded_string padded(json);
  if (parser.parse(padded).get(object) != simdjson::SUCCESS) {
    return fail(ErrorCode::kBadValue, "a budget is a JSON object");
  }
  Budget budget;
  budget.name = name;
  budget.cost.clear();
  std::optional<Money> amount;
  for (const auto field : object) {
    TRY(read_key(field.key, field.value, budget, amount));
  }
  if (amount) budget.amounts.insert(budget.amounts.begin(), {Date(), *amount});
  if (budget.cost.empty()) {
    const bool is_time = !budget.amounts.empty() && budget.currency() == kGpuHourUnit;
    budget.cost = is_time ? kGpuHourCost : kUsualCost;
  }
  TRY(check_budget(budget));
  return budget;
}

}  // namespace pennyweight
