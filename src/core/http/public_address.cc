#include "core/http/public_address.h"

#include <algorithm>

namespace pennyweight::http {
namespace {

struct Ipv4Block {
  std::uint32_t address;
  int bits;
};

// https://www.iana.org/assignments/iana-ipv4-special-registry
constexpr Ipv4Block kSpecialIpv4[] = {
    {0x00000000, 8},  {0x0A000000, 8},  {0x64400000, 10}, {0x7F000000, 8},  {0xA9FE0000, 16},
    {0xAC100000, 12}, {0xC0000000, 24}, {0xC0000200, 24}, {0xC0586300, 24}, {0xC0A80000, 16},
    {0xC6120000, 15}, {0xC6336400, 24}, {0xCB007100, 24}, {0xE0000000, 4},  {0xF0000000, 4}};

std::uint32_t ipv4_at(const std::array<std::uint8_t, 16>& address, std::size_t begin) {
  std::uint32_t out = 0;
  for (std::size_t i = 0; i < 4; ++i) out = (out << 8) | address[begin + i];
  return out;
}

bool begins_with(const std::array<std::uint8_t, 16>& address,
                 std::initializer_list<std::uint8_t> bytes) {
  return std::equal(bytes.begin(), bytes.end(), address.begin());
}

}  // namespace

bool is_public_ipv4(std::uint32_t address) {
  return std::ranges::none_of(kSpecialIpv4, [address](const Ipv4Block& block) {
    return (address ^ block.address) >> (32 - block.bits) == 0;
  });
}

bool is_public_ipv6(const std::array<std::uint8_t, 16>& address) {
  // ::ffff:a.b.c.d, 64:ff9b::a.b.c.d and 2002:aabb:ccdd:: carry an IPv4 address.
  if (begins_with(address, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF})) {
    return is_public_ipv4(ipv4_at(address, 12));
  }
  if (begins_with(address, {0, 0x64, 0xFF, 0x9B, 0, 0, 0, 0, 0, 0, 0, 0})) {
    return is_public_ipv4(ipv4_at(address, 12));
  }
  if (begins_with(address, {0x20, 0x02})) return is_public_ipv4(ipv4_at(address, 2));
  // Only 2000::/3 is global unicast; of it, 2001:db8::/32 and 2001::/23 are not for use.
  if ((address[0] & 0xE0) != 0x20) return false;
  if (begins_with(address, {0x20, 0x01, 0x0D, 0xB8})) return false;
  return !(begins_with(address, {0x20, 0x01}) && address[2] < 0x02);
}

}  // namespace pennyweight::http
