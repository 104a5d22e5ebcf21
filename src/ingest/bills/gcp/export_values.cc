#include "ingest/bills/gcp/export_values.h"

#include <fmt/format.h>

#include <optional>

#include "core/ascii.h"
#include "core/try.h"
#include "ingest/bills/number.h"

namespace pennyweight::gcp {
namespace {

// The value of the only member of an object, if that has one of these names.
std::optional<JsonValue> only_member(const JsonValue& value, std::string_view name,
                                     std::string_view other_name) {
  if (value.kind != JsonKind::kObject) return std::nullopt;
  std::vector<JsonMember> members;
  members_of(value, members);
  if (members.size() != 1) return std::nullopt;
  const std::string key = unescaped(members[0].raw_key);
  if (key != name && key != other_name) return std::nullopt;
  return members[0].value;
}

// "dddd-dd-dd dd:dd:dd", with 'T' or a space between.
bool begins_with_time(std::string_view text) {
  constexpr std::string_view kShape = "0000-00-00 00:00:00";
  if (text.size() < kShape.size()) return false;
  for (std::size_t i = 0; i < kShape.size(); ++i) {
    const bool fits = kShape[i] == '0'   ? ascii::is_digit(text[i])
                      : kShape[i] == ' ' ? text[i] == ' ' || text[i] == 'T'
                                         : text[i] == kShape[i];
    if (!fits) return false;
  }
  return true;
}

}  // namespace

Result<std::vector<JsonValue>> items_of_list(const JsonValue& value) {
  std::vector<JsonValue> items;
  if (value.kind == JsonKind::kNull) return items;
  if (value.kind == JsonKind::kArray) {
    items_of(value, items);
    return items;
  }
  const auto wrapped = only_member(value, "list", "list");
  if (!wrapped || wrapped->kind != JsonKind::kArray) {
    return fail(ErrorCode::kBadValue, "is not a list");
  }
  items_of(*wrapped, items);
  for (JsonValue& item : items) {
    const auto element = only_member(item, "element", "item");
    if (!element) return fail(ErrorCode::kBadValue, "is not a list of elements");
    item = *element;
  }
  return items;
}

std::string number_text(std::string_view text) {
  const auto parsed = bill::parse_printed_number(text);
  return parsed && !parsed->rounded ? to_text(parsed->value) : std::string(text);
}

Result<void> add_labels(std::string_view json, std::string_view prefix, Labels& labels) {
  if (json.empty() || json == "[]") return {};
  const auto list = TRY(parse_json(json));
  const auto items = TRY(items_of_list(list));
  std::vector<JsonMember> members;
  for (const JsonValue& item : items) {
    if (item.kind != JsonKind::kObject) {
      return fail(ErrorCode::kBadValue, "holds something that is not a label");
    }
    members_of(item, members);
    std::string key;
    std::string value;
    std::string space;
    for (const JsonMember& member : members) {
      const std::string name = unescaped(member.raw_key);
      if (name == "key") key = text_of(member.value);
      if (name == "value") value = text_of(member.value);
      if (name == "namespace") space = text_of(member.value);
    }
    if (!space.empty()) space += '/';
    const std::string full = std::string(prefix).append(space).append(key);
    if (key.empty()) return fail(ErrorCode::kBadValue, "has a label without a key");
    if (labels.find(full)) {
      return fail(ErrorCode::kBadValue, fmt::format("has the label '{}' twice", full));
    }
    TRY(labels.set(full, value));
  }
  return {};
}

std::string time_text(std::string_view text) {
  if (!begins_with_time(text)) return std::string(text);
  constexpr std::size_t kSecondsEnd = 19;
  std::string_view rest = text.substr(kSecondsEnd);
  std::string_view fraction;
  if (rest.starts_with('.')) {
    std::size_t end = 1;
    while (end < rest.size() && ascii::is_digit(rest[end])) ++end;
    fraction = rest.substr(0, end);
    rest.remove_prefix(end);
  }
  const bool is_utc = rest.empty() || rest == "Z" || rest == " UTC" || rest == "+00:00" ||
                      rest == "+00" || rest == "+0000";
  if (!is_utc) return std::string(text);
  const std::size_t last = fraction.find_last_not_of("0.");
  std::string out(text.substr(0, kSecondsEnd));
  out[10] = 'T';
  if (last != std::string_view::npos) out += fraction.substr(0, last + 1);
  out += 'Z';
  return out;
}

}  // namespace pennyweight::gcp
