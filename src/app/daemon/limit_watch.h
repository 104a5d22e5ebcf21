// LimitWatch: how much of each limit is used, and of each budget where rules ask for it, measured
// in the ledger once a minute by a thread of its own, so that admission never waits for the ledger.
//
// It also keeps the notices of limits that stop what runs (guardrails/stop_notice.h), in a file, so
// that a restart neither forgets nor shortens a grace.
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "app/audit_events/audit_events.h"
#include "app/context/log.h"
#include "config/config.h"
#include "core/clock.h"
#include "core/error.h"
#include "core/instant.h"
#include "insight/budgets/budget.h"
#include "insight/guardrails/kept_uses.h"
#include "insight/guardrails/rule_context.h"
#include "insight/guardrails/stop_notice.h"
#include "insight/guardrails/usage_limit.h"
#include "reporting/queries/costs.h"

namespace pennyweight {

using LimitUses = std::vector<guardrails::LimitUse>;

struct BudgetUses {
  std::vector<guardrails::BudgetUse> uses = {};
  std::string problem = {};  // why none is known
};

// What notices of limits that stop work need of the rest of `serve`.
struct StopHooks {
  // When somebody was told of each notice, by its scope.
  std::function<std::map<std::string, Instant>()> told = {};
  // Records in the audit log that a notice begins, is taken back, or that its grace is over.
  std::function<Result<void>(const AuditEvent&)> record = {};
};

class LimitWatch {
 public:
  // All of these outlive it. Until start(), and until the first answer of the ledger, limits of
  // money and GPU-hours are not measured.
  LimitWatch(const Config& config, Clock& clock, Log& log);
  ~LimitWatch();
  LimitWatch(const LimitWatch&) = delete;
  LimitWatch& operator=(const LimitWatch&) = delete;

  // `summarise` and the hooks are called from the thread; the first ends when serve stops. Nothing
  // where neither limits nor budgets of rules are to be measured.
  void start(SummarySource summarise, std::function<Result<std::vector<Budget>>()> budgets,
             StopHooks hooks = {});
  void stop();

  std::shared_ptr<const LimitUses> uses() const;  // any thread; never null
  std::shared_ptr<const BudgetUses> budgets() const;
  // Any thread; asks who was told.
  guardrails::StopState stops() const;

 private:
  void run();
  void measure();
  void measure_budgets();
  void load_notices();
  void step_notices(std::span<const guardrails::LimitUse> uses, const Interval& month, Instant now);
  bool record(std::string_view action, const guardrails::StopNotice& notice);

  const Config& config_;
  Clock& clock_;
  Log& log_;
  SummarySource summarise_;
  std::function<Result<std::vector<Budget>>()> list_budgets_;
  StopHooks hooks_;           // set before the thread begins
  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::shared_ptr<const LimitUses> uses_;
  std::shared_ptr<const BudgetUses> budgets_;
  guardrails::StopNotices notices_;
  bool stopping_ = false;
  std::set<std::string> due_;  // scopes of which it is recorded; of the thread, as what follows
  std::string saved_notices_;
  guardrails::KeptUses kept_;
  guardrails::KeptBudgets kept_budgets_;
  std::thread thread_;
};

}  // namespace pennyweight
