#include "ingest/bills/gcp/json_scanner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pennyweight::gcp {
namespace {

using testing::HasSubstr;

std::string error_of(std::string_view text) {
  const auto value = parse_json(text);
  return value ? "" : value.error().message;
}

TEST(JsonText, TakesWhatIsJsonAndKeepsEveryDigit) {
  for (const std::string_view text :
       {"0", "-0", "1.50", "1e+16", "-12.000000000000000000000000000000001E-3", "true", "null",
        "\"\"", "\"a\\u00e9\\n\"", "[]", "[1,[2,{}]]", "{}", "{\"a\":1,\"a\":2}"}) {
    const auto value = parse_json(text);
    ASSERT_TRUE(value) << text << ": " << value.error().message;
    EXPECT_EQ(value->raw, text);
  }
  const auto spaced = parse_json(" {\"a\" : [ 1 , \"x y\" ] }\r\n");
  ASSERT_TRUE(spaced);
  EXPECT_EQ(text_of(*spaced), R"({"a":[1,"x y"]})");
}

TEST(JsonText, RefusesWhatIsNotAndSaysWhere) {
  for (const std::string_view text : {"",
                                      " ",
                                      "01",
                                      "-",
                                      "1.",
                                      ".5",
                                      "1e",
                                      "+1",
                                      "tru",
                                      "nul",
                                      "NaN",
                                      "'a'",
                                      "\"a",
                                      "\"\\x\"",
                                      "\"\\u12\"",
                                      "\"\\ud800\"",
                                      "\"\\ud800\\u0041\"",
                                      "\"\\udc00\"",
                                      "\"\\u0000\"",
                                      "\"\x01\"",
                                      "[",
                                      "[1,]",
                                      "[1 2]",
                                      "{",
                                      "{a:1}",
                                      "{\"a\"}",
                                      "{\"a\":}",
                                      "{\"a\":1,}",
                                      "1 2",
                                      "[1]]"}) {
    EXPECT_THAT(error_of(text), HasSubstr("is not JSON")) << text;
  }
  EXPECT_THAT(error_of("[1,]"), HasSubstr("at byte 4"));
}

TEST(JsonText, NestsSoDeepAndNoDeeper) {
  const std::string deep = std::string(kJsonDepthMax, '[') + std::string(kJsonDepthMax, ']');
  EXPECT_EQ(error_of(deep), "");
  EXPECT_THAT(error_of("[" + deep + "]"), HasSubstr("nested too deeply"));
}

TEST(JsonText, TakesObjectsAndListsApart) {
  const auto object = parse_json(R"({"k\"1": "v\t", "k2":{"x":[1]}, "k3":null,"k4":[ ]})");
  ASSERT_TRUE(object);
  std::vector<JsonMember> members;
  members_of(*object, members);
  ASSERT_EQ(members.size(), 4u);
  EXPECT_EQ(unescaped(members[0].raw_key), "k\"1");
  EXPECT_EQ(text_of(members[0].value), "v\t");
  EXPECT_EQ(text_of(members[1].value), R"({"x":[1]})");
  EXPECT_EQ(text_of(members[2].value), "");
  EXPECT_EQ(text_of(members[3].value), "[]");
  const auto list = parse_json(R"([1.10, "a", {"b":2}])");
  ASSERT_TRUE(list);
  std::vector<JsonValue> items;
  items_of(*list, items);
  ASSERT_EQ(items.size(), 3u);
  EXPECT_EQ(text_of(items[0]), "1.10");
  EXPECT_EQ(items[1].kind, JsonKind::kString);
}

TEST(JsonText, UndoesEscapes) {
  const auto text = [](std::string_view json) { return text_of(*parse_json(json)); };
  EXPECT_EQ(text(R"("\"\\\/\b\f\n\r\t")"), "\"\\/\b\f\n\r\t");
  EXPECT_EQ(text(R"("\u0041\u00e9\u20ac\ud83d\ude00")"), "A\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80");
}

}  // namespace
}  // namespace pennyweight::gcp
