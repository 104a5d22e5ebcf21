// Trees of YAML and JSON: within their limits, whatever the bytes are.
#include <algorithm>
#include <string_view>

#include "core/check.h"
#include "core/plain_text.h"
#include "ingest/manifests/document.h"
#include "ingest/manifests/document_text.h"

namespace {

using pennyweight::manifests::DocumentNode;

std::size_t check_document(const DocumentNode& node, std::size_t depth) {
  CHECK(depth <= pennyweight::manifests::kDepthMax, "no deeper than allowed");
  CHECK(pennyweight::is_plain_text(node.scalar), "texts are plain");
  CHECK(node.line >= 1, "lines count from 1");
  std::size_t values = 1;
  for (const DocumentNode& item : node.items) values += check_document(item, depth + 1);
  for (const DocumentNode::Field& field : node.fields) {
    CHECK(pennyweight::is_plain_text(field.key), "keys are plain");
    values += check_document(field.value, depth + 1);
  }
  return values;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto documents = pennyweight::manifests::parse_documents(text, "fuzz");
  if (!documents) {
    CHECK(documents.error().message.starts_with("fuzz"), "an error names the file");
    return 0;
  }
  std::size_t values = 0;
  for (const DocumentNode& document : *documents) {
    values += check_document(document, 0);
    const auto again = pennyweight::manifests::parse_json_documents(
        pennyweight::manifests::json_text_of(document), "fuzz");
    CHECK(again && again->size() == 1, "a document as JSON is read again");
  }
  CHECK(values <= pennyweight::manifests::kValuesMax, "no more values than allowed");
  return 0;
}
