// Compares billed and effective cost with their postings by invoice, account, service or day.
#include <fmt/format.h>

#include <iterator>

#include "core/check.h"
#include "reporting/number_format.h"
#include "reporting/reconcile_report.h"

namespace pennyweight {
namespace {

constexpr const char* kFurtherValues = "(further values)";

std::string_view grouping_name(ReconcileBy by) {
  switch (by) {
    case ReconcileBy::kInvoice:
      return "invoice";
    case ReconcileBy::kAccount:
      return "account";
    case ReconcileBy::kService:
      return "service";
    case ReconcileBy::kDay:
      return "day";
  }
  CHECK(false, "every grouping is named above");
}

std::string group_value(const Charge& charge, ReconcileBy by, const TimeZone& zone) {
  switch (by) {
    case ReconcileBy::kInvoice:
      return charge.invoice_id.empty() ? "(no invoice yet)" : charge.invoice_id;
    case ReconcileBy::kAccount:
      return charge.billing_account_id.empty() ? "(no account)" : charge.billing_account_id;
    case ReconcileBy::kService:
      return charge.service_name.empty() ? "(no service)" : charge.service_name;
    case ReconcileBy::kDay:
      return local_date(charge.charge_period.begin(), zone);
  }
  CHECK(false, "every grouping is named above");
}

Table empty_table(ReconcileBy by, const std::string& period_label, Currency currency) {
  const std::string name(grouping_name(by));
  Table table;
  table.title =
      fmt::format("{} by {}: bill lines and postings, {}", period_label, name, currency.text());
  table.currency = currency;
  table.columns = {{name, name, ColumnKind::kText},
                   {"lines", "lines", ColumnKind::kCount},
                   {"off", "off", ColumnKind::kCount},
                   {"billed_lines", "billed", ColumnKind::kMoney},
                   {"billed_difference", "difference", ColumnKind::kExactMoney},
                   {"effective_lines", "effective", ColumnKind::kMoney},
                   {"effective_difference", "difference", ColumnKind::kExactMoney}};
  return table;
}

}  // namespace

std::optional<ReconcileBy> parse_reconcile_by(std::string_view text) {
  for (const ReconcileBy by :
       {ReconcileBy::kInvoice, ReconcileBy::kAccount, ReconcileBy::kService, ReconcileBy::kDay}) {
    if (text == grouping_name(by)) return by;
  }
  return std::nullopt;
}

void GroupedReconciliation::add(const LineCheck& line) {
  const Currency currency = line.charge.costs.currency();
  std::map<std::string, Sums>& values = by_value_[currency];
  std::string value = group_value(line.charge, by_, zone_);
  if (values.size() >= kValuesMax && !values.contains(value)) value = kFurtherValues;
  Sums& sums = values
                   .try_emplace(std::move(value), Sums{.lines = Costs::zero(currency),
                                                       .posted = Costs::zero(currency),
                                                       .count = 0,
                                                       .off = 0})
                   .first->second;
  sums.lines += line.charge.costs;
  // Without postings, line.posted has no currency.
  if (line.postings > 0) sums.posted += line.posted;
  sums.count += 1;
  if (!line.exact()) sums.off += 1;
}

std::vector<Table> GroupedReconciliation::tables(const std::string& period_label) const {
  std::vector<Table> tables;
  for (const auto& [currency, values] : by_value_) {
    Table table = empty_table(by_, period_label, currency);
    Sums all{.lines = Costs::zero(currency), .posted = Costs::zero(currency), .count = 0, .off = 0};
    const auto row_of = [](const std::string& name, const Sums& sums) -> Row {
      return {name,
              sums.count,
              sums.off,
              sums.lines.billed,
              sums.posted.billed - sums.lines.billed,
              sums.lines.effective,
              sums.posted.effective - sums.lines.effective};
    };
    for (const auto& [value, sums] : values) {
      table.rows.push_back(row_of(value, sums));
      all.lines += sums.lines;
      all.posted += sums.posted;
      all.count += sums.count;
      all.off += sums.off;
    }
    table.total = row_of("total", all);
    tables.push_back(std::move(table));
  }
  return tables;
}

bool GroupedReconciliation::exact() const {
  for (const auto& [currency, values] : by_value_) {
    for (const auto& [value, sums] : values) {
      if (sums.off > 0) return false;
    }
  }
  return true;
}

}  // namespace pennyweight
