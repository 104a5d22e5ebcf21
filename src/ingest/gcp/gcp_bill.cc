#include "ingest/gcp/gcp_bill.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "core/check.h"
#include "ingest/gcp/charge_lines.h"
#include "ingest/gcp/row_reader.h"

namespace pennyweight::gcp {
namespace {

class GcpBill : public bill::BillReader {
 public:
  Result<void> header(const csv::Header& header) override {
    auto rows = RowReader::of(header);
    if (!rows) return std::unexpected(std::move(rows.error()));
    auto lines = ChargeLines::make();
    if (!lines) return std::unexpected(std::move(lines.error()));
    rows_.emplace(std::move(*rows));
    lines_.emplace(std::move(*lines));
    return {};
  }

  Outcome read(const bill::TextRow& text, bill::Lines& lines) override {
    CHECK(rows_ && lines_, "the header comes before the rows");
    if (auto fault = rows_->read(text, row_)) return {.fault = std::move(fault), .passed_over = {}};
    return {.fault = lines_->add(row_, lines), .passed_over = {}};
  }

  void describe(bill::ImportSummary& summary) const override {
    if (!rows_) return;
    summary.kind = "Google Cloud billing export";
    summary.rounded_numbers = lines_->rounded_numbers();
    summary.unread_json = lines_->unread_json();
    if (lines_->too_large() > 0) {
      summary.warnings.push_back(fmt::format(
          "{} quantities are 10^20 or more; they are kept as text, and the lines' money is taken",
          lines_->too_large()));
    }
    if (!rows_->has(Field::kCredits)) {
      summary.warnings.emplace_back(
          "there is no column credits: discounts and promotions are not taken off, and the bill "
          "is not what will be paid; export it with TO_JSON_STRING(credits)");
    }
    if (!rows_->has(Field::kCostType)) {
      summary.warnings.emplace_back(
          "there is no column cost_type: taxes and adjustments are taken for usage");
    }
  }

 private:
  std::optional<RowReader> rows_;
  std::optional<ChargeLines> lines_;
  Row row_;
};

}  // namespace

std::unique_ptr<bill::BillReader> gcp_bill() { return std::make_unique<GcpBill>(); }

}  // namespace pennyweight::gcp
