#include "server/address.h"

#include <arpa/inet.h>

#include <algorithm>
#include <span>

namespace pennyweight::server {
namespace {

constexpr std::array<std::uint8_t, 12> kMapped = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

bool is_of_ipv4(const Address& address) {
  return std::ranges::equal(kMapped, std::span(address.bytes).first<kMapped.size()>());
}

}  // namespace

std::optional<Address> parse_address(std::string_view text) {
  if (text.size() >= INET6_ADDRSTRLEN || text.contains('\0')) return std::nullopt;
  const std::string ended(text);
  Address address;
  if (text.contains(':')) {
    if (::inet_pton(AF_INET6, ended.c_str(), address.bytes.data()) != 1) return std::nullopt;
    return address;
  }
  std::ranges::copy(kMapped, address.bytes.begin());
  if (::inet_pton(AF_INET, ended.c_str(), address.bytes.data() + kMapped.size()) != 1) {
    return std::nullopt;
  }
  return address;
}

std::string to_text(const Address& address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (is_of_ipv4(address)) {
    ::inet_ntop(AF_INET, address.bytes.data() + kMapped.size(), text.data(), text.size());
  } else {
    ::inet_ntop(AF_INET6, address.bytes.data(), text.data(), text.size());
  }
  return text.data();
}

bool AddressBlock::contains(const Address& other) const {
  std::uint32_t left = std::min<std::uint32_t>(bits, 128);
  for (std::size_t i = 0; i < address.bytes.size() && left > 0; ++i) {
    const std::uint32_t here = std::min<std::uint32_t>(left, 8);
    if (((address.bytes[i] ^ other.bytes[i]) >> (8 - here)) != 0) return false;
    left -= here;
  }
  return true;
}

}  // namespace pennyweight::server
