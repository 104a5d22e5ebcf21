// IP addresses, IPv4 and IPv6 alike, and blocks of them. An IPv4 address is held as its mapped IPv6
// address (::ffff:192.0.2.1, RFC 4291, section 2.5.5.2), so that a dual-stack socket and one for
// IPv4 alone show the same address.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace pennyweight::server {

struct Address {
  std::array<std::uint8_t, 16> bytes{};
  bool operator==(const Address&) const = default;
};

// "192.0.2.1" or "2001:db8::1"; no port, no brackets, no zone.
std::optional<Address> parse_address(std::string_view text);
std::string to_text(const Address& address);

struct AddressBlock {
  Address address = {};
  std::uint32_t bits = 128;  // prefix length, 0 to 128; for IPv4, its own plus 96

  bool contains(const Address& other) const;
};

}  // namespace pennyweight::server
