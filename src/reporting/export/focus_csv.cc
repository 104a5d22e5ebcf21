#include "reporting/export/focus_csv.h"

#include <utility>

#include "core/try.h"

namespace pennyweight {
namespace {

bool must_be_quoted(std::string_view text) {
  if (text == "NULL" || text == "null" || text == "\\N") return true;
  if (text.empty()) return false;
  const auto is_space = [](char c) { return c == ' ' || c == '\t'; };
  return is_space(text.front()) || is_space(text.back()) ||
         text.find_first_of(",\"\r\n") != std::string_view::npos;
}

void append_field(std::string& out, std::string_view text) {
  if (!must_be_quoted(text)) {
    out += text;
    return;
  }
  out += '"';
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  out += '"';
}

void append_cell(std::string& out, const FocusCell& cell) {
  if (const auto* text = std::get_if<std::string>(&cell)) {
    append_field(out, *text);
  } else if (const auto* number = std::get_if<Decimal>(&cell)) {
    out += focus_number(*number);
  } else if (const auto* at = std::get_if<Instant>(&cell)) {
    out += to_text(*at);
  } else if (const auto* count = std::get_if<std::int64_t>(&cell)) {
    out += std::to_string(*count);
  }
}

}  // namespace

std::string focus_number(Decimal value) {
  std::string text = to_text(value);
  if (text.find('.') == std::string::npos) text += ".0";
  return text;
}

void append_csv_header(std::string& out, std::span<const FocusColumn> columns) {
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (i > 0) out += ',';
    append_field(out, columns[i].name);
  }
  out += '\n';
}

void append_csv_row(std::string& out, std::span<const FocusCell> row) {
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (i > 0) out += ',';
    append_cell(out, row[i]);
  }
  out += '\n';
}

std::string FocusCsv::header() {
  table_.fix_columns();
  std::string line;
  append_csv_header(line, table_.columns());
  return line;
}

Result<void> FocusCsv::rows(std::span<const Charge> charges, std::string& out) {
  FocusRow row;
  for (const Charge& charge : charges) {
    TRY(table_.fill(charge, row));
    append_csv_row(out, row);
  }
  return {};
}

Result<std::string> focus_csv(FocusVersion version, std::span<const Charge> charges) {
  FocusCsv csv(version);
  TRY(csv.note(charges));
  std::string out = csv.header();
  TRY(csv.rows(charges, out));
  return out;
}

}  // namespace pennyweight
