#include "app/daemon/recent_purchases.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "core/clock.h"
#include "ledger/charge.h"
#include "ledger/store.h"
#include "testing/memory_store/memory_store.h"

namespace pennyweight {
namespace {

const ClusterId kGrove{"grove"};

class RecentPurchasesTest : public testing::Test {
 protected:
  // A line of a savings plan at a spot price.
  void take_in(const std::string& month, const std::string& resource) {
    clock_.advance(std::chrono::minutes(1));
    const Instant begin = *parse_instant(month + "-01");
    const Interval period(begin, begin + std::chrono::days(28));
    const Money cost = Money::from_units(10, kUsd);
    Charge charge(period, period, {cost, cost, cost, cost});
    charge.resource_id = resource;
    charge.pricing_category = PricingCategory::kDynamic;
    charge.commitment_discount_id = "sp-1";
    charge.commitment_discount_status = UsedOrUnused::kUsed;
    const auto session =
        *store_->begin_import({.format = "t", .name = "t", .file_hash = {}, .at = clock_.now()});
    ASSERT_TRUE(session->append_charges(std::vector<Charge>{charge}));
    ASSERT_TRUE(session->commit());
  }
  void add_node(const std::string& name) {
    nodes_.push_back({.cluster = kGrove,
                      .name = NodeId(name),
                      .provider_id = "i-" + name,
                      .instance_type = {},
                      .region = {},
                      .pool = PoolId(""),
                      .gpu_model = {},
                      .cpu_milli = {},
                      .memory_bytes = {},
                      .from = *parse_instant("2026-01-01"),
                      .to = {},
                      .id = {},
                      .source = {}});
  }
  std::size_t commitments(const std::string& month) {
    clock_.advance(std::chrono::minutes(1));
    const auto uses = recent_.month_commitments(*store_, month, clock_.now());
    EXPECT_TRUE(uses) << uses.error().message;
    return uses ? uses->size() : 0;
  }
  std::size_t spot_nodes(const std::string& month) {
    clock_.advance(std::chrono::minutes(1));
    const auto names = recent_.month_spot_nodes(*store_, nodes_, month, clock_.now());
    EXPECT_TRUE(names) << names.error().message;
    return names ? names->size() : 0;
  }

  SimulatedClock clock_{*parse_instant("2026-03-10T10:00:00Z")};
  std::unique_ptr<Store> store_ = make_memory_store(false);
  std::vector<Node> nodes_;
  RecentPurchases recent_{{}};
};

TEST_F(RecentPurchasesTest, AMonthIsReadAgainOnlyAfterItsChargesChanged) {
  take_in("2026-03", "i-a");
  EXPECT_EQ(commitments("2026-03"), 1u);
  EXPECT_EQ(commitments("2026-02"), 0u);
  EXPECT_EQ(commitments("2026-03"), 1u);
  EXPECT_EQ(commitments("2026-02"), 0u);
  EXPECT_EQ(recent_.months_read(), 2u);
  take_in("2026-02", "i-a");
  EXPECT_EQ(commitments("2026-03"), 1u);
  EXPECT_EQ(recent_.months_read(), 2u) << "a bill of February says nothing about March";
  EXPECT_EQ(commitments("2026-02"), 1u);
  EXPECT_EQ(recent_.months_read(), 3u);
}

TEST_F(RecentPurchasesTest, SpotNodesAreReadAgainAlsoWhenNodesChanged) {
  add_node("a");
  take_in("2026-03", "i-a");
  take_in("2026-03", "i-b");
  EXPECT_EQ(spot_nodes("2026-03"), 1u);
  EXPECT_EQ(spot_nodes("2026-03"), 1u);
  EXPECT_EQ(recent_.months_read(), 1u);
  add_node("b");
  EXPECT_EQ(spot_nodes("2026-03"), 2u);
  EXPECT_EQ(recent_.months_read(), 2u);
  take_in("2026-03", "i-c");
  EXPECT_EQ(spot_nodes("2026-03"), 2u);
  EXPECT_EQ(recent_.months_read(), 3u);
}

}  // namespace
}  // namespace pennyweight
