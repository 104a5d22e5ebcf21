#include "core/http/peer_policy.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "core/http/public_address.h"

namespace pennyweight::http {
namespace {

using Octets4 = std::array<std::uint8_t, 4>;
using Octets6 = std::array<std::uint8_t, 16>;

// Services of a cloud for its own machines, outside of the link-local networks.
constexpr Octets4 kAlibabaMetadata = {100, 100, 100, 200};
constexpr Octets4 kAzureWireServer = {168, 63, 129, 16};
constexpr Octets6 kAwsMetadata = {0xfd, 0x00, 0x0e, 0xc2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x02, 0x54};
constexpr std::array<std::uint8_t, 12> kMapped = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
constexpr std::array<std::uint8_t, 12> kNat64 = {0x00, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0};
constexpr std::string_view kLinkLocal = "is link-local, where clouds keep a machine's credentials";
constexpr std::string_view kMetadata = "belongs to the cloud's services for its own machines";
constexpr std::string_view kNotPublic = "is not an address of the public internet";
constexpr std::string_view kNobody = "is no single machine's";

std::string_view why_not(const Octets4& octets) {
  if (octets[0] == 169 && octets[1] == 254) return kLinkLocal;
  if (octets == kAlibabaMetadata || octets == kAzureWireServer) return kMetadata;
  if (octets[0] == 0 || octets[0] >= 224) return kNobody;
  return {};
}

std::string_view why_not(const Octets6& octets) {
  for (const auto& prefix : {kMapped, kNat64}) {
    if (!std::ranges::equal(prefix, std::span(octets).first<12>())) continue;
    return why_not(Octets4{octets[12], octets[13], octets[14], octets[15]});
  }
  if (octets[0] == 0x20 && octets[1] == 0x02) {
    return why_not(Octets4{octets[2], octets[3], octets[4], octets[5]});
  }
  if (octets[0] == 0xfe && (octets[1] & 0xc0) == 0x80) return kLinkLocal;
  if (octets == kAwsMetadata) return kMetadata;
  if (octets[0] == 0xff || octets == Octets6{}) return kNobody;
  return {};
}

}  // namespace

std::string refused_peer(const sockaddr& address, bool public_addresses_only) {
  std::string_view why;
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (address.sa_family == AF_INET) {
    sockaddr_in given{};
    std::memcpy(&given, &address, sizeof given);
    Octets4 octets{};
    std::memcpy(octets.data(), &given.sin_addr, octets.size());
    why = why_not(octets);
    if (why.empty() && public_addresses_only && !is_public_ipv4(ntohl(given.sin_addr.s_addr))) {
      why = kNotPublic;
    }
    ::inet_ntop(AF_INET, &given.sin_addr, text.data(), text.size());
  } else if (address.sa_family == AF_INET6) {
    sockaddr_in6 given{};
    std::memcpy(&given, &address, sizeof given);
    Octets6 octets{};
    std::memcpy(octets.data(), &given.sin6_addr, octets.size());
    why = why_not(octets);
    if (why.empty() && public_addresses_only && !is_public_ipv6(octets)) why = kNotPublic;
    ::inet_ntop(AF_INET6, &given.sin6_addr, text.data(), text.size());
  } else {
    return "only IP addresses are asked";
  }
  if (why.empty()) return {};
  return fmt::format("{} {}; nothing is asked there", text.data(), why);
}

}  // namespace pennyweight::http
