// What an import of a bill hands over and counts, whatever its format.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/error.h"
#include "ledger/charge.h"
#include "ledger/rejected_row.h"

namespace pennyweight::bill {

// Who takes what was read, in the order of the file, about limits::kBatchRows at once. The spans
// live until the call returns. An Error ends the import and is what it returns.
class ImportSink {
 public:
  virtual ~ImportSink() = default;
  virtual Result<void> charges(std::span<const Charge> charges) = 0;
  virtual Result<void> rejected(std::span<const RejectedRow> rows) = 0;
};

// ENSURES: rows == taken + rejected + the sum of passed_over.
struct ImportSummary {
  std::string kind;           // "FOCUS 1.2", "AWS CUR 2.0": as the header tells
  std::uint64_t rows = 0;     // of the file
  std::uint64_t taken = 0;    // of them, that became lines
  std::uint64_t charges = 0;  // the lines: a row may become several
  std::uint64_t rejected = 0;
  std::map<std::string, std::uint64_t> passed_over;  // by reason
  std::uint64_t rounded_numbers = 0;                 // had digits beyond 10^-18; of taken rows
  std::uint64_t unread_json = 0;      // JSON columns that are no flat object: kept as text in
                                      // other_columns; of taken rows
  std::vector<std::string> warnings;  // about the file as a whole, a sentence each
};

}  // namespace pennyweight::bill
