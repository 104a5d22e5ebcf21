#include "app/alerting/alert_finder.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <string_view>

#include "app/alerting/approval_conditions.h"
#include "app/alerting/limit_conditions.h"
#include "app/alerting/reported_costs.h"
#include "app/alerting/rule_settings.h"
#include "config/guardrail_config.h"
#include "core/billing_period.h"
#include "core/try.h"
#include "insight/queries/budget_query.h"
#include "insight/queries/limit_stops.h"

namespace pennyweight {
namespace {

using std::chrono::milliseconds;

// Days change once a day, and with each run: without one, unusual ones are looked for this often.
constexpr milliseconds kDaysEvery{900'000};
// Between two looks at all days, so many times as long as one takes.
constexpr int kLookPause = 10;
constexpr milliseconds kSilenceBack = std::chrono::hours(2);
// Outcomes are many, so that at first only those of some hours are read. A workload that wrote its
// last checkpoint a week ago is not one that writes checkpoints.
constexpr milliseconds kCheckpointsBack = std::chrono::hours(6);
constexpr milliseconds kCheckpointsKept = std::chrono::hours(24 * 7);
constexpr milliseconds kCheckpointsOverlap = std::chrono::hours(2);
// The months of the ledger are reconciled this often, and commitments looked at: all their charges
// are read.
constexpr milliseconds kReconcileEvery = std::chrono::hours(1);
constexpr int kRecentDays = 3;
// What became a row less than so long before the ledger was read may not have been in it.
constexpr milliseconds kLiveOverlap = std::chrono::minutes(5);
// While the telemetry of a window is read, at most so many rows more than those that tell
// something.
constexpr std::size_t kUsagesHeldMax = 200'000;

// Whether `every` has passed since then; a clock that went back is no reason to wait.
bool is_due(const std::optional<Instant>& last, milliseconds every, Instant now) {
  return !last || now - *last >= every || now < *last;
}

constexpr std::string_view kFollowedRules[] = {"cost_anomaly", "no_checkpoint", "node_missing",
                                               "pod_oom_killed", "telemetry_missing"};

}  // namespace

std::span<const std::string_view> telemetry_rules() {
  static constexpr std::string_view kRules[] = {
      "gpu_ecc",      "gpu_hot",      "gpu_out_of_memory", "gpu_throttled",    "gpu_xid",
      "latency_high", "node_missing", "pod_oom_killed",    "telemetry_missing"};
  return kRules;
}

AlertBook alerts_to_follow(const AlertBook& book) {
  AlertBook followed;
  for (const std::string_view rule : kFollowedRules) {
    for (auto at = book.lower_bound(std::pair(rule, std::string_view()));
         at != book.end() && at->first.first == rule; ++at) {
      followed.insert(followed.end(), *at);
    }
  }
  return followed;
}

AlertFinder::AlertFinder(const Config& config, AlertSources sources, Log& log)
    : config_(config), sources_(std::move(sources)), log_(log) {}

std::optional<std::uint64_t> AlertFinder::version() const {
  return sources_.version ? sources_.version() : std::nullopt;
}

void AlertFinder::report(const std::string& doing, const Error* why) {
  const std::string text = why == nullptr ? "" : why->message;
  if (std::exchange(reported_[doing], text) == text || text.empty()) return;
  log_.warn("alerts", {{"doing", doing}, {"why", text}});
}

// While they can't be read, what was read before counts.
std::vector<AnomalyVerdict> AlertFinder::read_verdicts() {
  if (!sources_.verdicts) return {};
  auto all = sources_.verdicts();
  report("what people say of unusual days", all ? nullptr : &all.error());
  return all ? *std::move(all) : verdicts_;
}

// Unusual days and missing ones. All costs are read for them, so they are kept for a while.
void AlertFinder::find_in_days(Date today, const AlertBook& book, AlertFindings& found) {
  ReportedCosts reported(config_.currencies, sources_.summarise);
  const auto history =
      query_daily_costs({.by = "", .today = today}, config_.policy, reported.source());
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
  const Date recent = history->last_day() - std::chrono::days(kRecentDays - 1);
  AnomalyQuery query{.costs = {.by = config_.alerts.anomalies_by, .today = today}};
  query.cause = kAnomalyCause;
  query.since = recent - kIncidentBack;
  query.verdicts = verdicts_;
  query.postings = sources_.postings;
  auto anomalies = query_anomalies(query, config_.policy, reported.source());
  report("unusual days", anomalies ? nullptr : &anomalies.error());
  const auto add = [&](const std::vector<AlertCondition>& more) {
    found.conditions.insert(found.conditions.end(), more.begin(), more.end());
  };
  if (anomalies) {
    std::erase_if(*anomalies, [](const auto& one) { return one.is_expected; });
    auto unusual = anomaly_conditions(
        *anomalies,
        {.by = query.costs.by,
         .since = recent,
         .least = least_anomaly(*history, config_.alerts.thresholds.anomaly_permille)},
        book);
    if (const std::string rates = reported.newest_rates(); !rates.empty()) {
      for (AlertCondition& one : unusual) one.summary += fmt::format(" (at {})", rates);
    }
    add(unusual);
  } else {
    found.unknown.push_back({"cost_anomaly"});
  }
  find_by_owner(query.costs, reported.source(), found);
}

// What the costs of each owner say, beside unusual days.
void AlertFinder::find_by_owner(const DailyCostQuery& costs, const SummarySource& summarise,
                                AlertFindings& found) {
  const auto history = query_daily_costs(costs, config_.policy, summarise);
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

// Outcomes since those that were read last. While an alert goes on, each time, so that it ends
// soon; and after a read that failed. Returns whether checkpoints are known.
bool AlertFinder::read_checkpoints(Instant now, const AlertBook& book) {
  if (!sources_.outcomes) return true;
  const bool goes_on =
      std::ranges::any_of(book, [](const auto& one) { return one.first.first == "no_checkpoint"; });
  if (!goes_on && !missed_checkpoints_ && !is_due(checkpoints_read_, kDaysEvery, now)) return true;
  // A clock that went back far begins anew.
  const bool is_next = checkpoints_read_ && *checkpoints_read_ - kCheckpointsOverlap < now;
  const Instant since = is_next ? *checkpoints_read_ - kCheckpointsOverlap : now - kCheckpointsBack;
  const auto read = sources_.outcomes(Interval(since, now), [&](std::span<const Outcome> batch) {
    note_checkpoints(batch, checkpoints_);
  });
  report("checkpoints", read ? nullptr : &read.error());
  missed_checkpoints_ = !read.has_value();
  if (missed_checkpoints_) return false;
  checkpoints_read_ = now;
  std::erase_if(checkpoints_, [&](const auto& one) { return now - one.second > kCheckpointsKept; });
  return true;
}

void AlertFinder::find_in_approvals(Instant now, AlertFindings& found) {
  if (!sources_.approvals) return;
  const auto approvals = sources_.approvals();
  report("requests for approvals", approvals ? nullptr : &approvals.error());
  if (approvals) {
    const auto can_decide =
        sources_.approver_check ? sources_.approver_check() : guardrails::ApproverCheck();
    add_enabled(approval_conditions(*approvals, config_.guardrails->approvals, now, can_decide),
                found);
  } else {
    found.unknown.insert(found.unknown.end(), {{"approval_pending"}, {"approval_escalated"}});
  }
}

void AlertFinder::reconcile(Instant now) {
  if (!sources_.reconcile) return;
  // A run may have put right what was off.
  const std::uint64_t version = this->version().value_or(reconciled_version_);
  const bool may_be_right = !reconciliation_.conditions.empty() && version != reconciled_version_;
  if (!may_be_right && !is_due(reconciled_, kReconcileEvery, now)) return;
  reconciled_ = now;
  reconciled_version_ = version;
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

// All charges of two months are read for them, and bills come once a day.
void AlertFinder::look_at_purchases(Date today, Instant now) {
  if (!is_due(purchases_read_, kReconcileEvery, now)) return;
  purchases_ = {};
  // After a query that failed, as while an import holds the ledger, the next look asks again.
  purchases_read_.reset();
  bool is_known = true;
  const auto add = [&](const std::vector<AlertCondition>& more) {
    purchases_.conditions.insert(purchases_.conditions.end(), more.begin(), more.end());
  };
  const auto is_on = [&](std::string_view rule) {
    return std::ranges::find(config_.alerts.off, rule) == config_.alerts.off.end();
  };
  if (sources_.commitments && (is_on("commitment_expires") || is_on("commitment_underused"))) {
    const auto uses = sources_.commitments();
    report("commitments", uses ? nullptr : &uses.error());
    if (uses) {
      add(commitment_conditions(*uses, today, config_.alerts));
    } else {
      purchases_.unknown = {{"commitment_expires"}, {"commitment_underused"}};
      is_known = false;
    }
  }
  if (sources_.spot && is_on("spot_interrupted")) {
    const auto uses = sources_.spot();
    report("spot nodes", uses ? nullptr : &uses.error());
    if (uses) {
      add(spot_conditions(*uses, config_.alerts.thresholds.spot_percent));
    } else {
      purchases_.unknown.push_back({"spot_interrupted"});
      is_known = false;
    }
  }
  if (is_known) purchases_read_ = now;
}

// Those that people set can be unreadable for a while: nothing is known of them then.
std::vector<Budget> AlertFinder::all_budgets(AlertFindings& found) {
  if (!sources_.budgets) return config_.budgets;
  auto all = sources_.budgets();
  report("read the budgets that people set", all ? nullptr : &all.error());
  if (all) return *std::move(all);
  for (const std::string_view rule : alert_rule_names()) {
    if (rule.starts_with("budget_")) found.unknown.push_back({std::string(rule)});
  }
  return config_.budgets;
}

// While they can't be read, what was read before counts.
const std::vector<forecasting::KnownEvent>& AlertFinder::all_events() {
  if (!sources_.events) return config_.events;
  auto all = sources_.events();
  report("what people know of days to come", all ? nullptr : &all.error());
  if (all) events_ = *std::move(all);
  return events_;
}

// The ledger's telemetry of the last minutes, of which only what tells something is kept.
Result<void> AlertFinder::read_telemetry(Instant now) {
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
void AlertFinder::find_in_telemetry(Instant now, Telemetry which, const AlertBook& book,
                                    AlertFindings& found) {
  find_in_pods(now, book, found);
  static constexpr std::string_view kDeviceRules[] = {"gpu_ecc", "gpu_hot", "gpu_out_of_memory",
                                                      "gpu_throttled", "gpu_xid"};
  if (!sources_.usage) return;
  if (which == Telemetry::kAll) {
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
  std::vector<AlertCondition> silent =
      silence_conditions(last_telemetry_, now, config_.alerts.thresholds,
                         [&](const ClusterId& cluster, const NodeId& node) {
                           return held_nodes_.contains({cluster, node});
                         });
  add_enabled(std::move(silent), found);
  if (view_) add_node_prices(*view_->view, found.conditions);
  inhibit_on_missing_nodes(found.conditions);
  // After a restart nothing may be known of a cluster, or of a node, that was silent before.
  for (const auto& [key, alert] : book) {
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
        held_nodes_, [&](const auto& one) { return is_subject(one.first, one.second); });
    if (!view_ || (!is_known && is_held)) found.unknown.push_back({alert.condition.rule, subject});
  }
}

// Those that run, or ran in the view: the first row of a workload counts.
AlertFinder::OwnersOfRunning AlertFinder::owners_of_running() const {
  OwnersOfRunning owners;
  if (!view_) return owners;
  for (const LiveRow& row : view_->rows) {
    if (row.is_unallocated) continue;
    owners.try_emplace({row.cluster, row.share().workload},
                       row.share().dimensions.find("team").value_or(""));
  }
  return owners;
}

void AlertFinder::find_in_pods(Instant now, const AlertBook& book, AlertFindings& found) {
  const AlertThresholds& thresholds = config_.alerts.thresholds;
  // Read once in a look, where somebody asks.
  std::optional<OwnersOfRunning> owners;
  const OwnerLookup owner = [&](const ClusterId& cluster, const WorkloadId& workload) {
    if (!owners) owners = owners_of_running();
    const auto found_owner = owners->find({cluster, workload});
    return found_owner == owners->end() ? std::string() : found_owner->second;
  };
  if (sources_.oom_kills) {
    const OomKills kills = sources_.oom_kills();
    add_enabled(oom_conditions(kills, now, thresholds, owner), found);
    for (const auto& [key, alert] : book) {
      const std::string& subject = alert.condition.subject;
      if (alert.condition.rule != "pod_oom_killed") continue;
      const ClusterId cluster(subject.substr(0, subject.find('/')));
      if (is_oom_unknown(kills, cluster, now, thresholds)) {
        found.unknown.push_back({alert.condition.rule, subject});
      }
    }
  }
  if (!sources_.latencies) return;
  const std::vector<live::LatencyReading> services = sources_.latencies(now);
  add_enabled(latency_conditions(services, thresholds, owner), found);
  for (const live::LatencyReading& one : services) {
    const std::string doing = "latency of " + one.cluster.text() + "/" + one.service;
    const Error why{ErrorCode::kNotFound,
                    fmt::format("there is no baseline yet: {} of {} requests were seen before "
                                "the last minutes; until then latency_high can't fire",
                                one.usual_requests, latency_rule(thresholds).usual_requests())};
    const bool is_reported = reported_.contains(doing);
    // Said once, and not again with each request more.
    if (one.lacks_baseline && (!is_reported || reported_[doing].empty())) report(doing, &why);
    if (!one.lacks_baseline && is_reported) report(doing, nullptr);
  }
}

void AlertFinder::add_enabled(std::vector<AlertCondition> more, AlertFindings& found) const {
  std::ranges::move(as_configured(std::move(more), config_.alerts),
                    std::back_inserter(found.conditions));
}

// After a restart the last checkpoint may be older than what was read: what went on goes on.
void AlertFinder::find_unknown_checkpoints(const AlertBook& book, AlertFindings& found) const {
  for (const auto& [key, alert] : book) {
    if (alert.condition.rule != "no_checkpoint") continue;
    const bool is_known = std::ranges::any_of(checkpoints_, [&](const auto& one) {
      const auto& [cluster, workload] = one.first;
      return alert.condition.subject == cluster.text() + "/" + workload.text();
    });
    const bool runs = std::ranges::any_of(view_->rows, [&](const LiveRow& row) {
      return !row.is_unallocated && row.runs &&
             alert.condition.subject ==
                 row.cluster.text() + "/" + std::string(row.share().workload.text());
    });
    if (!is_known && runs) found.unknown.push_back({"no_checkpoint", alert.condition.subject});
  }
}

// The rows of a view are made once, and its rules are evaluated many times.
void AlertFinder::look_at_view() {
  auto view = sources_.live ? sources_.live() : nullptr;
  if (view != nullptr && view_ != nullptr && view_->view == view) return;
  view_ = view == nullptr ? nullptr : view_rows(std::move(view));
  held_nodes_.clear();
  if (view_ == nullptr) return;
  for (const LiveRow& row : view_->rows) {
    if (row.is_unallocated || !row.runs) continue;
    for (const NodeId& node : row.share().nodes) held_nodes_.emplace(row.cluster, node);
  }
}

AlertFindings AlertFinder::find(Date today, Instant now, const AlertBook& book) {
  AlertFindings found;
  const auto add = [&](std::vector<AlertCondition> more) { add_enabled(std::move(more), found); };
  const bool knows_checkpoints = read_checkpoints(now, book);
  look_at_view();
  const auto& view = view_;
  if (view) {
    add(live_conditions(view->rows, config_.alerts));
    shorten_proven_waits(*view, found.conditions);
    if (knows_checkpoints) {
      add(checkpoint_conditions(view->rows, checkpoints_, now,
                                std::chrono::hours(config_.alerts.thresholds.checkpoint_hours)));
      find_unknown_checkpoints(book, found);
    } else {
      found.unknown.push_back({"no_checkpoint"});
    }
  } else {
    found.unknown.insert(found.unknown.end(), {{"gpu_idle"},
                                               {"inference_idle"},
                                               {"low_utilisation"},
                                               {"high_utilisation"},
                                               {"no_checkpoint"}});
  }
  std::optional<LiveBudgetCosts> live;
  // Just after midnight the newest view is still of yesterday, whose costs are none of today.
  const bool is_of_today =
      view && local_date(view->view->at, config_.policy.time_zone) == to_text(today);
  const auto conversion = configured_conversion(config_.currencies);
  if (is_of_today) {
    live.emplace(view, config_.policy,
                 conversion ? live_conversion(*conversion, today) : LiveConversion());
  }
  const auto budgets = all_budgets(found);
  auto statuses = query_budgets({.budgets = budgets,
                                 .today = today,
                                 .events = all_events(),
                                 .conversion = conversion,
                                 .kept = &forecasts_,
                                 .version = version(),
                                 .live_cost = [&](const Budget& one) -> std::optional<LiveCost> {
                                   return live ? live->of(one) : std::nullopt;
                                 }},
                                config_.policy, sources_.summarise);
  if (!statuses) budgets_ = std::make_shared<const std::vector<BudgetStatus>>();
  if (statuses) {
    budgets_ = std::make_shared<const std::vector<BudgetStatus>>(*std::move(statuses));
    add(budget_conditions(*budgets_));
    for (const BudgetStatus& status : *budgets_) {
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
  find_in_approvals(now, found);
  if (sources_.limit_stops) {
    const guardrails::StopState state = sources_.limit_stops();
    add(limit_conditions(state, list_limit_stops(state, view_.get(), config_, now), config_, now));
  }
  look_at_days(today, now, book);
  reconcile(now);
  look_at_purchases(today, now);
  for (const AlertFindings* more : {&days_, &reconciliation_, &purchases_}) {
    add(more->conditions);
    found.unknown.insert(found.unknown.end(), more->unknown.begin(), more->unknown.end());
  }
  return found;
}

// Days change when the ledger does. Looking at all of them takes its time, so it takes a tenth of
// the time at most.
void AlertFinder::look_at_days(Date today, Instant now, const AlertBook& book) {
  const std::uint64_t version = this->version().value_or(looked_version_);
  const milliseconds pause =
      std::max(kLookPause * look_took_, milliseconds(config_.alerts.every_ms));
  std::vector<AnomalyVerdict> verdicts = read_verdicts();
  const bool has_news = version != looked_version_ || verdicts != verdicts_;
  const bool has_changed = has_news && is_due(looked_, pause, now);
  if (!has_changed && !is_due(looked_, kDaysEvery, now)) return;
  const auto begin = std::chrono::steady_clock::now();
  days_ = {};
  verdicts_ = std::move(verdicts);
  find_in_days(today, book, days_);
  looked_ = now;
  looked_version_ = version;
  look_took_ = std::chrono::duration_cast<milliseconds>(std::chrono::steady_clock::now() - begin);
}

}  // namespace pennyweight
