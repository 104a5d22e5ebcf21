#include "core/clickhouse/address.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pennyweight::clickhouse {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

Address good(const std::string& text) {
  const auto address = parse_address(text);
  EXPECT_TRUE(address) << (address ? "" : address.error().message);
  return address.value_or(Address{});
}
std::string refused(const std::string& text) {
  const auto address = parse_address(text);
  EXPECT_FALSE(address) << text;
  if (address) return {};
  EXPECT_EQ(address.error().code, ErrorCode::kConfig);
  return address.error().message;
}

TEST(Address, TheLeastThatMustBeSaid) {
  const Address address = good("clickhouse://host/db");
  EXPECT_THAT(address.endpoints, ElementsAre("http://host:8123"));
  EXPECT_EQ(address.user, "default");
  EXPECT_EQ(address.password, "");
  EXPECT_EQ(address.database, "db");
  EXPECT_EQ(address.cluster, "");
  EXPECT_EQ(address.connect_timeout, milliseconds(3'000));
  EXPECT_EQ(address.timeout, milliseconds(300'000));
  EXPECT_EQ(address.retry, milliseconds(60'000));
  EXPECT_EQ(address.lease, milliseconds(30'000));
  EXPECT_TRUE(address.compress);
}

TEST(Address, EverythingThatCanBeSaid) {
  const Address address = good(
      "clickhouse://pw:a%2Fb%40c%3a%25@one,[::1]:9,127.0.0.1:8444/money_1?cluster=big&tls=1&"
      "ca_file=%2Fetc%2Fca%26.pem&connect_timeout_ms=10&timeout_ms=20&retry_ms=0&compress=0&"
      "lease_ms=1000");
  EXPECT_THAT(address.endpoints,
              ElementsAre("https://one:8443", "https://[::1]:9", "https://127.0.0.1:8444"));
  EXPECT_EQ(address.user, "pw");
  EXPECT_EQ(address.password, "a/b@c:%");
  EXPECT_EQ(address.database, "money_1");
  EXPECT_EQ(address.cluster, "big");
  EXPECT_EQ(address.ca_file, "/etc/ca&.pem");
  EXPECT_EQ(address.connect_timeout, milliseconds(10));
  EXPECT_EQ(address.timeout, milliseconds(20));
  EXPECT_EQ(address.retry, milliseconds(0));
  EXPECT_EQ(address.lease, milliseconds(1'000));
  EXPECT_FALSE(address.compress);
  EXPECT_EQ(shown(address),
            "clickhouse://one:8443,[::1]:9,127.0.0.1:8444/money_1?cluster=big&tls=1");
}

TEST(Address, UserAndPassword) {
  EXPECT_EQ(good("clickhouse://me@h/d").user, "me");
  EXPECT_EQ(good("clickhouse://me:@h/d").password, "");
  EXPECT_EQ(good("clickhouse://me:a:b+c%20d@h/d").password, "a:b+c d");
  EXPECT_EQ(good("clickhouse://me:a,b#c;d@h/d").password, "a,b#c;d");
  EXPECT_EQ(good("clickhouse://me:\xC3\xBC@h/d").password, "\xC3\xBC");
  EXPECT_EQ(good("clickhouse://me@h/d?password_file=x").password_file, "x");
  EXPECT_EQ(good("clickhouse://h/d?password_file=/run/x%3F").password_file, "/run/x?");
}

TEST(Address, WhatIsShownHoldsNoSecretAndCanBeParsed) {
  for (const std::string text :
       {"clickhouse://me:sesame@h/d?cluster=c", "clickhouse://me:sesame@h:1,g/d?tls=1",
        "clickhouse://me:sesame@h/d?tls=1&ca_file=sesame&cluster=c",
        "clickhouse://sesame@h/d?password_file=sesame"}) {
    const Address address = good(text);
    EXPECT_THAT(shown(address), Not(HasSubstr("sesame")));
    const Address again = good(shown(address));
    EXPECT_EQ(again.endpoints, address.endpoints);
    EXPECT_EQ(again.database, address.database);
    EXPECT_EQ(again.cluster, address.cluster);
  }
}

TEST(Address, ErrorsNameTheMistake) {
  const std::pair<std::string, std::string> cases[] = {
      {"", "does not begin with clickhouse://"},
      {"http://h/d", "does not begin with clickhouse://"},
      {"CLICKHOUSE://h/d", "does not begin with clickhouse://"},
      {"clickhouse://" + std::string(254, 'h') + "/d", "host 1 is neither"},
      {"clickhouse://u:" + std::string(4'097, 'p') + "@h/d", "of more than 4096 bytes"},
      {"clickhouse://h", "names no database"},
      {"clickhouse://h?tls=1", "names no database"},
      {"clickhouse://h/", "database that is not a name"},
      {"clickhouse://h/?tls=1", "database that is not a name"},
      {"clickhouse://h/a/b", "database that is not a name"},
      {"clickhouse://h/1a", "database that is not a name"},
      {"clickhouse://h/a-b", "database that is not a name"},
      {"clickhouse://h/a%62", "database that is not a name"},
      {"clickhouse://h/" + std::string(129, 'd'), "at most 128 bytes"},
      {"clickhouse:///d", "host 1 is neither a name nor an address"},
      {"clickhouse://a,,b/d", "host 2 is neither"},
      {"clickhouse://a,/d", "host 2 is neither"},
      {"clickhouse://a b/d", "host 1 is neither"},
      {"clickhouse://::1/d", "host 1"},
      {"clickhouse://[::1/d", "host 1 is neither"},
      {"clickhouse://[x]/d", "host 1 is neither"},
      {"clickhouse://[::1]x/d", "host 1 is neither"},
      {"clickhouse://h:/d", "host 1 has a port"},
      {"clickhouse://h:0/d", "host 1 has a port"},
      {"clickhouse://h:65536/d", "host 1 has a port"},
      {"clickhouse://h:80x/d", "host 1 has a port"},
      {"clickhouse://h:-1/d", "host 1 has a port"},
      {"clickhouse://h,h:8123/d", "the host h twice"},
      {"clickhouse://@h/d", "empty user"},
      {"clickhouse://:x@h/d", "empty user"},
      {"clickhouse://a%3Ab:x@h/d", "one with a ':'"},
      {"clickhouse://u:p@q@h/d", "several '@'"},
      {"clickhouse://u:%@h/d", "a password with a control character, with a '%'"},
      {"clickhouse://u:%2@h/d", "a password with a control character, with a '%'"},
      {"clickhouse://u:%zz@h/d", "a password with a control character, with a '%'"},
      {"clickhouse://u:%00@h/d", "a password with a control character"},
      {"clickhouse://u:a%0D%0AX@h/d", "a password with a control character"},
      {"clickhouse://u\n:a@h/d", "a user with a control character"},
      {"clickhouse://u:%20a@h/d", "a password that begins or ends with a space"},
      {"clickhouse://h/d?tls", "not written name=value"},
      {"clickhouse://h/d?=1", "not written name=value"},
      {"clickhouse://h/d?&tls=1", "not written name=value"},
      {"clickhouse://h/d?tls=2", "tls that is neither 0 nor 1"},
      {"clickhouse://h/d?compress=yes", "compress that is neither 0 nor 1"},
      {"clickhouse://h/d?tls=1&tls=1", "the option tls twice"},
      {"clickhouse://h/d?timeout_ms=0", "timeout_ms that is not a whole number"},
      {"clickhouse://h/d?timeout_ms=1.5", "timeout_ms that is not a whole number"},
      {"clickhouse://h/d?timeout_ms=", "timeout_ms that is not a whole number"},
      {"clickhouse://h/d?retry_ms=-1", "retry_ms that is not a whole number"},
      {"clickhouse://h/d?lease_ms=999", "lease_ms that is not a whole number"},
      {"clickhouse://h/d?connect_timeout_ms=86400001", "from 1 to 86400000"},
      {"clickhouse://h/d?cluster=", "cluster without a value"},
      {"clickhouse://h/d?cluster=a%27", "cluster that is not a name"},
      {"clickhouse://h/d?ca_file=x", "ca_file, which needs tls=1"},
      {"clickhouse://h/d?ca_file=%0", "ca_file with a control character"},
      {"clickhouse://u:p@h/d?password_file=x", "both a password and a password_file"},
      {"clickhouse://h/d?user=x",
       "an option user, which is none of ca_file, cluster, compress, connect_timeout_ms, "
       "lease_ms, password_file, retry_ms, timeout_ms, tls"},
      {"clickhouse://h/d?tls=1@x", "an '@' behind the first '/' or '?'"},
  };
  for (const auto& [text, words] : cases) EXPECT_THAT(refused(text), HasSubstr(words)) << text;
}

TEST(Address, NoMistakeTellsThePassword) {
  // Special characters that were not encoded split the text at unexpected places.
  for (const std::string cut : {"/", "?", "@", "#", ":", ",", "%", "&", "=", "?x=", "/x?y=", "//",
                                "/d?tls=1&", ":1/d?tls=1&", "\n", " ", "%41", "]", "["}) {
    for (const std::string rest :
         {"@h/d", "@h:1/d?cluster=c", "@h", "@", "@h/d?nothing=1", "@/d"}) {
      const std::string text = "clickhouse://user:sesa" + cut + "moil" + rest;
      const auto address = parse_address(text);
      const std::string shown_text = address ? shown(*address) : address.error().message;
      EXPECT_THAT(shown_text, Not(HasSubstr("sesa"))) << text;
      EXPECT_THAT(shown_text, Not(HasSubstr("moil"))) << text;
    }
  }
}

TEST(Address, KnowsItsOwn) {
  EXPECT_TRUE(is_address("clickhouse://"));
  EXPECT_FALSE(is_address("ledger.duckdb"));
  EXPECT_FALSE(is_address("clickhouse/ledger.duckdb"));
  // Meant as an address and refused as one, without its password in the message.
  for (const char* text : {"clickhose://bo:sesame@h/x", "ClickHouse://bo:sesame@h/x",
                           "clickhouse:/bo:sesame@h", "CLICKHOUSE:x"}) {
    EXPECT_TRUE(is_address(text)) << text;
    const auto address = parse_address(text);
    ASSERT_FALSE(address) << text;
    EXPECT_THAT(address.error().message, HasSubstr("does not begin with clickhouse://"));
    EXPECT_THAT(address.error().message, Not(HasSubstr("sesame"))) << text;
  }
}

}  // namespace
}  // namespace pennyweight::clickhouse
