#include "app/daemon/fact_writer.h"

#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "core/try.h"

namespace pennyweight {
namespace {

// Problems that are logged once; beyond so many the list starts over.
constexpr std::size_t kLoggedProblemsMax = 10'000;
constexpr std::uint64_t kRowsOfALargeFlush = 10'000;

}  // namespace

void FactWriter::begin(live::Engine& engine, StateMetricsSource& state_metrics,
                       std::vector<LiveSource*> sources, ServeAuditLog* audit_log) {
  engine_ = &engine;
  state_metrics_ = &state_metrics;
  sources_ = std::move(sources);
  audit_log_ = audit_log;
}

void FactWriter::collect_from(CollectedFacts collected, LiveSource* source, std::string_view kind) {
  for (const std::string& problem : collected.problems) {
    if (logged_problems_.size() >= kLoggedProblemsMax) logged_problems_.clear();
    if (!logged_problems_.insert(problem).second) continue;
    log_.warn("source", {{"kind", std::string(kind)}, {"problem", problem}});
  }
  signals_.note(collected);
  CollectedFacts facts = inventory_.take(std::move(collected));
  if (!facts.empty()) unwritten_.push_back(std::move(facts));
  if (source != nullptr) unconfirmed_.push_back(source);
}

void FactWriter::collect() {
  struct Sources {
    bool are_ready = true, report_every_end = true;
  };
  std::map<ClusterId, Sources> by_cluster;
  for (LiveSource* source : sources_) {
    Sources& of_cluster = by_cluster[source->cluster()];
    of_cluster.are_ready = source->is_ready() && of_cluster.are_ready;
    of_cluster.report_every_end = source->reports_every_end() && of_cluster.report_every_end;
    collect_from(source->collect(), source, source->kind());
  }
  collect_from(state_metrics_->collect(), nullptr, "kube-state-metrics");
  for (const auto& [cluster, sources] : by_cluster) {
    if (!sources.are_ready) continue;
    inventory_.mark_complete(cluster);
    if (!sources.report_every_end) inventory_.find_vanished(cluster, clock_.now());
  }
}

void FactWriter::keep_readings(bool all) {
  CollectedFacts facts;
  facts.holdings = inventory_.take_unwritten_readings(all);
  if (!facts.empty()) unwritten_.push_back(std::move(facts));
}

void FactWriter::keep_rejected(std::vector<RejectedRow> rows) {
  CollectedFacts facts;
  facts.rejected = std::move(rows);
  if (!facts.empty()) unwritten_.push_back(std::move(facts));
}

std::optional<Instant> FactWriter::take_changed_since() {
  const auto facts = inventory_.take_changed_since();
  const auto rows = std::exchange(rows_since_, {});
  if (!facts || !rows) return facts ? facts : rows;
  return std::min(*facts, *rows);
}

void FactWriter::note_usages(std::span<const Usage> usages) {
  for (const Usage& usage : usages) {
    rows_since_ = std::min(rows_since_.value_or(usage.at), usage.at);
    if (inventory_.has_vanished()) extend_vanished_by(usage);
  }
}

void FactWriter::extend_vanished_by(const Usage& usage) {
  if (usage.workload.empty()) return;
  const auto seen =
      Interval::of(usage.at, usage.at + std::chrono::milliseconds(std::max(1U, usage.span_ms)));
  if (seen) inventory_.extend_vanished(usage.cluster, usage.workload, *seen);
}

Result<void> FactWriter::extend_vanished(Store& store) {
  const auto spans = inventory_.vanished_spans();
  if (spans.empty()) return {};
  for (const auto& [cluster, lost] : spans) {
    // A span that began before may reach into it.
    const Interval during(lost.begin() - std::chrono::milliseconds(kUsageSpanMaxMs), lost.end());
    TRY(store.scan_usage(cluster, during, UsageDetail::kShares, [&](std::span<const Usage> some) {
      for (const Usage& usage : some) extend_vanished_by(usage);
      return true;
    }));
  }
  inventory_.mark_vanished_spans_read();
  return {};
}

void FactWriter::confirm_sources() {
  for (LiveSource* source : std::exchange(unconfirmed_, {})) source->confirm_stored();
}

void FactWriter::record_import(const ImportOutcome& outcome) {
  if (audit_log_ != nullptr) audit_log_->add_import(outcome, clock_.now());
}

Result<void> FactWriter::write_facts(Store& store) {
  if (!unwritten_.empty()) {
    auto session = TRY(store.begin_import({.format = std::string(kLiveFormat),
                                           .name = "records",
                                           .file_hash = {},
                                           .at = clock_.now()}));
    Result<void> done;
    for (const CollectedFacts& facts : unwritten_) {
      if (done) done = session->append_holdings(facts.holdings);
      if (done) done = session->append_nodes(facts.nodes);
      if (done) done = session->append_gpus(facts.gpus);
      if (done) done = session->append_outages(facts.outages);
      if (done) done = session->append_rejected(facts.rejected);
    }
    if (!done) return done;
    const auto outcome = TRY(session->commit());
    record_import(outcome);
    counters_.add("holdings", outcome.holdings.created);
    counters_.add("nodes", outcome.nodes.created);
    counters_.add("rejected", outcome.rejected);
    for (const RejectedRow& row : outcome.conflict_rows) {
      log_.warn("conflict", {{"reason", row.reason}, {"row", row.text}});
    }
    unwritten_.clear();
    facts_written_at_ = clock_.now();
  }
  confirm_sources();
  return {};
}

Result<void> FactWriter::import_rows(Store& store, const live::FlushRows& rows) {
  if (rows.empty()) return {};
  auto session = TRY(store.begin_import({.format = std::string(kLiveFormat),
                                         .name = fmt::format("telemetry {}", rows.flush),
                                         .file_hash = {},
                                         .at = clock_.now()}));
  CollectedFacts discovered;
  std::vector<Usage> troubles;
  const auto read = rows.read(
      {.usages =
           [&](std::span<const Usage> some) {
             note_usages(some);
             std::ranges::copy_if(some, std::back_inserter(troubles), DeviceSignals::has_signal);
             return session->append_usages(some);
           },
       .gpus =
           [&](std::span<const Gpu> some) {
             std::vector<Gpu> gpus(some.begin(), some.end());
             for (Gpu& gpu : gpus) gpu.from = inventory_.begin_of(gpu);
             discovered.gpus.insert(discovered.gpus.end(), gpus.begin(), gpus.end());
             return session->append_gpus(gpus);
           },
       .outcomes = [&](std::span<const Outcome> some) { return session->append_outcomes(some); }});
  if (!read) return read;
  const auto outcome = TRY(session->commit());
  device_signals_.note(troubles);
  record_import(outcome);
  inventory_.take(std::move(discovered));
  counters_.add("usages", outcome.usages.created);
  counters_.add("outcomes", outcome.outcomes.created);
  counters_.add("rows_conflicting", outcome.rejected);
  for (const RejectedRow& row : outcome.conflict_rows) {
    log_.error("conflict", {{"reason", row.reason}, {"row", row.text}});
  }
  return {};
}

Result<void> FactWriter::write_rows(Store& store, bool is_last) {
  const auto flushed = TRY(engine_->flush(
      [&](const live::FlushRows& rows) { return import_rows(store, rows); }, is_last));
  has_more_rows_ = flushed.more;
  counters_.add("flushes");
  // The memory that a large import took is of no use until the next one.
  if (flushed.usages > kRowsOfALargeFlush) ::malloc_trim(0);
  if (flushed.usages + flushed.outcomes > 0) {
    log_.info("flush", {{"number", flushed.number},
                        {"usages", flushed.usages},
                        {"gpus", flushed.gpus},
                        {"outcomes", flushed.outcomes}});
  }
  return {};
}

Result<void> FactWriter::add_nodes_seen_in_telemetry(Store& store) {
  std::set<ClusterId> reported_clusters;
  for (const LiveSource* source : sources_) reported_clusters.insert(source->cluster());
  std::vector<Node> nodes = inventory_.nodes_from_gpus(reported_clusters);
  if (nodes.empty()) return {};
  auto session = TRY(store.begin_import({.format = std::string(kLiveFormat),
                                         .name = "nodes of telemetry",
                                         .file_hash = {},
                                         .at = clock_.now()}));
  TRY(session->append_nodes(nodes));
  const auto outcome = session->commit();
  if (!outcome) return std::unexpected(outcome.error());
  record_import(*outcome);
  counters_.add("nodes", outcome->nodes.created);
  inventory_.take({.holdings = {},
                   .nodes = std::move(nodes),
                   .gpus = {},
                   .outages = {},
                   .rejected = {},
                   .problems = {}});
  return {};
}

}  // namespace pennyweight
