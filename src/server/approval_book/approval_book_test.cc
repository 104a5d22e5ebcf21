#include "server/approval_book/approval_book.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

namespace pennyweight {
namespace {

using guardrails::Approval;
using guardrails::ApprovalClaim;
using guardrails::ApprovalRequest;
using std::chrono::hours;
using testing::HasSubstr;

constexpr Instant kBookNow = from_unix_seconds(1'790'000'000);
const std::string kBookContent = std::string(guardrails::kApprovalContentVersion) + "c0ffee";
const ApprovalClaim kClaim{
    .content = kBookContent, .rules = {"big"}, .cost = Money::from_units(5, kUsd)};

class ApprovalBookTest : public testing::Test {
 protected:
  ApprovalBookTest()
      : folder_(std::filesystem::temp_directory_path() /
                ("approvals-" + std::to_string(::getpid()) + "-" +
                 testing::UnitTest::GetInstance()->current_test_info()->name())) {
    std::filesystem::create_directories(folder_);
  }
  ~ApprovalBookTest() override { std::filesystem::remove_all(folder_); }

  std::string path() const { return (folder_ / "approvals.jsonl").string(); }
  ApprovalBook book() const { return {path(), (folder_ / "approvals.key").string(), {}}; }
  static Result<void> recorded(std::string_view, const std::string&, const std::string&) {
    return {};
  }
  static ApprovalRequest wanted(const std::string& by = "ana") {
    return {.by = by,
            .source = "cli",
            .workload = "Job ml/\"train\"",
            .content = kBookContent,
            .rules = {"big"},
            .because = "16 GPUs are more than 8",
            .reason = "the yearly run\n",
            .name_space = "ml",
            .labels = {{"team", "nlp"}, {"a\"b", ""}},
            .cost = Money::from_units(5, kUsd),
            .cost_of = "run",
            .alternatives = {"2 x aws p4d.24xlarge"},
            .owners = {owner("n\"lp"), owner("cv")}};
  }
  static PlannedDimensions owner(const std::string& team) {
    PlannedDimensions dimensions{.known = {}, .unknown = {"client"}, .unset = {"user", "project"}};
    EXPECT_TRUE(dimensions.known.set("team", team));
    return dimensions;
  }
  std::string approved_token(ApprovalBook& book) const {
    const auto made = book.request(wanted(), kBookNow, recorded);
    EXPECT_TRUE(made) << made.error().message;
    const auto decided = book.decide(made->request.id, {.by = "bo", .approves = true},
                                     kBookNow + hours(1), recorded);
    EXPECT_TRUE(decided) << decided.error().message;
    return book.token(*decided).value_or("");
  }

  const std::filesystem::path folder_;
};

TEST_F(ApprovalBookTest, RefusesARequestThatWouldFillIt) {
  ApprovalBook one = book();
  ApprovalRequest large = wanted();
  large.labels.emplace("note", std::string(20'000, 'x'));
  const auto made = one.request(large, kBookNow, recorded);
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().message, HasSubstr("has more than 16384 bytes"));
  EXPECT_FALSE(std::filesystem::exists(path()));
}

TEST_F(ApprovalBookTest, KeepsWhatWasSaidForOtherProcesses) {
  ApprovalBook first = book();
  const std::string token = approved_token(first);
  ApprovalBook other = book();
  const auto all = other.approvals();
  ASSERT_TRUE(all) << all.error().message;
  ASSERT_EQ(all->size(), 1u);
  ApprovalRequest expected = wanted();
  expected.id = all->front().request.id;
  expected.at = kBookNow;
  EXPECT_EQ(all->front().request, expected);
  EXPECT_EQ(all->front().decisions.size(), 1u);
  EXPECT_EQ(other.token(all->front()), token);
  ASSERT_TRUE(other.use(token, kClaim, "kubernetes:ana", kBookNow + hours(2), recorded));
  const auto again = first.use(token, kClaim, "kubernetes:ana", kBookNow + hours(2), recorded);
  ASSERT_FALSE(again);
  EXPECT_THAT(again.error().message, HasSubstr("was used at"));
}

TEST_F(ApprovalBookTest, ATokenThatWasTouchedIsRefused) {
  ApprovalBook first = book();
  const std::string token = approved_token(first);
  ASSERT_TRUE(first.check(token, kClaim, kBookNow + hours(2)));
  for (std::size_t i = 0; i < token.size(); ++i) {
    std::string other = token;
    other[i] = other[i] == '0' ? '1' : '0';
    EXPECT_FALSE(first.check(other, kClaim, kBookNow + hours(2))) << i;
  }
  for (const std::string& other :
       {std::string(), std::string("."), token.substr(0, token.size() - 1), token + "0",
        token.substr(0, token.find('.')), std::string(100'000, 'a')}) {
    EXPECT_FALSE(first.check(other, kClaim, kBookNow + hours(2))) << other.substr(0, 100);
  }
  // The token of one request is no token of another, whatever the two have in common.
  ApprovalRequest more = wanted("cy");
  const auto second = first.request(more, kBookNow, recorded);
  ASSERT_TRUE(second);
  ASSERT_TRUE(first.decide(second->request.id, {.by = "bo", .approves = true}, kBookNow, recorded));
  const std::string mixed = second->request.id + token.substr(token.find('.'));
  EXPECT_FALSE(first.check(mixed, kClaim, kBookNow + hours(2)));
}

TEST_F(ApprovalBookTest, ABookThatWasEditedGivesNoTokens) {
  ApprovalBook first = book();
  const std::string token = approved_token(first);
  std::ifstream in(path());
  std::string text((std::istreambuf_iterator<char>(in)), {});
  text.replace(text.find("c0ffee"), 6, "c0ffed");
  std::ofstream(path()) << text;
  ApprovalBook other = book();
  ApprovalClaim claim = kClaim;
  claim.content = std::string(guardrails::kApprovalContentVersion) + "c0ffed";
  const auto checked = other.check(token, claim, kBookNow + hours(2));
  ASSERT_FALSE(checked);
  EXPECT_THAT(checked.error().message, HasSubstr("not the right one"));
}

TEST_F(ApprovalBookTest, OneUseIsOneUseWhoeverAsks) {
  ApprovalBook first = book();
  const std::string token = approved_token(first);
  std::atomic<int> used = 0;
  std::vector<std::jthread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      ApprovalBook own = book();
      if (own.use(token, kClaim, "x", kBookNow + hours(2), recorded)) ++used;
    });
  }
  threads.clear();
  EXPECT_EQ(used, 1);
}

TEST_F(ApprovalBookTest, TheSameRequestIsFiledOnce) {
  ApprovalBook first = book();
  const auto one = first.request(wanted(), kBookNow, recorded);
  const auto same = first.request(wanted(), kBookNow + hours(1), recorded);
  ASSERT_TRUE(one && same);
  EXPECT_EQ(one->request.id, same->request.id);
  const auto other = first.request(wanted("bo"), kBookNow, recorded);
  ASSERT_TRUE(other);
  EXPECT_NE(one->request.id, other->request.id);
  // It has expired, so it is asked for anew.
  const auto later = first.request(wanted(), kBookNow + hours(24 * 8), recorded);
  ASSERT_TRUE(later);
  EXPECT_NE(one->request.id, later->request.id);
}

TEST_F(ApprovalBookTest, WhatIsNotRecordedDoesNotHappen) {
  ApprovalBook first = book();
  const auto refuses = [](std::string_view, const std::string&,
                          const std::string&) -> Result<void> {
    return fail(ErrorCode::kIo, "the log is full");
  };
  EXPECT_FALSE(first.request(wanted(), kBookNow, refuses));
  EXPECT_TRUE(first.approvals()->empty());
  const std::string token = approved_token(first);
  EXPECT_FALSE(first.use(token, kClaim, "x", kBookNow + hours(2), refuses));
  EXPECT_TRUE(first.check(token, kClaim, kBookNow + hours(2)));
}

TEST_F(ApprovalBookTest, ADamagedBookIsNotEmpty) {
  ApprovalBook first = book();
  const std::string token = approved_token(first);
  std::ofstream(path(), std::ios::app) << "{\"event\": \"use\"}\n";
  const auto read = first.approvals();
  ASSERT_FALSE(read);
  EXPECT_THAT(read.error().message, HasSubstr("approvals.jsonl:3 can't be read"));
  EXPECT_FALSE(first.check(token, kClaim, kBookNow + hours(2)));
}

// What a crash has left of a line was not said to be there. It is put aside, and the book goes on.
TEST_F(ApprovalBookTest, ATornLineIsPutAside) {
  ApprovalBook first = book();
  const std::string token = approved_token(first);
  const auto lines = std::filesystem::file_size(path());
  ASSERT_TRUE(first.use(token, kClaim, "ana", kBookNow + hours(2), recorded));
  const auto whole = std::filesystem::file_size(path());
  for (const auto left : {lines + 1, lines + 20, whole - 2}) {
    std::filesystem::resize_file(path(), left);
    ApprovalBook other = book();
    for (ApprovalBook* one : {&first, &other}) {
      const auto all = one->approvals();
      ASSERT_TRUE(all) << all.error().message;
      ASSERT_EQ(all->size(), 1U);
      EXPECT_TRUE(all->front().uses.empty()) << left;
    }
    ASSERT_TRUE(other.use(token, kClaim, "ana", kBookNow + hours(3), recorded));
    EXPECT_FALSE(first.use(token, kClaim, "ana", kBookNow + hours(4), recorded));
    EXPECT_EQ(book().approvals()->front().uses.size(), 1U);
  }
  std::ifstream torn(path() + ".torn");
  const std::string kept((std::istreambuf_iterator<char>(torn)), {});
  EXPECT_EQ(std::ranges::count(kept, '\n'), 3);
  EXPECT_TRUE(kept.starts_with("{\n{\"event\": \"use\""));
}

// A change adds a line; the lines that are there are left alone.
TEST_F(ApprovalBookTest, AChangeAddsToTheFile) {
  ApprovalBook one = book();
  ASSERT_TRUE(one.request(wanted(), kBookNow, recorded));
  const auto before = record_file_state(path()).value();
  ASSERT_TRUE(one.request(wanted("bo"), kBookNow, recorded));
  const auto after = record_file_state(path()).value();
  EXPECT_EQ(before->inode, after->inode);
  EXPECT_GT(after->bytes, before->bytes);
  EXPECT_EQ(book().approvals().value(), one.approvals().value());
}

TEST_F(ApprovalBookTest, ALinkIsOfOneRequestOneApproverAndOneTime) {
  ApprovalBook one = book();
  const auto made = one.request(wanted(), kBookNow, recorded);
  const auto other = one.request(wanted("eve"), kBookNow, recorded);
  ASSERT_TRUE(made && other);
  const Instant end = kBookNow + hours(24);
  const std::string link = one.link(*made, "bo", end).value();
  const auto opened = one.open_link(link, kBookNow);
  ASSERT_TRUE(opened) << opened.error().message;
  EXPECT_EQ(opened->approval.request.id, made->request.id);
  EXPECT_EQ(opened->approver, "bo");
  EXPECT_EQ(opened->until, end);
  EXPECT_TRUE(one.open_link(link, end - std::chrono::seconds(1)));
  const auto late = one.open_link(link, end);
  ASSERT_FALSE(late);
  EXPECT_THAT(late.error().message, HasSubstr("this link ended at"));
  // Every change of it, and every part of another one in its place, makes it none of ours.
  const auto parts = [](const std::string& text) {
    std::vector<std::string> all(1);
    for (const char c : text) {
      if (c == '.') {
        all.emplace_back();
      } else {
        all.back() += c;
      }
    }
    return all;
  };
  const std::vector<std::string> others[] = {parts(one.link(*other, "bo", end).value()),
                                             parts(one.link(*made, "cleo", end).value()),
                                             parts(one.link(*made, "bo", end + hours(24)).value())};
  std::vector<std::string> forged = {"",
                                     ".",
                                     "...",
                                     link + ".",
                                     link + "0",
                                     "x" + link,
                                     made->request.id,
                                     one.token(*made).value()};
  for (std::size_t i = 0; i < link.size(); ++i) {
    std::string changed = link;
    changed[i] = changed[i] == '0' ? '1' : '0';
    forged.push_back(changed);
  }
  for (std::size_t i = 0; i < 4; ++i) {
    for (const std::vector<std::string>& from : others) {
      std::vector<std::string> mixed = parts(link);
      if (mixed[i] == from[i]) continue;
      mixed[i] = from[i];
      forged.push_back(fmt::format("{}.{}.{}.{}", mixed[0], mixed[1], mixed[2], mixed[3]));
    }
  }
  for (const std::string& text : forged) {
    const auto refused = one.open_link(text, kBookNow);
    ASSERT_FALSE(refused) << text;
    EXPECT_EQ(refused.error().code, ErrorCode::kNotFound) << text;
  }
}

TEST_F(ApprovalBookTest, OnePersonCannotFillTheBook) {
  ApprovalBook first = book();
  for (std::size_t i = 0; i < kPendingPerPersonMax; ++i) {
    ApprovalRequest one = wanted();
    one.content = kBookContent + std::to_string(i);
    ASSERT_TRUE(first.request(one, kBookNow, recorded));
  }
  const auto more = first.request(wanted(), kBookNow, recorded);
  ASSERT_FALSE(more);
  EXPECT_EQ(more.error().code, ErrorCode::kLimit);
  EXPECT_TRUE(first.request(wanted("bo"), kBookNow, recorded));
}

TEST_F(ApprovalBookTest, ALastLineWithoutItsEndIsNotTornOn) {
  ApprovalBook first = book();
  ASSERT_TRUE(first.request(wanted(), kBookNow, recorded));
  // An editor left it so, while another program had it open.
  std::filesystem::resize_file(path(), std::filesystem::file_size(path()) - 1);
  ApprovalBook other = book();
  for (ApprovalBook* one : {&other, &first}) {
    ASSERT_EQ(one->approvals().value().size(), 1u);
  }
  ASSERT_TRUE(other.request(wanted("bo"), kBookNow, recorded));
  ASSERT_TRUE(first.request(wanted("cy"), kBookNow, recorded));
  ApprovalBook last = book();
  for (ApprovalBook* one : {&other, &first, &last}) {
    const auto all = one->approvals();
    ASSERT_TRUE(all) << all.error().message;
    EXPECT_EQ(all->size(), 3u);
  }
}

}  // namespace
}  // namespace pennyweight
