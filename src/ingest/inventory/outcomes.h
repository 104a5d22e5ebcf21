// Reads outcomes from CSV: what workloads delivered, counted elsewhere: requests, tokens, or any
// other measure.
//
//   cluster,workload,measure,begin,end,count,model,user,client,label:KEY…
//
// `workload`, `measure`, `begin`, `end` and `count` are required. docs/formats.md describes the
// columns.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "core/error.h"
#include "ingest/inventory/options.h"
#include "ledger/fact_batch.h"
#include "ledger/outcome.h"
#include "ledger/rejected_row.h"

namespace pennyweight::inventory {

// Of one row. A larger count is a mistake.
inline constexpr std::uint64_t kOutcomeCountMax = 1'000'000'000'000'000'000;

class OutcomeReader {
 public:
  OutcomeReader(const TableOptions& options, FactSink<Outcome> outcomes,
                FactSink<RejectedRow> rejected);
  ~OutcomeReader();

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
