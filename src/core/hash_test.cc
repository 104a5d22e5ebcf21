// Fingerprints: fields cannot run into one another, and the text form reads back.
#include "core/hash.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>
#include <string>

namespace pennyweight {
namespace {

TEST(Hash, IsTheXxh3OfTheBytes) {
  // The value that xxHash publishes for empty input, XXH3_128bits with seed 0.
  EXPECT_EQ(to_text(hash_of("")), "99aa06d3014798d86001c324468d497f");
  EXPECT_NE(hash_of("a"), hash_of("b"));
}

TEST(Fingerprint, TellsFieldsKindsAndAbsenceApart) {
  const std::string minus_one(8, '\xFF');
  std::set<Hash128> seen;
  const auto expect_new = [&](const Fingerprint& print) {
    EXPECT_TRUE(seen.insert(print.hash()).second);
  };
  expect_new(Fingerprint());
  expect_new(Fingerprint().add("ab").add("c"));
  expect_new(Fingerprint().add("a").add("bc"));
  expect_new(Fingerprint().add("abc"));
  expect_new(Fingerprint().add(""));
  expect_new(Fingerprint().add("").add(""));
  expect_new(Fingerprint().add(std::int64_t{0}));
  expect_new(Fingerprint().add(std::int64_t{-1}));
  expect_new(Fingerprint().add(minus_one));
  expect_new(Fingerprint().add_absent());
  expect_new(Fingerprint().add_absent().add_absent());
  expect_new(Fingerprint().add("-"));
  expect_new(Fingerprint().add("abc").add(std::int64_t{7}));
  expect_new(Fingerprint().add(std::int64_t{7}).add("abc"));
}

TEST(Hash, RefusesOtherTexts) {
  for (const char* bad :
       {"", "0", "99aa06d3014798d86001c324468d497", "99aa06d3014798d86001c324468d497ff",
        "99aa06d3014798d8 001c324468d497f", "-9aa06d3014798d86001c324468d497f",
        "0x9a06d3014798d86001c324468d497f", "g9aa06d3014798d86001c324468d497f"}) {
    EXPECT_FALSE(parse_hash(bad).has_value()) << bad;
  }
}

RC_GTEST_PROP(HashProperty, TextReadsBack, (std::uint64_t high, std::uint64_t low)) {
  const Hash128 hash{.high = high, .low = low};
  RC_ASSERT(parse_hash(to_text(hash)) == hash);
}

}  // namespace
}  // namespace pennyweight
