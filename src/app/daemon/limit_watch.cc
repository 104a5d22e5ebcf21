#include "app/daemon/limit_watch.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "config/guardrail_config.h"
#include "core/billing_period.h"
#include "insight/queries/limit_query.h"

namespace pennyweight {
namespace {

constexpr std::chrono::seconds kMeasureEvery{60};
constexpr std::chrono::minutes kMeasureAgeMax{15};

LimitUses unmeasured(const std::vector<guardrails::UsageLimit>& limits, const std::string& why) {
  LimitUses uses;
  for (const guardrails::UsageLimit& limit : limits) {
    uses.push_back({.limit = limit, .problem = why});
  }
  return uses;
}

}  // namespace

LimitWatch::LimitWatch(const Config& config, Clock& clock, Log& log)
    : config_(config),
      clock_(clock),
      log_(log),
      uses_(std::make_shared<const LimitUses>(
          unmeasured(config.guardrails->limits, "serve has just started"))),
      kept_(kMeasureAgeMax) {}

LimitWatch::~LimitWatch() { stop(); }

void LimitWatch::start(SummarySource summarise) {
  const auto& limits = config_.guardrails->limits;
  const bool measures = std::ranges::any_of(limits, [](const guardrails::UsageLimit& limit) {
    return limit.per_month || limit.gpu_hours;
  });
  if (!measures) return;
  summarise_ = std::move(summarise);
  thread_ = std::thread([this] { run(); });
}

void LimitWatch::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

std::shared_ptr<const LimitUses> LimitWatch::uses() const {
  const std::lock_guard lock(mutex_);
  return uses_;
}

void LimitWatch::run() {
  while (true) {
    measure();
    std::unique_lock lock(mutex_);
    if (changed_.wait_for(lock, kMeasureEvery, [this] { return stopping_; })) return;
  }
}

void LimitWatch::measure() {
  const auto& limits = config_.guardrails->limits;
  const Instant now = clock_.now();
  auto measured = query_limits(limits, now, config_.policy, summarise_);
  LimitUses uses = measured ? *std::move(measured) : unmeasured(limits, measured.error().message);
  for (const guardrails::LimitUse& use : uses) {
    if (use.problem.empty()) continue;
    log_.warn_hourly("limits", "limit " + use.limit.name,
                     {{"limit", use.limit.name}, {"why", use.problem}});
  }
  kept_.fill(uses, now,
             BillingPeriod::containing(now, config_.policy.time_zone).to_interval().begin());
  const std::lock_guard lock(mutex_);
  uses_ = std::make_shared<const LimitUses>(std::move(uses));
}

}  // namespace pennyweight
