// allocate(): what it promises for any cluster, any bill and any number of threads.
//
// Each property makes a cluster from a seed: nodes that come and go, cards with and without MIG,
// jobs that name cards, nodes and pools, overlap and ask for too much; and a bill with hourly,
// daily and odd lines, refunds, credits, fees and lines for nothing. A failing seed prints itself.
#include "allocation/allocate.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <random>

#include "allocation/explain.h"
#include "allocation/posting_order.h"
#include "ledger/store_rules.h"

namespace pennyweight {
namespace {

constexpr std::int64_t kHourMs = 3'600'000;
const Instant kBegin = *parse_instant("2026-03-01");

// Everything that one allocation takes.
struct World {
  std::vector<Node> nodes;
  std::vector<Gpu> gpus;
  std::vector<Holding> holdings;
  std::vector<Charge> charges;
  std::vector<Outage> outages;
  std::vector<Usage> usages;
  Policy policy;

  UtilizationSource seen() const {
    if (usages.empty()) return {};
    return [this](const Interval& during) -> Result<ObservedUtilization> {
      return to_intervals(usages, gpus, policy.usage, during);
    };
  }

  Result<Allocation> allocate(unsigned threads = 1) const {
    return pennyweight::allocate({.cluster = ClusterId("c"),
                                  .charges = charges,
                                  .nodes = nodes,
                                  .gpus = gpus,
                                  .holdings = holdings,
                                  .outages = outages,
                                  .policy = policy,
                                  .catalog = Catalog::built_in(),
                                  .threads = threads,
                                  .utilization = seen()});
  }
};

class WorldMaker {
 public:
  explicit WorldMaker(std::uint64_t seed) : random_(seed) {}

  World make() {
    world_.policy.weights = {static_cast<std::uint32_t>(below(3) * 250 + 1),
                             static_cast<std::uint32_t>(below(3) * 250)};
    if (below(4) == 0) world_.policy.node_split = NodeSplit::kWholeNode;
    if (below(3) == 0) world_.policy.time_zone = TimeZone::parse("America/New_York").value();
    world_.policy.dimensions = {{"team", {"team"}, "(unowned)"}};
    add_rules();
    const std::uint64_t nodes = 1 + below(6);
    for (std::uint64_t n = 0; n < nodes; ++n) add_node(n);
    const std::uint64_t jobs = below(30);
    for (std::uint64_t j = 0; j < jobs; ++j) add_job(j);
    add_charges();
    if (below(2) == 0) add_usages();
    for (std::uint64_t i = below(3); i > 0; --i) add_outage();
    return std::move(world_);
  }

 private:
  std::uint64_t below(std::uint64_t bound) { return random_() % bound; }

  Interval any_interval(std::uint64_t hours) {
    const auto begin = static_cast<std::int64_t>(below(hours * 3'600'000));
    const auto length =
        1 + static_cast<std::int64_t>(below(below(2) == 0 ? 100'000'000 : 5'000'000));
    return {kBegin + std::chrono::milliseconds(begin),
            kBegin + std::chrono::milliseconds(begin + length)};
  }

  void add_rules() {
    Policy& policy = world_.policy;
    policy.basis = {.kind = static_cast<Basis::Kind>(below(4)),
                    .request_permille = static_cast<std::uint32_t>(below(1001))};
    policy.usage.interval_ms = 600'000;
    if (below(4) == 0) {
      policy.overhead.push_back({.key = "team", .op = LabelMatch::Op::kIn, .values = {"team-2"}});
    }
    if (below(4) == 0) {
      policy.sharing.push_back({.cluster = {},
                                .gpu_model = "A100-SXM4-80GB",
                                .workload = {},
                                .weights = ShareWeights{900, 100},
                                .basis = Basis{.kind = Basis::Kind::kRequest}});
    }
    if (below(6) == 0) {
      policy.sharing.push_back(
          {.cluster = {},
           .gpu_model = {},
           .workload = {{.key = "team", .op = LabelMatch::Op::kIn, .values = {"team-1"}}},
           .weights = ShareWeights{1, 4},
           .basis = {}});
    }
  }

  // Samples of every second card, of the device or of the jobs on it, with gaps.
  void add_usages() {
    for (const Gpu& gpu : world_.gpus) {
      if (below(2) == 0) continue;
      const bool of_jobs = below(3) == 0;
      for (std::int64_t at = 0; at < 40 * kHourMs; at += 600'000) {
        if (below(5) == 0) continue;
        Usage usage{.cluster = gpu.cluster,
                    .node = gpu.node,
                    .gpu = gpu.uuid,
                    .mig_instance = {},
                    .mig_profile = {},
                    .model = gpu.model,
                    .at = kBegin + std::chrono::milliseconds(at),
                    .gpu_util_ppm = {},
                    .engine_active_ppm = below(1'100'000),
                    .sm_active_ppm = {},
                    .memory_used_bytes = below(1000),
                    .memory_total_bytes = 1000,
                    .power_milliwatts = {},
                    .energy_millijoules = {},
                    .workload = WorkloadId(""),
                    .of_workload = of_jobs,
                    .id = {},
                    .source = {}};
        if (of_jobs) usage.workload = WorkloadId(fmt::format("job-{}", below(10)));
        if (!gpu.mig_instances.empty()) {
          usage.mig_instance = "1";
          usage.mig_profile = gpu.mig_instances[0].profile;
        }
        world_.usages.push_back(usage);
      }
    }
  }

  void add_outage() {
    const Node& node = world_.nodes[below(world_.nodes.size())];
    Outage outage(node.cluster, node.name, any_interval(40));
    if (below(2) == 0 && !world_.gpus.empty()) {
      const Gpu& gpu = world_.gpus[below(world_.gpus.size())];
      outage.node = gpu.node;
      outage.gpu = gpu.uuid;
    }
    world_.outages.push_back(outage);
  }

  void add_node(std::uint64_t n) {
    static const char* const kModels[] = {"A100-SXM4-40GB", "A100-SXM4-80GB", ""};
    Node node{.cluster = ClusterId("c"),
              .name = NodeId(fmt::format("n{}", n)),
              .provider_id = fmt::format("aws:///us-east-1a/i-{}", n),
              .instance_type = {},
              .region = {},
              .pool = PoolId(below(2) == 0 ? "a" : "b"),
              .gpu_model = kModels[below(3)],
              .cpu_milli = {},
              .memory_bytes = {},
              .from = kBegin,
              .to = {},
              .id = {},
              .source = {}};
    node.gpu_count = static_cast<std::uint32_t>(below(5));
    if (below(2) == 0) node.shard_count = node.gpu_count * 4;
    if (below(2) == 0) node.mps_count = node.gpu_count * 100;
    if (below(2) == 0) node.gpu_replicas = static_cast<std::uint32_t>(2 + below(9));
    if (below(8) == 0) node.instance_type = "g6f.xlarge";
    if (below(3) > 0) {
      node.cpu_milli = 1000 * (1 + below(96));
      node.memory_bytes = (1 + below(512)) << 30;
    }
    if (below(4) == 0) node.from += std::chrono::milliseconds(below(50'000'000));
    if (below(4) == 0) node.to = node.from + std::chrono::milliseconds(1 + below(90'000'000));
    for (std::uint32_t g = 0; g < node.gpu_count; ++g) {
      Gpu gpu{.cluster = node.cluster,
              .node = node.name,
              .uuid = GpuId(fmt::format("GPU-{}-{}", n, g)),
              .index = g,
              .model = node.gpu_model,
              .memory_bytes = {},
              .mig_instances = {},
              .from = kBegin,
              .to = {},
              .id = {},
              .source = {}};
      if (!node.gpu_model.empty() && below(3) == 0) {
        // The first layout fits on its card, the second on none, which must be borne.
        const bool fits = below(3) > 0;
        gpu.mig_instances = {
            {GpuId(fmt::format("MIG-{}-{}-1", n, g)), fits ? "3g.20gb" : "7g.40gb"},
            {GpuId(fmt::format("MIG-{}-{}-2", n, g)), "1g.10gb"}};
      }
      world_.gpus.push_back(gpu);
      if (below(6) == 0) {  // cut anew, or not any more
        gpu.from += std::chrono::milliseconds(below(100'000'000));
        gpu.mig_instances.clear();
        world_.gpus.push_back(gpu);
      }
    }
    world_.nodes.push_back(node);
  }

  Placement any_placement() {
    const Node& node = world_.nodes[below(world_.nodes.size())];
    switch (below(4)) {
      case 0: {
        OnGpus on;
        for (const Gpu& gpu : world_.gpus) {
          if (below(4) != 0) continue;
          on.gpus.push_back(gpu.mig_instances.empty() ? gpu.uuid : gpu.mig_instances[below(2)].id);
        }
        if (on.gpus.empty()) on.gpus.emplace_back("GPU-nowhere");
        return on;
      }
      case 1:
        return InPool{.pools = {PoolId(below(2) == 0 ? "a" : "b")},
                      .devices = static_cast<std::uint32_t>(below(6))};
      case 2:
        return InPool{.pools = {}, .devices = static_cast<std::uint32_t>(1 + below(4))};
      default:
        return OnNodes{{{node.name, static_cast<std::uint32_t>(below(5))}}};
    }
  }

  Device any_device() {
    switch (below(7)) {
      case 0:
        return CardFraction{CardShare::from_units(below(CardShare::kUnitsPerCard + 1)),
                            CardShare::from_units(below(CardShare::kUnitsPerCard + 1))};
      case 1:
        return MigSlice{below(2) == 0 ? "1g.10gb" : "3g.20gb"};
      case 2:
        return Shard{};
      case 3:
        return MpsUnit{};
      case 4:
        return Replica{};
      case 5:
        return VirtualGpu{.cores_percent = static_cast<std::uint32_t>(below(101)),
                          .memory_bytes = {},
                          .memory_percent = static_cast<std::uint32_t>(below(101))};
      default:
        return WholeGpu{};
    }
  }

  void add_job(std::uint64_t j) {
    Holding job(ClusterId("c"), WorkloadId(fmt::format("job-{}", j)), any_interval(40),
                any_placement());
    job.device = any_device();
    if (below(2) == 0) {
      job.cpu_milli = below(64'000);
      job.memory_bytes = below(std::uint64_t{1} << 38);
    }
    if (below(5) == 0) job.claim = fmt::format("claim-{}", below(2));
    if (below(5) == 0) {
      job.gpu_group = fmt::format("group-{}", below(2));
      job.is_reservation = below(2) == 0;
    }
    (void)job.labels.set("team", fmt::format("team-{}", below(3)));
    job.id = FactId{natural_key(job)};
    world_.holdings.push_back(job);
  }

  Money any_amount() {
    const auto size =
        static_cast<Int128>(random_() >> below(40)) * static_cast<Int128>(1 + below(1000));
    return Money::from_ticks(below(8) == 0 ? -size : size, kUsd);
  }

  void add_charge(const Interval& period, const std::string& resource) {
    Charge charge(period, period, {any_amount(), any_amount(), any_amount(), any_amount()});
    if (below(3) == 0) {  // many lines of one price, as bills have them
      const Money dollar = Money::from_units(1, kUsd);
      charge.costs = {dollar, dollar, dollar, dollar};
    }
    charge.resource_id = resource;
    if (below(2) == 0) {
      charge.list_unit_price = Decimal::from_ticks(static_cast<Int128>(random_() >> 2));
      charge.pricing_unit = "Hours";
    }
    charge.is_correction = below(10) == 0;
    if (below(12) == 0) charge.service_category = "Networking";
    if (below(12) == 0) charge.commitment_discount_status = UsedOrUnused::kUnused;
    if (resource.empty()) charge.pool = below(2) == 0 ? "a" : "";
    charge.id = numbered(content_hash(charge), world_.charges.size());
    world_.charges.push_back(charge);
  }

  void add_charges() {
    for (const Node& node : world_.nodes) {
      const std::string resource = below(2) == 0 ? node.name.text() : node.provider_id;
      const std::uint64_t lines = below(3) == 0 ? 24 : 2;
      const std::int64_t length = lines == 24 ? kHourMs : 24 * kHourMs;
      for (std::uint64_t i = 0; i < lines; ++i) {
        const auto begin =
            kBegin + std::chrono::milliseconds(static_cast<std::int64_t>(i) * length);
        add_charge({begin, begin + std::chrono::milliseconds(length)}, resource);
      }
      if (below(3) == 0) add_charge(any_interval(40), resource);
    }
    for (std::uint64_t i = below(4); i > 0; --i) add_charge(any_interval(40), "");
    add_charge({kBegin, kBegin + std::chrono::hours(24 * 31)}, "");
  }

  std::mt19937_64 random_;
  World world_;
};

World world_of(std::uint64_t seed) { return WorldMaker(seed).make(); }

// WORLD_SEED=699200718062 allocate_test --gtest_filter=… replays a seed that a failure printed.
std::uint64_t any_seed() {
  const std::uint64_t seed = *rc::gen::arbitrary<std::uint64_t>();
  const char* chosen = std::getenv("WORLD_SEED");
  return chosen == nullptr ? seed : std::strtoull(chosen, nullptr, 10);
}

RC_GTEST_PROP(Allocate, EveryLineIsPostedExactlyInAllFourCosts, ()) {
  const World world = world_of(any_seed());
  const auto allocation = world.allocate();
  RC_ASSERT(allocation.has_value());
  std::map<FactId, Costs> posted;
  for (const Posting& posting : allocation->postings) {
    const auto [sum, is_new] = posted.try_emplace(posting.charge, Costs::zero(kUsd));
    sum->second += posting.costs;
  }
  RC_ASSERT(posted.size() == world.charges.size());
  for (const Charge& charge : world.charges) RC_ASSERT(posted.at(charge.id) == charge.costs);
}

RC_GTEST_PROP(Allocate, PostingsLieWithinTheirLineAndDay, ()) {
  const World world = world_of(any_seed());
  const auto allocation = world.allocate();
  std::map<FactId, const Charge*> charges;
  for (const Charge& charge : world.charges) charges[charge.id] = &charge;
  std::map<FactId, const Holding*> holdings;
  for (const Holding& holding : world.holdings) holdings[holding.id] = &holding;
  for (const Posting& posting : allocation->postings) {
    const Interval& period = charges.at(posting.charge)->charge_period;
    RC_ASSERT(period.begin() <= posting.interval.begin());
    RC_ASSERT(posting.interval.end() <= period.end());
    RC_ASSERT(cut_by_day(posting.interval, world.policy.time_zone).size() == 1u);
    RC_ASSERT(local_date(posting.interval.begin(), world.policy.time_zone) ==
              to_text(Instant(posting.day)).substr(0, 10));
    RC_ASSERT(posting.workload.empty() == !posting.holding.has_value());
    if (!posting.holding) continue;
    const Interval& held = holdings.at(*posting.holding)->held;
    RC_ASSERT(held.begin() <= posting.interval.begin() && posting.interval.end() <= held.end());
  }
}

RC_GTEST_PROP(Allocate, ThreadsAndOrderChangeNothing, ()) {
  const std::uint64_t seed = any_seed();
  World world = world_of(seed);
  const auto first = world.allocate(1);
  std::mt19937_64 random(seed);
  for (const unsigned threads : {2u, 8u}) {
    std::shuffle(world.nodes.begin(), world.nodes.end(), random);
    std::shuffle(world.gpus.begin(), world.gpus.end(), random);
    std::shuffle(world.holdings.begin(), world.holdings.end(), random);
    std::shuffle(world.charges.begin(), world.charges.end(), random);
    const auto again = world.allocate(threads);
    RC_ASSERT(again->postings == first->postings);
    RC_ASSERT(again->dimensions == first->dimensions);
    RC_ASSERT(again->notes == first->notes);
  }
}

std::string text_of(const Explanation& explanation) {
  std::string text;
  for (const ExplanationStep& step : explanation.steps) {
    text += step.title + "\n";
    for (const auto& [name, value] : step.facts) text += fmt::format("  {}: {}\n", name, value);
  }
  return text;
}

RC_GTEST_PROP(Allocate, ExplainComputesEveryAmountAgain, ()) {
  const World world = world_of(any_seed());
  const auto allocation = world.allocate();
  std::map<FactId, std::vector<Posting>> by_charge;
  for (const Posting& posting : allocation->postings) by_charge[posting.charge].push_back(posting);
  // A store returns them in its own order.
  for (auto& [id, postings] : by_charge) {
    const auto divided = postings;
    std::ranges::sort(postings,
                      [](const Posting& a, const Posting& b) { return comes_before(a, b); });
    sort_in_run_order(postings, world.holdings);
    RC_ASSERT(postings == divided);
  }
  const Run run{.scope = {ClusterId("c"), "2026-03"},
                .policy = world.policy.text(),
                .policy_version = world.policy.version(),
                .catalog_version = {},
                .time_zone = "UTC",
                .program_version = "test",
                .at = {},
                .postings_digest = {}};
  for (const Charge& charge : world.charges) {
    const auto& postings = by_charge.at(charge.id);
    for (std::size_t i = 0; i < postings.size(); ++i) {
      const Holding* holding = nullptr;
      for (const Holding& h : world.holdings) {
        if (postings[i].holding == h.id) holding = &h;
      }
      const auto explanation = explain({.charge = charge,
                                        .postings = postings,
                                        .chosen = i,
                                        .holding = holding,
                                        .nodes = world.nodes,
                                        .run = run,
                                        .policy = world.policy,
                                        .catalog = Catalog::built_in(),
                                        .facts = ExplanationFacts{.gpus = world.gpus,
                                                                  .outages = world.outages,
                                                                  .holdings = world.holdings,
                                                                  .utilization = world.seen()}});
      if (!explanation.exact) RC_FAIL(text_of(explanation));
    }
  }
}

// A cluster with one price and a line for every node and hour: nothing is without a bill line.
World covered_world(std::uint64_t seed) {
  World world = world_of(seed);
  world.charges.clear();
  for (Node& node : world.nodes) {
    node.from = kBegin;
    node.to.reset();
    node.gpu_count = std::max(node.gpu_count, 1u);
    const Interval days(kBegin, kBegin + std::chrono::hours(24 * 4));
    for (const Interval& day : cut_by_day(days, world.policy.time_zone)) {
      const Money amount = Money::from_units(24, kUsd);
      Charge charge(day, day, {amount, amount, amount, amount});
      charge.resource_id = node.name.text();
      charge.id = FactId{content_hash(charge)};
      world.charges.push_back(charge);
    }
  }
  return world;
}

RC_GTEST_PROP(Allocate, GpuTimeIsToldOnceAndIsWhatWasAskedFor, ()) {
  World world = covered_world(any_seed());
  world.policy.weights = {500, 500};
  world.usages.clear();  // which may say that it was an instance and not a card
  std::erase_if(world.holdings, [](const Holding& h) {
    return !std::holds_alternative<WholeGpu>(h.device) ||
           std::holds_alternative<OnGpus>(h.placement);
  });
  for (Node& node : world.nodes) node.instance_type.clear();  // that sells a part of a card
  for (Holding& holding : world.holdings) {
    holding.gpu_model.clear();
    holding.claim.clear();
    holding.gpu_group.clear();
    holding.is_reservation = false;
  }
  const auto allocation = world.allocate();
  std::map<WorkloadId, GpuTime> posted;
  for (const Posting& posting : allocation->postings) {
    if (!posting.workload.empty()) posted[posting.workload] += posting.gpu_time;
  }
  for (const Holding& holding : world.holdings) {
    const auto* pool = std::get_if<InPool>(&holding.placement);
    const bool pool_exists =
        pool == nullptr || pool->pools.empty() ||
        std::any_of(world.nodes.begin(), world.nodes.end(),
                    [&](const Node& node) { return node.pool == pool->pools.front(); });
    if (!pool_exists) continue;
    // Where cards and nodes leave a pool nothing for a while there is nothing to post time on.
    const GpuTime asked = GpuTime::of(UInt128{CardShare::kUnitsPerCard} * device_count(holding) *
                                      holding.held.length_ms());
    if (pool == nullptr) RC_ASSERT(posted[holding.workload] == asked);
    RC_ASSERT(posted[holding.workload] <= asked);
  }
}

RC_GTEST_PROP(Allocate, AHolderOfNothingPaysNothing, ()) {
  World world = world_of(any_seed());
  world.usages.clear();  // nor was seen to use anything
  for (Holding& holding : world.holdings) {
    holding.device = CardFraction{};
    holding.cpu_milli = 0;
    holding.memory_bytes = 0;
    if (auto* on = std::get_if<OnGpus>(&holding.placement)) on->gpus = {GpuId("GPU-nowhere")};
  }
  const auto allocation = world.allocate();
  for (const Posting& posting : allocation->postings) {
    if (!posting.workload.empty()) RC_ASSERT(posting.costs == Costs::zero(kUsd));
  }
}

TEST(Allocate, WithoutWeightsThereIsNoAllocation) {
  World world = world_of(1);
  world.policy.weights = {0, 0};
  const auto allocation = world.allocate();
  ASSERT_FALSE(allocation.has_value());
  EXPECT_EQ(allocation.error().code, ErrorCode::kConfig);
}

TEST(Allocate, ALineThatFitsTwoNodesGoesToNeitherAndIsTold) {
  World world = world_of(2);
  Node twin = world.nodes.front();
  twin.name = NodeId("twin");
  twin.provider_id = "i-twin";
  world.nodes.push_back(twin);
  world.nodes.front().provider_id = "i-twin";
  for (Charge& charge : world.charges) charge.resource_id = "i-twin";
  const auto allocation = world.allocate();
  ASSERT_TRUE(allocation) << allocation.error().message;
  EXPECT_TRUE(std::any_of(allocation->notes.begin(), allocation->notes.end(), [](const auto& note) {
    return note.what ==
           "charges whose resource matches several nodes were assigned to none of them, such as "
           "'i-twin'";
  }));
  for (const Posting& posting : allocation->postings) EXPECT_NE(posting.node, NodeId("twin"));
}

TEST(ClusterOfCharges, ByColumnThenByNodeAndNeverByGuess) {
  World world = world_of(2);
  Charge charge = world.charges.front();
  const auto cluster_of = [&](const std::string& resource, const std::string& stated) {
    charge.resource_id = resource;
    charge.cluster = stated;
    return assign_clusters(std::span(&charge, 1), world.nodes).front().text();
  };
  world.nodes.resize(1, world.nodes.front());
  world.nodes.push_back(world.nodes.front());
  world.nodes[1].cluster = ClusterId("d");
  world.nodes[1].provider_id = "i-other";
  EXPECT_EQ(cluster_of("i-0", ""), "c");
  EXPECT_EQ(cluster_of("arn:aws:ec2:us-east-1:1:instance/i-0", ""), "c");
  EXPECT_EQ(cluster_of("i-other", ""), "d");
  EXPECT_EQ(cluster_of("n0", ""), "");  // both clusters have an n0
  EXPECT_EQ(cluster_of("i-0", "e"), "e");
  EXPECT_EQ(cluster_of("", ""), "");
}

}  // namespace
}  // namespace pennyweight
