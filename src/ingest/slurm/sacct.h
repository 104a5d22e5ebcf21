// What reading Slurm's accounting takes and gives, whichever of its two forms it comes in:
// sacct_text.h (`sacct --parsable2`) and sacct_json.h (`sacct --json`).
//
// Both forms of one job give equal holdings. What becomes of a job: job_holdings.h.
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
#include "ledger/rejected_row.h"

namespace pennyweight::slurm {

struct SacctOptions {
  TimeZone zone;     // of the machine that ran sacct; its times are local. JSON has epoch seconds
  std::string file;  // the name to put into rejected rows
  // The cluster's configured name, over whatever the file says; without it the file must say.
  std::optional<ClusterId> cluster;
  // When the file was written, or later. Nothing in it may be after that; and where a running job
  // does not say how long it has run, it is held until then.
  std::optional<Instant> now;
  // Jobs without a list of nodes are somewhere in their partition. Otherwise: in the cluster, since
  // partitions overlap on most clusters.
  bool partitions_are_pools = false;
  char delimiter = '|';  // of sacct's --delimiter; not of JSON
};

// What became of the rows. Every job is exactly one of held, pending, never_started, zero_length
// and rejected; `rejected` also has the rows that are no job at all.
struct SacctCounts {
  std::uint64_t jobs = 0;              // records of jobs, steps left out
  std::uint64_t held = 0;              // jobs that gave holdings
  std::uint64_t holdings = 0;          // a job with several kinds of device gives several
  std::uint64_t running = 0;           // of those held: not ended when read
  std::uint64_t pending = 0;           // waiting, so nothing is held
  std::uint64_t never_started = 0;     // cancelled or failed while waiting
  std::uint64_t zero_length = 0;       // ended in the second in which they began
  std::uint64_t rejected = 0;          // rows kept aside
  std::uint64_t steps = 0;             // 12.batch, 12.0 …: parts of jobs, passed over
  std::uint64_t repeated_headers = 0;  // of files that were put together with cat
  // Of those held: jobs at the end of summer time whose clock times fit two lengths, and the
  // shorter was taken, for want of ElapsedRaw.
  std::uint64_t ambiguous = 0;
  bool operator==(const SacctCounts&) const = default;
};

// Where rows go, at most limits::kBatchRows at once; the spans live for the call. An error stops
// the reading and comes back from it. Identical rows are all handed on: the store knows them as one
// fact, and telling them apart here would need memory for every row.
struct SacctSink {
  std::function<Result<void>(std::span<const Holding>)> holdings;
  std::function<Result<void>(std::span<const RejectedRow>)> rejected;
};

}  // namespace pennyweight::slurm
