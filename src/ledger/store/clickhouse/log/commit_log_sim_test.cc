// CommitLog under every fault that a seed can produce. PENNYWEIGHT_LOG_SEEDS=1000000 runs more
// seeds, PENNYWEIGHT_LOG_SEED=n only that one.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "ledger/store/clickhouse/log/log_simulation.h"

namespace pennyweight::commit_log {
namespace {

std::uint64_t number_of(const char* name, std::uint64_t otherwise) {
  const char* value = std::getenv(name);
  return value == nullptr ? otherwise : std::stoull(value);
}

TEST(CommitLogSimulation, KeepsItsPromisesWhateverHappens) {
  const std::uint64_t one = number_of("PENNYWEIGHT_LOG_SEED", 0);
  const std::uint64_t first = one == 0 ? 1 : one;
  const std::uint64_t count =
      one == 0 ? number_of("PENNYWEIGHT_LOG_SEEDS", kSlowFibers ? 500 : 5'000) : 1;
  std::uint64_t acknowledged = 0, doubts = 0, voided = 0;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    LogSimulation world(seed, PlantedFault::kNone);
    ASSERT_EQ(world.run(), "") << "PENNYWEIGHT_LOG_SEED=" << seed;
    acknowledged += world.acknowledged();
    doubts += world.doubts();
    voided += world.voided();
  }
  RecordProperty("acknowledged", std::to_string(acknowledged));
  RecordProperty("in_doubt", std::to_string(doubts));
  RecordProperty("void", std::to_string(voided));
  if (one != 0) return;
  // A fault that never happens is not tested.
  EXPECT_GT(acknowledged, 2 * count);
  EXPECT_GT(doubts, count / 1000);
  EXPECT_GT(voided, count / 100);
}

class PlantedFaultTest : public testing::TestWithParam<PlantedFault> {};

TEST_P(PlantedFaultTest, IsFound) {
  for (std::uint64_t seed = 1; seed <= 20'000; ++seed) {
    if (!LogSimulation(seed, GetParam()).run().empty()) {
      RecordProperty("seeds", std::to_string(seed));
      return;
    }
  }
  FAIL() << "20,000 worlds, and nobody noticed";
}

INSTANTIATE_TEST_SUITE_P(All, PlantedFaultTest,
                         testing::Values(PlantedFault::kBlindCheck, PlantedFault::kBlindClaim,
                                         PlantedFault::kSealedFirst, PlantedFault::kForgetTail,
                                         PlantedFault::kStaleRead, PlantedFault::kEarlyAnswer));

}  // namespace
}  // namespace pennyweight::commit_log
