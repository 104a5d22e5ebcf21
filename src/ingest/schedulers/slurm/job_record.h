// JobRecord: one job as Slurm recorded it, from either form of sacct, before it is interpreted.
//
// Its texts are views into the row that is being read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/instant.h"
#include "ingest/schedulers/slurm/tres.h"
#include "ledger/host_usage.h"

namespace pennyweight::slurm {

// A recorded time. A local time in the hour that occurs twice at the end of summer time is one of
// two.
struct RecordedTime {
  Instant earlier;
  Instant later;  // the same as `earlier`, except in that hour
  bool operator==(const RecordedTime&) const = default;
};

struct JobRecord {
  std::string id;  // "12345", "12345_7" of an array, "12345+1" of a heterogeneous job
  std::string_view cluster;
  std::string_view account, user, partition, qos, job_name, state, wckey, comment, reservation;
  std::string_view node_list;
  std::optional<std::uint64_t> time_limit_minutes;
  std::optional<RecordedTime> start, end;
  std::optional<RecordedTime> submit;    // when it was submitted
  std::optional<RecordedTime> eligible;  // since when it could run
  std::string exit_code;                 // as sacct writes it, "1:0": of the script, and the signal
  std::optional<std::uint64_t> elapsed_ms;  // without suspended_ms, as Slurm counts
  std::optional<std::uint64_t> suspended_ms;
  Tres tres;
  // What it used of its hosts, where the record says so. `used` is of the job itself; a step's peak
  // of memory may come later, in a row of its own.
  HostUsage used = {};
  std::uint64_t tasks = 0;  // of the step that had most, as far as the record says; 0: not known
};

}  // namespace pennyweight::slurm
