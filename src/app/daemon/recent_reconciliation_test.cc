#include "app/daemon/recent_reconciliation.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "allocation/pricing/catalog.h"
#include "app/run/allocate_month.h"
#include "config/config.h"
#include "core/clock.h"
#include "core/instant.h"
#include "ledger/charge.h"
#include "ledger/store.h"
#include "reporting/queries/ledger_month.h"
#include "testing/memory_store/memory_store.h"

namespace pennyweight {
namespace {

// A line of a month's support, which is of no cluster.
Charge support_of(const std::string& month, std::int64_t units) {
  const Instant begin = *parse_instant(month + "-01");
  const Interval period(begin, begin + std::chrono::days(28));
  const Money cost = Money::from_units(units, kUsd);
  Charge charge(period, period, {cost, cost, cost, cost});
  charge.resource_id = "support " + std::to_string(units);
  return charge;
}

class RecentReconciliationTest : public testing::Test {
 protected:
  void take_in(const std::string& month, std::int64_t units) {
    clock_.advance(std::chrono::minutes(1));
    const auto session =
        *store_->begin_import({.format = "t", .name = "t", .file_hash = {}, .at = clock_.now()});
    const std::vector<Charge> charges{support_of(month, units)};
    ASSERT_TRUE(session->append_charges(charges));
    ASSERT_TRUE(session->commit());
  }
  void allocate(const std::string& month) {
    clock_.advance(std::chrono::minutes(1));
    auto loaded = LedgerMonth::load(*store_, month, config_.join_rules);
    ASSERT_TRUE(loaded) << loaded.error().message;
    const auto catalog = Catalog::built_in();
    const auto scopes = allocate_whole_month(*store_, *loaded,
                                             {.policy = config_.policy,
                                              .catalog = catalog,
                                              .threads = 1,
                                              .join_rules = config_.join_rules,
                                              .at = clock_.now(),
                                              .changed = {}});
    ASSERT_TRUE(scopes) << scopes.error().message;
  }
  // Whether the month is allocated to the last digit; one without charges is.
  bool is_exact(const std::string& month) {
    clock_.advance(std::chrono::minutes(1));
    const auto result = recent_.query_month(*store_, month, clock_.now());
    EXPECT_TRUE(result) << result.error().message;
    return result && result->exact();
  }

  Config config_ = default_config();
  SimulatedClock clock_{*parse_instant("2026-03-10T10:00:00Z")};
  std::unique_ptr<Store> store_ = make_memory_store(false);
  RecentReconciliation recent_;
};

TEST_F(RecentReconciliationTest, AMonthIsReadAgainOnlyAfterItsChargesOrRunsChanged) {
  take_in("2026-02", 100);
  take_in("2026-03", 200);
  EXPECT_FALSE(is_exact("2026-02"));
  EXPECT_FALSE(is_exact("2026-03"));
  EXPECT_EQ(recent_.months_read(), 2u);
  EXPECT_FALSE(is_exact("2026-02"));
  EXPECT_FALSE(is_exact("2026-03"));
  EXPECT_EQ(recent_.months_read(), 2u) << "nothing has changed";
  allocate("2026-02");
  EXPECT_TRUE(is_exact("2026-02"));
  EXPECT_FALSE(is_exact("2026-03"));
  EXPECT_EQ(recent_.months_read(), 3u) << "a run of February says nothing about March";
  take_in("2026-03", 300);
  EXPECT_TRUE(is_exact("2026-02"));
  EXPECT_EQ(recent_.months_read(), 3u);
  EXPECT_FALSE(is_exact("2026-03"));
  EXPECT_EQ(recent_.months_read(), 4u);
  allocate("2026-03");
  EXPECT_TRUE(is_exact("2026-03"));
  EXPECT_EQ(recent_.months_read(), 5u);
  // A bill that comes after the run is not in it.
  take_in("2026-02", 400);
  EXPECT_FALSE(is_exact("2026-02"));
  EXPECT_TRUE(is_exact("2026-03"));
  EXPECT_EQ(recent_.months_read(), 6u);
}

TEST_F(RecentReconciliationTest, AMonthWithoutChargesIsReadOnceItHasSome) {
  EXPECT_TRUE(is_exact("2026-03"));
  EXPECT_TRUE(is_exact("2026-03"));
  EXPECT_EQ(recent_.months_read(), 1u);
  take_in("2026-03", 100);
  EXPECT_FALSE(is_exact("2026-03"));
  EXPECT_EQ(recent_.months_read(), 2u);
}

}  // namespace
}  // namespace pennyweight
