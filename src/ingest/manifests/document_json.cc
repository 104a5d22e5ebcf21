#include <fmt/format.h>

#include <array>
#include <optional>
#include <set>
#include <utility>

#include "core/plain_text.h"
#include "core/try.h"
#include "ingest/manifests/document.h"

namespace pennyweight::manifests {
namespace {

constexpr std::string_view kJsonBlanks = " \t\r\n";

bool is_json_digit(char c) { return c >= '0' && c <= '9'; }

class JsonDocumentParser {
 public:
  JsonDocumentParser(std::string_view text, std::string_view name, std::size_t values_max)
      : text_(text), name_(name), values_max_(values_max) {}

  Result<std::vector<DocumentNode>> run() {
    std::vector<DocumentNode> documents;
    while (skip_blanks()) {
      DocumentNode document = TRY(read_value(0));
      documents.push_back(std::move(document));
      if (documents.size() > kDocumentsMax) return refuse("too many documents");
    }
    return documents;
  }

 private:
  std::unexpected<Error> refuse(std::string_view why) const {
    return fail(ErrorCode::kBadFile, fmt::format("{}:{}: not JSON: {}", name_, line_, why));
  }
  // False at the end.
  bool skip_blanks() {
    while (at_ < text_.size() && kJsonBlanks.find(text_[at_]) != std::string_view::npos) {
      if (text_[at_] == '\n') ++line_;
      ++at_;
    }
    return at_ < text_.size();
  }
  bool take(char c) {
    if (!skip_blanks() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  Result<DocumentNode> read_value(std::size_t depth) {
    if (depth >= kDepthMax) return refuse("nested too deeply");
    if (++values_ > values_max_) return refuse(fmt::format("more than {} values", values_max_));
    if (!skip_blanks()) return refuse("it ends where a value should be");
    DocumentNode node;
    node.line = line_;
    const char c = text_[at_];
    if (c == '{') return read_object(std::move(node), depth);
    if (c == '[') return read_array(std::move(node), depth);
    if (c == '"') {
      node.kind = DocumentNode::Kind::kScalar;
      node.is_text = true;
      std::string scalar = TRY(read_string());
      node.scalar = std::move(scalar);
      return node;
    }
    for (const std::string_view word : {"null", "true", "false"}) {
      if (!text_.substr(at_).starts_with(word)) continue;
      at_ += word.size();
      if (word != "null") {
        node.kind = DocumentNode::Kind::kScalar;
        node.scalar = word;
      }
      return node;
    }
    return read_number(std::move(node));
  }

  Result<DocumentNode> read_object(DocumentNode node, std::size_t depth) {
    node.kind = DocumentNode::Kind::kMapping;
    ++at_;
    if (take('}')) return node;
    std::set<std::string, std::less<>> keys;
    do {
      if (!skip_blanks() || text_[at_] != '"') return refuse("a key in quotes should be here");
      std::string key = TRY(read_string());
      if (!keys.insert(key).second) {
        return refuse(fmt::format("the key '{}' is here twice", printable_text(key, 80)));
      }
      if (!take(':')) return refuse("':' should be here");
      DocumentNode value = TRY(read_value(depth + 1));
      node.fields.emplace_back(std::move(key), std::move(value));
    } while (take(','));
    if (!take('}')) return refuse("',' or '}' should be here");
    return node;
  }

  Result<DocumentNode> read_array(DocumentNode node, std::size_t depth) {
    node.kind = DocumentNode::Kind::kSequence;
    ++at_;
    if (take(']')) return node;
    do {
      DocumentNode item = TRY(read_value(depth + 1));
      node.items.push_back(std::move(item));
    } while (take(','));
    if (!take(']')) return refuse("',' or ']' should be here");
    return node;
  }

  bool skip_digits() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_json_digit(text_[at_])) ++at_;
    return at_ > begin;
  }

  Result<DocumentNode> read_number(DocumentNode node) {
    const std::size_t begin = at_;
    if (text_[at_] == '-') ++at_;
    const std::size_t whole = at_;
    if (!skip_digits()) return refuse("no value begins like this");
    if (text_[whole] == '0' && at_ > whole + 1) return refuse("a number with a leading zero");
    if (at_ < text_.size() && text_[at_] == '.') {
      ++at_;
      if (!skip_digits()) return refuse("a number that ends in a point");
    }
    if (at_ < text_.size() && (text_[at_] == 'e' || text_[at_] == 'E')) {
      ++at_;
      if (at_ < text_.size() && (text_[at_] == '+' || text_[at_] == '-')) ++at_;
      if (!skip_digits()) return refuse("a number without its exponent");
    }
    node.kind = DocumentNode::Kind::kScalar;
    node.scalar = text_.substr(begin, at_ - begin);
    return node;
  }

  // Four hexadecimal digits.
  std::optional<std::uint32_t> read_hex() {
    if (text_.size() - at_ < 4) return std::nullopt;
    std::uint32_t value = 0;
    for (int i = 0; i < 4; ++i, ++at_) {
      const char c = text_[at_];
      const bool is_lower = c >= 'a' && c <= 'f';
      const bool is_upper = c >= 'A' && c <= 'F';
      if (!is_json_digit(c) && !is_lower && !is_upper) return std::nullopt;
      const int digit = is_json_digit(c) ? c - '0' : is_lower ? c - 'a' + 10 : c - 'A' + 10;
      value = value * 16 + static_cast<std::uint32_t>(digit);
    }
    return value;
  }

  static void append_utf8(std::string& out, std::uint32_t code) {
    const auto put = [&](std::uint32_t byte) { out.push_back(static_cast<char>(byte)); };
    if (code < 0x80U) {
      put(code);
    } else if (code < 0x800U) {
      put(0xC0U | (code >> 6U));
      put(0x80U | (code & 0x3FU));
    } else if (code < 0x10000U) {
      put(0xE0U | (code >> 12U));
      put(0x80U | ((code >> 6U) & 0x3FU));
      put(0x80U | (code & 0x3FU));
    } else {
      put(0xF0U | (code >> 18U));
      put(0x80U | ((code >> 12U) & 0x3FU));
      put(0x80U | ((code >> 6U) & 0x3FU));
      put(0x80U | (code & 0x3FU));
    }
  }

  Result<void> read_escape(std::string& out) {
    static constexpr std::array<std::pair<char, char>, 8> kEscapes = {{{'"', '"'},
                                                                       {'\\', '\\'},
                                                                       {'/', '/'},
                                                                       {'b', '\b'},
                                                                       {'f', '\f'},
                                                                       {'n', '\n'},
                                                                       {'r', '\r'},
                                                                       {'t', '\t'}}};
    if (at_ >= text_.size()) return refuse("it ends within a text");
    const char c = text_[at_++];
    for (const auto& [letter, meaning] : kEscapes) {
      if (c != letter) continue;
      out.push_back(meaning);
      return {};
    }
    if (c != 'u') return refuse("an escape that JSON does not have");
    const auto first = read_hex();
    if (!first) return refuse("\\u without four hexadecimal digits");
    std::uint32_t code = *first;
    if (code >= 0xD800U && code < 0xDC00U && text_.substr(at_).starts_with("\\u")) {
      at_ += 2;
      const auto second = read_hex();
      if (!second || *second < 0xDC00U || *second > 0xDFFFU) return refuse("half of a character");
      code = 0x10000U + ((code - 0xD800U) << 10U) + (*second - 0xDC00U);
    }
    if (code >= 0xD800U && code <= 0xDFFFU) return refuse("half of a character");
    append_utf8(out, code);
    return {};
  }

  Result<std::string> read_string() {
    std::string out;
    ++at_;
    while (true) {
      if (at_ >= text_.size()) return refuse("it ends within a text");
      const char c = text_[at_++];
      if (c == '"') break;
      if (static_cast<unsigned char>(c) < 0x20U) return refuse("a control character in a text");
      if (c == '\\') {
        TRY(read_escape(out));
      } else {
        out.push_back(c);
      }
    }
    if (!is_plain_text(out)) return refuse("a text that is not plain UTF-8");
    return out;
  }

  std::string_view text_;
  std::string_view name_;
  std::size_t values_max_;
  std::size_t at_ = 0;
  int line_ = 1;
  std::size_t values_ = 0;
};

}  // namespace

Result<std::vector<DocumentNode>> parse_json_documents(std::string_view text, std::string_view name,
                                                       const DocumentLimits& limits) {
  return JsonDocumentParser(text, name, limits.values).run();
}

}  // namespace pennyweight::manifests
