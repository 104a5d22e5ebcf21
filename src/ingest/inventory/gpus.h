// Reads an inventory of GPUs from CSV, with their MIG layouts.
//
//   cluster,node,uuid,index,model,memory_mib,mig,from,to
//
// `node`, `uuid` and `from` are required. `mig` is "MIG-1=3g.20gb;MIG-2=1g.5gb"; if the model is
// known, its geometry must allow the profiles, also all together. A new layout is a further row.
// docs/formats.md describes the columns.
#pragma once

#include <memory>
#include <string_view>

#include "core/error.h"
#include "ingest/inventory/options.h"
#include "ledger/fact_batch.h"
#include "ledger/node.h"
#include "ledger/rejected_row.h"

namespace pennyweight::inventory {

class GpuReader {
 public:
  GpuReader(const TableOptions& options, FactSink<Gpu> gpus, FactSink<RejectedRow> rejected);
  ~GpuReader();

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
