#include "ingest/manifests/document.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

namespace pennyweight::manifests {
namespace {

std::string refusal_of(std::string_view text) {
  const auto documents = parse_documents(text, "a.yaml");
  return documents ? "" : documents.error().message;
}

TEST(Document, ReadsSeveralYamlDocumentsWithTheirLines) {
  const auto documents = parse_documents("a: 1\n---\n---\nb:\n  c: [x, \"null\"]\n", "a.yaml");
  ASSERT_TRUE(documents);
  ASSERT_EQ(documents->size(), 2U);
  EXPECT_EQ((*documents)[0]["a"].scalar, "1");
  EXPECT_EQ((*documents)[1].at("b.c").items[1].scalar, "null");
  EXPECT_EQ((*documents)[1].at("b.c").line, 5);
  EXPECT_FALSE((*documents)[1].at("b.missing.further"));
}

TEST(Document, WritesAliasesOutAndMerges) {
  const auto documents = parse_documents(
      "base: &base {cpus: 4, gpus: 1}\n"
      "one: {<<: *base, gpus: 8}\n"
      "two: *base\n",
      "a.yaml");
  ASSERT_TRUE(documents) << documents.error().message;
  EXPECT_EQ((*documents)[0].at("one.gpus").scalar, "8");
  EXPECT_EQ((*documents)[0].at("one.cpus").scalar, "4");
  EXPECT_EQ((*documents)[0].at("two.gpus").scalar, "1");
}

TEST(Document, RefusesAliasesThatStandForTooMuch) {
  std::string text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 12; ++i) {
    text += fmt::format("a{}: &a{} [", i, i);
    for (int j = 0; j < 10; ++j) text += fmt::format("{}*a{}", j == 0 ? "" : ", ", i - 1);
    text += "]\n";
  }
  EXPECT_NE(refusal_of(text).find("values, with its aliases written out"), std::string::npos)
      << refusal_of(text);
}

TEST(Document, RefusesWhatIsDeepDuplicateOrNoManifest) {
  EXPECT_NE(refusal_of(std::string(200, '[') + std::string(200, ']')), "");
  EXPECT_NE(refusal_of("a: " + std::string(200, '[') + std::string(200, ']')), "");
  EXPECT_NE(refusal_of("a: 1\nb: 2\na: 3\n").find("a.yaml:3: the key 'a' is here twice"),
            std::string::npos);
  EXPECT_NE(refusal_of("a: &a [*a]\n"), "");
  EXPECT_NE(refusal_of("a: !!python/object:os.system x\n"), "");
  EXPECT_NE(refusal_of(std::string_view("a\0b", 3)).find("binary"), std::string::npos);
  const std::string helm = refusal_of("apiVersion: v1\n{{- if .Values.gpu }}\nkind: Pod\n");
  EXPECT_NE(helm.find("a.yaml:2: is a Helm template"), std::string::npos) << helm;
}

TEST(Document, ReadsJsonAsItIsWritten) {
  const auto documents =
      parse_documents(R"({"a": 1.50, "b": [true, null, "é😀\n"], "c": {}})", "a.json");
  ASSERT_TRUE(documents) << documents.error().message;
  const DocumentNode& root = documents->front();
  EXPECT_EQ(root["a"].scalar, "1.50");
  EXPECT_EQ(root["b"].items[2].scalar, "\xC3\xA9\xF0\x9F\x98\x80\n");
  EXPECT_FALSE(root["b"].items[1]);
}

TEST(Document, RefusesWhatJsonDoesNotHave) {
  for (const std::string_view text :
       {"{\"a\": 01}", "{\"a\": 1,}", "{\"a\" 1}", "[1 2]", "{\"a\": 1, \"a\": 2}", "[\"\\ud800\"]",
        "[\"\\x\"]", "[1.]", "[-]", "[nul]", "{\"a\": \"\n\"}", "[", "{\"a\":", "[\"", "[1]]"}) {
    EXPECT_NE(refusal_of(text), "") << text;
  }
}

}  // namespace
}  // namespace pennyweight::manifests
