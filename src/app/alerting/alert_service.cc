#include "app/alerting/alert_service.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <ranges>
#include <set>
#include <tuple>
#include <utility>

#include "app/alerting/rule_settings.h"
#include "app/alerting/week_hours.h"
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
// What people put and what has ended is kept for so long, and so many of them.
constexpr std::chrono::days kSilenceKept{30};
constexpr std::size_t kSilencesMax = 200;
constexpr std::size_t kEndedMax = 500;
constexpr milliseconds kSilenceBack = std::chrono::hours(2);
// Outcomes are many, so that at first only those of some hours are read. A workload that wrote its
// last checkpoint a week ago is not one that writes checkpoints.
constexpr milliseconds kCheckpointsBack = std::chrono::hours(6);
constexpr milliseconds kCheckpointsKept = std::chrono::hours(24 * 7);
constexpr milliseconds kCheckpointsOverlap = std::chrono::hours(2);
// The months of the ledger are reconciled this often: all their charges are read.
constexpr milliseconds kReconcileEvery = std::chrono::hours(1);
constexpr int kRecentDays = 3;
constexpr int kDigestDaysMax = 8;
constexpr milliseconds kDigestWaitMax = std::chrono::hours(24 * 16);  // also `after` and `hours`
// What became a row less than so long before the ledger was read may not have been in it.
constexpr milliseconds kLiveOverlap = std::chrono::minutes(5);
// While the telemetry of a window is read, at most so many rows more than those that tell
// something.
constexpr std::size_t kUsagesHeldMax = 200'000;
// Telemetry in memory is cheap to look at, and people wait for what it says.
constexpr milliseconds kDevicesEvery{5'000};
// While something waits to be delivered.
constexpr milliseconds kRoundEvery{1'000};

milliseconds back_off(std::uint32_t attempts) {
  milliseconds wait = kBackOffFirst;
  for (std::uint32_t i = 1; i < attempts && wait < kBackOffMax; ++i) wait *= 2;
  return std::min(wait, kBackOffMax);
}

// Whether a receiver hears of an alert only some time after it began, or only if it goes on.
bool is_put_off(const ReceiverConfig& receiver) {
  return receiver.after_ms > 0 || receiver.is_in_hours;
}

// What a test is delivered as.
constexpr std::string_view kTestRule = "test";

}  // namespace

Instant next_message(const ReceiverConfig& receiver, const AlertConfig& config,
                     const TimeZone& zone, Instant now) {
  if (receiver.is_in_hours) now = next_open(config.business_hours, now, zone);
  if (receiver.digest == DigestPeriod::kNone) return now;
  Interval day = day_of(now, zone);
  for (int i = 0; i <= kDigestDaysMax; ++i) {
    const std::string time =
        fmt::format("{}T{:02}:00:00", local_date(day.begin(), zone), config.digest_hour);
    // An hour that the zone skips on this day: so many hours after its beginning.
    const Instant at = parse_local_time(time, zone, Ambiguous::kEarlier)
                           .value_or(day.begin() + std::chrono::hours(config.digest_hour));
    const bool is_day =
        receiver.digest == DigestPeriod::kDay || start_of_week(day.begin(), zone) == day.begin();
    if (is_day && at > now) return at;
    day = day_of(day.end(), zone);
  }
  return now;
}

AlertService::AlertService(const Config& config, AlertSources sources, Clock& clock, Log& log,
                           std::string path)
    : config_(config),
      sources_(std::move(sources)),
      clock_(clock),
      log_(log),
      path_(std::move(path)),
      delivery_(config.alerts, config.mail) {}

AlertService::~AlertService() { stop(); }

Result<void> AlertService::start() {
  state_ = TRY(load_alert_state(path_));
  // What went on when `serve` ended may go on; what it knows now is not enough to say it does not.
  for (auto& [key, alert] : state_.book) alert.last_true = clock_.now();
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

std::vector<BudgetStatus> AlertService::budgets() const {
  const std::lock_guard lock(mutex_);
  return budgets_;
}

void AlertService::run() {
  using std::chrono::steady_clock;
  auto next = steady_clock::now();
  auto next_devices = next;
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    lock.unlock();
    const Instant now = clock_.now();
    if (steady_clock::now() >= next) {
      evaluate(now, Scope::kAll);
      refresh(now);
      keep_forecasts(now);
      next = steady_clock::now() + milliseconds(config_.alerts.every_ms);
      next_devices = steady_clock::now() + kDevicesEvery;
    } else if (sources_.live_usage && steady_clock::now() >= next_devices) {
      evaluate(now, Scope::kDevices);
      next_devices = steady_clock::now() + kDevicesEvery;
    }
    deliver(now);
    lock.lock();
    changed_.wait_for(lock, std::min(kRoundEvery, milliseconds(config_.alerts.every_ms)),
                      [&] { return stopping_; });
  }
}

void AlertService::run_once() {
  evaluate(clock_.now(), Scope::kAll);
  deliver(clock_.now());
}

void AlertService::report(const std::string& doing, const Error* why) {
  const std::string text = why == nullptr ? "" : why->message;
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(reported_[doing], text) == text || text.empty()) return;
  }
  log_.warn("alerts", {{"doing", doing}, {"why", text}});
}

// Unusual days and missing ones. All costs are read for them, so they are kept for a while.
void AlertService::find_in_days(Date today, Findings& found) {
  const auto history =
      query_daily_costs({.by = "", .today = today}, config_.policy, sources_.summarise);
  if (!history) {
    // A ledger without costs is not an error.
    const bool is_empty = history.error().code == ErrorCode::kNotFound;
    report("unusual days", is_empty ? nullptr : &history.error());
    if (!is_empty) {
      found.unknown = {{"cost_anomaly"}, {"costs_missing"}, {"coverage_fell"}, {"forecast_missed"}};
    }
    return;
  }
  found.conditions =
      coverage_conditions(*history, today, config_.alerts.thresholds.costs_missing_days);
  // Of costs that are weeks old nobody need be told today.
  if (!found.conditions.empty()) return report("unusual days", nullptr);
  AnomalyQuery query{.costs = {.by = config_.alerts.anomalies_by, .today = today}};
  query.since = history->last_day() - std::chrono::days(kRecentDays - 1);
  const auto anomalies = query_anomalies(query, config_.policy, sources_.summarise);
  report("unusual days", anomalies ? nullptr : &anomalies.error());
  const auto add = [&](const std::vector<AlertCondition>& more) {
    found.conditions.insert(found.conditions.end(), more.begin(), more.end());
  };
  if (anomalies) {
    add(anomaly_conditions(*anomalies));
  } else {
    found.unknown.push_back({"cost_anomaly"});
  }
  find_by_owner(query.costs, found);
}

// What the costs of each owner say, beside unusual days.
void AlertService::find_by_owner(const DailyCostQuery& costs, Findings& found) {
  const auto history = query_daily_costs(costs, config_.policy, sources_.summarise);
  report("costs of owners", history ? nullptr : &history.error());
  if (!history) {
    found.unknown.insert(found.unknown.end(), {{"coverage_fell"}, {"forecast_missed"}});
    return;
  }
  const auto add = [&](const std::vector<AlertCondition>& more) {
    found.conditions.insert(found.conditions.end(), more.begin(), more.end());
  };
  add(owner_conditions(*history, costs.by, config_.alerts.thresholds.coverage_points));
  if (!sources_.kept_forecasts) return;
  const auto kept = sources_.kept_forecasts(costs.by);
  report("kept forecasts", kept ? nullptr : &kept.error());
  if (kept) {
    add(missed_forecast_conditions(*history, *kept));
  } else {
    found.unknown.push_back({"forecast_missed"});
  }
}

// What is read from the ledger itself, seldom.
void AlertService::find_in_ledger(Instant now, Findings& found) {
  if (sources_.outcomes) {
    // A clock that went back far begins anew.
    const bool goes_on = looked_ && *looked_ - kCheckpointsOverlap < now;
    const Instant since = goes_on ? *looked_ - kCheckpointsOverlap : now - kCheckpointsBack;
    const auto read = sources_.outcomes(Interval(since, now), [&](std::span<const Outcome> batch) {
      note_checkpoints(batch, checkpoints_);
    });
    report("checkpoints", read ? nullptr : &read.error());
    std::erase_if(checkpoints_,
                  [&](const auto& one) { return now - one.second > kCheckpointsKept; });
  }
  if (!sources_.reconcile) return;
  const bool is_due = !reconciled_ || now - *reconciled_ >= kReconcileEvery || now < *reconciled_;
  if (is_due) {
    reconciled_ = now;
    reconciliation_ = {};
    const auto result = sources_.reconcile();
    const bool is_empty = !result && result.error().code == ErrorCode::kNotFound;
    report("reconcile", result || is_empty ? nullptr : &result.error());
    if (result) {
      reconciliation_.conditions = reconcile_conditions(*result);
    } else if (!is_empty) {
      reconciliation_.unknown = {{"reconcile_off"}};
    }
  }
  found.conditions.insert(found.conditions.end(), reconciliation_.conditions.begin(),
                          reconciliation_.conditions.end());
  found.unknown.insert(found.unknown.end(), reconciliation_.unknown.begin(),
                       reconciliation_.unknown.end());
}

// Those that people set can be unreadable for a while: nothing is known of them then.
std::vector<Budget> AlertService::all_budgets(Findings& found) {
  if (!sources_.budgets) return config_.budgets;
  auto all = sources_.budgets();
  report("read the budgets that people set", all ? nullptr : &all.error());
  if (all) return *std::move(all);
  for (const std::string_view rule : alert_rule_names()) {
    if (rule.starts_with("budget_")) found.unknown.push_back({std::string(rule)});
  }
  return config_.budgets;
}

// The ledger's telemetry of the last minutes, of which only what tells something is kept.
Result<void> AlertService::read_telemetry(Instant now) {
  // At first somebody may have fallen silent already.
  const milliseconds window = device_window(config_.alerts.thresholds);
  const milliseconds back =
      last_telemetry_.clusters.empty() ? std::max(kSilenceBack, window) : window;
  usages_.clear();
  usages_read_.reset();
  std::size_t tidy_at = kUsagesHeldMax;
  TRY(sources_.usage(Interval(now - back, now), [&](std::span<const Usage> batch) {
    note_telemetry(batch, last_telemetry_);
    for (const Usage& usage : batch) {
      if (usage.at >= now - window) usages_.push_back(usage);
    }
    if (usages_.size() < tidy_at) return;
    keep_telling(usages_, now);
    tidy_at = usages_.size() + kUsagesHeldMax;
  }));
  keep_telling(usages_, now);
  usages_read_ = now;
  return {};
}

// Devices, by the telemetry of the last minutes.
void AlertService::find_in_telemetry(Instant now, Scope scope, Findings& found) {
  static constexpr std::string_view kDeviceRules[] = {"gpu_ecc", "gpu_hot", "gpu_out_of_memory",
                                                      "gpu_throttled", "gpu_xid"};
  if (!sources_.usage) return;
  if (scope == Scope::kAll) {
    const auto read = read_telemetry(now);
    report("telemetry", read ? nullptr : &read.error());
  }
  if (!usages_read_) {
    for (const std::string_view rule : kDeviceRules) found.unknown.push_back({std::string(rule)});
    found.unknown.insert(found.unknown.end(), {{"telemetry_missing"}, {"node_missing"}});
    return;
  }
  std::vector<Usage> usages = usages_;
  if (sources_.live_usage) {
    const std::vector<Usage> live = sources_.live_usage(*usages_read_ - kLiveOverlap);
    note_telemetry(live, last_telemetry_);
    usages.insert(usages.end(), live.begin(), live.end());
  }
  add_enabled(device_conditions(usages, now, config_.alerts.thresholds), found);
  forget_nodes(last_telemetry_, now);
  std::set<std::pair<ClusterId, NodeId>> held;
  if (view_) {
    for (const LiveRow& row : live_rows(*view_)) {
      if (row.is_unallocated || !row.runs) continue;
      for (const NodeId& node : row.share().nodes) held.emplace(row.cluster, node);
    }
  }
  std::vector<AlertCondition> silent = silence_conditions(
      last_telemetry_, now, config_.alerts.thresholds,
      [&](const ClusterId& cluster, const NodeId& node) { return held.contains({cluster, node}); });
  // A rule that is off says nothing in the place of another.
  const auto& off = config_.alerts.off;
  if (std::ranges::find(off, "telemetry_missing") != off.end()) {
    for (AlertCondition& one : silent) one.is_inhibited = false;
  }
  add_enabled(silent, found);
  inhibit_on_missing_nodes(found.conditions);
  // After a restart nothing may be known of a cluster, or of a node, that was silent before.
  const std::lock_guard lock(mutex_);
  for (const auto& [key, alert] : state_.book) {
    const std::string& subject = alert.condition.subject;
    if (alert.condition.rule == "telemetry_missing" &&
        !last_telemetry_.clusters.contains(ClusterId(subject))) {
      found.unknown.push_back({alert.condition.rule, subject});
    }
    if (alert.condition.rule != "node_missing") continue;
    const auto is_subject = [&](const ClusterId& cluster, const NodeId& node) {
      return subject == cluster.text() + "/" + node.text();
    };
    const bool is_known = std::ranges::any_of(last_telemetry_.nodes, [&](const auto& one) {
      return is_subject(one.first.first, one.first.second);
    });
    const bool is_held = std::ranges::any_of(
        held, [&](const auto& one) { return is_subject(one.first, one.second); });
    if (!view_ || (!is_known && is_held)) found.unknown.push_back({alert.condition.rule, subject});
  }
}

void AlertService::add_enabled(const std::vector<AlertCondition>& more, Findings& found) const {
  std::ranges::move(as_configured(more, config_.alerts), std::back_inserter(found.conditions));
}

// After a restart the last checkpoint may be older than what was read: what went on goes on.
void AlertService::find_unknown_checkpoints(Findings& found) const {
  const std::lock_guard lock(mutex_);
  for (const auto& [key, alert] : state_.book) {
    if (alert.condition.rule != "no_checkpoint") continue;
    const bool is_known = std::ranges::any_of(checkpoints_, [&](const auto& one) {
      const auto& [cluster, workload] = one.first;
      return alert.condition.subject == cluster.text() + "/" + workload.text();
    });
    const bool runs = std::ranges::any_of(live_rows(*view_), [&](const LiveRow& row) {
      return !row.is_unallocated && row.runs &&
             alert.condition.subject ==
                 row.cluster.text() + "/" + std::string(row.share().workload.text());
    });
    if (!is_known && runs) found.unknown.push_back({"no_checkpoint", alert.condition.subject});
  }
}

AlertService::Findings AlertService::find(Date today) {
  Findings found;
  const auto add = [&](const std::vector<AlertCondition>& more) { add_enabled(more, found); };
  view_ = sources_.live ? sources_.live() : nullptr;
  const auto& view = view_;
  if (view) {
    add(live_conditions(*view, config_.alerts));
    add(checkpoint_conditions(*view, checkpoints_, clock_.now(),
                              std::chrono::hours(config_.alerts.thresholds.checkpoint_hours)));
    find_unknown_checkpoints(found);
  } else {
    found.unknown.insert(found.unknown.end(), {{"gpu_idle"},
                                               {"inference_idle"},
                                               {"low_utilisation"},
                                               {"high_utilisation"},
                                               {"no_checkpoint"}});
  }
  std::optional<LiveBudgetCosts> live;
  if (view) live.emplace(view, config_.policy);
  const auto budgets = all_budgets(found);
  const auto statuses =
      query_budgets({.budgets = budgets,
                     .today = today,
                     .events = config_.events,
                     .kept = &forecasts_,
                     .version = sources_.version ? std::optional(sources_.version()) : std::nullopt,
                     .live_cost = [&](const Budget& one) -> std::optional<LiveCost> {
                       return live ? live->of(one) : std::nullopt;
                     }},
                    config_.policy, sources_.summarise);
  {
    const std::lock_guard lock(mutex_);
    budgets_ = statuses.value_or(std::vector<BudgetStatus>());
  }
  if (statuses) {
    add(budget_conditions(*statuses));
    for (const BudgetStatus& status : *statuses) {
      const std::string doing = "budget " + status.budget.name;
      // A problem is logged once, and again when it is another one.
      const Error problem{ErrorCode::kBadValue, status.problem};
      report(doing, status.problem.empty() ? nullptr : &problem);
      if (status.problem.empty()) continue;
      for (const std::string_view rule : alert_rule_names()) {
        if (rule.starts_with("budget_")) {
          found.unknown.push_back({std::string(rule), status.budget.name});
        }
      }
    }
  }
  const Instant now = clock_.now();
  if (!looked_ || now - *looked_ >= kAnomaliesEvery || now < *looked_) {
    days_ = {};
    find_in_days(today, days_);
    find_in_ledger(now, days_);
    looked_ = now;
  }
  add(days_.conditions);
  found.unknown.insert(found.unknown.end(), days_.unknown.begin(), days_.unknown.end());
  return found;
}

// Of what ended before a receiver was to hear of it, it hears nothing. Callers hold the mutex.
bool AlertService::take_back(const ReceiverConfig& receiver, const Alert& alert) {
  if (!is_put_off(receiver) || receiver.digest != DigestPeriod::kNone) return false;
  // A repetition that waits goes too, but its receiver has heard of the beginning.
  const std::string first = alert.id() + "/firing";
  bool is_unheard = false;
  std::erase_if(state_.outbox, [&](const OutboxEntry& entry) {
    const bool waits = entry.receiver == receiver.name && entry.attempts == 0 &&
                       entry.notification.is_firing && entry.notification.alert.id() == alert.id();
    is_unheard = is_unheard || (waits && entry.notification.id == first);
    return waits;
  });
  return is_unheard;
}

// Callers hold the mutex.
void AlertService::enqueue(std::span<const AlertNotification> notifications, Instant now) {
  for (const AlertNotification& told : notifications) {
    log_.info("alert", {{"id", told.id}, {"summary", told.alert.condition.summary}});
    for (const ReceiverConfig& receiver : config_.alerts.receivers) {
      if (!hears_of(receiver, told.alert.condition)) continue;
      // A receiver that has not heard of the beginning yet needs no repetition of it.
      const bool waits = std::ranges::any_of(state_.outbox, [&](const OutboxEntry& entry) {
        return told.is_firing && entry.notification.is_firing && entry.receiver == receiver.name &&
               entry.notification.alert.id() == told.alert.id();
      });
      if (waits || (!told.is_firing && take_back(receiver, told.alert))) continue;
      // Escalation waits from when the others are notified, and only the first time.
      const bool is_first = told.is_firing && told.id == told.alert.id() + "/firing";
      const milliseconds after(is_first ? receiver.after_ms : 0);
      const Instant next =
          next_message(receiver, config_.alerts, config_.policy.time_zone, now + after);
      state_.outbox.push_back({.receiver = receiver.name, .notification = told, .next = next});
    }
  }
  while (state_.outbox.size() > kOutboxMax) {
    state_.outbox.front().problem = "too many notifications wait";
    state_.dead.push_back(std::move(state_.outbox.front()));
    state_.outbox.pop_front();
  }
  while (state_.dead.size() > kDeadMax) state_.dead.pop_front();
}

// Rules are evaluated for somebody: a receiver, or a budget, which people set while `serve` runs.
// What goes on is followed to its end.
bool AlertService::has_purpose() {
  if (!config_.alerts.receivers.empty() || !config_.budgets.empty()) return true;
  {
    const std::lock_guard lock(mutex_);
    if (!state_.book.empty()) return true;
  }
  if (!sources_.budgets) return false;
  const auto set = sources_.budgets();
  return !set || !set->empty();  // what can't be read is said by the evaluation
}

// Also where nobody is to be notified of anything.
void AlertService::keep_forecasts(Instant now) {
  if (!sources_.keep_forecasts) return;
  if (kept_forecasts_ && now - *kept_forecasts_ < kAnomaliesEvery && now >= *kept_forecasts_)
    return;
  kept_forecasts_ = now;
  if (const auto day = parse_date(local_date(now, config_.policy.time_zone))) {
    sources_.keep_forecasts(*day);
  }
}

void AlertService::evaluate(Instant now, Scope scope) {
  if (!has_purpose()) {
    const std::lock_guard lock(mutex_);
    is_evaluated_ = false;
    budgets_.clear();
    return;
  }
  const auto day = parse_date(local_date(now, config_.policy.time_zone));
  if (!day) return;
  if (scope == Scope::kAll) others_ = find(*day);
  Findings found = others_;
  find_in_telemetry(now, scope, found);
  const std::lock_guard lock(mutex_);
  is_evaluated_ = true;
  const AlertState before = state_;
  const AlertTiming timing{
      .hold = std::max(milliseconds(300'000), 3 * milliseconds(config_.alerts.every_ms)),
      .repeat = milliseconds(config_.alerts.repeat_ms)};
  std::erase_if(state_.silences, [&](const PutSilence& one) {
    return one.what.to && *one.what.to + kSilenceKept < *day;
  });
  const auto told =
      step_alerts(state_.book, found.conditions, now, *day, silences(now), timing, found.unknown);
  enqueue(told, now);
  keep_ended(before.book, now);
  // When an alert was last seen is not worth a write every few seconds.
  const bool is_same_book =
      std::ranges::equal(std::views::keys(before.book), std::views::keys(state_.book));
  if (scope == Scope::kDevices && told.empty() && is_same_book) return;
  // What is not on disk is not sent: it is found again at the next evaluation.
  if (!save()) state_ = before;
}

// Callers hold the mutex.
std::vector<AlertSilence> AlertService::silences(Instant now) const {
  std::vector<AlertSilence> all =
      configured_silences(config_.alerts, config_.policy.time_zone, now);
  for (const PutSilence& one : state_.silences) all.push_back(one.what);
  return all;
}

// Those of which somebody was told or would have been. Callers hold the mutex.
void AlertService::keep_ended(const AlertBook& before, Instant now) {
  for (const auto& [key, alert] : before) {
    if (state_.book.contains(key) || (!alert.notified && !alert.is_silent)) continue;
    state_.ended.push_back(alert);
    state_.ended.back().ended = now;
  }
  while (state_.ended.size() > kEndedMax) state_.ended.pop_front();
}

AlertsNow AlertService::now() const {
  AlertsNow now;
  const std::lock_guard lock(mutex_);
  now.is_evaluated = is_evaluated_;
  for (const auto& [key, alert] : state_.book) now.alerts.push_back(alert);
  now.ended.assign(state_.ended.rbegin(), state_.ended.rend());
  now.silences = state_.silences;
  for (const ReceiverConfig& receiver : config_.alerts.receivers) {
    ReceiverState one{.name = receiver.name};
    for (const OutboxEntry& entry : state_.outbox) {
      if (entry.receiver != receiver.name) continue;
      ++one.waiting;
      if (!entry.problem.empty()) one.problem = entry.problem;
    }
    for (const OutboxEntry& entry : state_.dead) {
      if (entry.receiver == receiver.name) ++one.given_up;
    }
    now.receivers.push_back(std::move(one));
  }
  return now;
}

Result<void> AlertService::keep_silences(std::vector<PutSilence> before) {
  const Instant now = clock_.now();
  const auto today = TRY(parse_date(local_date(now, config_.policy.time_zone)));
  const std::vector<AlertSilence> all = silences(now);
  for (auto& [key, alert] : state_.book) {
    const AlertCondition& condition = alert.condition;
    alert.is_silent = condition.is_inhibited || is_silenced(condition, today, all);
  }
  if (save()) return {};
  // Whether alerts are silent is set again at the next evaluation.
  state_.silences = std::move(before);
  return fail(ErrorCode::kIo, fmt::format("the silence can't be kept in {}", path_));
}

Result<void> AlertService::silence(const PutSilence& silence) {
  const std::lock_guard lock(mutex_);
  if (state_.silences.size() >= kSilencesMax) {
    return fail(ErrorCode::kConflict,
                fmt::format("there are {} silences already; lift some of them", kSilencesMax));
  }
  std::vector<PutSilence> before = state_.silences;
  state_.silences.push_back(silence);
  return keep_silences(std::move(before));
}

Result<void> AlertService::lift(const std::string& id) {
  const std::lock_guard lock(mutex_);
  std::vector<PutSilence> before = state_.silences;
  if (std::erase_if(state_.silences, [&](const PutSilence& one) { return one.id == id; }) == 0) {
    return fail(ErrorCode::kNotFound, "there is no such silence, or it is lifted already");
  }
  return keep_silences(std::move(before));
}

Result<void> AlertService::test(const std::string& receiver, const std::string& sentence) {
  const ReceiverConfig* to = find_receiver(receiver);
  if (to == nullptr) {
    return fail(ErrorCode::kNotFound, fmt::format("there is no receiver '{}'", receiver));
  }
  const Instant at = clock_.now();
  Alert alert{.condition = {.rule = std::string(kTestRule),
                            .scope = receiver,
                            .subject = receiver,
                            .summary = sentence},
              .since = at,
              .last_true = at,
              .notified = at};
  AlertNotification notification{alert.id() + "/firing", alert, true};
  // Of its own: the one of the thread may be in use.
  Delivery delivery(config_.alerts, config_.mail);
  TRY(delivery.send(*to, {&notification, 1}, false, at));
  // These two keep what fires until it is resolved.
  if (to->kind != ReceiverKind::kAlertmanager && to->kind != ReceiverKind::kPagerDuty) return {};
  notification.is_firing = false;
  notification.alert.ended = at;
  notification.id = alert.id() + "/resolved";
  return delivery.send(*to, {&notification, 1}, false, at);
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

// What is due, with an attempt counted: attempts are on disk before they are made, so that what may
// have arrived is marked. Of one alert a receiver gets one notification at a time, the oldest: it
// never hears of an end before the beginning.
std::vector<OutboxEntry> AlertService::take_due(Instant now) {
  const std::lock_guard lock(mutex_);
  std::vector<OutboxEntry> due;
  std::set<std::tuple<std::string, std::string, std::string>> waiting;
  for (OutboxEntry& entry : state_.outbox) {
    if (due.size() >= kDeliveriesMax) break;
    const AlertCondition& condition = entry.notification.alert.condition;
    const ReceiverConfig* receiver = find_receiver(entry.receiver);
    // A digest has the beginning and the end in one message, in order.
    const bool is_digest = receiver != nullptr && receiver->digest != DigestPeriod::kNone;
    if (!is_digest && !waiting.emplace(entry.receiver, condition.rule, condition.scope).second) {
      continue;
    }
    // What was silenced meanwhile goes when the silence ends, or is taken back when the alert ends.
    const auto alert = state_.book.find({condition.rule, condition.scope});
    const bool is_silent = alert != state_.book.end() && alert->second.is_silent;
    if (receiver != nullptr && !is_digest && is_put_off(*receiver) && is_silent &&
        entry.attempts == 0 && entry.notification.is_firing) {
      continue;
    }
    // A clock that went back delays nothing.
    const bool waits_long = is_digest || (receiver != nullptr && is_put_off(*receiver));
    const milliseconds wait_max = waits_long ? kDigestWaitMax : 2 * kBackOffMax;
    if (entry.next > now && entry.next - now < wait_max) continue;
    due.push_back(entry);
    ++entry.attempts;
  }
  if (!due.empty() && !save()) return {};
  return due;
}

// Callers hold the mutex.
void AlertService::settle(const OutboxEntry& entry, const std::string& problem, bool has_receiver,
                          Instant now) {
  const auto at = std::ranges::find_if(state_.outbox, [&](const OutboxEntry& one) {
    return one.receiver == entry.receiver && one.notification.id == entry.notification.id;
  });
  if (at == state_.outbox.end()) return;
  if (problem.empty()) {
    state_.outbox.erase(at);
    reported_.erase("deliver " + entry.receiver);
    return;
  }
  at->problem = problem;
  at->next = now + back_off(at->attempts);
  if (std::exchange(reported_["deliver " + entry.receiver], problem) != problem) {
    log_.warn("alerts", {{"doing", "deliver"}, {"why", problem}});
  }
  if (at->attempts < kAttemptsMax && has_receiver) return;
  log_.error("alerts", {{"doing", "give up " + entry.notification.id}, {"why", problem}});
  state_.dead.push_back(std::move(*at));
  state_.outbox.erase(at);
}

void AlertService::deliver(Instant now) {
  const std::vector<OutboxEntry> due = take_due(now);
  if (due.empty()) return;
  std::map<std::string, std::vector<const OutboxEntry*>> by_receiver;
  for (const OutboxEntry& entry : due) by_receiver[entry.receiver].push_back(&entry);
  for (const auto& [name, entries] : by_receiver) {
    const ReceiverConfig* receiver = find_receiver(name);
    const bool has_receiver = receiver != nullptr;
    std::vector<Alert> ongoing;
    if (has_receiver && receiver->digest != DigestPeriod::kNone) ongoing = firing_for(*receiver);
    const std::size_t size = has_receiver ? notifications_per_message(receiver->kind) : 1;
    std::string problem = has_receiver ? "" : "there is no such receiver any more";
    for (std::size_t begin = 0; begin < entries.size(); begin += size) {
      const auto part = std::span(entries).subspan(begin, std::min(size, entries.size() - begin));
      std::vector<AlertNotification> message;
      for (const OutboxEntry* entry : part) message.push_back(entry->notification);
      // One that does not answer is not asked again in this round.
      if (problem.empty()) {
        const bool is_retry =
            std::ranges::any_of(part, [](const auto* entry) { return entry->attempts > 0; });
        const auto sent = delivery_.send(*receiver, message, is_retry, now, ongoing);
        if (!sent) problem = sent.error().message;
      }
      const std::lock_guard lock(mutex_);
      for (const OutboxEntry* entry : part) settle(*entry, problem, has_receiver, now);
    }
  }
  const std::lock_guard lock(mutex_);
  save();
}

const ReceiverConfig* AlertService::find_receiver(const std::string& name) const {
  const auto& all = config_.alerts.receivers;
  const auto found = std::ranges::find(all, name, &ReceiverConfig::name);
  return found == all.end() ? nullptr : &*found;
}

std::vector<Alert> AlertService::firing_for(const ReceiverConfig& receiver) const {
  const std::lock_guard lock(mutex_);
  std::vector<Alert> firing;
  for (const auto& [key, alert] : state_.book) {
    if (!alert.notified || alert.is_silent || !hears_of(receiver, alert.condition)) continue;
    firing.push_back(alert);
  }
  return firing;
}

void AlertService::refresh(Instant now) {
  for (const ReceiverConfig& receiver : config_.alerts.receivers) {
    if (receiver.kind != ReceiverKind::kAlertmanager) continue;
    std::vector<AlertNotification> firing;
    for (const Alert& alert : firing_for(receiver)) firing.push_back({alert.id(), alert, true});
    if (firing.empty()) continue;
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
