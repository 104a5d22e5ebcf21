#include "app/alerting/delivery_troubles.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

namespace pennyweight {
namespace {

using std::chrono::seconds;

const Instant kMorning = *parse_instant("2026-03-07T10:00:00Z");

TEST(DeliveryTroubles, AReceiverThatFailsIsLeftAloneLongerAndLonger) {
  DeliveryTroubles troubles;
  const std::vector<std::string> ids = {"a", "b"};
  EXPECT_FALSE(troubles.is_paused("ops", kMorning));
  const auto paused_for = [&] {
    troubles.note_failed("ops", ids, kMorning);
    int wait = 0;
    while (troubles.is_paused("ops", kMorning + seconds(wait))) ++wait;
    return wait;
  };
  const std::vector<int> waits = {paused_for(), paused_for(), paused_for(),
                                  paused_for(), paused_for(), paused_for()};
  EXPECT_EQ(waits, (std::vector<int>{2, 4, 8, 16, 30, 30}));
  EXPECT_FALSE(troubles.is_paused("chat", kMorning));
  EXPECT_FALSE(troubles.is_paused("ops", kMorning - std::chrono::hours(24)));
  EXPECT_TRUE(troubles.has_failed("ops", "b"));
  EXPECT_FALSE(troubles.has_failed("ops", "c"));
  EXPECT_FALSE(troubles.has_failed("chat", "b"));
  EXPECT_FALSE(troubles.is_refused("ops", "b"));
  troubles.note_sent("ops", {&ids[0], 1});
  EXPECT_FALSE(troubles.is_paused("ops", kMorning));
  EXPECT_FALSE(troubles.has_failed("ops", "a"));
  EXPECT_TRUE(troubles.has_failed("ops", "b"));
}

TEST(DeliveryTroubles, OneThatRefusesAMessageIsThere) {
  DeliveryTroubles troubles;
  const std::vector<std::string> ids = {"a"};
  troubles.note_failed("ops", ids, kMorning);
  troubles.note_refused("ops", ids);
  EXPECT_FALSE(troubles.is_paused("ops", kMorning));
  EXPECT_TRUE(troubles.has_failed("ops", "a"));
  EXPECT_TRUE(troubles.is_refused("ops", "a"));
  troubles.forget("ops", "a");
  EXPECT_FALSE(troubles.has_failed("ops", "a"));
  EXPECT_FALSE(troubles.is_refused("ops", "a"));
}

}  // namespace
}  // namespace pennyweight
