// LimitWatch: how much of each limit is used, measured in the ledger once a minute by a thread of
// its own, so that admission never waits for the ledger.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "app/context/log.h"
#include "config/config.h"
#include "core/clock.h"
#include "insight/guardrails/kept_uses.h"
#include "insight/guardrails/usage_limit.h"
#include "reporting/queries/costs.h"

namespace pennyweight {

using LimitUses = std::vector<guardrails::LimitUse>;

class LimitWatch {
 public:
  // All of these outlive it. Until start(), and until the first answer of the ledger, limits of
  // money and GPU-hours are not measured.
  LimitWatch(const Config& config, Clock& clock, Log& log);
  ~LimitWatch();
  LimitWatch(const LimitWatch&) = delete;
  LimitWatch& operator=(const LimitWatch&) = delete;

  // `summarise` is called from the thread, and ends when serve stops. Nothing where there are no
  // limits to measure.
  void start(SummarySource summarise);
  void stop();

  std::shared_ptr<const LimitUses> uses() const;  // any thread; never null

 private:
  void run();
  void measure();

  const Config& config_;
  Clock& clock_;
  Log& log_;
  SummarySource summarise_;
  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::shared_ptr<const LimitUses> uses_;
  bool stopping_ = false;
  guardrails::KeptUses kept_;  // of the thread alone
  std::thread thread_;
};

}  // namespace pennyweight
