// Table: the common form of every report before it is rendered as text, CSV or JSON. Cells hold
// exact values; the renderers decide how many digits are shown.
//
// Text is for people: rounded, with thousands separators, aligned, with a totals row. CSV and JSON
// are for programs: every digit, no separators, and no totals row in CSV, where a program would add
// it to the sum.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/money.h"
#include "core/quantity.h"

namespace pennyweight {

enum class ColumnKind {
  kText,        // in text, truncated where a terminal is too narrow
  kId,          // a text that people copy, so never truncated
  kMoney,       // in text, rounded to the requested digits
  kExactMoney,  // every digit in text too: for differences, where a hidden digit would mislead
  kGpuHours,    // in CSV and JSON two columns: four digits, and the exact fraction
  kPercent,
  kCount,
};

struct Column {
  std::string name;   // in CSV and JSON: "effective_cost"
  std::string title;  // in text: "effective"
  ColumnKind kind = ColumnKind::kText;
};

// A ratio stored as part and whole, so that it is rounded only when it is shown.
struct Ratio {
  Int128 part = 0;
  Int128 whole = 0;
  bool operator==(const Ratio&) const = default;
};

// monostate: an empty cell (null in JSON).
using Cell = std::variant<std::monostate, std::string, Money, GpuTime, Ratio, std::uint64_t>;
using Row = std::vector<Cell>;

struct Table {
  std::string title;
  std::optional<Currency> currency;  // of its money columns; a table never mixes two
  std::vector<Column> columns;
  std::vector<Row> rows;           // each as long as `columns`
  std::optional<Row> total;        // the exact sums, not sums of rounded figures
  std::vector<std::string> notes;  // sentences below the table, in text and JSON
};

enum class TableFormat { kText, kCsv, kJson };

// The month for a title: "2026-03", or "all months" if empty.
std::string month_label(const std::string& month);

std::optional<TableFormat> parse_table_format(std::string_view text);  // "text", "csv", "json"

// How text is laid out. Without a width nothing is truncated.
struct TextStyle {
  // 0…18; absent: those of each amount's currency (minor_unit.h).
  std::optional<int> money_digits = std::nullopt;
  std::optional<std::size_t> width = std::nullopt;  // columns of the terminal
  bool colour = false;                              // only on a terminal
  bool unicode = true;                              // draws rules as ─ and truncation as …
};

// REQUIRES: every row has a cell for each column, of the column's kind or empty.
std::string render_text(const Table& table, const TextStyle& style);
// One header for all: tables of one report differ only in their currency, which is a column.
// REQUIRES: as above, and all have the same columns.
std::string render_csv(const std::vector<Table>& tables);
// [{"title": …, "currency": …, "rows": [{column: value}], "total": {…}, "notes": […]}]
std::string render_json(const std::vector<Table>& tables);

std::string render(const std::vector<Table>& tables, TableFormat format, const TextStyle& style);

// Makes `text` safe to print: writes control characters and bytes that are not UTF-8 as \xNN, so
// that a job's name can't move the cursor.
std::string printable(std::string_view text);
// The terminal columns that a printable text takes: one per code point.
std::size_t display_width(std::string_view text);

}  // namespace pennyweight
