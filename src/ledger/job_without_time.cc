#include "ledger/job_without_time.h"

#include <string>
#include <utility>

#include "core/check.h"

namespace pennyweight {

bool is_measure_of_jobs_without_time(std::string_view measure) {
  return measure == kJobsNeverStarted || measure == kJobsOfZeroLength;
}

Outcome job_without_time(ClusterId cluster, WorkloadId workload, std::string_view measure,
                         Instant at, Labels labels) {
  CHECK(is_measure_of_jobs_without_time(measure), "it is one of the two");
  // An outcome has a time, and the shortest there is stands for the instant.
  Outcome job(std::move(cluster), std::move(workload), std::string(measure),
              Interval(at, at + std::chrono::milliseconds(1)), 1);
  job.labels = std::move(labels);
  return job;
}

}  // namespace pennyweight
