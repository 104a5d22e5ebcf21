#include "ingest/bill/json_column.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <utility>

namespace pennyweight::bill {
namespace {

using simdjson::ondemand::json_type;

Error not_an_object(std::string_view why) {
  return Error{ErrorCode::kBadValue, fmt::format("is not one JSON object: {}", why)};
}

bool is_json_number(std::string_view text) {
  std::size_t i = text.starts_with('-') ? 1 : 0;
  const auto digits = [&] {
    const std::size_t begin = i;
    while (i < text.size() && text[i] >= '0' && text[i] <= '9') ++i;
    return i - begin;
  };
  const std::size_t first = i;
  const std::size_t whole = digits();
  if (whole == 0 || (whole > 1 && text[first] == '0')) return false;
  if (i < text.size() && text[i] == '.') {
    ++i;
    if (digits() == 0) return false;
  }
  if (i < text.size() && (text[i] == 'e' || text[i] == 'E')) {
    ++i;
    if (i < text.size() && (text[i] == '+' || text[i] == '-')) ++i;
    if (digits() == 0) return false;
  }
  return i == text.size();
}

bool is_at_end(simdjson::ondemand::document& document) {
  return document.current_location().error() == simdjson::OUT_OF_BOUNDS;
}

std::string_view without_spaces(std::string_view token) {
  const std::size_t end = token.find_last_not_of(" \t\r\n");
  return token.substr(0, end == std::string_view::npos ? 0 : end + 1);
}

// A number, true and false as they stand in the text, null as an empty text.
Result<std::string_view> scalar_of(simdjson::ondemand::value& value, std::string_view key) {
  json_type type{};
  std::string_view text;
  auto failed = value.type().get(type);
  if (failed) return std::unexpected(not_an_object(simdjson::error_message(failed)));
  switch (type) {
    case json_type::string:
      failed = value.get_string().get(text);
      break;
    case json_type::number:
      text = without_spaces(value.raw_json_token());
      if (!is_json_number(text)) failed = simdjson::NUMBER_ERROR;
      break;
    case json_type::boolean: {
      bool is_true = false;
      failed = value.get_bool().get(is_true);
      text = is_true ? "true" : "false";
      break;
    }
    case json_type::null:
      if (without_spaces(value.raw_json_token()) != "null") failed = simdjson::N_ATOM_ERROR;
      break;
    case json_type::object:
    case json_type::array:
      return std::unexpected(
          not_an_object(fmt::format("key '{}' holds a nested value, which FOCUS forbids", key)));
  }
  if (failed) return std::unexpected(not_an_object(simdjson::error_message(failed)));
  return text;
}

// {"team":"nlp"}, as FOCUS wants it.
Result<void> add_members(simdjson::ondemand::document& document, Labels& tags) {
  simdjson::ondemand::object object;
  auto failed = document.get_object().get(object);
  if (failed) return std::unexpected(not_an_object(simdjson::error_message(failed)));
  for (auto member : object) {
    std::string_view key;
    simdjson::ondemand::value value;
    failed = member.unescaped_key().get(key);
    if (!failed) failed = member.value().get(value);
    if (failed) return std::unexpected(not_an_object(simdjson::error_message(failed)));
    if (tags.find(key)) {
      return std::unexpected(not_an_object(fmt::format("key '{}' occurs twice", key)));
    }
    const auto text = scalar_of(value, key);
    if (!text) return std::unexpected(text.error());
    if (auto ok = tags.set(key, *text); !ok) return ok;
  }
  return {};
}

bool is_word(std::string_view text, std::string_view lower) {
  return std::ranges::equal(text, lower, [](char a, char b) {
    return (a >= 'A' && a <= 'Z' ? static_cast<char>(a - 'A' + 'a') : a) == b;
  });
}

// What stands before a key of Google's, so that kinds of labels do not hide each other; the same as
// in its detailed export.
std::string prefix_of(std::string_view kind, std::string_view space) {
  if (kind == "project_label") return "project/";
  if (kind != "tag") return {};
  return space.empty() || space == "n/a" ? "tag/" : fmt::format("tag/{}/", space);
}

// [{"key":"team","value":"nlp"}]: Google's FOCUS export, and maps that became JSON in a query.
Result<void> add_listed(simdjson::ondemand::document& document, Labels& tags) {
  simdjson::ondemand::array array;
  auto failed = document.get_array().get(array);
  if (failed) return std::unexpected(not_an_object(simdjson::error_message(failed)));
  for (auto element : array) {
    simdjson::ondemand::object object;
    failed = element.get_object().get(object);
    if (failed) return std::unexpected(not_an_object(simdjson::error_message(failed)));
    std::string_view key;
    std::string_view text;
    std::string_view kind;
    std::string_view space;
    for (auto member : object) {
      std::string_view name;
      simdjson::ondemand::value value;
      failed = member.unescaped_key().get(name);
      if (!failed) failed = member.value().get(value);
      if (failed) return std::unexpected(not_an_object(simdjson::error_message(failed)));
      const auto said = scalar_of(value, name);
      if (!said) return std::unexpected(said.error());
      if (is_word(name, "key")) key = *said;
      if (is_word(name, "value")) text = *said;
      if (is_word(name, "x_type") || is_word(name, "type")) kind = *said;
      if (is_word(name, "x_namespace") || is_word(name, "namespace")) space = *said;
    }
    if (key.empty()) return std::unexpected(not_an_object("an item of the list has no key"));
    const std::string full = prefix_of(kind, space).append(key);
    if (const auto there = tags.find(full); there && *there != text) {
      return std::unexpected(not_an_object(fmt::format("key '{}' occurs twice", full)));
    }
    if (auto ok = tags.set(full, text); !ok) return ok;
  }
  return {};
}

}  // namespace

struct JsonColumns::Parser {
  simdjson::ondemand::parser parser;
  std::string padded;  // the text, with the bytes behind it that simdjson may look at

  simdjson::padded_string_view pad(std::string_view json) {
    padded.assign(json);
    padded.append(simdjson::SIMDJSON_PADDING, ' ');
    return simdjson::padded_string_view(padded.data(), json.size(), padded.size());
  }
};

JsonColumns::JsonColumns() : parser_(std::make_unique<Parser>()) {}
JsonColumns::~JsonColumns() = default;
JsonColumns::JsonColumns(JsonColumns&&) noexcept = default;
JsonColumns& JsonColumns::operator=(JsonColumns&&) noexcept = default;

void append_json_string(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
        } else {
          out += c;
        }
    }
  }
  out += '"';
}

Result<Labels> JsonColumns::parse_tags(std::string_view json) {
  simdjson::ondemand::document document;
  json_type type{};
  auto failed = parser_->parser.iterate(parser_->pad(json)).get(document);
  if (!failed) failed = document.type().get(type);
  if (failed) return std::unexpected(not_an_object(simdjson::error_message(failed)));
  Labels tags;
  auto ok = type == json_type::array ? add_listed(document, tags) : add_members(document, tags);
  if (!ok) return std::unexpected(std::move(ok.error()));
  if (!is_at_end(document)) return std::unexpected(not_an_object("more text follows it"));
  return tags;
}

Result<std::string> JsonColumns::parse_instance_type(std::string_view json) {
  simdjson::ondemand::document document;
  simdjson::ondemand::object object;
  auto failed = parser_->parser.iterate(parser_->pad(json)).get(document);
  if (!failed) failed = document.get_object().get(object);
  if (failed) return std::unexpected(not_an_object(simdjson::error_message(failed)));

  std::string found;
  for (auto member : object) {
    std::string_view key;
    simdjson::ondemand::value value;
    json_type type{};
    failed = member.unescaped_key().get(key);
    if (!failed) failed = member.value().get(value);
    if (!failed) failed = value.type().get(type);
    if (failed) return std::unexpected(not_an_object(simdjson::error_message(failed)));
    if (key != "InstanceType" || type != json_type::string) continue;
    std::string_view text;
    if (value.get_string().get(text)) return std::unexpected(not_an_object("a malformed string"));
    found = text;
  }
  if (!is_at_end(document)) return std::unexpected(not_an_object("more text follows it"));
  return found;
}

}  // namespace pennyweight::bill
