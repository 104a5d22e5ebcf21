#include "allocation/pricing/node_split.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cstdint>
#include <string_view>

namespace pennyweight {
namespace {

Decimal exact(std::string_view text) { return parse_exact_decimal(text).value(); }

const HostUnitRates& open_cost_rates() {
  static const HostUnitRates rates{.per_cpu_hour = exact("0.031611"),
                                   .per_gib_hour = exact("0.004237")};
  return rates;
}

constexpr std::uint64_t gib(std::uint64_t count) { return count << 30; }

// The GPUs' share in thousandths, rounded to the nearest.
std::uint64_t gpu_per_mille(const NodeSplitWeights& split) {
  const UInt128 price = split.gpu + split.cpu + split.memory;
  return static_cast<std::uint64_t>((split.gpu * 1000 + price / 2) / price);
}

TEST(NodeSplit, ResidualLeavesTheGpusTheRestOfWhatCpuAndMemoryCostOnTheMarket) {
  struct Case {
    std::string_view node;
    std::string_view per_hour;
    std::uint64_t cpus;
    std::uint64_t memory_gib;
    std::uint64_t want_gpu_per_mille;
  };
  const Case cases[] = {
      {"p3.16xlarge, 8 V100", "24.48", 64, 488, 833},
      {"p4d.24xlarge, 8 A100", "32.77", 96, 1152, 758},
      {"p5.48xlarge, 8 H100", "98.32", 192, 2048, 850},
      {"g5.xlarge, 1 A10G", "1.006", 4, 16, 807},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.node);
    const NodeSplitWeights split =
        residual_split(exact(c.per_hour), c.cpus * 1000, gib(c.memory_gib), open_cost_rates());
    EXPECT_EQ(gpu_per_mille(split), c.want_gpu_per_mille);
    EXPECT_FALSE(split.capped);
  }
}

TEST(NodeSplit, ResidualIsExactToTheTick) {
  // 64 x 0.031611 = 2.023104 and 488 x 0.004237 = 2.067656, of 24.48.
  const NodeSplitWeights split =
      residual_split(exact("24.48"), 64'000, gib(488), open_cost_rates());
  EXPECT_EQ(to_text(split.cpu), "2023104000000000000");
  EXPECT_EQ(to_text(split.memory), "2067656000000000000");
  EXPECT_EQ(to_text(split.gpu), "20389240000000000000");  // 8 x 2.548655
}

TEST(NodeSplit, CpuAndMemoryTakeAtMostHalfOfThePrice) {
  // 0.031611 x 96 = 3.034656 and 0.004237 x 1152 = 4.881024 of a price of 2.
  const NodeSplitWeights split = residual_split(exact("2"), 96'000, gib(1152), open_cost_rates());
  EXPECT_TRUE(split.capped);
  EXPECT_EQ(to_text(split.gpu), "1000000000000000000");
  EXPECT_EQ(to_text(split.cpu), "383372748772057486");  // 3.034656 / 7.91568
  EXPECT_EQ(to_text(split.memory), "616627251227942514");
}

TEST(NodeSplit, EdgesOfThePrice) {
  struct Case {
    std::string_view per_hour;
    std::uint64_t cpu_milli;
    std::uint64_t memory_bytes;
    NodeSplitWeights want;
  };
  const Case cases[] = {
      {"0", 1000, gib(1), {.gpu = 1, .capped = true}},
      {"0", 0, 0, {.gpu = 1}},
      {"0.000000000000000001", 1000, gib(1), {.gpu = 1, .capped = true}},
      {"0.000000000000000003", 1000, 0, {.gpu = 2, .cpu = 1, .capped = true}},
      {"1", 0, 0, {.gpu = 1'000'000'000'000'000'000}},
      // Exactly half is within the guard.
      {"0.063222", 1000, 0, {.gpu = 31'611'000'000'000'000, .cpu = 31'611'000'000'000'000}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.per_hour);
    EXPECT_EQ(residual_split(exact(c.per_hour), c.cpu_milli, c.memory_bytes, open_cost_rates()),
              c.want);
  }
  EXPECT_THROW(residual_split(exact("-1"), 1, 1, open_cost_rates()), InvariantError);
  EXPECT_THROW(whole_node_split(exact("-1")), InvariantError);
}

TEST(NodeSplit, WholeNodeGivesTheGpusAll) {
  EXPECT_EQ(whole_node_split(exact("24.48")),
            (NodeSplitWeights{.gpu = UInt128{24'480} * 1'000'000'000'000'000}));
  EXPECT_EQ(whole_node_split(exact("0")), NodeSplitWeights{.gpu = 1});
}

TEST(NodeSplit, WeightsAddUpToThePriceForAnyNode) {
  EXPECT_TRUE(rc::check([](std::uint64_t price_ticks, std::uint64_t cpu_milli,
                           std::uint64_t memory_bytes) {
    const Decimal price = Decimal::from_ticks(price_ticks);
    const HostUnitRates steep{.per_cpu_hour = kHostUnitRateMax, .per_gib_hour = kHostUnitRateMax};
    for (const HostUnitRates& rates : {open_cost_rates(), steep}) {
      const NodeSplitWeights split = residual_split(price, cpu_milli, memory_bytes, rates);
      const UInt128 whole = price_ticks == 0 ? 1 : UInt128{price_ticks};
      RC_ASSERT(split.gpu + split.cpu + split.memory == whole);
      RC_ASSERT(split.gpu * 2 >= whole);
    }
  }));
}

}  // namespace
}  // namespace pennyweight
