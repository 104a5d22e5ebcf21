#include "server/api/bill_equation.h"

#include <optional>
#include <string>

namespace pennyweight::api {
namespace {

void write_money_of_rows(JsonWriter& out, const MoneyOfRows& rows) {
  out.begin_object()
      .field("rows", rows.rows)
      .field("unreadable", rows.unreadable)
      .key("costs")
      .begin_list();
  for (const auto& [currency, costs] : rows.costs) {
    out.begin_object()
        .field("currency", currency.text())
        .field("billed", to_text(costs.billed.amount()))
        .field("effective", to_text(costs.effective.amount()))
        .field("list", to_text(costs.list.amount()))
        .field("contracted", to_text(costs.contracted.amount()))
        .end_object();
  }
  out.end_list().end_object();
}

}  // namespace

void write_bill_equation(JsonWriter& out, const BillStatement& statement) {
  if (statement.in_files().rows == 0) {
    out.field("equation", std::optional<std::string>());
    return;
  }
  out.key("equation").begin_object().field("whole", statement.is_whole()).key("in_files");
  write_money_of_rows(out, statement.in_files());
  out.key("taken");
  write_money_of_rows(out, statement.taken);
  out.key("aside");
  write_money_of_rows(out, statement.aside);
  out.key("passed_over").begin_list();
  for (const auto& [reason, rows] : statement.passed_over) {
    out.begin_object().field("reason", reason).key("rows");
    write_money_of_rows(out, rows);
    out.end_object();
  }
  out.end_list().end_object();
}

}  // namespace pennyweight::api
