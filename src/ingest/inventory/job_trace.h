// Reads jobs of a trace from CSV: who wanted how many GPUs, when, and for how long. A trace says
// nothing of nodes, so each job held its GPUs somewhere.
//
//   job,submit,gpus,duration_s,start,team,user,account,vcpu,memory_gib,gpu_model,time_limit_minutes
//
// Columns that published traces call otherwise are known by these names too: `job_id`,
// `submit_time`, `timestamp`, `gpu_num`, `num_gpus`, `duration`, `start_time`, `cpu_num`, `vc`, and
// `cluster` beside `timestamp` (a virtual cluster, as Philly's are). What a replay does not read
// (`state`, `end_time`, `node_num`, `jobname`, `queue`, `gpu_time`) may be there.
// docs/guide/what-if.md describes the columns.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "core/error.h"
#include "core/id.h"
#include "ingest/inventory/options.h"
#include "ledger/fact_batch.h"
#include "ledger/holding.h"
#include "ledger/rejected_row.h"

namespace pennyweight::inventory {

// Whether a header is one of a trace: it has a column for the GPUs and one for the length of a job.
bool is_job_trace(std::string_view header_line);

// A job's label submit_time is there where the trace says when it started: without that nothing is
// known of waiting, and it held its GPUs from its submission on.
class JobTraceReader {
 public:
  JobTraceReader(const TableOptions& options, FactSink<Holding> jobs,
                 FactSink<RejectedRow> rejected);
  ~JobTraceReader();

  // Takes the bytes of the file, cut anywhere. An Error is about the file as a whole; after one,
  // feed nothing more. A bad row goes to `rejected`: one that holds no time, is there twice or
  // starts before it is submitted among them.
  Result<void> feed(std::string_view chunk);
  Result<void> finish();
  const TableCounts& counts() const;

 private:
  class Table;
  struct Seen;
  std::unique_ptr<Seen> seen_;
  std::unique_ptr<Table> table_;
};

}  // namespace pennyweight::inventory
