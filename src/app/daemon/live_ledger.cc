#include "app/daemon/live_ledger.h"

#include <algorithm>
#include <utility>

#include "app/context/context.h"
#include "core/try.h"

namespace pennyweight {
LiveLedger::LiveLedger(const Config& config, const Catalog& catalog, const RateCard& card,
                       SharedLedger& shared, Clock& clock, Log& log)
    : config_(config),
      catalog_(catalog),
      shared_(shared),
      clock_(clock),
      counters_(log),
      inventory_(std::chrono::milliseconds(config.live.serve.reading_ms)),
      facts_(inventory_, counters_, clock, log),
      settlement_(config, catalog, card, inventory_, counters_, clock, log),
      costing_(config, catalog, card, inventory_, counters_, clock) {}

Result<void> LiveLedger::open() {
  const Instant now = clock_.now();
  // Pods that ended in the last days may still be listed.
  const auto loaded = shared_.with(
      [&](Store& store) { return inventory_.load(store, now - std::chrono::days(7)); });
  if (!loaded) return loaded;
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
  return facts_.has_more_rows() || engine_->wants_flush() ||
         now - flushed_at_ >= flush_every(config_) || now < flushed_at_;
}

bool LiveLedger::facts_are_due(Instant now) const {
  const auto last = facts_.facts_written_at();
  return !last || now - *last >= news_every(config_) || now < *last;
}

void LiveLedger::cycle() {
  const Instant now = clock_.now();
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
  refresh_rollup();
  record_audit_events(now, false);
  if (auto view = costing_.make_view(now)) {
    const std::lock_guard lock(mutex_);
    view_ = std::move(view);
  }
}

void LiveLedger::record_audit_events(Instant now, bool all) {
  if (audit_log_ == nullptr) return;
  if (const auto recorded = audit_log_->record_due(now, all); !recorded)
    counters_.add_failure("audit log", recorded.error());
}

// Our own writes change the mark too; then there is nothing to copy.
void LiveLedger::refresh_rollup() {
  if (rollup_ == nullptr || shared_.mark() == rollup_mark_) return;
  const auto done = shared_.with([&](Store& store) -> Result<void> {
    const auto changed = TRY(rollup_->refresh(store));
    if (changed) counters_.add("rollups");
    if (changed && config_.live.serve.leaves_to_workers) {
      TRY(costing_.read_earlier_costs(store, clock_.now()));
    }
    return refresh_work_progress(store);
  });
  if (!done) return counters_.add_failure("rollup", done.error());
  rollup_mark_ = shared_.mark();
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

void LiveLedger::last_cycle() {
  facts_.collect();
  if (const auto done = write(true, true); !done) counters_.add_failure("write", done.error());
  record_audit_events(clock_.now(), true);
}

Result<void> LiveLedger::write(bool flush, bool is_stopping) {
  return shared_.with([&](Store& store) { return write_into(store, flush, is_stopping); });
}

Result<void> LiveLedger::write_into(Store& store, bool flush, bool is_stopping) {
  const Instant now = clock_.now();
  TRY(facts_.write_facts(store));
  if (flush) {
    TRY(facts_.write_rows(store));
    flushed_at_ = now;
  }
  TRY(facts_.add_nodes_seen_in_telemetry(store));
  gpu_lookup_.update(inventory_);
  if (!flush || is_stopping) return {};
  if (settlement_.settle(store, now)) {
    inventory_.forget_before(now - std::chrono::days(7));
    TRY(costing_.read_earlier_costs(store, now));
  }
  costing_.allocate_today(store, now);
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
