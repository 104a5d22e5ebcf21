// ChargeReader: a row of an Azure cost export → a Charge in FOCUS terms, or the column at fault.
//
// The header decides once where each column stands; docs/bills/azure.md says where each goes. No
// text is lost: what a field does not hold word for word goes to Charge::other_columns.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/error.h"
#include "ingest/azure/additional_info.h"
#include "ingest/azure/azure_bill.h"
#include "ingest/azure/column.h"
#include "ingest/azure/unit_of_measure.h"
#include "ingest/bill/bill_reader.h"
#include "ingest/bill/json_column.h"
#include "ledger/charge.h"

namespace pennyweight::azure {

// What a reader saw, of taken rows.
struct Counts {
  std::uint64_t rounded_numbers = 0;
  std::uint64_t unread_json = 0;
  std::uint64_t commitment_lines = 0;   // purchases, refunds and covered usage of commitments
  std::uint64_t months_from_dates = 0;  // lines without a billing period, which took their date's
  std::uint64_t days_first = 0;         // dates such as 31/03/2026, which are none of Azure's
};

class ChargeReader {
 public:
  // REQUIRES: the header has been found to have the columns kCost, kCurrency and kDate.
  ChargeReader(std::span<const std::string> header, CostMetric metric);

  // REQUIRES: as many fields as the header has columns.
  bill::BillReader::Outcome read(std::span<const std::string_view> fields, bill::Lines& lines);

  const Counts& counts() const { return counts_; }
  Agreement agreement() const { return columns_.agreement(); }

 private:
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
  struct Row {
    std::span<const std::string_view> fields;
    ChargeType type = ChargeType::kUsage;
    PricingModel model = PricingModel::kNone;
    bool of_commitment = false;
    bool billed_alone = false;         // of what the amortised export tells: only its billed cost
    std::bitset<kColumns> kept;        // columns that no field holds word for word
    std::string_view commitment_name;  // for CommitmentDiscountName
    Counts counts;
  };
  // A column among the other columns: always there, or only where a row keeps it.
  struct Other {
    enum class What { kAlways, kWhereKept, kMetric, kCommitmentName, kDeliveryPart };
    std::string name;
    std::string json_key;  // "name":
    What what = What::kAlways;
    std::size_t at = 0;             // of the header; kAlways, kWhereKept
    Column column = Column::kCost;  // kWhereKept
  };
  struct LastDate {
    std::string text;
    Instant at;
  };
  struct LastUnit {
    std::string text;
    UnitOfMeasure measure = parse_unit_of_measure("");
  };

  void plan_other_columns(std::size_t header_size);
  std::string_view text(const Row& row, Column column) const;
  void keep(Row& row, Column column) const { row.kept.set(static_cast<std::size_t>(column)); }

  std::optional<bill::Fault> read_codes(Row& row, Charge& charge) const;
  std::optional<bill::Fault> read_costs(Row& row, Charge& charge);
  std::optional<bill::Fault> read_periods(Row& row, Charge& charge);
  std::optional<bill::Fault> read_quantities(Row& row, Charge& charge);
  std::optional<bill::Fault> read_prices(Row& row, Charge& charge) const;
  Result<std::optional<Decimal>> number(Row& row, Column column) const;
  Result<Decimal> in_billing_currency(const Row& row, Decimal price, bool& is_known) const;
  void read_accounts(Row& row, Charge& charge) const;
  void read_commitment(Row& row, Charge& charge) const;
  void read_sku(Row& row, Charge& charge) const;
  void read_resource(Row& row, Charge& charge);
  void read_json(Row& row, Charge& charge);
  void keep_others(const Row& row, Charge& charge) const;
  Result<Instant> date(std::size_t slot, std::string_view text);
  const UnitOfMeasure& unit(std::string_view text);

  Columns columns_;
  CostMetric metric_;
  Counts counts_;
  std::vector<Other> others_;

  // Bills repeat themselves from row to row; what was read last is read again without work.
  std::array<LastDate, 3> last_dates_;
  LastUnit last_unit_;
  std::string last_currency_text_;
  Currency last_currency_ = kUsd;
  bill::JsonColumns json_;
  AdditionalInfoReader info_reader_;
  std::unordered_map<std::string, std::optional<Labels>> tags_seen_;
};

}  // namespace pennyweight::azure
