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

  Result<void> header(const csv::Header& header) override {
    last_column = header.names().back();
    return importer.open(header);
  }
  Result<void> row(const csv::Row& row) override {
    // Without a line end nobody can see whether the last field is whole. Where it is an amount, or
    // says whose line it is, a file that was cut there would say something else.
    if (!row.has_line_end) {
      const std::string_view last = row.fields.back();
      const bool is_number =
          last.find_first_not_of("+-.,0123456789eE") == std::string_view::npos &&
          (!last.empty() || last_column.ends_with("Cost") || last_column.ends_with("cost"));
      const bool decides =
          decides_identity(last_column) || (decides_amounts(last_column) && is_number);
      if (decides && row.quoted.back() == 0) {
        const RowFault fault{last_column,
                             "the file ends here, without a line end: the last value may be cut; "
                             "fetch the file again, or end its last line if it is whole"};
        return importer.set_aside(row.line, {row.fields, row.quoted}, fault, fault.reason,
                                  row.text);
      }
      ends_without_line_end = true;
    }
    return importer.import_row(
        row.line, {row.fields, row.quoted}, [] { return std::string(); },
        [&row] { return row.text; });
  }
  Result<void> bad_row(const csv::BadRow& row) override {
    return importer.reject(row.line, "", row.reason, row.text);
  }

  Result<ImportSummary> finish() {
    auto summary = importer.finish();
    if (summary && ends_without_line_end) {
      summary->warnings.emplace_back(
          "the last line has no line end; if the file was cut off, its last field is not complete");
    }
    return summary;
  }

  RowImporter importer;
  csv::Reader reader;
  std::string last_column;
  bool ends_without_line_end = false;
};

CsvImport::CsvImport(std::string file, RowReaderFactory open_reader, ImportSink& sink)
    : rows_(std::make_unique<CsvRows>(std::move(file), std::move(open_reader), sink)) {}
CsvImport::~CsvImport() = default;

Result<void> CsvImport::feed(std::string_view chunk) { return rows_->reader.feed(chunk); }

Result<ImportSummary> CsvImport::finish() {
  TRY(rows_->reader.finish());
  return rows_->finish();
}

Result<ImportSummary> import_csv(std::string_view text, const std::string& file,
                                 RowReaderFactory open_reader, ImportSink& sink) {
  CsvImport import(file, std::move(open_reader), sink);
  TRY(import.rows_->reader.read_all(text));
  return import.rows_->finish();
}

}  // namespace pennyweight::bill
