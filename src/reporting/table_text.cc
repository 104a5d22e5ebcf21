// Tables for people: a title, aligned columns, light rules.
#include <algorithm>
#include <numeric>
#include <span>

#include "core/check.h"
#include "core/utf8.h"
#include "reporting/hour_ratio.h"
#include "reporting/minor_unit.h"
#include "reporting/number_format.h"
#include "reporting/shown_cell.h"
#include "reporting/table.h"

namespace pennyweight {
namespace {

constexpr std::string_view kGap = "  ";
constexpr std::size_t kTextWidthMin = 8;  // a narrower name is unreadable
constexpr std::string_view kBold = "\x1b[1m";
constexpr std::string_view kDim = "\x1b[2m";
constexpr std::string_view kPlain = "\x1b[0m";

struct ShowCell {
  std::optional<int> money_digits;  // of this column; absent: those of the currency
  ColumnKind kind;

  std::string operator()(std::monostate) const { return ""; }
  std::string operator()(const std::string& text) const { return printable(text); }
  std::string operator()(const Money& money) const {
    return format_rounded(money.amount(), money_digits.value_or(minor_digits(money.currency())),
                          Thousands::kSeparated);
  }
  std::string operator()(const GpuTime& time) const {
    return format_gpu_hours(time, 4, Thousands::kSeparated);
  }
  std::string operator()(const Ratio& ratio) const {
    if (kind == ColumnKind::kGpuHours) return format_hours(ratio, Thousands::kSeparated);
    const auto percent = format_percent(ratio.part, ratio.whole, 1);
    return percent ? *percent + " %" : "";
  }
  std::string operator()(std::uint64_t count) const {
    return format_count(count, Thousands::kSeparated);
  }
};

using TextCells = std::vector<std::string>;

int digits_needed(const Cell& cell) {
  const Money* money = std::get_if<Money>(&cell);
  if (money == nullptr) return 0;
  const std::string text = to_text(money->amount());
  const std::size_t point = text.find('.');
  return point == std::string::npos ? 0 : static_cast<int>(text.size() - point - 1);
}

// The digits each column shows after the point; an exact column shows as many as its longest
// amount.
std::vector<std::optional<int>> column_digits(const Table& table, const TextStyle& style) {
  std::vector<std::optional<int>> digits(table.columns.size(), style.money_digits);
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (table.columns[i].kind != ColumnKind::kExactMoney) continue;
    int needed = table.total ? digits_needed((*table.total)[i]) : 0;
    for (const Row& row : table.rows) needed = std::max(needed, digits_needed(row.at(i)));
    digits[i] = needed;
  }
  return digits;
}

TextCells show(const Table& table, const Row& row, const std::vector<std::optional<int>>& digits) {
  CHECK(row.size() == digits.size(), "a cell for each column");
  TextCells line;
  for (std::size_t i = 0; i < row.size(); ++i) {
    line.push_back(std::visit(ShowCell{digits[i], table.columns[i].kind}, row[i]));
  }
  return line;
}

std::string cut(std::string_view text, std::size_t width, bool unicode) {
  if (display_width(text) <= width) return std::string(text);
  const std::string_view ellipsis = unicode ? "…" : "~";
  std::string out;
  for (std::size_t used = 0; used + 1 < width; ++used) {
    const std::size_t bytes = code_point_bytes(text);
    out += text.substr(0, bytes);
    text.remove_prefix(bytes);
  }
  return out + std::string(ellipsis);
}

void widen(std::vector<std::size_t>& widths, const TextCells& line) {
  for (std::size_t i = 0; i < line.size(); ++i) {
    widths[i] = std::max(widths[i], display_width(line[i]));
  }
}

// Narrows the widest text column until the table fits. Numbers are never truncated: a truncated
// number is a wrong one.
void narrow(std::vector<std::size_t>& widths, std::span<const Column> columns, std::size_t width) {
  std::size_t needed =
      std::accumulate(widths.begin(), widths.end(), kGap.size() * (widths.size() - 1));
  while (needed > width) {
    std::optional<std::size_t> widest;
    for (std::size_t i = 0; i < widths.size(); ++i) {
      if (columns[i].kind != ColumnKind::kText || widths[i] <= kTextWidthMin) continue;
      if (!widest || widths[i] > widths[*widest]) widest = i;
    }
    if (!widest) return;
    --widths[*widest];
    --needed;
  }
}

class Page {
 public:
  Page(const Table& table, const TextStyle& style, std::vector<std::size_t> widths)
      : table_(table), style_(style), widths_(std::move(widths)) {}

  void title() {
    if (table_.title.empty()) return;
    put(kBold, printable(table_.title));
  }

  void line(const TextCells& cells, std::string_view colour) {
    std::string text;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (i > 0) text += kGap;
      const std::string cell = cut(cells[i], widths_[i], style_.unicode);
      const std::string padding(widths_[i] - display_width(cell), ' ');
      const bool left =
          table_.columns[i].kind == ColumnKind::kText || table_.columns[i].kind == ColumnKind::kId;
      text += left ? cell + padding : padding + cell;
    }
    text.erase(text.find_last_not_of(' ') + 1);
    put(colour, text);
  }

  void rule() {
    std::string text;
    for (std::size_t i = 0; i < widths_.size(); ++i) {
      if (i > 0) text += kGap;
      for (std::size_t n = 0; n < widths_[i]; ++n) text += style_.unicode ? "─" : "-";
    }
    put(kDim, text);
  }

  void note(std::string_view text) { put(kDim, printable(text)); }

  std::string take() { return std::move(out_); }

 private:
  void put(std::string_view colour, std::string_view text) {
    if (style_.colour && !colour.empty()) {
      out_ += colour;
      out_ += text;
      out_ += kPlain;
    } else {
      out_ += text;
    }
    out_ += '\n';
  }

  const Table& table_;
  const TextStyle& style_;
  std::vector<std::size_t> widths_;
  std::string out_;
};

}  // namespace

std::string shown_cell(const Cell& cell, std::optional<int> money_digits) {
  return std::visit(ShowCell{money_digits, ColumnKind::kPercent}, cell);
}

std::string render_text(const Table& table, const TextStyle& style) {
  CHECK(!table.columns.empty(), "a table has columns");
  TextCells header;
  for (const Column& column : table.columns) header.push_back(column.title);
  const std::vector<std::optional<int>> digits = column_digits(table, style);
  std::vector<TextCells> lines;
  for (const Row& row : table.rows) lines.push_back(show(table, row, digits));
  std::optional<TextCells> total;
  if (table.total) total = show(table, *table.total, digits);

  std::vector<std::size_t> widths(table.columns.size(), 0);
  widen(widths, header);
  for (const TextCells& line : lines) widen(widths, line);
  if (total) widen(widths, *total);
  if (style.width) narrow(widths, table.columns, *style.width);

  Page page(table, style, std::move(widths));
  page.title();
  page.line(header, kBold);
  page.rule();
  for (const TextCells& line : lines) page.line(line, "");
  if (total) {
    page.rule();
    page.line(*total, kBold);
  }
  for (const std::string& note : table.notes) page.note(note);
  return page.take();
}

}  // namespace pennyweight
