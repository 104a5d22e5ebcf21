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
constexpr std::chrono::minutes kTryAgainAfter{10};
// Bills come late: so long a period waits for its costs.
constexpr std::chrono::days kWaitsForCosts{3};

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

void ScheduledViews::send_due() {
  const auto views = services_.accounts.scheduled_views();
  if (!views) {
    log_.error("view", {{"why", views.error().message}});
    return;
  }
  if (views->empty()) return;
  const Instant now = services_.clock.now();
  const TimeZone& zone = config_.policy.time_zone;
  const auto today =
      parse_date(local_date(now - std::chrono::hours(config_.alerts.digest_hour), zone));
  if (!today) return;
  const access::Principal everybody{.name = "serve"};
  const auto complete = api::ScopedQueries(services_, everybody).last_complete_day(*today);
  for (const access::SavedView& view : *views) {
    const auto period = api::due_period(*view.schedule, *today);
    if (!period) continue;
    const auto& [first, last] = *period;
    const bool has_costs = complete && *complete && **complete >= last;
    if (!has_costs && *today - last <= kWaitsForCosts) continue;
    const auto tried = next_try_.find(view.id);
    if (tried != next_try_.end() && tried->second > now) continue;
    const auto sent = send(view, first, last, !view.schedule->problem.empty());
    const std::string until = sent ? to_text(last) : view.schedule->sent_until;
    const std::string problem = sent ? "" : sent.error().message;
    if (sent) {
      next_try_.erase(view.id);
      log_.info("view", {{"id", view.id}, {"user", view.user}, {"until", until}});
    } else {
      next_try_[view.id] = now + kTryAgainAfter;
      log_.error("view", {{"id", view.id}, {"user", view.user}, {"why", problem}});
    }
    if (const auto noted = services_.accounts.note_sent(view.id, until, problem); !noted) {
      // It would be sent again at once.
      next_try_[view.id] = now + kTryAgainAfter;
      log_.error("view", {{"id", view.id}, {"why", noted.error().message}});
    }
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
