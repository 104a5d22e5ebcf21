#include "server/api/answers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base_encoding.h"

namespace pennyweight::api {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

server::Request asked_for(std::multimap<std::string, std::string> query) {
  server::Request request;
  request.query = std::move(query);
  return request;
}

server::Request with_body(std::string body, std::string type = "application/json") {
  server::Request request;
  request.content_type = std::move(type);
  request.body = std::move(body);
  return request;
}

TEST(JsonWriter, PutsCommasWhereTheyBelong) {
  JsonWriter out;
  out.begin_object()
      .field("text", "a\"b")
      .field("number", std::uint64_t{7})
      .field("truth", true)
      .field("none", std::optional<std::string>())
      .field("some", std::optional<std::string>("x"))
      .field("at", from_unix_seconds(0))
      .texts("names", {"a", "b"})
      .scope("scope", {{.dimension = "team", .values = {"nlp"}}})
      .key("list")
      .begin_list()
      .value(1)
      .begin_object()
      .end_object()
      .begin_list()
      .end_list()
      .null()
      .end_list()
      .raw_field("raw", "[1]")
      .end_object();
  EXPECT_EQ(out.text(),
            R"({"text":"a\"b","number":7,"truth":true,"none":null,"some":"x",)"
            R"("at":"1970-01-01T00:00:00Z","names":["a","b"],)"
            R"("scope":[{"dimension":"team","values":["nlp"]}],"list":[1,{},[],null],"raw":[1]})");
}

TEST(Lists, AreDataAndNext) {
  const auto write = [](JsonWriter& out, int n) { out.value(n); };
  EXPECT_EQ(list(std::vector{1, 2}, std::nullopt, write).body, "{\"data\":[1,2],\"next\":null}\n");
  EXPECT_EQ(list(std::vector<int>(), "abc", write).body, "{\"data\":[],\"next\":\"abc\"}\n");
}

TEST(Cursors, AreOfOneList) {
  const std::string cursor = to_cursor("runs", "2026-03\n7");
  EXPECT_EQ(parse_cursor("runs", cursor), "2026-03\n7");
  EXPECT_FALSE(parse_cursor("run", cursor));
  EXPECT_FALSE(parse_cursor("users", cursor));
  EXPECT_FALSE(parse_cursor("runs", cursor + "="));
  EXPECT_FALSE(parse_cursor("runs", "not one"));
  EXPECT_FALSE(parse_cursor("runs", ""));
}

TEST(Base64url, HasOneTextForEachValue) {
  EXPECT_EQ(to_base64url("f"), "Zg");
  EXPECT_EQ(to_base64url("foobar"), "Zm9vYmFy");
  EXPECT_EQ(to_base64url("\xfb\xff"), "-_8");
  for (const char* const text : {"Zh", "Z", "Zg==", "Zg=", "+/8", "Zm9v YmFy"}) {
    EXPECT_FALSE(from_base64url(text)) << text;
  }
}

TEST(QueryParams, TakesEachParameterOnceAndRefusesOthers) {
  const auto request = asked_for({{"by", "team,user"},
                                  {"filter", "team=nlp"},
                                  {"filter", "user=ana"},
                                  {"month", "2026-02"},
                                  {"day", "2026-02-28"},
                                  {"at", "2026-02-28T01:00:00Z"},
                                  {"all", "true"},
                                  {"top", "5"},
                                  {"format", "csv"},
                                  {"limit", "7"},
                                  {"cursor", to_cursor("runs", "k")}});
  QueryParams params(request);
  EXPECT_THAT(params.name_list("by"), ElementsAre("team", "user"));
  EXPECT_THAT(params.texts("filter"), ElementsAre("team=nlp", "user=ana"));
  EXPECT_EQ(params.month("month"), "2026-02");
  EXPECT_TRUE(params.date("day"));
  EXPECT_TRUE(params.instant("at"));
  EXPECT_EQ(params.boolean("all"), true);
  EXPECT_EQ(params.number("top", 1, 10), 5u);
  EXPECT_EQ(params.choice("format", {"json", "csv"}), "csv");
  const Page page = params.page("runs");
  EXPECT_EQ(page.limit, 7u);
  EXPECT_EQ(page.after, "k");
  EXPECT_EQ(params.choice("not_there", {"json", "csv"}), "json");
  EXPECT_FALSE(params.month("not_there"));
  EXPECT_FALSE(params.problem());
}

TEST(QueryParams, NamesTheParameterThatIsWrong) {
  const std::vector<std::pair<std::string, std::string>> wrong = {
      {"month", "2026-13"},   {"month", "2026-3"},
      {"date", "2026-02-29"}, {"instant", "today"},
      {"truth", "yes"},       {"number", "0"},
      {"number", "11"},       {"number", "1e1"},
      {"choice", "xml"},      {"names", "a,,b"},
      {"names", "a,a"},       {"limit", "1001"},
      {"limit", "0"},         {"cursor", "x"},
      {"need", ""},           {"text", std::string(kParameterBytesMax + 1, 'a')},
      {"unknown", "1"}};
  for (const auto& [name, value] : wrong) {
    auto query = std::multimap<std::string, std::string>{{name, value}};
    if (name != "need") query.emplace("need", "x");
    const auto request = asked_for(query);
    QueryParams params(request);
    params.month("month");
    params.date("date");
    params.instant("instant");
    params.boolean("truth");
    params.number("number", 1, 10);
    params.choice("choice", {"json"});
    params.name_list("names");
    params.text("text");
    params.required("need");
    params.page("runs");
    const auto refused = params.problem();
    ASSERT_TRUE(refused) << name << "=" << value;
    EXPECT_EQ(refused->status, 422);
    EXPECT_EQ(refused->content_type, "application/problem+json");
    EXPECT_THAT(refused->body, HasSubstr("\"detail\": \"" + name + ": ")) << value;
  }
  const auto twice = asked_for({{"a", "1"}, {"a", "1"}});
  QueryParams params(twice);
  params.text("a");
  EXPECT_TRUE(params.problem());
}

TEST(JsonBody, TakesKeysAndRefusesOthers) {
  const auto request = with_body(
      R"({"name": "ana", "on": false, "n": 3, "list": ["a"], "at": "2026-01-01", "none": null,
          "scope": [{"dimension": "team", "values": ["nlp", "ads", "nlp"]}]})",
      "application/json; charset=utf-8");
  JsonBody body(request);
  EXPECT_TRUE(body.has("name"));
  EXPECT_FALSE(body.has("none"));
  EXPECT_EQ(body.required("name"), "ana");
  EXPECT_EQ(body.boolean("on"), false);
  EXPECT_EQ(body.number("n", 0, 3), 3u);
  EXPECT_THAT(*body.texts("list"), ElementsAre("a"));
  EXPECT_TRUE(body.instant("at"));
  EXPECT_FALSE(body.text("none"));
  const auto scope = body.scope("scope");
  ASSERT_TRUE(scope);
  EXPECT_THAT(scope->front().values, ElementsAre("ads", "nlp"));
  EXPECT_FALSE(body.problem());
  const auto nothing = with_body("", "");
  JsonBody empty(nothing);
  EXPECT_FALSE(empty.text("name"));
  EXPECT_FALSE(empty.problem());
}

TEST(JsonBody, RefusesWhatItIsNot) {
  const std::vector<std::pair<std::string, int>> wrong = {
      {"[]", 400},
      {"{", 400},
      {"{\"name\": \"\xff\"}", 400},
      {"{\"other\": 1}", 422},
      {R"({"name": "a", "name": "b"})", 422},
      {R"({"name": 1})", 422},
      {R"({"name": ""})", 422},
      {R"({"name": "a", "on": 1})", 422},
      {R"({"name": "a", "n": -1})", 422},
      {R"({"name": "a", "n": 1.5})", 422},
      {R"({"name": "a", "list": "a"})", 422},
      {R"({"name": "a", "list": [1]})", 422},
      {R"({"name": "a", "scope": {}})", 422},
      {R"({"name": "a", "scope": [{"dimension": "team"}]})", 422},
      {R"({"name": "a", "scope": [{"dimension": "team", "values": []}]})", 422},
      {R"({"name": "a", "scope": [{"dimension": "", "values": ["a"]}]})", 422},
      {R"({"name": "a", "scope": [{"dimension": "team", "values": [1]}]})", 422},
      {R"({"name": "a", "scope": [{"dimension": "team", "values": ["a"], "negate": true}]})", 422},
      {R"({"name": "a", "scope": [{"dimension": "t", "values": ["a"]},
                                  {"dimension": "t", "values": ["b"]}]})",
       422},
      {"{\"name\": \"" + std::string(kJsonBodyBytesMax, 'a') + "\"}", 413}};
  for (const auto& [text, status] : wrong) {
    const auto request = with_body(text);
    JsonBody body(request);
    body.required("name");
    body.boolean("on");
    body.number("n", 0, 9);
    body.texts("list");
    body.scope("scope");
    const auto refused = body.problem();
    ASSERT_TRUE(refused) << text.substr(0, 100);
    EXPECT_EQ(refused->status, status) << text.substr(0, 100) << refused->body;
  }
  const auto form = with_body("{}", "application/x-www-form-urlencoded");
  EXPECT_EQ(JsonBody(form).problem()->status, 415);
}

TEST(Refusals, HaveTheStatusOfWhoseFaultItIs) {
  EXPECT_EQ(refusal({ErrorCode::kNotFound, "x"}).status, 404);
  EXPECT_EQ(refusal({ErrorCode::kConflict, "x"}).status, 409);
  EXPECT_EQ(refusal({ErrorCode::kBadValue, "x"}).status, 422);
  EXPECT_EQ(refusal({ErrorCode::kStore, "x"}).status, 503);
  EXPECT_TRUE(refusal({ErrorCode::kStore, "x"}).retry_after);
  EXPECT_EQ(refusal({ErrorCode::kConfig, "x"}).status, 500);
}

}  // namespace
}  // namespace pennyweight::api
