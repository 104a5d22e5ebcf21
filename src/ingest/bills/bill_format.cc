#include "ingest/bills/bill_format.h"

#include <fmt/format.h>

#include <utility>

#include "core/limits.h"
#include "core/try.h"
#include "ingest/bills/csv_import.h"
#include "ingest/bills/json_records.h"
#include "ingest/bills/parquet_import.h"

namespace pennyweight::bill {
namespace {

// DuckDB reads the file by its path, so the bytes that are fed are ignored.
class ParquetImport : public BillImport {
 public:
  ParquetImport(BillFile file, RowReaderFactory open_reader, ImportSink& sink)
      : file_(std::move(file)), open_reader_(std::move(open_reader)), sink_(sink) {}

  Result<void> feed(std::string_view) override { return {}; }
  Result<ImportSummary> finish() override {
    return import_parquet(file_.path, file_.name, std::move(open_reader_), sink_);
  }

 private:
  BillFile file_;
  RowReaderFactory open_reader_;
  ImportSink& sink_;
};

// Collects the document, which is read as a whole.
class JsonDocumentImport : public BillImport {
 public:
  JsonDocumentImport(std::string file, RowReaderFactory open_reader, ImportSink& sink)
      : file_(std::move(file)), open_reader_(std::move(open_reader)), sink_(sink) {}

  Result<void> feed(std::string_view chunk) override {
    if (document_.size() + chunk.size() > limits::kDocumentBytesMax) {
      return fail(ErrorCode::kLimit, fmt::format("is larger than {} bytes; export it in pieces",
                                                 limits::kDocumentBytesMax));
    }
    document_.append(chunk);
    return {};
  }
  Result<ImportSummary> finish() override {
    return import_json(document_, file_, std::move(open_reader_), sink_);
  }

 private:
  std::string file_;
  std::string document_;
  RowReaderFactory open_reader_;
  ImportSink& sink_;
};

std::unique_ptr<BillImport> import_rows(BillEncoding encoding, const BillFile& file,
                                        RowReaderFactory open_reader, ImportSink& sink) {
  switch (encoding) {
    case BillEncoding::kCsv:
      return std::make_unique<CsvImport>(file.name, std::move(open_reader), sink);
    case BillEncoding::kParquet:
      return std::make_unique<ParquetImport>(file, std::move(open_reader), sink);
    case BillEncoding::kJson:
      break;
  }
  return std::make_unique<JsonDocumentImport>(file.name, std::move(open_reader), sink);
}

}  // namespace

std::string_view BillSettings::option(std::string_view key) const {
  const auto found = options.find(key);
  return found == options.end() ? std::string_view() : std::string_view(found->second);
}

bool has_json_name(std::string_view beginning, std::string_view name) {
  return beginning.find(fmt::format("\"{}\"", name)) != std::string_view::npos;
}

Result<std::unique_ptr<BillImport>> open_bill(const BillFormat& format, BillEncoding encoding,
                                              const BillFile& file, const BillSettings& settings,
                                              ImportSink& sink) {
  if (encoding == BillEncoding::kJson && format.open_json != nullptr) {
    return format.open_json(file.name, sink);
  }
  auto open_reader = TRY(format.open(settings));
  return import_rows(encoding, file, std::move(open_reader), sink);
}

std::unique_ptr<BillImport> open_survey_of(BillEncoding encoding, const BillFile& file,
                                           OptionSurvey& survey, ImportSink& sink) {
  return import_rows(encoding, file, survey.reader(), sink);
}

}  // namespace pennyweight::bill
