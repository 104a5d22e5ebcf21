// Postings become shares, and shares come back sorted from where they waited.
#include "reporting/export/share.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "reporting/export/share_spool.h"

namespace pennyweight {
namespace {

FactId id(std::uint64_t high, std::uint64_t low) { return {Hash128{.high = high, .low = low}}; }

Posting posting(const FactId& charge, PostingKind kind, Component component, std::string workload,
                std::int64_t units) {
  const Money money = Money::from_units(units, kUsd);
  const Instant begin = *parse_instant("2026-03-05");
  return {.charge = charge,
          .kind = kind,
          .component = component,
          .interval = Interval(begin, begin + std::chrono::hours(units)),
          .day = std::chrono::floor<std::chrono::days>(begin),
          .node = NodeId("n1"),
          .gpu = GpuId(""),
          .workload = WorkloadId(std::move(workload)),
          .holding = std::nullopt,
          .weight = static_cast<Weight>(units),
          .costs = {money, money, money, money},
          .gpu_time = GpuTime::of(10),
          .memory_time = {},
          .observed_time = {}};
}

std::vector<ChargeShare> collect(const std::vector<Posting>& postings) {
  std::vector<ChargeShare> shares;
  ShareCollector collector(
      7,
      [](const WorkloadId& workload) {
        return ShareOwner{.id = workload.text(), .name = workload.text(), .tags = "{}"};
      },
      [&](const ChargeShare& share) {
        shares.push_back(share);
        return Result<void>{};
      });
  for (const Posting& one : postings) EXPECT_TRUE(collector.add(one));
  EXPECT_TRUE(collector.finish());
  return shares;
}

TEST(ShareCollector, AddsUpByOwnerNobodyFirst) {
  const auto shares = collect({posting(id(1, 1), PostingKind::kUsed, Component::kGpu, "b", 2),
                               posting(id(1, 1), PostingKind::kHeldIdle, Component::kGpu, "b", 3),
                               posting(id(1, 1), PostingKind::kUnallocated, Component::kGpu, "", 5),
                               posting(id(1, 1), PostingKind::kUsed, Component::kCpu, "b", 7),
                               posting(id(2, 1), PostingKind::kShared, Component::kWhole, "", 1)});
  ASSERT_EQ(shares.size(), 3u);
  EXPECT_EQ(shares[0].owner.id, "");
  EXPECT_EQ(shares[0].costs.billed, Money::from_units(5, kUsd));
  EXPECT_EQ(shares[1].owner.id, "b");
  EXPECT_EQ(shares[1].costs.list, Money::from_units(12, kUsd));
  EXPECT_EQ(shares[1].held_idle_effective, Money::from_units(3, kUsd));
  EXPECT_EQ(shares[1].weight, Weight{5});  // of the GPU's postings only
  EXPECT_EQ(shares[1].gpu_time, GpuTime::of(20));
  EXPECT_EQ(shares[1].interval.length_ms(), 7u * 3'600'000u);
  EXPECT_EQ(kinds_text(shares[1].kinds), "used+held_idle");
  EXPECT_EQ(shares[2].charge, id(2, 1));
}

TEST(ShareSpool, ComesBackByChargeAndOwner) {
  auto spool = ShareSpool::create("");
  ASSERT_TRUE(spool) << spool.error().message;
  const std::uint64_t high = ~std::uint64_t{0};  // ids are unsigned, whatever the engine keeps
  std::vector<ChargeShare> all;
  for (const FactId& charge : {id(high, 2), id(1, 9), id(1, 2)}) {
    for (ChargeShare& share :
         collect({posting(charge, PostingKind::kUsed, Component::kGpu, "b", 2),
                  posting(charge, PostingKind::kUsed, Component::kGpu, "a", 3),
                  posting(charge, PostingKind::kStranded, Component::kGpu, "", 4)})) {
      share.weight = 1;
      ASSERT_TRUE(spool->append(share));
      all.push_back(share);
    }
  }
  ASSERT_TRUE(spool->sort());
  for (const std::size_t at : {6u, 3u, 0u}) {
    const auto group = spool->next();
    ASSERT_TRUE(group);
    EXPECT_EQ(*group,
              (std::vector<ChargeShare>(all.begin() + static_cast<std::ptrdiff_t>(at),
                                        all.begin() + static_cast<std::ptrdiff_t>(at) + 3)));
  }
  EXPECT_TRUE(spool->next()->empty());
  EXPECT_TRUE(spool->next()->empty());
}

}  // namespace
}  // namespace pennyweight
