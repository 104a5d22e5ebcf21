#include "ingest/bill/json_column.h"

#include <fmt/format.h>
#include <simdjson.h>

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
  simdjson::ondemand::object object;
  auto failed = parser_->parser.iterate(parser_->pad(json)).get(document);
  if (!failed) failed = document.get_object().get(object);
  if (failed) return std::unexpected(not_an_object(simdjson::error_message(failed)));

  Labels tags;
  for (auto member : object) {
    std::string_view key;
    simdjson::ondemand::value value;
    json_type type{};
    failed = member.unescaped_key().get(key);
    if (!failed) failed = member.value().get(value);
    if (!failed) failed = value.type().get(type);
    if (failed) return std::unexpected(not_an_object(simdjson::error_message(failed)));
    if (tags.find(key)) {
      return std::unexpected(not_an_object(fmt::format("key '{}' occurs twice", key)));
    }
    std::string_view text;
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
    if (auto ok = tags.set(key, text); !ok) return std::unexpected(ok.error());
  }
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
