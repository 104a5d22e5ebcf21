// Reads `sacct --parsable2` (and `--parsable`, with a '|' at the end of each line): a table of any
// columns in any order, which its first line names.
//
//   sacct --allusers --duplicates --parsable2 --starttime=2026-03-01 --endtime=2026-04-01
//         --format=JobID,JobName,Partition,Account,User,State,Start,End,ElapsedRaw,Suspended,
//                  AllocCPUS,AllocTRES,NodeList,QOS,Cluster,Comment
//
// is best. Required are JobID or JobIDRaw, Start, End or Elapsed, and AllocTRES. Do not use
// --truncate: a run that is cut at the edge of a window has another start, and so looks like
// another run.
//
// With TotalCPU, and TRESUsageInTot or MaxRSS and NTasks, it also tells how much processor time and
// memory jobs used (ledger/host_usage.h). TotalCPU is in a job's own row, the memory in those of
// its steps, which follow it. With --allocations, sacct reads no steps, and prints 0 and nothing.
//
// Job steps hold nothing of their own and are skipped. sacct quotes nothing, so a '|' or a line
// break in JobName, Comment or SubmitLine gives a row with another number of fields: it is rejected
// with this reason, not guessed at.
//
// The file is read as a stream: memory does not depend on its length.
#pragma once

#include <array>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/schedulers/slurm/job_record.h"
#include "ingest/schedulers/slurm/rejection.h"
#include "ingest/schedulers/slurm/sacct.h"
#include "ingest/schedulers/slurm/sacct_batches.h"

namespace pennyweight::slurm {

class SacctText {
 public:
  SacctText(SacctOptions options, SacctSink sink);
  SacctText(const SacctText&) = delete;
  SacctText& operator=(const SacctText&) = delete;

  // The next bytes of the file, in chunks of any length. An Error is about the file as a whole (it
  // is not sacct's, a required column is missing) or comes from the sink; it is final.
  Result<void> feed(std::string_view chunk);
  // After the last byte: gives on what is left.
  Result<SacctCounts> finish();

 private:
  enum Column : std::size_t {
    kJobId,
    kJobIdRaw,
    kJobName,
    kPartition,
    kAccount,
    kUser,
    kState,
    kStart,
    kEnd,
    kElapsed,
    kElapsedRaw,
    kSuspended,
    kNCpus,
    kAllocCpus,
    kAllocTres,
    kNodeList,
    kQos,
    kCluster,
    kComment,
    kWcKey,
    kReservation,
    kTimelimit,
    kTimelimitRaw,
    kSubmit,
    kEligible,
    kExitCode,
    kTotalCpu,
    kMaxRss,
    kNTasks,
    kTresUsageInTot,
    kColumnCount
  };

  Result<void> end_line();
  Result<void> read_header(std::string_view line);
  Result<void> read_given_columns();
  Result<void> read_row(std::string_view line);
  bool split(std::string_view line);
  std::string_view field(Column column) const;
  std::expected<void, Rejection> read_times(JobRecord& job) const;
  std::expected<void, Rejection> read_durations(JobRecord& job) const;
  std::expected<void, Rejection> read_resources(JobRecord& job) const;
  std::expected<std::optional<RecordedTime>, Rejection> read_time(Column column) const;

  const SacctOptions options_;
  SacctBatches batches_;
  std::optional<Error> failed_;
  std::string line_;  // the line so far, cut at limits::kRowBytesMax
  bool line_is_too_long_ = false;
  std::uint64_t line_number_ = 1;
  std::string header_;        // empty until it has been read
  std::string given_header_;  // of SacctOptions::columns
  std::size_t field_count_ = 0;
  bool has_trailing_bar_ = false;
  std::array<std::optional<std::size_t>, kColumnCount> positions_{};
  std::vector<std::string_view> fields_;  // of the row that is being read
};

}  // namespace pennyweight::slurm
