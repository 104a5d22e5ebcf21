// Whatever a client writes into forwarding headers before a trusted proxy appends its own entry, it
// is never taken for another client. The first byte chooses the header and how the proxy appends.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/check.h"
#include "server/forwarded.h"

using namespace pennyweight::server;

namespace {

const Address kProxy = *parse_address("10.1.2.3");
const std::vector<AddressBlock> kTrusted = {{.address = *parse_address("10.0.0.0"), .bits = 104}};

std::string peer_of(const Headers& headers) {
  const Origin origin = resolve_origin("10.1.2.3", headers, kTrusted);
  CHECK(resolve_origin("10.1.2.3", headers, {}) == (Origin{"10.1.2.3", false}),
        "only trusted proxies are believed");
  CHECK(resolve_origin("192.0.2.9", headers, kTrusted) == (Origin{"192.0.2.9", false}),
        "an asker is not believed");
  CHECK(parse_address(origin.peer).has_value(), "who asks is an address");
  return origin.peer;
}

void check_lines(std::string_view text) {
  for (const Hop& hop : read_forwarded_for(text)) {
    CHECK(!hop.address || parse_address(to_text(*hop.address)) == hop.address,
          "an address is written and read again");
    CHECK(!hop.secure, "X-Forwarded-For says nothing of TLS");
  }
  for (const Hop& hop : read_forwarded(text)) {
    CHECK(!hop.address || parse_address(to_text(*hop.address)) == hop.address,
          "an address is written and read again");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  check_lines(text);
  switch (data[0]) {
    case 'x':  // X-Forwarded-For, on the same line
      CHECK(peer_of({{"x-forwarded-for", text + ", 203.0.113.7"}}) == "203.0.113.7",
            "the proxy's word is the last one");
      break;
    case 'f': {  // Forwarded, on the same line: the client may spoil it, but nothing more
      const std::string plain = peer_of({{"forwarded", text + ", for=203.0.113.7;proto=https"}});
      CHECK(plain == "203.0.113.7" || plain == to_text(kProxy), "the proxy's word, or the proxy");
      const std::string quoted =
          peer_of({{"forwarded", text + R"(, for="[2001:db8::7]:443";proto=https)"}});
      CHECK(quoted == "2001:db8::7" || quoted == to_text(kProxy), "the proxy's word, or the proxy");
      break;
    }
    case 'l':  // on a line of its own
      CHECK(peer_of({{"forwarded", text}, {"forwarded", "for=203.0.113.7"}}) == "203.0.113.7",
            "the proxy's line is the last one");
      break;
    case 'p': {  // X-Forwarded-Proto, appended to
      const Headers headers = {{"x-forwarded-proto", text + ", http"}};
      CHECK(!resolve_origin("10.1.2.3", headers, kTrusted).secure, "a proxy was asked without TLS");
      break;
    }
    default: {  // the header that the proxy passes on
      const std::string other = peer_of({{"forwarded", text}, {"x-forwarded-for", "203.0.113.7"}});
      CHECK(other == "203.0.113.7" || other == to_text(kProxy), "the proxy's word, or the proxy");
    }
  }
  return 0;
}
