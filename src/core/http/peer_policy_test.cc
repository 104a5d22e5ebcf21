#include "core/http/peer_policy.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>

#include <cstring>

#include "core/http/client.h"

namespace pennyweight::http {
namespace {

using testing::HasSubstr;

std::string refused(const char* text) {
  sockaddr_storage storage{};
  sockaddr_in four{.sin_family = AF_INET, .sin_port = 0, .sin_addr = {}, .sin_zero = {}};
  sockaddr_in6 six{};
  six.sin6_family = AF_INET6;
  if (::inet_pton(AF_INET, text, &four.sin_addr) == 1) {
    std::memcpy(&storage, &four, sizeof four);
  } else {
    EXPECT_EQ(::inet_pton(AF_INET6, text, &six.sin6_addr), 1) << text;
    std::memcpy(&storage, &six, sizeof six);
  }
  return refused_peer(reinterpret_cast<const sockaddr&>(storage));
}

TEST(PeerPolicy, RefusesWhereCloudsKeepCredentials) {
  for (const char* const bad :
       {"169.254.169.254", "169.254.0.1", "169.254.170.2", "100.100.100.200", "168.63.129.16",
        "0.0.0.0", "0.1.2.3", "224.0.0.1", "255.255.255.255", "fe80::1", "febf::1",
        "::", "fd00:ec2::254", "ff02::1", "::ffff:169.254.169.254", "64:ff9b::169.254.169.254",
        "2002:a9fe:a9fe::1", "::ffff:0.0.0.0"}) {
    EXPECT_NE(refused(bad), "") << bad;
  }
  for (const char* const good :
       {"127.0.0.1", "10.0.0.7", "192.168.1.1", "172.16.0.1", "169.253.255.255", "169.255.0.0",
        "100.100.100.201", "8.8.8.8", "223.255.255.255", "::1", "fd00::1", "fec0::1", "2001:db8::1",
        "::ffff:127.0.0.1", "64:ff9b::8.8.8.8"}) {
    EXPECT_EQ(refused(good), "") << good;
  }
  const sockaddr local{.sa_family = AF_UNIX, .sa_data = {}};
  EXPECT_NE(refused_peer(local), "");
}

TEST(PeerPolicy, PublicAddressesOnlyWhereThatIsWanted) {
  sockaddr_in four{.sin_family = AF_INET, .sin_port = 0, .sin_addr = {}, .sin_zero = {}};
  ::inet_pton(AF_INET, "10.0.0.7", &four.sin_addr);
  EXPECT_THAT(refused_peer(reinterpret_cast<const sockaddr&>(four), true), HasSubstr("public"));
  EXPECT_EQ(refused_peer(reinterpret_cast<const sockaddr&>(four), false), "");
  ::inet_pton(AF_INET, "8.8.8.8", &four.sin_addr);
  EXPECT_EQ(refused_peer(reinterpret_cast<const sockaddr&>(four), true), "");
}

TEST(PeerPolicy, HoldsForRequestsHoweverTheAddressIsWritten) {
  Client client({.connect_timeout = std::chrono::milliseconds(500)});
  for (const char* const url :
       {"http://169.254.169.254/latest/meta-data/", "http://0xa9fea9fe/", "http://2852039166/",
        "http://[::ffff:169.254.169.254]/", "http://[fe80::1%25lo]:9400/metrics"}) {
    const auto answer = client.send({.url = url});
    ASSERT_FALSE(answer) << url;
    EXPECT_THAT(answer.error().message, HasSubstr("nothing is asked there")) << url;
    EXPECT_TRUE(client.nothing_sent());
  }
}

}  // namespace
}  // namespace pennyweight::http
