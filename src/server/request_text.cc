#include "server/request_text.h"

#include <algorithm>
#include <cstdint>

#include "core/ascii.h"
#include "core/base_encoding.h"
#include "core/check.h"
#include "core/utf8.h"

namespace pennyweight::server {
namespace {

enum class Component { kPath, kQuery };

std::optional<std::string> unescape(std::string_view text, Component component) {
  std::string plain;
  plain.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '%') {
      if (text.size() - i < 3) return std::nullopt;
      const auto high = hex_value(text[i + 1]);
      const auto low = hex_value(text[i + 2]);
      if (!high || !low) return std::nullopt;
      c = static_cast<char>(*high << 4 | *low);
      i += 2;
    } else if (c == '+' && component == Component::kQuery) {
      c = ' ';
    }
    const auto byte = static_cast<unsigned char>(c);
    if (byte == 0 || (component == Component::kPath && (byte < 0x20 || byte == 0x7F)))
      return std::nullopt;
    plain += c;
  }
  if (!is_utf8(plain)) return std::nullopt;
  return plain;
}

// Takes the text before `end` off, with `end`.
std::string_view take_until(std::string_view& text, char end) {
  const std::size_t at = std::min(text.find(end), text.size());
  const std::string_view taken = text.substr(0, at);
  text.remove_prefix(std::min(at + 1, text.size()));
  return taken;
}

std::string_view without_weak(std::string_view etag) {
  return etag.starts_with("W/") ? etag.substr(2) : etag;
}

}  // namespace

std::optional<Target> read_target(std::string_view text) {
  if (!text.starts_with('/')) return std::nullopt;
  Target target;
  std::string_view query = text;
  std::string_view path = take_until(query, '?');
  target.path = path;
  path.remove_prefix(1);
  if (!path.empty()) {
    while (true) {
      const bool is_last = !path.contains('/');
      auto segment = unescape(take_until(path, '/'), Component::kPath);
      if (!segment) return std::nullopt;
      target.segments.push_back(*std::move(segment));
      if (is_last) break;
    }
  }
  while (!query.empty()) {
    std::string_view value = take_until(query, '&');
    if (value.empty()) continue;
    const std::string_view name = take_until(value, '=');
    auto plain_name = unescape(name, Component::kQuery);
    auto plain_value = unescape(value, Component::kQuery);
    if (!plain_name || !plain_value || target.query.size() == kParametersMax) return std::nullopt;
    target.query.emplace(*std::move(plain_name), *std::move(plain_value));
  }
  return target;
}

std::map<std::string, std::string> read_cookies(std::string_view header) {
  std::map<std::string, std::string> cookies;
  while (!header.empty()) {
    std::string_view value = take_until(header, ';');
    if (!value.contains('=')) continue;
    const std::string_view name = ascii::trim(take_until(value, '='));
    value = ascii::trim(value);
    if (value.size() >= 2 && value.front() == '"' && value.back() == '"') {
      value = value.substr(1, value.size() - 2);
    }
    if (!name.empty()) cookies.emplace(name, value);
  }
  return cookies;
}

bool matches_etag(std::string_view if_none_match, std::string_view etag) {
  while (!if_none_match.empty()) {
    const std::string_view one = ascii::trim(take_until(if_none_match, ','));
    if (one == "*" || (!one.empty() && without_weak(one) == without_weak(etag))) return true;
  }
  return false;
}

RoutePattern::RoutePattern(std::string_view text) {
  CHECK(text.starts_with('/'), "a route's path begins with '/'");
  text.remove_prefix(1);
  while (!text.empty()) {
    const bool is_last = !text.contains('/');
    const std::string_view segment = take_until(text, '/');
    CHECK(!segment.empty() && (is_last || !text.empty()), "a route's path has no empty segments");
    const bool is_param = segment.size() > 2 && segment.starts_with('{') && segment.ends_with('}');
    const std::string_view name = is_param ? segment.substr(1, segment.size() - 2) : segment;
    CHECK(name.find_first_of("{}") == std::string_view::npos, "braces enclose a whole segment");
    segments_.push_back({is_param, std::string(name)});
  }
}

std::optional<std::map<std::string, std::string>> RoutePattern::match(const Target& target) const {
  if (segments_.size() != target.segments.size()) return std::nullopt;
  std::map<std::string, std::string> params;
  for (std::size_t i = 0; i < segments_.size(); ++i) {
    const std::string& given = target.segments[i];
    if (given.empty() || given == "." || given == "..") return std::nullopt;
    if (segments_[i].is_param) {
      params.emplace(segments_[i].text, given);
    } else if (given != segments_[i].text) {
      return std::nullopt;
    }
  }
  return params;
}

bool RoutePattern::is_more_specific_than(const RoutePattern& other) const {
  for (std::size_t i = 0; i < std::min(segments_.size(), other.segments_.size()); ++i) {
    if (segments_[i].is_param != other.segments_[i].is_param) return other.segments_[i].is_param;
  }
  return false;
}

}  // namespace pennyweight::server
