// Turns for large answers: how many of one user and in all, and how long they last.
#include "server/api/downloads.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "core/interruption.h"

namespace pennyweight::api {
namespace {

using std::chrono::milliseconds;

server::Request asked_by(const std::string& user) {
  server::Request request;
  request.peer = "192.0.2.1";
  request.principal_key = user;
  return request;
}

TEST(Downloads, AreSharedOutBetweenUsers) {
  const Downloads downloads({.all_max = 3, .user_max = 2, .wait_max = milliseconds(30)});
  auto first = downloads.take(asked_by("ana"));
  const auto second = downloads.take(asked_by("ana"));
  EXPECT_TRUE(first && second);
  EXPECT_FALSE(downloads.take(asked_by("ana")));
  const auto of_bo = downloads.take(asked_by("bo"));
  EXPECT_TRUE(of_bo);
  EXPECT_FALSE(downloads.take(asked_by("cy")));
  first.reset();
  EXPECT_TRUE(downloads.take(asked_by("cy")));
  EXPECT_TRUE(downloads.take(asked_by("ana")));
}

TEST(Downloads, OfTheSameAddressWithoutAUserAreOfOneUser) {
  const Downloads downloads({.all_max = 3, .user_max = 1, .wait_max = milliseconds(0)});
  const auto first = downloads.take(asked_by(""));
  EXPECT_TRUE(first);
  EXPECT_FALSE(downloads.take(asked_by("")));
}

TEST(Downloads, WaitForATurn) {
  const Downloads downloads({.all_max = 1, .user_max = 1, .wait_max = std::chrono::minutes(5)});
  auto first = downloads.take(asked_by("ana"));
  std::atomic<bool> came = false;
  std::thread other([&] { came = downloads.take(asked_by("bo")) != nullptr; });
  first.reset();
  other.join();
  EXPECT_TRUE(came);
}

TEST(Downloads, DoNotKeepTheProgramFromStopping) {
  const Downloads downloads({.all_max = 1, .user_max = 1, .wait_max = std::chrono::hours(5)});
  const auto first = downloads.take(asked_by("ana"));
  Interruption interruption;
  const Interruption::Scope scope(interruption);
  interruption.interrupt(milliseconds(30));
  EXPECT_FALSE(downloads.take(asked_by("bo")));
}

TEST(Downloads, LastUntilTheAnswerIsSent) {
  const Downloads downloads({.all_max = 1, .user_max = 1, .wait_max = milliseconds(0)});
  server::Response answer;
  answer.stream = [](const server::Sink& sink) { return sink("a,b\n"); };
  answer = with_turn(std::move(answer), downloads.take(asked_by("ana")));
  EXPECT_FALSE(downloads.take(asked_by("ana")));
  std::string sent;
  EXPECT_TRUE(answer.stream([&](std::string_view piece) {
    sent += piece;
    return true;
  }));
  EXPECT_EQ(sent, "a,b\n");
  answer = {};
  EXPECT_TRUE(downloads.take(asked_by("ana")));
}

TEST(Downloads, OfRefusalsKeepNothing) {
  const Downloads downloads({.all_max = 1, .user_max = 1, .wait_max = milliseconds(0)});
  const server::Response answer = with_turn(no_turn(), downloads.take(asked_by("ana")));
  EXPECT_EQ(answer.status, 503);
  EXPECT_TRUE(answer.retry_after.has_value());
  EXPECT_TRUE(downloads.take(asked_by("ana")));
}

}  // namespace
}  // namespace pennyweight::api
