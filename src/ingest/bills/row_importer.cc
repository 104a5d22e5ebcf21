#include "ingest/bills/row_importer.h"

#include <utility>

#include "core/check.h"
#include "core/limits.h"
#include "core/plain_text.h"
#include "core/try.h"

namespace pennyweight::bill {
namespace {

// A rejected row may be 4 KiB, so fewer of them wait than charges.
constexpr std::size_t kRejectedWaitingMax = 256;

}  // namespace

Result<void> RowImporter::open(const csv::Header& header) {
  CHECK(reader_ == nullptr, "a file has one header");
  reader_ = TRY(open_reader_(header));
  return {};
}

std::optional<RowFault> RowImporter::read(std::uint64_t line, const TextRow& row) {
  CHECK(reader_ != nullptr, "the header comes before the rows");
  const std::size_t before = charges_.size();
  RowOutcome outcome = reader_->read(row, charges_);
  CHECK(!(outcome.fault && outcome.skipped), "a row is set aside or skipped, not both");
  if (outcome.fault || outcome.skipped) charges_.truncate(before);
  if (outcome.fault) return std::move(outcome.fault);
  ++summary_.rows;
  if (outcome.skipped) {
    ++summary_.skipped[std::string(outcome.skipped->reason)];
    return std::nullopt;
  }
  CHECK(charges_.size() > before, "an imported row becomes at least one charge");
  for (Charge& charge : charges_.all().subspan(before)) charge.source.line = line;
  summary_.charges += charges_.size() - before;
  ++summary_.imported;
  return std::nullopt;
}

Result<void> RowImporter::reject(std::uint64_t line, std::string column, const std::string& reason,
                                 std::string_view text) {
  ++summary_.rows;
  ++summary_.rejected;
  rejected_.push_back({.file = file_,
                       .line = line,
                       .column = std::move(column),
                       .reason = printable_text(reason, limits::kRejectedTextBytesMax),
                       .text = printable_text(text, limits::kRejectedTextBytesMax)});
  if (rejected_.size() == kRejectedWaitingMax) return flush_rejected();
  return {};
}

Result<void> RowImporter::flush_if_full() {
  return charges_.size() < limits::kBatchRows ? Result<void>{} : flush();
}

Result<void> RowImporter::flush() {
  if (charges_.size() == 0) return {};
  auto ok = sink_.charges(charges_.all());
  charges_.truncate(0);
  return ok;
}

Result<void> RowImporter::flush_rejected() {
  if (rejected_.empty()) return {};
  auto ok = sink_.rejected(rejected_);
  rejected_.clear();
  return ok;
}

Result<ImportSummary> RowImporter::finish() {
  TRY(flush());
  TRY(flush_rejected());
  std::uint64_t accounted = summary_.imported + summary_.rejected;
  for (const auto& [reason, count] : summary_.skipped) accounted += count;
  CHECK(summary_.rows == accounted, "every row is accounted for");
  if (reader_ != nullptr) reader_->describe(summary_);
  // A month without usage is billed this way, but a truncated file looks the same.
  if (summary_.rows == 0) {
    summary_.warnings.emplace_back("the file has a header and no rows; is the export complete?");
  }
  return std::move(summary_);
}

}  // namespace pennyweight::bill
