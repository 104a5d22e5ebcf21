#include "insight/queries/capacity_query.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "testing/memory_store/memory_store.h"

namespace pennyweight {
namespace {

using testing::HasSubstr;

const ClusterId kYard{"yard"};

Instant at(std::string_view text) { return *parse_instant(text); }

struct Yard {
  void node(const std::string& name, std::string_view to = "") {
    Node node{.cluster = kYard,
              .name = NodeId(name),
              .provider_id = "i-" + name,
              .instance_type = {},
              .region = "us-east-1",
              .pool = PoolId(""),
              .gpu_model = "NVIDIA H100 80GB HBM3",
              .gpu_count = 8,
              .cpu_milli = {},
              .memory_bytes = {},
              .from = at("2026-01-01T00:00:00Z"),
              .to = {},
              .id = {},
              .source = {}};
    if (!to.empty()) node.to = at(to);
    nodes.push_back(node);
  }
  void work(const std::string& node, Instant from, Instant to, std::uint32_t devices) {
    const OnNodes place{{{NodeId(node), devices}}};
    holdings.emplace_back(kYard, WorkloadId("w" + std::to_string(holdings.size())),
                          Interval(from, to), place);
  }
  // A line says that a commitment, a capacity reservation or both cover a node for some hours.
  Charge& covered(const std::string& node, const std::string& commitment,
                  const std::string& reservation, Instant from, int hours) {
    const Money cost = Money::from_units(10, kUsd);
    const Interval month(at("2026-07-01T00:00:00Z"), at("2026-08-01T00:00:00Z"));
    Charge charge(month, Interval(from, from + std::chrono::hours(hours)),
                  {cost, cost, cost, cost});
    charge.resource_id = "i-" + node;
    charge.commitment_discount_id = commitment;
    charge.capacity_reservation_id = reservation;
    if (!commitment.empty()) charge.commitment_discount_status = UsedOrUnused::kUsed;
    if (!reservation.empty()) charge.capacity_reservation_status = UsedOrUnused::kUsed;
    return charges.emplace_back(std::move(charge));
  }
  Result<CapacityResult> query(std::string_view now) {
    auto store = make_memory_store(false);
    const auto session =
        *store->begin_import({.format = "t", .name = "t", .file_hash = {}, .at = at(now)});
    EXPECT_TRUE(session->append_nodes(nodes));
    EXPECT_TRUE(session->append_charges(charges));
    EXPECT_TRUE(session->append_holdings(holdings));
    EXPECT_TRUE(session->commit());
    return query_capacity(
        *store, {.now = at(now), .zone = TimeZone::utc(), .ends = ends, .clusters = clusters});
  }
  std::vector<Node> nodes;
  std::vector<Holding> holdings;
  std::vector<Charge> charges;
  std::vector<ReservationEnd> ends;
  std::vector<std::string> clusters;
};

TEST(CapacityQuery, ThePeakOfADayIsTheMostAtOneTime) {
  Yard of;
  of.node("a");
  of.node("b");
  of.node("gone", "2026-01-05T00:00:00Z");
  of.work("a", at("2026-01-02T00:00:00Z"), at("2026-01-02T06:00:00Z"), 8);
  // One after the other is not both at once; over midnight counts on both days.
  of.work("a", at("2026-01-02T06:00:00Z"), at("2026-01-02T08:00:00Z"), 8);
  of.work("b", at("2026-01-02T07:00:00Z"), at("2026-01-03T01:00:00Z"), 2);
  of.work("unknown", at("2026-01-03T07:00:00Z"), at("2026-01-03T08:00:00Z"), 5);
  const auto result = of.query("2026-01-06T12:00:00Z");
  ASSERT_TRUE(result) << result.error().message;
  ASSERT_EQ(result->models.size(), 1u);
  const ModelCapacity& one = result->models.front();
  EXPECT_EQ(one.gpus, 16u);
  EXPECT_EQ(one.nodes, 2u);
  EXPECT_EQ(one.peaks_milli, (std::vector<std::int64_t>{10'000, 2'000, 0, 0}));
  EXPECT_THAT(result->notes, testing::ElementsAre(HasSubstr("1 run on nodes that the ledger")));
  const auto tables = capacity_tables(*result);
  EXPECT_THAT(tables[0].notes, testing::Contains(HasSubstr("4 complete days of history are too")));
}

TEST(CapacityQuery, WhatIsReservedCountsUntilItsEnd) {
  Yard of;
  of.node("a");
  of.node("b");
  const Instant begin = at("2026-01-01T00:00:00Z");
  for (int day = 0; day < 200; ++day) {
    const Instant morning = begin + std::chrono::days(day) + std::chrono::hours(8);
    of.work("a", morning, morning + std::chrono::hours(4), 8);
    of.work("b", morning, morning + std::chrono::hours(4), day % 7 < 5 ? 4 : 2);
  }
  of.covered("b", "ri-1", "", at("2026-07-05T00:00:00Z"), 24);
  of.ends = {{"ri-1", *parse_date("2026-08-30")}};
  const auto result = of.query("2026-07-20T00:00:00Z");
  ASSERT_TRUE(result) << result.error().message;
  ASSERT_EQ(result->reservations.size(), 1u);
  EXPECT_EQ(result->reservations.front().gpus_milli, 8'000);
  const ModelCapacity& one = result->models.front();
  EXPECT_EQ(one.without_renewal_milli[40], 16'000);
  EXPECT_EQ(one.without_renewal_milli[41], 8'000) << "2026-08-30 is the 41st day";
  EXPECT_EQ(one.outlook.percent_out(one.without_renewal_milli, 30), 0);
  EXPECT_EQ(one.outlook.percent_out(one.without_renewal_milli, 60), 100);
  const auto tables = capacity_tables(*result);
  const Row& row = tables[0].rows.front();
  EXPECT_EQ(row[4], Cell{std::string("12.0")});
  EXPECT_EQ(row[5], Cell{std::string("4.0")});
  EXPECT_EQ(row[12], Cell{std::string("2026-08-30")});
  EXPECT_EQ(row[13], Cell{std::string("let go of up to 4 GPUs: 12 suffice with 95 %")});
}

// GPUs that are left after so many days, in thousandths.
std::int64_t left_after(const CapacityResult& result, std::size_t days) {
  return result.models.front().without_renewal_milli[days];
}

TEST(CapacityQuery, ANodeUnderTwoCountsOnce) {
  Yard of;
  of.node("a");
  of.node("b");
  // On one line, and on two lines of the same time.
  of.covered("a", "plan", "block", at("2026-07-05T00:00:00Z"), 24);
  of.covered("b", "plan", "", at("2026-07-05T00:00:00Z"), 24);
  of.covered("b", "", "block", at("2026-07-05T00:00:00Z"), 24);
  of.ends = {{"plan", *parse_date("2026-07-30")}, {"block", *parse_date("2026-08-09")}};
  const auto result = of.query("2026-07-20T00:00:00Z");
  ASSERT_TRUE(result) << result.error().message;
  ASSERT_EQ(result->reservations.size(), 2u);
  EXPECT_EQ(result->reservations[0].gpus_milli, 16'000);
  EXPECT_EQ(result->reservations[1].gpus_milli, 16'000);
  EXPECT_EQ(left_after(*result, 10), 16'000) << "the block goes on after the plan";
  EXPECT_EQ(left_after(*result, 19), 16'000);
  EXPECT_EQ(left_after(*result, 20), 0) << "both are over";
}

TEST(CapacityQuery, AFloatingPlanIsTheMeanOfWhatItCovers) {
  Yard of;
  for (const char* name : {"a", "b", "c", "d"}) of.node(name);
  // For four days it covers one node after the other, and a quarter of another one's hours.
  int day = 5;
  for (const char* name : {"a", "b", "c", "d"}) {
    const Instant from = at(fmt::format("2026-07-{:02}T00:00:00Z", day++));
    of.covered(name, "plan", "", from, 24);
    Charge& part = of.covered(name == std::string("a") ? "b" : "a", "plan", "", from, 24);
    part.consumed_quantity = Decimal::from_units(6);
    part.consumed_unit = "Hours";
    // A processor's price for the same hours is not more time.
    of.charges.push_back(of.charges.back());
  }
  of.ends = {{"plan", *parse_date("2026-07-30")}};
  const auto result = of.query("2026-07-20T00:00:00Z");
  ASSERT_TRUE(result) << result.error().message;
  ASSERT_EQ(result->reservations.size(), 1u);
  EXPECT_EQ(result->reservations.front().gpus_milli, 10'008) << "1.25 nodes of 8, shares rounded";
  EXPECT_EQ(left_after(*result, 9), 32'000);
  EXPECT_EQ(left_after(*result, 10), 32'000 - 10'008);
}

TEST(CapacityQuery, WhatHasEndedTakesNoNodeThatIsThere) {
  Yard of;
  of.node("a");
  of.covered("a", "old", "", at("2026-07-05T00:00:00Z"), 24);
  for (int day = 0; day < 10; ++day) {
    of.covered("a", "new", "", at("2026-07-06T00:00:00Z") + std::chrono::days(day), 24);
  }
  of.ends = {{"old", *parse_date("2026-07-06")}};
  const auto result = of.query("2026-07-20T00:00:00Z");
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(left_after(*result, 0), 8'000);
  EXPECT_EQ(left_after(*result, 89), 8'000);
}

TEST(CapacityQuery, AFeeOfAMonthDoesNotSayUntilWhenTheBillIsKnown) {
  Yard of;
  of.node("a");
  for (int day = 0; day < 10; ++day) {
    of.covered("a", "ri-1", "", at("2026-07-05T00:00:00Z") + std::chrono::days(day), 24)
        .service_provider_name = "AWS";
  }
  Charge& fee = of.covered("a", "ri-1", "", at("2026-07-01T00:00:00Z"), 24 * 31);
  fee.resource_id.clear();
  fee.service_provider_name = "AWS";
  // The bill of another provider is behind.
  of.node("b");
  of.covered("b", "block", "", at("2026-07-01T00:00:00Z"), 24).service_provider_name = "Other";
  // The third bills by the month alone.
  of.node("c");
  of.covered("c", "plan", "", at("2026-07-01T00:00:00Z"), 24 * 31).service_provider_name = "Third";
  const auto result = of.query("2026-07-20T00:00:00Z");
  ASSERT_TRUE(result) << result.error().message;
  ASSERT_EQ(result->reservations.size(), 3u);
  for (const auto& one : result->reservations) EXPECT_EQ(one.gpus_milli, 8'000) << one.id;
}

TEST(CapacityQuery, AFeeOfAMonthThatHasBegunHidesNoReservation) {
  Yard of;
  of.node("a");
  for (int day = 0; day < 7; ++day) {
    of.covered("a", "ri-1", "", at("2026-07-25T00:00:00Z") + std::chrono::days(day), 24);
  }
  of.covered("a", "ri-1", "", at("2026-08-01T00:00:00Z"), 24 * 31).resource_id.clear();
  const auto result = of.query("2026-08-02T12:00:00Z");
  ASSERT_TRUE(result) << result.error().message;
  ASSERT_EQ(result->reservations.size(), 1u);
  EXPECT_EQ(result->reservations.front().gpus_milli, 8'000);
}

TEST(CapacityQuery, AFleetWithoutGpusIsNamed) {
  const auto result = Yard{}.query("2026-01-06T12:00:00Z");
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(result.error().message, HasSubstr("import nodes"));
}

TEST(CapacityQuery, AClusterThatIsNotThereIsNamed) {
  Yard of;
  of.node("a");
  of.clusters = {"yrad"};
  const auto result = of.query("2026-01-06T12:00:00Z");
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(result.error().message, HasSubstr("of cluster yrad"));
}

}  // namespace
}  // namespace pennyweight
