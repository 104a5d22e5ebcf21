#include "app/alerting/alert_service.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "app/alerting/conditions.h"
#include "core/billing_period.h"
#include "core/try.h"
#include "insight/queries/budget_query.h"

namespace pennyweight {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kOutboxMax = 10'000;
constexpr std::size_t kDeadMax = 1'000;
constexpr std::uint32_t kAttemptsMax = 40;   // with the back-off, a day
constexpr std::size_t kDeliveriesMax = 200;  // of one round
constexpr milliseconds kBackOffFirst{2'000};
constexpr milliseconds kBackOffMax{3'600'000};
// Days change once a day, so unusual ones are looked for this often.
constexpr milliseconds kAnomaliesEvery{900'000};
constexpr int kRecentDays = 3;
// While something waits to be delivered.
constexpr milliseconds kRoundEvery{1'000};

milliseconds back_off(std::uint32_t attempts) {
  milliseconds wait = kBackOffFirst;
  for (std::uint32_t i = 1; i < attempts && wait < kBackOffMax; ++i) wait *= 2;
  return std::min(wait, kBackOffMax);
}

std::vector<AlertSilence> silences_of(const AlertConfig& config) {
  std::vector<AlertSilence> silences;
  for (const SilenceConfig& one : config.silences) {
    silences.push_back({one.rule, one.scope, one.from, one.to});
  }
  return silences;
}

}  // namespace

AlertService::AlertService(const Config& config, AlertSources sources, Clock& clock, Log& log,
                           std::string path)
    : config_(config),
      sources_(std::move(sources)),
      clock_(clock),
      log_(log),
      path_(std::move(path)),
      delivery_(config.alerts) {}

AlertService::~AlertService() { stop(); }

Result<void> AlertService::start() {
  state_ = TRY(load_alert_state(path_));
  thread_ = std::thread([this] { run(); });
  return {};
}

void AlertService::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

AlertState AlertService::state() const {
  const std::lock_guard lock(mutex_);
  return state_;
}

void AlertService::run() {
  auto next = std::chrono::steady_clock::now();
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    lock.unlock();
    const Instant now = clock_.now();
    if (std::chrono::steady_clock::now() >= next) {
      evaluate(now);
      refresh(now);
      next = std::chrono::steady_clock::now() + milliseconds(config_.alerts.every_ms);
    }
    deliver(now);
    lock.lock();
    changed_.wait_for(lock, std::min(kRoundEvery, milliseconds(config_.alerts.every_ms)),
                      [&] { return stopping_; });
  }
}

void AlertService::run_once() {
  evaluate(clock_.now());
  deliver(clock_.now());
}

std::vector<AlertCondition> AlertService::conditions(Date today) {
  std::vector<AlertCondition> found;
  const auto add = [&](std::vector<AlertCondition> more) {
    for (AlertCondition& one : more) {
      const auto& off = config_.alerts.off;
      if (std::ranges::find(off, one.rule) == off.end()) found.push_back(std::move(one));
    }
  };
  // A problem is logged once, and again when it is another one.
  const auto report = [&](const std::string& what, const std::string& why) {
    if (std::exchange(reported_[what], why) == why || why.empty()) return;
    log_.warn("alerts", {{"doing", what}, {"why", why}});
  };
  const auto view = sources_.live ? sources_.live() : nullptr;
  if (view) add(live_conditions(*view));
  for (const Budget& budget : config_.budgets) {
    const auto statuses =
        query_budgets({.budgets = {&budget, 1},
                       .today = today,
                       .events = config_.events,
                       .live_today = [&](const Budget& one) -> std::optional<Money> {
                         return view ? live_cost_today(one, *view, config_.policy) : std::nullopt;
                       }},
                      config_.policy, sources_.summarise);
    report("budget " + budget.name, statuses ? "" : statuses.error().message);
    if (statuses) add(budget_conditions(*statuses));
  }
  const Instant now = clock_.now();
  if (!looked_ || now - *looked_ >= kAnomaliesEvery || now < *looked_) {
    AnomalyQuery query{.costs = {.by = config_.alerts.anomalies_by, .today = today}};
    const auto history =
        query_daily_costs({.by = "", .today = today}, config_.policy, sources_.summarise);
    std::vector<AlertCondition> all;
    if (history) {
      query.since = history->last_day() - std::chrono::days(kRecentDays - 1);
      const auto anomalies = query_anomalies(query, config_.policy, sources_.summarise);
      report("unusual days", anomalies ? "" : anomalies.error().message);
      all = coverage_conditions(*history, today);
      // Of costs that are weeks old nobody need be told today.
      if (anomalies && all.empty()) all = anomaly_conditions(*anomalies);
    }
    anomalies_ = std::move(all);
    looked_ = now;
  }
  add(anomalies_);
  return found;
}

void AlertService::evaluate(Instant now) {
  const auto day = parse_date(local_date(now, config_.policy.time_zone));
  if (!day) return;
  const std::vector<AlertCondition> found = conditions(*day);
  const std::lock_guard lock(mutex_);
  const AlertState before = state_;
  const AlertTiming timing{
      .hold = std::max(milliseconds(300'000), 3 * milliseconds(config_.alerts.every_ms)),
      .repeat = milliseconds(config_.alerts.repeat_ms)};
  for (AlertNotification& told :
       step_alerts(state_.book, found, now, *day, silences_of(config_.alerts), timing)) {
    log_.info("alert", {{"id", told.id}, {"summary", told.alert.condition.summary}});
    for (const ReceiverConfig& receiver : config_.alerts.receivers) {
      state_.outbox.push_back({.receiver = receiver.name, .notification = told, .next = now});
    }
  }
  while (state_.outbox.size() > kOutboxMax) {
    state_.outbox.front().problem = "too many notifications wait";
    state_.dead.push_back(std::move(state_.outbox.front()));
    state_.outbox.pop_front();
  }
  while (state_.dead.size() > kDeadMax) state_.dead.pop_front();
  // What is not on disk is not sent: it is found again at the next evaluation.
  if (!save()) state_ = before;
}

// Callers hold the mutex.
bool AlertService::save() {
  const auto saved = save_alert_state(state_, path_);
  const std::string why = saved ? "" : saved.error().message;
  if (std::exchange(reported_["save"], why) != why && !why.empty()) {
    log_.error("alerts", {{"doing", "keep alerts"}, {"why", why}});
  }
  return saved.has_value();
}

void AlertService::deliver(Instant now) {
  std::deque<OutboxEntry> due;
  {
    const std::lock_guard lock(mutex_);
    for (OutboxEntry& entry : state_.outbox) {
      if (due.size() >= kDeliveriesMax) break;
      // A clock that went back delays nothing.
      if (entry.next > now && entry.next - now < 2 * kBackOffMax) continue;
      due.push_back(entry);
    }
    if (due.empty()) return;
    // Attempts are on disk before they are made, so that what may have arrived is marked.
    for (OutboxEntry& entry : state_.outbox) {
      for (const OutboxEntry& one : due) {
        if (one.receiver == entry.receiver && one.notification.id == entry.notification.id) {
          ++entry.attempts;
        }
      }
    }
    if (!save()) return;
  }
  std::map<std::string, std::string> failed;  // receivers that did not answer in this round
  for (const OutboxEntry& entry : due) {
    const auto receiver =
        std::ranges::find(config_.alerts.receivers, entry.receiver, &ReceiverConfig::name);
    std::string problem;
    if (receiver == config_.alerts.receivers.end()) {
      problem = "there is no such receiver any more";
    } else if (const auto earlier = failed.find(entry.receiver); earlier != failed.end()) {
      problem = earlier->second;
    } else {
      const auto sent = delivery_.send(*receiver, entry.notification, entry.attempts > 0, now);
      if (!sent) {
        problem = sent.error().message;
        failed.emplace(entry.receiver, problem);
      }
    }
    const std::lock_guard lock(mutex_);
    const auto at = std::ranges::find_if(state_.outbox, [&](const OutboxEntry& one) {
      return one.receiver == entry.receiver && one.notification.id == entry.notification.id;
    });
    if (at == state_.outbox.end()) continue;
    if (problem.empty()) {
      state_.outbox.erase(at);
      reported_.erase("deliver " + entry.receiver);
      continue;
    }
    at->problem = problem;
    at->next = now + back_off(at->attempts);
    if (std::exchange(reported_["deliver " + entry.receiver], problem) != problem) {
      log_.warn("alerts", {{"doing", "deliver"}, {"why", problem}});
    }
    if (at->attempts >= kAttemptsMax || receiver == config_.alerts.receivers.end()) {
      log_.error("alerts", {{"doing", "give up " + entry.notification.id}, {"why", problem}});
      state_.dead.push_back(std::move(*at));
      state_.outbox.erase(at);
    }
  }
  const std::lock_guard lock(mutex_);
  save();
}

void AlertService::refresh(Instant now) {
  std::vector<AlertNotification> firing;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [key, alert] : state_.book) {
      if (alert.told && !alert.is_silent) firing.push_back({alert.id(), alert, true});
    }
  }
  if (firing.empty()) return;
  for (const ReceiverConfig& receiver : config_.alerts.receivers) {
    if (receiver.kind != ReceiverKind::kAlertmanager) continue;
    // Not kept: the next evaluation says the same.
    if (const auto sent = delivery_.refresh(receiver, firing, now); !sent) {
      const std::lock_guard lock(mutex_);
      const std::string& why = sent.error().message;
      if (std::exchange(reported_["deliver " + receiver.name], why) != why) {
        log_.warn("alerts", {{"doing", "deliver"}, {"why", why}});
      }
    }
  }
}

}  // namespace pennyweight
