#include "ingest/bills/gcp/gcp_bill.h"

#include <fmt/format.h>

#include <utility>

#include "core/try.h"
#include "ingest/bills/gcp/charge_builder.h"
#include "ingest/bills/gcp/json_import.h"
#include "ingest/bills/gcp/row_parser.h"

namespace pennyweight::gcp {
namespace {

class GcpRowReader : public bill::RowReader {
 public:
  GcpRowReader(RowParser parser, ChargeBuilder builder)
      : parser_(std::move(parser)), builder_(std::move(builder)) {}

  bill::RowOutcome read(const bill::TextRow& texts, bill::ChargeBuffer& charges) override {
    if (auto fault = parser_.parse(texts, row_)) return {.fault = std::move(fault)};
    return {.fault = builder_.add(row_, charges)};
  }

  void describe(bill::ImportSummary& summary) const override {
    summary.kind = "Google Cloud billing export";
    summary.rounded_numbers = builder_.rounded_numbers();
    summary.unread_json = builder_.unread_json();
    if (builder_.too_large() > 0) {
      summary.warnings.push_back(fmt::format(
          "{} quantities are 10^20 or more; they are kept as text, and their lines are imported",
          builder_.too_large()));
    }
    if (!parser_.has(Field::kCredits)) {
      summary.warnings.emplace_back(
          "there is no column credits: discounts and promotions are not subtracted, so the bill is "
          "not what will be paid; export it with TO_JSON_STRING(credits)");
    }
    if (!parser_.has(Field::kCostType)) {
      summary.warnings.emplace_back(
          "there is no column cost_type: taxes and adjustments are read as usage");
    }
  }

 private:
  RowParser parser_;
  ChargeBuilder builder_;
  Row row_;
};

}  // namespace

bill::RowReaderFactory gcp_bill() {
  return [](const csv::Header& header) -> Result<std::unique_ptr<bill::RowReader>> {
    auto parser = TRY(RowParser::open(header));
    auto builder = TRY(ChargeBuilder::create());
    return std::make_unique<GcpRowReader>(std::move(parser), std::move(builder));
  };
}

constinit const bill::BillFormat kGcpFormat = {
    .name = "gcp",
    .title = "a Google Cloud bill",
    .in_parquet = true,
    .in_json = true,
    .default_delivery = DeliveryStyle::kReplacement,
    .has_columns = is_gcp_header,
    .has_records =
        [](std::string_view beginning) {
          // The members of a row, also in a list of rows: its import refuses the list, and says how
          // to write a row per line.
          return is_gcp_json(beginning.substr(0, beginning.find('\n'))) ||
                 (bill::has_json_name(beginning, "usage_start_time") &&
                  bill::has_json_name(beginning, "billing_account_id"));
        },
    .open = [](const bill::BillSettings&) -> Result<bill::RowReaderFactory> { return gcp_bill(); },
    .open_json = [](std::string file, bill::ImportSink& sink) -> std::unique_ptr<bill::BillImport> {
      return std::make_unique<JsonImport>(std::move(file), sink);
    },
};

}  // namespace pennyweight::gcp
