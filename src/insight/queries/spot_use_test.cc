// Purchases as the ledger has them: spot nodes that were taken back, and commitments.
#include "insight/queries/spot_use.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "insight/queries/commitment_use.h"
#include "testing/memory_store/memory_store.h"

namespace pennyweight {
namespace {

const ClusterId kLab{"lab"};

Instant spot_at(std::string_view text) { return *parse_instant(text); }

Charge line_of(const std::string& resource, std::string_view from, std::int64_t units) {
  const Interval march(spot_at("2026-03-01T00:00:00Z"), spot_at("2026-04-01T00:00:00Z"));
  const Money cost = Money::from_units(units, kUsd);
  Charge charge(march, Interval(spot_at(from), spot_at(from) + std::chrono::hours(24)),
                {cost, cost, cost, cost});
  charge.resource_id = resource;
  return charge;
}

struct Purchases {
  void append() {
    const auto session = *store->begin_import(
        {.format = "t", .name = "t", .file_hash = {}, .at = spot_at("2026-03-20T00:00:00Z")});
    ASSERT_TRUE(session->append_nodes(nodes));
    ASSERT_TRUE(session->append_charges(charges));
    ASSERT_TRUE(session->append_holdings(holdings));
    ASSERT_TRUE(session->commit());
  }
  void node(const std::string& name, std::string_view from, std::string_view to) {
    Node node{.cluster = kLab,
              .name = NodeId(name),
              .provider_id = "i-" + name,
              .instance_type = {},
              .region = {},
              .pool = PoolId(""),
              .gpu_model = {},
              .cpu_milli = {},
              .memory_bytes = {},
              .from = spot_at(from),
              .to = {},
              .id = {},
              .source = {}};
    if (!to.empty()) node.to = spot_at(to);
    nodes.push_back(node);
  }
  void work(const std::string& name, std::string_view from, std::string_view to) {
    const Interval held(spot_at(from), spot_at(to));
    const OnNodes place{{{NodeId(name), 1}}};
    holdings.emplace_back(kLab, WorkloadId("on-" + name), held, place);
  }
  void spot(const std::string& name) {
    charges.push_back(line_of("i-" + name, "2026-03-18T00:00:00Z", 10));
    charges.back().pricing_category = PricingCategory::kDynamic;
  }
  std::unique_ptr<Store> store = make_memory_store(false);
  std::vector<Node> nodes;
  std::vector<Charge> charges;
  std::vector<Holding> holdings;
};

TEST(SpotUse, NodesThatEndedUnderTheirWork) {
  Purchases of;
  constexpr std::string_view kBegin = "2026-03-18T00:00:00Z";
  // Taken back; ended when its work had completed; ended after its work; goes on under another
  // fact; ended two days ago; runs; on demand.
  of.node("back", kBegin, "2026-03-20T09:00:00Z");
  of.work("back", "2026-03-20T01:00:00Z", "2026-03-20T08:59:10Z");
  of.node("done", kBegin, "2026-03-20T09:00:00Z");
  of.work("done", "2026-03-20T01:00:00Z", "2026-03-20T08:59:30Z");
  ASSERT_TRUE(of.holdings.back().labels.set("state", "COMPLETED"));
  of.node("idle", kBegin, "2026-03-20T09:00:00Z");
  of.work("idle", "2026-03-20T01:00:00Z", "2026-03-20T08:00:00Z");
  of.node("again", kBegin, "2026-03-20T09:00:00Z");
  of.node("again", "2026-03-20T09:00:00Z", "");
  of.work("again", "2026-03-20T01:00:00Z", "2026-03-20T09:00:00Z");
  of.node("old", kBegin, "2026-03-19T09:00:00Z");
  of.work("old", kBegin, "2026-03-19T09:00:00Z");
  of.node("runs", kBegin, "");
  of.node("demand", kBegin, "2026-03-20T09:00:00Z");
  of.work("demand", kBegin, "2026-03-20T09:00:00Z");
  for (const char* name : {"back", "done", "idle", "again", "old", "runs"}) of.spot(name);
  of.charges.push_back(line_of("i-demand", kBegin, 10));
  of.append();
  auto names = find_billed_spot_nodes(*of.store, of.nodes, {}, "2026-03");
  ASSERT_TRUE(names) << names.error().message;
  EXPECT_EQ(names->size(), 6u);
  const auto uses = query_spot_use(*of.store, of.nodes, *names, spot_at("2026-03-20T12:00:00Z"));
  ASSERT_TRUE(uses) << uses.error().message;
  ASSERT_EQ(uses->size(), 1u);
  EXPECT_EQ(uses->front().nodes, 5u);
  EXPECT_EQ(uses->front().interrupted, std::vector{NodeId("back")});
  const auto later = query_spot_use(*of.store, of.nodes, *names, spot_at("2026-03-22T12:00:00Z"));
  ASSERT_TRUE(later);
  EXPECT_EQ(later->front().nodes, 2u);
  EXPECT_TRUE(later->front().interrupted.empty());
  // A label says so before any bill does.
  names->emplace(kLab, NodeId("demand"));
  const auto labelled =
      query_spot_use(*of.store, of.nodes, *names, spot_at("2026-03-20T12:00:00Z"));
  ASSERT_TRUE(labelled);
  EXPECT_EQ(labelled->front().nodes, 6u);
  EXPECT_EQ(labelled->front().interrupted, (std::vector{NodeId("back"), NodeId("demand")}));
}

TEST(CommitmentUse, SumsByMonthAndTheEndThatTheBillSays) {
  Purchases of;
  const auto add = [&](std::string_view from, std::int64_t units, UsedOrUnused status) {
    of.charges.push_back(line_of("", from, units));
    of.charges.back().commitment_discount_id = "sp-1";
    of.charges.back().commitment_discount_status = status;
    of.charges.back().other_columns =
        R"({"x_Operation":"Run","x_SavingsPlanEndTime":"2027-01-01T00:00:00.000Z"})";
  };
  add("2026-03-01T00:00:00Z", 30, UsedOrUnused::kUsed);
  add("2026-03-02T00:00:00Z", 50, UsedOrUnused::kUsed);
  add("2026-03-02T00:00:00Z", 20, UsedOrUnused::kUnused);
  of.charges.push_back(line_of("i-1", "2026-03-02T00:00:00Z", 20));
  of.append();
  const auto uses = query_commitment_use(*of.store, "2026-03");
  ASSERT_TRUE(uses) << uses.error().message;
  ASSERT_EQ(uses->size(), 1u);
  EXPECT_EQ(uses->front().used, Money::from_units(80, kUsd));
  EXPECT_EQ(uses->front().unused, Money::from_units(20, kUsd));
  EXPECT_EQ(uses->front().month, "2026-03");
  EXPECT_EQ(uses->front().from, spot_at("2026-03-01T00:00:00Z"));
  EXPECT_EQ(uses->front().until, spot_at("2026-03-03T00:00:00Z"));
  EXPECT_EQ(uses->front().ends, parse_date("2027-01-01").value());
  EXPECT_TRUE(query_commitment_use(*of.store, "2026-05")->empty());
}

}  // namespace
}  // namespace pennyweight
