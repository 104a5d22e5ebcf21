// The GPUs of a fleet, card by card, with their MIG layout.
//
//   cluster,node,uuid,index,model,memory_mib,mig,from,to
//
// `node`, `uuid` and `from` must be there. `mig` is "MIG-1=3g.20gb;MIG-2=1g.5gb"; where the model
// is known, its geometry must allow the profiles, and all together. A new layout is a further row.
// The columns in words, with an example: docs/formats.md.
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
  GpuReader(const Options& options, FactSink<Gpu> gpus, FactSink<RejectedRow> rejected);
  ~GpuReader();

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
