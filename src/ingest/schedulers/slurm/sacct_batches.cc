#include "ingest/schedulers/slurm/sacct_batches.h"

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>
#include <variant>

#include "core/limits.h"
#include "core/try.h"
#include "ingest/schedulers/slurm/job_holdings.h"
#include "ingest/schedulers/slurm/utf8.h"
#include "ledger/task_count.h"

namespace pennyweight::slurm {
namespace {

// Limits of a batch, some tens of megabytes: whichever of rows, nodes and bytes comes first.
constexpr std::size_t kNodePartsMax = 262'144;
constexpr std::size_t kRejectedBytesMax = 16u << 20;
constexpr std::string_view kExternStep = ".extern";

// At most kBatchRows at once.
template <class T>
Result<void> hand_on(std::vector<T>& rows,
                     const std::function<Result<void>(std::span<const T>)>& sink) {
  const std::span<const T> all(rows);
  for (std::size_t at = 0; at < all.size(); at += limits::kBatchRows) {
    const auto done = sink(all.subspan(at, std::min(limits::kBatchRows, all.size() - at)));
    if (!done) return done;
  }
  rows.clear();
  return {};
}

}  // namespace

Result<void> SacctBatches::add_job(const JobRecord& job, std::uint64_t line, std::string_view row) {
  ++counts.jobs;
  TRY(end_run());
  auto result = make_holdings(job, options_, line);
  if (!result) return reject(line, result.error().column, result.error().reason, row);
  switch (result->outcome) {
    case JobOutcome::kPending:
      ++counts.pending;
      break;
    case JobOutcome::kNeverStarted:
      ++counts.never_started;
      break;
    case JobOutcome::kZeroLength:
      ++counts.zero_length;
      break;
    case JobOutcome::kHeldAndRunning:
      ++counts.running;
      [[fallthrough]];
    case JobOutcome::kHeld:
      ++counts.held;
      break;
  }
  if (result->ambiguous) ++counts.ambiguous;
  if (result->shortened) ++counts.shortened;
  if (result->unknown_state) ++counts.unknown_state;
  counts.holdings += result->holdings.size();
  if (result->without_time && sink_.without_time) {
    result->without_time->source = {.line = line};
    without_time_.push_back(*std::move(result->without_time));
    if (without_time_.size() >= limits::kBatchRows) {
      TRY(flush_without_time());
    }
  }
  if (!result->holdings.empty()) {
    run_ = OpenRun{.holdings = std::move(result->holdings),
                   .used = result->outcome == JobOutcome::kHeld ? job.used : HostUsage(),
                   .is_peak_unknown = result->outcome != JobOutcome::kHeld,
                   .tasks = job.tasks,
                   .line = line};
  }
  return {};
}

void SacctBatches::add_step(std::string_view id, std::optional<std::uint64_t> memory_peak_kib,
                            std::optional<std::uint64_t> tasks) {
  if (!run_) return;
  const std::string& job = run_->holdings.front().workload.text();
  if (!id.starts_with(job) || !id.substr(job.size()).starts_with('.')) return;
  // Slurm's own step has a task on each node.
  if (id.substr(job.size()) != kExternStep) run_->tasks = std::max(run_->tasks, tasks.value_or(0));
  if (memory_peak_kib == std::uint64_t{0}) return;
  run_->is_peak_unknown = run_->is_peak_unknown || !memory_peak_kib;
  std::optional<std::uint64_t>& peak = run_->used.memory_peak_kib;
  peak = std::max(peak.value_or(0), memory_peak_kib.value_or(0));
}

// All steps of the open run have been read.
Result<void> SacctBatches::end_run() {
  if (!run_) return {};
  OpenRun run = *std::exchange(run_, std::nullopt);
  if (run.is_peak_unknown) run.used.memory_peak_kib.reset();
  const Holding& first = run.holdings.front();
  if (sink_.usage) {
    auto outcomes = host_usage_outcomes(first.cluster, first.workload, first.held, run.used);
    if (!outcomes.empty()) ++counts.used;
    for (Outcome& outcome : outcomes) {
      outcome.source = {.line = run.line};
      usage_.push_back(std::move(outcome));
    }
  }
  for (Holding& holding : run.holdings) {
    // A job with too many labels does not say how many tasks it had.
    if (run.tasks > 0) std::ignore = holding.labels.set(kTasksLabel, std::to_string(run.tasks));
    if (const auto* nodes = std::get_if<OnNodes>(&holding.placement)) {
      node_parts_ += nodes->parts.size();
    }
    holdings_.push_back(std::move(holding));
    if (holdings_.size() < limits::kBatchRows && node_parts_ < kNodePartsMax) continue;
    TRY(flush_holdings());
  }
  return usage_.size() < limits::kBatchRows ? Result<void>{} : hand_on(usage_, sink_.usage);
}

Result<void> SacctBatches::reject(std::uint64_t line, std::string_view column,
                                  std::string_view reason, std::string_view row) {
  ++counts.rejected;
  rejected_.push_back({.file = options_.file,
                       .line = line,
                       .column = std::string(column),
                       .reason = std::string(reason),
                       .text = shown_as_utf8(row.substr(0, limits::kRejectedTextBytesMax))});
  rejected_bytes_ += rejected_.back().text.size();
  if (rejected_.size() < limits::kBatchRows && rejected_bytes_ < kRejectedBytesMax) return {};
  return flush_rejected();
}

Result<void> SacctBatches::flush_holdings() {
  node_parts_ = 0;
  return hand_on(holdings_, sink_.holdings);
}

Result<void> SacctBatches::flush_without_time() {
  if (without_time_.empty()) return {};
  return hand_on(without_time_, sink_.without_time);
}

Result<void> SacctBatches::flush_rejected() {
  rejected_bytes_ = 0;
  return hand_on(rejected_, sink_.rejected);
}

Result<void> SacctBatches::flush() {
  TRY(end_run());
  if (!usage_.empty()) {
    TRY(hand_on(usage_, sink_.usage));
  }
  TRY(flush_holdings());
  TRY(flush_without_time());
  return flush_rejected();
}

}  // namespace pennyweight::slurm
