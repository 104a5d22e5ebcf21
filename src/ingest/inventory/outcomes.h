// What workloads did for somebody, counted elsewhere, as a table: requests, tokens, or whatever an
// operator counts.
//
//   cluster,workload,measure,begin,end,count,model,user,client,label:KEY…
//
// `workload`, `measure`, `begin`, `end` and `count` must be there. The columns in words, with an
// example: docs/formats.md.
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

// Of one row. What is more was not counted but is a mistake.
inline constexpr std::uint64_t kOutcomeCountMax = 1'000'000'000'000'000'000;

class OutcomeReader {
 public:
  OutcomeReader(const Options& options, FactSink<Outcome> outcomes, FactSink<RejectedRow> rejected);
  ~OutcomeReader();

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
