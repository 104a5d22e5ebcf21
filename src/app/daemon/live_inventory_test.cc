// LiveInventory: which of the frequent readings are written to the ledger, and what is shown.
#include "app/daemon/live_inventory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <random>

namespace pennyweight {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using testing::IsEmpty;
using testing::SizeIs;

const Instant kBegin = *parse_instant("2026-03-04T08:00:00Z");
const ClusterId kLab("lab");

Holding reading(std::chrono::milliseconds until, bool ended = false,
                const std::string& team = "nlp") {
  Holding holding(kLab, WorkloadId("7"), Interval(kBegin, kBegin + until),
                  OnNodes{{{NodeId("n1"), 2}}});
  holding.ended = ended;
  EXPECT_TRUE(holding.labels.set("team", team));
  return holding;
}

CollectedFacts seen(std::vector<Holding> holdings) {
  return {.holdings = std::move(holdings),
          .nodes = {},
          .gpus = {},
          .outages = {},
          .rejected = {},
          .problems = {}};
}

Gpu card(std::uint32_t index, const std::string& node = "n1") {
  return {.cluster = kLab,
          .node = NodeId(node),
          .uuid = GpuId("GPU-" + std::to_string(index)),
          .index = index,
          .model = "A100",
          .memory_bytes = {},
          .mig_instances = {},
          .from = kBegin,
          .to = {},
          .id = {},
          .source = {}};
}

TEST(LiveInventory, AHoldingThatGoesOnIsWrittenAtItsBeginEachHourAndAtItsEnd) {
  LiveInventory inventory(hours(1));
  int written = 0;
  for (int minute = 1; minute <= 180; ++minute) {
    written += static_cast<int>(inventory.take(seen({reading(minutes(minute))})).holdings.size());
  }
  EXPECT_EQ(written, 3);  // at minutes 1, 61 and 121
  EXPECT_THAT(inventory.take(seen({reading(minutes(181), true)})).holdings, SizeIs(1));
  // The same end again, and a late reading, are not new.
  EXPECT_THAT(inventory.take(seen({reading(minutes(181), true)})).holdings, IsEmpty());
  EXPECT_THAT(inventory.take(seen({reading(minutes(182))})).holdings, IsEmpty());
  EXPECT_TRUE(inventory.has_ended(kLab, WorkloadId("7"), ""));
}

// One inventory gets each holding whole, the other a reading wherever it is the one of before.
TEST(LiveInventory, AReadingCountsAsItsHolding) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&](unsigned most) {
      return static_cast<int>(std::uniform_int_distribution<unsigned>(0, most - 1)(random));
    };
    LiveInventory whole(hours(1)), brief(hours(1));
    std::shared_ptr<const Holding> before;
    std::string team = "nlp";
    for (int minute = 1; minute < 200; minute += 1 + below(9)) {
      SCOPED_TRACE(testing::Message() << "seed " << seed << ", minute " << minute);
      if (below(12) == 0) team = below(2) == 0 ? "nlp" : "vision";
      // Now and then an old reading comes, or another source says something else.
      const auto until = minutes(below(15) == 0 ? std::max(1, minute - 20) : minute);
      const bool ended = below(60) == 0;
      const Holding now = reading(until, ended, team);
      CollectedFacts in_short = seen({});
      const bool is_same = before && !ended && *before->labels.find("team") == team;
      if (is_same) {
        in_short.readings.push_back({.holding = before, .until = kBegin + until});
      } else {
        in_short.holdings.push_back(now);
        before = ended ? nullptr : std::make_shared<const Holding>(now);
      }
      const auto expected = whole.take(seen({now})), got = brief.take(std::move(in_short));
      EXPECT_EQ(got.holdings, expected.holdings);
      if (below(10) == 0) {
        const bool all = below(2) == 0;
        EXPECT_EQ(brief.take_unwritten_readings(all), whole.take_unwritten_readings(all));
      }
      if (below(10) == 0) {
        const Interval lost(kBegin + until, kBegin + until + minutes(1));
        whole.extend_vanished(kLab, WorkloadId("7"), lost);
        brief.extend_vanished(kLab, WorkloadId("7"), lost);
      }
      EXPECT_EQ(brief.readings_text(), whole.readings_text());
      EXPECT_EQ(brief.take_changed_since(), whole.take_changed_since());
      const Interval window(kBegin, kBegin + minutes(minute + 2));
      EXPECT_EQ(brief.holdings(kLab, window, minutes(3)), whole.holdings(kLab, window, minutes(3)));
    }
  }
}

TEST(LiveInventory, WhatChangesIsNews) {
  LiveInventory inventory(hours(1));
  EXPECT_THAT(inventory.take(seen({reading(minutes(1))})).holdings, SizeIs(1));
  EXPECT_THAT(inventory.take(seen({reading(minutes(2))})).holdings, IsEmpty());
  EXPECT_THAT(inventory.take(seen({reading(minutes(3), false, "vision")})).holdings, SizeIs(1));
}

TEST(LiveInventory, WhatWasReadJustNowRunsUpToNowAndWhatIsSilentDoesNot) {
  LiveInventory inventory(hours(1));
  inventory.take(seen({reading(minutes(10))}));
  const auto shown = [&](int minute) {
    return inventory.holdings(kLab, Interval(kBegin, kBegin + minutes(minute)), minutes(3));
  };
  ASSERT_THAT(shown(12), SizeIs(1));
  EXPECT_EQ(shown(12)[0].held.end(), kBegin + minutes(12));
  // Its collector was silent for too long: nothing is known after the last reading.
  ASSERT_THAT(shown(30), SizeIs(1));
  EXPECT_EQ(shown(30)[0].held.end(), kBegin + minutes(10));
  // And an end is an end.
  inventory.take(seen({reading(minutes(11), true)}));
  EXPECT_EQ(shown(12)[0].held.end(), kBegin + minutes(11));
  inventory.forget_before(kBegin + hours(1));
  EXPECT_THAT(shown(12), IsEmpty());
}

TEST(LiveInventory, CardsAreFoundByTheirNodeAndIndex) {
  LiveInventory inventory(hours(1));
  CollectedFacts cards = seen({});
  cards.gpus = {card(0), card(1)};
  inventory.take(std::move(cards));
  EXPECT_EQ(inventory.gpu_at(kLab, NodeId("n1"), 1), GpuId("GPU-1"));
  EXPECT_EQ(inventory.gpu_at(kLab, NodeId("n2"), 1), std::nullopt);
  CollectedFacts moved = seen({});
  Gpu gone = card(1);
  gone.to = kBegin + minutes(5);
  moved.gpus = {gone};
  inventory.take(std::move(moved));
  EXPECT_EQ(inventory.gpu_at(kLab, NodeId("n1"), 1), std::nullopt);
}

TEST(LiveInventory, ACardWasInItsNodeBeforeItWasFirstSeen) {
  LiveInventory inventory(hours(1));
  Gpu first = card(0);
  first.from = kBegin + hours(2);
  EXPECT_EQ(inventory.begin_of(first), first.from) << "nobody knows its node";
  CollectedFacts facts = seen({});
  Node node = {.cluster = kLab,
               .name = NodeId("n1"),
               .provider_id = {},
               .instance_type = {},
               .region = {},
               .pool = PoolId(""),
               .gpu_model = "A100",
               .gpu_count = 2,
               .cpu_milli = {},
               .memory_bytes = {},
               .from = kBegin,
               .to = {},
               .id = {},
               .source = {}};
  facts.nodes = {node};
  inventory.take(std::move(facts));
  EXPECT_EQ(inventory.begin_of(first), kBegin);
  CollectedFacts cards = seen({});
  cards.gpus = {first};
  inventory.take(std::move(cards));
  Gpu later = card(0);
  later.uuid = GpuId("GPU-new");
  later.from = kBegin + hours(5);
  EXPECT_EQ(inventory.begin_of(later), later.from) << "it replaced another";
}

TEST(LiveInventory, NodesThatOnlyTelemetryKnows) {
  LiveInventory inventory(hours(1));
  CollectedFacts cards = seen({});
  cards.gpus = {card(0), card(1)};
  inventory.take(std::move(cards));
  std::vector<Node> nodes = inventory.nodes_from_gpus({});
  ASSERT_THAT(nodes, SizeIs(1));
  EXPECT_EQ(nodes[0].gpu_count, 2u);
  EXPECT_EQ(nodes[0].gpu_model, "A100");
  EXPECT_THAT(inventory.nodes_from_gpus({kLab}), IsEmpty());
  CollectedFacts written = seen({});
  written.nodes = nodes;
  inventory.take(std::move(written));
  EXPECT_THAT(inventory.nodes_from_gpus({}), IsEmpty());
  // Another GPU is observed there later.
  CollectedFacts more = seen({});
  more.gpus = {card(2)};
  more.gpus[0].from = kBegin + hours(1);
  inventory.take(std::move(more));
  nodes = inventory.nodes_from_gpus({});
  ASSERT_THAT(nodes, SizeIs(1));
  EXPECT_EQ(nodes[0].gpu_count, 3u);
  EXPECT_EQ(nodes[0].from, kBegin + hours(1));
}

// An exporter without the node's name is scraped at the address of its pod.
TEST(LiveInventory, NodesThatTelemetryAloneNamesInAWatchedCluster) {
  LiveInventory inventory(hours(1));
  CollectedFacts cards = seen({});
  cards.gpus = {card(0), card(1, "10.244.1.3"), card(2, "10.244.1.3")};
  inventory.take(std::move(cards));
  EXPECT_FALSE(inventory.note_of_unknown_nodes(kLab)) << "no other source has nodes";
  inventory.mark_complete(kLab);
  CollectedFacts nodes = seen({});
  nodes.nodes = inventory.nodes_from_gpus({});
  std::erase_if(nodes.nodes, [](const Node& node) { return node.name.text() != "n1"; });
  inventory.take(std::move(nodes));
  EXPECT_EQ(inventory.note_of_unknown_nodes(kLab),
            "telemetry of 2 GPUs names a node that cluster lab does not have (10.244.1.3), so it "
            "counts for no node and no workload; let the exporter or Prometheus write the node's "
            "name as the label node");
}

}  // namespace
}  // namespace pennyweight
