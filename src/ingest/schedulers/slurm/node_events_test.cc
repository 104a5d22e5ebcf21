// Events of sacctmgr: what each row makes, and what is refused.
#include "ingest/schedulers/slurm/node_events.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

namespace pennyweight::slurm {
namespace {

const Instant kNow = *parse_instant("2026-11-27T12:00:00Z");

std::string events_in(std::string_view text, std::string_view zone = "UTC") {
  const auto found = parse_node_events(text, {.cluster = ClusterId("c"),
                                              .file = "events",
                                              .now = kNow,
                                              .zone = TimeZone::parse(zone).value()});
  if (!found) return found.error().message;
  std::string shown;
  for (const NodeEvent& event : found->events) {
    shown += fmt::format("{}:{} {}{} {}\n", event.source.line, event.node.text(),
                         to_text(event.during), event.has_ended ? "" : "..", event.reason);
  }
  for (const RejectedRow& row : found->rejected) {
    shown += fmt::format("{} {}: {}\n", row.line, row.column, row.reason);
  }
  return shown + fmt::format("going on {}, passed {}", found->going_on, found->passed);
}

constexpr std::string_view kHeader = "Cluster|NodeName|TimeStart|TimeEnd|State|Reason|User\n";

std::string of_rows(std::string_view rows, std::string_view zone = "UTC") {
  return events_in(std::string(kHeader) + std::string(rows), zone);
}

TEST(NodeEvents, AreTimesInWhichANodeIsOutOfUse) {
  EXPECT_EQ(of_rows("lab||2026-11-27T10:03:34|Unknown||Cluster Registered TRES|\n"
                    "lab|n1|2026-11-27T10:03:35|2026-11-27T10:03:38|DRAIN|replace fan|root(0)\n"
                    "lab|n2|1795773820|Unknown|DOWN*|a|b 'x'|root(0)\n"
                    "lab|n3|1795773820|1795773820|IDLE+DRAIN||root(0)\r\n"
                    "lab|n5|1795773820|1795773821|IDLE+DRAIN||root(0)\n"
                    "lab|n4|1795773820|1795773821|POWERED_DOWN+DOWN|idle|root(0)\n"),
            "3:n1 2026-11-27T10:03:35Z/2026-11-27T10:03:38Z replace fan\n"
            "4:n2 2026-11-27T10:03:40Z/2026-11-27T12:00:00Z.. a|b 'x'\n"
            "6:n5 2026-11-27T10:03:40Z/2026-11-27T10:03:41Z IDLE+DRAIN\n"
            "going on 1, passed 3");
  // Columns in another order; what nobody asks for is passed over.
  EXPECT_EQ(events_in("\xEF\xBB\xBFState|StateRaw|NodeName|TimeEnd|TimeStart\n"
                      "DOWN|1|n1|1795773821|1795773820"),
            "2:n1 2026-11-27T10:03:40Z/2026-11-27T10:03:41Z DOWN\ngoing on 0, passed 0");
}

TEST(NodeEvents, LocalTimes) {
  const std::string row = "lab|n1|2026-11-01T00:30:00|2026-11-02T00:30:00|DOWN|x|\n";
  EXPECT_EQ(of_rows(row, "America/New_York"),
            "2:n1 2026-11-01T04:30:00Z/2026-11-02T05:30:00Z x\ngoing on 0, passed 0");
  EXPECT_EQ(of_rows("lab|n1|2026-11-01T01:30:00|2026-11-02T00:30:00|DOWN|x|\n", "America/New_York"),
            "2 TimeStart: the zone has this time twice; export with SLURM_TIME_FORMAT=%s\n"
            "going on 0, passed 0");
}

TEST(NodeEvents, WhatCantBeIsSetAside) {
  EXPECT_EQ(of_rows("lab|n1|1795773820|1795773819|DOWN|x|\n"),
            "2 TimeEnd: it is before the start\ngoing on 0, passed 0");
  EXPECT_EQ(of_rows("lab|n[1-2]|1795773820|1795773821|DOWN|x|\n"),
            "2 NodeName: 'n[1-2]' is not the name of one node\ngoing on 0, passed 0");
  EXPECT_EQ(of_rows("lab|n1|1795773820\n").substr(0, 30), "2 : the row has fewer fields t");
  EXPECT_EQ(of_rows("lab|n1|1595773820|1795773821|DOWN|x|\n").substr(0, 60),
            "2 TimeStart: the node was out of use for more than 400 days:");
  EXPECT_EQ(of_rows("lab|n1|1795773820|1895773821|DOWN|x|\n").substr(0, 32),
            "2 TimeEnd: it is later than now ");
  EXPECT_EQ(of_rows("lab|n1|1895773820|Unknown|DOWN|x|\n").substr(0, 34),
            "2 TimeStart: it is later than now ");
  EXPECT_EQ(of_rows("lab|n1|yesterday|Unknown|DOWN|x|\n").substr(0, 12), "2 TimeStart:");
  EXPECT_EQ(of_rows("lab|n1|1795773820|Unknown|DOWN|x|\nlad|n1|1795773820|Unknown|DOWN|x|\n"),
            "it has events of the clusters lab and lad: export one at a time, with Clusters=lab");
  EXPECT_EQ(events_in("NodeName|Start\n").substr(0, 36), "'NodeName|Start' has no columns Node");
}

TEST(NodeEvents, OutagesInPiecesAsAReadingOfScontrolGivesThem) {
  const auto found = parse_node_events(
      std::string(kHeader) + "lab|n1|2026-11-27T10:03:35|2026-11-27T10:31:00|DRAIN|fan|root(0)\n" +
          "lab|n2|2026-11-27T11:40:00|Unknown|DRAIN|fan|root(0)\n",
      {.cluster = ClusterId("c"), .file = "events", .now = kNow + std::chrono::minutes(1)});
  ASSERT_TRUE(found);
  std::string shown;
  const auto given =
      give_outages(*found, ClusterId("c"), [&](std::span<const Outage> some) -> Result<void> {
        for (const Outage& outage : some) {
          shown += fmt::format("{}:{} {} {}\n", outage.source.line, outage.node.text(),
                               to_text(outage.during), outage.reason);
        }
        return {};
      });
  EXPECT_TRUE(given);
  EXPECT_EQ(shown,
            "2:n1 2026-11-27T10:03:35Z/2026-11-27T10:15:00Z fan\n"
            "2:n1 2026-11-27T10:15:00Z/2026-11-27T10:30:00Z fan\n"
            "2:n1 2026-11-27T10:30:00Z/2026-11-27T10:31:00Z fan\n"
            "3:n2 2026-11-27T11:40:00Z/2026-11-27T11:45:00Z fan\n"
            "3:n2 2026-11-27T11:45:00Z/2026-11-27T12:00:00Z fan\n");
}

TEST(NodeEvents, MoreQuartersThanTheLimitAreRefused) {
  std::string rows;
  for (int i = 0; i < 300; ++i) {
    rows += fmt::format("lab|n{}|2025-12-01T00:00:00|2026-11-27T00:00:00|DOWN|x|\n", i);
  }
  const auto found = parse_node_events(std::string(kHeader) + rows,
                                       {.cluster = ClusterId("c"), .file = "events", .now = kNow});
  ASSERT_TRUE(found);
  std::size_t most = 0;
  const auto given =
      give_outages(*found, ClusterId("c"), [&](std::span<const Outage> some) -> Result<void> {
        most = std::max(most, some.size());
        return {};
      });
  ASSERT_FALSE(given);
  EXPECT_EQ(given.error().code, ErrorCode::kLimit);
  EXPECT_LT(most, 100'000U) << "they are not all in memory at once";
}

}  // namespace
}  // namespace pennyweight::slurm
