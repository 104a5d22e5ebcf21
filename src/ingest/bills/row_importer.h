// RowImporter: drives the reader of a bill's rows, counts them, and hands full batches of charges
// and rejected rows to the sink. Every form of every bill (CSV, Parquet, JSON) ends here.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.h"
#include "ingest/bills/import.h"
#include "ingest/bills/row_money.h"
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
    if (fault) return set_aside(line, row, *fault, reason_prefix() + fault->reason, row_text());
    return flush_if_full();
  }
  // Sets a row aside that could be read but is not to be taken.
  Result<void> set_aside(std::uint64_t line, const TextRow& row, const RowFault& fault,
                         const std::string& reason, std::string_view text);
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
  void measure(const TextRow& row, const RowFault& fault, AsideRow* kept);
  void measure_waiting();

  // A faulty row that came before the first good one.
  struct WaitingRow {
    std::vector<std::string> fields;
    std::vector<std::uint8_t> quoted;
    RowFault fault;
    std::optional<std::size_t> kept;  // its place among the rows of the summary
  };

  std::string file_;
  RowReaderFactory open_reader_;
  std::unique_ptr<RowReader> reader_;  // null before open()
  ImportSink& sink_;
  csv::Header header_;
  std::optional<RowMoney> money_;  // with header_
  std::vector<WaitingRow> waiting_;
  ImportSummary summary_;
  ChargeBuffer charges_;
  std::vector<RejectedRow> rejected_;
};

}  // namespace pennyweight::bill
