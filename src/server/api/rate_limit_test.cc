#include "server/api/rate_limit.h"

#include <gtest/gtest.h>

namespace pennyweight::api {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Instant kBegin = from_unix_seconds(1'700'000'000);

TEST(RateLimit, LetsABurstInAndThenSoManyASecond) {
  RateLimit limit({.per_second = 2, .burst = 3});
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(limit.take("ana", kBegin)) << i;
  EXPECT_EQ(limit.take("ana", kBegin), seconds(1));
  EXPECT_EQ(limit.take("ana", kBegin + milliseconds(499)), seconds(1));
  EXPECT_FALSE(limit.take("ana", kBegin + milliseconds(500)));
  EXPECT_TRUE(limit.take("ana", kBegin + milliseconds(500)));
  // Each client has its own bucket, and none holds more than a burst.
  EXPECT_FALSE(limit.take("bo", kBegin));
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(limit.take("ana", kBegin + seconds(3600))) << i;
  EXPECT_TRUE(limit.take("ana", kBegin + seconds(3600)));
}

TEST(RateLimit, IsNotFooledByAClockThatIsSetBack) {
  RateLimit limit({.per_second = 1, .burst = 1});
  EXPECT_FALSE(limit.take("ana", kBegin));
  EXPECT_TRUE(limit.take("ana", kBegin - seconds(100)));
  EXPECT_FALSE(limit.take("ana", kBegin - seconds(99)));
}

TEST(RateLimit, KeepsNoMoreBucketsThanItMay) {
  RateLimit limit({.per_second = 1, .burst = 2}, 10);
  for (int i = 0; i < 9; ++i) limit.take("used " + std::to_string(i), kBegin);
  limit.take("empty", kBegin);
  limit.take("empty", kBegin);
  // One of the fuller buckets is dropped, not the empty one.
  limit.take("new", kBegin);
  EXPECT_EQ(limit.buckets(), 10u);
  EXPECT_TRUE(limit.take("empty", kBegin));
  // Buckets that are full again are all dropped at once.
  limit.take("later", kBegin + seconds(10));
  EXPECT_EQ(limit.buckets(), 1u);
}

}  // namespace
}  // namespace pennyweight::api
