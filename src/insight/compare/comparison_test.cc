// compare(): what it promises on small months that can be checked by hand.
#include "insight/compare/comparison.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <random>

#include "insight/compare/peer_costs.h"
#include "insight/compare/policy_steps.h"

namespace pennyweight {
namespace {

constexpr std::uint64_t kGib = std::uint64_t{1} << 30;

Money usd(std::string_view text) { return Money::from_decimal(*parse_exact_decimal(text), kUsd); }

Interval hours(int from, int to) {
  const Instant day = *parse_instant("2026-03-02");
  return {day + std::chrono::hours(from), day + std::chrono::hours(to)};
}

// A month of one cluster, made line by line.
struct World {
  std::vector<Node> nodes;
  std::vector<Gpu> gpus;
  std::vector<Holding> holdings;
  std::vector<Charge> charges;

  Node& node(const std::string& name, std::uint32_t gpu_count) {
    nodes.push_back({.cluster = ClusterId("c"),
                     .name = NodeId(name),
                     .provider_id = name,
                     .instance_type = {},
                     .region = {},
                     .pool = PoolId("p"),
                     .gpu_model = gpu_count > 0 ? "A100-SXM4-40GB" : "",
                     .gpu_count = gpu_count,
                     .shard_count = 0,
                     .mps_count = 0,
                     .sharing = GpuSharing::kNone,
                     .gpu_replicas = 0,
                     .replicas_renamed = false,
                     .cpu_milli = 14'000,
                     .memory_bytes = 70 * kGib,
                     .from = *parse_instant("2026-01-01"),
                     .to = {},
                     .id = {},
                     .source = {}});
    return nodes.back();
  }

  Charge& charge(const std::string& resource, std::string_view amount, Interval during) {
    const BillingPeriod month = BillingPeriod::parse("2026-03", TimeZone::utc()).value();
    const Money cost = usd(amount);
    Charge& charge =
        charges.emplace_back(month.to_interval(), during, Costs{cost, cost, cost, cost});
    charge.resource_id = resource;
    charge.list_unit_price = Decimal::from_units(4);
    charge.pricing_unit = "Hours";
    charge.id = {hash_of(fmt::format("charge {}", charges.size()))};
    return charge;
  }

  // `part` tenths of the node's CPU and memory go with it.
  Holding& hold(const std::string& team, const std::string& node, Device device,
                std::uint32_t devices, Interval during, std::uint64_t tenths = 10) {
    Holding& holding = holdings.emplace_back(
        ClusterId("c"), WorkloadId(fmt::format("{}/{}", team, holdings.size())), during,
        OnNodes{{{NodeId(node), devices}}});
    holding.device = device;
    holding.cpu_milli = 1'400 * tenths;
    holding.memory_bytes = 7 * kGib * tenths;
    EXPECT_TRUE(holding.labels.set("team", team));
    holding.id = {hash_of(fmt::format("holding {}", holdings.size()))};
    return holding;
  }

  ComparedCluster cluster() const {
    return {{.cluster = ClusterId("c"),
             .charges = charges,
             .nodes = nodes,
             .gpus = gpus,
             .holdings = holdings,
             .catalog = Catalog::built_in()},
            {},
            {},
            {}};
  }
};

Policy team_policy() {
  Policy policy;
  policy.basis.kind = Basis::Kind::kRequest;
  policy.dimensions = {{"team", {"team"}, "(unowned)"}};
  return policy;
}

Comparison compared(const World& world, std::vector<Method> methods,
                    std::vector<std::string> by = {"team"}) {
  const std::vector<ComparedCluster> clusters = {world.cluster()};
  const auto comparisons = compare({.month = "2026-03",
                                    .clusters = clusters,
                                    .methods = std::move(methods),
                                    .owners = team_policy(),
                                    .by = std::move(by)});
  EXPECT_TRUE(comparisons) << comparisons.error().message;
  EXPECT_EQ(comparisons->size(), 1);
  return comparisons->front();
}

const ComparedRow& row_of(const Comparison& comparison, const std::vector<std::string>& keys) {
  for (const ComparedRow& row : comparison.rows) {
    if (row.keys == keys) return row;
  }
  ADD_FAILURE() << "no row " << fmt::format("{}", fmt::join(keys, ","));
  return comparison.total;
}

Money reason(const Comparison& comparison, const ComparedRow& row, std::string_view name) {
  for (std::size_t i = 0; i < comparison.reasons.size(); ++i) {
    if (comparison.reasons[i] == name) return row.reasons[i];
  }
  return usd("0");
}

// One card at 4.00 $ an hour for a day, on a node of 14 vCPU and 70 GiB.
World one_card(const std::string& name) {
  World world;
  world.node(name, 1);
  world.charge(name, "96", hours(0, 24));
  return world;
}

TEST(Compare, APolicyWithItselfDiffersInNothing) {
  World world = one_card("n");
  world.hold("red", "n", WholeGpu{}, 1, hours(0, 12));
  const Comparison same = compared(world, {{"a", team_policy()}, {"b", team_policy()}});
  EXPECT_TRUE(same.reasons.empty());
  EXPECT_EQ(same.total.costs, (std::vector{usd("96"), usd("96")}));
  EXPECT_EQ(same.billed, usd("96"));
  EXPECT_EQ(row_of(same, {"red"}).costs[0], usd("48"));
}

// 1g.10gb of an A100-40GB: 1/7 of its compute, 2/8 of its memory. A change of weights and of the
// node split: two reasons, which add up.
TEST(Compare, TwoPoliciesRuleByRule) {
  World world = one_card("n");
  world.hold("red", "n", MigSlice{"1g.10gb"}, 1, hours(0, 24), 1);
  world.hold("blue", "n", MigSlice{"3g.20gb"}, 1, hours(0, 24), 3);
  Policy to = team_policy();
  to.weights = {.compute = 1000, .memory = 0};
  to.node_split = NodeSplit::kWholeNode;
  Policy from = team_policy();
  const Comparison change = compared(world, {{"a", from}, {"b", to}});
  EXPECT_EQ(change.reasons, (std::vector<std::string>{"weights", "node split"}));
  const ComparedRow& red = row_of(change, {"red"});
  EXPECT_EQ(red.costs[1], usd("13.714285714285714286"));  // 96/7
  EXPECT_EQ(red.reasons[0] + red.reasons[1], red.difference());
  EXPECT_EQ(change.total.costs, (std::vector{usd("96"), usd("96")}));
  EXPECT_EQ(change.total.difference(), usd("0"));

  // The GPU's part of the node is 3.260856 of 4: by weights alone red goes from 11/56 to 8/56.
  from.node_split = NodeSplit::kWholeNode;
  const Comparison weights = compared(world, {{"a", from}, {"b", to}});
  EXPECT_EQ(weights.reasons, std::vector<std::string>{"weights"});
  EXPECT_EQ(row_of(weights, {"red"}).costs[0], usd("18.857142857142857143"));  // 96 · 11/56
}

// Everything of the peers on one card in four ways, beside what it costs.
TEST(Compare, FourWays) {
  struct SharingWay {
    const char* name;
    Device device;
    std::uint32_t devices;
    std::uint32_t replicas;
    bool renamed;
    bool opencost_is_bill, koku_is_bill;  // what holders are charged is the price of the card
  };
  const SharingWay ways[] = {{"whole", WholeGpu{}, 1, 0, false, true, true},
                             {"mig", MigSlice{"7g.40gb"}, 1, 0, false, false, true},
                             {"renamed", Replica{}, 4, 4, true, false, false},
                             {"replicas", Replica{}, 4, 4, false, false, false}};
  for (const SharingWay& way : ways) {
    World world = one_card(way.name);
    world.nodes[0].gpu_replicas = way.replicas;
    world.nodes[0].replicas_renamed = way.renamed;
    if (way.replicas > 0) world.nodes[0].sharing = GpuSharing::kTimeSlicing;
    world.hold("red", way.name, way.device, way.devices, hours(0, 12));
    world.hold("blue", way.name, way.device, way.devices, hours(12, 24));
    const Comparison side = compared(world, {{"current", team_policy()},
                                             {"opencost", Preset::kOpenCost},
                                             {"koku", Preset::kKoku},
                                             {"aws_scad", Preset::kAwsScad}});
    for (const char* team : {"red", "blue"}) {
      const ComparedRow& row = row_of(side, {team});
      EXPECT_EQ(row.costs[0], usd("48")) << way.name;
      EXPECT_EQ(row.costs[1] == usd("48"), way.opencost_is_bill) << way.name;
      EXPECT_EQ(row.costs[2] == usd("48"), way.koku_is_bill) << way.name;
    }
    EXPECT_EQ(side.total.costs[0], usd("96")) << way.name;
    EXPECT_EQ(side.total.costs[1], usd("96")) << "with its idle, which may be negative";
    EXPECT_EQ(side.total.costs[3], usd("96")) << "with what is not documented";
  }
}

TEST(Compare, APresetsReasonsAreItsWaysOfHolding) {
  World world = one_card("n");
  world.node("m", 1);
  world.charge("m", "96", hours(0, 24));
  world.charge("support", "10", hours(0, 24));
  world.hold("red", "n", MigSlice{"7g.40gb"}, 1, hours(0, 24));
  world.hold("blue", "m", WholeGpu{}, 1, hours(0, 12));
  const Comparison side =
      compared(world, {{"current", team_policy()}, {"opencost", Preset::kOpenCost}});
  const ComparedRow& red = row_of(side, {"red"});
  EXPECT_EQ(red.costs[0], usd("96"));
  // 14 · 0.031611 and 70 · 0.004237 of 1.689144 stay, the card's 0.95 go.
  EXPECT_EQ(reason(side, red, "MIG at 0"), red.difference());
  EXPECT_TRUE(red.difference().is_negative());
  // A team that holds a whole card pays alike, but for the split of the node.
  EXPECT_EQ(row_of(side, {"blue"}).difference(), usd("0"));
  EXPECT_EQ(reason(side, side.total, "bill lines left out"), usd("-10"));
  EXPECT_EQ(side.billed, usd("202"));
  EXPECT_EQ(side.total.costs, (std::vector{usd("202"), usd("192")}));

  // The other way round everything turns.
  const Comparison back =
      compared(world, {{"opencost", Preset::kOpenCost}, {"current", team_policy()}});
  EXPECT_EQ(row_of(back, {"red"}).difference(), -red.difference());
  EXPECT_EQ(reason(back, row_of(back, {"red"}), "MIG at 0"), -red.difference());
}

// A card that its holder uses by half: what `usage` takes off is the reason `basis`. The telemetry
// is asked for anew under each policy's own rules.
TEST(Compare, ByUseOfWhatWasSeen) {
  World world = one_card("n");
  world.gpus.push_back({.cluster = ClusterId("c"),
                        .node = NodeId("n"),
                        .uuid = GpuId("GPU-1"),
                        .index = 0,
                        .model = "A100-SXM4-40GB",
                        .memory_bytes = {},
                        .mig_instances = {},
                        .from = *parse_instant("2026-01-01"),
                        .to = {},
                        .id = {},
                        .source = {}});
  world.hold("red", "n", WholeGpu{}, 1, hours(0, 24)).placement = OnGpus{{GpuId("GPU-1")}};
  ComparedCluster cluster = world.cluster();
  cluster.utilization = [](const UsageRules&) -> UtilizationSource {
    return [](const Interval& during) -> Result<ObservedUtilization> {
      const std::uint32_t half = CardShare::kUnitsPerCard / 2;
      const auto end = static_cast<std::uint32_t>(during.length_ms());
      return ObservedUtilization{
          during, {{GpuId("GPU-1"), WorkloadId(""), {{0, end, half, half}}}}, 1, 0, 0, 0, {}};
    };
  };
  Policy from = team_policy();
  from.node_split = NodeSplit::kWholeNode;
  Policy to = from;
  to.basis.kind = Basis::Kind::kUsage;
  const std::vector<ComparedCluster> clusters = {cluster};
  const auto sides = compare({.month = "2026-03",
                              .clusters = clusters,
                              .methods = {{"request", from}, {"usage", to}},
                              .owners = from,
                              .by = {"team"}});
  ASSERT_TRUE(sides) << sides.error().message;
  EXPECT_EQ(sides->front().reasons, std::vector<std::string>{"basis"});
  EXPECT_EQ(row_of(sides->front(), {"red"}).costs, (std::vector{usd("96"), usd("48")}));
}

TEST(Compare, HoldersInAPoolPayItsMeanPrice) {
  World world;
  world.node("a", 1);
  world.node("b", 1);
  world.charge("a", "96", hours(0, 24));
  world.charge("b", "48", hours(0, 24));
  Holding& holding = world.hold("red", "a", WholeGpu{}, 1, hours(0, 24));
  holding.placement = InPool{{PoolId("p")}, 1};
  for (const Preset preset : {Preset::kOpenCost, Preset::kKoku}) {
    const PeerCosts costs = peer_costs(preset, world.cluster().facts, &Costs::effective);
    Money held = usd("0");
    for (const CostPart& part : costs.parts) {
      if (!part.workload.empty()) held += part.cost;
    }
    // To the tick that each of its amounts is rounded by.
    const Int128 ticks_off = (usd("72") - held).ticks();
    EXPECT_TRUE(-3 < ticks_off && ticks_off < 3) << to_text(preset);
  }
}

TEST(PolicySteps, AreInAFixedOrderAndEndAtTheOther) {
  Policy to = team_policy();
  to.spread.push_back({.kind = PostingKind::kUnallocated,
                       .service_category = {},
                       .service_name = {},
                       .charge_category = {},
                       .how = Spread::kProportional,
                       .dimension = {},
                       .named = {},
                       .parts = {}});
  to.basis.kind = Basis::Kind::kMax;
  to.node_split = NodeSplit::kWholeNode;
  const std::vector<PolicyStep> steps = policy_steps(team_policy(), to);
  ASSERT_EQ(steps.size(), 3);
  EXPECT_EQ(steps[0].reason, "basis");
  EXPECT_EQ(steps[1].reason, "node split");
  EXPECT_EQ(steps[2].reason, "spread");
  EXPECT_EQ(steps.back().policy.text(), to.text());
  EXPECT_TRUE(policy_steps(to, to).empty());
}

// Whatever is compared: a policy's costs are the bill, reasons add up in every row (which compare()
// checks itself), and OpenCost and AWS give out what they cover of the bill, no more and no less.
RC_GTEST_PROP(Compare, AddsUp, ()) {
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  std::mt19937_64 random(seed);
  const auto below = [&](std::uint64_t bound) { return static_cast<int>(random() % bound); };
  World world;
  for (int n = 0; n < 3; ++n) {
    const std::string name = fmt::format("n{}", n);
    Node& node = world.node(name, static_cast<std::uint32_t>(below(3)));
    node.gpu_replicas = below(2) == 0 ? 4 : 0;
    node.replicas_renamed = below(2) == 0;
    const int begin = below(20);
    world.charge(name, fmt::format("{}.{:02}", below(90), below(100)),
                 hours(begin, begin + 1 + below(30)));
    if (below(2) == 0) world.charge(name, fmt::format("-{}.5", below(9)), hours(0, 24));
  }
  world.charge("support", "7.77", hours(0, 24));
  const Device devices[] = {WholeGpu{}, MigSlice{"1g.5gb"}, MigSlice{"3g.20gb"}, Replica{},
                            VirtualGpu{50, {}, {}}};
  for (int h = 0; h < below(8); ++h) {
    const int begin = below(30);
    Holding& holding =
        world.hold(fmt::format("t{}", below(3)), fmt::format("n{}", below(3)), devices[below(5)],
                   static_cast<std::uint32_t>(below(3)), hours(begin, begin + 1 + below(20)),
                   static_cast<std::uint64_t>(below(10)));
    if (below(4) == 0) holding.placement = InPool{{}, 1};
  }
  Policy other = team_policy();
  other.weights = {.compute = 800, .memory = 200};
  other.node_split = NodeSplit::kWholeNode;
  Money covered = usd("0");
  for (const Charge& charge : world.charges) {
    if (charge.resource_id != "support") covered += charge.costs.effective;
  }
  RC_ASSERT(compared(world, {{"a", team_policy()}, {"b", other}}).total.costs[1] ==
            covered + usd("7.77"));
  for (const Preset preset : kPresets) {
    const Comparison side = compared(world, {{"a", team_policy()}, {"b", preset}}, {"workload"});
    RC_ASSERT(side.total.costs[0] == side.billed);
    if (preset != Preset::kKoku) RC_ASSERT(side.total.costs[1] == covered);
  }
}

}  // namespace
}  // namespace pennyweight
