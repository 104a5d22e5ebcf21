// Cursors come from clients: only texts that the server writes can be read.
#include <cstddef>
#include <cstdint>
#include <string>

#include "core/base_encoding.h"
#include "core/check.h"
#include "server/api/answers.h"

using namespace pennyweight::api;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  CHECK(pennyweight::from_base64url(pennyweight::to_base64url(text)) == text,
        "bytes come back as they were");
  if (const auto bytes = pennyweight::from_base64url(text)) {
    CHECK(pennyweight::to_base64url(*bytes) == text, "one text for each value");
  }
  CHECK(parse_cursor("runs", to_cursor("runs", text)) == text, "a cursor comes back");
  CHECK(!parse_cursor("users", to_cursor("runs", text)), "a cursor is of one list");
  if (const auto key = parse_cursor("runs", text)) {
    CHECK(to_cursor("runs", *key) == text, "a cursor that is read was written so");
  }
  return 0;
}
