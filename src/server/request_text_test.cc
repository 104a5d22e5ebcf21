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
  EXPECT_TRUE(matches_etag("\"a\"", "\"a\""));
  EXPECT_TRUE(matches_etag("W/\"a\" , \"b\"", "\"a\""));
  EXPECT_TRUE(matches_etag("\"b\"", "W/\"b\""));
  EXPECT_TRUE(matches_etag("*", "\"x\""));
  EXPECT_FALSE(matches_etag("", "\"a\""));
  EXPECT_FALSE(matches_etag("\"aa\"", "\"a\""));
  EXPECT_FALSE(matches_etag("a", "\"a\""));
}

TEST(Patterns, OfLettersSayMore) {
  EXPECT_TRUE(RoutePattern("/a/me").is_more_specific_than(RoutePattern("/a/{x}")));
  EXPECT_FALSE(RoutePattern("/a/{x}").is_more_specific_than(RoutePattern("/a/me")));
  EXPECT_TRUE(RoutePattern("/a/me/{x}").is_more_specific_than(RoutePattern("/a/{x}/b")));
  EXPECT_FALSE(RoutePattern("/a").is_more_specific_than(RoutePattern("/a")));
}

TEST(Patterns, ThatMeanNothingAreOurMistake) {
  for (const char* const text : {"a", "/a//b", "/a/", "/a{b}", "/{a}b"}) {
    EXPECT_THROW(RoutePattern{text}, InvariantError) << text;
  }
}

}  // namespace
}  // namespace pennyweight::server
