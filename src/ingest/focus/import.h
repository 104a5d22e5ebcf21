// What an import of a FOCUS bill hands over and counts, whatever the file's format.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/error.h"
#include "ingest/focus/column.h"
#include "ledger/charge.h"
#include "ledger/rejected_row.h"

namespace pennyweight::focus {

// Who takes what was read, in the order of the file, at most limits::kBatchRows at once. The spans
// live until the call returns. An Error ends the import and is what it returns.
class ImportSink {
 public:
  virtual ~ImportSink() = default;
  virtual Result<void> charges(std::span<const Charge> charges) = 0;
  virtual Result<void> rejected(std::span<const RejectedRow> rows) = 0;
};

// ENSURES: rows == taken + rejected.
struct ImportSummary {
  Version version = Version::k1_0;  // as the header tells
  std::uint64_t rows = 0;
  std::uint64_t taken = 0;
  std::uint64_t rejected = 0;
  std::uint64_t rounded_numbers = 0;  // had digits beyond 10^-18; of taken rows
  std::uint64_t unread_json = 0;  // Tags and SkuPriceDetails that are no flat JSON object: kept as
                                  // text in other_columns; of taken rows
  std::vector<std::string> warnings;  // about the file as a whole, a sentence each
};

}  // namespace pennyweight::focus
