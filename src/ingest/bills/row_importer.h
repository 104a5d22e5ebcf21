// RowImporter: drives the reader of a bill's rows, counts them, and hands full batches of charges
// and rejected rows to the sink. Every form of every bill (CSV, Parquet, JSON) ends here.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.h"
#include "ingest/bills/import.h"
#include "ingest/bills/row_reader.h"

namespace pennyweight::bill {

class RowImporter {
 public:
  // `file` is what rejected rows name; `sink` must outlive the importer.
  RowImporter(std::string file, RowReaderFactory open_reader, ImportSink& sink)
      : file_(std::move(file)), open_reader_(std::move(open_reader)), sink_(sink) {}

  // Once, before any row.
  Result<void> open(const csv::Header& header);
  // Reads one row; a row with a fault is set aside. `row_text` gives the row as the file has it,
  // for the people who must look at it, and `reason_prefix` what the reason begins with; both are
  // called only for a row that is set aside.
  template <class ReasonPrefix, class RowText>
  Result<void> import_row(std::uint64_t line, const TextRow& row, const ReasonPrefix& reason_prefix,
                          const RowText& row_text) {
    const auto fault = read(line, row);
    if (fault) {
      auto ok = reject(line, fault->column, reason_prefix() + fault->reason, row_text());
      if (!ok) return ok;
    }
    return flush_if_full();
  }
  // A row that could not be split into fields. What is stored of it is made printable.
  Result<void> reject(std::uint64_t line, std::string column, const std::string& reason,
                      std::string_view text);
  // Hands over the rest.
  Result<ImportSummary> finish();

 private:
  std::optional<RowFault> read(std::uint64_t line, const TextRow& row);
  Result<void> flush_if_full();
  Result<void> flush();
  Result<void> flush_rejected();

  std::string file_;
  RowReaderFactory open_reader_;
  std::unique_ptr<RowReader> reader_;  // null before open()
  ImportSink& sink_;
  ImportSummary summary_;
  ChargeBuffer charges_;
  std::vector<RejectedRow> rejected_;
};

}  // namespace pennyweight::bill
