#include "config/budget_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/decimal.h"
#include "core/try.h"

namespace pennyweight {
namespace {

constexpr std::size_t kBudgetsMax = 10'000;
constexpr std::size_t kFiltersMax = 20;
constexpr std::size_t kAmountsMax = 100;
constexpr std::size_t kEventsMax = 1000;
constexpr std::array<std::string_view, 6> kPeriods = {"day",     "week", "month",
                                                      "quarter", "year", "project"};
constexpr std::array<std::string_view, 4> kBudgetCosts = {"effective", "billed", "list",
                                                          "contracted"};

class BudgetReader {
 public:
  explicit BudgetReader(YamlReader& yaml) : yaml_(yaml) {}

  std::optional<Budget> read(const YamlNode& node) {
    if (!yaml_.is(node, YamlNode::Kind::kMapping, "an item of budgets")) return std::nullopt;
    const std::size_t before = yaml_.error_count();
    std::optional<Money> amount;
    budget_.cost.clear();
    yaml_.mapping(
        node, "budgets[]",
        {{"name", [&](const YamlNode& at) { text(at, "budgets[].name", budget_.name); }},
         {"owner", [&](const YamlNode& at) { text(at, "budgets[].owner", budget_.owner); }},
         {"filter", [&](const YamlNode& at) { filters(at); }},
         {"cost",
          [&](const YamlNode& at) {
            if (const auto which = yaml_.choice(at, "budgets[].cost", kBudgetCosts)) {
              budget_.cost = kBudgetCosts[*which];
            }
          }},
         {"period",
          [&](const YamlNode& at) {
            if (const auto which = yaml_.choice(at, "budgets[].period", kPeriods)) {
              budget_.period = *parse_budget_period(kPeriods[*which]);
            }
          }},
         {"from", [&](const YamlNode& at) { budget_.from = date(at, "budgets[].from"); }},
         {"to", [&](const YamlNode& at) { budget_.to = date(at, "budgets[].to"); }},
         {"amount", [&](const YamlNode& at) { amount = money(at, "budgets[].amount"); }},
         {"amounts", [&](const YamlNode& at) { amounts(at); }},
         {"roll_over",
          [&](const YamlNode& at) {
            budget_.rolls_over = yaml_.yes_or_no(at, "budgets[].roll_over").value_or(false);
          }},
         {"parent", [&](const YamlNode& at) { text(at, "budgets[].parent", budget_.parent); }}});
    if (yaml_.error_count() != before) return std::nullopt;
    // The first amount counts from the beginning.
    if (amount) budget_.amounts.insert(budget_.amounts.begin(), {Date(), *amount});
    if (budget_.cost.empty()) {
      const bool is_time = !budget_.amounts.empty() && budget_.currency() == kGpuHourUnit;
      budget_.cost = is_time ? kGpuHourCost : kUsualCost;
    }
    auto sound = check_budget(budget_);
    if (sound) sound = check_budget_texts(budget_);
    if (!sound) {
      yaml_.refuse(node, sound.error().message);
      return std::nullopt;
    }
    return std::move(budget_);
  }

  std::optional<Date> date(const YamlNode& node, std::string_view what) {
    const auto value = yaml_.text(node, what);
    if (!value) return std::nullopt;
    const auto parsed = parse_date(*value);
    if (parsed) return *parsed;
    yaml_.refuse(node, fmt::format("{}: {}", what, parsed.error().message));
    return std::nullopt;
  }

  std::optional<Money> money(const YamlNode& node, std::string_view what) {
    const auto value = yaml_.text(node, what);
    if (!value) return std::nullopt;
    const auto parsed = parse_amount(*value);
    if (parsed) return *parsed;
    yaml_.refuse(node, fmt::format("{}: {}", what, parsed.error().message));
    return std::nullopt;
  }

  void text(const YamlNode& node, std::string_view what, std::string& target) {
    if (auto value = yaml_.text(node, what)) target = std::move(*value);
  }

 private:
  // One filter, or a list of them.
  void filters(const YamlNode& node) {
    if (node.kind == YamlNode::Kind::kSequence) {
      budget_.filters = yaml_.texts(node, "budgets[].filter", kFiltersMax);
    } else if (auto one = yaml_.text(node, "budgets[].filter")) {
      budget_.filters = {std::move(*one)};
    }
  }

  void amounts(const YamlNode& node) {
    yaml_.sequence(node, "budgets[].amounts", kAmountsMax, [&](const YamlNode& item) {
      std::optional<Date> from;
      std::optional<Money> amount;
      const std::size_t before = yaml_.error_count();
      yaml_.mapping(
          item, "budgets[].amounts[]",
          {{"from", [&](const YamlNode& at) { from = date(at, "budgets[].amounts[].from"); }},
           {"amount",
            [&](const YamlNode& at) { amount = money(at, "budgets[].amounts[].amount"); }}});
      if (yaml_.error_count() != before) return;
      if (!from || !amount) {
        return yaml_.refuse(item, "an item of budgets[].amounts needs from and amount");
      }
      budget_.amounts.push_back({*from, *amount});
    });
  }

  YamlReader& yaml_;
  Budget budget_;
};

}  // namespace

Result<Money> parse_amount(std::string_view text) {
  const std::size_t space = text.find(' ');
  if (space == std::string_view::npos) {
    return fail(
        ErrorCode::kBadValue,
        fmt::format("'{}' has no currency; write it as \"5000 USD\", or \"2000 gpu_hours\"", text));
  }
  const auto amount = TRY(parse_exact_decimal(text.substr(0, space)));
  const std::string_view unit = text.substr(space + 1);
  if (unit == "gpu_hours") return Money::from_decimal(amount, kGpuHourUnit);
  if (unit == kGpuHourUnit.text()) {
    return fail(ErrorCode::kBadValue,
                fmt::format("'{}' is not a currency; write GPU-hours as \"2000 gpu_hours\"", text));
  }
  const auto currency = TRY(Currency::parse(unit));
  return Money::from_decimal(amount, currency);
}

std::string budget_amount_text(const Money& amount) {
  return fmt::format("{} {}", to_text(amount.amount()),
                     amount.currency() == kGpuHourUnit ? "gpu_hours" : amount.currency().text());
}

std::vector<Budget> read_budgets(YamlReader& reader, const YamlNode& node) {
  std::vector<Budget> budgets;
  reader.sequence(node, "budgets", kBudgetsMax, [&](const YamlNode& item) {
    auto budget = BudgetReader(reader).read(item);
    if (!budget) return;
    if (std::ranges::find(budgets, budget->name, &Budget::name) != budgets.end()) {
      return reader.refuse(item, fmt::format("there are two budgets '{}'", budget->name));
    }
    budgets.push_back(*std::move(budget));
  });
  return budgets;
}

std::vector<forecasting::KnownEvent> read_known_events(YamlReader& reader, const YamlNode& node) {
  std::vector<forecasting::KnownEvent> events;
  reader.sequence(node, "events", kEventsMax, [&](const YamlNode& item) {
    if (!reader.is(item, YamlNode::Kind::kMapping, "an item of events")) return;
    forecasting::KnownEvent event;
    std::optional<Date> from;
    BudgetReader values(reader);
    const std::size_t before = reader.error_count();
    reader.mapping(
        item, "events[]",
        {{"name", [&](const YamlNode& at) { values.text(at, "events[].name", event.name); }},
         {"from", [&](const YamlNode& at) { from = values.date(at, "events[].from"); }},
         {"to", [&](const YamlNode& at) { event.to = values.date(at, "events[].to"); }},
         {"key", [&](const YamlNode& at) { values.text(at, "events[].key", event.key); }},
         {"by", [&](const YamlNode& at) { values.text(at, "events[].by", event.by); }},
         {"per_day",
          [&](const YamlNode& at) { event.per_day = values.money(at, "events[].per_day"); }},
         {"percent", [&](const YamlNode& at) {
            const auto percent = reader.integer(at, "events[].percent", 0, 10'000);
            if (percent) event.percent = static_cast<int>(*percent);
          }}});
    if (reader.error_count() != before) return;
    if (event.name.empty() || !from) return reader.refuse(item, "an event needs a name and a from");
    event.from = *from;
    if (const auto sound = forecasting::check_known_event(event); !sound) {
      return reader.refuse(item, sound.error().message);
    }
    events.push_back(std::move(event));
  });
  return events;
}

ConfigKeys budget_config_keys() {
  return {
      {"budgets[].name", "text", "", "What the budget is called. Required, and unique."},
      {"budgets[].owner", "text", "", "Who is responsible for it."},
      {"budgets[].filter", "filter, list of filters", "",
       "Its scope, such as `team=nlp`; without it, everything."},
      {"budgets[].amount", "amount", "",
       "What a period may cost: `5000 USD`, or `2000 gpu_hours`. Required, here or in `amounts`."},
      {"budgets[].amounts[].from", "date", "", "From this day on the period may cost this much."},
      {"budgets[].amounts[].amount", "amount", "", "Another amount from then on."},
      {"budgets[].period", "day, week, month, quarter, year, project", "month",
       "How long the amount lasts. A project lasts from `from` to `to`."},
      {"budgets[].cost", "effective, billed, list, contracted", "effective",
       "Which cost is compared with it."},
      {"budgets[].from", "date", "", "Where a project, or roll-over, begins."},
      {"budgets[].to", "date", "", "Where a project ends, inclusive."},
      {"budgets[].roll_over", "true, false", "false",
       "What is left of a period, or missing, counts in the next one."},
      {"budgets[].parent", "text", "", "The budget that this one is a part of."},
      {"events[].name", "text", "", "Something known of days to come, or past. Required."},
      {"events[].from", "date", "", "Its first day. Required."},
      {"events[].to", "date", "", "Its last day; without it, it lasts."},
      {"events[].key", "text", "", "The value it is for, such as a team; without it, all."},
      {"events[].by", "dimension", "",
       "The dimension of `key`, such as `team`; without it, any that has the value. Required for a "
       "value that has no costs yet."},
      {"events[].per_day", "amount", "", "What it adds on each day; below 0, what it saves."},
      {"events[].percent", "percent", "", "What remains of a day's cost: 0 on a holiday, say."},
  };
}

}  // namespace pennyweight
