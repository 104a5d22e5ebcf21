#include "core/clickhouse/refusal.h"

#include <gtest/gtest.h>

namespace pennyweight::clickhouse {
namespace {

TEST(Refusal, WordsOfEveryRelease) {
  struct Case {
    std::string text;
    int code;
    std::string words;
  };
  const Case cases[] = {
      {"Code: 47, e.displayText() = DB::Exception: Unknown identifier: x, e.what() = DB::Exception",
       47, "Unknown identifier: x"},
      {std::string(100, '\0') +
           "\nCode: 395, e.displayText() = DB::Exception: Value passed,\nand so on, e.what() = "
           "DB::Exception\n",
       395, "Value passed, and so on"},
      {"Code: 210, e.displayText() = DB::NetException: Connection refused (h:9), e.what() = "
       "DB::NetException",
       210, "Connection refused (h:9)"},
      {"Poco::Exception. Code: 1000, e.code() = 111, e.displayText() = Connection refused, "
       "e.what() = Connection refused",
       1000, "Connection refused"},
      {"std::exception. Code: 1001, type: std::bad_alloc, e.what() = std::bad_alloc", 1001,
       "type: std::bad_alloc"},
      {"Code: 47. DB::Exception: Unknown x (in y). (UNKNOWN_IDENTIFIER) (version 26.5.3.1 (a "
       "build))\n",
       47, "Unknown x (in y). (UNKNOWN_IDENTIFIER)"},
      {"Code: 999. Coordination::Exception: Session expired. (KEEPER_EXCEPTION)", 999,
       "Session expired. (KEEPER_EXCEPTION)"},
      {"__exception__\r\nabcdefghijklmnop\r\nCode: 395. DB::Exception: Value. (F) (version 26.5)"
       "\r\n78 abcdefghijklmnop\r\n__exception__\r\n",
       395, "Value. (F)"},
      // The outer exception counts, not the one that it quotes.
      {"Code: 279, e.displayText() = DB::NetException: All connection tries failed. Log: \n\nCode: "
       "209, e.displayText() = DB::NetException: Timeout: connect timed out, e.what() = "
       "DB::NetException",
       279,
       "All connection tries failed. Log:   Code: 209, e.displayText() = DB::NetException: "
       "Timeout: "
       "connect timed out"},
      {"Code: none, Code: 7, e.displayText() = DB::Exception: x, e.what() = y", 7, "x"},
  };
  for (const Case& one : cases) {
    const auto error = find_server_error(one.text);
    ASSERT_TRUE(error) << one.text;
    EXPECT_EQ(error->code, one.code) << one.text;
    EXPECT_EQ(error->words, one.words);
  }
  const auto longest = find_server_error("Code: 1. DB::Exception: " + std::string(9'000, 'x'));
  ASSERT_TRUE(longest);
  EXPECT_EQ(longest->words.size(), kWordsBytesMax);
}

TEST(Refusal, OtherTextIsNone) {
  for (const std::string text : {"", "Code: ", "Code: 0, e.displayText() = x", "Code: 47",
                                 "Code: 47 and so on", "Code:47, e.", "Code: 47. All is well",
                                 "Code: 123456, e.displayText() = x", "HTTP code: 47, e.what()"}) {
    EXPECT_FALSE(find_server_error(text)) << text;
  }
}

TEST(Refusal, RetriesDependOnTheCode) {
  struct Case {
    int code;
    Refusal of_reading, of_writing;
  };
  const Case cases[] = {
      {0, Refusal::kNone, Refusal::kNone},          {47, Refusal::kRefused, Refusal::kRefused},
      {60, Refusal::kRefused, Refusal::kRefused},   {192, Refusal::kRefused, Refusal::kRefused},
      {241, Refusal::kRefused, Refusal::kRefused},  {202, Refusal::kNotYet, Refusal::kNotYet},
      {225, Refusal::kNotYet, Refusal::kNotYet},    {242, Refusal::kNotYet, Refusal::kNotYet},
      {252, Refusal::kNotYet, Refusal::kNotYet},    {285, Refusal::kNotYet, Refusal::kNotYet},
      {286, Refusal::kNotYet, Refusal::kNotYet},    {289, Refusal::kNotYet, Refusal::kNotYet},
      {999, Refusal::kNotYet, Refusal::kNotYet},    {159, Refusal::kNotYet, Refusal::kUncertain},
      {209, Refusal::kNotYet, Refusal::kUncertain}, {210, Refusal::kNotYet, Refusal::kUncertain},
      {279, Refusal::kNotYet, Refusal::kUncertain}, {319, Refusal::kUncertain, Refusal::kUncertain},
  };
  for (const Case& one : cases) {
    EXPECT_EQ(refusal_of(one.code, false), one.of_reading) << one.code;
    EXPECT_EQ(refusal_of(one.code, true), one.of_writing) << one.code;
  }
  EXPECT_TRUE(others_may(289));
  EXPECT_FALSE(others_may(286));
}

}  // namespace
}  // namespace pennyweight::clickhouse
