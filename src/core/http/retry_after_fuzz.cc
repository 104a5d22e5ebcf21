// Any headers: a wait is within bounds or absent, and no displayed address contains a secret.
#include <cstdint>

#include "core/check.h"
#include "core/http/address.h"
#include "core/http/retry_after.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pennyweight;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto line_end = text.find('\n');
  const std::string_view value = text.substr(0, line_end);
  const std::string_view date =
      line_end == std::string_view::npos ? std::string_view() : text.substr(line_end + 1);
  const auto wait = http::parse_retry_after(value, date);
  CHECK(!wait || (wait->count() >= 0 && *wait <= http::kRetryAfterMax), "a wait is in bounds");
  const std::string shown = http::shown_address(value);
  CHECK(shown.size() <= http::kShownBytesMax, "what is shown has an end");
  for (const char c : shown) CHECK(c >= ' ' && c <= '~', "what is shown can be printed");
  CHECK(!http::same_origin(value, value) || shown != "(not a URL)", "an origin is that of a URL");
  return 0;
}
