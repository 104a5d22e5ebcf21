#include "core/http/public_address.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>

namespace pennyweight::http {
namespace {

bool is_public(const char* text) {
  in_addr four{};
  if (inet_pton(AF_INET, text, &four) == 1) return is_public_ipv4(ntohl(four.s_addr));
  std::array<std::uint8_t, 16> six{};
  EXPECT_EQ(inet_pton(AF_INET6, text, six.data()), 1) << text;
  return is_public_ipv6(six);
}

TEST(PublicAddress, OnlyThePublicInternet) {
  for (const char* text :
       {"8.8.8.8", "1.1.1.1", "172.32.0.1", "100.128.0.1", "192.169.0.1", "223.255.255.255",
        "2606:4700::1111", "::ffff:8.8.8.8", "2002:808:808::1"}) {
    EXPECT_TRUE(is_public(text)) << text;
  }
  for (const char* text : {"0.0.0.0",
                           "10.0.0.1",
                           "127.0.0.1",
                           "127.255.255.255",
                           "169.254.169.254",
                           "172.16.0.1",
                           "172.31.255.255",
                           "192.168.1.1",
                           "100.64.0.1",
                           "198.18.0.1",
                           "224.0.0.1",
                           "255.255.255.255",
                           "::",
                           "::1",
                           "fe80::1",
                           "fc00::1",
                           "fd00:ec2::254",
                           "ff02::1",
                           "::ffff:127.0.0.1",
                           "::ffff:169.254.169.254",
                           "64:ff9b::10.0.0.1",
                           "2002:7f00:1::",
                           "2001:db8::1",
                           "2001::1",
                           "::7f00:1"}) {
    EXPECT_FALSE(is_public(text)) << text;
  }
}

}  // namespace
}  // namespace pennyweight::http
