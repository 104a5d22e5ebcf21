// Cursors come back from outside: what can be read is what was written, and nothing else.
#include <cstddef>
#include <cstdint>
#include <string>

#include "api/answers.h"
#include "api/base64url.h"
#include "core/check.h"

using namespace pennyweight::api;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  CHECK(from_base64url(to_base64url(text)) == text, "bytes come back as they were");
  if (const auto bytes = from_base64url(text)) {
    CHECK(to_base64url(*bytes) == text, "one text for each value");
  }
  CHECK(parse_cursor("runs", to_cursor("runs", text)) == text, "a cursor comes back");
  CHECK(!parse_cursor("users", to_cursor("runs", text)), "a cursor is of one list");
  if (const auto key = parse_cursor("runs", text)) {
    CHECK(to_cursor("runs", *key) == text, "a cursor that is read was written so");
  }
  return 0;
}
