// Reads outages from CSV: when nodes, or single GPUs of them, were out of use.
//
//   cluster,node,gpu,begin,end,reason
//
// `node`, `begin` and `end` are required; without a `gpu` the whole node was out of use.
// docs/formats.md describes the columns.
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
  OutageReader(const TableOptions& options, FactSink<Outage> outages,
               FactSink<RejectedRow> rejected);
  ~OutageReader();

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
