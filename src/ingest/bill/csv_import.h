// CsvImport: a bill as CSV, fed in chunks, → batches of charges, in bounded memory.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "core/error.h"
#include "ingest/bill/bill_reader.h"
#include "ingest/bill/import.h"

namespace pennyweight::bill {

class CsvImport {
 public:
  // `file` is what rejected rows name; `sink` must outlive the import.
  CsvImport(std::string file, std::unique_ptr<BillReader> reader, ImportSink& sink);
  ~CsvImport();
  CsvImport(const CsvImport&) = delete;
  CsvImport& operator=(const CsvImport&) = delete;

  // Bytes in any cut. An Error is about the file as a whole or came from the sink; nothing may be
  // fed after it, and what was handed over before it is not to be kept.
  Result<void> feed(std::string_view chunk);
  Result<ImportSummary> finish();

 private:
  friend Result<ImportSummary> import_csv(std::string_view, const std::string&,
                                          std::unique_ptr<BillReader>, ImportSink&);
  class Rows;
  std::unique_ptr<Rows> rows_;
};

// A whole text at once, without a copy of it.
Result<ImportSummary> import_csv(std::string_view text, const std::string& file,
                                 std::unique_ptr<BillReader> reader, ImportSink& sink);

}  // namespace pennyweight::bill
