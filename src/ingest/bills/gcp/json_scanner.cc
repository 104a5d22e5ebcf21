#include "ingest/bills/gcp/json_scanner.h"

#include <fmt/format.h>

#include <cstdint>

#include "core/ascii.h"
#include "core/base_encoding.h"

namespace pennyweight::gcp {
namespace {

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

// Nothing if the four characters are not hexadecimal digits.
int code_unit(std::string_view digits) {
  int unit = 0;
  for (const char c : digits.substr(0, 4)) {
    const auto value = hex_value(c);
    if (!value) return -1;
    unit = unit * 16 + static_cast<int>(*value);
  }
  return digits.size() < 4 ? -1 : unit;
}

bool is_high_surrogate(int unit) { return unit >= 0xD800 && unit < 0xDC00; }
bool is_low_surrogate(int unit) { return unit >= 0xDC00 && unit < 0xE000; }

// Walks over values. Stops at the first fault, which `why` names.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  const char* why() const { return why_; }
  std::size_t at() const { return at_; }
  bool is_at_end() const { return at_ == text_.size(); }
  char peek() const { return is_at_end() ? '\0' : text_[at_]; }

  void skip_spaces() {
    while (!is_at_end() && is_space(text_[at_])) ++at_;
  }
  bool take(char c) {
    if (peek() != c || is_at_end()) return false;
    ++at_;
    return true;
  }
  bool scan(JsonValue& value, int depth) {
    const std::size_t begin = at_;
    if (!scan_token(value.kind, depth)) return false;
    value.raw = text_.substr(begin, at_ - begin);
    return true;
  }
  bool scan_string() {
    if (!take('"')) return fail("a string must begin with a quote");
    while (!is_at_end()) {
      const char c = text_[at_++];
      if (c == '"') return true;
      if (static_cast<unsigned char>(c) < 0x20) return fail("a control character in a string");
      if (c == '\\' && !scan_escape()) return false;
    }
    return fail("a string without its end");
  }

 private:
  bool fail(const char* why) {
    why_ = why;
    return false;
  }

  bool scan_escape() {
    const char c = peek();
    if (is_at_end()) return fail("a string without its end");
    ++at_;
    if (c != 'u') {
      return std::string_view("\"\\/bfnrt").find(c) != std::string_view::npos ||
             fail("an escape that JSON does not have");
    }
    const int unit = code_unit(text_.substr(at_));
    if (unit < 0) return fail("an escape \\u without four hexadecimal digits");
    if (unit == 0) return fail("a NUL in a string");
    if (is_low_surrogate(unit)) return fail("half a surrogate pair");
    at_ += 4;
    if (!is_high_surrogate(unit)) return true;
    if (text_.substr(at_, 2) != "\\u" || !is_low_surrogate(code_unit(text_.substr(at_ + 2)))) {
      return fail("half a surrogate pair");
    }
    at_ += 6;
    return true;
  }

  bool scan_digits() {
    const std::size_t begin = at_;
    while (ascii::is_digit(peek())) ++at_;
    return at_ > begin || fail("a number without digits");
  }

  bool scan_number() {
    take('-');
    if (take('0')) {
      if (ascii::is_digit(peek())) return fail("a number that begins with 0");
    } else if (!scan_digits()) {
      return false;
    }
    if (take('.') && !scan_digits()) return false;
    if (take('e') || take('E')) {
      if (!take('+')) take('-');
      return scan_digits();
    }
    return true;
  }

  bool scan_word(std::string_view word) {
    if (text_.substr(at_, word.size()) != word) return fail("a word that JSON does not have");
    at_ += word.size();
    return true;
  }

  bool scan_token(JsonKind& kind, int depth) {
    switch (peek()) {
      case '"':
        kind = JsonKind::kString;
        return scan_string();
      case '{':
        kind = JsonKind::kObject;
        return scan_object(depth);
      case '[':
        kind = JsonKind::kArray;
        return scan_array(depth);
      case 't':
        kind = JsonKind::kBool;
        return scan_word("true");
      case 'f':
        kind = JsonKind::kBool;
        return scan_word("false");
      case 'n':
        kind = JsonKind::kNull;
        return scan_word("null");
      default:
        kind = JsonKind::kNumber;
        if (is_at_end()) return fail("the text ends where a value should be");
        return ascii::is_digit(peek()) || peek() == '-' ? scan_number() : fail("no value of JSON");
    }
  }

  bool scan_object(int depth) {
    if (depth == 0) return fail("nested too deeply");
    take('{');
    skip_spaces();
    if (take('}')) return true;
    while (true) {
      skip_spaces();
      if (!scan_string()) return false;
      skip_spaces();
      if (!take(':')) return fail("a member without ':'");
      skip_spaces();
      JsonValue value;
      if (!scan(value, depth - 1)) return false;
      skip_spaces();
      if (take('}')) return true;
      if (!take(',')) return fail("an object without its end");
    }
  }

  bool scan_array(int depth) {
    if (depth == 0) return fail("nested too deeply");
    take('[');
    skip_spaces();
    if (take(']')) return true;
    while (true) {
      skip_spaces();
      JsonValue value;
      if (!scan(value, depth - 1)) return false;
      skip_spaces();
      if (take(']')) return true;
      if (!take(',')) return fail("an array without its end");
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
  const char* why_ = "";
};

void append_utf8(std::string& out, std::uint32_t point) {
  const auto byte = [&out](std::uint32_t value) { out += static_cast<char>(value); };
  if (point < 0x80) {
    byte(point);
  } else if (point < 0x800) {
    byte(0xC0 | (point >> 6));
    byte(0x80 | (point & 0x3F));
  } else if (point < 0x10000) {
    byte(0xE0 | (point >> 12));
    byte(0x80 | ((point >> 6) & 0x3F));
    byte(0x80 | (point & 0x3F));
  } else {
    byte(0xF0 | (point >> 18));
    byte(0x80 | ((point >> 12) & 0x3F));
    byte(0x80 | ((point >> 6) & 0x3F));
    byte(0x80 | (point & 0x3F));
  }
}

char simple_escape(char c) {
  switch (c) {
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    default:
      return c;
  }
}

std::string without_spaces(std::string_view json) {
  std::string out;
  out.reserve(json.size());
  std::size_t begin = 0;  // of what is not yet copied
  std::size_t i = 0;
  while (i < json.size()) {
    if (json[i] == '"') {
      for (++i; json[i] != '"'; ++i) i += json[i] == '\\' ? 1 : 0;
      ++i;
    } else if (is_space(json[i])) {
      out.append(json.substr(begin, i - begin));
      begin = ++i;
    } else {
      ++i;
    }
  }
  out.append(json.substr(begin));
  return out;
}

}  // namespace

Result<JsonValue> parse_json(std::string_view text) {
  Scanner scanner(text);
  scanner.skip_spaces();
  JsonValue value;
  if (!scanner.scan(value, kJsonDepthMax)) {
    return fail(ErrorCode::kBadValue,
                fmt::format("is not JSON: {}, at byte {}", scanner.why(), scanner.at() + 1));
  }
  scanner.skip_spaces();
  if (!scanner.is_at_end()) {
    return fail(ErrorCode::kBadValue,
                fmt::format("is not JSON: more text after its end, at byte {}", scanner.at() + 1));
  }
  return value;
}

void members_of(const JsonValue& object, std::vector<JsonMember>& out) {
  out.clear();
  Scanner scanner(object.raw);
  scanner.take('{');
  scanner.skip_spaces();
  while (!scanner.is_at_end() && scanner.peek() != '}') {
    JsonMember member;
    const std::size_t begin = scanner.at();
    scanner.scan_string();
    member.raw_key = object.raw.substr(begin, scanner.at() - begin);
    scanner.skip_spaces();
    scanner.take(':');
    scanner.skip_spaces();
    if (!scanner.scan(member.value, kJsonDepthMax)) return;
    out.push_back(member);
    scanner.skip_spaces();
    scanner.take(',');
    scanner.skip_spaces();
  }
}

void items_of(const JsonValue& array, std::vector<JsonValue>& out) {
  out.clear();
  Scanner scanner(array.raw);
  scanner.take('[');
  scanner.skip_spaces();
  while (!scanner.is_at_end() && scanner.peek() != ']') {
    JsonValue value;
    if (!scanner.scan(value, kJsonDepthMax)) return;
    out.push_back(value);
    scanner.skip_spaces();
    scanner.take(',');
    scanner.skip_spaces();
  }
}

std::string unescaped(std::string_view raw_string) {
  const std::string_view inside = raw_string.substr(1, raw_string.size() - 2);
  if (inside.find('\\') == std::string_view::npos) return std::string(inside);
  std::string out;
  out.reserve(inside.size());
  for (std::size_t i = 0; i < inside.size(); ++i) {
    if (inside[i] != '\\') {
      out += inside[i];
      continue;
    }
    ++i;
    if (inside[i] != 'u') {
      out += simple_escape(inside[i]);
      continue;
    }
    auto point = static_cast<std::uint32_t>(code_unit(inside.substr(i + 1)));
    i += 4;
    if (is_high_surrogate(static_cast<int>(point))) {
      const auto low = static_cast<std::uint32_t>(code_unit(inside.substr(i + 3)));
      point = 0x10000 + ((point - 0xD800) << 10) + (low - 0xDC00);
      i += 6;
    }
    append_utf8(out, point);
  }
  return out;
}

std::string text_of(const JsonValue& value) {
  switch (value.kind) {
    case JsonKind::kNull:
      return {};
    case JsonKind::kBool:
    case JsonKind::kNumber:
      return std::string(value.raw);
    case JsonKind::kString:
      return unescaped(value.raw);
    case JsonKind::kArray:
    case JsonKind::kObject:
      return without_spaces(value.raw);
  }
  return {};
}

}  // namespace pennyweight::gcp
