#include "reporting/money_text.h"

#include <fmt/format.h>

#include "reporting/number_format.h"

namespace pennyweight {

std::string exact_money(Money money) {
  std::string text = to_text(money.amount());
  const std::size_t point = text.find('.');
  if (point == std::string::npos) {
    text += ".00";
  } else if (text.size() - point < 3) {
    text += '0';
  }
  const std::size_t whole = text.find('.');
  const std::size_t first = text.starts_with('-') ? 1 : 0;
  for (std::size_t at = whole; at > first + 3; at -= 3) text.insert(at - 3, ",");
  return text + " " + money.currency().text();
}

std::string billed_text(const MoneyOfRows& rows) {
  std::string text;
  for (const auto& [currency, costs] : rows.costs) {
    text += (text.empty() ? "" : " and ") + exact_money(costs.billed);
  }
  if (!text.empty()) text += " billed";
  if (rows.unreadable > 0) {
    text += fmt::format("{}{} whose cost is not readable", text.empty() ? "" : ", and ",
                        counted(rows.unreadable, "row"));
  }
  return text;
}

}  // namespace pennyweight
