// ReportReader: a row of a Cost and Usage Report → one or two Charges, or why not.
//
// A row goes through four steps: its amounts (row_amounts.cc), what they mean (line_item.h), who,
// when and what for (report_reader.cc), and what is left (other columns). Every column that no
// field took is kept; a column that a field took is marked in Row::taken.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/error.h"
#include "ingest/aws/header_plan.h"
#include "ingest/aws/line_item.h"
#include "ingest/bill/bill_reader.h"
#include "ingest/bill/json_column.h"
#include "ledger/charge.h"

namespace pennyweight::aws {

class ReportReader {
 public:
  explicit ReportReader(HeaderPlan plan);

  bill::BillReader::Outcome read(const bill::TextRow& row, bill::Lines& lines);
  void describe(bill::ImportSummary& summary) const;

 private:
  using Fault = bill::Fault;
  // What is known of the row at hand.
  struct Row {
    std::span<const std::string_view> fields;
    std::bitset<kColumnCount> taken;  // by a field, so not kept among the other columns
    std::vector<bool> tag_refused;    // by place in HeaderPlan::tags; empty: none
    std::uint64_t rounded = 0;
    std::uint64_t unread_json = 0;
    bool tags_unread = false;
    bool net = false;                // BilledCost is net_unblended_cost
    bool without_effective = false;  // of covered usage, of which AWS gives none
    LineItemFacts facts{};
    Currency currency = kUsd;
    std::string_view commitment_id;
    bool is_plan = false;  // the commitment is a Savings Plan
  };

  std::string_view text(const Row& row, Column column) const;
  std::string_view take(Row& row, Column column) const;
  // The first of these columns that has a text.
  std::string_view take_first(Row& row, std::initializer_list<Column> columns) const;
  std::string_view name_in_file(Column column) const;
  Fault fault(Column column, std::string_view why) const;

  // row_amounts.cc
  std::optional<Fault> read_number(Row& row, Column column, std::optional<Decimal>& out) const;
  std::optional<Fault> read_money(Row& row, Column column, std::optional<Money>& out) const;
  std::optional<Fault> read_either(Row& row, Column net, Column gross,
                                   std::optional<Money>& out) const;
  std::optional<Fault> read_currency(Row& row);
  std::optional<Fault> read_amounts(Row& row, Amounts& out) const;
  std::optional<Fault> read_covered(Row& row, Amounts& out) const;
  std::optional<Fault> read_unused_plan(Row& row, Amounts& out) const;
  std::optional<Fault> read_unused_reservation(Row& row, Amounts& out) const;
  std::optional<Fault> read_prices(Row& row, Charge& charge) const;

  // report_reader.cc
  std::optional<Fault> read_type(Row& row) const;
  void read_commitment(Row& row) const;
  std::optional<Fault> read_periods(Row& row, Charge& charge);
  std::optional<Fault> read_charge_period(Row& row, Charge& charge);
  std::optional<Interval> time_interval(const Row& row);
  Result<Instant> instant_of(std::size_t slot, std::string_view text);
  void read_accounts(Row& row, Charge& charge) const;
  void read_service(Row& row, Charge& charge, const Labels* product) const;
  void read_place(Row& row, Charge& charge, const Labels* product) const;
  void read_sku(Row& row, Charge& charge, const Labels* product) const;
  void read_resource(Row& row, Charge& charge) const;
  void read_capacity(Row& row, Charge& charge) const;
  void set_commitment(const Row& row, Charge& charge) const;
  void read_tags(Row& row, Charge& charge);
  const Labels* product_map(Row& row);
  const std::optional<Labels>& parsed(std::string_view json);
  std::string_view product_value(const Row& row, const Labels* product, Column column,
                                 std::string_view key) const;
  void fill_second(const Row& row, Second second, const Costs& costs, const Charge& first,
                   Charge& charge) const;
  // `whole`: with amounts; else only what says which line it was.
  std::string others(const Row& row, const Charge& charge, bool whole) const;
  void count(const Row& row, const Treatment& treatment);

  HeaderPlan plan_;

  // Counted over taken rows.
  std::uint64_t rounded_numbers_ = 0;
  std::uint64_t unread_json_ = 0;
  std::uint64_t without_effective_ = 0;
  std::uint64_t net_rows_ = 0;
  std::uint64_t discounts_without_net_ = 0;
  std::map<Currency, Money> offsets_;  // usage under Savings Plans with its negations

  // Bills repeat themselves from row to row; what was read last is read again without work.
  struct LastInstant {
    std::string text;
    Instant at;
  };
  std::array<LastInstant, 6> last_instants_;
  std::string last_currency_text_;
  Currency last_currency_ = kUsd;
  bill::JsonColumns json_;
  std::unordered_map<std::string, std::optional<Labels>> json_seen_;
};

}  // namespace pennyweight::aws
