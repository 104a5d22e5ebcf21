#include "server/access/scope_text.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

namespace pennyweight::access {
namespace {

using Scope = std::vector<SummaryFilter>;

std::string in_brackets(const Scope& scope) {
  std::string out;
  for (const SummaryFilter& part : scope) {
    out += (part.negate ? "!" : "") + part.dimension + ":";
    for (const std::string& value : part.values) out += "[" + value + "]";
  }
  return out;
}

TEST(ScopeText, IsRead) {
  const std::pair<const char*, const char*> rows[] = {
      {"everything", ""},
      {"team=nlp", "team:[nlp]"},
      {"team=nlp,cv", "team:[nlp][cv]"},
      {"team=nlp; cluster=a", "team:[nlp]cluster:[a]"},
      {" team = nlp , cv ;cluster=a ", "team:[nlp][cv]cluster:[a]"},
      {"team=r\\,d", "team:[r,d]"},
      {"team=a\\=b\\;c\\\\d", "team:[a=b;c\\d]"},
      {"team=\\ x\\ ", "team:[ x ]"},
      {"team=two words", "team:[two words]"},
      {"team=everything", "team:[everything]"},
      {"team=(unallocated)", "team:[(unallocated)]"},
      {"équipe=çà", "équipe:[çà]"},
  };
  for (const auto& [text, wanted] : rows) {
    const auto scope = parse_scope(text);
    ASSERT_TRUE(scope) << text << ": " << scope.error().message;
    EXPECT_EQ(in_brackets(*scope), wanted) << text;
  }
}

TEST(ScopeText, IsRefused) {
  const char* const rows[] = {
      "",
      " ",
      "Everything",
      "team",
      "team=",
      "=nlp",
      "team=,",
      "team=nlp,",
      "team=nlp;",
      ";team=nlp",
      "team=a=b",
      "team=a\\",
      "team!=a",
      "team=a;team=b",
      "team=a,a",
      "team,x=a",
      "team=\n",
      "team=a\x7f",
      "team=\xff",
      "everything;team=a",
      "everything=",
  };
  for (const char* text : rows) {
    EXPECT_FALSE(parse_scope(text)) << text;
  }
  EXPECT_FALSE(parse_scope(std::string_view("team=a\0b", 8)));
  EXPECT_FALSE(parse_scope("team=" + std::string(129, 'x')));
  EXPECT_FALSE(parse_scope("team=" + std::string(kScopeTextBytesMax, 'x')));
}

TEST(ScopeText, HasLimits) {
  Scope scope;
  for (std::size_t i = 0; i < kScopePartsMax; ++i) {
    scope.push_back({"d" + std::to_string(i), {"x"}});
  }
  EXPECT_TRUE(check_scope(scope));
  scope.push_back({"one more", {"x"}});
  EXPECT_FALSE(check_scope(scope));

  Scope values = {{"team", {}}};
  EXPECT_FALSE(check_scope(values));
  for (std::size_t i = 0; i < kScopeValuesMax; ++i) values[0].values.push_back(std::to_string(i));
  EXPECT_TRUE(check_scope(values));
  values[0].values.emplace_back("one more");
  EXPECT_FALSE(check_scope(values));

  EXPECT_FALSE(check_scope({{"team", {"nlp"}, true}}));
}

RC_GTEST_PROP(ScopeText, WhatIsWrittenIsReadAgain, ()) {
  const auto word = rc::gen::nonEmpty(
      rc::gen::container<std::string>(rc::gen::elementOf(std::string("ab,;=\\ \t.-"))));
  Scope scope;
  for (int i = 0; i < *rc::gen::inRange(0, 4); ++i) {
    scope.push_back({*word + std::to_string(i),
                     *rc::gen::nonEmpty(rc::gen::unique<std::vector<std::string>>(word))});
  }
  const bool has_tab = std::ranges::any_of(scope, [](const SummaryFilter& part) {
    return part.dimension.find('\t') != std::string::npos ||
           std::ranges::any_of(part.values, [](const std::string& value) {
             return value.find('\t') != std::string::npos;
           });
  });
  const auto fits = check_scope(scope);
  RC_ASSERT(fits.has_value() == !has_tab);
  if (!fits) return;
  const auto again = parse_scope(format_scope(scope));
  RC_ASSERT(again.has_value());
  RC_ASSERT(in_brackets(*again) == in_brackets(scope));
}

}  // namespace
}  // namespace pennyweight::access
