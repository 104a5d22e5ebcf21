#include "ingest/bills/csv_import.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/try.h"
#include "ingest/bills/row_importer.h"
#include "ingest/csv/reader.h"

namespace pennyweight::bill {

class CsvImport::CsvRows : public csv::Sink {
 public:
  CsvRows(std::string file, RowReaderFactory open_reader, ImportSink& sink)
      : importer(std::move(file), std::move(open_reader), sink),
        reader({.require_rows = false}, *this) {}

  Result<void> header(const csv::Header& header) override {
    names = header.names();
    last_column = names.back();
    return importer.open(header);
  }
  Result<void> row(const csv::Row& row) override {
    if (const auto again = find_header(row.fields); again != HeaderRow::kNone) {
      if (again == HeaderRow::kOther) return other_header(row.line);
      ++repeated_headers;
      return {};
    }
    // Without a line end nobody can see whether the last field is whole. Where it is an amount, or
    // says whose line it is, a file that was cut there would say something else.
    if (!row.has_line_end) {
      const std::string_view last = row.fields.back();
      const bool is_number =
          last.find_first_not_of("+-.,0123456789eE") == std::string_view::npos &&
          (!last.empty() || last_column.ends_with("Cost") || last_column.ends_with("cost"));
      const bool decides =
          decides_identity(last_column) || (decides_amounts(last_column) && is_number);
      if (decides && row.quoted.back() == 0) {
        const RowFault fault{last_column,
                             "the file ends here, without a line end: the last value may be cut; "
                             "fetch the file again, or end its last line if it is whole"};
        return importer.set_aside(row.line, {row.fields, row.quoted}, fault, fault.reason,
                                  row.text);
      }
      ends_without_line_end = true;
    }
    return importer.import_row(
        row.line, {row.fields, row.quoted}, [] { return std::string(); },
        [&row] { return row.text; });
  }
  Result<void> bad_row(const csv::BadRow& row) override {
    // Behind the mark of UTF-8, the quotes of a header are a fault.
    const HeaderRow again = find_header(plain_fields(row.text));
    if (again == HeaderRow::kSame) {
      ++repeated_headers;
      return {};
    }
    if (again == HeaderRow::kOther || begins_other_header(row.text)) return other_header(row.line);
    return importer.reject(row.line, "", row.reason, row.text);
  }

  Result<ImportSummary> finish() {
    auto summary = importer.finish();
    if (summary && repeated_headers > 0) {
      summary->warnings.push_back(fmt::format(
          "{} again and {} no money; files were joined to this one",
          repeated_headers == 1 ? "1 line is the header"
                                : fmt::format("{} lines are the header", repeated_headers),
          repeated_headers == 1 ? "holds" : "hold"));
    }
    if (summary && ends_without_line_end) {
      summary->warnings.emplace_back(
          "the last line has no line end; if the file was cut off, its last field is not complete");
    }
    return summary;
  }

  enum class HeaderRow { kNone, kSame, kOther };
  // Whether a row is the header of a file that was joined to this one. Rows after another header
  // would be read under the wrong columns.
  HeaderRow find_header(std::span<const std::string_view> fields) const {
    if (std::ranges::equal(fields, names, {}, trimmed)) return HeaderRow::kSame;
    // No value of a bill is the name of its column, but a text here and there might be.
    if (std::ranges::find(names, trimmed(fields.front())) == names.end()) return HeaderRow::kNone;
    const auto known = std::ranges::count_if(fields, [&](std::string_view field) {
      return std::ranges::find(names, trimmed(field)) != names.end();
    });
    return static_cast<std::size_t>(known) * 2 > names.size() ? HeaderRow::kOther
                                                              : HeaderRow::kNone;
  }
  // The same for a row that has another number of fields.
  bool begins_other_header(std::string_view text) const {
    if (names.size() < 2) return false;
    const std::vector<std::string_view> fields = plain_fields(text);
    return fields.size() >= 2 && trimmed(fields[0]) == names[0] && trimmed(fields[1]) == names[1];
  }
  // Of a header, whose names hold no commas.
  static std::vector<std::string_view> plain_fields(std::string_view text) {
    std::vector<std::string_view> fields;
    for (std::size_t comma = text.find(','); comma != std::string_view::npos;
         comma = text.find(',')) {
      fields.push_back(text.substr(0, comma));
      text.remove_prefix(comma + 1);
    }
    fields.push_back(text);
    return fields;
  }
  // A name as it stands in a header, without the quotes, and the mark of UTF-8 that some exports
  // begin with.
  static std::string_view trimmed(std::string_view text) {
    constexpr std::string_view kMark = "\xef\xbb\xbf";
    if (text.starts_with(kMark)) text.remove_prefix(kMark.size());
    const std::size_t begin = text.find_first_not_of(" \t");
    if (begin == std::string_view::npos) return {};
    text = text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
    const bool is_quoted = text.size() >= 2 && text.front() == '"' && text.back() == '"';
    return is_quoted ? text.substr(1, text.size() - 2) : text;
  }
  static Result<void> other_header(std::uint64_t line) {
    return fail(
        ErrorCode::kBadFile,
        fmt::format("line {} is the header of another file, with other columns than line 1: "
                    "files were joined; import them as files of their own, in one command",
                    line));
  }

  RowImporter importer;
  csv::Reader reader;
  std::vector<std::string> names;
  std::string last_column;
  std::uint64_t repeated_headers = 0;
  bool ends_without_line_end = false;
};

CsvImport::CsvImport(std::string file, RowReaderFactory open_reader, ImportSink& sink)
    : rows_(std::make_unique<CsvRows>(std::move(file), std::move(open_reader), sink)) {}
CsvImport::~CsvImport() = default;

Result<void> CsvImport::feed(std::string_view chunk) { return rows_->reader.feed(chunk); }

Result<ImportSummary> CsvImport::finish() {
  TRY(rows_->reader.finish());
  return rows_->finish();
}

Result<ImportSummary> import_csv(std::string_view text, const std::string& file,
                                 RowReaderFactory open_reader, ImportSink& sink) {
  CsvImport import(file, std::move(open_reader), sink);
  TRY(import.rows_->reader.read_all(text));
  return import.rows_->finish();
}

}  // namespace pennyweight::bill
