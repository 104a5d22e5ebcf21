#include "server/request_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/check.h"

namespace pennyweight::server {
namespace {

using testing::ElementsAre;
using testing::Pair;

TEST(Target, IsSplitBeforeItIsUnescaped) {
  const auto target = read_target("/a%2Fb/c+d?x=1%262&y&=z&&x=a+b");
  ASSERT_TRUE(target);
  EXPECT_EQ(target->path, "/a%2Fb/c+d");
  EXPECT_THAT(target->segments, ElementsAre("a/b", "c+d"));
  EXPECT_THAT(target->query,
              ElementsAre(Pair("", "z"), Pair("x", "1&2"), Pair("x", "a b"), Pair("y", "")));
  EXPECT_THAT(read_target("/")->segments, ElementsAre());
  EXPECT_THAT(read_target("/a/")->segments, ElementsAre("a", ""));
  EXPECT_THAT(read_target("//")->segments, ElementsAre("", ""));
}

TEST(Target, IsRefusedWhereItCanNotBeRead) {
  for (const char* const text : {"", "a", "*", "http://x/", "/%", "/%1", "/%g0", "/%00", "/a%0Ab",
                                 "/%7f", "/%c3", "/?%", "/?a=%00", "/?a=%ed%a0%80"}) {
    EXPECT_FALSE(read_target(text)) << text;
  }
  EXPECT_TRUE(read_target("/?a=%0A"));
  std::string many = "/?";
  for (std::size_t i = 0; i < kParametersMax; ++i) many += "a&";
  EXPECT_TRUE(read_target(many));
  EXPECT_FALSE(read_target(many + "a"));
}

TEST(Cookies, AreNamesWithValues) {
  EXPECT_THAT(read_cookies("a=1; b=\"x y\";c ; d=; =e;a=2; f=g=h"),
              ElementsAre(Pair("a", "1"), Pair("b", "x y"), Pair("d", ""), Pair("f", "g=h")));
  EXPECT_THAT(read_cookies(""), ElementsAre());
}

TEST(Versions, AreComparedWeakly) {
  EXPECT_TRUE(has_version("\"a\"", "\"a\""));
  EXPECT_TRUE(has_version("W/\"a\" , \"b\"", "\"a\""));
  EXPECT_TRUE(has_version("\"b\"", "W/\"b\""));
  EXPECT_TRUE(has_version("*", "\"x\""));
  EXPECT_FALSE(has_version("", "\"a\""));
  EXPECT_FALSE(has_version("\"aa\"", "\"a\""));
  EXPECT_FALSE(has_version("a", "\"a\""));
}

TEST(Patterns, OfLettersSayMore) {
  EXPECT_TRUE(Pattern("/a/me").says_more_than(Pattern("/a/{x}")));
  EXPECT_FALSE(Pattern("/a/{x}").says_more_than(Pattern("/a/me")));
  EXPECT_TRUE(Pattern("/a/me/{x}").says_more_than(Pattern("/a/{x}/b")));
  EXPECT_FALSE(Pattern("/a").says_more_than(Pattern("/a")));
}

TEST(Patterns, ThatMeanNothingAreOurMistake) {
  for (const char* const text : {"a", "/a//b", "/a/", "/a{b}", "/{a}b"}) {
    EXPECT_THROW(Pattern{text}, InvariantError) << text;
  }
}

}  // namespace
}  // namespace pennyweight::server
