// Who held which GPUs, from when to when, as a table of our own.
//
//   cluster,workload,attempt,begin,end,node,gpu,mig,pool,devices,profile,fraction,compute_fraction,
//   memory_fraction,device,gpu_model,vcpu,memory_gib,claim,gpu_group,reservation, and labels: team,
//   project, …, label:KEY
//
// `workload` and `begin` must be there; without an `end` it still runs. A row names exactly one of
//   gpu    GPU-1;GPU-2       these cards
//   mig    MIG-1;MIG-2       these MIG instances
//   node   n1 and devices=4, or n1=4;n2=4
//   pool   a;b and devices=8: that many devices somewhere in these pools; * for anywhere
// and at most one of `profile`, `fraction` and `device`: shard, mps, replica, "vgpu cores=30
// memory=4294967296", or any other text that ledger/holding.h gives a device. The columns in words,
// with an example: docs/formats.md.
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
