// One element of "jobs" in `sacct --json`: from JSON to a JobRecord.
#pragma once

#include <simdjson.h>

#include <cstdint>
#include <expected>

#include "ingest/slurm/job_record.h"
#include "ingest/slurm/rejection.h"

namespace pennyweight::slurm {

struct JsonJob {
  JobRecord record;  // its texts live as long as the parser's document
  std::uint64_t steps = 0;
};

// The rejection's column is the path of the field at fault, "time/start".
std::expected<JsonJob, Rejection> read_json_job(simdjson::dom::element job);

}  // namespace pennyweight::slurm
