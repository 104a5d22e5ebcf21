// allocate(): the GPU time that it tells does not depend on how the bill is cut: lines of a month,
// a day or an hour, one line or several for the same hours, for nodes or for a pool, in any order.
// Nor do the time that telemetry observed, the time that was idle, and the GPU memory held.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "allocation/allocate.h"

namespace pennyweight {
namespace {

const Currency kCutUsd = Currency::parse("USD").value();
const Instant kFirst = parse_instant("2026-03-27T00:00:00Z").value();  // DST begins on the 29th
constexpr std::uint64_t kDays = 4;
constexpr std::uint64_t kQuarter = 900'000;

Instant quarter(std::uint64_t number) {
  return kFirst + std::chrono::milliseconds(static_cast<std::int64_t>(number * kQuarter));
}

class CutWorld {
 public:
  explicit CutWorld(std::uint64_t seed) : random_(seed) {
    policy.time_zone = TimeZone::parse(below(2) == 0 ? "Europe/Berlin" : "UTC").value();
    const char* models[] = {"NVIDIA A100-SXM4-40GB", "NVIDIA H100 80GB HBM3"};
    for (std::uint64_t n = 0; n < 2 + below(4); ++n) add_node(n, models[below(2)]);
    for (std::uint64_t h = 0; h < 1 + below(8); ++h) add_holding(h);
  }

  // Readings of GPUs and MIG instances, of workloads that share one, and spans without a gap.
  void add_telemetry() {
    const Basis::Kind kinds[] = {Basis::Kind::kRequest, Basis::Kind::kUsage, Basis::Kind::kMax,
                                 Basis::Kind::kBlend};
    policy.basis = {.kind = kinds[below(4)],
                    .request_permille = static_cast<std::uint32_t>(below(1001))};
    policy.usage.interval_ms = kQuarter / 3 + below(kQuarter);
    for (const Gpu& gpu : gpus) {
      for (std::uint64_t rows = below(40); rows > 0; --rows) add_reading(gpu);
    }
  }

  // Nodes and GPUs that are out of use, whoever holds them.
  void add_outages() {
    for (std::uint64_t left = 1 + below(6); left > 0; --left) {
      const Instant from = quarter(below(kDays * 96 - 1));
      const Instant to =
          from + std::chrono::milliseconds(static_cast<std::int64_t>(1 + below(40 * kQuarter)));
      Outage outage(ClusterId("c"), nodes[below(nodes.size())].name, Interval(from, to));
      if (!gpus.empty() && below(2) == 0) {
        const Gpu& gpu = gpus[below(gpus.size())];
        outage.node = gpu.node;
        outage.gpu = gpu.uuid;
      }
      outages.push_back(outage);
    }
  }

  // Every millisecond of every node is billed, in lines cut at random.
  std::vector<Charge> bill() {
    std::vector<Charge> charges;
    const bool by_pool = below(3) == 0;
    for (const Node& node : nodes) {
      if (by_pool && node.pool == PoolId("a") && below(2) == 0) continue;
      for (std::uint64_t lines = 1 + below(2); lines > 0; --lines) {
        const bool is_first = lines == 1;
        cut(charges, Interval(node.from, *node.to), is_first, node.name.text(), "");
      }
    }
    if (by_pool) cut(charges, Interval(quarter(0), quarter(kDays * 96)), true, "", "a");
    std::shuffle(charges.begin(), charges.end(), random_);
    return charges;
  }

  // The same, but every node has one price for all of its time.
  std::vector<Charge> bill_at_one_price() {
    std::vector<Charge> charges;
    for (const Node& node : nodes) {
      cut(charges, Interval(node.from, *node.to), true, node.name.text(), "");
    }
    for (Charge& charge : charges) {
      const Money amount = Money::from_ticks(
          static_cast<Int128>(charge.charge_period.length_ms()) * 1'000'000'007, kCutUsd);
      charge.costs = {amount, amount, amount, amount};
    }
    return charges;
  }

  // What each holder is charged, and nobody, for whatever reason.
  std::map<std::string, Int128> money(const std::vector<Charge>& charges) {
    std::map<std::string, Int128> sums;
    for (const Posting& posting : allocated(charges).postings) {
      sums[posting.workload.empty() ? "(nobody)" : posting.workload.text()] +=
          posting.costs.effective.ticks();
    }
    return sums;
  }

  using Hours = std::map<std::string, std::string>;
  Hours gpu_time(const std::vector<Charge>& charges) {
    std::map<std::string, UInt128> sums;
    for (const Posting& posting : allocated(charges).postings) {
      const std::string day = to_text(Instant(posting.day)).substr(0, 10);
      const std::string who = posting.workload.empty() ? "(idle)" : posting.workload.text();
      if (posting.workload.empty()) {
        sums[day + " " + std::string(to_text(posting.kind))] += posting.gpu_time.count();
      }
      sums[day + " " + who] += posting.gpu_time.count();
      if (usages.empty()) continue;
      const bool is_idle = posting.kind == PostingKind::kHeldIdle;
      if (is_idle) sums[day + " idle of " + who] += posting.gpu_time.count();
      sums[day + " observed of " + who] += posting.observed_time.count();
      sums[day + " memory of " + who] += posting.memory_time.count();
    }
    Hours hours;
    for (const auto& [what, time] : sums) {
      if (time != 0) hours[what] = to_text(time);
    }
    return hours;
  }

  std::vector<Node> nodes;
  std::vector<Gpu> gpus;
  std::vector<Holding> holdings;
  std::vector<Usage> usages;
  std::vector<Outage> outages;
  Policy policy;

 private:
  std::uint64_t below(std::uint64_t bound) { return random_() % bound; }

  Allocation allocated(const std::vector<Charge>& charges) {
    auto allocation = allocate({.cluster = ClusterId("c"),
                                .charges = charges,
                                .nodes = nodes,
                                .gpus = gpus,
                                .holdings = holdings,
                                .outages = outages,
                                .policy = policy,
                                .catalog = Catalog::built_in(),
                                .utilization = [this](const Interval& during) {
                                  return to_intervals(usages, gpus, policy.usage, during);
                                }});
    RC_ASSERT(allocation.has_value());
    return *std::move(allocation);
  }

  void add_reading(const Gpu& gpu) {
    const Instant at = quarter(below(kDays * 96)) +
                       std::chrono::milliseconds(static_cast<std::int64_t>(below(kQuarter)));
    Usage usage{.cluster = gpu.cluster,
                .node = gpu.node,
                .gpu = gpu.uuid,
                .mig_instance = {},
                .mig_profile = {},
                .model = gpu.model,
                .at = at,
                .gpu_util_ppm = {},
                .engine_active_ppm = below(5) == 0 ? 1'000'000 : below(1'000'001),
                .sm_active_ppm = {},
                .memory_used_bytes = {},
                .memory_total_bytes = {},
                .power_milliwatts = {},
                .energy_millijoules = {},
                .workload = WorkloadId(""),
                .id = {},
                .source = {}};
    if (!gpu.mig_instances.empty() && below(4) > 0) {
      usage.mig_instance = std::to_string(1 + below(2));
      usage.mig_profile = gpu.mig_instances.front().profile;
    }
    if (below(3) > 0) usage.memory_used_bytes = below(std::uint64_t{40} << 30);
    if (below(3) == 0) usage.span_ms = static_cast<std::uint32_t>(1 + below(3 * kQuarter));
    if (below(3) == 0) {
      usage.workload = WorkloadId("w" + std::to_string(below(4)));
      usage.of_workload = below(2) == 0;
    }
    usages.push_back(usage);
  }

  void add_node(std::uint64_t number, const char* model) {
    const std::uint64_t begin = below(3) == 0 ? below(kDays * 48) : 0;
    const std::uint64_t end =
        below(3) == 0 ? begin + 1 + below(kDays * 96 - begin - 1) : kDays * 96;
    Node node{.cluster = ClusterId("c"),
              .name = NodeId("n" + std::to_string(number)),
              .provider_id = {},
              .instance_type = {},
              .region = {},
              .pool = PoolId(below(3) == 0 ? "b" : "a"),
              .gpu_model = model,
              .gpu_count = static_cast<std::uint32_t>(1 + below(4)),
              .cpu_milli = 64'000,
              .memory_bytes = std::uint64_t{1} << 38,
              .from = quarter(begin),
              .to = quarter(end),
              .id = {},
              .source = {}};
    for (std::uint32_t i = 0; i < node.gpu_count && below(2) == 0; ++i) {
      const std::string uuid = node.name.text() + "g" + std::to_string(i);
      Gpu gpu{.cluster = ClusterId("c"),
              .node = node.name,
              .uuid = GpuId(uuid),
              .index = i,
              .model = model,
              .memory_bytes = {},
              .mig_instances = {},
              .from = node.from,
              .to = {},
              .id = {},
              .source = {}};
      const bool is_a100 = node.gpu_model.contains("A100");
      if (below(2) == 0) {
        const char* profile = is_a100 ? "3g.20gb" : "3g.40gb";
        gpu.mig_instances = {{GpuId(uuid + "m0"), profile}, {GpuId(uuid + "m1"), profile}};
      }
      gpus.push_back(gpu);
    }
    nodes.push_back(node);
  }

  Placement any_placement() {
    const auto devices = static_cast<std::uint32_t>(1 + below(3));
    if (!gpus.empty() && below(4) == 0) {
      const Gpu& gpu = gpus[below(gpus.size())];
      if (gpu.mig_instances.empty()) return OnGpus{{gpu.uuid}};
      return OnGpus{{gpu.mig_instances[below(2)].id}};
    }
    if (below(3) == 0) return OnNodes{{{nodes[below(nodes.size())].name, devices}}};
    if (below(3) == 0) return InPool{.pools = {}, .devices = devices};
    return InPool{.pools = {PoolId(below(4) == 0 ? "b" : "a")}, .devices = devices};
  }

  void add_holding(std::uint64_t number) {
    const std::uint64_t begin = below(kDays * 96 - 1);
    const Instant from = quarter(begin) + std::chrono::milliseconds(below(2) * 333);
    const Instant to = quarter(begin + 1 + below(kDays * 96 - begin));
    Holding holding(ClusterId("c"), WorkloadId("w" + std::to_string(number)), Interval(from, to),
                    any_placement());
    if (std::holds_alternative<InPool>(holding.placement) && below(3) == 0) {
      const CardShare part = CardShare::of(1, 3).value();
      holding.device = CardFraction{part, part};
    }
    holding.id = FactId{natural_key(holding)};
    holdings.push_back(holding);
  }

  void cut(std::vector<Charge>& charges, const Interval& all, bool covers, const std::string& node,
           const std::string& pool) {
    const std::uint64_t step = std::uint64_t{1} << below(9);  // quarters: minutes to days
    Instant begin = all.begin();
    while (begin < all.end()) {
      const std::uint64_t length = (below(2) == 0 ? step : 1 + below(step)) * kQuarter;
      const Instant end =
          std::min(all.end(), begin + std::chrono::milliseconds(static_cast<std::int64_t>(length)));
      if (covers || below(3) > 0) add_charge(charges, Interval(begin, end), node, pool);
      begin = end;
    }
  }

  void add_charge(std::vector<Charge>& charges, const Interval& period, const std::string& node,
                  const std::string& pool) {
    const Money amount =
        Money::from_ticks(static_cast<Int128>(1 + below(1'000'000)) * 1'000'000'000'000, kCutUsd);
    Charge charge(period, period, {amount, amount, amount, amount});
    charge.resource_id = node;
    charge.pool = pool;
    charge.id = numbered(content_hash(charge), charges.size());
    charges.push_back(charge);
  }

  std::mt19937_64 random_;
};

// Amounts that differ by less than a millionth of all: a pool's share of each machine is of whole
// units of a GPU, 1/72,072,000, and the machines' prices differ.
bool is_rounded_alike(const std::map<std::string, Int128>& some,
                      const std::map<std::string, Int128>& others) {
  std::map<std::string, Int128> more = some;
  Int128 all = 0;
  for (const auto& [who, amount] : some) all += amount;
  for (const auto& [who, amount] : others) more[who] -= amount;
  return std::ranges::all_of(more, [&](const auto& each) {
    return std::max(each.second, -each.second) < all / 1'000'000;
  });
}

// Two on one MIG instance while the other instance is free to a pool.
TEST(BillCut, WhatIsHeldTwiceDoesNotHideWhatIsFree) {
  CutWorld world(1107665982);
  const auto once = world.gpu_time(world.bill());
  for (int i = 0; i < 10; ++i) EXPECT_EQ(world.gpu_time(world.bill()), once);
}

RC_GTEST_PROP(BillCut, GpuTimeIsTheSameHoweverTheBillIsCut, (std::uint64_t seed)) {
  CutWorld world(seed);
  const auto once = world.gpu_time(world.bill());
  RC_ASSERT(world.gpu_time(world.bill()) == once);
  RC_ASSERT(world.gpu_time(world.bill()) == once);
}

RC_GTEST_PROP(BillCut, ObservedTimeIsTheSameHoweverTheBillIsCut, (std::uint64_t seed)) {
  CutWorld world(seed);
  world.add_telemetry();
  const auto once = world.gpu_time(world.bill());
  RC_ASSERT(world.gpu_time(world.bill()) == once);
  RC_ASSERT(world.gpu_time(world.bill()) == once);
}

RC_GTEST_PROP(BillCut, AtOnePriceHoldersPayTheSameHoweverTheBillIsCut, (std::uint64_t seed)) {
  CutWorld world(seed);
  world.add_telemetry();
  world.add_outages();
  const auto once = world.money(world.bill_at_one_price());
  RC_ASSERT(is_rounded_alike(world.money(world.bill_at_one_price()), once));
  RC_ASSERT(is_rounded_alike(world.money(world.bill_at_one_price()), once));
}

RC_GTEST_PROP(BillCut, IdleTimeByReasonIsTheSameHoweverTheBillIsCut, (std::uint64_t seed)) {
  CutWorld world(seed);
  world.add_telemetry();
  world.add_outages();
  const auto once = world.gpu_time(world.bill());
  RC_ASSERT(world.gpu_time(world.bill()) == once);
  RC_ASSERT(world.gpu_time(world.bill()) == once);
}

}  // namespace
}  // namespace pennyweight
