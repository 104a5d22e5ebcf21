// Replays wait for their turn, end when they are told to, and never take the server with them.
#include "server/api/what_if_runs.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace pennyweight::api {
namespace {

using std::chrono::hours;

const Instant kNow = *parse_instant("2026-04-01T00:00:00Z");

// Answers what it is asked to: "hold" runs until it is stopped or let go, "throw" throws.
class Answers {
 public:
  explicit Answers(SimulatedClock& clock) : runs(clock, answerer(), failed()) {}
  ~Answers() { is_let_go = true; }

  WhatIfAnswerer answerer() {
    return [this](const WhatIfQuery& query,
                  what_if::WhatIfProgress& progress) -> Result<WhatIfAnswer> {
      order.push_back(query.month);
      if (query.month == "throw") throw std::runtime_error("no room");
      if (query.month == "many") throw std::bad_alloc();
      if (query.month == "wrong") return fail(ErrorCode::kConfig, "it changes nothing");
      while (query.month == "hold" && !is_let_go && !progress.watch.stop) std::this_thread::yield();
      if (progress.watch.stop) return fail(ErrorCode::kIo, "the replay was stopped");
      return WhatIfAnswer{.cluster = "lab", .last_import = last_import, .tables = {}};
    };
  }
  WhatIfRuns::Failed failed() {
    return [this](const WhatIfRun&, std::string_view why) { failures.emplace_back(why); };
  }

  Result<WhatIfRuns::Submitted> ask(const std::string& user, const std::string& month,
                                    const std::string& scenario = "") {
    WhatIfAsked asked{
        .user = user, .name = {}, .scenario = scenario, .calibration = {}, .query = {}};
    asked.query.month = month;
    return runs.submit(std::move(asked), last_import, [this](const WhatIfRun& run) -> Result<void> {
      recorded.push_back(run.id);
      if (fails_to_record) return fail(ErrorCode::kStore, "the disk is full");
      return {};
    });
  }
  std::string id_of(const std::string& user, const std::string& month,
                    const std::string& scenario = "") {
    const auto submitted = ask(user, month, scenario);
    EXPECT_TRUE(submitted.has_value());
    return submitted ? submitted->run.id : "";
  }
  // Waits until the run is in this state.
  WhatIfRun wait(const std::string& id, WhatIfState state) {
    while (true) {
      const auto run = runs.find(id);
      if (!run || run->state == state) return run.value_or(WhatIfRun());
      std::this_thread::yield();
    }
  }
  // Waits until nothing is under way: its last run has ended, and not only been cancelled.
  void wait_for_all() {
    const std::string last = id_of("nobody", "last", std::to_string(count++));
    wait(last, WhatIfState::kDone);
  }

  std::atomic<bool> is_let_go = false;
  std::atomic<std::uint64_t> last_import = 7;
  bool fails_to_record = false;
  int count = 0;
  std::vector<std::string> order, recorded, failures;  // read while nothing runs
  WhatIfRuns runs;
};

TEST(WhatIfRuns, UsersTakeTurns) {
  SimulatedClock clock(kNow);
  Answers answers(clock);
  const std::string first = answers.id_of("ana", "hold");
  answers.wait(first, WhatIfState::kRunning);
  answers.id_of("ana", "a1");
  const std::string a2 = answers.id_of("ana", "a2");
  answers.id_of("bob", "b1");
  answers.id_of("eve", "e1");
  answers.is_let_go = true;
  answers.wait(a2, WhatIfState::kDone);
  EXPECT_EQ(answers.order, (std::vector<std::string>{"hold", "b1", "a1", "e1", "a2"}))
      << "nobody waits behind all of another's";
  EXPECT_EQ(answers.runs.list().size(), 5u);
}

TEST(WhatIfRuns, ThreeOfAUserAndTwentyFourInAllMayWait) {
  SimulatedClock clock(kNow);
  Answers answers(clock);
  answers.wait(answers.id_of("u0", "hold"), WhatIfState::kRunning);
  for (std::size_t i = 1; i < kWhatIfWaiting; ++i) {
    const std::string user = "u" + std::to_string(i / kWhatIfWaitingPerUser);
    ASSERT_TRUE(answers.ask(user, "m", std::to_string(i)).has_value()) << i;
  }
  const auto of_user = answers.ask("u0", "m", "one more");
  ASSERT_FALSE(of_user.has_value());
  EXPECT_EQ(of_user.error().code, ErrorCode::kLimit);
  EXPECT_NE(of_user.error().message.find("3 of your scenarios"), std::string::npos);
  const auto of_all = answers.ask("somebody", "m", "one more");
  ASSERT_FALSE(of_all.has_value());
  EXPECT_EQ(of_all.error().code, ErrorCode::kLimit);
  EXPECT_NE(of_all.error().message.find("24 scenarios"), std::string::npos);
  // One that is cancelled makes room, and the same question needs none.
  const auto same = answers.ask("somebody", "m", "1");
  ASSERT_TRUE(same.has_value());
  EXPECT_FALSE(same->is_new);
  ASSERT_TRUE(answers.runs.end(same->run.id).has_value());
  EXPECT_TRUE(answers.ask("somebody", "m", "one more").has_value());
}

TEST(WhatIfRuns, CancelledWhileItRunsAndForgottenAfterwards) {
  SimulatedClock clock(kNow);
  Answers answers(clock);
  const std::string id = answers.id_of("ana", "hold");
  answers.wait(id, WhatIfState::kRunning);
  ASSERT_TRUE(answers.runs.end(id).has_value());
  EXPECT_EQ(answers.runs.find(id)->state, WhatIfState::kCancelled);
  answers.wait_for_all();  // the queue goes on
  EXPECT_EQ(answers.runs.find(id)->state, WhatIfState::kCancelled);
  EXPECT_TRUE(answers.runs.find(id)->error.empty());
  ASSERT_TRUE(answers.runs.end(id).has_value());
  EXPECT_FALSE(answers.runs.find(id).has_value());
  EXPECT_EQ(answers.runs.end(id).error().code, ErrorCode::kNotFound);
}

TEST(WhatIfRuns, StopEndsWhatRunsAndTakesNoMore) {
  SimulatedClock clock(kNow);
  Answers answers(clock);
  const std::string running = answers.id_of("ana", "hold");
  answers.wait(running, WhatIfState::kRunning);
  answers.id_of("ana", "waits");
  answers.runs.interrupt();
  const auto late = answers.ask("bob", "late");
  ASSERT_FALSE(late.has_value());
  EXPECT_EQ(late.error().code, ErrorCode::kIo);
  answers.runs.stop();  // returns, though nobody has let go
  EXPECT_EQ(answers.runs.find(running)->state, WhatIfState::kCancelled);
  EXPECT_EQ(answers.order, std::vector<std::string>{"hold"});
}

TEST(WhatIfRuns, AnExceptionEndsTheRunAlone) {
  SimulatedClock clock(kNow);
  Answers answers(clock);
  const std::string thrown = answers.id_of("ana", "throw");
  const std::string many = answers.id_of("ana", "many");
  const std::string wrong = answers.id_of("ana", "wrong");
  answers.wait_for_all();
  answers.wait(wrong, WhatIfState::kFailed);
  EXPECT_EQ(answers.wait(thrown, WhatIfState::kFailed).error, "the replay failed: no room");
  EXPECT_EQ(answers.wait(many, WhatIfState::kFailed).error,
            "the replay failed: the server has too little memory for it");
  EXPECT_EQ(answers.runs.find(wrong)->error, "it changes nothing");
  EXPECT_EQ(answers.failures.size(), 2u) << "what is the asker's fault is not in the log";
}

TEST(WhatIfRuns, TheSameQuestionIsAnsweredOnceForALedger) {
  SimulatedClock clock(kNow);
  Answers answers(clock);
  const std::string id = answers.id_of("ana", "m", "nodes=-1");
  EXPECT_EQ(answers.wait(id, WhatIfState::kDone).cluster, "lab");
  const auto same = answers.ask("ana", "m", "nodes=-1");
  EXPECT_FALSE(same->is_new);
  EXPECT_EQ(same->run.id, id);
  EXPECT_EQ(answers.recorded.size(), 1u);
  EXPECT_EQ(answers.ask("bob", "m", "nodes=-1")->run.id, id);
  EXPECT_EQ(answers.recorded.size(), 2u) << "what another user sees is recorded";
  EXPECT_NE(answers.id_of("ana", "m", "nodes=-2"), id);
  answers.last_import = 8;  // the ledger has changed
  EXPECT_NE(answers.id_of("ana", "m", "nodes=-1"), id);
}

TEST(WhatIfRuns, NothingRunsThatIsNotRecorded) {
  SimulatedClock clock(kNow);
  Answers answers(clock);
  answers.fails_to_record = true;
  const auto refused = answers.ask("ana", "m");
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().message, "the disk is full");
  EXPECT_TRUE(answers.runs.list().empty());
  answers.fails_to_record = false;
  answers.wait_for_all();
  EXPECT_EQ(answers.order, std::vector<std::string>{"last"});
}

TEST(WhatIfRuns, ResultsAreKeptForADay) {
  SimulatedClock clock(kNow);
  Answers answers(clock);
  const std::string old = answers.id_of("ana", "m");
  answers.wait(old, WhatIfState::kDone);
  clock.advance(hours(23));
  answers.wait_for_all();
  EXPECT_TRUE(answers.runs.find(old).has_value());
  clock.advance(hours(2));
  answers.wait_for_all();
  EXPECT_FALSE(answers.runs.find(old).has_value());
  for (std::size_t i = 0; i < kWhatIfKept + 5; ++i) answers.wait_for_all();
  EXPECT_LE(answers.runs.list().size(), kWhatIfKept + 1);
}

}  // namespace
}  // namespace pennyweight::api
