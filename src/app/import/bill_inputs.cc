// Bills as input formats: one for each encoding of each format of ingest/bills/formats.
#include <fmt/format.h>

#include <memory>
#include <utility>

#include "app/import/detect_format.h"
#include "app/import/format_lists.h"
#include "app/import/parser_tools.h"
#include "core/files/file.h"
#include "core/limits.h"
#include "core/try.h"
#include "ingest/bills/formats/bill_formats.h"

namespace pennyweight {
namespace {

struct EncodingName {
  bill::BillEncoding encoding;
  std::string_view suffix;  // of the format's name
  std::string_view title;
};
constexpr EncodingName kEncodings[] = {{bill::BillEncoding::kCsv, "", "CSV"},
                                       {bill::BillEncoding::kParquet, "-parquet", "Parquet"},
                                       {bill::BillEncoding::kJson, "-json", "JSON"}};

bool has_encoding(const bill::BillFormat& format, bill::BillEncoding encoding) {
  switch (encoding) {
    case bill::BillEncoding::kCsv:
      return true;
    case bill::BillEncoding::kParquet:
      return format.in_parquet;
    case bill::BillEncoding::kJson:
      return format.in_json;
  }
  return false;
}

bool matches_bill(const InputFormat& format, const FileStart& start) {
  switch (format.encoding) {
    case bill::BillEncoding::kCsv:
      return !start.is_json() && format.bill->has_columns(start.columns());
    case bill::BillEncoding::kParquet:
      return false;
    case bill::BillEncoding::kJson:
      return start.is_json() && format.bill->has_records(start.text());
  }
  return false;
}

void add_bill_remarks(const ParserInput& input, const bill::ImportSummary& summary) {
  input.remarks.push_back(summary.kind);
  for (const auto& [reason, count] : summary.skipped) {
    add_remark(input, count, "row was skipped: " + reason, "rows were skipped: " + reason);
  }
  add_remark(input, summary.rounded_numbers, "number had digits beyond the 18th and was rounded",
             "numbers had digits beyond the 18th and were rounded");
  add_remark(input, summary.unread_json, "value of a JSON column was stored as text",
             "values of JSON columns were stored as text");
  input.remarks.insert(input.remarks.end(), summary.warnings.begin(), summary.warnings.end());
}

// Rows are numbered through the files of a delivery.
void add_to_statement(BillStatement& statement, const bill::ImportSummary& summary) {
  if (statement.form.empty()) statement.form = summary.kind;
  statement.taken.add(summary.taken);
  statement.aside.add(summary.aside);
  for (const auto& [reason, rows] : summary.passed_over) statement.passed_over[reason].add(rows);
  for (AsideRow row : summary.aside_rows) {
    if (statement.aside_rows.size() == limits::kAsideRowsStatedMax) break;
    row.number = statement.aside_rows.size() + 1;
    statement.aside_rows.push_back(std::move(row));
  }
}

Result<FileParser> open_bill_parser(const InputFormat& format, const ParserInput& input) {
  if (format.encoding == bill::BillEncoding::kParquet && input.path == "-") {
    return fail(ErrorCode::kConfig,
                "Parquet can't be read from standard input; give the path of the file");
  }
  const bill::BillSettings settings{.options = input.options.bill_options, .rate_card = input.card};
  const std::shared_ptr<bill::BillImport> import = TRY(bill::open_bill(
      *format.bill, format.encoding, {input.path, input.file}, settings, input.sink));
  return FileParser{[import](std::string_view chunk) { return import->feed(chunk); },
                    [import, input]() -> Result<void> {
                      const auto summary = TRY(import->finish());
                      add_bill_remarks(input, summary);
                      add_to_statement(input.statement, summary);
                      return input.sink.end_bill_file(input.file);
                    }};
}

}  // namespace

std::vector<InputFormat> bill_inputs() {
  std::vector<InputFormat> inputs;
  for (const bill::BillFormat* format : bill::bill_formats()) {
    for (const EncodingName& encoding : kEncodings) {
      if (!has_encoding(*format, encoding.encoding)) continue;
      inputs.push_back({.name = fmt::format("{}{}", format->name, encoding.suffix),
                        .description = fmt::format("{} ({})", format->title, encoding.title),
                        .matches = matches_bill,
                        .open = open_bill_parser,
                        .bill = format,
                        .encoding = encoding.encoding});
    }
  }
  return inputs;
}

}  // namespace pennyweight
