// What is known of budgets, kept while the ledger behind it stays the same.
//
// What the ledger says of a budget, and its forecast, change with a new run or a new complete day,
// while budgets are looked at each minute. Most have nothing that runs either: then how far they
// have come is the same too. Results never depend on what is kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/hash.h"
#include "insight/budgets/budget.h"
#include "insight/forecast/cost_forecast.h"
#include "insight/queries/live_budget_costs.h"

namespace pennyweight {

// What the ledger says of a budget on a day, without what is known live.
struct BudgetFacts {
  SpentDays spent = {};
  std::optional<forecasting::CostForecast> forecast = {};
  std::vector<std::string> notes = {};
  bool is_outdated = false;
  std::string problem = {};  // why nothing else is known
};

// When facts hold: for this state of the ledger, as on this day.
struct FactsMoment {
  std::uint64_t version = 0;
  Date today = {};
  std::optional<Date> complete_until = {};
  bool forecasts = true;
  Hash128 events = {};      // what is known of days to come
  std::uint64_t rates = 0;  // BudgetConversion::version
  bool operator==(const FactsMoment&) const = default;
};

Hash128 hash_of_events(std::span<const forecasting::KnownEvent> events);

// Any thread may use it.
class BudgetForecasts {
 public:
  // The forecast of the whole of `request`, made or kept. `name`: of the budget.
  Result<forecasting::CostForecast> forecast(const std::string& name,
                                             const forecasting::CostForecastRequest& request);
  // Null: they are not known for this moment.
  std::shared_ptr<const BudgetFacts> facts(const Budget& budget, const FactsMoment& moment);
  void keep(const Budget& budget, const FactsMoment& moment,
            std::shared_ptr<const BudgetFacts> facts);
  // How far the budget has come by these very facts, which are those of one budget and one day, and
  // by this live cost. Null: it is not known.
  std::shared_ptr<const BudgetStatus> status(const std::string& name,
                                             const std::shared_ptr<const BudgetFacts>& facts,
                                             const std::optional<LiveCost>& live);
  // `facts`: those that are kept of `status.budget`.
  void keep(std::shared_ptr<const BudgetFacts> facts, const std::optional<LiveCost>& live,
            std::shared_ptr<const BudgetStatus> status);

 private:
  static constexpr std::size_t kCachedMax = 20'000;
  struct CachedForecast {
    Hash128 request;
    forecasting::CostForecast forecast;
  };
  struct CachedFacts {
    Budget budget;
    FactsMoment moment;
    std::shared_ptr<const BudgetFacts> facts;
  };
  struct CachedStatus {
    std::shared_ptr<const BudgetFacts> facts;  // kept, so that no others have their address
    std::optional<LiveCost> live;
    std::shared_ptr<const BudgetStatus> status;
  };
  std::mutex mutex_;  // guards what follows
  std::map<std::string, CachedForecast> forecasts_;
  std::map<std::string, CachedFacts> facts_;
  std::map<std::string, CachedStatus> statuses_;
};

}  // namespace pennyweight
