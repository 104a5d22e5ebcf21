#include "app/daemon/scheduled_views.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "core/billing_period.h"
#include "core/date.h"
#include "core/try.h"
#include "server/api/scoped_queries.h"
#include "server/api/view_report.h"

namespace pennyweight {
namespace {

constexpr std::chrono::seconds kLookEvery{5};
constexpr std::chrono::seconds kFirstRetry{10};
constexpr std::chrono::seconds kLastRetry{600};
constexpr int kDoublingsMax = 6;
// The ledger is asked so often how far its costs go, while a view waits for them.
constexpr std::chrono::minutes kCompleteReadEvery{1};

// The day of which views are sent now: before the hour of digests it is still the day before.
std::optional<Date> sending_day(Instant now, const TimeZone& zone, int digest_hour) {
  const std::string date = local_date(now, zone);
  const auto day = parse_date(date);
  if (!day) return std::nullopt;
  const Instant hour =
      parse_local_time(fmt::format("{}T{:02}:00:00", date, digest_hour), zone, Ambiguous::kEarlier)
          .value_or(day_of(now, zone).begin() + std::chrono::hours(digest_hour));
  return now < hour ? *day - std::chrono::days(1) : *day;
}

}  // namespace

ScheduledViews::ScheduledViews(const Config& config, const api::Services& services, Log& log,
                               Interruption& interruption)
    : config_(config), services_(services), log_(log), delivery_(config.alerts, config.mail) {
  thread_ = std::thread([this, &interruption] {
    const Interruption::Scope scope(interruption);
    run();
  });
}

ScheduledViews::~ScheduledViews() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void ScheduledViews::run() {
  for (;;) {
    send_due();
    std::unique_lock lock(mutex_);
    if (changed_.wait_for(lock, kLookEvery, [this] { return stopping_; })) return;
  }
}

std::optional<Date> ScheduledViews::complete_until(Date today, Instant now) {
  if (now - complete_read_ < kCompleteReadEvery) return complete_until_;
  const access::Principal everybody{.name = "serve"};
  const auto day = api::ScopedQueries(services_, everybody).last_complete_day(today);
  complete_until_ = day ? *day : std::nullopt;
  complete_read_ = now;
  return complete_until_;
}

void ScheduledViews::note(const access::SavedView& view, const std::string& until,
                          const std::string& problem) {
  if (const auto noted = services_.accounts.note_sent(view, until, problem); !noted) {
    log_.error("view", {{"id", view.id}, {"why", noted.error().message}});
    return;
  }
  unnoted_.erase(view.id);
}

void ScheduledViews::send_one(const access::SavedView& view, Date first, Date last, Instant now) {
  // A schedule that was set anew has no problem yet, and is tried at once.
  const bool is_retry = !view.schedule->problem.empty();
  if (!is_retry) tries_.erase(view.id);
  Try& tried = tries_[view.id];
  if (tried.next > now) return;
  const auto sent = send(view, first, last, is_retry);
  if (sent) {
    tries_.erase(view.id);
    const std::string until = to_text(last);
    log_.info("view", {{"id", view.id}, {"user", view.user}, {"until", until}});
    unnoted_[view.id] = until;
    note(view, until, "");
    return;
  }
  tried.next = now + std::min<std::chrono::seconds>(
                         kLastRetry, kFirstRetry * (1 << std::min(tried.failures, kDoublingsMax)));
  ++tried.failures;
  log_.error("view", {{"id", view.id}, {"user", view.user}, {"why", sent.error().message}});
  note(view, view.schedule->sent_until, sent.error().message);
}

void ScheduledViews::send_due() {
  const auto views = services_.accounts.scheduled_views();
  if (!views) {
    log_.error("view", {{"why", views.error().message}});
    return;
  }
  const Instant now = services_.clock.now();
  const auto today = sending_day(now, config_.policy.time_zone, config_.alerts.digest_hour);
  if (!today) return;
  for (const access::SavedView& view : *views) {
    if (const auto known = unnoted_.find(view.id); known != unnoted_.end()) {
      note(view, std::string(known->second), "");
      continue;
    }
    // Without a look at the ledger where nothing is to be sent, whatever its costs.
    if (!api::due_period(*view.schedule, *today, *today)) continue;
    const auto period = api::due_period(*view.schedule, *today, complete_until(*today, now));
    if (period) send_one(view, period->first, period->second, now);
  }
}

Result<void> ScheduledViews::send(const access::SavedView& view, Date first, Date last,
                                  bool is_retry) {
  auto report = TRY(api::view_report(services_, view, first, last));
  ReceiverConfig receiver;
  receiver.name = view.user;
  receiver.kind = ReceiverKind::kEmail;
  receiver.to = {report.address};
  if (!view.schedule->receiver.empty()) {
    if (!report.may_tell_others) {
      return fail(ErrorCode::kUnsupported,
                  fmt::format("{} may no longer send views to others", view.user));
    }
    const auto known =
        std::ranges::find(config_.alerts.receivers, view.schedule->receiver, &ReceiverConfig::name);
    if (known == config_.alerts.receivers.end()) {
      return fail(ErrorCode::kNotFound,
                  fmt::format("alerts.receivers has no receiver '{}'", view.schedule->receiver));
    }
    receiver = *known;
  } else if (report.address.empty()) {
    return fail(ErrorCode::kNotFound, fmt::format("{} has no mail address", view.user));
  }
  return delivery_.send_report(receiver,
                               {.id = fmt::format("view {} until {}", view.id, to_text(last)),
                                .subject = std::move(report.subject),
                                .text = std::move(report.text),
                                .csv = std::move(report.csv),
                                .file_name = std::move(report.file_name),
                                .json = std::move(report.json)},
                               is_retry, services_.clock.now());
}

}  // namespace pennyweight
