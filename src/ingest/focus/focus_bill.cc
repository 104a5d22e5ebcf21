#include "ingest/focus/focus_bill.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "core/check.h"
#include "ingest/bill/csv_import.h"
#include "ingest/bill/parquet_import.h"
#include "ingest/focus/charge_reader.h"

namespace pennyweight::focus {
namespace {

class FocusBill : public bill::BillReader {
 public:
  Result<void> header(const csv::Header& header) override {
    auto reader = ChargeReader::of(header);
    if (!reader) return std::unexpected(std::move(reader.error()));
    reader_.emplace(std::move(*reader));
    return {};
  }
  Outcome read(const bill::TextRow& row, bill::Lines& lines) override {
    CHECK(reader_.has_value(), "the header comes before the rows");
    return {.fault = reader_->read(row.fields, row.quoted, lines.add_used())};
  }
  void describe(ImportSummary& summary) const override {
    if (!reader_) return;
    summary.kind = fmt::format("FOCUS {}", name_of(reader_->version()));
    summary.rounded_numbers = reader_->rounded_numbers();
    summary.unread_json = reader_->unread_json();
    summary.warnings = reader_->warnings();
  }

 private:
  std::optional<ChargeReader> reader_;
};

}  // namespace

std::unique_ptr<bill::BillReader> focus_bill() { return std::make_unique<FocusBill>(); }

Result<ImportSummary> import_csv(std::string_view text, const std::string& file, ImportSink& sink) {
  return bill::import_csv(text, file, focus_bill(), sink);
}

Result<ImportSummary> import_parquet(const std::string& path, ImportSink& sink) {
  const auto reader = focus_bill();
  return bill::import_parquet(path, *reader, sink);
}

}  // namespace pennyweight::focus
