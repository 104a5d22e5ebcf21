// Scalars as Kubernetes means them, and trees that are read back as they were.
#include "ingest/manifests/document_text.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace pennyweight::manifests {
namespace {

std::string json_of(std::string_view yaml) {
  const auto documents = parse_documents(yaml, "a.yaml");
  if (!documents) return "error: " + documents.error().message;
  std::string text;
  for (const DocumentNode& document : *documents) text += json_text_of(document);
  return text;
}

TEST(DocumentText, ScalarsAreWhatKubernetesMeans) {
  EXPECT_EQ(json_of("a: 8\nb: \"8\"\nc: true\nd: 'true'\ne: null\nf:\ng: 1.5\nh: 010\ni: 500m\n"
                    "j: yes\nk: 2026-03-01T00:00:00Z\nl: .5\nm: -3\nn: 1e3\no: {}\np: []\nq: 0\n"),
            R"({"a":8,"b":"8","c":true,"d":"true","e":null,"f":null,"g":1.5,"h":"010","i":"500m",)"
            R"("j":"yes","k":"2026-03-01T00:00:00Z","l":".5","m":-3,"n":1e3,"o":{},"p":[],"q":0})");
  EXPECT_EQ(json_of("t: |\n  two \"lines\"\n  here\nu: \"null\"\nv: \"\"\n"),
            R"({"t":"two \"lines\"\nhere\n","u":"null","v":""})");
  EXPECT_EQ(json_of("- 1\n- {y: [2, \"3\"]}\n"), R"([1,{"y":[2,"3"]}])");
}

bool is_same(const DocumentNode& a, const DocumentNode& b) {
  if (a.kind != b.kind || a.scalar != b.scalar || a.items.size() != b.items.size() ||
      a.fields.size() != b.fields.size()) {
    return false;
  }
  for (std::size_t i = 0; i < a.items.size(); ++i) {
    if (!is_same(a.items[i], b.items[i])) return false;
  }
  for (std::size_t i = 0; i < a.fields.size(); ++i) {
    if (a.fields[i].key != b.fields[i].key) return false;
    if (!is_same(a.fields[i].value, b.fields[i].value)) return false;
  }
  return true;
}

DocumentNode any_document(std::size_t depth) {
  static const std::vector<std::string> kScalars = {"",    "0",    "-0",  "01",   "1.5",  "1.",
                                                    "1e",  "1e9",  "-",   "true", "null", "\"\\",
                                                    "a\n", "0x1f", "yes", "é",    "+1",   "1E+2"};
  DocumentNode node;
  switch (*rc::gen::inRange(0, depth == 0 ? 2 : 4)) {
    case 0:
      break;
    case 1:
      node.kind = DocumentNode::Kind::kScalar;
      node.scalar = *rc::gen::elementOf(kScalars);
      node.is_text = *rc::gen::arbitrary<bool>();
      break;
    case 2:
      node.kind = DocumentNode::Kind::kSequence;
      for (int i = *rc::gen::inRange(0, 4); i > 0; --i) {
        node.items.push_back(any_document(depth - 1));
      }
      break;
    default:
      node.kind = DocumentNode::Kind::kMapping;
      for (int i = *rc::gen::inRange(0, 4); i > 0; --i) {
        node.fields.push_back({kScalars[static_cast<std::size_t>(i)], any_document(depth - 1)});
      }
  }
  return node;
}

RC_GTEST_PROP(DocumentText, IsReadBackAsItWas, ()) {
  const DocumentNode document = any_document(4);
  const auto read = parse_json_documents(json_text_of(document), "x");
  RC_ASSERT(read.has_value());
  RC_ASSERT(read->size() == 1U);
  RC_ASSERT(is_same(read->front(), document));
}

}  // namespace
}  // namespace pennyweight::manifests
