#include "app/daemon/limit_watch.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <tuple>
#include <utility>

#include "app/context/paths.h"
#include "app/daemon/live_file.h"
#include "config/guardrail_config.h"
#include "core/billing_period.h"
#include "core/check.h"
#include "core/date.h"
#include "core/files/file.h"
#include "insight/guardrails/rules.h"
#include "insight/queries/budget_uses.h"
#include "insight/queries/limit_query.h"

namespace pennyweight {
namespace {

constexpr std::chrono::seconds kMeasureEvery{60};
constexpr std::chrono::minutes kMeasureAgeMax{15};
constexpr std::size_t kNoticeBytesMax = std::size_t{4} << 20U;
constexpr const char* kJustStarted = "serve has just started";

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
      uses_(std::make_shared<const LimitUses>(unmeasured(config.guardrails->limits, kJustStarted))),
      budgets_(std::make_shared<const BudgetUses>(BudgetUses{.problem = kJustStarted})),
      kept_(kMeasureAgeMax),
      kept_budgets_(kMeasureAgeMax) {}

LimitWatch::~LimitWatch() { stop(); }

void LimitWatch::start(SummarySource summarise,
                       std::function<Result<std::vector<Budget>>()> budgets, StopHooks hooks) {
  const auto& limits = config_.guardrails->limits;
  const bool measures = std::ranges::any_of(limits, [](const guardrails::UsageLimit& limit) {
    return limit.per_month || limit.gpu_hours;
  });
  if (guardrails::looks_at_budgets(config_.guardrails->rules)) list_budgets_ = std::move(budgets);
  if (!measures && !list_budgets_) return;
  summarise_ = std::move(summarise);
  hooks_ = std::move(hooks);
  load_notices();
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

std::shared_ptr<const BudgetUses> LimitWatch::budgets() const {
  const std::lock_guard lock(mutex_);
  return budgets_;
}

guardrails::StopState LimitWatch::stops() const {
  guardrails::StopState state;
  {
    const std::lock_guard lock(mutex_);
    state.notices = notices_;
  }
  if (!state.notices.empty() && hooks_.told) state.told = hooks_.told();
  return state;
}

// What can't be read says nothing: every grace begins anew.
void LimitWatch::load_notices() {
  const std::string path = stop_notices_path(config_);
  auto text = read_file(path, kNoticeBytesMax);
  if (!text && text.error().code == ErrorCode::kNotFound) return;
  auto notices = text ? guardrails::parse_stop_notices(*text)
                      : Result<guardrails::StopNotices>(std::unexpected(text.error()));
  if (!notices) {
    log_.warn("stop_notices", {{"file", path},
                               {"why", notices.error().message},
                               {"so", "every grace of a limit that stops work begins anew"}});
    return;
  }
  saved_notices_ = *std::move(text);
  const std::lock_guard lock(mutex_);
  notices_ = *std::move(notices);
}

bool LimitWatch::record(std::string_view action, const guardrails::StopNotice& notice) {
  if (!hooks_.record) return true;
  const auto done = hooks_.record({.action = std::string(action),
                                   .subject = "limit " + notice.limit,
                                   .before = "",
                                   .after = JsonObjectBuilder()
                                                .text("because", notice.because)
                                                .text("since", to_text(notice.since))
                                                .json()});
  if (!done) log_.warn("stop_notices", {{"limit", notice.limit}, {"why", done.error().message}});
  return done.has_value();
}

void LimitWatch::step_notices(std::span<const guardrails::LimitUse> uses, const Interval& month,
                              Instant now) {
  guardrails::StopState state = stops();
  const auto changes = guardrails::step_stop_notices(state, uses, month, now);
  for (const guardrails::StopNotice& notice : changes.withdrawn) {
    std::ignore = record("withdraw_stop_notice", notice);
    due_.erase(notice.scope());
  }
  // What can't be recorded does not begin.
  for (const guardrails::StopNotice& notice : changes.begun) {
    if (!record("announce_stop", notice)) state.notices.erase(notice.limit);
  }
  for (const guardrails::UsageLimit& limit : config_.guardrails->limits) {
    const auto notice = state.notices.find(limit.name);
    if (notice == state.notices.end() || !limit.stop_running) continue;
    const bool is_new = !due_.contains(notice->second.scope()) &&
                        is_grace_over(notice->second, *limit.stop_running, state, now);
    if (is_new && record("stop_is_due", notice->second)) due_.insert(notice->second.scope());
  }
  std::string text = guardrails::stop_notices_text(state.notices);
  {
    const std::lock_guard lock(mutex_);
    notices_ = std::move(state.notices);
  }
  const bool is_first = saved_notices_.empty() && notices_.empty();
  if (is_first || text == saved_notices_) return;
  const auto saved = save_live_file(stop_notices_path(config_), text);
  if (saved) {
    saved_notices_ = std::move(text);
  } else {
    log_.warn_hourly("stop_notices", "file", {{"why", saved.error().message}});
  }
}

void LimitWatch::run() {
  while (true) {
    measure();
    if (list_budgets_) measure_budgets();
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
  const Interval month = BillingPeriod::containing(now, config_.policy.time_zone).to_interval();
  step_notices(uses, month, now);  // by what was measured now, and by nothing that was kept
  kept_.fill(uses, now, month.begin());
  const std::lock_guard lock(mutex_);
  uses_ = std::make_shared<const LimitUses>(std::move(uses));
}

void LimitWatch::measure_budgets() {
  const Instant now = clock_.now();
  const auto today = parse_date(local_date(now, config_.policy.time_zone));
  CHECK(today.has_value(), "local_date() writes a date");
  const auto listed = list_budgets_();
  auto measured = listed
                      ? query_budget_uses(*listed, *today, config_.policy, summarise_)
                      : Result<std::vector<guardrails::BudgetUse>>(std::unexpected(listed.error()));
  BudgetUses budgets;
  if (measured) {
    budgets.uses = *std::move(measured);
    for (const guardrails::BudgetUse& use : budgets.uses) {
      if (use.left) continue;
      log_.warn_hourly("budgets", "budget " + use.name,
                       {{"budget", use.name}, {"why", use.problem}});
    }
    kept_budgets_.fill(budgets.uses, now, *today);
  } else {
    const std::string& why = measured.error().message;
    log_.warn_hourly("budgets", "budgets of rules", {{"why", why}});
    auto known = kept_budgets_.recall(why, now, *today);
    if (known) {
      budgets.uses = *std::move(known);
    } else {
      budgets.problem = why;
    }
  }
  const std::lock_guard lock(mutex_);
  budgets_ = std::make_shared<const BudgetUses>(std::move(budgets));
}

}  // namespace pennyweight
