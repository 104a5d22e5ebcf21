#include "server/api/tables.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <span>
#include <utility>

#include "core/ascii.h"
#include "core/check.h"
#include "reporting/export/table_parquet.h"
#include "reporting/hour_ratio.h"
#include "reporting/number_format.h"

namespace pennyweight::api {
namespace {

using server::Response;
using server::Sink;

constexpr std::size_t kRowsAPiece = 500;
constexpr std::size_t kBytesAPiece = 64u << 10;

std::string_view column_kind_text(ColumnKind kind) {
  switch (kind) {
    case ColumnKind::kText:
      return "text";
    case ColumnKind::kId:
      return "id";
    case ColumnKind::kMoney:
      return "money";
    case ColumnKind::kExactMoney:
      return "exact_money";
    case ColumnKind::kGpuHours:
      return "gpu_hours";
    case ColumnKind::kPercent:
      return "percent";
    case ColumnKind::kCount:
      return "count";
  }
  return "text";
}

struct CellWriter {
  JsonWriter& out;
  const Column& column;
  const std::string& name;

  void operator()(std::monostate) const { out.key(name).null(); }
  void operator()(const std::string& text) const { out.field(name, text); }
  void operator()(const Money& money) const { out.field(name, to_text(money.amount())); }
  void operator()(const GpuTime& time) const {
    out.field(name, format_gpu_hours(time, 4, Thousands::kPlain));
    out.field(name + "_exact", exact_gpu_hours(time));
  }
  void operator()(const Ratio& ratio) const {
    if (column.kind == ColumnKind::kGpuHours) {
      out.field(name, format_hours(ratio, Thousands::kPlain));
      out.field(name + "_exact", exact_hours(ratio));
      return;
    }
    out.field(name, format_percent(ratio.part, ratio.whole, 4));
  }
  void operator()(std::uint64_t count) const { out.field(name, count); }
};

void write_cells(JsonWriter& out, const Table& table, const Row& row) {
  CHECK(row.size() == table.columns.size(), "a cell for each column");
  for (std::size_t i = 0; i < row.size(); ++i) {
    std::visit(CellWriter{out, table.columns[i], table.columns[i].name}, row[i]);
  }
}

using Shared = std::shared_ptr<const std::vector<Table>>;

// Some rows of a table as a table.
Table piece_of(const Table& table, std::size_t begin) {
  const std::size_t end = std::min(table.rows.size(), begin + kRowsAPiece);
  return {.title = table.title,
          .currency = table.currency,
          .columns = table.columns,
          .rows = std::vector<Row>(table.rows.begin() + static_cast<std::ptrdiff_t>(begin),
                                   table.rows.begin() + static_cast<std::ptrdiff_t>(end)),
          .total = {},
          .notes = {}};
}

void make_safe_for_sheets(Table& table) {
  for (Row& row : table.rows) {
    for (Cell& cell : row) {
      if (auto* const text = std::get_if<std::string>(&cell)) *text = sheet_text(*text);
    }
  }
}

bool stream_csv(const std::vector<Table>& tables, bool for_sheets, const Sink& sink) {
  bool has_header = false;
  for (const Table& table : tables) {
    for (std::size_t begin = 0; begin < table.rows.size() || !has_header; begin += kRowsAPiece) {
      Table rows = piece_of(table, begin);
      if (for_sheets) make_safe_for_sheets(rows);
      const std::string text = render_csv({std::move(rows)});
      std::string_view piece = text;
      // Column names have no line breaks, so the header is the first line.
      if (has_header) piece.remove_prefix(piece.find('\n') + 1);
      has_header = true;
      if (!sink(piece)) return false;
    }
  }
  return true;
}

bool stream_json_lines(const std::vector<Table>& tables, const Sink& sink) {
  std::string piece;
  for (const Table& table : tables) {
    for (const Row& row : table.rows) {
      JsonWriter line;
      line.begin_object();
      if (table.currency) line.field("currency", table.currency->text());
      write_cells(line, table, row);
      line.end_object();
      piece += line.text() + '\n';
      if (piece.size() < kBytesAPiece) continue;
      if (!sink(piece)) return false;
      piece.clear();
    }
  }
  return piece.empty() || sink(piece);
}

// A temporary file, removed at the end.
class TemporaryFile {
 public:
  static Result<TemporaryFile> create() {
    std::error_code failed;
    const std::filesystem::path folder = std::filesystem::temp_directory_path(failed);
    if (failed) return fail(ErrorCode::kIo, "no folder for temporary files found; set TMPDIR");
    std::string path = (folder / "pennyweight-XXXXXX").string();
    const int file = ::mkstemp(path.data());
    if (file < 0) return fail(ErrorCode::kIo, "cannot make a temporary file in " + folder.string());
    ::close(file);
    return TemporaryFile(std::move(path));
  }
  TemporaryFile(TemporaryFile&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  TemporaryFile& operator=(TemporaryFile&&) = delete;
  ~TemporaryFile() {
    if (!path_.empty()) std::remove(path_.c_str());
  }
  const std::string& path() const { return path_; }

 private:
  explicit TemporaryFile(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

bool stream_file(const std::string& path, const Sink& sink) {
  std::ifstream file(path, std::ios::binary);
  std::array<char, kBytesAPiece> piece{};
  while (file) {
    file.read(piece.data(), piece.size());
    const auto got = static_cast<std::size_t>(file.gcount());
    if (got > 0 && !sink({piece.data(), got})) return false;
  }
  return file.eof();
}

Response parquet(const std::vector<Table>& tables) {
  auto file = TemporaryFile::create();
  if (!file) return refusal(file.error());
  if (const auto written = write_parquet(tables, file->path()); !written) {
    return refusal(written.error());
  }
  const auto shared = std::make_shared<TemporaryFile>(*std::move(file));
  Response response{.content_type = std::string(content_type_name(AnswerFormat::kParquet))};
  response.stream = [shared](const Sink& sink) { return stream_file(shared->path(), sink); };
  return response;
}

}  // namespace

AnswerFormat choose_format(QueryParams& params, const server::Request& request, bool has_parquet) {
  std::vector<std::string_view> names = {"json", "csv", "sheet", "jsonl"};
  if (has_parquet) names.push_back("parquet");
  const std::string name = params.text("format") ? params.choice("format", names) : "";
  if (name == "json") return AnswerFormat::kJson;
  if (name == "csv") return AnswerFormat::kCsv;
  if (name == "sheet") return AnswerFormat::kSheet;
  if (name == "jsonl") return AnswerFormat::kJsonLines;
  if (name == "parquet") return AnswerFormat::kParquet;
  // A client that accepts JSON as well gets JSON.
  if (request.accept.find("json") != std::string::npos &&
      request.accept.find("jsonl") == std::string::npos) {
    return AnswerFormat::kJson;
  }
  for (const AnswerFormat format :
       {AnswerFormat::kCsv, AnswerFormat::kJsonLines, AnswerFormat::kParquet}) {
    if (format == AnswerFormat::kParquet && !has_parquet) continue;
    const std::string_view type = content_type_name(format);
    if (request.accept.find(type.substr(0, type.find(';'))) != std::string::npos) return format;
  }
  return AnswerFormat::kJson;
}

std::string sheet_text(const std::string& text) {
  // Also the signs of double width, which East Asian editions take for the same.
  constexpr std::string_view kBegins[] = {"=",  "+",      "-",      "@",      "\t",    "\r",
                                          "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20"};
  const auto begins = [&](std::string_view sign) { return text.starts_with(sign); };
  if (std::ranges::none_of(kBegins, begins)) return text;
  const std::string_view rest = std::string_view(text).substr(1);
  const auto is_of_number = [](char c) { return ascii::is_digit(c) || c == '.'; };
  if (!rest.empty() && (text[0] == '-' || text[0] == '+') &&
      std::ranges::all_of(rest, is_of_number)) {
    return text;
  }
  return "'" + text;
}

std::string_view content_type_name(AnswerFormat format) {
  switch (format) {
    case AnswerFormat::kJson:
      return "application/json";
    case AnswerFormat::kCsv:
    case AnswerFormat::kSheet:
      return "text/csv; charset=utf-8";
    case AnswerFormat::kJsonLines:
      return "application/jsonl";
    case AnswerFormat::kParquet:
      return "application/vnd.apache.parquet";
  }
  return "application/json";
}

void write_row(JsonWriter& out, const Table& table, const Row& row) {
  out.begin_object();
  write_cells(out, table, row);
  out.end_object();
}

void write_table(JsonWriter& out, const Table& table) {
  out.begin_object().field("title", table.title);
  if (table.currency) out.field("currency", table.currency->text());
  out.key("columns").begin_list();
  for (const Column& column : table.columns) {
    out.begin_object()
        .field("name", column.name)
        .field("title", column.title)
        .field("kind", column_kind_text(column.kind))
        .end_object();
  }
  out.end_list().key("rows").begin_list();
  for (const Row& row : table.rows) write_row(out, table, row);
  out.end_list();
  if (table.total) {
    out.key("total");
    write_row(out, table, *table.total);
  }
  if (!table.notes.empty()) out.texts("notes", table.notes);
  out.end_object();
}

Response answer(std::vector<Table> tables, AnswerFormat format, const std::string& etag) {
  Response response;
  if (format == AnswerFormat::kJson) {
    JsonWriter out;
    out.begin_object().key("tables").begin_list();
    for (const Table& table : tables) write_table(out, table);
    out.end_list();
    if (!etag.empty()) out.field("etag", etag);
    out.end_object();
    response = json(out, 200, etag);
  } else if (format == AnswerFormat::kParquet) {
    response = parquet(tables);
  } else {
    const auto shared = std::make_shared<const std::vector<Table>>(std::move(tables));
    response.content_type = std::string(content_type_name(format));
    response.stream = [shared, format](const Sink& sink) {
      if (format == AnswerFormat::kJsonLines) return stream_json_lines(*shared, sink);
      return stream_csv(*shared, format == AnswerFormat::kSheet, sink);
    };
  }
  response.etag = etag;
  response.headers.emplace_back("Vary", "Accept");
  return response;
}

}  // namespace pennyweight::api
