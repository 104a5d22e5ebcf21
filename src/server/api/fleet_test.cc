// Fleet tiles: who holds which GPU, what is unknown, and what users with a scope see.
#include "server/api/fleet.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/api/live_for_tests.h"
#include "server/api/scope.h"

namespace pennyweight::api {
namespace {

using testing::ElementsAre;

const ClusterId kLab("lab");

Node node(const std::string& name, std::uint32_t gpus) {
  Node one{.cluster = kLab,
           .name = NodeId(name),
           .provider_id = {},
           .instance_type = "p4d.24xlarge",
           .region = "us-east-1",
           .pool = PoolId(""),
           .gpu_model = "A100",
           .gpu_count = gpus,
           .cpu_milli = {},
           .memory_bytes = {},
           .from = kLook - std::chrono::hours(24),
           .to = {},
           .id = {},
           .source = {}};
  return one;
}

Gpu gpu(const std::string& on, std::uint32_t index) {
  return {.cluster = kLab,
          .node = NodeId(on),
          .uuid = GpuId("GPU-" + on + "-" + std::to_string(index)),
          .index = index,
          .model = "A100",
          .memory_bytes = {},
          .mig_instances = {},
          .from = kLook - std::chrono::hours(24),
          .to = {},
          .id = {},
          .source = {}};
}

Holding holding(const std::string& workload, Placement placement) {
  Holding one(kLab, WorkloadId(workload), Interval(kLook - std::chrono::hours(1), kLook),
              std::move(placement));
  one.ended = false;
  return one;
}

class Fleet : public testing::Test {
 protected:
  Fleet() {
    facts_.nodes = {node("n1", 4), node("n2", 2)};
    for (std::uint32_t i = 0; i < 4; ++i) facts_.gpus.push_back(gpu("n1", i));
    look({live_share("a", "nlp", "n1", 1), live_share("b", "cv", "n1", 2)});
    facts_.holdings = {holding("a", OnGpus{{GpuId("GPU-n1-2")}}),
                       holding("b", OnNodes{{{NodeId("n1"), 2}}})};
  }
  void look(std::vector<LiveShare> shares) {
    facts_.view = std::make_shared<const LiveView>(live_view(std::move(shares)));
  }
  std::vector<FleetNode> machines(const Scope& scope = {}) const {
    return list_fleet_nodes({.facts = facts_,
                             .sees =
                                 [scope](const ClusterId& cluster, const LiveShare& share) {
                                   return sees(scope, cluster, share.workload, share.dimensions);
                                 },
                             .is_scoped = !scope.empty()});
  }
  static std::vector<std::string> holders(const FleetNode& machine) {
    std::vector<std::string> all;
    for (const FleetGpu& card : machine.cards) {
      std::string names;
      for (const GpuHolder& holder : card.holders) {
        names += holder.workload + (holder.is_placed ? "" : "?") + " ";
      }
      all.push_back(names);
    }
    return all;
  }

  FleetFacts facts_;
};

TEST_F(Fleet, NamedCardsFirstAndCountedOnesOnWhatIsFree) {
  const auto all = machines();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_THAT(holders(all[0]), ElementsAre("b? ", "b? ", "a ", ""));
  EXPECT_THAT(holders(all[1]), ElementsAre("", "")) << "GPUs that no inventory lists";
  EXPECT_EQ(all[0].price_per_hour, Money::from_units(12, kEur));
}

TEST_F(Fleet, TelemetrySaysWhereACountedOneIs) {
  LiveShare b = live_share("b", "cv", "n1", 2);
  b.gpus = {GpuId("GPU-n1-3")};
  look({live_share("a", "nlp", "n1", 1), b});
  EXPECT_THAT(holders(machines()[0]), ElementsAre("b? ", "", "a ", "b "));
}

TEST_F(Fleet, WhatHasEndedHoldsNothing) {
  look({live_share("a", "nlp", "n1", 1)});
  EXPECT_THAT(holders(machines()[0]), ElementsAre("", "", "a ", ""));
  facts_.view = nullptr;
  EXPECT_THAT(holders(machines()[0]), ElementsAre("", "", "", "")) << "no live data";
}

TEST_F(Fleet, OthersHaveNoNamesAndPricesAreTheOwnPart) {
  const auto all = machines({{"team", {"nlp"}, false}});
  EXPECT_THAT(holders(all[0]), ElementsAre("? ", "? ", "a ", ""));
  EXPECT_EQ(all[0].cards[0].holders[0].owner, "");
  EXPECT_EQ(all[0].cards[2].holders[0].owner, "nlp");
  EXPECT_EQ(all[0].price_per_hour, Money::from_units(3, kEur)) << "and not the node's";
  EXPECT_FALSE(all[1].price_per_hour);
}

TEST_F(Fleet, BusyIsTheMeanOfWhatWasSeen) {
  for (const std::uint64_t ppm : {900'000U, 700'000U}) {
    Usage usage{.cluster = kLab,
                .node = NodeId("n1"),
                .gpu = GpuId("GPU-n1-2"),
                .mig_instance = {},
                .mig_profile = {},
                .model = {},
                .at = kLook,
                .gpu_util_ppm = ppm,
                .engine_active_ppm = {},
                .sm_active_ppm = {},
                .memory_used_bytes = 10,
                .memory_total_bytes = 40,
                .power_milliwatts = {},
                .energy_millijoules = {},
                .workload = WorkloadId(""),
                .id = {},
                .source = {}};
    facts_.usages.push_back(usage);
    usage.of_workload = true;  // not about the GPU
    usage.gpu_util_ppm = 0;
    facts_.usages.push_back(usage);
  }
  const auto all = machines();
  EXPECT_EQ(all[0].cards[2].busy, "0.80");
  EXPECT_EQ(all[0].cards[2].memory, "0.25");
  EXPECT_FALSE(all[0].cards[0].busy);
}

}  // namespace
}  // namespace pennyweight::api
