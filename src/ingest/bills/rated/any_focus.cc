#include "ingest/bills/rated/any_focus.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/try.h"
#include "ingest/bills/cell_text.h"
#include "ingest/bills/focus/column.h"
#include "ingest/bills/focus/cost_defaults.h"
#include "ingest/bills/focus/focus_bill.h"
#include "ingest/bills/rated/rated_focus.h"

namespace pennyweight::rated {
namespace {

constexpr const char* kNeedsCard =
    "a bill without money is priced from a rate card; give --rate-card FILE, or set "
    "prices.rate_card in the configuration";

class AnyFocusRowReader : public bill::RowReader {
 public:
  static Result<AnyFocusRowReader> open(const csv::Header& header_of_file, const RateCard* card) {
    AnyFocusRowReader any(card);
    focus::RespelledHeader names = focus::respell_header(header_of_file);
    any.respelled_ = std::move(names.changed);
    const csv::Header& header = names.header;
    for (const std::string_view name : focus::kCostColumns) {
      if (const auto at = header.find(name)) any.costs_.push_back(*at);
    }
    if (any.costs_.empty()) {
      if (card == nullptr) {
        return fail(ErrorCode::kConfig,
                    std::string("the file has no column of costs; ") + kNeedsCard);
      }
      any.reader_ = TRY(rated_focus_bill(*card)(header));
      return any;
    }
    if (card != nullptr) {
      // Fails where quantities are missing, which a bill with costs can do without.
      if (auto priced = rated_focus_bill(*card)(header)) any.priced_ = *std::move(priced);
    }
    auto reader = focus::focus_bill()(header);
    if (reader) {
      any.reader_ = *std::move(reader);
    } else if (any.priced_) {
      // Without a currency or a category, no row can state its costs.
      any.reader_ = std::move(any.priced_);
    } else {
      return std::unexpected(std::move(reader).error());
    }
    return any;
  }

  bill::RowOutcome read(const bill::TextRow& row, bill::ChargeBuffer& charges) override {
    if (is_first_row_) {
      is_first_row_ = false;
      has_no_costs_ = !costs_.empty() && std::ranges::all_of(costs_, [&](std::size_t at) {
        return bill::is_null(row.fields[at]);
      });
      if (has_no_costs_ && priced_) reader_ = std::move(priced_);
    }
    if (has_no_costs_ && card_ == nullptr) {
      return {.fault =
                  bill::RowFault{"BilledCost", std::string("no cost is stated; ") + kNeedsCard}};
    }
    return reader_->read(row, charges);
  }

  void describe(bill::ImportSummary& summary) const override {
    reader_->describe(summary);
    if (respelled_.empty()) return;
    summary.warnings.push_back(
        fmt::format("{} columns in other spellings were read as columns of FOCUS: {}{}",
                    respelled_.size(), respelled_.front(), respelled_.size() == 1 ? "" : ", …"));
  }

 private:
  explicit AnyFocusRowReader(const RateCard* card) : card_(card) {}

  const RateCard* card_;
  std::vector<std::string> respelled_;       // columns of the file
  std::vector<std::size_t> costs_;           // the columns of focus::kCostColumns that the file has
  std::unique_ptr<bill::RowReader> reader_;  // reads the rows
  std::unique_ptr<bill::RowReader> priced_;  // takes over if the first row states no costs
  bool is_first_row_ = true;
  bool has_no_costs_ = false;
};

}  // namespace

bill::RowReaderFactory any_focus_bill(const RateCard* card) {
  return [card](const csv::Header& header) {
    return bill::boxed(AnyFocusRowReader::open(header, card));
  };
}

constinit const bill::BillFormat kFocusFormat = {
    .name = "focus",
    .title = "a FOCUS bill",
    .in_parquet = true,
    .in_json = true,
    .default_delivery = DeliveryStyle::kReplacement,
    .uses_rate_card = true,
    .has_columns = focus::is_focus_header,
    .has_records = focus::has_focus_records,
    .open = [](const bill::BillSettings& settings) -> Result<bill::RowReaderFactory> {
      return any_focus_bill(settings.rate_card);
    },
};

}  // namespace pennyweight::rated
