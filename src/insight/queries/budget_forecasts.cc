#include "insight/queries/budget_forecasts.h"

#include <fmt/format.h>

#include <utility>

#include "core/try.h"

namespace pennyweight {
namespace {

// Of all that a forecast depends on. Histories of thousands of budgets are large to keep.
Hash128 hash_of_request(const forecasting::CostForecastRequest& request) {
  StreamHash hash;
  hash.add(
      fmt::format("{} {} {}\n", to_text(request.first_day), request.horizon, request.parts.size()));
  for (const forecasting::DailyCosts& part : request.parts) {
    hash.add(fmt::format("{} {} {}\n", part.key.size(), part.key, part.days.size()));
    for (const Money& day : part.days) {
      hash.add(fmt::format("{} {}\n", to_text(day.amount()), day.currency().text()));
    }
  }
  for (const bool is_missing : request.missing) hash.add(is_missing ? "1" : "0");
  hash.add(to_text(hash_of_events(request.events)));
  return hash.hash();
}

}  // namespace

Hash128 hash_of_events(std::span<const forecasting::KnownEvent> events) {
  StreamHash hash;
  for (const forecasting::KnownEvent& event : events) {
    hash.add(fmt::format("\n{} {} {} {} {} {} {} {} ", event.name.size(), event.name,
                         to_text(event.from), event.to ? to_text(*event.to) : "-", event.key.size(),
                         event.key, event.by.size(), event.by));
    if (event.per_day) {
      hash.add(to_text(event.per_day->amount()) + event.per_day->currency().text());
    }
    if (event.percent) hash.add(fmt::format("% {}", *event.percent));
  }
  return hash.hash();
}

Result<forecasting::CostForecast> BudgetForecasts::forecast(
    const std::string& name, const forecasting::CostForecastRequest& request) {
  const Hash128 hash = hash_of_request(request);
  {
    const std::lock_guard lock(mutex_);
    const auto known = forecasts_.find(name);
    if (known != forecasts_.end() && known->second.request == hash) return known->second.forecast;
  }
  forecasting::CostForecasts made = TRY(forecasting::forecast_costs(request));
  const std::lock_guard lock(mutex_);
  if (forecasts_.size() >= kCachedMax && !forecasts_.contains(name)) forecasts_.clear();
  forecasts_.insert_or_assign(name, CachedForecast{hash, made.whole});
  return std::move(made.whole);
}

std::shared_ptr<const BudgetFacts> BudgetForecasts::facts(const Budget& budget,
                                                          const FactsMoment& moment) {
  const std::lock_guard lock(mutex_);
  const auto known = facts_.find(budget.name);
  if (known == facts_.end() || known->second.moment != moment || known->second.budget != budget) {
    return nullptr;
  }
  return known->second.facts;
}

void BudgetForecasts::keep(const Budget& budget, const FactsMoment& moment,
                           std::shared_ptr<const BudgetFacts> facts) {
  const std::lock_guard lock(mutex_);
  if (facts_.size() >= kCachedMax && !facts_.contains(budget.name)) facts_.clear();
  facts_.insert_or_assign(budget.name, CachedFacts{budget, moment, std::move(facts)});
}

std::shared_ptr<const BudgetStatus> BudgetForecasts::status(
    const std::string& name, const std::shared_ptr<const BudgetFacts>& facts,
    const std::optional<LiveCost>& live) {
  const std::lock_guard lock(mutex_);
  const auto known = statuses_.find(name);
  const bool is_same =
      known != statuses_.end() && known->second.facts == facts && known->second.live == live;
  return is_same ? known->second.status : nullptr;
}

void BudgetForecasts::keep(std::shared_ptr<const BudgetFacts> facts,
                           const std::optional<LiveCost>& live,
                           std::shared_ptr<const BudgetStatus> status) {
  const std::lock_guard lock(mutex_);
  const std::string& name = status->budget.name;
  if (statuses_.size() >= kCachedMax && !statuses_.contains(name)) statuses_.clear();
  CachedStatus cached{std::move(facts), live, status};
  statuses_.insert_or_assign(name, std::move(cached));
}

}  // namespace pennyweight
