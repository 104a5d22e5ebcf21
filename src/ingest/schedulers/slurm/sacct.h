// What the readers of both forms of Slurm's accounting share: sacct_text.h (`sacct --parsable2`)
// and sacct_json.h (`sacct --json`).
//
// Both forms of one job give equal holdings (job_holdings.h).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "core/billing_period.h"
#include "core/error.h"
#include "core/id.h"
#include "core/instant.h"
#include "ledger/holding.h"
#include "ledger/outcome.h"
#include "ledger/rejected_row.h"

namespace pennyweight::slurm {

struct SacctOptions {
  TimeZone zone;     // of the machine that ran sacct; its times are local. JSON has epoch seconds
  std::string file;  // the name to put into rejected rows
  // The cluster's configured name, which wins over that in the file; without it the file must name
  // one.
  std::optional<ClusterId> cluster;
  // When the file was written, or later. Nothing in it may be after that. A running job that does
  // not say how long it has run lasts until then.
  std::optional<Instant> now;
  // Whether jobs without a list of nodes are somewhere in their partition. Otherwise they are in
  // the cluster, since partitions overlap on most clusters.
  bool partitions_are_pools = false;
  char delimiter = '|';  // of sacct's --delimiter; not of JSON
  // Of a text without a header, the columns as sacct's --format had them; empty: it has one.
  std::string columns = {};
};

// What became of the rows. Every job is exactly one of held, pending, never_started, zero_length
// and rejected; `rejected` also counts rows that are not jobs at all.
struct SacctCounts {
  std::uint64_t jobs = 0;              // records of jobs, steps left out
  std::uint64_t held = 0;              // jobs that gave holdings
  std::uint64_t holdings = 0;          // a job with several kinds of device gives several
  std::uint64_t running = 0;           // of those held: not ended when read
  std::uint64_t pending = 0;           // waiting; nothing is held yet
  std::uint64_t never_started = 0;     // cancelled or failed while waiting
  std::uint64_t zero_length = 0;       // ended in the second in which they began
  std::uint64_t rejected = 0;          // rows that were set aside
  std::uint64_t steps = 0;             // 12.batch, 12.0 …: parts of jobs, skipped
  std::uint64_t repeated_headers = 0;  // of files that were concatenated
  // Of those held: jobs at the end of summer time whose clock times fit two lengths, where the
  // shorter was taken for lack of ElapsedRaw.
  std::uint64_t ambiguous = 0;
  // Of those held: jobs that ran shorter than from Start to End, without a column Suspended. The
  // rest is taken as time in which they were suspended, off the end.
  std::uint64_t shortened = 0;
  std::uint64_t unknown_state = 0;  // of those held: in a state that Slurm does not have
  // Of those held: ended jobs whose used processor time or memory is known.
  std::uint64_t used = 0;
  bool operator==(const SacctCounts&) const = default;
};

// Takes the rows, at most limits::kBatchRows at once; the spans live for the call. An Error ends
// the reading and is returned. Identical rows are all given: the store knows them as one fact, and
// finding them here would need memory for every row.
struct SacctSink {
  std::function<Result<void>(std::span<const Holding>)> holdings;
  std::function<Result<void>(std::span<const RejectedRow>)> rejected;
  // Jobs that held nothing (ledger/job_without_time.h); empty: they are counted only.
  std::function<Result<void>(std::span<const Outcome>)> without_time = {};
  // What ended jobs used of processors and memory (ledger/host_usage.h); empty: it is not kept.
  std::function<Result<void>(std::span<const Outcome>)> usage = {};
};

}  // namespace pennyweight::slurm
