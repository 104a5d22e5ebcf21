// AzureRowReader: reads the rows of an Azure cost export, each into one charge.
//
// The header decides once where each column is; docs/bills/azure.md says where each goes. No text
// is lost: a text that no field holds unchanged goes to Charge::other_columns.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "ingest/bills/azure/additional_info.h"
#include "ingest/bills/azure/azure_bill.h"
#include "ingest/bills/azure/column.h"
#include "ingest/bills/azure/unit_of_measure.h"
#include "ingest/bills/currency_code.h"
#include "ingest/bills/json_column.h"
#include "ingest/bills/row_reader.h"
#include "ledger/charge.h"

namespace pennyweight::azure {

enum class ChargeType {
  kUsage,
  kPurchase,
  kTax,
  kCredit,
  kRefund,
  kRoundingAdjustment,
  kUnusedReservation,
  kUnusedSavingsPlan,
};
enum class PricingModel { kNone, kOnDemand, kSpot, kReservation, kSavingsPlan };

// Counted over imported rows.
struct AzureCounts {
  std::uint64_t rounded_numbers = 0;
  std::uint64_t unread_json = 0;
  std::uint64_t commitment_charges = 0;  // purchases, refunds and covered usage of commitments
  std::uint64_t months_from_dates = 0;   // no billing period given: the month of the date
};

class AzureRowReader : public bill::RowReader {
 public:
  // An Error lists the columns without which no charge can be read. Without a metric the export is
  // read as actual cost, and a warning says so.
  static Result<AzureRowReader> open(const csv::Header& header, const AzureOptions& options);

  bill::RowOutcome read(const bill::TextRow& texts, bill::ChargeBuffer& charges) override;
  void describe(bill::ImportSummary& summary) const override;

 private:
  struct Row {
    std::span<const std::string_view> fields;
    ChargeType type = ChargeType::kUsage;
    PricingModel model = PricingModel::kNone;
    bool of_commitment = false;
    bool only_billed = false;          // all but the billed cost is in the amortised export
    std::bitset<kColumns> kept;        // columns that no field holds unchanged
    std::string_view commitment_name;  // for CommitmentDiscountName
    AzureCounts counts;
  };
  // A member of Charge::other_columns, and where its value comes from.
  struct OtherColumn {
    enum class Source { kColumn, kColumnIfKept, kMetric, kCommitmentName, kDeliveryPart };
    std::string name;
    std::string json_key;  // "name":
    Source source = Source::kColumn;
    std::size_t at = 0;             // in the header; for kColumn, kColumnIfKept
    Column column = Column::kCost;  // for kColumnIfKept
  };
  struct LastDate {
    std::string text;
    Instant at;
  };
  struct LastUnit {
    std::string text;
    UnitOfMeasure measure = parse_unit_of_measure("");
  };

  AzureRowReader(std::span<const std::string> header, const AzureOptions& options);
  void plan_other_columns(std::size_t header_size);
  std::string_view text(const Row& row, Column column) const;
  void keep(Row& row, Column column) const { row.kept.set(static_cast<std::size_t>(column)); }

  std::optional<bill::RowFault> read_codes(Row& row, Charge& charge) const;
  void set_pricing_category(const Row& row, Charge& charge) const;
  std::optional<bill::RowFault> read_costs(Row& row, Charge& charge);
  std::optional<bill::RowFault> read_periods(Row& row, Charge& charge);
  std::optional<bill::RowFault> read_quantities(Row& row, Charge& charge);
  std::optional<bill::RowFault> read_prices(Row& row, Charge& charge) const;
  Result<std::optional<Decimal>> read_number(Row& row, Column column) const;
  Result<Decimal> in_billing_currency(const Row& row, Decimal price, bool& is_known) const;
  void read_accounts(Row& row, Charge& charge) const;
  void read_commitment(Row& row, Charge& charge) const;
  void read_sku(Row& row, Charge& charge) const;
  void read_resource(Row& row, Charge& charge);
  void read_json(Row& row, Charge& charge);
  void keep_others(const Row& row, Charge& charge) const;
  Result<Instant> read_date(std::size_t slot, std::string_view text);
  const UnitOfMeasure& read_unit(std::string_view text);

  Columns columns_;
  AzureOptions options_;
  CostMetric metric_;
  AzureCounts counts_;
  std::vector<OtherColumn> others_;

  // Bills repeat themselves from row to row: the values read last are cached.
  std::array<LastDate, 3> last_dates_;
  LastUnit last_unit_;
  bill::CurrencyParser currency_parser_;
  bill::TagsCache tags_cache_;
  AdditionalInfoReader info_reader_;
};

}  // namespace pennyweight::azure
