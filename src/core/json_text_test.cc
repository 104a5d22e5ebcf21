#include "core/json_text.h"

#include <gtest/gtest.h>

namespace pennyweight {
namespace {

TEST(JsonText, EscapesWhatRfc8259Demands) {
  EXPECT_EQ(json_string(""), "\"\"");
  EXPECT_EQ(json_string("a\"b\\c\n\t"), "\"a\\\"b\\\\c\\n\\t\"");
  EXPECT_EQ(json_string("\r\x01\x7f"), "\"\\u000d\\u0001\\u007f\"");
  EXPECT_EQ(json_string("é€"), "\"é€\"");
}

TEST(JsonText, OtherBytesThanUtf8AreReplaced) {
  EXPECT_EQ(json_string("a\xFF\xC3(b"), "\"a\\ufffd\\ufffd(b\"");
}

TEST(JsonText, AppendsToWhatIsThere) {
  std::string out = "{\"a\":";
  append_json_string(out, "b");
  EXPECT_EQ(out, "{\"a\":\"b\"");
}

// Facts in ledgers were fingerprinted with these bytes.
TEST(JsonText, StoredStringsKeepTheirBytes) {
  std::string out;
  append_stored_json_string(out, "a\"b\\c\n\r\t\x01\x7f é€");
  EXPECT_EQ(out, "\"a\\\"b\\\\c\\n\\r\\t\\u0001\x7f é€\"");
}

}  // namespace
}  // namespace pennyweight
