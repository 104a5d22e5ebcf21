// Any text as an address is refused, or gives servers, database and names that are safe in URLs and
// statements; and the displayed form means the same servers.
#include <algorithm>
#include <cstdint>
#include <string_view>

#include "core/check.h"
#include "core/clickhouse/address.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pennyweight;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto address = clickhouse::parse_address(text);
  if (!address) {
    CHECK(address.error().code == ErrorCode::kConfig, "a wrong address is a matter of configuring");
    return 0;
  }
  CHECK(clickhouse::is_address(text), "what is parsed says what it is");
  CHECK(!address->endpoints.empty() && !address->user.empty(), "somebody asks somebody");
  const auto printable = [](std::string_view part) {
    return std::ranges::none_of(part, [](char c) { return (c >= 0 && c < ' ') || c == 127; });
  };
  CHECK(printable(address->user) && printable(address->password), "headers can carry them");
  const std::string shown = clickhouse::shown(*address);
  CHECK(std::ranges::all_of(shown, [](char c) { return c > ' ' && c < 127; }), "it can be shown");
  const auto again = clickhouse::parse_address(shown);
  CHECK(again && again->endpoints == address->endpoints && again->database == address->database &&
            again->cluster == address->cluster,
        "what is shown means the same servers");
  CHECK(again->password.empty() && again->password_file.empty(), "what is shown is no secret");
  return 0;
}
