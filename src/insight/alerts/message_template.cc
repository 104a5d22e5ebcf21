#include "insight/alerts/message_template.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>

#include "core/check.h"

namespace pennyweight {
namespace {

constexpr std::size_t kTemplateBytesMax = 2'000;

struct Placeholder {
  std::string_view name;
  std::string (*value)(const AlertNotification&);
};

const std::array<Placeholder, 9> kPlaceholders = {{
    {"summary", [](const AlertNotification& one) { return one.alert.condition.summary; }},
    {"status",
     [](const AlertNotification& one) {
       return std::string(one.is_firing ? "FIRING" : "RESOLVED");
     }},
    {"severity",
     [](const AlertNotification& one) {
       return std::string(to_text(one.alert.condition.severity));
     }},
    {"rule", [](const AlertNotification& one) { return one.alert.condition.rule; }},
    {"scope", [](const AlertNotification& one) { return one.alert.condition.scope; }},
    {"subject", [](const AlertNotification& one) { return one.alert.condition.subject; }},
    {"owner", [](const AlertNotification& one) { return one.alert.condition.owner; }},
    {"since", [](const AlertNotification& one) { return to_text(one.alert.since); }},
    {"id", [](const AlertNotification& one) { return one.id; }},
}};

// Calls `literal` for what is between placeholders, and `placeholder` for each name.
Result<void> read_template(std::string_view text, const auto& literal, const auto& placeholder) {
  while (!text.empty()) {
    const std::size_t brace = std::min(text.find_first_of("{}"), text.size());
    literal(text.substr(0, brace));
    text.remove_prefix(brace);
    if (text.empty()) break;
    if (text.starts_with("{{") || text.starts_with("}}")) {
      literal(text.substr(0, 1));
      text.remove_prefix(2);
      continue;
    }
    const std::size_t end = text.find('}');
    if (text[0] == '}' || end == std::string_view::npos) {
      return fail(ErrorCode::kBadValue,
                  "a brace stands alone; write {{ or }} for one that is meant");
    }
    const std::string_view name = text.substr(1, end - 1);
    const auto known = std::ranges::find(kPlaceholders, name, &Placeholder::name);
    if (known == kPlaceholders.end()) {
      std::string names;
      for (const Placeholder& one : kPlaceholders) {
        names += fmt::format("{}{{{}}}", names.empty() ? "" : ", ", one.name);
      }
      return fail(ErrorCode::kBadValue, fmt::format("there is no {{{}}}; use {}", name, names));
    }
    placeholder(*known);
    text.remove_prefix(end + 1);
  }
  return {};
}

}  // namespace

Result<void> check_message_template(std::string_view text) {
  if (text.size() > kTemplateBytesMax) {
    return fail(ErrorCode::kBadValue, fmt::format("it has {} bytes; at most {} are sent",
                                                  text.size(), kTemplateBytesMax));
  }
  bool has_summary = false;
  const auto read = read_template(
      text, [](std::string_view) {},
      [&](const Placeholder& one) { has_summary = has_summary || one.name == "summary"; });
  if (!read) return read;
  if (has_summary) return {};
  return fail(ErrorCode::kBadValue, "without {summary} nobody learns what is wrong");
}

std::string fill_message_template(std::string_view text, const AlertNotification& notification,
                                  const std::function<std::string(std::string_view)>& escape) {
  std::string out;
  const auto read = read_template(
      text, [&](std::string_view literal) { out += literal; },
      [&](const Placeholder& one) { out += escape(one.value(notification)); });
  CHECK(read.has_value(), "check_message_template() has passed");
  return out;
}

}  // namespace pennyweight
