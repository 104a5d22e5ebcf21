// Collects what the readers of sacct find, counts it, and hands it on in batches.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "ingest/slurm/job_record.h"
#include "ingest/slurm/sacct.h"

namespace pennyweight::slurm {

class SacctBatches {
 public:
  // `options` must outlive this.
  SacctBatches(const SacctOptions& options, SacctSink sink)
      : options_(options), sink_(std::move(sink)) {}

  // Makes holdings of a job, or a rejected row; `row` is its text, for the latter.
  Result<void> add_job(const JobRecord& job, std::uint64_t line, std::string_view row);
  // Keeps a row aside. A row of a job that could not even be read is added to `jobs` by the caller.
  Result<void> reject(std::uint64_t line, std::string_view column, std::string_view reason,
                      std::string_view row);
  Result<void> flush();

  SacctCounts counts;

 private:
  Result<void> flush_holdings();
  Result<void> flush_rejected();

  const SacctOptions& options_;
  SacctSink sink_;
  std::vector<Holding> holdings_;
  std::vector<RejectedRow> rejected_;
  std::size_t node_parts_ = 0;      // of all placements in holdings_: jobs may be wide
  std::size_t rejected_bytes_ = 0;  // of all texts in rejected_
};

}  // namespace pennyweight::slurm
