#include "ingest/bills/json_column.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <utility>

#include "core/ascii.h"
#include "core/try.h"
#include "ingest/bills/json_token.h"

namespace pennyweight::bill {
namespace {

using simdjson::ondemand::json_type;

// Different texts of tags in a cache; when it is full, it is emptied.
constexpr std::size_t kTagsCachedMax = 4096;

Error not_an_object(std::string_view why) {
  return Error{ErrorCode::kBadValue, fmt::format("is not one JSON object: {}", why)};
}

bool is_json_number(std::string_view text) {
  std::size_t i = text.starts_with('-') ? 1 : 0;
  const auto digits = [&] {
    const std::size_t begin = i;
    while (i < text.size() && ascii::is_digit(text[i])) ++i;
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
      text = json::trim_token(value.raw_json_token());
      if (!is_json_number(text)) failed = simdjson::NUMBER_ERROR;
      break;
    case json_type::boolean: {
      bool is_true = false;
      failed = value.get_bool().get(is_true);
      text = is_true ? "true" : "false";
      break;
    }
    case json_type::null:
      if (json::trim_token(value.raw_json_token()) != "null") failed = simdjson::N_ATOM_ERROR;
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
    const auto text = TRY(scalar_of(value, key));
    TRY(tags.set(key, text));
  }
  return {};
}

bool is_word(std::string_view text, std::string_view lower) {
  return std::ranges::equal(text, lower, [](char a, char b) { return ascii::to_lower(a) == b; });
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
      const auto said = TRY(scalar_of(value, name));
      if (is_word(name, "key")) key = said;
      if (is_word(name, "value")) text = said;
      if (is_word(name, "x_type") || is_word(name, "type")) kind = said;
      if (is_word(name, "x_namespace") || is_word(name, "namespace")) space = said;
    }
    if (key.empty()) return std::unexpected(not_an_object("an item of the list has no key"));
    const std::string full = prefix_of(kind, space).append(key);
    if (const auto there = tags.find(full); there && *there != text) {
      return std::unexpected(not_an_object(fmt::format("key '{}' occurs twice", full)));
    }
    TRY(tags.set(full, text));
  }
  return {};
}

}  // namespace

struct JsonColumnParser::Parser {
  simdjson::ondemand::parser parser;
  std::string padded;  // the text, with the bytes behind it that simdjson may look at

  simdjson::padded_string_view pad(std::string_view json) {
    padded.assign(json);
    padded.append(simdjson::SIMDJSON_PADDING, ' ');
    return simdjson::padded_string_view(padded.data(), json.size(), padded.size());
  }
};

JsonColumnParser::JsonColumnParser() : parser_(std::make_unique<Parser>()) {}
JsonColumnParser::~JsonColumnParser() = default;
JsonColumnParser::JsonColumnParser(JsonColumnParser&&) noexcept = default;
JsonColumnParser& JsonColumnParser::operator=(JsonColumnParser&&) noexcept = default;

Result<Labels> JsonColumnParser::parse_tags(std::string_view json) {
  simdjson::ondemand::document document;
  json_type type{};
  auto failed = parser_->parser.iterate(parser_->pad(json)).get(document);
  if (!failed) failed = document.type().get(type);
  if (failed) return std::unexpected(not_an_object(simdjson::error_message(failed)));
  Labels tags;
  TRY(type == json_type::array ? add_listed(document, tags) : add_members(document, tags));
  if (!json::is_at_end(document)) return std::unexpected(not_an_object("more text follows it"));
  return tags;
}

Result<std::string> JsonColumnParser::parse_instance_type(std::string_view json) {
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
  if (!json::is_at_end(document)) return std::unexpected(not_an_object("more text follows it"));
  return found;
}

const std::optional<Labels>& TagsCache::parse(std::string_view json) {
  auto cached = parsed_.find(std::string(json));
  if (cached == parsed_.end()) {
    if (parsed_.size() >= kTagsCachedMax) parsed_.clear();
    auto labels = parser_.parse_tags(json);
    cached = parsed_.emplace(json, labels ? std::optional(*std::move(labels)) : std::nullopt).first;
  }
  return cached->second;
}

}  // namespace pennyweight::bill
