// Whether an IP address is one of the public internet: for requests to addresses that a person
// typed, which must not reach what is inside (server-side request forgery).
#pragma once

#include <array>
#include <cstdint>

namespace pennyweight::http {

// False for private, loopback, link-local, shared, multicast, documentation and reserved addresses
// (IANA's special-purpose registries), and for IPv6 that carries such an IPv4 address.
bool is_public_ipv4(std::uint32_t address);  // in the host's order
bool is_public_ipv6(const std::array<std::uint8_t, 16>& address);

}  // namespace pennyweight::http
