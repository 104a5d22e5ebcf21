// What GPUs were seen to do, as a table: for telemetry that no other reader here knows.
//
//   cluster,node,gpu,mig_instance,mig_profile,model,at,gpu_util,engine_active,sm_active,
//   memory_used_bytes,memory_total_bytes,workload,of_workload
//
// `node`, `gpu` and `at` must be there, and one value. `gpu_util` is in percent, as nvidia-smi has
// it; `engine_active` and `sm_active` are ratios, as DCGM has them. The columns in words, with an
// example: docs/formats.md.
#pragma once

#include <memory>
#include <string_view>

#include "core/error.h"
#include "ingest/inventory/options.h"
#include "ledger/fact_batch.h"
#include "ledger/rejected_row.h"
#include "ledger/usage.h"

namespace pennyweight::inventory {

class UsageReader {
 public:
  UsageReader(const Options& options, FactSink<Usage> usages, FactSink<RejectedRow> rejected);
  ~UsageReader();

  // Bytes in any cut. An Error is about the file as a whole (also: a column that is none of these),
  // or the sink's; a row that is not in order goes to `rejected`. Nothing may be fed after an
  // Error.
  Result<void> feed(std::string_view chunk);
  Result<void> finish();
  const Counts& counts() const;

 private:
  class Table;
  std::unique_ptr<Table> table_;
};

}  // namespace pennyweight::inventory
