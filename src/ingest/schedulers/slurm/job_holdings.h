// Makes holdings of one job record of Slurm.
//
// * The workload is the job's id ("12345", "12345_7", "12345+1"). The attempt is its start in UTC,
// since a requeued job keeps its id (`sacct -D` lists each run). Two runs of one job that overlap
// are both kept.
// * A Holding has one kind of device. A job with several kinds (two models, MIG instances beside
// whole GPUs, GPUs and shards) gives one holding each, whose attempt ends in "/" and the gres, as
// in "2026-03-01T00:00:00Z/gpu:a100". The first of them has the job's processors and memory and the
// others have 0 of both, so that sums count each once.
// * A job without GPUs holds 0 devices.
// * sacct says on which nodes a job ran, not how many devices it had on each. They are spread
// evenly, and the remainder goes one each to the first nodes of the list. Without a list of nodes
// they are somewhere in the cluster, or in the job's partition
// (SacctOptions::partitions_are_pools).
// * Labels: account, user, partition, qos, job_name, state, wckey, comment, reservation and
//   time_limit_minutes, where they are not empty; and every k=v of the comment, unless k is one of
//   these.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <vector>

#include "ingest/schedulers/slurm/job_record.h"
#include "ingest/schedulers/slurm/rejection.h"
#include "ingest/schedulers/slurm/sacct.h"
#include "ledger/outcome.h"

namespace pennyweight::slurm {

enum class JobOutcome { kHeld, kHeldAndRunning, kPending, kNeverStarted, kZeroLength };

struct JobResult {
  JobOutcome outcome;
  std::vector<Holding> holdings;  // at least one when held, else none
  bool ambiguous = false;         // see JobSpan
  bool shortened = false;         // suspended for a time that only Elapsed tells of
  bool unknown_state = false;     // Slurm has no such state; the job counts as ended
  // Of a job that never started or has no length: ledger/job_without_time.h. Nothing where no time
  // is known at which it ended.
  std::optional<Outcome> without_time = {};
};

// The record was read from `line`.
std::expected<JobResult, Rejection> make_holdings(const JobRecord& job, const SacctOptions& options,
                                                  std::uint64_t line);

}  // namespace pennyweight::slurm
