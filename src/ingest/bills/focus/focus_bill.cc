#include "ingest/bills/focus/focus_bill.h"

#include "ingest/bills/csv_import.h"
#include "ingest/bills/focus/focus_row_reader.h"
#include "ingest/bills/parquet_import.h"

namespace pennyweight::focus {
bill::RowReaderFactory focus_bill() {
  return [](const csv::Header& header) { return bill::boxed(FocusRowReader::open(header)); };
}

Result<ImportSummary> import_csv(std::string_view text, const std::string& file, ImportSink& sink) {
  return bill::import_csv(text, file, focus_bill(), sink);
}

Result<ImportSummary> import_parquet(const std::string& path, ImportSink& sink) {
  return bill::import_parquet(path, path, focus_bill(), sink);
}

}  // namespace pennyweight::focus
