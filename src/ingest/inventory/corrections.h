// Reads corrections from CSV: money that people move from one owner to another.
//
//   cluster,name,begin,end,from,to,amount,currency,reason,author
//
// `name`, `begin`, `end`, `amount`, `currency` and `reason` are required, and `from`, `to` or
// both: an owner as "team=nlp;user=ann"; empty is the unallocated cost. docs/formats.md describes
// the columns.
#pragma once

#include <memory>
#include <string_view>

#include "core/error.h"
#include "ingest/inventory/options.h"
#include "ledger/correction.h"
#include "ledger/fact_batch.h"
#include "ledger/rejected_row.h"

namespace pennyweight::inventory {

class CorrectionReader {
 public:
  CorrectionReader(const TableOptions& options, FactSink<Correction> corrections,
                   FactSink<RejectedRow> rejected);
  ~CorrectionReader();

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
