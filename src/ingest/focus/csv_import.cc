#include "ingest/focus/csv_import.h"

#include <utility>

#include "ingest/csv/reader.h"
#include "ingest/focus/batch.h"

namespace pennyweight::focus {

class CsvImport::Rows : public csv::Sink {
 public:
  Rows(std::string file, ImportSink& sink) : batch(std::move(file), sink), reader({}, *this) {}

  Result<void> header(const csv::Header& header) override { return batch.header(header); }
  Result<void> row(const csv::Row& row) override {
    if (auto fault = batch.take(row.line, row.fields, row.quoted)) {
      return batch.reject(row.line, std::move(fault->column), fault->reason, row.text);
    }
    return batch.is_full() ? batch.flush() : Result<void>{};
  }
  Result<void> bad_row(const csv::BadRow& row) override {
    return batch.reject(row.line, "", row.reason, row.text);
  }

  Batch batch;
  csv::Reader reader;
};

CsvImport::CsvImport(std::string file, ImportSink& sink)
    : rows_(std::make_unique<Rows>(std::move(file), sink)) {}
CsvImport::~CsvImport() = default;

Result<void> CsvImport::feed(std::string_view chunk) { return rows_->reader.feed(chunk); }

Result<ImportSummary> CsvImport::finish() {
  if (auto ok = rows_->reader.finish(); !ok) return std::unexpected(std::move(ok.error()));
  return rows_->batch.finish();
}

Result<ImportSummary> import_csv(std::string_view text, const std::string& file, ImportSink& sink) {
  CsvImport import(file, sink);
  if (auto ok = import.rows_->reader.read_all(text); !ok)
    return std::unexpected(std::move(ok.error()));
  return import.rows_->batch.finish();
}

}  // namespace pennyweight::focus
