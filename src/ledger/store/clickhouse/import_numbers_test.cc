#include "ledger/store/clickhouse/import_numbers.h"

#include <gtest/gtest.h>

#include <random>

namespace pennyweight {
namespace {

TEST(ImportNumbers, AreThoseOfTheOrderInWhichSessionsWereAdded) {
  EXPECT_EQ(ImportNumbers().of(7), 0u);
  for (const bool random : {true, false}) {
    std::mt19937_64 numbers(1);
    std::vector<std::uint64_t> sessions;
    ImportNumbers imports;
    for (std::uint64_t i = 1; i <= 10'000; ++i) {
      sessions.push_back(random ? numbers() | 1 : i << 40u);
      imports.add(sessions.back());
      ASSERT_EQ(imports.of(sessions.back()), i);
      ASSERT_EQ(imports.of(sessions[i / 2]), i / 2 + 1);
      ASSERT_EQ(imports.of(random ? numbers() & ~1u : i), 0u);
    }
    EXPECT_EQ(imports.count(), 10'000u);
    for (std::uint64_t i = 0; i < 10'000; ++i) ASSERT_EQ(imports.of(sessions[i]), i + 1);
  }
}

}  // namespace
}  // namespace pennyweight
