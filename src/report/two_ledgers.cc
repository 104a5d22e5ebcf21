// Billed and effective side by side, by invoice, account, service or day.
#include <fmt/format.h>

#include <iterator>

#include "core/check.h"
#include "report/number_format.h"
#include "report/reconcile_report.h"

namespace pennyweight {
namespace {

constexpr const char* kFurther = "(further values)";

std::string_view name_of(ReconcileBy by) {
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
  CHECK(false, "every one is named above");
}

std::string value_of(const Charge& charge, ReconcileBy by, const TimeZone& zone) {
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
  CHECK(false, "every one is named above");
}

Table empty_table(ReconcileBy by, const std::string& what, Currency currency) {
  const std::string name(name_of(by));
  Table table;
  table.title =
      fmt::format("{} by {}: bill lines beside postings, {}", what, name, currency.text());
  table.currency = currency;
  table.columns = {{name, name, ColumnKind::kText},
                   {"lines", "lines", ColumnKind::kCount},
                   {"off", "off", ColumnKind::kCount},
                   {"billed_lines", "billed", ColumnKind::kMoney},
                   {"billed_difference", "posted less", ColumnKind::kExactMoney},
                   {"effective_lines", "effective", ColumnKind::kMoney},
                   {"effective_difference", "posted less", ColumnKind::kExactMoney}};
  return table;
}

}  // namespace

std::optional<ReconcileBy> parse_reconcile_by(std::string_view text) {
  for (const ReconcileBy by :
       {ReconcileBy::kInvoice, ReconcileBy::kAccount, ReconcileBy::kService, ReconcileBy::kDay}) {
    if (text == name_of(by)) return by;
  }
  return std::nullopt;
}

void TwoLedgers::add(const LineCheck& line) {
  const Currency currency = line.charge.costs.currency();
  std::map<std::string, Sums>& values = by_value_[currency];
  std::string value = value_of(line.charge, by_, zone_);
  if (values.size() >= kValuesMax && !values.contains(value)) value = kFurther;
  Sums& sums = values
                   .try_emplace(std::move(value), Sums{.lines = Costs::zero(currency),
                                                       .posted = Costs::zero(currency),
                                                       .count = 0,
                                                       .off = 0})
                   .first->second;
  sums.lines += line.charge.costs;
  // A line without postings has sums of no currency of its own.
  if (line.postings > 0) sums.posted += line.posted;
  sums.count += 1;
  if (!line.exact()) sums.off += 1;
}

std::vector<Table> TwoLedgers::tables(const std::string& what) const {
  std::vector<Table> tables;
  for (const auto& [currency, values] : by_value_) {
    Table table = empty_table(by_, what, currency);
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

bool TwoLedgers::exact() const {
  for (const auto& [currency, values] : by_value_) {
    for (const auto& [value, sums] : values) {
      if (sums.off > 0) return false;
    }
  }
  return true;
}

}  // namespace pennyweight
