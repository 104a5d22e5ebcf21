#include "app/import/detect_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/ascii.h"
#include "core/check.h"
#include "core/try.h"
#include "ingest/bills/formats/bill_formats.h"
#include "ingest/bills/parquet_import.h"
#include "reporting/table.h"

namespace pennyweight {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

std::string_view first_line(std::string_view text) {
  return text.substr(0, text.find_first_of("\r\n"));
}

// The names of a header, without the spaces and quotes around them.
std::vector<std::string> split_header(std::string_view line, char delimiter) {
  std::vector<std::string> names;
  for (;;) {
    const std::size_t end = line.find(delimiter);
    names.emplace_back(ascii::trim(line.substr(0, end), " \t\""));
    if (end == std::string_view::npos) return names;
    line.remove_prefix(end + 1);
  }
}

// What a file of no known format probably is, and what to do; empty: no idea.
std::string_view likely_mistake(std::string_view text) {
  const std::string_view line = first_line(text);
  if (line.starts_with("PK\x03\x04"))
    return "is a ZIP archive or a spreadsheet; unpack it, or save it as CSV";
  if (line.starts_with("sep="))
    return "begins with a line that only spreadsheets understand; remove the first line";
  if (line.starts_with('<'))
    return "is a web page or XML, such as an answer that refused the download; fetch it again";
  if (line.find(',') != std::string_view::npos) return {};
  if (bill::detect_bill_format(split_header(line, ';')) != nullptr)
    return "has ';' between its fields; write it with ',' between them and with decimal points";
  if (bill::detect_bill_format(split_header(line, '\t')) != nullptr)
    return "has tabs between its fields; write it with ',' between them";
  return {};
}

Result<const InputFormat*> detect_parquet(const std::string& path) {
  const InputFormat* const focus = find_input_format("focus-parquet");
  if (path.empty() || path == "-") return focus;
  const auto columns = TRY(bill::parquet_columns(path));
  const bill::BillFormat* bill = bill::detect_bill_format(columns);
  const InputFormat* found =
      bill == nullptr ? nullptr : find_bill_input(*bill, bill::BillEncoding::kParquet);
  return found == nullptr ? focus : found;
}

}  // namespace

FileStart::FileStart(std::string_view text) {
  const std::size_t first = text.find_first_not_of(ascii::kWhitespace);
  text_ = text.substr(std::min(first, text.size()));
  if (!is_json()) columns_ = split_header(first_line(text_), ',');
}

bool FileStart::has_column(std::string_view name) const {
  return std::ranges::find(columns_, name) != columns_.end();
}

bool FileStart::has_column(std::string_view name, char delimiter) const {
  if (is_json()) return false;
  const std::vector<std::string> names = split_header(first_line(text_), delimiter);
  return std::ranges::find(names, name) != names.end();
}

Result<const InputFormat*> detect_format(std::string_view beginning, const std::string& path) {
  if (beginning.starts_with("PAR1")) return detect_parquet(path);
  if (beginning.starts_with("\xFF\xFE") || beginning.starts_with("\xFE\xFF")) {
    return fail(ErrorCode::kBadFile, "is UTF-16; write it as UTF-8");
  }
  if (beginning.starts_with(kByteOrderMark)) beginning.remove_prefix(kByteOrderMark.size());
  if (beginning.starts_with("PK\x03\x04")) {
    return fail(ErrorCode::kBadFile, std::string(likely_mistake(beginning)));
  }
  if (beginning.find('\0') != std::string_view::npos) {
    return fail(ErrorCode::kBadFile, "is a binary file, not a bill, a record or an inventory");
  }
  const FileStart start(beginning);
  if (start.text().empty()) return fail(ErrorCode::kBadFile, "is empty");
  for (const InputFormat& format : input_formats()) {
    if (format.matches(format, start)) return &format;
  }
  if (const std::string_view mistake = likely_mistake(beginning); !mistake.empty()) {
    return fail(ErrorCode::kBadFile, std::string(mistake));
  }
  constexpr std::size_t kShown = 80;
  const std::string_view line = first_line(beginning);
  return fail(ErrorCode::kBadFile,
              fmt::format("is of no format that is known here; its first line is '{}{}'; name the "
                          "format with --format",
                          printable(line.substr(0, kShown)), line.size() > kShown ? "…" : ""));
}

}  // namespace pennyweight
