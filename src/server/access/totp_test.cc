#include "server/access/totp.h"

#include <gtest/gtest.h>

#include "core/base_encoding.h"
#include "core/crypto/secret.h"
#include "core/crypto/sha256.h"
#include "server/access/qr_svg.h"
#include "server/access/secrets.h"

namespace pennyweight::access {
namespace {

constexpr std::string_view kSecret = "12345678901234567890";  // that of both RFCs

TEST(Totp, Rfc6238AppendixB) {
  const std::pair<std::int64_t, const char*> rows[] = {{59, "94287082"},
                                                       {1'111'111'109, "07081804"},
                                                       {1'111'111'111, "14050471"},
                                                       {1'234'567'890, "89005924"},
                                                       {2'000'000'000, "69279037"},
                                                       {20'000'000'000, "65353130"}};
  for (const auto& [seconds, code] : rows) {
    EXPECT_EQ(totp_code(kSecret, totp_step(from_unix_seconds(seconds)), 8), code) << seconds;
  }
}

TEST(Totp, Rfc4226AppendixD) {
  const char* const codes[] = {"755224", "287082", "359152", "969429", "338314",
                               "254676", "287922", "162583", "399871", "520489"};
  for (std::int64_t count = 0; count < 10; ++count) {
    EXPECT_EQ(totp_code(kSecret, count), codes[count]);
  }
}

TEST(Totp, OneStepOfDriftEitherWayAndEachCodeOnce) {
  const Instant at = from_unix_seconds(1'700'000'010);
  const std::int64_t now = totp_step(at);
  for (std::int64_t off = -3; off <= 3; ++off) {
    const auto step = match_totp(kSecret, totp_code(kSecret, now + off), at, 0);
    EXPECT_EQ(step.has_value(), off >= -1 && off <= 1) << off;
    if (step) {
      EXPECT_EQ(*step, now + off);
    }
  }
  EXPECT_FALSE(match_totp(kSecret, totp_code(kSecret, now), at, now));
  EXPECT_FALSE(match_totp(kSecret, totp_code(kSecret, now - 1), at, now));
  EXPECT_EQ(match_totp(kSecret, totp_code(kSecret, now + 1), at, now), now + 1);

  std::string spaced = totp_code(kSecret, now);
  spaced.insert(3, " ");
  EXPECT_TRUE(match_totp(kSecret, spaced, at, 0));
  for (const std::string& code : {std::string(), std::string("12345"), std::string("abcdef"),
                                  totp_code(kSecret, now) + "0", std::string(1000, '0')}) {
    EXPECT_FALSE(match_totp(kSecret, code, at, 0)) << code;
  }
}

TEST(Totp, UriIsWhatAppsRead) {
  EXPECT_EQ(totp_uri("12345678901234567890", "ana@lab.org"),
            "otpauth://totp/pennyweight:ana%40lab.org?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"
            "&issuer=pennyweight&algorithm=SHA1&digits=6&period=30");
}

// The squares in three corners, seven modules wide, and white around: what a camera looks for.
TEST(QrSvg, HasFindersAndNoStyle) {
  const auto svg = qr_svg(totp_uri(kSecret, "ana"), "label");
  ASSERT_TRUE(svg);
  EXPECT_TRUE(svg->starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 "));
  EXPECT_TRUE(svg->ends_with("</svg>"));
  for (const char* banned : {"style", "script", "on", "href", "<!"}) {
    EXPECT_EQ(svg->find(std::string(" ") + banned), std::string::npos) << banned;
  }
  EXPECT_EQ(svg->find("style"), std::string::npos);
  EXPECT_NE(svg->find("aria-label=\"label\""), std::string::npos);
  const int side = std::stoi(svg->substr(svg->find("viewBox=\"0 0 ") + 13));
  EXPECT_NE(svg->find("M4 4h7v1h-7z"), std::string::npos);
  EXPECT_NE(svg->find("M" + std::to_string(side - 11) + " 4h7v1h-7z"), std::string::npos);
  EXPECT_NE(svg->find("M4 " + std::to_string(side - 5) + "h7v1h-7z"), std::string::npos);
  EXPECT_FALSE(qr_svg(std::string(5000, 'x'), "label"));
}

TEST(Secrets, Alphabets) {  // RFC 4648, section 10
  EXPECT_EQ(to_base32("foobar"), "MZXW6YTBOI");
  EXPECT_EQ(to_base32("fooba"), "MZXW6YTB");
  EXPECT_EQ(to_base32("f"), "MY");
  EXPECT_EQ(to_base64url("foob"), "Zm9vYg");
  EXPECT_EQ(to_base64url("\xfb\xff"), "-_8");
  EXPECT_EQ(to_hex(std::string_view("\0\x1f\xff", 3)), "001fff");
  EXPECT_EQ(to_base32(""), "");
}

TEST(Secrets, Digests) {
  EXPECT_EQ(to_hex(sha256("abc")),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  // RFC 4231, test case 2
  EXPECT_EQ(to_hex(hmac_sha256("Jefe", "what do ya want for nothing?")),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  EXPECT_TRUE(is_same_secret("abc", "abc"));
  EXPECT_FALSE(is_same_secret("abc", "abd"));
  EXPECT_FALSE(is_same_secret("abc", "ab"));
}

}  // namespace
}  // namespace pennyweight::access
