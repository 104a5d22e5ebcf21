// Money that people move from one owner to another, as a table.
//
//   cluster,name,begin,end,from,to,amount,currency,reason,author
//
// `name`, `begin`, `end`, `amount`, `currency` and `reason` must be there, and `from`, `to` or
// both: an owner as "team=nlp;user=ann"; empty is what nobody held. The columns in words, with an
// example: docs/formats.md.
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
  CorrectionReader(const Options& options, FactSink<Correction> corrections,
                   FactSink<RejectedRow> rejected);
  ~CorrectionReader();

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
