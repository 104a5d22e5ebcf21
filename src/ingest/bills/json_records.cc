#include "ingest/bills/json_records.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/ascii.h"
#include "core/limits.h"
#include "core/plain_text.h"
#include "core/try.h"
#include "ingest/bills/json_token.h"
#include "ingest/bills/row_importer.h"

namespace pennyweight::bill {
namespace {

using simdjson::ondemand::json_type;

struct JsonCell {
  std::size_t column = 0;
  std::string text;
  bool quoted = false;
};

struct Record {
  std::uint64_t line = 0;  // the number of the record, from 1, where records are not lines
  std::vector<JsonCell> cells;
  std::string fault;  // not empty: why it can't be a row
  std::string text;   // with a fault: the record as written
};

Error not_records(std::string_view why) {
  return {ErrorCode::kBadFile, fmt::format("no JSON records: {}", why)};
}

// "time" of usage records; the start of a period in any spelling of FOCUS.
bool is_record_key(std::string_view key) {
  std::string letters;
  for (const char c : key) {
    if (c != '_' && c != ' ') letters += ascii::to_lower(c);
  }
  return letters == "time" || letters == "billingperiodstart" || letters == "chargeperiodstart";
}

// True if each line is a record: the first line is a whole object, and either another line follows
// or the object has a key of records.
bool is_record_per_line(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos || text[begin] != '{') return false;
  text.remove_prefix(begin);
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view behind = text.substr(end);
  const bool follows = behind.find_first_not_of(" \t\r\n") != std::string_view::npos;
  simdjson::ondemand::parser parser;
  const simdjson::padded_string line(text.substr(0, end));
  simdjson::ondemand::document document;
  simdjson::ondemand::object object;
  if (parser.iterate(line).get(document) || document.get_object().get(object)) return false;
  bool is_record = false;
  for (auto member : object) {
    std::string_view key;
    simdjson::ondemand::value value;
    if (member.unescaped_key().get(key) || member.value().get(value)) return false;
    is_record = is_record || is_record_key(key);
  }
  return (follows || is_record) && json::is_at_end(document);
}

// Reads the records one after another. simdjson's errors are about the document: after one nothing
// further can be read.
class RecordReader {
 public:
  Result<void> read(simdjson::ondemand::document& document) {
    json_type type{};
    if (const auto error = document.type().get(type)) return broken(error);
    if (type == json_type::array) {
      simdjson::ondemand::array array;
      if (const auto error = document.get_array().get(array)) return broken(error);
      return read_array(array);
    }
    if (type != json_type::object) {
      return std::unexpected(not_records("the document is neither an array nor an object"));
    }
    return read_only_array(document);
  }

  // A record in each line. A line that is not a record is set aside, so that one bad line does not
  // cost the others.
  Result<void> read_lines(std::string_view text) {
    simdjson::ondemand::parser parser;
    for (std::uint64_t number = 1; !text.empty(); ++number) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      const std::string_view line = json::trim_token(text.substr(0, end));
      text.remove_prefix(std::min(end + 1, text.size()));
      if (line.empty()) continue;
      Record record{.line = number, .cells = {}, .fault = {}, .text = {}};
      if (auto read = read_line(parser, line, record); !read) {
        if (read.error().code == ErrorCode::kLimit) return read;
        record.cells.clear();
        record.fault = fmt::format("the line is not a JSON object: {}", read.error().message);
        record.text = line;
      }
      records_.push_back(std::move(record));
    }
    return {};
  }

  std::vector<std::string> take_names() { return std::move(names_); }
  std::vector<Record> take_records() { return std::move(records_); }

 private:
  static std::unexpected<Error> broken(simdjson::error_code error) {
    return std::unexpected(not_records(simdjson::error_message(error)));
  }

  Result<void> read_only_array(simdjson::ondemand::document& document) {
    simdjson::ondemand::object object;
    if (const auto error = document.get_object().get(object)) return broken(error);
    bool found = false;
    for (auto member : object) {
      simdjson::ondemand::value value;
      if (const auto error = member.value().get(value)) return broken(error);
      json_type type{};
      if (const auto error = value.type().get(type)) return broken(error);
      if (type != json_type::array) continue;
      if (found) return std::unexpected(not_records("several members are arrays"));
      found = true;
      simdjson::ondemand::array array;
      if (const auto error = value.get_array().get(array)) return broken(error);
      TRY(read_array(array));
    }
    if (!found) return std::unexpected(not_records("no member is an array"));
    return {};
  }

  Result<void> read_array(simdjson::ondemand::array& array) {
    for (auto element : array) {
      simdjson::ondemand::value value;
      if (const auto error = element.get(value)) return broken(error);
      TRY(read_record(value));
    }
    return {};
  }

  Result<void> read_line(simdjson::ondemand::parser& parser, std::string_view line,
                         Record& record) {
    const simdjson::padded_string padded(line);
    simdjson::ondemand::document document;
    simdjson::ondemand::object object;
    if (const auto error = parser.iterate(padded).get(document)) return broken(error);
    if (const auto error = document.get_object().get(object)) return broken(error);
    TRY(read_members(object, record));
    if (!json::is_at_end(document)) return std::unexpected(not_records("more text follows it"));
    return {};
  }

  Result<void> read_record(simdjson::ondemand::value& value) {
    Record record;
    record.line = records_.size() + 1;
    json_type type{};
    if (const auto error = value.type().get(type)) return broken(error);
    if (type != json_type::object) {
      record.fault = "is not a JSON object";
      JsonCell cell;
      TRY(read_value(value, cell));
      record.text = std::move(cell.text);
      records_.push_back(std::move(record));
      return {};
    }
    simdjson::ondemand::object object;
    if (const auto error = value.get_object().get(object)) return broken(error);
    TRY(read_members(object, record));
    records_.push_back(std::move(record));
    return {};
  }

  Result<void> read_members(simdjson::ondemand::object& object, Record& record) {
    for (auto member : object) {
      std::string_view key;
      if (const auto error = member.unescaped_key().get(key)) return broken(error);
      const auto column = TRY(column_of(key));
      for (const JsonCell& cell : record.cells) {
        if (cell.column == column) {
          record.fault = fmt::format("says '{}' twice", names_[column]);
        }
      }
      JsonCell cell{.column = column, .text = {}, .quoted = false};
      simdjson::ondemand::value inner;
      if (const auto error = member.value().get(inner)) return broken(error);
      TRY(read_value(inner, cell));
      record.cells.push_back(std::move(cell));
    }
    if (!record.fault.empty()) record.text = text_of(record);
    return {};
  }

  Result<std::size_t> column_of(std::string_view key) {
    const auto [at, is_new] = columns_.try_emplace(std::string(key), names_.size());
    if (is_new) {
      if (names_.size() == limits::kColumnsMax) {
        return fail(ErrorCode::kLimit, fmt::format("no JSON records: more than {} different keys",
                                                   limits::kColumnsMax));
      }
      names_.emplace_back(key);
    }
    return at->second;
  }

  static Result<void> read_value(simdjson::ondemand::value& value, JsonCell& cell) {
    json_type type{};
    if (const auto error = value.type().get(type)) return broken(error);
    switch (type) {
      case json_type::string: {
        std::string_view text;
        if (const auto error = value.get_string().get(text)) return broken(error);
        cell.text = text;
        cell.quoted = true;
        break;
      }
      case json_type::object:
      case json_type::array: {
        simdjson::ondemand::object object;
        simdjson::ondemand::array array;
        std::string_view text;
        const auto error = type == json_type::object
                               ? (value.get_object().get(object), object.raw_json().get(text))
                               : (value.get_array().get(array), array.raw_json().get(text));
        if (error) return broken(error);
        cell.text = json::trim_token(text);
        cell.quoted = true;
        break;
      }
      case json_type::null: {
        bool is_null = false;
        const auto error = simdjson::simdjson_result<bool>(value.is_null()).get(is_null);
        if (error || !is_null)
          return std::unexpected(not_records("a word that JSON does not have"));
        break;
      }
      case json_type::boolean: {
        bool is_true = false;
        if (const auto error = value.get_bool().get(is_true)) return broken(error);
        cell.text = is_true ? "true" : "false";
        break;
      }
      case json_type::number: {  // digit by digit, as written
        cell.text = json::trim_token(value.raw_json_token());
        break;
      }
    }
    return {};
  }

  std::string text_of(const Record& record) const {
    std::string text;
    for (const JsonCell& cell : record.cells) {
      text += fmt::format("{}{}={}", text.empty() ? "" : ", ", names_[cell.column], cell.text);
    }
    return text;
  }

  std::vector<std::string> names_;
  std::unordered_map<std::string, std::size_t> columns_;
  std::vector<Record> records_;
};

// Hands the records over as rows of one width.
class RecordRows {
 public:
  RecordRows(const std::string& file, const std::vector<std::string>& names,
             RowReaderFactory open_reader, ImportSink& sink)
      : names_(names),
        importer_(file, std::move(open_reader), sink),
        fields_(names.size()),
        quoted_(names.size()) {}

  Result<ImportSummary> import(const std::vector<Record>& records) {
    const std::vector<std::string_view> names(names_.begin(), names_.end());
    const auto header = TRY(csv::Header::of(names));
    TRY(importer_.open(header));
    for (const Record& record : records) {
      TRY(import_record(record.line, record));
    }
    return importer_.finish();
  }

 private:
  Result<void> import_record(std::uint64_t number, const Record& record) {
    if (!record.fault.empty()) return importer_.reject(number, "", record.fault, record.text);
    std::fill(fields_.begin(), fields_.end(), std::string_view());
    std::fill(quoted_.begin(), quoted_.end(), std::uint8_t{0});
    for (const JsonCell& cell : record.cells) {
      if (!is_plain_text(cell.text) || cell.text.size() > limits::kFieldBytesMax) {
        return importer_.reject(number, names_[cell.column],
                                fmt::format("{} holds a NUL or more than {} bytes",
                                            names_[cell.column], limits::kFieldBytesMax),
                                cell.text);
      }
      fields_[cell.column] = cell.text;
      quoted_[cell.column] = cell.quoted ? 1 : 0;
    }
    return importer_.import_row(
        number, {fields_, quoted_}, [] { return std::string(); }, [this] { return shown(); });
  }

  std::string shown() const {
    std::string text;
    for (std::size_t i = 0; i < names_.size(); ++i) {
      if (fields_[i].empty()) continue;
      text += fmt::format("{}{}={}", text.empty() ? "" : ", ", names_[i], fields_[i]);
    }
    return text;
  }

  const std::vector<std::string>& names_;
  RowImporter importer_;
  std::vector<std::string_view> fields_;
  std::vector<std::uint8_t> quoted_;
};

}  // namespace

Result<ImportSummary> import_json(std::string_view text, const std::string& file,
                                  RowReaderFactory open_reader, ImportSink& sink) {
  if (text.size() > kJsonBytesMax) {
    return fail(ErrorCode::kLimit,
                fmt::format("{} bytes of JSON; at most {} are read", text.size(), kJsonBytesMax));
  }
  RecordReader records;
  if (is_record_per_line(text)) {
    TRY(records.read_lines(text));
  } else {
    simdjson::ondemand::parser parser;
    const simdjson::padded_string padded(text);
    simdjson::ondemand::document document;
    if (const auto error = parser.iterate(padded).get(document)) {
      return std::unexpected(not_records(simdjson::error_message(error)));
    }
    TRY(records.read(document));
    if (!json::is_at_end(document)) {
      return std::unexpected(not_records("more text follows them"));
    }
  }
  const std::vector<Record> all = records.take_records();
  if (all.empty()) return fail(ErrorCode::kBadFile, "no JSON records: the array is empty");
  const std::vector<std::string> names = records.take_names();
  return RecordRows(file, names, std::move(open_reader), sink).import(all);
}

}  // namespace pennyweight::bill
