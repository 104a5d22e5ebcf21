// Reads the usage of GPUs from CSV, for telemetry without a reader of its own.
//
//   cluster,node,gpu,mig_instance,mig_profile,model,at,gpu_util,engine_active,sm_active,
//   memory_used_bytes,memory_total_bytes,workload,of_workload
//
// `node`, `gpu` and `at` are required, and one value. `gpu_util` is in percent, as nvidia-smi has
// it; `engine_active` and `sm_active` are ratios, as DCGM has them. docs/formats.md describes the
// columns.
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
  UsageReader(const TableOptions& options, FactSink<Usage> usages, FactSink<RejectedRow> rejected);
  ~UsageReader();

  // Takes the bytes of the file, cut anywhere. An Error is about the file as a whole, such as an
  // unknown column, or came from a sink; after one, feed nothing more. A bad row goes to
  // `rejected`.
  Result<void> feed(std::string_view chunk);
  Result<void> finish();
  const TableCounts& counts() const;

 private:
  class Table;
  std::unique_ptr<Table> table_;
};

}  // namespace pennyweight::inventory
