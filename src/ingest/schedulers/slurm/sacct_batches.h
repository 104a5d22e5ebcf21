// SacctBatches: collects what the readers of sacct find, counts it, and gives it on in batches.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "ingest/schedulers/slurm/job_record.h"
#include "ingest/schedulers/slurm/sacct.h"

namespace pennyweight::slurm {

class SacctBatches {
 public:
  // `options` must outlive this.
  SacctBatches(const SacctOptions& options, SacctSink sink)
      : options_(options), sink_(std::move(sink)) {}

  // Makes holdings of a job, or a rejected row with the text `row`.
  Result<void> add_job(const JobRecord& job, std::uint64_t line, std::string_view row);
  // Sets a row aside. The caller counts a job that could not even be read in `jobs`.
  Result<void> reject(std::uint64_t line, std::string_view column, std::string_view reason,
                      std::string_view row);
  Result<void> flush();

  SacctCounts counts;

 private:
  Result<void> flush_holdings();
  Result<void> flush_rejected();
  Result<void> flush_without_time();

  const SacctOptions& options_;
  SacctSink sink_;
  std::vector<Holding> holdings_;
  std::vector<RejectedRow> rejected_;
  std::vector<Outcome> without_time_;
  std::size_t node_parts_ = 0;      // of all placements in holdings_: jobs may be wide
  std::size_t rejected_bytes_ = 0;  // of all texts in rejected_
};

}  // namespace pennyweight::slurm
