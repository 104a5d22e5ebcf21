#include "ingest/manifests/document_text.h"

#include <algorithm>
#include <string_view>

#include "core/json_text.h"

namespace pennyweight::manifests {
namespace {

// Takes the digits at the front; false: there is none.
bool take_digits(std::string_view& text) {
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  text.remove_prefix(digits);
  return digits > 0;
}

// A number as RFC 8259 has it: "-1.5e3".
bool is_number_of_json(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  const bool has_zero = text.starts_with('0');
  const std::size_t before = text.size();
  if (!take_digits(text) || (has_zero && before - text.size() > 1)) return false;
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    if (!take_digits(text)) return false;
  }
  if (text.starts_with('e') || text.starts_with('E')) {
    text.remove_prefix(1);
    if (text.starts_with('+') || text.starts_with('-')) text.remove_prefix(1);
    if (!take_digits(text)) return false;
  }
  return text.empty();
}

// No deeper than a document is: kDepthMax.
void append_document(std::string& out, const DocumentNode& node) {
  switch (node.kind) {
    case DocumentNode::Kind::kNull:
      out += "null";
      return;
    case DocumentNode::Kind::kScalar: {
      const std::string& text = node.scalar;
      const bool is_word = text == "true" || text == "false";
      if (!node.is_text && (is_word || is_number_of_json(text))) {
        out += text;
      } else {
        append_json_string(out, text);
      }
      return;
    }
    case DocumentNode::Kind::kSequence: {
      out += '[';
      bool is_first_item = true;
      for (const DocumentNode& item : node.items) {
        if (!is_first_item) out += ',';
        is_first_item = false;
        append_document(out, item);
      }
      out += ']';
      return;
    }
    case DocumentNode::Kind::kMapping: {
      out += '{';
      bool is_first_field = true;
      for (const DocumentNode::Field& field : node.fields) {
        if (!is_first_field) out += ',';
        is_first_field = false;
        append_json_string(out, field.key);
        out += ':';
        append_document(out, field.value);
      }
      out += '}';
      return;
    }
  }
}

}  // namespace

std::string json_text_of(const DocumentNode& document) {
  std::string out;
  append_document(out, document);
  return out;
}

}  // namespace pennyweight::manifests
