#include "core/http/address.h"

#include <gtest/gtest.h>

namespace pennyweight::http {
namespace {

TEST(Address, TellsNoSecrets) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"https://host/metrics", "https://host/metrics"},
      {"https://user:secret@host:6443/api?token=secret#secret", "https://host:6443/api"},
      {"http://127.0.0.1:9400", "http://127.0.0.1:9400/"},
      {"http://[::1]:9400/x", "http://[::1]:9400/x"},
      {"HTTP://HOST/Path", "http://host/Path"},
      {"", "(not a URL)"},
      {"host:port/secret", "(not a URL)"},
      {std::string_view("http://a\0secret", 15), "(not a URL)"},
      {"http://h/\x1b[2J", "(not a URL)"},
  };
  for (const auto& [url, shown] : cases) EXPECT_EQ(shown_address(url), shown) << url;
  EXPECT_EQ(shown_address("http://h/" + std::string(9'000, 'a')).size(), kShownBytesMax);
}

TEST(Address, OriginIsSchemeHostAndPort) {
  EXPECT_TRUE(same_origin("https://h/a", "https://H:443/b?c"));
  EXPECT_TRUE(same_origin("http://h:80/", "http://u:p@h/"));
  EXPECT_FALSE(same_origin("https://h/", "http://h/"));
  EXPECT_FALSE(same_origin("https://h/", "https://h:444/"));
  EXPECT_FALSE(same_origin("https://h/", "https://h.example/"));
  EXPECT_FALSE(same_origin("", ""));
}

TEST(Address, AnUpgradeToTlsStaysOnTheHostAndOnStandardPorts) {
  EXPECT_TRUE(is_upgrade_to_tls("http://a.example/x", "https://a.example/y"));
  EXPECT_TRUE(is_upgrade_to_tls("http://a.example:80/", "https://a.example:443/"));
  for (const char* const other : {"https://b.example/", "https://a.example:9400/",
                                  "http://a.example/", "https://a.example.evil.example/"}) {
    EXPECT_FALSE(is_upgrade_to_tls("http://a.example/", other)) << other;
  }
  EXPECT_FALSE(is_upgrade_to_tls("http://a.example:9400/", "https://a.example/"));
  EXPECT_FALSE(is_upgrade_to_tls("https://a.example/", "https://a.example/"));
}

}  // namespace
}  // namespace pennyweight::http
