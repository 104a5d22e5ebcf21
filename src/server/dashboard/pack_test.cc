#include "server/dashboard/pack.h"

#include <gtest/gtest.h>

#include <string>

namespace pennyweight::dashboard {
namespace {

const std::string kPack =
    "pennyweight-pack 1 2\n"
    "/a.js\ttext/javascript\tabc\timmutable\tidentity=5 gzip=3 br=2\n"
    "/b.html\ttext/html\tdef\trevalidate\tidentity=4\n"
    "HELLOgzibrpage";

PackedFile first() { return read_pack(kPack)->front(); }

TEST(Pack, ReadsFilesAndTheirForms) {
  const auto files = read_pack(kPack);
  ASSERT_TRUE(files.has_value());
  ASSERT_EQ(files->size(), 2u);
  const PackedFile& script = (*files)[0];
  EXPECT_EQ(script.path, "/a.js");
  EXPECT_EQ(script.content_type, "text/javascript");
  EXPECT_EQ(script.etag, "abc");
  EXPECT_TRUE(script.immutable);
  ASSERT_EQ(script.variants.size(), 3u);
  EXPECT_EQ(script.variants[0].bytes, "HELLO");
  EXPECT_EQ(script.variants[1].bytes, "gzi");
  EXPECT_EQ(script.variants[2].bytes, "br");
  EXPECT_FALSE((*files)[1].immutable);
  EXPECT_EQ((*files)[1].variants.front().bytes, "page");
}

TEST(Pack, RefusesEveryCut) {
  for (std::size_t size = 0; size < kPack.size(); ++size) {
    EXPECT_FALSE(read_pack(kPack.substr(0, size)).has_value()) << size;
  }
}

TEST(Pack, RefusesWhatIsNotOne) {
  EXPECT_FALSE(read_pack("").has_value());
  EXPECT_FALSE(read_pack(kPack + "x").has_value());
  EXPECT_FALSE(read_pack("pennyweight-pack 2 0\n").has_value());
  EXPECT_FALSE(read_pack("pennyweight-pack 1 -1\n").has_value());
  EXPECT_FALSE(read_pack("pennyweight-pack 1 99999999999999999999\n").has_value());
  const auto line = [](const std::string& text) {
    return read_pack("pennyweight-pack 1 1\n" + text + "\nx").has_value();
  };
  EXPECT_TRUE(line("/a\tt\te\timmutable\tidentity=1"));
  EXPECT_FALSE(line("a\tt\te\timmutable\tidentity=1"));
  EXPECT_FALSE(line("/a\tt\te\tsometimes\tidentity=1"));
  EXPECT_FALSE(line("/a\tt\te\timmutable\tgzip=1"));
  EXPECT_FALSE(line("/a\tt\te\timmutable\tidentity=1 zip=0"));
  EXPECT_FALSE(line("/a\tt\te\timmutable\tidentity=18446744073709551615"));
  EXPECT_FALSE(line("/a\tt\te\timmutable"));
}

TEST(Pack, ChoosesTheSmallestFormThatIsTaken) {
  const PackedFile file = first();
  const auto chosen = [&](std::string_view header) { return choose_variant(file, header).bytes; };
  EXPECT_EQ(chosen("gzip, deflate, br, zstd"), "br");
  EXPECT_EQ(chosen("BR"), "br");
  EXPECT_EQ(chosen("gzip"), "gzi");
  EXPECT_EQ(chosen("gzip;q=1.0, br;q=0"), "gzi");
  EXPECT_EQ(chosen("br;q=0.000, gzip; q=0.1"), "gzi");
  EXPECT_EQ(chosen("*"), "br");
  EXPECT_EQ(chosen("*;q=0"), "HELLO");
  EXPECT_EQ(chosen("br;q=0, *"), "gzi");
  EXPECT_EQ(chosen("identity"), "HELLO");
  EXPECT_EQ(chosen(""), "HELLO");
}

}  // namespace
}  // namespace pennyweight::dashboard
