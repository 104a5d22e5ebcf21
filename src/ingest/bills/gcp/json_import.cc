#include "ingest/bills/gcp/json_import.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "core/json_text.h"
#include "core/limits.h"
#include "core/try.h"
#include "ingest/bills/gcp/columns.h"
#include "ingest/bills/gcp/gcp_bill.h"
#include "ingest/bills/gcp/json_scanner.h"
#include "ingest/bills/gcp/row_parser.h"
#include "ingest/bills/json_column.h"
#include "ingest/bills/row_importer.h"
#include "ingest/csv/utf8.h"

namespace pennyweight::gcp {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

std::vector<std::string_view> header_names() {
  std::vector<std::string_view> names(nested_columns().begin(), nested_columns().end());
  names.push_back(kUnknownMembers);
  return names;
}

std::string_view without_line_end(std::string_view line) {
  while (line.ends_with('\n') || line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

bool is_blank(std::string_view line) {
  return line.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

}  // namespace

// Puts the members of each line under the columns of BigQuery's tables; members that the tables
// don't have share one more column, as an object.
class JsonImport::JsonLines {
 public:
  JsonLines(std::string file, bill::ImportSink& sink)
      : importer_(std::move(file), gcp_bill(), sink) {
    for (const std::string_view name : header_names()) {
      positions_.emplace(std::string(name), positions_.size());
    }
    quoted_.assign(positions_.size(), 1);
  }

  Result<void> feed(std::string_view chunk) {
    while (!chunk.empty()) {
      const std::size_t newline = chunk.find('\n');
      const bool is_whole = newline != std::string_view::npos;
      const std::string_view piece = chunk.substr(0, is_whole ? newline + 1 : chunk.size());
      chunk.remove_prefix(piece.size());
      if (!is_whole || !waiting_.empty() || is_too_long_) {
        wait(piece);
        if (!is_whole) return {};
        auto ok = take(waiting_);
        waiting_.clear();
        is_too_long_ = false;
        if (!ok) return ok;
      } else
        TRY(take(piece));
    }
    return {};
  }

  Result<bill::ImportSummary> finish() {
    if (!waiting_.empty()) {
      TRY(take(waiting_));
    }
    if (!has_rows_) return fail(ErrorCode::kBadFile, "the file has no rows");
    return importer_.finish();
  }

 private:
  // Of a line over the limit only the beginning is stored, to be shown.
  void wait(std::string_view piece) {
    if (is_too_long_) return;
    if (waiting_.size() + piece.size() <= limits::kRowBytesMax) {
      waiting_.append(piece);
      return;
    }
    is_too_long_ = true;
    waiting_.append(piece.substr(0, limits::kRejectedTextBytesMax));
    waiting_.resize(std::min(waiting_.size(), limits::kRejectedTextBytesMax));
  }

  Result<void> open() {
    has_rows_ = true;
    const std::vector<std::string_view> names = header_names();
    auto header = TRY(csv::Header::of(names));
    return importer_.open(header);
  }

  Result<void> take(std::string_view line) {
    ++number_;
    if (number_ == 1 && line.starts_with(kByteOrderMark)) {
      line.remove_prefix(kByteOrderMark.size());
    }
    line = without_line_end(line);
    if (is_blank(line) && !is_too_long_) return {};
    if (!has_rows_) {
      if (line.find_first_not_of(" \t") == line.find('[')) {
        return fail(ErrorCode::kBadFile,
                    "the file is one JSON list; write a line for each row: jq -c '.[]', or "
                    "bq extract --destination_format NEWLINE_DELIMITED_JSON");
      }
      TRY(open());
    }
    if (is_too_long_ || line.size() > limits::kRowBytesMax) {
      return reject(line, fmt::format("a line of more than {} bytes", limits::kRowBytesMax));
    }
    if (csv::first_bad_byte(line) != line.size())
      return reject(line, "the line is not UTF-8, or has a NUL byte");
    const auto object = parse_json(line);
    if (!object) return reject(line, "the line " + object.error().message);
    if (object->kind != JsonKind::kObject) return reject(line, "the line is not a JSON object");
    return take_object(line, *object);
  }

  Result<void> take_object(std::string_view line, const JsonValue& object) {
    texts_.clear();
    fields_.assign(positions_.size(), {});
    given_.assign(positions_.size(), false);
    std::string unknown;
    members_of(object, members_);
    for (const JsonMember& member : members_) {
      const std::string key = unescaped(member.raw_key);
      std::string text = text_of(member.value);
      if (text.size() > limits::kFieldBytesMax) {
        return reject(line, fmt::format("member '{}' has more than {} bytes", key.substr(0, 80),
                                        limits::kFieldBytesMax));
      }
      const auto position = positions_.find(key);
      if (position == positions_.end() || key == kUnknownMembers) {
        if (text.empty()) continue;
        unknown += unknown.empty() ? '{' : ',';
        append_stored_json_string(unknown, key);
        unknown += ':';
        append_stored_json_string(unknown, text);
        continue;
      }
      if (given_[position->second]) {
        return reject(line, fmt::format("member '{}' stands twice in the line", key));
      }
      given_[position->second] = true;
      fields_[position->second] = texts_.emplace_back(std::move(text));
    }
    if (!unknown.empty()) {
      unknown += '}';
      fields_[positions_.at(std::string(kUnknownMembers))] =
          texts_.emplace_back(std::move(unknown));
    }
    return importer_.import_row(
        number_, {fields_, quoted_}, [] { return std::string(); }, [line] { return line; });
  }

  Result<void> reject(std::string_view line, const std::string& reason) {
    return importer_.reject(number_, "", reason, line.substr(0, limits::kRejectedTextBytesMax));
  }

  bill::RowImporter importer_;
  std::map<std::string, std::size_t, std::less<>> positions_;
  std::vector<std::uint8_t> quoted_;
  std::uint64_t number_ = 0;
  bool has_rows_ = false;
  std::string waiting_;  // the beginning of a line whose end is not there yet
  bool is_too_long_ = false;
  std::vector<JsonMember> members_;
  std::vector<std::string_view> fields_;
  std::vector<bool> given_;
  std::deque<std::string> texts_;
};

JsonImport::JsonImport(std::string file, bill::ImportSink& sink)
    : lines_(std::make_unique<JsonLines>(std::move(file), sink)) {}
JsonImport::~JsonImport() = default;

Result<void> JsonImport::feed(std::string_view chunk) { return lines_->feed(chunk); }
Result<bill::ImportSummary> JsonImport::finish() { return lines_->finish(); }

Result<bill::ImportSummary> import_json(std::string_view text, const std::string& file,
                                        bill::ImportSink& sink) {
  JsonImport import(file, sink);
  TRY(import.feed(text));
  return import.finish();
}

bool is_gcp_json(std::string_view line) {
  if (line.starts_with(kByteOrderMark)) line.remove_prefix(kByteOrderMark.size());
  const auto object = parse_json(without_line_end(line));
  if (!object || object->kind != JsonKind::kObject) return false;
  std::vector<JsonMember> members;
  members_of(*object, members);
  std::vector<std::string> names;
  names.reserve(members.size());
  for (const JsonMember& member : members) names.push_back(unescaped(member.raw_key));
  return is_gcp_header(names);
}

}  // namespace pennyweight::gcp
