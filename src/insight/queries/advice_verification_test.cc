// Advice that a ledger is compared for: work that moved to another card.
#include "insight/queries/advice_verification.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/card_share.h"
#include "testing/memory_store/memory_store.h"

namespace pennyweight {
namespace {

using std::chrono::days;
using std::chrono::hours;

constexpr Date kMoved = std::chrono::year(2026) / 3 / 16;
const ClusterId kSized{"sized"};

struct CostSum {
  std::string workload;  // empty: nobody held it
  std::int64_t units;
  int held;  // GPU-hours
};

// Two weeks of equal days before and after the day of the move.
struct MovedWork {
  void each_day(Date first, const std::vector<CostSum>& sums) {
    for (Date day = first; day < first + days(14); day += days(1)) {
      for (const CostSum& sum : sums) add(day, sum);
    }
  }

  void add(Date day, const CostSum& sum) {
    const Interval whole(Instant(day), Instant(day + days(1)));
    const Money cost = Money::from_units(sum.units, kUsd);
    const bool is_held = !sum.workload.empty();
    const std::string run = is_held ? sum.workload + "-" + to_text(day) : "";
    if (is_held) {
      Holding holding(kSized, WorkloadId(run), whole, OnNodes{{{NodeId("n"), 1}}});
      ASSERT_TRUE(holding.labels.set("app", sum.workload));
      holdings.push_back(holding);
    }
    postings.push_back(
        Posting{.charge = {},
                .kind = is_held ? PostingKind::kUsed : PostingKind::kUnallocated,
                .component = Component::kGpu,
                .interval = whole,
                .day = day,
                .node = NodeId("n"),
                .gpu = GpuId(""),
                .workload = WorkloadId(run),
                .holding = {},
                .weight = 1,
                .costs = {cost, cost, cost, cost},
                .gpu_time = GpuTime::of(kGpuHour.count() * static_cast<unsigned>(sum.held)),
                .memory_time = {},
                .observed_time = {}});
  }

  void import_into(Store& store) const {
    const auto import =
        *store.begin_import({.format = "t", .name = "t", .file_hash = {}, .at = Instant(kMoved)});
    ASSERT_TRUE(import->append_holdings(holdings));
    ASSERT_TRUE(import->commit());
  }

  void allocate_into(Store& store) const {
    const auto run = *store.begin_run({.scope = {kSized, "2026-03"},
                                       .policy = "p",
                                       .policy_version = {1, 2},
                                       .catalog_version = {3, 4},
                                       .time_zone = "UTC",
                                       .program_version = "1",
                                       .at = Instant(kMoved),
                                       .postings_digest = {}});
    ASSERT_TRUE(run->append_postings(postings));
    ASSERT_TRUE(run->commit());
  }

  Result<AdviceVerification> try_to_verify(const std::string& kind, const std::string& work) const {
    const auto store = make_memory_store();
    import_into(*store);
    allocate_into(*store);
    AdviceStep done;
    done.day = kMoved;
    done.kind = kind;
    done.cluster = kSized.text();
    done.work = work;
    return verify_advice(*store, done, Policy{}, kMoved + days(15));
  }

  AdviceVerification verify(const std::string& kind = "right-size",
                            const std::string& work = "work api") const {
    const auto got = try_to_verify(kind, work);
    if (!got) ADD_FAILURE() << got.error().message;
    return got.value_or(
        AdviceVerification{.realised = Money::zero(kUsd), .last_day = {}, .findings = {}});
  }

  std::vector<Holding> holdings;
  std::vector<Posting> postings;
};

// So much a day, as a month of 730 hours.
Money a_month(std::int64_t a_day) { return Money::from_units(a_day * 730 / 24, kUsd); }

TEST(AdviceVerification, ASlowerCardBesideTheOneLeftIdleSavesNothing) {
  MovedWork of;
  of.each_day(kMoved - days(14), {{"api", 240, 24}});
  of.add(kMoved, {"api", 240, 24});
  // Its runs hold twice the time of a card at 0.4 of the price; nobody holds the old one.
  of.each_day(kMoved + days(1), {{"api", 192, 48}, {"", 240, 0}});
  EXPECT_EQ(of.verify().realised, Money::zero(kUsd));
}

TEST(AdviceVerification, ASlowerCardInPlaceOfTheOldOneSavesTheDifference) {
  MovedWork of;
  of.each_day(kMoved - days(14), {{"api", 240, 24}, {"other", 480, 48}, {"", 120, 0}});
  of.add(kMoved, {"api", 240, 24});
  of.each_day(kMoved + days(1), {{"api", 192, 48}, {"other", 480, 48}, {"", 120, 0}});
  EXPECT_EQ(of.verify().realised, a_month(48));
}

TEST(AdviceVerification, OthersThatHoldMoreAreNoSavingOfTheWorkThatMoved) {
  MovedWork of;
  of.each_day(kMoved - days(14), {{"api", 240, 24}, {"other", 480, 48}});
  of.add(kMoved, {"api", 240, 24});
  // The old card stays idle, and the others pay twice for twice the time.
  of.each_day(kMoved + days(1), {{"api", 192, 48}, {"other", 960, 96}, {"", 240, 0}});
  EXPECT_EQ(of.verify().realised, Money::zero(kUsd));
}

TEST(AdviceVerification, WorkThatNoLongerRunsIsNotCompared) {
  MovedWork of;
  of.each_day(kMoved - days(14), {{"api", 240, 24}});
  of.add(kMoved, {"api", 240, 24});
  of.each_day(kMoved + days(1), {{"api-v2", 120, 24}});
  const auto got = of.try_to_verify("right-size", "work api");
  ASSERT_FALSE(got);
  EXPECT_NE(got.error().message.find("has another name now"), std::string::npos);
}

TEST(AdviceVerification, OthersThatCameAfterwardsAreCountedAtWhatTheyCost) {
  MovedWork of;
  of.each_day(kMoved - days(14), {{"api", 240, 24}});
  of.add(kMoved, {"api", 240, 24});
  of.each_day(kMoved + days(1), {{"api", 192, 48}, {"other", 700, 30}});
  EXPECT_EQ(of.verify().realised, a_month(48));
}

}  // namespace
}  // namespace pennyweight
