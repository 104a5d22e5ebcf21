#include "ingest/rated/any_focus.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/check.h"
#include "ingest/focus/column.h"
#include "ingest/focus/focus_bill.h"
#include "ingest/rated/rated_focus.h"

namespace pennyweight::rated {
namespace {

constexpr std::string_view kCosts[] = {"BilledCost", "EffectiveCost", "ListCost", "ContractedCost"};
constexpr const char* kNeedsCard =
    "a bill without money is priced from a rate card; give --rate-card FILE, or set "
    "prices.rate_card in the configuration";

bool is_null(std::string_view text) {
  return text.empty() || text == "NULL" || text == "null" || text == "\\N";
}

class AnyFocusBill : public bill::BillReader {
 public:
  explicit AnyFocusBill(const RateCard* card) : card_(card) {}

  Result<void> header(const csv::Header& of_file) override {
    focus::Respelled names = focus::respelled(of_file);
    respelled_ = std::move(names.changed);
    const csv::Header& header = names.header;
    for (const std::string_view name : kCosts) {
      if (const auto at = header.find(name)) costs_.push_back(*at);
    }
    if (costs_.empty()) {
      if (card_ == nullptr) {
        return fail(ErrorCode::kConfig,
                    std::string("the file has no column of costs; ") + kNeedsCard);
      }
      reader_ = rated_focus_bill(*card_);
      return reader_->header(header);
    }
    reader_ = focus::focus_bill();
    if (card_ != nullptr) {
      // It may be asked for quantities that a bill with money can do without.
      priced_ = rated_focus_bill(*card_);
      if (!priced_->header(header)) priced_.reset();
    }
    auto fits = reader_->header(header);
    // Without a currency or a category there is no money in a row that says no more than that.
    if (!fits && priced_) {
      reader_ = std::move(priced_);
      return {};
    }
    return fits;
  }

  Outcome read(const bill::TextRow& row, bill::Lines& lines) override {
    CHECK(reader_ != nullptr, "the header comes before the rows");
    if (!decided_) {
      decided_ = true;
      has_no_money_ = !costs_.empty() && std::ranges::all_of(costs_, [&](std::size_t at) {
        return is_null(row.fields[at]);
      });
      if (has_no_money_ && priced_) reader_ = std::move(priced_);
    }
    if (has_no_money_ && card_ == nullptr) {
      return {.fault = bill::Fault{"BilledCost", std::string("no cost is stated; ") + kNeedsCard}};
    }
    return reader_->read(row, lines);
  }

  void describe(bill::ImportSummary& summary) const override {
    if (!reader_) return;
    reader_->describe(summary);
    if (respelled_.empty()) return;
    summary.warnings.push_back(
        fmt::format("{} columns that FOCUS spells otherwise were read as its: {}{}",
                    respelled_.size(), respelled_.front(), respelled_.size() == 1 ? "" : ", …"));
  }

 private:
  const RateCard* card_;
  std::vector<std::string> respelled_;        // columns of the file
  std::vector<std::size_t> costs_;            // of kCosts, those that the file has
  std::unique_ptr<bill::BillReader> reader_;  // what reads the rows
  std::unique_ptr<bill::BillReader> priced_;  // what would, had they no money
  bool decided_ = false;
  bool has_no_money_ = false;
};

}  // namespace

std::unique_ptr<bill::BillReader> any_focus_bill(const RateCard* card) {
  return std::make_unique<AnyFocusBill>(card);
}

}  // namespace pennyweight::rated
