#include "app/alerting/alert_state.h"

#include <gtest/gtest.h>

#include <chrono>
#include <deque>
#include <string>
#include <utility>

namespace pennyweight {
namespace {

const Instant kAt = *parse_instant("2026-03-04T10:00:00Z");

AlertState full_state() {
  const Alert alert{.condition = {.rule = "gpu_hot",
                                  .scope = "lab/gpu-07",
                                  .subject = "lab/gpu-07",
                                  .severity = AlertSeverity::kCritical,
                                  .summary = "96 °C \"and more\"",
                                  .incident = "the heat"},
                    .since = kAt,
                    .last_true = kAt,
                    .ended = kAt,
                    .notified = kAt,
                    .delivered = {{"desk \"1\"", kAt}, {"lead", kAt + std::chrono::seconds(1)}},
                    .is_silent = true};
  AlertState state;
  state.book.emplace(std::pair("gpu_hot", "lab/gpu-07"), alert);
  state.ended = {alert, alert};
  state.silences = {{.id = "0123456789abcdef",
                     .what = {.rule = "gpu_hot",
                              .scope = "lab/gpu-07",
                              .from = *parse_date("2026-03-04"),
                              .to = *parse_date("2026-03-09")},
                     .reason = "The fan is \"replaced\"\n on Thursday",
                     .by = "ana",
                     .at = kAt}};
  return state;
}

TEST(AlertState, IsReadAsItWasWritten) {
  const std::string text = to_json(full_state());
  const auto read = parse_alert_state(text);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(to_json(*read), text);
  ASSERT_EQ(read->silences.size(), 1u);
  EXPECT_EQ(read->silences[0].what.to, parse_date("2026-03-09").value());
  EXPECT_EQ(read->ended.size(), 2u);
  EXPECT_EQ(read->book.begin()->second.delivered, full_state().book.begin()->second.delivered);
}

TEST(AlertState, OfAnEarlierVersionHasNeitherSilencesNorWhatEnded) {
  const auto read = parse_alert_state(R"({"alerts": [], "outbox": [], "dead": []})");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_TRUE(read->silences.empty());
  EXPECT_TRUE(read->ended.empty());
}

TEST(AlertState, OfAnEarlierVersionKnowsOfNoDelivery) {
  AlertState state = full_state();
  for (auto& [key, alert] : state.book) alert.delivered.clear();
  const std::string text = to_json(state);
  EXPECT_EQ(text.substr(0, text.find("ended\": [")).find("delivered"), std::string::npos);
  const auto read = parse_alert_state(text);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_TRUE(read->book.begin()->second.delivered.empty());
}

TEST(AlertState, WithABrokenSilenceIsRefused) {
  std::string text = to_json(full_state());
  const auto at = text.find("2026-03-09");
  ASSERT_NE(at, std::string::npos);
  text.replace(at, 10, "2026-02-30");
  EXPECT_FALSE(parse_alert_state(text));
}

// What waits and what was given up, as "receiver id".
std::string text_of(const std::deque<OutboxEntry>& entries) {
  std::string text;
  for (const OutboxEntry& entry : entries) {
    text +=
        entry.receiver + " " + entry.notification.id + (entry.problem.empty() ? "" : "!") + "; ";
  }
  return text;
}

TEST(AlertState, OfAnOutboxThatIsTooLongTheReceiverWithTheMostLosesTheOldest) {
  AlertState state;
  for (const std::string entry : {"a 1", "b 2", "a 3", "c 4", "a 5", "b 6", "a 7", "b 8"}) {
    OutboxEntry one{.receiver = entry.substr(0, 1), .notification = {}};
    one.notification.id = entry.substr(2);
    state.outbox.push_back(one);
  }
  limit_outbox(state, {.of_receiver = 4, .of_all = 8});
  EXPECT_TRUE(state.dead.empty());
  limit_outbox(state, {.of_receiver = 3, .of_all = 8});
  EXPECT_EQ(text_of(state.outbox), "b 2; a 3; c 4; a 5; b 6; a 7; b 8; ");
  EXPECT_EQ(text_of(state.dead), "a 1!; ");
  limit_outbox(state, {.of_receiver = 3, .of_all = 4});
  EXPECT_EQ(text_of(state.outbox), "c 4; b 6; a 7; b 8; ");
  EXPECT_EQ(text_of(state.dead), "a 1!; b 2!; a 3!; a 5!; ");
}

}  // namespace
}  // namespace pennyweight
