// CsvImport: reads a bill in CSV, fed in chunks, into batches of charges, in bounded memory.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "core/error.h"
#include "ingest/bills/import.h"
#include "ingest/bills/row_reader.h"

namespace pennyweight::bill {

class CsvImport : public BillImport {
 public:
  // `file` is what rejected rows name; `sink` must outlive the import.
  CsvImport(std::string file, RowReaderFactory open_reader, ImportSink& sink);
  ~CsvImport() override;
  CsvImport(const CsvImport&) = delete;
  CsvImport& operator=(const CsvImport&) = delete;

  Result<void> feed(std::string_view chunk) override;
  Result<ImportSummary> finish() override;

 private:
  friend Result<ImportSummary> import_csv(std::string_view, const std::string&, RowReaderFactory,
                                          ImportSink&);
  class CsvRows;
  std::unique_ptr<CsvRows> rows_;
};

// A whole text at once, without a copy of it.
Result<ImportSummary> import_csv(std::string_view text, const std::string& file,
                                 RowReaderFactory open_reader, ImportSink& sink);

}  // namespace pennyweight::bill
