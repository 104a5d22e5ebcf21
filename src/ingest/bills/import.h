// What the import of a bill hands over and counts, whatever the format of the bill.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "ledger/bill_statement.h"
#include "ledger/charge.h"
#include "ledger/rejected_row.h"

namespace pennyweight::bill {

// Receives the charges and the rejected rows in the order of the file, about limits::kBatchRows at
// a time. The spans live until the call returns. An Error ends the import, which returns it.
class ImportSink {
 public:
  virtual ~ImportSink() = default;
  virtual Result<void> charges(std::span<const Charge> charges) = 0;
  virtual Result<void> rejected(std::span<const RejectedRow> rows) = 0;
};

// ENSURES: rows == imported + rejected + the sum of skipped.
struct ImportSummary {
  std::string kind;            // "FOCUS 1.2", "AWS CUR 2.0": detected from the header
  std::uint64_t rows = 0;      // of the file
  std::uint64_t imported = 0;  // rows that became charges
  std::uint64_t charges = 0;   // a row may become several
  std::uint64_t rejected = 0;
  std::map<std::string, std::uint64_t> skipped;  // rows, by reason
  std::uint64_t rounded_numbers = 0;             // digits beyond 10^-18; of imported rows
  std::uint64_t unread_json = 0;      // JSON values that are not flat objects, stored as text in
                                      // other_columns; of imported rows
  std::vector<std::string> warnings;  // about the file as a whole, a sentence each
  // The money of these rows. What a row that was set aside costs is known where its fault is in a
  // column that no amount depends on; what a skipped row says is its own cost column, four times.
  MoneyOfRows taken, aside;
  std::map<std::string, MoneyOfRows> passed_over;  // as skipped
  std::vector<AsideRow> aside_rows;                // in order; at most limits::kAsideRowsStatedMax
};

// A bill on its way from its bytes to the sink.
class BillImport {
 public:
  virtual ~BillImport() = default;

  // Takes the bytes of the file, cut anywhere. An Error is about the file as a whole or came from
  // the sink; after one, feed nothing more and discard what was handed over.
  virtual Result<void> feed(std::string_view chunk) = 0;
  // Once, after the last byte.
  virtual Result<ImportSummary> finish() = 0;
};

}  // namespace pennyweight::bill
