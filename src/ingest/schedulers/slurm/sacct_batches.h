// SacctBatches: collects what the readers of sacct find, counts it, and gives it on in batches.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "ingest/schedulers/slurm/job_record.h"
#include "ingest/schedulers/slurm/sacct.h"
#include "ledger/host_usage.h"

namespace pennyweight::slurm {

class SacctBatches {
 public:
  // `options` must outlive this.
  SacctBatches(const SacctOptions& options, SacctSink sink)
      : options_(options), sink_(std::move(sink)) {}

  // Makes holdings of a job, or a rejected row with the text `row`.
  Result<void> add_job(const JobRecord& job, std::uint64_t line, std::string_view row);
  // A step of the job that was added last, with the most memory that its tasks had in use, and how
  // many they were. Steps of other jobs are passed over.
  void add_step(std::string_view id, std::optional<std::uint64_t> memory_peak_kib,
                std::optional<std::uint64_t> tasks);
  // Sets a row aside. The caller counts a job that could not even be read in `jobs`.
  Result<void> reject(std::uint64_t line, std::string_view column, std::string_view reason,
                      std::string_view row);
  Result<void> flush();

  SacctCounts counts;

 private:
  Result<void> flush_holdings();
  Result<void> flush_rejected();
  Result<void> flush_without_time();
  Result<void> end_run();

  // The job that was added last, until its steps have been read.
  struct OpenRun {
    std::vector<Holding> holdings;  // at least one
    HostUsage used;
    bool is_peak_unknown = false;  // some step does not tell that of all its tasks
    std::uint64_t tasks = 0;       // of the step that had most; 0: not known
    std::uint64_t line;
  };

  const SacctOptions& options_;
  SacctSink sink_;
  std::vector<Holding> holdings_;
  std::vector<RejectedRow> rejected_;
  std::vector<Outcome> without_time_;
  std::vector<Outcome> usage_;
  std::optional<OpenRun> run_;
  std::size_t node_parts_ = 0;      // of all placements in holdings_: jobs may be wide
  std::size_t rejected_bytes_ = 0;  // of all texts in rejected_
};

}  // namespace pennyweight::slurm
