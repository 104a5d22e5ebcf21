// When nodes, or cards of them, were out of use, as a table.
//
//   cluster,node,gpu,begin,end,reason
//
// `node`, `begin` and `end` must be there; without a `gpu` it is the node as a whole. The columns
// in words, with an example: docs/formats.md.
#pragma once

#include <memory>
#include <string_view>

#include "core/error.h"
#include "ingest/inventory/options.h"
#include "ledger/fact_batch.h"
#include "ledger/outage.h"
#include "ledger/rejected_row.h"

namespace pennyweight::inventory {

class OutageReader {
 public:
  OutageReader(const Options& options, FactSink<Outage> outages, FactSink<RejectedRow> rejected);
  ~OutageReader();

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
