#include "ingest/rated/json_import.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/limits.h"
#include "core/plain_text.h"
#include "ingest/bill/batch.h"

namespace pennyweight::rated {
namespace {

using simdjson::ondemand::json_type;

struct Cell {
  std::size_t column = 0;
  std::string text;
  bool quoted = false;
};

struct Record {
  std::uint64_t line = 0;  // of a file of lines; else which record it is, from 1
  std::vector<Cell> cells;
  std::string wrong;  // not empty: why it is no row
  std::string text;   // of it then, as it stands
};

std::string_view without_spaces(std::string_view token) {
  const std::size_t end = token.find_last_not_of(" \t\r\n");
  return token.substr(0, end == std::string_view::npos ? 0 : end + 1);
}

Error not_records(std::string_view why) {
  return {ErrorCode::kBadFile, fmt::format("no JSON records: {}", why)};
}

bool is_at_end(simdjson::ondemand::document& document) {
  return document.current_location().error() == simdjson::OUT_OF_BOUNDS;
}

// Whether each line is a record: the first is a whole object, and either another line follows or it
// says itself what records say.
bool is_lines(std::string_view text) {
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
    is_record = is_record || key == "BillingPeriodStart" || key == "time";
  }
  return (follows || is_record) && is_at_end(document);
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

  // A record in each line. A line that is none is kept aside, so that one bad line does not take
  // the others with it.
  Result<void> read_lines(std::string_view text) {
    simdjson::ondemand::parser parser;
    for (std::uint64_t number = 1; !text.empty(); ++number) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      const std::string_view line = without_spaces(text.substr(0, end));
      text.remove_prefix(std::min(end + 1, text.size()));
      if (line.empty()) continue;
      Record record{.line = number, .cells = {}, .wrong = {}, .text = {}};
      if (auto read = read_line(parser, line, record); !read) {
        if (read.error().code == ErrorCode::kLimit) return read;
        record.cells.clear();
        record.wrong = fmt::format("the line is no JSON object: {}", read.error().message);
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
      if (auto read = read_array(array); !read) return read;
    }
    if (!found) return std::unexpected(not_records("no member is an array"));
    return {};
  }

  Result<void> read_array(simdjson::ondemand::array& array) {
    for (auto element : array) {
      simdjson::ondemand::value value;
      if (const auto error = element.get(value)) return broken(error);
      if (auto read = read_record(value); !read) return read;
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
    if (auto read = read_members(object, record); !read) return read;
    if (!is_at_end(document)) return std::unexpected(not_records("something stands behind it"));
    return {};
  }

  Result<void> read_record(simdjson::ondemand::value& value) {
    Record record;
    record.line = records_.size() + 1;
    json_type type{};
    if (const auto error = value.type().get(type)) return broken(error);
    if (type != json_type::object) {
      record.wrong = "is no JSON object";
      Cell cell;
      if (auto read = read_value(value, cell); !read) return read;
      record.text = std::move(cell.text);
      records_.push_back(std::move(record));
      return {};
    }
    simdjson::ondemand::object object;
    if (const auto error = value.get_object().get(object)) return broken(error);
    if (auto read = read_members(object, record); !read) return read;
    records_.push_back(std::move(record));
    return {};
  }

  Result<void> read_members(simdjson::ondemand::object& object, Record& record) {
    for (auto member : object) {
      std::string_view key;
      if (const auto error = member.unescaped_key().get(key)) return broken(error);
      const auto column = column_of(key);
      if (!column) return std::unexpected(column.error());
      for (const Cell& cell : record.cells) {
        if (cell.column == *column) {
          record.wrong = fmt::format("says '{}' twice", names_[*column]);
        }
      }
      Cell cell{.column = *column, .text = {}, .quoted = false};
      simdjson::ondemand::value inner;
      if (const auto error = member.value().get(inner)) return broken(error);
      if (auto read = read_value(inner, cell); !read) return read;
      record.cells.push_back(std::move(cell));
    }
    if (!record.wrong.empty()) record.text = text_of(record);
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

  static Result<void> read_value(simdjson::ondemand::value& value, Cell& cell) {
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
        cell.text = without_spaces(text);
        cell.quoted = true;
        break;
      }
      case json_type::null: {
        bool is_null = false;
        const auto error = simdjson::simdjson_result<bool>(value.is_null()).get(is_null);
        if (error || !is_null) return std::unexpected(not_records("a word that JSON has not"));
        break;
      }
      case json_type::boolean: {
        bool is_true = false;
        if (const auto error = value.get_bool().get(is_true)) return broken(error);
        cell.text = is_true ? "true" : "false";
        break;
      }
      case json_type::number: {  // digit by digit, as it stands
        cell.text = without_spaces(value.raw_json_token());
        break;
      }
    }
    return {};
  }

  std::string text_of(const Record& record) const {
    std::string text;
    for (const Cell& cell : record.cells) {
      text += fmt::format("{}{}={}", text.empty() ? "" : ", ", names_[cell.column], cell.text);
    }
    return text;
  }

  std::vector<std::string> names_;
  std::unordered_map<std::string, std::size_t> columns_;
  std::vector<Record> records_;
};

// Hands the records over as rows of one width.
class Rows {
 public:
  Rows(const std::string& file, const std::vector<std::string>& names, bill::BillReader& reader,
       bill::ImportSink& sink)
      : names_(names), batch_(file, reader, sink), fields_(names.size()), quoted_(names.size()) {}

  Result<bill::ImportSummary> import(const std::vector<Record>& records) {
    const std::vector<std::string_view> names(names_.begin(), names_.end());
    const auto header = csv::Header::of(names);
    if (!header) return std::unexpected(header.error());
    if (auto ok = batch_.header(*header); !ok) return std::unexpected(ok.error());
    for (const Record& record : records) {
      if (auto ok = take(record.line, record); !ok) return std::unexpected(ok.error());
    }
    return batch_.finish();
  }

 private:
  Result<void> take(std::uint64_t number, const Record& record) {
    if (!record.wrong.empty()) return batch_.reject(number, "", record.wrong, record.text);
    std::fill(fields_.begin(), fields_.end(), std::string_view());
    std::fill(quoted_.begin(), quoted_.end(), std::uint8_t{0});
    for (const Cell& cell : record.cells) {
      if (!is_plain_text(cell.text) || cell.text.size() > limits::kFieldBytesMax) {
        return batch_.reject(number, names_[cell.column],
                             fmt::format("{} holds a NUL or more than {} bytes",
                                         names_[cell.column], limits::kFieldBytesMax),
                             cell.text);
      }
      fields_[cell.column] = cell.text;
      quoted_[cell.column] = cell.quoted ? 1 : 0;
    }
    return batch_.take(
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
  bill::Batch batch_;
  std::vector<std::string_view> fields_;
  std::vector<std::uint8_t> quoted_;
};

}  // namespace

Result<bill::ImportSummary> import_json(std::string_view text, const std::string& file,
                                        bill::BillReader& reader, bill::ImportSink& sink) {
  if (text.size() > kJsonBytesMax) {
    return fail(ErrorCode::kLimit,
                fmt::format("{} bytes of JSON; at most {} are read", text.size(), kJsonBytesMax));
  }
  RecordReader records;
  if (is_lines(text)) {
    if (auto read = records.read_lines(text); !read) return std::unexpected(read.error());
  } else {
    simdjson::ondemand::parser parser;
    const simdjson::padded_string padded(text);
    simdjson::ondemand::document document;
    if (const auto error = parser.iterate(padded).get(document)) {
      return std::unexpected(not_records(simdjson::error_message(error)));
    }
    if (auto read = records.read(document); !read) return std::unexpected(read.error());
    if (!is_at_end(document)) {
      return std::unexpected(not_records("something stands behind them"));
    }
  }
  const std::vector<Record> all = records.take_records();
  if (all.empty()) return fail(ErrorCode::kBadFile, "no JSON records: the array is empty");
  const std::vector<std::string> names = records.take_names();
  return Rows(file, names, reader, sink).import(all);
}

}  // namespace pennyweight::rated
