#include "app/daemon/live_ledger.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <mutex>
#include <optional>
#include <utility>

#include "app/context/catalog_file.h"
#include "app/context/context.h"
#include "app/context/ledger_log.h"
#include "app/context/paths.h"
#include "app/context/price_files.h"
#include "app/daemon/live_file.h"
#include "core/billing_period.h"
#include "core/files/file.h"
#include "core/try.h"

namespace pennyweight {
namespace {

using std::chrono::milliseconds;

// How long after its end a holding is kept: pods that ended in the last days may still be listed.
constexpr std::chrono::days kHoldingsKept{7};
// How long somebody waits for a view: a cycle begins half a second later at most.
constexpr std::chrono::seconds kViewWait{3};
// After a refresh of the rollup that failed: twice as long each time.
constexpr std::chrono::seconds kRefreshAgain{30};
constexpr std::chrono::minutes kRefreshAgainMax{15};
constexpr std::chrono::hours kLogToldAgain{1};
constexpr std::size_t kReadingsBytesMax = std::size_t{256} << 20;
// After so long no telemetry of a workload that is gone is expected any more.
constexpr std::chrono::minutes kEndIsUnknownAfter{10};

}  // namespace

LiveLedger::LiveLedger(const Config& config, const Catalog& catalog, const RateCard& card,
                       SharedLedger& shared, Clock& clock, Log& log)
    : config_(config),
      catalog_(catalog),
      card_(card),
      shared_(shared),
      clock_(clock),
      counters_(log),
      inventory_(std::chrono::milliseconds(config.live.serve.reading_ms)),
      signals_((std::filesystem::path(live_folder(config)) / "spot_nodes").string(), clock),
      facts_(inventory_, signals_, counters_, clock, log),
      settlement_(config, catalog_, card_, inventory_, counters_, clock, log),
      costing_(config, catalog_, card_, inventory_, counters_, clock),
      log_(log),
      readings_file_((std::filesystem::path(live_folder(config)) / "readings").string()) {}

Result<void> LiveLedger::open() {
  const Instant now = clock_.now();
  const auto loaded =
      shared_.with([&](Store& store) { return inventory_.load(store, now - kHoldingsKept); });
  if (!loaded) return loaded;
  restore_readings();
  settlement_.open();
  gpu_lookup_.update(inventory_);
  flushed_at_ = now;
  return {};
}

void LiveLedger::begin(live::Engine& engine, StateMetricsSource& state_metrics,
                       std::vector<LiveSource*> sources, rollup::Rollup* rollup,
                       ServeAuditLog* audit_log) {
  engine_ = &engine;
  rollup_ = rollup;
  audit_log_ = audit_log;
  facts_.begin(engine, state_metrics, std::move(sources), audit_log);
  settlement_.begin(audit_log);
  costing_.begin(engine);
}

bool LiveLedger::flush_is_due(Instant now) const {
  return facts_.has_more_rows() || costing_.is_earlier_outdated(now) || engine_->wants_flush() ||
         now - flushed_at_ >= flush_every(config_) || now < flushed_at_;
}

bool LiveLedger::facts_are_due(Instant now) const {
  const auto last = facts_.facts_written_at();
  return !last || now - *last >= news_every(config_) || now < *last;
}

// A file that can't be read keeps the prices of before.
void LiveLedger::reload_prices() {
  const bool is_first = price_files_.empty();
  bool changed = false;
  for (const std::string& file :
       {config_.rate_card_file, config_.price_file, config_.owned_file, config_.energy_file}) {
    if (file.empty()) continue;
    std::error_code error;
    const auto written = std::filesystem::last_write_time(file, error);
    if (error) continue;  // a file that is being replaced
    auto& last = price_files_[file];
    changed = changed || last != written;
    last = written;
  }
  if (!changed || is_first) return;
  auto catalog = load_catalog(config_);
  if (!catalog) return counters_.add_failure("prices", catalog.error());
  Result<RateCard> card = RateCard();
  if (!config_.rate_card_file.empty()) card = load_rate_card(config_.rate_card_file);
  if (!card) return counters_.add_failure("prices", card.error());
  catalog_ = *std::move(catalog);
  card_ = *std::move(card);
  costing_.forget_today();
  // The days of this month get the new prices.
  settlement_.note_change(start_of_month(clock_.now(), TimeZone::utc()));
  log_.info("prices_reloaded");
}

void LiveLedger::cycle() {
  const Instant now = clock_.now();
  reload_prices();
  facts_.collect();
  const bool flush = flush_is_due(now), has_facts = facts_.has_unwritten_facts();
  if (flush || (has_facts && facts_are_due(now))) {
    const auto done = write(flush);
    if (!done) counters_.add_failure("write", done.error());
    const std::lock_guard lock(mutex_);
    is_writing_ = done.has_value();
  } else if (!has_facts) {
    // Nothing is new, and the ledger has all that came before.
    facts_.confirm_sources();
  }
  save_readings();
  refresh_rollup(now);
  record_audit_events(now, false);
  if (!view_is_due()) return;
  if (auto view = costing_.make_view(now)) {
    {
      const std::lock_guard lock(mutex_);
      view_ = std::move(view);
      wants_view_ = false;
    }
    view_made_.notify_all();
  }
}

bool LiveLedger::view_is_due() const {
  if (!makes_views_on_demand_) return true;
  const std::lock_guard lock(mutex_);
  return wants_view_ || !view_;
}

bool LiveLedger::wants_view() const {
  const std::lock_guard lock(mutex_);
  return wants_view_;
}

std::shared_ptr<const LiveView> LiveLedger::fresh_view(milliseconds age_max) const {
  std::unique_lock lock(mutex_);
  const Instant now = clock_.now();
  const auto is_fresh = [&] { return view_ && view_->at >= now - age_max && view_->at <= now; };
  if (is_fresh()) return view_;
  wants_view_ = true;
  const auto made = view_;
  view_made_.wait_for(lock, kViewWait, [&] { return view_ != made; });
  return view_;
}

void LiveLedger::record_audit_events(Instant now, bool all) {
  if (audit_log_ == nullptr) return;
  if (const auto recorded = audit_log_->record_due(now, all); !recorded)
    counters_.add_failure("audit log", recorded.error());
}

// Our own writes change the mark too; then there is nothing to copy.
void LiveLedger::refresh_rollup(Instant now) {
  if (rollup_ == nullptr || shared_.mark() == rollup_mark_) return;
  if (const auto trouble = rollup_trouble();
      trouble && now >= trouble->failed_at && now < trouble->tries_again_at) {
    return;
  }
  const Interruption::Scope scope(refreshing_);
  const auto done = copy_into_rollup(now);
  if (Interruption::is_here()) return;
  std::optional<RollupTrouble> trouble;
  if (done) {
    rollup_mark_ = shared_.mark();
    refreshes_failed_ = 0;
  } else {
    counters_.add_failure("rollup", done.error());
    const auto wait = std::min<milliseconds>(kRefreshAgain * (1 << std::min(refreshes_failed_, 10)),
                                             kRefreshAgainMax);
    ++refreshes_failed_;
    const Instant failed_at = clock_.now();
    trouble = RollupTrouble{failed_at, failed_at + wait, done.error().code};
  }
  const std::lock_guard lock(mutex_);
  rollup_trouble_ = trouble;
}

Result<void> LiveLedger::copy_into_rollup(Instant now) {
  return shared_.with([&](Store& store) -> Result<void> {
    const auto changed = TRY(rollup_->refresh(store));
    if (changed) counters_.add("rollups");
    if (changed && config_.live.serve.leaves_to_workers) {
      TRY(costing_.read_earlier_costs(store, now));
    }
    return refresh_work_progress(store);
  });
}

std::optional<LiveLedger::RollupTrouble> LiveLedger::rollup_trouble() const {
  const std::lock_guard lock(mutex_);
  return rollup_trouble_;
}

Result<void> LiveLedger::refresh_work_progress(Store& store) {
  TRY(refresh_work(store, work_snapshot_));
  if (work_snapshot_.work_records.plans.empty() && !config_.live.serve.leaves_to_workers) return {};
  const WorkCriteria rules = work_criteria(config_.policy, catalog_, config_.join_rules);
  std::vector<WorkItem> items = work_items(work_snapshot_, rules);
  TRY(find_behind_since(store, rules, items));
  WorkProgress progress;
  for (const WorkItem& item : items) {
    ++progress.items[item.state];
    if (!item.behind_since) continue;
    progress.behind_since =
        std::min(progress.behind_since.value_or(*item.behind_since), *item.behind_since);
  }
  const std::lock_guard lock(mutex_);
  work_ = std::move(progress);
  return {};
}

std::optional<WorkProgress> LiveLedger::work() const {
  const std::lock_guard lock(mutex_);
  return work_;
}

// Readings are left to the next process as often as they are made, and cost no commit of the
// ledger.
void LiveLedger::save_readings() {
  std::string text = inventory_.readings_text();
  if (text == saved_readings_) return;
  if (const auto saved = save_live_file(readings_file_, text); !saved) {
    return counters_.add_failure("readings", saved.error());
  }
  saved_readings_ = std::move(text);
}

void LiveLedger::restore_readings() {
  const auto text = read_file(readings_file_, kReadingsBytesMax);
  if (!text) return;  // there are none before the first start
  if (const auto restored = inventory_.restore_readings(*text); !restored) {
    counters_.add_failure("readings", restored.error().during(readings_file_));
  }
}

void LiveLedger::note_changes() {
  if (const auto since = facts_.take_changed_since()) settlement_.note_change(*since);
}

// What nobody knows is set aside with its money, where `reconcile` shows it.
void LiveLedger::report_unknown_ends(Instant now) {
  const std::vector<UnknownEnd> ends = inventory_.take_unknown_ends(now - kEndIsUnknownAfter);
  if (ends.empty()) return;
  const auto costs = costing_.cost_of(ends);
  std::vector<RejectedRow> rows;
  for (std::size_t i = 0; i < ends.size(); ++i) {
    rows.push_back(unknown_end_row(ends[i], costs[i]));
    log_.warn("unknown_end", {{"cluster", ends[i].holding.cluster.text()},
                              {"workload", ends[i].holding.workload.text()},
                              {"why", rows.back().reason}});
    unknown_ends_.add(ends[i], costs[i]);
  }
  counters_.add("unknown_ends", ends.size());
  facts_.keep_rejected(std::move(rows));
  for (const auto& [cluster, note] : unknown_ends_.notes()) costing_.add_note(cluster, note);
}

void LiveLedger::last_cycle() {
  facts_.collect();
  facts_.keep_readings(true);
  if (const auto done = write(true, true); !done) counters_.add_failure("write", done.error());
  save_readings();
  record_audit_events(clock_.now(), true);
}

Result<void> LiveLedger::write(bool flush, bool is_stopping) {
  return shared_.with([&](Store& store) -> Result<void> {
    TRY(write_into(store, flush, is_stopping));
    tell_overlong_log();
    return {};
  });
}

// While nobody else has the ledger: a long import's log is not taken for one that grows.
void LiveLedger::tell_overlong_log() {
  const Instant now = clock_.now();
  if (log_told_at_ && now - *log_told_at_ < kLogToldAgain && now >= *log_told_at_) return;
  const auto overlong = overlong_ledger_log(config_);
  if (!overlong) return;
  log_told_at_ = now;
  counters_.add_failure(
      "checkpoint",
      Error{ErrorCode::kStore, *overlong + "; " + overlong_ledger_log_advice(config_)});
}

Result<void> LiveLedger::write_into(Store& store, bool flush, bool is_stopping) {
  const Instant now = clock_.now();
  if (flush && !is_stopping) {
    TRY(facts_.extend_vanished(store));
    report_unknown_ends(now);
    facts_.keep_readings(settlement_.is_due(now));
  }
  note_changes();
  TRY(facts_.write_facts(store));
  if (flush) {
    const auto written = facts_.write_rows(store, is_stopping);
    note_changes();
    TRY(written);
    flushed_at_ = now;
  }
  TRY(facts_.add_nodes_seen_in_telemetry(store));
  gpu_lookup_.update(inventory_);
  if (!flush || is_stopping) return {};
  const bool is_settled = settlement_.settle(store, now);
  if (is_settled) inventory_.forget_before(now - kHoldingsKept);
  if (is_settled || costing_.is_earlier_outdated(now)) {
    TRY(costing_.read_earlier_costs(store, now));
    costing_.forget_today();
  }
  costing_.allocate_today(store, now, settlement_.settled_until());
  return {};
}

std::shared_ptr<const LiveView> LiveLedger::view() const {
  const std::lock_guard lock(mutex_);
  return view_;
}

std::map<std::string, std::uint64_t> LiveLedger::counts() const { return counters_.all(); }

bool LiveLedger::is_writing() const {
  const std::lock_guard lock(mutex_);
  return is_writing_;
}

}  // namespace pennyweight
