#include "ingest/rated/columns.h"

#include "ingest/bill/json_column.h"

namespace pennyweight::rated {

std::string to_json(const OtherColumns& columns) {
  std::string out;
  for (const auto& [name, value] : columns) {
    if (value.empty()) continue;
    out += out.empty() ? '{' : ',';
    bill::append_json_string(out, name);
    out += ':';
    bill::append_json_string(out, value);
  }
  if (!out.empty()) out += '}';
  return out;
}

std::string custom_name(std::string_view name) {
  if (name.starts_with("x_")) return std::string(name);
  std::string custom = "x_";
  bool begins_word = true;
  for (const char c : name) {
    if (c == '_' || c == ' ' || c == '-') {
      begins_word = true;
      continue;
    }
    custom += begins_word && c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    begins_word = false;
  }
  return custom;
}

}  // namespace pennyweight::rated
