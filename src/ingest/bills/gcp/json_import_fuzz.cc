// Any bytes as JSON: no crash, no row lost, the same for every cut into chunks; and the scanner of
// JSON takes and refuses what simdjson does.
#include <simdjson.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "core/plain_text.h"
#include "ingest/bills/gcp/gcp_fuzzing.h"
#include "ingest/bills/gcp/json_import.h"
#include "ingest/bills/gcp/json_scanner.h"

namespace {

using namespace pennyweight;

void compare_scanners(std::string_view text) {
  if (!is_plain_text(text)) return;
  const auto ours = gcp::parse_json(text);
  simdjson::dom::parser parser;
  simdjson::dom::element element;
  const auto theirs = parser.parse(simdjson::padded_string(text)).get(element);
  if (ours) {
    // Numbers past 64 bits and past a double are numbers to us.
    CHECK(!theirs || theirs == simdjson::NUMBER_ERROR, "what we take is JSON");
    const std::string compact = gcp::text_of(*ours);
    if (ours->kind == gcp::JsonKind::kArray || ours->kind == gcp::JsonKind::kObject) {
      const auto again = gcp::parse_json(compact);
      CHECK(again && gcp::text_of(*again) == compact, "one spelling");
    }
    if (ours->kind == gcp::JsonKind::kString && !theirs) {
      CHECK(compact == element.get_string().value(), "one text");
    }
    return;
  }
  // We limit nesting, and refuse NUL.
  const bool stricter = ours.error().message.find("nested") != std::string::npos ||
                        ours.error().message.find("NUL") != std::string::npos;
  CHECK(theirs || stricter, "what is JSON we take");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  compare_scanners(text);
  gcp::Count whole;
  const auto summary = gcp::import_json(text, "bill.json", whole);
  whole.settle(summary);

  gcp::Count parts;
  gcp::JsonImport import("bill.json", parts);
  const std::size_t step = data[0] + std::size_t{1};
  for (std::size_t at = 0; at < text.size(); at += step) {
    if (!import.feed(text.substr(at, step))) {
      CHECK(!summary, "a cut changes nothing");
      return 0;
    }
  }
  const auto again = import.finish();
  CHECK(again.has_value() == summary.has_value(), "a cut changes nothing");
  CHECK(parts.lines == whole.lines && parts.rejects == whole.rejects, "a cut changes nothing");
  return 0;
}
