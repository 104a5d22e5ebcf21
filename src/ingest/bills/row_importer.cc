#include "ingest/bills/row_importer.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/ascii.h"
#include "core/check.h"
#include "core/limits.h"
#include "core/plain_text.h"
#include "core/try.h"

namespace pennyweight::bill {
namespace {

// A rejected row may be 4 KiB, so fewer of them wait than charges.
constexpr std::size_t kRejectedWaitingMax = 256;
// Faulty rows that wait for a good one to be measured by.
constexpr std::size_t kUnmeasuredMax = 1'000;

// "1.23457E+11": how a spreadsheet writes a number that it has rounded: one digit before the point,
// and, where none follows it, no exponent below 11, since shorter numbers are written out. An id
// such as "7E+01" or "12e+10" is none.
bool is_rounded_number(std::string_view id) {
  constexpr std::size_t kExponent = 4;  // "E+11"
  if (id.size() <= kExponent) return false;
  const std::string_view exponent = id.substr(id.size() - kExponent);
  if (ascii::to_lower(exponent[0]) != 'e' || exponent[1] != '+' ||
      !ascii::is_all_digits(exponent.substr(2))) {
    return false;
  }
  const std::string_view digits = id.substr(0, id.size() - kExponent);
  if (!ascii::is_digit(digits[0])) return false;
  if (digits.size() == 1) return exponent.substr(2) >= "11";
  return (digits[1] == '.' || digits[1] == ',') && ascii::is_all_digits(digits.substr(2));
}

// Accounts whose numbers were rounded become one, and none of them is replaced by its next bill.
std::optional<RowFault> fault_of_accounts(const Charge& charge, const csv::Header& header,
                                          const TextRow& row) {
  for (const std::string* id : {&charge.billing_account_id, &charge.sub_account_id}) {
    if (!is_rounded_number(*id)) continue;
    const auto at = std::ranges::find(row.fields, std::string_view(*id)) - row.fields.begin();
    const auto column = static_cast<std::size_t>(at);
    return RowFault{
        column < header.names().size() ? header.names()[column] : std::string("account"),
        fmt::format("'{}' is a number that a spreadsheet has rounded, and the account is lost; "
                    "import the file as the provider sent it",
                    *id)};
  }
  return std::nullopt;
}

}  // namespace

Result<void> RowImporter::open(const csv::Header& header) {
  CHECK(reader_ == nullptr, "a file has one header");
  reader_ = TRY(open_reader_(header));
  header_ = header;
  money_.emplace(header_, open_reader_);
  return {};
}

std::optional<RowFault> RowImporter::read(std::uint64_t line, const TextRow& row) {
  CHECK(reader_ != nullptr, "the header comes before the rows");
  const std::size_t before = charges_.size();
  RowOutcome outcome = reader_->read(row, charges_);
  CHECK(!(outcome.fault && outcome.skipped), "a row is set aside or skipped, not both");
  if (!outcome.fault && !outcome.skipped && charges_.size() > before) {
    outcome.fault = fault_of_accounts(charges_.all()[before], header_, row);
  }
  if (outcome.fault || outcome.skipped) charges_.truncate(before);
  if (outcome.fault) return std::move(outcome.fault);
  ++summary_.rows;
  if (outcome.skipped) {
    const std::string reason(outcome.skipped->reason);
    ++summary_.skipped[reason];
    MoneyOfRows& passed_over = summary_.passed_over[reason];
    ++passed_over.rows;
    const auto costs = money_->own_cost(row);
    costs ? passed_over.add(*costs) : void(++passed_over.unreadable);
    return std::nullopt;
  }
  money_->remember_good_row(row);
  ++summary_.taken.rows;
  CHECK(charges_.size() > before, "an imported row becomes at least one charge");
  for (Charge& charge : charges_.all().subspan(before)) {
    charge.source.line = line;
    summary_.taken.add(charge.costs);
  }
  summary_.charges += charges_.size() - before;
  ++summary_.imported;
  return std::nullopt;
}

void RowImporter::measure(const TextRow& row, const RowFault& fault, AsideRow* kept) {
  MeasuredRow measured = money_->measure(row, fault);
  measured.costs ? summary_.aside.add(*measured.costs) : void(++summary_.aside.unreadable);
  if (kept == nullptr) return;
  kept->costs = measured.costs;
  kept->month = std::move(measured.month);
}

void RowImporter::measure_waiting() {
  for (const WaitingRow& row : waiting_) {
    const std::vector<std::string_view> fields(row.fields.begin(), row.fields.end());
    measure({fields, row.quoted}, row.fault, row.kept ? &summary_.aside_rows[*row.kept] : nullptr);
  }
  waiting_.clear();
}

Result<void> RowImporter::set_aside(std::uint64_t line, const TextRow& row, const RowFault& fault,
                                    const std::string& reason, std::string_view text) {
  const std::size_t before = summary_.aside_rows.size();
  TRY(reject(line, fault.column, reason, text));
  --summary_.aside.unreadable;
  const bool is_kept = summary_.aside_rows.size() > before;
  if (money_->knows_good_row() || waiting_.size() == kUnmeasuredMax) {
    measure(row, fault, is_kept ? &summary_.aside_rows[before] : nullptr);
  } else {
    waiting_.push_back({.fields = {row.fields.begin(), row.fields.end()},
                        .quoted = {row.quoted.begin(), row.quoted.end()},
                        .fault = fault,
                        .kept = is_kept ? std::optional(before) : std::nullopt});
  }
  return {};
}

Result<void> RowImporter::reject(std::uint64_t line, std::string column, const std::string& reason,
                                 std::string_view text) {
  ++summary_.rows;
  ++summary_.rejected;
  ++summary_.aside.rows;
  ++summary_.aside.unreadable;
  if (summary_.aside_rows.size() < limits::kAsideRowsStatedMax) {
    AsideRow& kept = summary_.aside_rows.emplace_back();
    kept.number = summary_.aside_rows.size();
    kept.file = file_;
    kept.line = line;
    kept.reason = printable_text(reason, limits::kRejectedTextBytesMax);
  }
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
  if (money_) measure_waiting();
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
