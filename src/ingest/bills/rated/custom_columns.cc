#include "ingest/bills/rated/custom_columns.h"

#include "core/ascii.h"
#include "core/json_text.h"
#include "ingest/bills/json_column.h"

namespace pennyweight::rated {

std::string to_json(const OtherColumns& columns) {
  std::string out;
  for (const auto& [name, value] : columns) {
    if (value.empty()) continue;
    out += out.empty() ? '{' : ',';
    append_stored_json_string(out, name);
    out += ':';
    append_stored_json_string(out, value);
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
    custom += begins_word ? ascii::to_upper(c) : c;
    begins_word = false;
  }
  return custom;
}

}  // namespace pennyweight::rated
