// Batch: rows of texts in, full batches of charges and rejected rows out, counted. What every file
// of every bill has in common.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "ingest/bill/bill_reader.h"
#include "ingest/bill/import.h"

namespace pennyweight::bill {

class Batch {
 public:
  // `reader` and `sink` must outlive the batch.
  Batch(std::string file, BillReader& reader, ImportSink& sink)
      : file_(std::move(file)), reader_(reader), sink_(sink) {}

  // Once, before any row.
  Result<void> header(const csv::Header& header) { return reader_.header(header); }
  // One row, read; what is wrong with it is kept aside. `text` is the row as the file has it, for
  // those who must look at it, and `before` begins the reason; both are asked for only then.
  template <class Before, class TextOfRow>
  Result<void> take(std::uint64_t line, const TextRow& row, const Before& before,
                    const TextOfRow& text) {
    const auto fault = read(line, row);
    if (fault) {
      auto ok = reject(line, fault->column, before() + fault->reason, text());
      if (!ok) return ok;
    }
    return flush_if_full();
  }
  // A row that could not be cut into fields. What is kept of it is made printable.
  Result<void> reject(std::uint64_t line, std::string column, const std::string& reason,
                      std::string_view text);
  // Hands over the rest.
  Result<ImportSummary> finish();

 private:
  std::optional<Fault> read(std::uint64_t line, const TextRow& row);
  Result<void> flush_if_full();
  Result<void> flush();
  Result<void> flush_rejected();

  std::string file_;
  BillReader& reader_;
  ImportSink& sink_;
  ImportSummary summary_;
  Lines lines_;
  std::vector<RejectedRow> rejected_;
};

}  // namespace pennyweight::bill
