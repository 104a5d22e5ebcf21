// AwsRowReader: reads the rows of a Cost and Usage Report, each into one or two charges.
//
// A row goes through four steps: its amounts (row_amounts.cc), their treatment (line_item.h), who,
// when and what for (aws_row_reader.cc), and the other columns. A column whose text a field of the
// charge holds is marked in Row::taken; every other column is stored in other_columns.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "ingest/bills/aws/header_plan.h"
#include "ingest/bills/aws/line_item.h"
#include "ingest/bills/currency_code.h"
#include "ingest/bills/json_column.h"
#include "ingest/bills/row_reader.h"
#include "ledger/charge.h"

namespace pennyweight::aws {

class AwsRowReader : public bill::RowReader {
 public:
  explicit AwsRowReader(HeaderPlan plan);

  bill::RowOutcome read(const bill::TextRow& texts, bill::ChargeBuffer& charges) override;
  void describe(bill::ImportSummary& summary) const override;

 private:
  using RowFault = bill::RowFault;
  // The row being read.
  struct Row {
    std::span<const std::string_view> fields;
    std::bitset<kColumnCount> taken;  // by a field, so not stored among the other columns
    std::vector<bool> tag_refused;    // by index in HeaderPlan::tags; empty: none
    std::uint64_t rounded = 0;
    std::uint64_t unread_json = 0;
    bool tags_unread = false;
    bool net = false;                // BilledCost is net_unblended_cost
    bool without_effective = false;  // covered usage without an effective cost from AWS
    LineItemFacts facts{};
    Currency currency = kUsd;
    std::string_view commitment_id;
    bool is_plan = false;  // the commitment is a Savings Plan
  };

  std::string_view text(const Row& row, Column column) const;
  // The same, and marks the column as taken.
  std::string_view take(Row& row, Column column) const;
  // The first of these columns that has a text.
  std::string_view take_first(Row& row, std::initializer_list<Column> columns) const;
  std::string_view name_in_file(Column column) const;
  RowFault fault(Column column, std::string_view why) const;

  // row_amounts.cc
  std::optional<RowFault> read_number(Row& row, Column column, std::optional<Decimal>& out) const;
  std::optional<RowFault> read_money(Row& row, Column column, std::optional<Money>& out) const;
  std::optional<RowFault> read_either(Row& row, Column net, Column gross,
                                      std::optional<Money>& out) const;
  std::optional<RowFault> read_currency(Row& row);
  std::optional<RowFault> read_amounts(Row& row, Amounts& out) const;
  std::optional<RowFault> read_covered(Row& row, Amounts& out) const;
  std::optional<RowFault> read_unused_plan(Row& row, Amounts& out) const;
  std::optional<RowFault> read_unused_reservation(Row& row, Amounts& out) const;
  std::optional<RowFault> read_prices(Row& row, Charge& charge) const;

  // report_reader.cc
  std::optional<RowFault> read_type(Row& row) const;
  void read_commitment(Row& row) const;
  std::optional<RowFault> read_periods(Row& row, Charge& charge);
  std::optional<RowFault> read_charge_period(Row& row, Charge& charge);
  std::optional<Interval> time_interval(const Row& row);
  Result<Instant> read_instant(std::size_t slot, std::string_view text);
  void read_accounts(Row& row, Charge& charge) const;
  void read_service(Row& row, Charge& charge, const Labels* product) const;
  void read_location(Row& row, Charge& charge, const Labels* product) const;
  void read_sku(Row& row, Charge& charge, const Labels* product) const;
  void read_resource(Row& row, Charge& charge) const;
  void read_capacity(Row& row, Charge& charge) const;
  void set_commitment(const Row& row, Charge& charge) const;
  void read_tags(Row& row, Charge& charge);
  const Labels* product_map(Row& row);
  std::string_view product_value(const Row& row, const Labels* product, Column column,
                                 std::string_view key) const;
  void fill_second(const Row& row, Second second, const Costs& costs, const Charge& first,
                   Charge& charge) const;
  // Without `with_amounts`, only what identifies the line item.
  std::string other_columns(const Row& row, const Charge& charge, bool with_amounts) const;
  void count(const Row& row, const Treatment& treatment);

  HeaderPlan plan_;

  // Counted over imported rows.
  std::uint64_t rounded_numbers_ = 0;
  std::uint64_t unread_json_ = 0;
  std::uint64_t without_effective_ = 0;
  std::uint64_t net_rows_ = 0;
  std::uint64_t discounts_without_net_ = 0;
  std::map<Currency, Money> offsets_;  // Σ usage under Savings Plans and its negations

  // Bills repeat themselves from row to row: the values read last are cached.
  struct LastInstant {
    std::string text;
    Instant at;
  };
  std::array<LastInstant, 6> last_instants_;
  bill::CurrencyParser currency_parser_;
  bill::TagsCache json_;
};

}  // namespace pennyweight::aws
