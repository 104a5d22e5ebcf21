// Derives the interval in which a job held its resources from its recorded times.
//
// Slurm records Start, End, Suspended and Elapsed, where Elapsed = End − Start − Suspended
// (as_mysql_jobacct_process.c). The four must agree, or the row is refused. For wall-clock times in
// the hour that occurs twice at the end of summer time, Elapsed shows which hour is meant. Without
// Elapsed the shortest length that fits is taken, so that nobody is charged for an hour that no
// record proves, and the span is marked as ambiguous.
//
// A suspended job gives up its GPUs, but no record says when, so suspended time is taken off the
// end.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>

#include "core/instant.h"
#include "ingest/schedulers/slurm/job_record.h"
#include "ingest/schedulers/slurm/rejection.h"

namespace pennyweight::slurm {

struct JobSpan {
  Instant begin;
  Instant end;  // not before begin; the same for a job of no length
  std::uint64_t suspended_ms = 0;
  bool ambiguous = false;
  bool operator==(const JobSpan&) const = default;
};

// A job that has ended. REQUIRES: start and end.
std::expected<JobSpan, Rejection> ended_job_span(const JobRecord& job);

// A job that was running when the record was read: it lasts as long as Elapsed says, else until
// `now`. REQUIRES: start, and no end.
std::expected<JobSpan, Rejection> running_job_span(const JobRecord& job,
                                                   std::optional<Instant> now);

}  // namespace pennyweight::slurm
