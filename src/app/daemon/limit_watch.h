// LimitWatch: how much of each limit is used, and of each budget where rules ask for it, measured
// in the ledger once a minute by a thread of its own, so that admission never waits for the ledger.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "app/context/log.h"
#include "config/config.h"
#include "core/clock.h"
#include "core/error.h"
#include "core/instant.h"
#include "insight/budgets/budget.h"
#include "insight/guardrails/kept_uses.h"
#include "insight/guardrails/rule_context.h"
#include "insight/guardrails/usage_limit.h"
#include "reporting/queries/costs.h"

namespace pennyweight {

using LimitUses = std::vector<guardrails::LimitUse>;

struct BudgetUses {
  std::vector<guardrails::BudgetUse> uses = {};
  std::string problem = {};  // why none is known
};

class LimitWatch {
 public:
  // All of these outlive it. Until start(), and until the first answer of the ledger, limits of
  // money and GPU-hours are not measured.
  LimitWatch(const Config& config, Clock& clock, Log& log);
  ~LimitWatch();
  LimitWatch(const LimitWatch&) = delete;
  LimitWatch& operator=(const LimitWatch&) = delete;

  // `summarise` is called from the thread, and ends when serve stops. Nothing where neither
  // limits nor budgets of rules are to be measured.
  void start(SummarySource summarise, std::function<Result<std::vector<Budget>>()> budgets);
  void stop();

  std::shared_ptr<const LimitUses> uses() const;  // any thread; never null
  std::shared_ptr<const BudgetUses> budgets() const;

 private:
  void run();
  void measure();
  void measure_budgets();

  const Config& config_;
  Clock& clock_;
  Log& log_;
  SummarySource summarise_;
  std::function<Result<std::vector<Budget>>()> list_budgets_;
  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::shared_ptr<const LimitUses> uses_;
  std::shared_ptr<const BudgetUses> budgets_;
  bool stopping_ = false;
  guardrails::KeptUses kept_;  // of the thread alone, as what follows
  guardrails::KeptBudgets kept_budgets_;
  std::thread thread_;
};

}  // namespace pennyweight
