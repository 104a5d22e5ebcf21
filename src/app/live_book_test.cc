// LiveBook: what is told to the ledger of what is read every few seconds, and what is shown.
#include "app/live_book.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

Collected seen(std::vector<Holding> holdings) {
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

TEST(LiveBook, AHoldingThatGoesOnIsWrittenAtItsBeginEachHourAndAtItsEnd) {
  LiveBook book(hours(1));
  int told = 0;
  for (int minute = 1; minute <= 180; ++minute) {
    told += static_cast<int>(book.take(seen({reading(minutes(minute))})).holdings.size());
  }
  EXPECT_EQ(told, 3);  // at minutes 1, 61 and 121
  EXPECT_THAT(book.take(seen({reading(minutes(181), true)})).holdings, SizeIs(1));
  // The same end again, and a reading that comes late, are no news.
  EXPECT_THAT(book.take(seen({reading(minutes(181), true)})).holdings, IsEmpty());
  EXPECT_THAT(book.take(seen({reading(minutes(182))})).holdings, IsEmpty());
  EXPECT_TRUE(book.has_ended(kLab, WorkloadId("7"), ""));
}

TEST(LiveBook, WhatChangesIsNews) {
  LiveBook book(hours(1));
  EXPECT_THAT(book.take(seen({reading(minutes(1))})).holdings, SizeIs(1));
  EXPECT_THAT(book.take(seen({reading(minutes(2))})).holdings, IsEmpty());
  EXPECT_THAT(book.take(seen({reading(minutes(3), false, "vision")})).holdings, SizeIs(1));
}

TEST(LiveBook, WhatWasReadJustNowRunsUpToNowAndWhatIsSilentDoesNot) {
  LiveBook book(hours(1));
  book.take(seen({reading(minutes(10))}));
  const auto shown = [&](int minute) {
    return book.holdings(kLab, Interval(kBegin, kBegin + minutes(minute)), minutes(3));
  };
  ASSERT_THAT(shown(12), SizeIs(1));
  EXPECT_EQ(shown(12)[0].held.end(), kBegin + minutes(12));
  // Its collector has been silent for too long: nothing is known after the last reading.
  ASSERT_THAT(shown(30), SizeIs(1));
  EXPECT_EQ(shown(30)[0].held.end(), kBegin + minutes(10));
  // And an end is an end.
  book.take(seen({reading(minutes(11), true)}));
  EXPECT_EQ(shown(12)[0].held.end(), kBegin + minutes(11));
  book.forget_before(kBegin + hours(1));
  EXPECT_THAT(shown(12), IsEmpty());
}

TEST(LiveBook, CardsAreFoundByTheirNodeAndIndex) {
  LiveBook book(hours(1));
  Collected cards = seen({});
  cards.gpus = {card(0), card(1)};
  book.take(std::move(cards));
  EXPECT_EQ(book.gpu_at(kLab, NodeId("n1"), 1), GpuId("GPU-1"));
  EXPECT_EQ(book.gpu_at(kLab, NodeId("n2"), 1), std::nullopt);
  Collected moved = seen({});
  Gpu gone = card(1);
  gone.to = kBegin + minutes(5);
  moved.gpus = {gone};
  book.take(std::move(moved));
  EXPECT_EQ(book.gpu_at(kLab, NodeId("n1"), 1), std::nullopt);
}

TEST(LiveBook, NodesThatOnlyTelemetryKnows) {
  LiveBook book(hours(1));
  Collected cards = seen({});
  cards.gpus = {card(0), card(1)};
  book.take(std::move(cards));
  std::vector<Node> nodes = book.nodes_of_telemetry({});
  ASSERT_THAT(nodes, SizeIs(1));
  EXPECT_EQ(nodes[0].gpu_count, 2u);
  EXPECT_EQ(nodes[0].gpu_model, "A100");
  EXPECT_THAT(book.nodes_of_telemetry({kLab}), IsEmpty());
  Collected told = seen({});
  told.nodes = nodes;
  book.take(std::move(told));
  EXPECT_THAT(book.nodes_of_telemetry({}), IsEmpty());
  // Another card is seen there later.
  Collected more = seen({});
  more.gpus = {card(2)};
  more.gpus[0].from = kBegin + hours(1);
  book.take(std::move(more));
  nodes = book.nodes_of_telemetry({});
  ASSERT_THAT(nodes, SizeIs(1));
  EXPECT_EQ(nodes[0].gpu_count, 3u);
  EXPECT_EQ(nodes[0].from, kBegin + hours(1));
}

}  // namespace
}  // namespace pennyweight
