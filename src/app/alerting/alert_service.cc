#include "app/alerting/alert_service.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <mutex>
#include <ranges>
#include <set>
#include <system_error>
#include <thread>
#include <tuple>
#include <utility>

#include "app/alerting/limit_conditions.h"
#include "app/alerting/rule_settings.h"
#include "core/billing_period.h"
#include "core/try.h"
#include "core/week_hours.h"
#include "insight/queries/budget_query.h"

namespace pennyweight {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kDeadMax = 10'000;
constexpr std::uint32_t kAttemptsMax = 40;   // with the back-off, a day
constexpr std::size_t kDeliveriesMax = 200;  // of one round and receiver
constexpr milliseconds kBackOffFirst{2'000};
constexpr milliseconds kBackOffMax{3'600'000};
constexpr milliseconds kForecastsEvery{900'000};
// What people put and what has ended is kept for so long, and so many of them.
constexpr std::chrono::days kSilenceKept{30};
constexpr std::size_t kSilencesMax = 200;
constexpr std::size_t kEndedMax = 500;
constexpr int kDigestDaysMax = 8;
constexpr milliseconds kDigestWaitMax = std::chrono::hours(24 * 16);  // also `after` and `hours`
// Telemetry in memory is cheap to look at, and people wait for what it says.
constexpr milliseconds kDevicesEvery{5'000};
// A receiver that takes longer gets the rest in the next round: the evaluation waits for it.
constexpr milliseconds kReceiverTimeMax{10'000};
// So many receivers are delivered to at once, so that none waits for a slow one.
constexpr std::size_t kReceiversAtOnce = 8;
// After so many messages that a receiver refuses in a row, the rest waits for the next round.
constexpr int kRefusalsMax = 5;
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
      clock_(clock),
      log_(log),
      path_(std::move(path)),
      delivery_(config.alerts, config.mail),
      finder_(config, std::move(sources), log) {}

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

std::shared_ptr<const std::vector<BudgetStatus>> AlertService::budgets() const {
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
    } else if (finder_.sources().live_usage && steady_clock::now() >= next_devices) {
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

// Of what ended before a receiver was to hear of it, it hears nothing. Callers hold the mutex.
bool AlertService::take_back(const ReceiverConfig& receiver, const Alert& alert) {
  if (!is_put_off(receiver) || receiver.digest != DigestPeriod::kNone) return false;
  // A repetition that waits goes too, but its receiver has heard of the beginning.
  const std::string first = alert.id() + "/firing";
  bool is_unheard = false;
  std::erase_if(state_.outbox, [&](const OutboxEntry& entry) {
    const bool waits = entry.receiver == receiver.name && entry.attempts == 0 &&
                       entry.notification.is_firing && entry.notification.alert.is_same(alert);
    is_unheard = is_unheard || (waits && entry.notification.id == first);
    return waits;
  });
  return is_unheard;
}

// Callers hold the mutex.
bool AlertService::enqueue(std::span<const AlertNotification> notifications, Instant now) {
  bool is_queued = false;
  for (const AlertNotification& told : notifications) {
    log_.info("alert", {{"id", told.id}, {"summary", told.alert.condition.summary}});
    for (const ReceiverConfig& receiver : config_.alerts.receivers) {
      if (!hears_of(receiver, told.alert.condition)) continue;
      // A receiver that has not heard of the beginning yet needs no repetition of it.
      const bool waits = std::ranges::any_of(state_.outbox, [&](const OutboxEntry& entry) {
        return told.is_firing && entry.notification.is_firing && entry.receiver == receiver.name &&
               entry.notification.alert.is_same(told.alert);
      });
      if (waits || (!told.is_firing && take_back(receiver, told.alert))) continue;
      // Escalation waits from when the others are notified, and only the first time.
      const bool is_first = told.is_firing && told.id == told.alert.id() + "/firing";
      const milliseconds after(is_first ? receiver.after_ms : 0);
      const Instant next =
          next_message(receiver, config_.alerts, config_.policy.time_zone, now + after);
      state_.outbox.push_back({.receiver = receiver.name, .notification = told, .next = next});
      is_queued = true;
    }
  }
  if (!notifications.empty()) limit_outbox(state_);
  while (state_.dead.size() > kDeadMax) state_.dead.pop_front();
  return is_queued;
}

// Rules are evaluated for somebody: a receiver, or a budget, which people set while `serve` runs.
// What goes on is followed to its end.
bool AlertService::has_purpose() {
  if (!config_.alerts.receivers.empty() || !config_.budgets.empty()) return true;
  {
    const std::lock_guard lock(mutex_);
    if (!state_.book.empty()) return true;
  }
  if (!finder_.sources().budgets) return false;
  const auto set = finder_.sources().budgets();
  return !set || !set->empty();  // what can't be read is said by the evaluation
}

// Also where nobody is to be notified of anything.
void AlertService::keep_forecasts(Instant now) {
  if (!finder_.sources().keep_forecasts) return;
  if (kept_forecasts_ && now - *kept_forecasts_ < kForecastsEvery && now >= *kept_forecasts_)
    return;
  kept_forecasts_ = now;
  if (const auto day = parse_date(local_date(now, config_.policy.time_zone))) {
    finder_.sources().keep_forecasts(*day);
  }
}

void AlertService::evaluate(Instant now, Scope scope) {
  if (!has_purpose()) {
    const std::lock_guard lock(mutex_);
    is_evaluated_ = false;
    budgets_ = std::make_shared<const std::vector<BudgetStatus>>();
    return;
  }
  const auto day = parse_date(local_date(now, config_.policy.time_zone));
  if (!day) return;
  AlertBook followed;
  {
    const std::lock_guard lock(mutex_);
    followed = alerts_to_follow(state_.book);
  }
  using Telemetry = AlertFinder::Telemetry;
  const bool is_all = scope == Scope::kAll;
  AlertFindings found;
  if (is_all) found = finder_.find(*day, now, followed);
  finder_.find_in_telemetry(now, is_all ? Telemetry::kAll : Telemetry::kArrived, followed, found);
  const std::lock_guard lock(mutex_);
  if (is_all) budgets_ = finder_.budgets();
  is_evaluated_ = true;
  const AlertTiming timing{.hold = alert_hold(config_.alerts),
                           .repeat = milliseconds(config_.alerts.repeat_ms)};
  const std::vector<AlertSilence> silent = silences(now);
  const AlertRound round{.conditions = found.conditions,
                         .unknown = found.unknown,
                         .rules = is_all ? std::span<const std::string_view>() : telemetry_rules(),
                         .now = now,
                         .today = *day,
                         .silences = silent};
  AlertChanges changes;
  const auto told = step_alerts(state_.book, round, timing, &changes);
  // When an alert was last seen is not worth a write: it is not read again.
  is_unsaved_ = is_unsaved_ || changes.is_reworded;
  if (!is_all && changes.is_empty()) return;
  // All but the book, and what waits only where something is added to it.
  AlertState before;
  before.ended = state_.ended;
  before.silences = state_.silences;
  if (!told.empty()) before.outbox = state_.outbox;
  if (!told.empty()) before.dead = state_.dead;
  const auto forgotten = std::erase_if(state_.silences, [&](const PutSilence& one) {
    return one.what.to && *one.what.to + kSilenceKept < *day;
  });
  if (changes.is_empty() && !is_unsaved_ && forgotten == 0) return;
  const bool is_queued = enqueue(told, now);
  keep_ended(changes.ended, now);
  // Where no receiver hears of it, a notification is not worth a write of thousands of alerts
  // every few seconds either: the evaluation of all rules writes it.
  if (!is_all && !is_queued && changes.begun.empty() && changes.ended.empty()) {
    is_unsaved_ = true;
    return;
  }
  if (save()) return;
  // What is not on disk is not sent: it is found again at the next evaluation.
  undo(state_.book, changes);
  if (!told.empty()) state_.outbox = std::move(before.outbox);
  if (!told.empty()) state_.dead = std::move(before.dead);
  state_.ended = std::move(before.ended);
  state_.silences = std::move(before.silences);
}

// Callers hold the mutex.
std::vector<AlertSilence> AlertService::silences(Instant now) const {
  std::vector<AlertSilence> all =
      configured_silences(config_.alerts, config_.policy.time_zone, now);
  for (const PutSilence& one : state_.silences) all.push_back(one.what);
  return all;
}

// Those of which somebody was told or would have been. Callers hold the mutex.
void AlertService::keep_ended(std::span<const Alert> ended, Instant now) {
  for (const Alert& alert : ended) {
    if (!alert.notified && !alert.is_silent) continue;
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
  is_unsaved_ = is_unsaved_ && !saved;
  return saved.has_value();
}

// What is due, with an attempt counted: attempts are on disk before they are made, so that what may
// have arrived is marked. Of one alert a receiver gets one notification at a time, the oldest: it
// never hears of an end before the beginning.
std::vector<OutboxEntry> AlertService::take_due(Instant now) {
  const std::lock_guard lock(mutex_);
  std::vector<OutboxEntry> due;
  std::vector<OutboxEntry*> taken;
  std::set<std::tuple<std::string_view, std::string_view, std::string_view>> waiting;
  std::map<std::string_view, std::size_t> due_of;  // each receiver
  for (OutboxEntry& entry : state_.outbox) {
    std::size_t& count = due_of[entry.receiver];
    if (count >= kDeliveriesMax || troubles_.is_paused(entry.receiver, now)) continue;
    const AlertCondition& condition = entry.notification.alert.condition;
    const ReceiverConfig* receiver = find_receiver(entry.receiver);
    // A digest has the beginning and the end in one message, in order.
    const bool is_digest = receiver != nullptr && receiver->digest != DigestPeriod::kNone;
    if (!is_digest && !waiting.emplace(entry.receiver, condition.rule, condition.scope).second) {
      continue;
    }
    // What was silenced meanwhile goes when the silence ends, or is taken back when the alert ends.
    const auto alert = state_.book.find(AlertBook::key_type(condition.rule, condition.scope));
    const bool is_silent = alert != state_.book.end() && alert->second.is_silent;
    if (receiver != nullptr && !is_digest && is_put_off(*receiver) && is_silent &&
        entry.attempts == 0 && entry.notification.is_firing) {
      continue;
    }
    // A clock that went back delays nothing.
    const bool waits_long = is_digest || (receiver != nullptr && is_put_off(*receiver));
    const milliseconds wait_max = waits_long ? kDigestWaitMax : 2 * kBackOffMax;
    if (entry.next > now && entry.next - now < wait_max) continue;
    ++count;
    due.push_back(entry);
    ++entry.attempts;
    taken.push_back(&entry);
  }
  if (due.empty() || save()) return due;
  // Nothing is tried that is not on disk, however long that is full.
  for (OutboxEntry* entry : taken) --entry->attempts;
  return {};
}

// Callers hold the mutex.
std::deque<OutboxEntry>::iterator AlertService::find_entry(const OutboxEntry& entry) {
  return std::ranges::find_if(state_.outbox, [&](const OutboxEntry& one) {
    return one.receiver == entry.receiver && one.notification.id == entry.notification.id;
  });
}

// Callers hold the mutex.
void AlertService::note_delivered(const OutboxEntry& entry, Instant now) {
  const Alert& told = entry.notification.alert;
  if (!entry.notification.is_firing || !keeps_deliveries(told.condition.rule)) return;
  const auto alert =
      state_.book.find(AlertBook::key_type(told.condition.rule, told.condition.scope));
  if (alert == state_.book.end() || !alert->second.is_same(told)) return;
  alert->second.delivered.emplace(entry.receiver, now);
}

// Callers hold the mutex.
void AlertService::settle(const OutboxEntry& entry, const std::string& problem, bool has_receiver,
                          Instant now) {
  const auto at = find_entry(entry);
  if (at == state_.outbox.end()) return;
  if (problem.empty()) {
    note_delivered(*at, now);
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
  troubles_.forget(entry.receiver, entry.notification.id);
  state_.dead.push_back(std::move(*at));
  state_.outbox.erase(at);
}

// They are added to what is sent and to nothing else: neither the state nor the log nor the pages
// have them.
void AlertService::add_approval_links(std::span<AlertNotification> message) {
  const auto& link_of = finder_.sources().approval_link;
  if (!link_of) return;
  const std::lock_guard lock(links_mutex_);
  for (AlertNotification& one : message) {
    const AlertCondition& condition = one.alert.condition;
    const bool is_asked = one.is_firing && condition.rule.starts_with("approval_") &&
                          !condition.owner.empty() && !condition.subject.empty();
    if (!is_asked) continue;
    const auto link = link_of(condition.subject, condition.owner);
    // Without it they can still sign in.
    if (link) one.link = "; to decide, open " + *link;
  }
}

void AlertService::deliver(Instant now) {
  const std::vector<OutboxEntry> due = take_due(now);
  if (due.empty()) return;
  std::map<std::string, std::vector<const OutboxEntry*>> by_receiver;
  for (const OutboxEntry& entry : due) by_receiver[entry.receiver].push_back(&entry);
  {
    auto next = by_receiver.begin();
    std::mutex next_mutex;
    const auto work = [&] {
      for (;;) {
        auto taken = by_receiver.end();
        {
          const std::lock_guard lock(next_mutex);
          if (next == by_receiver.end()) return;
          taken = next++;
        }
        deliver_to(taken->first, std::move(taken->second), now);
      }
    };
    std::vector<std::jthread> others;
    for (std::size_t i = 1; i < std::min(by_receiver.size(), kReceiversAtOnce); ++i) {
      try {
        others.emplace_back(work);
      } catch (const std::system_error&) {
        break;  // without one more, its turns are taken by those that are there
      }
    }
    work();
  }
  const std::lock_guard lock(mutex_);
  if (state_.outbox.empty()) troubles_ = {};
  save();
}

// A Delivery keeps its connections, so each receiver has its own.
Delivery& AlertService::delivery_for(const std::string& name) {
  const std::lock_guard lock(mutex_);
  std::unique_ptr<Delivery>& delivery = deliveries_[name];
  if (!delivery) delivery = std::make_unique<Delivery>(config_.alerts, config_.mail);
  return *delivery;
}

// `entries`: what is due for a receiver, oldest first. One thread for each receiver.
void AlertService::deliver_to(const std::string& name, std::vector<const OutboxEntry*> entries,
                              Instant now) {
  const auto begun = std::chrono::steady_clock::now();
  const ReceiverConfig* receiver = find_receiver(name);
  const bool has_receiver = receiver != nullptr;
  const bool is_digest = has_receiver && receiver->digest != DigestPeriod::kNone;
  std::vector<Alert> ongoing;
  if (is_digest) ongoing = firing_for(*receiver);
  const auto id = [](const OutboxEntry* entry) { return entry->notification.id; };
  const auto is_alone = [&](const OutboxEntry* entry) {
    const std::lock_guard lock(mutex_);
    return !is_digest && troubles_.is_refused(name, id(entry));
  };
  // What failed before keeps nothing else waiting.
  if (!is_digest) {
    const std::lock_guard lock(mutex_);
    std::ranges::stable_partition(
        entries, [&](const OutboxEntry* entry) { return !troubles_.has_failed(name, id(entry)); });
  }
  Delivery& delivery = delivery_for(name);
  // One that does not answer is not asked again in this round.
  std::string failure = has_receiver ? "" : "there is no such receiver any more";
  int refusals = 0;
  const auto is_over = [&] {
    return refusals >= kRefusalsMax || std::chrono::steady_clock::now() - begun > kReceiverTimeMax;
  };
  for (std::size_t begin = 0; begin < entries.size();) {
    const std::size_t most = has_receiver ? notifications_per_message(receiver->kind) : 1;
    std::vector<AlertNotification> message{entries[begin]->notification};
    while (message.size() < std::min(most, entries.size() - begin) && !is_alone(entries[begin]) &&
           !is_alone(entries[begin + message.size()])) {
      message.push_back(entries[begin + message.size()]->notification);
    }
    if (has_receiver) message.resize(count_in_message(*receiver, message));
    const auto part = std::span(entries).subspan(begin, message.size());
    begin += message.size();
    if (failure.empty() && is_over()) {
      put_back(part);
      continue;
    }
    if (has_receiver && receiver->has_approval_links) add_approval_links(message);
    std::string problem = failure;
    Instant at = now;
    if (failure.empty()) {
      const bool is_retry =
          std::ranges::any_of(part, [](const auto* entry) { return entry->attempts > 0; });
      std::vector<std::string> ids;
      std::ranges::transform(part, std::back_inserter(ids), id);
      const auto sent = delivery.send(*receiver, message, is_retry, now, ongoing);
      at = clock_.now();  // a time-out takes its time
      const std::lock_guard lock(mutex_);
      if (sent) {
        refusals = 0;
        troubles_.note_sent(name, ids);
      } else if (problem = sent.error().message; sent.error().code == ErrorCode::kBadValue) {
        troubles_.note_refused(name, ids);
        // One that only refuses is left alone for a while, too; what it was not asked counts as
        // nothing that was tried.
        if (++refusals >= kRefusalsMax) troubles_.note_failed(name, ids, at);
      } else {
        failure = problem;
        troubles_.note_failed(name, ids, at);
      }
    }
    const std::lock_guard lock(mutex_);
    for (const OutboxEntry* entry : part) settle(*entry, problem, has_receiver, at);
  }
}

// Of what there was no time to try no attempt counts.
void AlertService::put_back(std::span<const OutboxEntry* const> entries) {
  const std::lock_guard lock(mutex_);
  for (const OutboxEntry* entry : entries) {
    const auto at = find_entry(*entry);
    if (at != state_.outbox.end() && at->attempts > 0) --at->attempts;
  }
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
