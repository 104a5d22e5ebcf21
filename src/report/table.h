// Table: what every report is before it is text, CSV or JSON. Cells hold exact values; the
// renderers decide how many digits are shown.
//
// Text is for people: rounded, separated, aligned, with a totals row. CSV and JSON are for
// programs: every digit, no separators, and in CSV no totals row, which a program would add up.
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
  kText,        // in text, cut where a terminal is too narrow
  kId,          // a text that people copy, so never cut
  kMoney,       // in text rounded to the digits asked for
  kExactMoney,  // in text too with every digit: for differences, where a hidden digit would lie
  kGpuHours,    // in CSV and JSON two columns: four digits, and the exact fraction
  kPercent,
  kCount,
};

struct Column {
  std::string name;   // of CSV and JSON: "effective_cost"
  std::string title;  // of text: "effective"
  ColumnKind kind = ColumnKind::kText;
};

// A part of a whole, kept as both so that nothing is rounded before it is shown.
struct Ratio {
  Int128 part = 0;
  Int128 whole = 0;
  bool operator==(const Ratio&) const = default;
};

// monostate: nothing to show, an empty cell (null in JSON).
using Cell = std::variant<std::monostate, std::string, Money, GpuTime, Ratio, std::uint64_t>;
using Row = std::vector<Cell>;

struct Table {
  std::string title;
  std::optional<Currency> currency;  // of its money columns; a table never mixes two
  std::vector<Column> columns;
  std::vector<Row> rows;           // each as long as `columns`
  std::optional<Row> total;        // the true sums, not sums of what is shown
  std::vector<std::string> notes;  // sentences below the table, in text and JSON
};

enum class TableFormat { kText, kCsv, kJson };

std::optional<TableFormat> parse_table_format(std::string_view text);  // "text", "csv", "json"

// How text is laid out. Without a width nothing is cut; colours only where somebody looks at them.
struct TextStyle {
  int money_digits = 2;                             // 0…18
  std::optional<std::size_t> width = std::nullopt;  // columns of the terminal
  bool colour = false;
  bool unicode = true;  // rules drawn as ─, cuts as …
};

// REQUIRES: every row has a cell for each column, of the column's kind or empty.
std::string render_text(const Table& table, const TextStyle& style);
// One header for all: tables of one report differ only in their currency, which is a column.
// REQUIRES: as above, and all have the same columns.
std::string render_csv(const std::vector<Table>& tables);
// [{"title": …, "currency": …, "rows": [{column: value}], "total": {…}, "notes": […]}]
std::string render_json(const std::vector<Table>& tables);

std::string render(const std::vector<Table>& tables, TableFormat format, const TextStyle& style);

// `text` safe to print: control characters and bytes that are not UTF-8 are written as \xNN, so
// that a job's name can't move the cursor.
std::string printable(std::string_view text);
// How many columns of a terminal a printable text takes, one for each code point.
std::size_t display_width(std::string_view text);

}  // namespace pennyweight
