#include "ingest/bills/csv_import.h"

#include <utility>

#include "core/try.h"
#include "ingest/bills/row_importer.h"
#include "ingest/csv/reader.h"

namespace pennyweight::bill {

class CsvImport::CsvRows : public csv::Sink {
 public:
  CsvRows(std::string file, RowReaderFactory open_reader, ImportSink& sink)
      : importer(std::move(file), std::move(open_reader), sink),
        reader({.require_rows = false}, *this) {}

  Result<void> header(const csv::Header& header) override { return importer.open(header); }
  Result<void> row(const csv::Row& row) override {
    return importer.import_row(
        row.line, {row.fields, row.quoted}, [] { return std::string(); },
        [&row] { return row.text; });
  }
  Result<void> bad_row(const csv::BadRow& row) override {
    return importer.reject(row.line, "", row.reason, row.text);
  }

  RowImporter importer;
  csv::Reader reader;
};

CsvImport::CsvImport(std::string file, RowReaderFactory open_reader, ImportSink& sink)
    : rows_(std::make_unique<CsvRows>(std::move(file), std::move(open_reader), sink)) {}
CsvImport::~CsvImport() = default;

Result<void> CsvImport::feed(std::string_view chunk) { return rows_->reader.feed(chunk); }

Result<ImportSummary> CsvImport::finish() {
  TRY(rows_->reader.finish());
  return rows_->importer.finish();
}

Result<ImportSummary> import_csv(std::string_view text, const std::string& file,
                                 RowReaderFactory open_reader, ImportSink& sink) {
  CsvImport import(file, std::move(open_reader), sink);
  TRY(import.rows_->reader.read_all(text));
  return import.rows_->importer.finish();
}

}  // namespace pennyweight::bill
