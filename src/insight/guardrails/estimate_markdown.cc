#include <fmt/format.h>

#include "core/plain_text.h"
#include "insight/guardrails/estimate_report.h"
#include "reporting/minor_unit.h"

namespace pennyweight::guardrails {
namespace {

constexpr std::size_t kMarkdownRowsMax = 200;  // a comment on GitHub has 65,536 characters at most

// Text of somebody else, in a cell: it must not end the cell, begin a link or mention people.
std::string markdown_cell(std::string_view text) {
  std::string safe;
  for (const char c : printable_text(text, 300)) {
    if (c == '\n' || c == '\r' || c == '\t') {
      safe.push_back(' ');
    } else if (c == '@') {
      safe += "&#64;";
    } else if (c == '<') {
      safe += "&lt;";
    } else if (c == '>') {
      safe += "&gt;";
    } else if (c == '&') {
      safe += "&amp;";
    } else {
      if (std::string_view("\\`*_[]|#~!(){}").find(c) != std::string_view::npos) {
        safe.push_back('\\');
      }
      safe.push_back(c);
    }
  }
  return safe;
}

std::string cell_text(const Cell& cell) {
  if (const auto* money = std::get_if<Money>(&cell)) return format_minor(*money);
  if (const auto* count = std::get_if<std::uint64_t>(&cell)) return fmt::format("{}", *count);
  if (const auto* text = std::get_if<std::string>(&cell)) return markdown_cell(*text);
  return "";
}

void append_markdown_row(std::string& out, const Row& row, bool bold) {
  out += "|";
  for (const Cell& cell : row) {
    const std::string text = cell_text(cell);
    out += bold && !text.empty() ? fmt::format(" **{}** |", text) : fmt::format(" {} |", text);
  }
  out += "\n";
}

void append_markdown_table(std::string& out, const Table& table) {
  out += fmt::format("\n### {}\n\n|", table.title);
  for (const Column& column : table.columns) out += fmt::format(" {} |", column.title);
  out += "\n|";
  for (const Column& column : table.columns) {
    const bool is_number = column.kind == ColumnKind::kMoney || column.kind == ColumnKind::kCount;
    out += is_number ? " ---: |" : " --- |";
  }
  out += "\n";
  std::size_t rows = 0;
  for (const Row& row : table.rows) {
    if (++rows > kMarkdownRowsMax) break;
    append_markdown_row(out, row, false);
  }
  if (table.total) append_markdown_row(out, *table.total, true);
  if (table.rows.size() > kMarkdownRowsMax) {
    out += fmt::format("\n{} further rows are left out here; the totals have them.\n",
                       table.rows.size() - kMarkdownRowsMax);
  }
  for (const std::string& note : table.notes) out += fmt::format("\n{}\n", markdown_cell(note));
}

}  // namespace

std::string estimate_markdown(const Estimate& estimate, const EstimateComparison* comparison,
                              const std::vector<Finding>& findings, std::span<const Table> more) {
  std::string out(kMarkdownMarker);
  const EstimateTotals totals = estimate.totals();
  const std::string currency = estimate.currency.text();
  out += "\n## GPU cost\n\n";
  if (comparison != nullptr) {
    const Money month = comparison->after.per_month - comparison->before.per_month;
    const std::string sign = month.is_negative() || month.is_zero() ? "" : "+";
    out += fmt::format("**{}{} {} a month** by this change, to {} {}; {} {} an hour.\n", sign,
                       format_minor(month), currency, format_minor(totals.per_month), currency,
                       format_minor(totals.per_hour), currency);
  } else {
    out += fmt::format("**{} {} a month**, {} {} an hour; {} {} an hour are left idle.\n",
                       format_minor(totals.per_month), currency, format_minor(totals.per_hour),
                       currency, format_minor(totals.idle), currency);
  }
  if (!totals.per_run_max.is_zero()) {
    out += fmt::format("\nRuns that end cost at most {} {}, each once.\n",
                       format_minor(totals.per_run_max), currency);
  }
  for (const Finding& finding : findings) {
    if (!finding.fails) continue;
    out += fmt::format("\n- :x: **{}**: {}\n", markdown_cell(finding.about),
                       markdown_cell(finding.message));
  }
  if (comparison != nullptr) append_markdown_table(out, comparison_table(*comparison));
  for (const Table& table : estimate_tables(estimate)) append_markdown_table(out, table);
  for (const Table& table : more) append_markdown_table(out, table);
  return out;
}

}  // namespace pennyweight::guardrails
