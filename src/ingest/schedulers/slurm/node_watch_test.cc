// Nodes over time: changes, outages in pieces, and what is forgotten.
#include "ingest/schedulers/slurm/node_watch.h"

#include <gtest/gtest.h>

namespace pennyweight::slurm {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

const Instant kMonth = *parse_instant("2026-03-01");
const Instant kNoon = *parse_instant("2026-03-10T12:00:00Z");

ScontrolNodes read(std::string_view text, Instant now = kNoon) {
  return *parse_scontrol_nodes(text,
                               {.cluster = ClusterId("lab"), .from = now, .file = "scontrol"});
}

std::string shown(const std::vector<Outage>& outages) {
  std::string all;
  for (const Outage& outage : outages) {
    all += outage.node.text() + " " + to_text(outage.during) + " " + outage.reason + "; ";
  }
  return all;
}

TEST(NodeWatch, TellsWhatIsNewAndWhatChanged) {
  WatchedNodes watched;
  auto news =
      update_watched_nodes(read("NodeName=n1 Gres=gpu:4 State=IDLE\n"), kNoon, kMonth, watched);
  ASSERT_EQ(news.nodes.size(), 1u);
  EXPECT_EQ(news.nodes[0].from, kMonth) << "of the first look: since the caller's time";
  EXPECT_TRUE(news.outages.empty());

  const Instant later = kNoon + minutes(1);
  news = update_watched_nodes(read("NodeName=n1 Gres=gpu:4 State=ALLOCATED CPULoad=3\n", later),
                              later, kMonth, watched);
  EXPECT_TRUE(news.nodes.empty()) << "nothing changed";

  news = update_watched_nodes(
      read("NodeName=n1 Gres=gpu:3 State=IDLE\nNodeName=n2 State=IDLE\n", later), later, kMonth,
      watched);
  ASSERT_EQ(news.nodes.size(), 2u);
  EXPECT_EQ(news.nodes[0].gpu_count, 3u);
  EXPECT_EQ(news.nodes[0].from, later);
  EXPECT_EQ(news.nodes[1].from, later) << "a new node is there since now";

  news = update_watched_nodes(read("NodeName=n2 State=IDLE\n", later), later, kMonth, watched);
  ASSERT_EQ(news.notes.size(), 1u);
  EXPECT_TRUE(news.notes[0].starts_with("node n1 is no longer among Slurm's nodes"));
  EXPECT_EQ(watched.size(), 1u);
}

TEST(NodeWatch, AnUnreadableNodeIsNotGone) {
  WatchedNodes watched;
  (void)update_watched_nodes(read("NodeName=n1 State=IDLE\nNodeName=n2 State=IDLE\n"), kNoon,
                             kMonth, watched);
  const auto news = update_watched_nodes(read("NodeName=n1 CPUTot=x\nNodeName=n2 State=IDLE\n"),
                                         kNoon, kMonth, watched);
  EXPECT_TRUE(news.notes.empty());
  EXPECT_EQ(watched.size(), 2u);
}

TEST(NodeWatch, AnOutageInPiecesOfAQuarter) {
  WatchedNodes watched;
  (void)update_watched_nodes(read("NodeName=n1 State=IDLE\n"), kNoon, kMonth, watched);
  // The reason was given before the node was last seen in use: it is out since then.
  const std::string out = "NodeName=n1 State=IDLE+DRAIN\n   Reason=fan [root@1773143000]\n";
  auto at = [&](Instant now, std::string_view text) {
    return shown(update_watched_nodes(read(text, now), now, kMonth, watched).outages);
  };
  EXPECT_EQ(at(kNoon + minutes(1), out), "");
  EXPECT_EQ(at(kNoon + minutes(14), out), "");
  EXPECT_EQ(at(kNoon + minutes(31), out),
            "n1 2026-03-10T12:00:00Z/2026-03-10T12:15:00Z fan; "
            "n1 2026-03-10T12:15:00Z/2026-03-10T12:30:00Z fan; ");
  EXPECT_EQ(at(kNoon + minutes(32), out), "");
  // When it is back, scontrol no longer has the reason.
  EXPECT_EQ(at(kNoon + minutes(33), "NodeName=n1 State=IDLE\n"),
            "n1 2026-03-10T12:30:00Z/2026-03-10T12:33:00Z fan; ");
  EXPECT_EQ(at(kNoon + minutes(50), "NodeName=n1 State=IDLE\n"), "");
}

TEST(NodeWatch, TheFirstLookFindsANodeDown) {
  const auto first = [](std::string_view text) {
    WatchedNodes watched;
    return shown(update_watched_nodes(read(text), kNoon, kNoon - minutes(40), watched).outages);
  };
  // 1773142440 is 11:34:00.
  EXPECT_EQ(first("NodeName=n1 State=DOWN\n   Reason=dead [root@1773142440]\n"),
            "n1 2026-03-10T11:34:00Z/2026-03-10T11:45:00Z dead; "
            "n1 2026-03-10T11:45:00Z/2026-03-10T12:00:00Z dead; ");
  EXPECT_EQ(first("NodeName=n1 State=DOWN\n   Reason=dead [root@1000000000]\n"),
            "n1 2026-03-10T11:20:00Z/2026-03-10T11:30:00Z dead; "
            "n1 2026-03-10T11:30:00Z/2026-03-10T11:45:00Z dead; "
            "n1 2026-03-10T11:45:00Z/2026-03-10T12:00:00Z dead; ")
      << "not before the caller's time";
  EXPECT_EQ(first("NodeName=n1 State=DOWN*\n"), "") << "without a reason: since now";
}

// What slurmdbd says of the time between two readings.
class NodeWatchWithEvents : public testing::Test {
 protected:
  static Instant at(int minute, int second = 0) {
    return kNoon + minutes(minute) + seconds(second);
  }
  static NodeEvent event(int from, std::optional<int> to, std::string why) {
    return {.node = NodeId("n1"),
            .during = Interval(at(from, 7), to ? at(*to, 9) : at(60)),
            .has_ended = to.has_value(),
            .reason = std::move(why),
            .source = {}};
  }
  std::string look(Instant now, std::string_view state, std::vector<NodeEvent> events = {}) {
    const auto nodes = read("NodeName=n1 State=" + std::string(state) + "\n", now);
    return shown(update_watched_nodes(nodes, now, kMonth, watched_, std::move(events)).outages);
  }

  WatchedNodes watched_;
};

TEST_F(NodeWatchWithEvents, AnOutageBetweenTwoReadings) {
  EXPECT_EQ(look(at(0), "IDLE"), "");
  EXPECT_EQ(look(at(60), "IDLE", {event(31, 40, "second"), event(5, 16, "first")}),
            "n1 2026-03-10T12:05:07Z/2026-03-10T12:15:00Z first; "
            "n1 2026-03-10T12:15:00Z/2026-03-10T12:16:09Z first; "
            "n1 2026-03-10T12:31:07Z/2026-03-10T12:40:09Z second; ");
  EXPECT_EQ(look(at(61), "IDLE", {event(5, 16, "first")}), "") << "before the last reading";
}

TEST_F(NodeWatchWithEvents, AnOutageThatWasSeenEndsWhenItEnded) {
  EXPECT_EQ(look(at(0), "IDLE"), "");
  EXPECT_EQ(look(at(2), "DOWN"), "");
  EXPECT_EQ(look(at(50), "IDLE", {event(1, 10, "x")}),
            "n1 2026-03-10T12:02:00Z/2026-03-10T12:10:09Z DOWN; ");
  // Back, and out again.
  EXPECT_EQ(look(at(51), "DOWN"), "");
  EXPECT_EQ(look(at(58), "DOWN", {event(50, 52, "x"), event(54, std::nullopt, "again")}),
            "n1 2026-03-10T12:51:00Z/2026-03-10T12:52:09Z DOWN; ");
  EXPECT_EQ(look(at(59), "IDLE", {event(54, 58, "again")}),
            "n1 2026-03-10T12:54:07Z/2026-03-10T12:58:09Z again; ");
}

TEST_F(NodeWatchWithEvents, TheFirstReadingKnowsTheMonth) {
  EXPECT_EQ(look(at(60), "IDLE", {event(5, 10, "fan"), event(31, 33, "")}),
            "n1 2026-03-10T12:05:07Z/2026-03-10T12:10:09Z fan; "
            "n1 2026-03-10T12:31:07Z/2026-03-10T12:33:09Z ; ");
  // An event without an end, of a node that is in use: it ends now.
  watched_.clear();
  EXPECT_EQ(look(at(60), "IDLE", {event(55, std::nullopt, "fan")}),
            "n1 2026-03-10T12:55:07Z/2026-03-10T13:00:00Z fan; ");
  EXPECT_EQ(look(at(61), "IDLE", {event(55, std::nullopt, "fan")}), "")
      << "it was seen in use after the event began";
  // One of long ago: its end was lost.
  watched_.clear();
  EXPECT_EQ(look(at(90), "IDLE", {event(5, std::nullopt, "fan")}), "");
}

}  // namespace
}  // namespace pennyweight::slurm
