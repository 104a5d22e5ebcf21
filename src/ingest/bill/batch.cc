#include "ingest/bill/batch.h"

#include <utility>

#include "core/check.h"
#include "core/limits.h"
#include "core/plain_text.h"

namespace pennyweight::bill {
namespace {

// A rejected row may be 4 KiB, so fewer of them wait than charges.
constexpr std::size_t kRejectedWaitingMax = 256;

}  // namespace

std::optional<Fault> Batch::read(std::uint64_t line, const TextRow& row) {
  const std::size_t before = lines_.size();
  BillReader::Outcome outcome = reader_.read(row, lines_);
  CHECK(!(outcome.fault && outcome.passed_over), "a row is kept aside or passed over, not both");
  if (outcome.fault || outcome.passed_over) lines_.cut(before);
  if (outcome.fault) return std::move(outcome.fault);
  ++summary_.rows;
  if (outcome.passed_over) {
    ++summary_.passed_over[std::string(outcome.passed_over->reason)];
    return std::nullopt;
  }
  CHECK(lines_.size() > before, "a row that is taken becomes a line");
  for (Charge& charge : lines_.all().subspan(before)) charge.source.line = line;
  summary_.charges += lines_.size() - before;
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

Result<void> Batch::flush_if_full() {
  return lines_.size() < limits::kBatchRows ? Result<void>{} : flush();
}

Result<void> Batch::flush() {
  if (lines_.size() == 0) return {};
  auto ok = sink_.charges(lines_.all());
  lines_.cut(0);
  return ok;
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
  std::uint64_t accounted = summary_.taken + summary_.rejected;
  for (const auto& [reason, count] : summary_.passed_over) accounted += count;
  CHECK(summary_.rows == accounted, "no row is lost");
  reader_.describe(summary_);
  // A month without use is billed so; a file that was cut short looks the same.
  if (summary_.rows == 0) {
    summary_.warnings.emplace_back("the file has a header and no rows; is the export complete?");
  }
  return std::move(summary_);
}

}  // namespace pennyweight::bill
