// Tables for programs: RFC 4180 with a bare newline, every digit, no totals row.
#include "core/check.h"
#include "reporting/hour_ratio.h"
#include "reporting/number_format.h"
#include "reporting/table.h"

namespace pennyweight {
namespace {

std::string csv_quoted(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + '"';
}

bool is_money(const Column& column) {
  return column.kind == ColumnKind::kMoney || column.kind == ColumnKind::kExactMoney;
}

struct CsvCell {
  ColumnKind kind;

  std::string operator()(std::monostate) const { return kind == ColumnKind::kGpuHours ? "," : ""; }
  std::string operator()(const std::string& text) const { return csv_quoted(text); }
  std::string operator()(const Money& money) const { return to_text(money.amount()); }
  std::string operator()(const GpuTime& time) const {
    return format_gpu_hours(time, 4, Thousands::kPlain) + "," + exact_gpu_hours(time);
  }
  std::string operator()(const Ratio& ratio) const {
    if (kind == ColumnKind::kGpuHours) {
      return format_hours(ratio, Thousands::kPlain) + "," + exact_hours(ratio);
    }
    return format_percent(ratio.part, ratio.whole, 4).value_or("");
  }
  std::string operator()(std::uint64_t count) const { return std::to_string(count); }
};

std::string csv_header(const Table& table) {
  std::string line;
  bool currency_done = false;
  for (const Column& column : table.columns) {
    if (is_money(column) && !currency_done) {
      line += line.empty() ? "currency" : ",currency";
      currency_done = true;
    }
    if (!line.empty()) line += ',';
    line += csv_quoted(column.name);
    if (column.kind == ColumnKind::kGpuHours) line += "," + csv_quoted(column.name + "_exact");
  }
  return line + '\n';
}

std::string csv_line(const Table& table, const Row& row) {
  CHECK(row.size() == table.columns.size(), "a cell for each column");
  std::string line;
  bool currency_done = false;
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (is_money(table.columns[i]) && !currency_done) {
      if (i > 0) line += ',';
      line += table.currency ? table.currency->text() : "";
      line += ',';
      currency_done = true;
    } else if (i > 0) {
      line += ',';
    }
    line += std::visit(CsvCell{table.columns[i].kind}, row[i]);
  }
  return line + '\n';
}

}  // namespace

std::string render_csv(const std::vector<Table>& tables) {
  if (tables.empty()) return "";
  std::string out = csv_header(tables.front());
  for (const Table& table : tables) {
    CHECK(table.columns.size() == tables.front().columns.size(), "tables of one report");
    for (const Row& row : table.rows) out += csv_line(table, row);
  }
  return out;
}

}  // namespace pennyweight
