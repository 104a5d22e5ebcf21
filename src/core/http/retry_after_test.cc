#include "core/http/retry_after.h"

#include <gtest/gtest.h>

namespace pennyweight::http {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(RetryAfter, SecondsOrADate) {
  constexpr std::string_view kNow = "Fri, 31 Dec 1999 23:58:00 GMT";
  EXPECT_EQ(parse_retry_after("0", ""), milliseconds(0));
  EXPECT_EQ(parse_retry_after(" 120 ", ""), seconds(120));
  EXPECT_EQ(parse_retry_after("Fri, 31 Dec 1999 23:59:59 GMT", kNow), seconds(119));
  // A date in the past: no wait.
  EXPECT_EQ(parse_retry_after("Fri, 31 Dec 1999 23:00:00 GMT", kNow), seconds(0));
  // Neither a day nor a number of any length is waited for.
  EXPECT_EQ(parse_retry_after("Sat, 01 Jan 2000 23:58:00 GMT", kNow), kRetryAfterMax);
  EXPECT_EQ(parse_retry_after("99999999999999999999999999", ""), kRetryAfterMax);
}

TEST(RetryAfter, NothingOfWhatIsNeither) {
  EXPECT_EQ(parse_retry_after("", ""), std::nullopt);
  EXPECT_EQ(parse_retry_after("soon", "Fri, 31 Dec 1999 23:58:00 GMT"), std::nullopt);
  EXPECT_EQ(parse_retry_after("-5", ""), std::nullopt);
  EXPECT_EQ(parse_retry_after("1.5", ""), std::nullopt);
  EXPECT_EQ(parse_retry_after("Fri, 31 Dec 1999 23:59:59 GMT", ""), std::nullopt);
  EXPECT_EQ(parse_retry_after(std::string(65, '1'), ""), std::nullopt);
}

}  // namespace
}  // namespace pennyweight::http
