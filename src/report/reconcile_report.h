// The reconcile report: bill lines beside their postings, with the difference to the last digit.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/billing_period.h"
#include "ledger/rejected_row.h"
#include "ledger/store.h"
#include "report/table.h"

namespace pennyweight {

// One table for each currency: the four costs of lines and postings, and what lies between.
// `month` is for the title; empty: all months.
std::vector<Table> reconcile_tables(const std::string& month,
                                    std::span<const ReconcileTotals> totals);

// The lines themselves, those of one currency in one table: id, source line, resource, postings,
// effective cost, what was posted, and the difference of each cost where there is one.
std::vector<Table> line_tables(const std::string& title, std::span<const LineCheck> lines);

// Rows that imports kept aside.
Table rejected_table(std::span<const RejectedRow> rows);

// Both ledgers, billed (which meets the invoice) and effective (which meets the amortised view), by
// what a line says of itself: sums of lines beside sums of their postings.
enum class ReconcileBy { kInvoice, kAccount, kService, kDay };
std::optional<ReconcileBy> parse_reconcile_by(std::string_view text);  // "invoice", …

// Lines in any order; kept are the sums of each value, at most kValuesMax of them in a currency,
// and those of all further values together.
class TwoLedgers {
 public:
  static constexpr std::size_t kValuesMax = 100'000;

  // Days are those of `zone` in which lines begin.
  TwoLedgers(ReconcileBy by, TimeZone zone) : by_(by), zone_(std::move(zone)) {}
  void add(const LineCheck& line);
  // One for each currency, values by name, with the totals.
  std::vector<Table> tables(const std::string& what) const;
  bool exact() const;

 private:
  struct Sums {
    Costs lines;
    Costs posted;
    std::uint64_t count = 0;
    std::uint64_t off = 0;
  };

  ReconcileBy by_;
  TimeZone zone_;
  std::map<Currency, std::map<std::string, Sums>> by_value_;
};

// "billed off by 0.01, list off by -2", posted less line; "never allocated"; empty when exact.
std::string what_is_off(const LineCheck& line);

}  // namespace pennyweight
