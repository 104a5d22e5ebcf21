#include "ingest/bill/csv_import.h"

#include <utility>

#include "ingest/bill/batch.h"
#include "ingest/csv/reader.h"

namespace pennyweight::bill {

class CsvImport::Rows : public csv::Sink {
 public:
  Rows(std::string file, std::unique_ptr<BillReader> of, ImportSink& sink)
      : format(std::move(of)),
        batch(std::move(file), *format, sink),
        reader({.require_rows = false}, *this) {}

  Result<void> header(const csv::Header& header) override { return batch.header(header); }
  Result<void> row(const csv::Row& row) override {
    return batch.take(
        row.line, {row.fields, row.quoted}, [] { return std::string(); },
        [&row] { return row.text; });
  }
  Result<void> bad_row(const csv::BadRow& row) override {
    return batch.reject(row.line, "", row.reason, row.text);
  }

  std::unique_ptr<BillReader> format;
  Batch batch;
  csv::Reader reader;
};

CsvImport::CsvImport(std::string file, std::unique_ptr<BillReader> reader, ImportSink& sink)
    : rows_(std::make_unique<Rows>(std::move(file), std::move(reader), sink)) {}
CsvImport::~CsvImport() = default;

Result<void> CsvImport::feed(std::string_view chunk) { return rows_->reader.feed(chunk); }

Result<ImportSummary> CsvImport::finish() {
  if (auto ok = rows_->reader.finish(); !ok) return std::unexpected(std::move(ok.error()));
  return rows_->batch.finish();
}

Result<ImportSummary> import_csv(std::string_view text, const std::string& file,
                                 std::unique_ptr<BillReader> reader, ImportSink& sink) {
  CsvImport import(file, std::move(reader), sink);
  if (auto ok = import.rows_->reader.read_all(text); !ok)
    return std::unexpected(std::move(ok.error()));
  return import.rows_->batch.finish();
}

}  // namespace pennyweight::bill
