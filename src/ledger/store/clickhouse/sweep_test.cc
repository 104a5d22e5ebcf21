#include "ledger/store/clickhouse/sweep.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pennyweight {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Sweep, ADeletionNamesItsSessionsAndNoPartsOfThem) {
  EXPECT_THAT(numbers_in("DELETE WHERE session IN (12345678901234567890, 42)"),
              ElementsAre(42u, 12'345'678'901'234'567'890u));
  EXPECT_FALSE(numbers_in("DELETE WHERE session IN (1234)").contains(23));
  EXPECT_THAT(numbers_in("DELETE WHERE session = 7"), ElementsAre(7u));
}

TEST(Sweep, WhatIsNoNumberOfASessionIsPassedOver) {
  EXPECT_THAT(numbers_in(""), IsEmpty());
  EXPECT_THAT(numbers_in("DELETE WHERE 0"), ElementsAre(0u));
  EXPECT_THAT(numbers_in("UPDATE x = 99999999999999999999999 WHERE y"), IsEmpty());
}

}  // namespace
}  // namespace pennyweight
