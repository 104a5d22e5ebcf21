#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "ingest/bills/rated/custom_columns.h"
#include "ingest/bills/rated/node_estimates.h"
#include "ingest/bills/rated/owned_charges.h"

namespace pennyweight::rated {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Instant at(std::string_view text) { return parse_instant(text).value(); }

Node node(std::string_view cluster, std::string_view name, std::string_view from) {
  return {.cluster = ClusterId(std::string(cluster)),
          .name = NodeId(std::string(name)),
          .provider_id = {},
          .instance_type = {},
          .region = {},
          .pool = PoolId(""),
          .gpu_model = {},
          .gpu_count = 0,
          .shard_count = 0,
          .mps_count = 0,
          .sharing = GpuSharing::kNone,
          .gpu_replicas = 0,
          .replicas_renamed = false,
          .cpu_milli = {},
          .memory_bytes = {},
          .from = at(from),
          .to = {},
          .id = {},
          .source = {}};
}

PricedMonth month(std::string_view now = "2026-05-01") {
  return priced_month("2026-03", at(now)).value();
}

std::vector<OwnedAsset> assets_of(std::string_view rows) {
  return parse_owned_assets(
             "cluster,node,purchase,salvage,currency,in_service,life_months,retired,"
             "cost_of_capital_percent,power_watts,pue,tariff_per_kwh,"
             "colo_per_kw_month,operations_per_month\n" +
                 std::string(rows),
             "assets.csv")
      .value();
}

constexpr std::string_view kWorked =
    "gpu,node-1,320000,80000,USD,2026-01-01,36,,6,10200,1.2,0.08,200,1500\n";
const OwnedOptions kOwn{.organisation = "Example Labs", .account = kOwnedAccount};
const EstimateOptions kEstimate{.organisation = "Example Labs", .account = kEstimateAccount};

// The sum of the x_…Cost columns of a line.
Money components_of(const Charge& charge) {
  Money sum = Money::zero(charge.costs.currency());
  for (const std::string_view name : {"x_CapitalCost", "x_ColocationCost", "x_DepreciationCost",
                                      "x_OperationsCost", "x_PowerCost", "x_SupportCost"}) {
    const std::string key = "\"" + std::string(name) + "\":\"";
    const std::size_t begin = charge.other_columns.find(key);
    if (begin == std::string::npos) continue;
    const std::size_t end = charge.other_columns.find('"', begin + key.size());
    const auto text = charge.other_columns.substr(begin + key.size(), end - begin - key.size());
    sum += Money::from_decimal(parse_exact_decimal(text).value(), sum.currency());
  }
  return sum;
}

TEST(OwnedCharges, ALineForEachDay) {
  Node known = node("gpu", "node-1", "2026-01-01");
  known.provider_id = "metal://rack-7/node-1";
  known.instance_type = "8xh100";
  known.region = "hall-2";
  const PricedLines lines =
      owned_charges(assets_of(kWorked), std::vector{known}, month(), {}, kOwn);
  ASSERT_EQ(lines.charges.size(), 31u);
  EXPECT_THAT(lines.notes, IsEmpty());
  Money sum = Money::zero(kUsd);
  for (const Charge& line : lines.charges) {
    EXPECT_TRUE(components_of(line) == line.costs.effective);
    EXPECT_TRUE(line.costs.billed == line.costs.effective);
    EXPECT_TRUE(line.list_unit_price == line.costs.list.amount());
    sum += line.costs.effective;
  }
  EXPECT_EQ(to_text(sum.amount()), "12604.955156964303569648");
  const Charge& first = lines.charges.front();
  EXPECT_EQ(first.resource_id, "metal://rack-7/node-1");
  EXPECT_EQ(first.resource_name, "node-1");
  EXPECT_EQ(first.cluster, "gpu");
  EXPECT_EQ(first.instance_type, "8xh100");
  EXPECT_EQ(first.region_id, "hall-2");
  EXPECT_EQ(first.service_provider_name, "Example Labs");
  EXPECT_EQ(first.billing_account_id, "owned-hardware");
  EXPECT_EQ(to_text(first.billing_period), "2026-03-01T00:00:00Z/2026-04-01T00:00:00Z");
  EXPECT_EQ(to_text(first.charge_period), "2026-03-01T00:00:00Z/2026-03-02T00:00:00Z");
  EXPECT_EQ(
      first.other_columns,
      R"({"x_CapitalCost":"50.478952104789521048","x_ColocationCost":"65.806451612903225807",)"
      R"("x_DepreciationCost":"218.978102189781021898","x_EnergyBasis":"nominal",)"
      R"("x_EnergyQuantity":"244.8","x_OperationsCost":"48.387096774193548388",)"
      R"("x_PowerCost":"23.5008"})");
}

TEST(OwnedCharges, WhatSomebodyShouldLookAt) {
  const auto energy =
      parse_energy("cluster,node,day,kwh\ngpu,node-9,2026-03-01,1\ngpu,node-9,2026-03-02,1\n", "e")
          .value();
  const PricedLines lines =
      owned_charges(assets_of("gpu,node-1,365,0,USD,2026-01-01,12,2026-03-11,,,,,,\n"),
                    std::vector{node("other", "node-1", "2026-01-01")}, month(), energy, kOwn);
  EXPECT_EQ(lines.charges.size(), 10u);
  EXPECT_EQ(lines.charges.front().resource_id, "node-1");
  EXPECT_EQ(to_text(lines.charges.front().costs.billed.amount()), "1");
  EXPECT_THAT(
      lines.notes,
      ElementsAre(
          "assets.csv:2: node-1 is retired on 2026-03-11 with 296 USD not written off; that "
          "loss is on no line",
          "assets.csv:2: no inventory of cluster gpu knows node node-1 in this month; its "
          "lines join no node",
          "energy of node node-9 of cluster gpu is of no asset"));
}

TEST(OwnedCharges, AChangedNodeIsNamedAsOnThatDay) {
  Node before = node("gpu", "node-1", "2026-01-01");
  before.provider_id = "old";
  Node after = node("gpu", "node-1", "2026-03-20");
  after.provider_id = "new";
  const PricedLines lines =
      owned_charges(assets_of(kWorked), std::vector{after, before}, month(), {}, kOwn);
  EXPECT_EQ(lines.charges[18].resource_id, "old");
  EXPECT_EQ(lines.charges[19].resource_id, "new");
}

TEST(PricedMonth, DaysThatAreOver) {
  const auto days = [](std::string_view now) {
    return (month(now).end - month(now).first).count();
  };
  EXPECT_EQ(days("2026-02-28T23:00:00Z"), 0);
  EXPECT_EQ(days("2026-03-01T23:59:59Z"), 0);
  EXPECT_EQ(days("2026-03-02T00:00:00Z"), 1);
  EXPECT_EQ(days("2026-04-01T00:00:00Z"), 31);
  EXPECT_EQ(days("2030-01-01"), 31);
  EXPECT_FALSE(priced_month("2026-13", at("2026-01-01")).has_value());
  EXPECT_TRUE(owned_charges(assets_of(kWorked), {}, month("2026-03-01"), {}, kOwn).charges.empty());
}

RateCard node_card() {
  return RateCard::parse(
             "gpu_model,instance_type,region,unit,price,list_price,currency\n"
             ",p5.48xlarge,us-east-1,Hours,55.04,98.32,USD\n"
             "H100-SXM5-80GB,,,GPU-Hours,2.5,,USD\n",
             "card.csv")
      .value();
}

TEST(Estimates, ByInstanceTypeThenByGpu) {
  Node typed = node("prod", "a", "2026-03-30T12:00:00Z");
  typed.instance_type = "p5.48xlarge";
  typed.region = "us-east-1";
  typed.gpu_model = "NVIDIA H100 80GB HBM3";
  typed.gpu_count = 8;
  Node elsewhere = typed;
  elsewhere.name = NodeId("b");
  elsewhere.region = "eu-north-1";
  elsewhere.to = at("2026-03-31T00:20:00Z");
  Node unknown = node("prod", "c", "2026-03-01");
  unknown.instance_type = "mystery";
  const PricedLines lines =
      estimated_charges(std::vector{unknown, elsewhere, typed}, node_card(), month(), kEstimate);
  std::vector<std::string> shown;
  for (const Charge& line : lines.charges) {
    shown.push_back(line.resource_id + " " + to_text(line.charge_period) + " " +
                    to_text(*line.pricing_quantity) + " " + line.pricing_unit + " " +
                    to_text(line.costs.billed.amount()) + " " + to_text(line.costs.list.amount()));
  }
  EXPECT_THAT(
      shown,
      ElementsAre("a 2026-03-30T12:00:00Z/2026-03-31T00:00:00Z 12 Hours 660.48 1179.84",
                  "a 2026-03-31T00:00:00Z/2026-04-01T00:00:00Z 24 Hours 1320.96 2359.68",
                  "b 2026-03-30T12:00:00Z/2026-03-31T00:00:00Z 96 GPU-Hours 240 240",
                  "b 2026-03-31T00:00:00Z/2026-03-31T00:20:00Z 2.666666666666666667 GPU-Hours "
                  "6.666666666666666667 6.666666666666666667"));
  EXPECT_EQ(lines.charges.front().other_columns, R"({"x_Estimated":"true"})");
  EXPECT_EQ(lines.charges.front().billing_account_id, "estimates");
  ASSERT_EQ(lines.notes.size(), 1u);
  EXPECT_THAT(lines.notes.front(), HasSubstr("node c of cluster prod: no price in card.csv for"));
}

TEST(Estimates, NodesWithoutAPriceAreReportedOncePerReason) {
  std::vector<Node> nodes;
  for (const char* name : {"c1", "c2", "c3"}) {
    Node one = node("prod", name, "2026-03-30");
    one.gpu_model = "a model without a price";
    nodes.push_back(one);
  }
  Node other = node("lab", "d", "2026-03-30");
  other.gpu_model = "a model without a price";
  nodes.push_back(other);
  const PricedLines lines = estimated_charges(nodes, node_card(), month(), kEstimate);
  ASSERT_EQ(lines.notes.size(), 2u);
  EXPECT_THAT(lines.notes[0], HasSubstr("node d of cluster lab: no instance type"));
  EXPECT_THAT(lines.notes[1], HasSubstr("3 nodes, such as c1, of cluster prod: no instance type"));
}

TEST(Estimates, ALaterFactEndsTheEarlier) {
  Node before = node("prod", "a", "2026-03-30");
  before.instance_type = "p5.48xlarge";
  before.region = "us-east-1";
  Node after = before;
  after.from = at("2026-03-31T06:00:00Z");
  const PricedLines lines =
      estimated_charges(std::vector{before, after}, node_card(), month(), kEstimate);
  Decimal hours;
  for (const Charge& line : lines.charges) {
    hours = Decimal::from_ticks(hours.ticks() + line.pricing_quantity->ticks());
  }
  EXPECT_EQ(to_text(hours), "48");
}

TEST(Estimates, WhenNoneIsLeft) {
  const Charge none = no_estimates_left(month(), kEstimate, kEur);
  EXPECT_TRUE(none.costs == Costs::zero(kEur));
  EXPECT_EQ(none.billing_account_id, "estimates");
  EXPECT_EQ(none.resource_id, "");
}

TEST(Columns, NamesAndTexts) {
  EXPECT_EQ(custom_name("podId"), "x_PodId");
  EXPECT_EQ(custom_name("usage_type"), "x_UsageType");
  EXPECT_EQ(custom_name("x_Own"), "x_Own");
  EXPECT_EQ(to_json({}), "");
  EXPECT_EQ(to_json({{"b", "\"1\""}, {"a", ""}, {"A", "2"}}), R"({"A":"2","b":"\"1\""})");
}

}  // namespace
}  // namespace pennyweight::rated
