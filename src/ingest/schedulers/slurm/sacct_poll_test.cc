// What is asked next after successes, failures, pauses and clocks that jump.
#include "ingest/schedulers/slurm/sacct_poll.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

namespace pennyweight::slurm {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

const Instant kPolledAt = *parse_instant("2026-03-10T12:00:00Z");

TEST(SacctPoll, FromTheLastSuccessMinusTheOverlap) {
  const SacctState state{.settled = kPolledAt - seconds(30), .deep_at = kPolledAt - minutes(5)};
  const auto windows = plan_sacct(state, {}, kPolledAt);
  ASSERT_EQ(windows.size(), 1u);
  EXPECT_EQ(windows[0], (SacctWindow{kPolledAt - seconds(630), kPolledAt, false, true}));
  EXPECT_EQ(after_window(state, windows[0], kPolledAt),
            (SacctState{.settled = kPolledAt, .deep_at = kPolledAt - minutes(5)}));
}

TEST(SacctPoll, ADayAgainEveryHour) {
  const SacctState state{.settled = kPolledAt - seconds(30),
                         .deep_at = kPolledAt - std::chrono::hours(1)};
  const auto windows = plan_sacct(state, {}, kPolledAt);
  ASSERT_EQ(windows.size(), 1u);
  EXPECT_EQ(windows[0], (SacctWindow{kPolledAt - std::chrono::hours(24), kPolledAt, true, true}));
  EXPECT_EQ(after_window(state, windows[0], kPolledAt), (SacctState{kPolledAt, kPolledAt}));
}

TEST(SacctPoll, ALongWayBackInPiecesAndNotAtOnce) {
  SacctState state{.settled = kPolledAt - std::chrono::hours(24 * 30), .deep_at = {}};
  std::size_t polls = 0;
  Instant covered = state.settled;
  while (state.settled != kPolledAt) {
    ASSERT_LT(++polls, 10u);
    const auto windows = plan_sacct(state, {}, kPolledAt);
    ASSERT_LE(windows.size(), 8u);
    for (const SacctWindow& window : windows) {
      EXPECT_LE(window.begin, covered - minutes(10)) << "no gap, and an overlap";
      covered = window.end;
      state = after_window(state, window, kPolledAt);
    }
  }
  EXPECT_EQ(covered, kPolledAt);
  EXPECT_EQ(polls, 4u);
  EXPECT_EQ(state.deep_at, kPolledAt);
}

TEST(SacctPoll, AClockThatWasSetBack) {
  const SacctState ahead{.settled = kPolledAt + std::chrono::hours(5),
                         .deep_at = kPolledAt + std::chrono::hours(5)};
  const auto windows = plan_sacct(ahead, {}, kPolledAt);
  ASSERT_EQ(windows.size(), 1u);
  EXPECT_EQ(windows[0], (SacctWindow{kPolledAt - minutes(10), kPolledAt, false, true}));
  EXPECT_EQ(after_window(ahead, windows[0], kPolledAt).settled, kPolledAt);
}

TEST(SacctPoll, Arguments) {
  const auto words = sacct_arguments({kPolledAt - milliseconds(600'001), kPolledAt, false, true},
                                     kPolledAt, "lab", '\x1f');
  const auto has = [&](std::string_view word) {
    return std::find(words.begin(), words.end(), word) != words.end();
  };
  EXPECT_TRUE(has("--starttime=now-601"));
  EXPECT_TRUE(has("--endtime=now"));
  EXPECT_TRUE(has("--delimiter=\x1f"));
  EXPECT_TRUE(has("--clusters=lab"));
  EXPECT_TRUE(has("--duplicates")) << "each run of a requeued job";
  const auto earlier = sacct_arguments(
      {kPolledAt - std::chrono::hours(2), kPolledAt - std::chrono::hours(1)}, kPolledAt, "", '|');
  EXPECT_NE(std::find(earlier.begin(), earlier.end(), "--endtime=now-3600"), earlier.end());
}

// Whatever fails, and however the clock jumps forward: every moment since the beginning is inside
// of a window that was read after it.
RC_GTEST_PROP(SacctPollProperty, NoMomentIsLeftOut, ()) {
  const SacctPlan plan{.overlap = minutes(10),
                       .deep_every = std::chrono::hours(1),
                       .deep_back = std::chrono::hours(24),
                       .window_max = std::chrono::hours(24),
                       .windows_max = 3};
  const Instant begin = kPolledAt;
  SacctState state{.settled = begin, .deep_at = {}};
  Instant now = begin;
  Instant read_until = begin;  // everything before has been read
  const auto steps = *rc::gen::container<std::vector<std::pair<int, int>>>(
      rc::gen::pair(rc::gen::inRange(1, 400'000), rc::gen::inRange(0, 4)));
  for (const auto& [pause, good] : steps) {
    now += seconds(pause);
    int left = good;
    for (const SacctWindow& window : plan_sacct(state, plan, now)) {
      if (left-- == 0) break;  // this one failed, and the poll ends
      RC_ASSERT(window.begin <= read_until - plan.overlap);
      RC_ASSERT(window.begin < window.end && window.end <= now);
      read_until = std::max(read_until, window.end);
      state = after_window(state, window, now);
    }
    RC_ASSERT(state.settled == read_until);
  }
}

}  // namespace
}  // namespace pennyweight::slurm
