#include "server/forwarded.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pennyweight::server {
namespace {

using testing::ElementsAre;

AddressBlock block(std::string_view address, std::uint32_t bits) {
  return {.address = *parse_address(address), .bits = bits};
}

TEST(Addresses, AreReadToTheLetterAndWrittenInOneWay) {
  const std::vector<std::pair<std::string_view, std::string_view>> table = {
      {"192.0.2.1", "192.0.2.1"},
      {"::ffff:192.0.2.1", "192.0.2.1"},
      {"2001:DB8:0:0::1", "2001:db8::1"},
      {"::1", "::1"}};
  for (const auto& [text, written] : table) {
    const auto address = parse_address(text);
    ASSERT_TRUE(address) << text;
    EXPECT_EQ(to_text(*address), written);
  }
  for (const std::string_view none :
       {"", "localhost", "192.0.2", "192.0.2.1.", "192.0.2.01x", "192.0.2.256", "1.2.3.4/8",
        "2001:db8::1%eth0", "[::1]", "::1 ", "192.0.2.1:80"}) {
    EXPECT_FALSE(parse_address(none)) << none;
  }
  EXPECT_FALSE(parse_address(std::string_view("192.0.2.1\0x", 11)));
  EXPECT_FALSE(parse_address(std::string(1000, '1')));
}

TEST(Addresses, AreInABlockOrNot) {
  const AddressBlock ten = block("10.0.0.0", 104);
  EXPECT_TRUE(ten.contains(*parse_address("10.255.0.1")));
  EXPECT_FALSE(ten.contains(*parse_address("11.0.0.0")));
  EXPECT_FALSE(ten.contains(*parse_address("a00::1")));
  const AddressBlock odd = block("192.0.2.128", 96 + 25);
  EXPECT_TRUE(odd.contains(*parse_address("192.0.2.255")));
  EXPECT_FALSE(odd.contains(*parse_address("192.0.2.127")));
  EXPECT_TRUE(block("2001:db8::", 32).contains(*parse_address("2001:db8:1::1")));
  EXPECT_FALSE(block("2001:db8::", 32).contains(*parse_address("2001:db9::")));
  EXPECT_TRUE(block("::1", 128).contains(*parse_address("::1")));
  EXPECT_FALSE(block("::1", 128).contains(*parse_address("::2")));
}

// A line as a list of addresses ("?" if unknown), with 's' for TLS and 'p' for plain HTTP.
std::vector<std::string> texts(const std::vector<Hop>& hops) {
  std::vector<std::string> all;
  for (const Hop& hop : hops) {
    std::string text = hop.address ? to_text(*hop.address) : "?";
    if (hop.secure) text += *hop.secure ? " s" : " p";
    all.push_back(text);
  }
  return all;
}

TEST(ForwardedFor, IsAListOfAddressesWithOrWithoutPorts) {
  EXPECT_THAT(
      texts(read_forwarded_for("192.0.2.1, 2001:db8::1 ,\t[2001:db8::2]:4711,192.0.2.2:80")),
      ElementsAre("192.0.2.1", "2001:db8::1", "2001:db8::2", "192.0.2.2"));
  EXPECT_THAT(texts(read_forwarded_for("unknown,,192.0.2.1:x,[::1,[192.0.2.1],1.2.3.4:999999")),
              ElementsAre("?", "?", "?", "?", "?"));
  EXPECT_THAT(read_forwarded_for(""), testing::IsEmpty());
}

TEST(Forwarded, IsReadAsRfc7239HasIt) {
  const std::vector<std::pair<std::string_view, std::vector<std::string>>> table = {
      {"for=192.0.2.60;proto=http;by=203.0.113.43", {"192.0.2.60 p"}},
      {"For=\"[2001:db8:cafe::17]:4711\"", {"2001:db8:cafe::17"}},
      {"for=192.0.2.43, for=198.51.100.17", {"192.0.2.43", "198.51.100.17"}},
      {"for=\"_gazonk\"", {"?"}},
      {"for=unknown;proto=HTTPS", {"? s"}},
      {"for=\"192.0.2.43:47011\";host=\"a\\\"b;c,d\" ; proto=\"https\"", {"192.0.2.43 s"}},
      {"proto=https", {"? s"}},
      {" , ;; ,for=192.0.2.1;", {"192.0.2.1"}},
      // Some proxies leave out the quotes that an IPv6 address needs.
      {"for=[2001:db8::1]:443", {"2001:db8::1"}},
      // A list with a part that is not an address is ignored as a whole.
      {"for=192.0.2.1;for=192.0.2.2", {"?"}},
      {"for=192.0.2.1, for=\"192.0.2.2", {"?"}},
      {"for=192.0.2.1, for = 192.0.2.2", {"?"}},
      {"for=192.0.2.1 192.0.2.2", {"?"}},
      {"for=", {"?"}},
      {"for", {"?"}},
      {"for=\"192.0.2.1\"x", {"?"}},
      {"for=192.0.2.1;proto=https;proto=http", {"?"}},
      {"for=\"\\", {"?"}},
  };
  for (const auto& [line, want] : table) EXPECT_EQ(texts(read_forwarded(line)), want) << line;
}

// ---- The client's address

const std::vector<AddressBlock> kOurs = {block("10.0.0.0", 104), block("::1", 128)};

std::string origin(std::string_view peer, const Headers& headers) {
  const Origin found = resolve_origin(peer, headers, kOurs);
  return found.peer + (found.secure ? " s" : "");
}

TEST(Origin, IsBelievedOfOurProxiesAlone) {
  const Headers headers = {{"x-forwarded-for", "203.0.113.7"}, {"x-forwarded-proto", "https"}};
  EXPECT_EQ(origin("10.0.0.1", headers), "203.0.113.7 s");
  EXPECT_EQ(origin("::ffff:10.0.0.1", headers), "203.0.113.7 s");
  EXPECT_EQ(origin("::1", headers), "203.0.113.7 s");
  EXPECT_EQ(origin("192.0.2.1", headers), "192.0.2.1");
  EXPECT_EQ(origin("::2", headers), "::2");
  EXPECT_EQ(origin("", headers), "");
  EXPECT_EQ(resolve_origin("10.0.0.1", headers, {}), (Origin{"10.0.0.1", false}));
  EXPECT_EQ(origin("10.0.0.1", {}), "10.0.0.1");
  EXPECT_EQ(origin("::ffff:10.0.0.1", {}), "::ffff:10.0.0.1");
}

TEST(Origin, IsTheLastHopThatIsNoneOfOurs) {
  const auto client_of = [](std::string_view line) {
    return origin("10.0.0.1", {{"x-forwarded-for", std::string(line)}});
  };
  // Addresses to the left of the last untrusted one were written by the client itself.
  EXPECT_EQ(client_of("198.51.100.1, 203.0.113.7"), "203.0.113.7");
  EXPECT_EQ(client_of("198.51.100.1, 203.0.113.7, 10.0.0.9, 10.0.0.8:443"), "203.0.113.7");
  EXPECT_EQ(client_of("2001:db8::7"), "2001:db8::7");
  EXPECT_EQ(client_of("10.0.0.7, 10.0.0.9"), "10.0.0.7");
  // A hop that one of our proxies could not name.
  EXPECT_EQ(client_of("203.0.113.7, unknown, 10.0.0.9"), "10.0.0.9");
  EXPECT_EQ(client_of("203.0.113.7, \"x"), "10.0.0.1");
  EXPECT_EQ(client_of(""), "10.0.0.1");
  // Repeated headers form one list.
  EXPECT_EQ(origin("10.0.0.1", {{"x-forwarded-for", "198.51.100.1"},
                                {"x-forwarded-for", "203.0.113.7, 10.0.0.9"}}),
            "203.0.113.7");
}

TEST(Origin, IsSecureWhereOursSaySo) {
  const auto by_x = [](std::string_view proto) {
    return origin("10.0.0.1",
                  {{"x-forwarded-for", "203.0.113.7"}, {"x-forwarded-proto", std::string(proto)}});
  };
  EXPECT_EQ(by_x("HTTPS"), "203.0.113.7 s");
  for (const std::string_view no : {"http", "", "https, http", "http, https", "https,", "httpss"}) {
    EXPECT_EQ(by_x(no), "203.0.113.7") << no;
  }
  const auto by_standard = [](std::string_view line) {
    return origin("10.0.0.1", {{"forwarded", std::string(line)}});
  };
  EXPECT_EQ(by_standard("for=203.0.113.7;proto=https"), "203.0.113.7 s");
  // Only the outermost trusted proxy counts, not the client or the inner proxies.
  EXPECT_EQ(by_standard("for=203.0.113.7;proto=https, for=10.0.0.9;proto=http"), "203.0.113.7 s");
  EXPECT_EQ(by_standard("for=1.1.1.1;proto=https, for=203.0.113.7;proto=http"), "203.0.113.7");
  EXPECT_EQ(by_standard("for=1.1.1.1;proto=https, for=203.0.113.7"), "203.0.113.7");
  EXPECT_EQ(by_standard("for=_hidden;proto=https"), "10.0.0.1 s");
}

TEST(Origin, IsTheProxyWhereTheTwoHeadersDiffer) {
  const auto client_of = [](std::string_view for_list, std::string_view line) {
    return origin("10.0.0.1",
                  {{"x-forwarded-for", std::string(for_list)}, {"forwarded", std::string(line)}});
  };
  EXPECT_EQ(client_of("203.0.113.7", "for=203.0.113.7;proto=https"), "203.0.113.7 s");
  EXPECT_EQ(client_of("203.0.113.7", "for=198.51.100.1"), "10.0.0.1");
  EXPECT_EQ(client_of("203.0.113.7", "for=\"unfinished"), "10.0.0.1");
  // TLS is believed if both headers say so.
  EXPECT_EQ(origin("10.0.0.1", {{"x-forwarded-proto", "https"},
                                {"x-forwarded-for", "203.0.113.7"},
                                {"forwarded", "for=203.0.113.7;proto=http"}}),
            "203.0.113.7");
}

}  // namespace
}  // namespace pennyweight::server
