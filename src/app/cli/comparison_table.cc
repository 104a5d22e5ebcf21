#include "app/cli/comparison_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/ascii.h"
#include "reporting/minor_unit.h"

namespace pennyweight {
namespace {

// "MIG at 0" as a column name: "because_mig_at_0".
std::string column_name(std::string_view prefix, std::string_view words) {
  std::string name(prefix);
  for (const char c : words) {
    const bool kept = ascii::is_lower(c) || ascii::is_digit(c);
    const bool capital = ascii::is_upper(c);
    name += kept ? c : capital ? static_cast<char>(c - 'A' + 'a') : '_';
  }
  return name;
}

std::string shown(Money money) {
  return fmt::format("{} {}", format_minor(money), money.currency().text());
}

Money size_of(Money money) { return money.is_negative() ? -money : money; }

class TableMaker {
 public:
  TableMaker(const Comparison& comparison, std::span<const Method> methods,
             std::span<const std::string> by, std::span<const std::string> reasons)
      : comparison_(comparison), methods_(methods), by_(by), reasons_(reasons) {}

  Table make(const std::string& title) {
    Table table;
    table.title = fmt::format("{}, {}", title, comparison_.currency.text());
    table.currency = comparison_.currency;
    for (const std::string& dimension : by_) {
      table.columns.push_back({dimension, dimension, ColumnKind::kText});
    }
    for (const Method& method : methods_) {
      table.columns.push_back(
          {column_name("", method.name) + "_cost", method.name, ColumnKind::kMoney});
    }
    if (methods_.size() == 2) add_difference_columns(table);
    for (const ComparedRow& row : comparison_.rows) table.rows.push_back(row_of(row));
    ComparedRow total = comparison_.total;
    total.keys.assign(by_.size(), "");
    if (!total.keys.empty()) total.keys[0] = "total";
    table.total = row_of(total);
    add_notes(table);
    return table;
  }

 private:
  void add_difference_columns(Table& table) const {
    table.columns.push_back({"difference", "difference", ColumnKind::kMoney});
    table.columns.push_back({"difference_percent", "%", ColumnKind::kPercent});
    table.columns.push_back({"who", "who", ColumnKind::kText});
    for (const std::string& reason : reasons_) {
      table.columns.push_back({column_name("because_", reason), reason, ColumnKind::kMoney});
    }
  }

  Row row_of(const ComparedRow& row) const {
    Row cells(row.keys.begin(), row.keys.end());
    for (const Money& cost : row.costs) cells.emplace_back(cost);
    if (methods_.size() != 2) return cells;
    const Money difference = row.difference();
    cells.emplace_back(difference);
    cells.emplace_back(Ratio{difference.ticks(), size_of(row.costs[0]).ticks()});
    cells.emplace_back(who(row, difference));
    for (const std::string& reason : reasons_) {
      const auto at = std::find(comparison_.reasons.begin(), comparison_.reasons.end(), reason);
      if (at == comparison_.reasons.end()) {
        cells.emplace_back(Money::zero(comparison_.currency));
      } else {
        cells.emplace_back(row.reasons[static_cast<std::size_t>(at - comparison_.reasons.begin())]);
      }
    }
    return cells;
  }

  // An owner gains by paying less under the second method. Unowned cost counts as nobody's gain.
  static std::string who(const ComparedRow& row, Money difference) {
    if (row.bucket || row.keys.empty() || row.keys[0] == "total" || difference.is_zero()) return "";
    return difference.is_negative() ? "gains" : "loses";
  }

  void add_notes(Table& table) const {
    for (std::size_t i = 0; i < methods_.size(); ++i) add_sum(table, i);
    if (methods_.size() == 2) add_winners(table);
    const bool policies = std::all_of(methods_.begin(), methods_.end(), [](const Method& method) {
      return std::holds_alternative<Policy>(method.rule);
    });
    if (policies) {
      if (reasons_.size() > 1) {
        table.notes.emplace_back(
            "The reasons come from changing one rule after the other, in the order of the "
            "columns.");
      }
      return;
    }
    table.notes.emplace_back(
        "A preset divides the node prices of this bill by the product's published formula, with "
        "CPU and "
        "memory by request (docs/methods/peers.md).");
  }

  void add_sum(Table& table, std::size_t method) const {
    const std::string& name = methods_[method].name;
    const Money below = negative_idle(method);
    const Money sum = comparison_.total.costs[method] - below;
    const Money gap = sum - comparison_.billed;
    if (!below.is_zero()) {
      table.notes.push_back(fmt::format(
          "{} charges {} more than some nodes cost, which makes its idle cost negative. Since its "
          "change #3393 it shows 0 instead, and adds up to {}; the bill is {}.",
          name, shown(-below), shown(sum), shown(comparison_.billed)));
    } else if (gap.is_zero()) {
      table.notes.push_back(
          fmt::format("{} adds up to {}, which is the bill to its last digit.", name, shown(sum)));
    } else {
      table.notes.push_back(fmt::format(
          "{} adds up to {}, {} {} than the bill of {}.", name, shown(sum), shown(size_of(gap)),
          gap.is_negative() ? "less" : "more", shown(comparison_.billed)));
    }
  }

  void add_winners(Table& table) const {
    const ComparedRow* gains = nullptr;
    const ComparedRow* loses = nullptr;
    for (const ComparedRow& row : comparison_.rows) {
      if (row.bucket) continue;
      const Int128 ticks = row.difference().ticks();
      if (ticks < 0 && (gains == nullptr || ticks < gains->difference().ticks())) gains = &row;
      if (ticks > 0 && (loses == nullptr || ticks > loses->difference().ticks())) loses = &row;
    }
    if (gains != nullptr) {
      table.notes.push_back(fmt::format("{} gains most: {} less under {}.",
                                        fmt::join(gains->keys, ", "),
                                        shown(size_of(gains->difference())), methods_[1].name));
    }
    if (loses != nullptr) {
      table.notes.push_back(fmt::format("{} loses most: {} more under {}.",
                                        fmt::join(loses->keys, ", "), shown(loses->difference()),
                                        methods_[1].name));
    }
  }

  Money negative_idle(std::size_t method) const {
    const std::string name = fmt::format("({})", kNegativeIdleCause);
    Money below = Money::zero(comparison_.currency);
    for (const ComparedRow& row : comparison_.rows) {
      const bool is_below = std::find(row.keys.begin(), row.keys.end(), name) != row.keys.end();
      if (is_below) below += row.costs[method];
    }
    return below;
  }

  const Comparison& comparison_;
  const std::span<const Method> methods_;
  const std::span<const std::string> by_;
  const std::span<const std::string> reasons_;
};

}  // namespace

std::vector<Table> comparison_tables(std::span<const Comparison> comparisons,
                                     std::span<const Method> methods,
                                     std::span<const std::string> by, const std::string& title) {
  // A CSV file has one header, so all currencies have the same columns.
  std::vector<std::string> reasons;
  for (const Comparison& comparison : comparisons) {
    for (const std::string& reason : comparison.reasons) {
      if (std::find(reasons.begin(), reasons.end(), reason) == reasons.end()) {
        reasons.push_back(reason);
      }
    }
  }
  std::vector<Table> tables;
  for (const Comparison& comparison : comparisons) {
    tables.push_back(TableMaker(comparison, methods, by, reasons).make(title));
  }
  return tables;
}

}  // namespace pennyweight
