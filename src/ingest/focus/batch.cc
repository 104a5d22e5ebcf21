#include "ingest/focus/batch.h"

#include <utility>

#include "core/check.h"
#include "core/plain_text.h"

namespace pennyweight::focus {
namespace {

// A rejected row may be 4 KiB, so fewer of them wait than charges.
constexpr std::size_t kRejectedWaitingMax = 256;

}  // namespace

Result<void> Batch::header(const csv::Header& header) {
  auto reader = ChargeReader::of(header);
  if (!reader) return std::unexpected(std::move(reader.error()));
  reader_.emplace(std::move(*reader));
  return {};
}

std::optional<Fault> Batch::take(std::uint64_t line, std::span<const std::string_view> fields,
                                 std::span<const std::uint8_t> quoted) {
  CHECK(reader_.has_value(), "the header comes before the rows");
  CHECK(!is_full(), "a full batch is handed over before the next row");
  if (filled_ == charges_.size()) charges_.push_back(ChargeReader::blank());
  Charge& charge = charges_[filled_];
  if (auto fault = reader_->read(fields, quoted, charge)) return fault;
  charge.source.line = line;
  ++filled_;
  ++summary_.rows;
  ++summary_.taken;
  return std::nullopt;
}

Result<void> Batch::reject(std::uint64_t line, std::string column, const std::string& reason,
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

Result<void> Batch::flush() {
  if (filled_ == 0) return {};
  const std::size_t count = std::exchange(filled_, 0);
  return sink_.charges(std::span<const Charge>(charges_).first(count));
}

Result<void> Batch::flush_rejected() {
  if (rejected_.empty()) return {};
  auto ok = sink_.rejected(rejected_);
  rejected_.clear();
  return ok;
}

Result<ImportSummary> Batch::finish() {
  if (auto ok = flush(); !ok) return std::unexpected(std::move(ok.error()));
  if (auto ok = flush_rejected(); !ok) return std::unexpected(std::move(ok.error()));
  CHECK(summary_.rows == summary_.taken + summary_.rejected, "no row is lost");
  if (reader_) {
    summary_.version = reader_->version();
    summary_.rounded_numbers = reader_->rounded_numbers();
    summary_.unread_json = reader_->unread_json();
    summary_.warnings = reader_->warnings();
  }
  return std::move(summary_);
}

}  // namespace pennyweight::focus
