#include "server/access/scope_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/check.h"
#include "core/limits.h"
#include "core/plain_text.h"
#include "core/try.h"

namespace pennyweight::access {
namespace {

constexpr std::string_view kEverything = "everything";
constexpr std::string_view kSpecial = "\\,;=";

bool is_blank(char c) { return c == ' ' || c == '\t'; }

bool is_printable(std::string_view text) {
  return is_plain_text(text) && std::ranges::none_of(text, [](char c) {
           return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
         });
}

std::string shown(std::string_view text) { return "'" + printable_text(text, 80) + "'"; }

// Reads one name or value up to an unquoted character of `ends`, and leaves `at` there. Drops
// blanks at either end, except for quoted ones.
Result<std::string> read_word(std::string_view text, std::size_t& at, std::string_view ends) {
  std::string word;
  std::size_t kept = 0;  // length of the word up to its last character that stays
  while (at < text.size() && is_blank(text[at])) ++at;
  for (; at < text.size() && ends.find(text[at]) == std::string_view::npos; ++at) {
    const bool as_it_is = text[at] == '\\';
    if (as_it_is && ++at == text.size()) {
      return fail(ErrorCode::kBadValue, "the scope ends with a backslash");
    }
    word += text[at];
    if (as_it_is || !is_blank(text[at])) kept = word.size();
  }
  word.resize(kept);
  return word;
}

Result<SummaryFilter> read_part(std::string_view text, std::size_t& at) {
  SummaryFilter part;
  auto name = TRY(read_word(text, at, "=;,"));
  part.dimension = std::move(name);
  if (at == text.size() || text[at] != '=') {
    return fail(ErrorCode::kBadValue,
                fmt::format("{} is not part of a scope; write it as team=nlp, or 'everything'",
                            shown(part.dimension)));
  }
  do {
    auto value = TRY(read_word(text, ++at, ",;="));
    part.values.push_back(std::move(value));
  } while (at < text.size() && text[at] == ',');
  if (at < text.size() && text[at] == '=') {
    return fail(ErrorCode::kBadValue,
                fmt::format("write the = in a value of {} as \\=", shown(part.dimension)));
  }
  return part;
}

void append_word(std::string& out, std::string_view word) {
  for (std::size_t i = 0; i < word.size(); ++i) {
    const bool at_an_end = i == 0 || i + 1 == word.size();
    if (kSpecial.find(word[i]) != std::string_view::npos || (at_an_end && is_blank(word[i]))) {
      out += '\\';
    }
    out += word[i];
  }
}

}  // namespace

Result<void> check_scope(const std::vector<SummaryFilter>& scope) {
  const auto refused = [](std::string why) { return fail(ErrorCode::kBadValue, std::move(why)); };
  if (scope.size() > kScopePartsMax) {
    return refused(fmt::format("a scope has at most {} parts", kScopePartsMax));
  }
  std::set<std::string_view> names;
  std::size_t values = 0;
  for (const SummaryFilter& part : scope) {
    if (part.dimension.empty() || part.dimension.size() > limits::kPolicyKeyBytesMax ||
        !is_printable(part.dimension)) {
      return refused(fmt::format("{} is not the name of a dimension", shown(part.dimension)));
    }
    if (!names.insert(part.dimension).second) {
      return refused(fmt::format("the scope names {} twice", shown(part.dimension)));
    }
    // "team!=nlp" negates a filter; read as a name, "team!" would hide everything instead.
    if (part.negate || part.dimension.ends_with('!')) {
      return refused(fmt::format("a scope lists the allowed values of {}; it can't exclude values",
                                 shown(part.dimension)));
    }
    if (part.values.empty()) {
      return refused(fmt::format("the scope has no value for {}", shown(part.dimension)));
    }
    values += part.values.size();
    std::set<std::string_view> seen;
    for (const std::string& value : part.values) {
      if (value.empty() || value.size() > limits::kPolicyKeyBytesMax || !is_printable(value)) {
        return refused(fmt::format("{} is not a valid value of {} in a scope", shown(value),
                                   shown(part.dimension)));
      }
      if (!seen.insert(value).second) {
        return refused(
            fmt::format("the scope has {} of {} twice", shown(value), shown(part.dimension)));
      }
    }
  }
  if (values > kScopeValuesMax) {
    return refused(fmt::format("a scope has at most {} values", kScopeValuesMax));
  }
  return {};
}

Result<std::vector<SummaryFilter>> parse_scope(std::string_view text) {
  if (text.size() > kScopeTextBytesMax) {
    return fail(ErrorCode::kLimit, fmt::format("a scope has at most {} bytes", kScopeTextBytesMax));
  }
  std::vector<SummaryFilter> scope;
  if (text == kEverything) return scope;
  std::size_t at = 0;
  while (true) {
    auto part = TRY(read_part(text, at));
    scope.push_back(std::move(part));
    if (at == text.size()) break;
    ++at;  // past the ;
  }
  TRY(check_scope(scope));
  return scope;
}

std::string format_scope(const std::vector<SummaryFilter>& scope) {
  if (scope.empty()) return std::string(kEverything);
  std::string out;
  for (const SummaryFilter& part : scope) {
    CHECK(!part.negate && !part.values.empty(), "check_scope() accepts it");
    if (!out.empty()) out += "; ";
    append_word(out, part.dimension);
    for (std::size_t i = 0; i < part.values.size(); ++i) {
      out += i == 0 ? '=' : ',';
      append_word(out, part.values[i]);
    }
  }
  return out;
}

}  // namespace pennyweight::access
