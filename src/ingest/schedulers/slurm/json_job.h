// Reads one element of "jobs" in `sacct --json` into a JobRecord.
#pragma once

#include <simdjson.h>

#include <cstdint>
#include <expected>

#include "ingest/schedulers/slurm/job_record.h"
#include "ingest/schedulers/slurm/rejection.h"

namespace pennyweight::slurm {

struct JsonJob {
  JobRecord record;  // its texts live as long as the parser's document
  std::uint64_t steps = 0;
};

// The rejection's column is the path of the field at fault, "time/start".
std::expected<JsonJob, Rejection> read_json_job(simdjson::dom::element job);

}  // namespace pennyweight::slurm
