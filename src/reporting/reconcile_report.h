// The reconcile report: compares charges with their postings, to the last digit.
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
#include "reporting/table.h"

namespace pennyweight {

// One table per currency: the four costs of charges and postings, and their differences.
// `month` is for the title; empty: all months.
std::vector<Table> reconcile_tables(const std::string& month,
                                    std::span<const ReconcileTotals> totals);

// One table per currency, with a row for each charge: id, source line, resource, postings,
// effective cost, posted cost, and the difference of each cost where there is one.
std::vector<Table> charge_check_tables(const std::string& title, std::span<const LineCheck> lines);

// Rows that imports set aside.
Table rejected_table(std::span<const RejectedRow> rows);

// Charges grouped by one of their own properties.
enum class ReconcileBy { kInvoice, kAccount, kService, kDay };
std::optional<ReconcileBy> parse_reconcile_by(std::string_view text);  // "invoice", …

// Compares charges with their postings by group, in both views: billed cost, which matches the
// provider's invoice, and effective cost, which matches the amortised view. It keeps only sums, of
// at most kValuesMax groups per currency and of all further groups together.
class GroupedReconciliation {
 public:
  static constexpr std::size_t kValuesMax = 100'000;

  // ReconcileBy::kDay is the day in `zone` on which a charge begins.
  GroupedReconciliation(ReconcileBy by, TimeZone zone) : by_(by), zone_(std::move(zone)) {}
  // In any order.
  void add(const LineCheck& line);
  // One table per currency, groups by name, with a total. `period_label` is for the title.
  std::vector<Table> tables(const std::string& period_label) const;
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

// How the postings differ from the charge: "billed off by 0.01, list off by -2", "never
// allocated"; empty when exact.
std::string describe_differences(const LineCheck& line);

}  // namespace pennyweight
