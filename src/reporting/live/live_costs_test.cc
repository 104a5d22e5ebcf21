// live_costs(): the shares of a window add up to the price of its nodes, to the last digit.
#include "reporting/live/live_costs.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "config/config.h"
#include "core/card_share.h"
#include "core/try.h"

namespace pennyweight {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const Instant kNow = *parse_instant("2026-09-04T08:05:00Z");
const Interval kWindow(kNow - minutes(5), kNow);

Node machine(const std::string& name, std::uint32_t gpus, const std::string& model = "A100") {
  return {.cluster = ClusterId("lab"),
          .name = NodeId(name),
          .provider_id = {},
          .instance_type = {},
          .region = {},
          .pool = PoolId(""),
          .gpu_model = model,
          .gpu_count = gpus,
          .cpu_milli = {},
          .memory_bytes = {},
          .from = kNow - minutes(60),
          .to = {},
          .id = {},
          .source = {}};
}

Holding held(const std::string& name, const std::string& node, std::uint32_t gpus, Instant begin,
             Instant end = kNow) {
  Holding holding(ClusterId("lab"), WorkloadId(name), Interval(begin, end),
                  OnNodes{{{NodeId(node), gpus}}});
  holding.ended = end < kNow;
  EXPECT_TRUE(holding.labels.set("team", "nlp"));
  return holding;
}

struct World {
  std::vector<Node> nodes;
  std::vector<Holding> holdings;
  std::string card = "gpu_model,unit,price,currency\nA100,GPU-Hours,2.5,EUR\n";
  std::vector<Gpu> gpus = {};
  UtilizationSource utilization = {};

  Result<LiveCosts> costs() const {
    RateCard prices;
    if (!card.empty()) {
      auto parsed = TRY(RateCard::parse(card, "card.csv"));
      prices = parsed;
    }
    const Config config = default_config();
    return live_costs({.cluster = ClusterId("lab"),
                       .window = kWindow,
                       .nodes = nodes,
                       .gpus = gpus,
                       .holdings = holdings,
                       .policy = config.policy,
                       .catalog = Catalog::built_in(),
                       .card = prices,
                       .organisation = "Own",
                       .utilization = utilization,
                       .by_place = true});
  }
};

const LiveShare* of(const LiveCosts& costs, const std::string& workload) {
  for (const LiveShare& share : costs.shares) {
    if (share.workload.text() == workload) return &share;
  }
  return nullptr;
}

Money sum_of(const LiveCosts& costs) {
  Money sum = Money::zero(kEur);
  for (const LiveShare& share : costs.shares) {
    if (share.cost) sum += *share.cost;
  }
  return sum;
}

TEST(LiveCosts, SharesAreWhatTheNodesCostWhateverHoldsThem) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    const auto pick = [&](std::uint64_t from, std::uint64_t to) {
      return from + random() % (to - from + 1);
    };
    World world;
    std::uint64_t gpus = 0;
    for (std::uint64_t n = 0, count = pick(1, 4); n < count; ++n) {
      const std::uint64_t cards = pick(1, 8);
      gpus += cards;
      world.nodes.push_back(machine(fmt::format("n{}", n), static_cast<std::uint32_t>(cards)));
    }
    for (std::uint64_t k = 0, count = pick(0, 9); k < count; ++k) {
      const Node& node = world.nodes[pick(0, world.nodes.size() - 1)];
      const Instant begin = kNow - milliseconds(pick(1, 400'000));
      const Instant end =
          begin + milliseconds(pick(1, static_cast<std::uint64_t>((kNow - begin).count())));
      world.holdings.push_back(held(fmt::format("w{}", k % 6), node.name.text(),
                                    static_cast<std::uint32_t>(pick(1, node.gpu_count)), begin,
                                    end));
      world.holdings.back().attempt = fmt::format("{}", k);
    }
    const auto costs = world.costs();
    ASSERT_TRUE(costs) << costs.error().message;
    // 5 minutes at 2.5 an hour: 5/24 of a euro for each GPU; each node's charge is rounded once.
    Money expected = Money::zero(kEur);
    for (const Node& node : world.nodes) {
      const Int128 numerator = Int128{Money::kTicksPerUnit} * 5 * node.gpu_count;
      const Int128 ticks = numerator / 24, rest = numerator % 24;
      expected += Money::from_ticks(ticks + (rest * 2 > 24 ? 1 : 0), kEur);
    }
    EXPECT_EQ(sum_of(*costs), expected);
    EXPECT_EQ(costs->gpus, gpus);
    EXPECT_EQ(costs->price_per_hour,
              Money::from_ticks(Int128{Money::kTicksPerUnit} * 25 * static_cast<Int128>(gpus) / 10,
                                kEur));
    // The places of each node are its price; each of their parts is rounded once, to 10^-9.
    std::map<NodeId, Int128> placed;
    for (const auto& [place, cost] : costs->places) {
      placed[place.first] += (cost.held + cost.unallocated).ticks();
    }
    for (const auto& [node, price] : costs->node_prices) {
      const Int128 off = placed[node] - price.ticks();
      EXPECT_LE(off < 0 ? -off : off, Int128{2'000'000'000}) << node.text();
    }
  }
}

TEST(LiveCosts, WhoHoldsWhatSinceWhenAndWhetherItStillRuns) {
  World world{.nodes = {machine("n1", 4)},
              .holdings = {held("runs", "n1", 2, kNow - minutes(20)),
                           held("over", "n1", 1, kNow - minutes(20), kNow - minutes(2))}};
  const auto costs = world.costs();
  ASSERT_TRUE(costs) << costs.error().message;
  const LiveShare* runs = of(*costs, "runs");
  ASSERT_NE(runs, nullptr);
  EXPECT_TRUE(runs->running);
  EXPECT_EQ(runs->since, kNow - minutes(20));
  EXPECT_THAT(runs->nodes, ElementsAre(NodeId("n1")));
  EXPECT_EQ(runs->device, "gpu");
  EXPECT_EQ(runs->dimensions.find("team"), "nlp");
  EXPECT_EQ(per_hour(*runs->cost, kWindow), Money::from_units(5, kEur));
  ASSERT_NE(of(*costs, "over"), nullptr);
  EXPECT_FALSE(of(*costs, "over")->running);
  ASSERT_NE(of(*costs, ""), nullptr);
}

TEST(LiveCosts, ANodeWithoutAPriceIsDividedAndCostsNothing) {
  World world{
      .nodes = {machine("n1", 4), machine("n2", 8, "Unheard Of")},
      .holdings = {held("a", "n1", 4, kNow - minutes(20)), held("b", "n2", 8, kNow - minutes(20))}};
  const auto costs = world.costs();
  ASSERT_TRUE(costs) << costs.error().message;
  EXPECT_EQ(costs->nodes_unpriced, 1u);
  EXPECT_EQ(costs->price_per_hour, Money::from_units(10, kEur));
  EXPECT_TRUE(of(*costs, "a")->cost);
  EXPECT_FALSE(of(*costs, "b")->cost);
  EXPECT_FALSE(of(*costs, "b")->idle_cost);
  EXPECT_TRUE(of(*costs, "b")->running);
  ASSERT_FALSE(costs->notes.empty());
  EXPECT_THAT(costs->notes[0], HasSubstr("node n2 has no price: no price in card.csv for "
                                         "gpu_model=Unheard Of, unit=GPU-Hours"));
}

// One GPU that workload "a" holds. A quarter of it is used for the last four minutes; of the first
// one nothing is known.
World world_with_telemetry(const std::string& model) {
  World world{.nodes = {machine("n1", 1, model)},
              .holdings = {held("a", "n1", 1, kNow - minutes(20))}};
  world.gpus = {{.cluster = ClusterId("lab"),
                 .node = NodeId("n1"),
                 .uuid = GpuId("GPU-1"),
                 .index = 0,
                 .model = model,
                 .memory_bytes = {},
                 .mig_instances = {},
                 .from = kNow - minutes(60),
                 .to = {},
                 .id = {},
                 .source = {}}};
  world.utilization = [](const Interval& during) -> Result<ObservedUtilization> {
    const auto at = [&](milliseconds before) {
      return static_cast<std::uint32_t>((kNow - before - during.begin()).count());
    };
    ObservedUtilization seen{
        .during = during,
        .series = {},
        .placed = {{WorkloadId("a"), GpuId("GPU-1"), kNow - minutes(4), kNow - minutes(1)}}};
    seen.series.push_back(
        {GpuId("GPU-1"),
         WorkloadId(""),
         {{at(minutes(4)), at(milliseconds(0)), CardShare::kUnitsPerCard / 4, 0}}});
    return seen;
  };
  return world;
}

TEST(LiveCosts, HowMuchIsUsedIsKnownWithoutAPrice) {
  const auto costs = world_with_telemetry("Unheard Of").costs();
  ASSERT_TRUE(costs) << costs.error().message;
  EXPECT_THAT(costs->places, IsEmpty());
  const LiveShare* share = of(*costs, "a");
  ASSERT_NE(share, nullptr);
  EXPECT_FALSE(share->cost);
  EXPECT_EQ(share->observed_time.count() * 5, share->gpu_time.count() * 4);
  EXPECT_EQ(share->idle_time.count() * 4, share->observed_time.count() * 3);
}

TEST(LiveCosts, AGpuCostsWhatItsHolderPaysForIt) {
  const auto costs = world_with_telemetry("A100").costs();
  ASSERT_TRUE(costs) << costs.error().message;
  PlaceCost whole = {Money::zero(kEur), Money::zero(kEur), Money::zero(kEur)};
  for (const auto& [place, cost] : costs->places) {
    EXPECT_EQ(place.first, NodeId("n1"));
    EXPECT_EQ(place.second, GpuId("GPU-1"));
    whole.held += cost.held;
    whole.held_idle += cost.held_idle;
    whole.unallocated += cost.unallocated;
  }
  const LiveShare* share = of(*costs, "a");
  ASSERT_NE(share, nullptr);
  EXPECT_EQ(to_text(whole.held.amount()), "2.5");
  EXPECT_EQ(whole.held, per_hour(*share->cost, kWindow));
  EXPECT_EQ(whole.held_idle, per_hour(*share->idle_cost, kWindow));
  EXPECT_GT(whole.held_idle.ticks(), 0);
  EXPECT_TRUE(whole.unallocated.is_zero());
}

TEST(LiveCosts, WithoutACardTheNoteSaysWhichKeyToSet) {
  World world{.nodes = {machine("n1", 4)}, .holdings = {}, .card = ""};
  const auto costs = world.costs();
  ASSERT_TRUE(costs) << costs.error().message;
  ASSERT_FALSE(costs->notes.empty());
  EXPECT_EQ(costs->notes[0],
            "node n1 has no price: let prices.rate_card name a file with a row for gpu_model A100, "
            "unit GPU-Hours");
  EXPECT_FALSE(costs->price_per_hour);
}

Node cloud_node(const std::string& name, const std::string& type, const std::string& region) {
  Node node = machine(name, 8, "H100-SXM5-80GB");
  node.instance_type = type;
  node.region = region;
  return node;
}

struct CloudNode {
  const char* type;
  const char* region;
  const char* list_price;  // an hour, in data/prices/rates.csv
};
constexpr CloudNode kCloudNodes[] = {
    {"p5.48xlarge", "us-east-1", "55.04"},
    {"Standard_ND96isr_H100_v5", "eastus", "98.32"},
    {"a2-highgpu-8g", "us-central1", "29.38708"},
};

TEST(LiveCosts, ANodeOfEachCloudCostsItsListPrice) {
  const Catalog& catalog = Catalog::built_in();
  for (const auto& [type, region, list_price] : kCloudNodes) {
    SCOPED_TRACE(type);
    const auto rate = list_rate(cloud_node("n1", type, region), catalog, kNow);
    ASSERT_TRUE(rate) << rate.error().message;
    EXPECT_EQ(to_text(rate->per_hour), list_price);
    World world{.nodes = {cloud_node("n1", type, region)},
                .holdings = {held("job", "n1", 8, kNow - minutes(20))},
                .card = ""};
    const auto costs = world.costs();
    ASSERT_TRUE(costs) << costs.error().message;
    EXPECT_EQ(costs->nodes_unpriced, 0u);
    EXPECT_THAT(costs->notes, IsEmpty());
    const Money price = Money::from_decimal(rate->per_hour, rate->currency);
    EXPECT_EQ(costs->price_per_hour, price);
    EXPECT_EQ(costs->node_prices.at(NodeId("n1")), price);
    EXPECT_TRUE(of(*costs, "job")->cost);
  }
}

TEST(ListPriceCard, HasTheTypesOfTheNodesThatHaveAPrice) {
  const Node nodes[] = {cloud_node("n1", "p5.48xlarge", "us-east-1"),
                        cloud_node("n2", "P5.48xlarge", "us-east-1"),
                        cloud_node("n3", "a2-highgpu-8g", "us-central1"),
                        cloud_node("n4", "unheard.of", "us-east-1"), machine("n5", 4)};
  const RateCard card = list_price_card(nodes, Catalog::built_in(), kNow);
  ASSERT_EQ(card.rates().size(), 2u);
  const CardRate& first = card.rates().front();
  EXPECT_EQ(first.match[static_cast<std::size_t>(CardField::kInstanceType)], "p5.48xlarge");
  EXPECT_EQ(first.match[static_cast<std::size_t>(CardField::kRegion)], "us-east-1");
  EXPECT_EQ(first.unit, "Hours");
  EXPECT_EQ(to_text(first.price), "55.04");
  EXPECT_EQ(first.list_price, first.price);
  EXPECT_EQ(first.currency, kUsd);
}

TEST(LiveCosts, NoNodesNoShares) {
  const auto costs = World{}.costs();
  ASSERT_TRUE(costs);
  EXPECT_THAT(costs->shares, IsEmpty());
}

// Pods of a StatefulSet follow one another under one name, with a pause: two GPUs, not 1.6 or 2.4.
TEST(LiveCosts, PodsOfOneNameHoldTheirGpusForAsLongAsTheyRan) {
  World world{.nodes = {machine("n1", 4)},
              .holdings = {held("set-0", "n1", 2, kNow - minutes(20), kNow - minutes(3)),
                           held("set-0", "n1", 2, kNow - minutes(2))}};
  world.holdings[0].attempt = "first";
  world.holdings[1].attempt = "second";
  const auto costs = world.costs();
  ASSERT_TRUE(costs) << costs.error().message;
  const LiveShare* set = of(*costs, "set-0");
  ASSERT_NE(set, nullptr);
  EXPECT_TRUE(set->running);
  EXPECT_EQ(set->held_ms, 240'000u);
  EXPECT_EQ(set->gpu_time, GpuTime::of(UInt128{CardShare::kUnitsPerCard} * 2 * 240'000));
  EXPECT_EQ(set->since, kNow - minutes(20));
}

TEST(LiveCosts, AnHourOfASecondIsNotBlownUp) {
  // 2.2 an hour, over 37,123 ms, as a division at 10^-18 leaves it.
  const Interval during(kNow - milliseconds(37'123), kNow);
  const Int128 ticks = Int128{Money::kTicksPerUnit} * 22 * 37'123 / 36'000'000;
  EXPECT_EQ(per_hour(Money::from_ticks(ticks, kEur), during),
            Money::from_ticks(Int128{Money::kTicksPerUnit} * 22 / 10, kEur));
  EXPECT_EQ(per_hour(Money::from_ticks(-ticks, kEur), during),
            Money::from_ticks(-Int128{Money::kTicksPerUnit} * 22 / 10, kEur));
}

}  // namespace
}  // namespace pennyweight
