// Reads holdings from CSV: which workload held which GPUs, from when to when.
//
//   cluster,workload,attempt,begin,end,node,gpu,mig,pool,devices,profile,fraction,compute_fraction,
//   memory_fraction,device,gpu_model,vcpu,memory_gib,claim,gpu_group,reservation, and labels: team,
//   project, …, label:KEY
//
// `workload` and `begin` are required; without an `end` the workload still runs. A row names
// exactly one of
//   gpu    GPU-1;GPU-2       these GPUs
//   mig    MIG-1;MIG-2       these MIG instances
//   node   n1 and devices=4, or n1=4;n2=4
//   pool   a;b and devices=8: that many devices somewhere in these pools; * for anywhere
// and at most one of `profile`, `fraction` and `device`: shard, mps, replica, "vgpu cores=30
// memory=4294967296", or any other text that ledger/holding.h gives a device. docs/formats.md
// describes the columns.
#pragma once

#include <memory>
#include <string_view>

#include "core/error.h"
#include "ingest/inventory/options.h"
#include "ledger/fact_batch.h"
#include "ledger/holding.h"
#include "ledger/rejected_row.h"

namespace pennyweight::inventory {

class HoldingReader {
 public:
  HoldingReader(const HoldingOptions& options, FactSink<Holding> holdings,
                FactSink<RejectedRow> rejected);
  ~HoldingReader();

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
