// allocate(): no statement of telemetry about a GPU changes who held what.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "allocation/allocate.h"

namespace pennyweight {
namespace {

const Instant kStart = parse_instant("2026-03-01").value();

Instant hours_after(std::uint64_t hours) {
  return kStart + std::chrono::hours(static_cast<std::int64_t>(hours));
}

class LayoutWorld {
 public:
  explicit LayoutWorld(std::uint64_t seed) : random_(seed) {
    nodes.push_back({.cluster = ClusterId("c"),
                     .name = NodeId("n1"),
                     .provider_id = {},
                     .instance_type = {},
                     .region = {},
                     .pool = PoolId(""),
                     .gpu_model = "NVIDIA A100-SXM4-40GB",
                     .gpu_count = 2,
                     .cpu_milli = {},
                     .memory_bytes = {},
                     .from = kStart,
                     .to = {},
                     .id = {},
                     .source = {}});
    const std::vector<std::vector<const char*>> layouts = {
        {"3g.20gb", "3g.20gb"},
        {"3g.20gb", "2g.10gb", "1g.5gb"},
        {"1g.5gb", "1g.5gb", "1g.5gb", "1g.5gb", "1g.5gb", "1g.5gb", "1g.5gb"},
        {}};
    for (const char* uuid : {"GPU-0", "GPU-1"}) {
      Gpu gpu = stated(uuid, 0);
      for (const char* profile : layouts[below(layouts.size())]) {
        const std::string number = std::to_string(gpu.mig_instances.size());
        gpu.mig_instances.push_back({GpuId("MIG-" + gpu.uuid.text() + number), profile});
      }
      for (std::uint64_t i = below(4); i > 0; --i) hold(gpu);
      gpus.push_back(gpu);
    }
    const Interval day(kStart, hours_after(24));
    const Money amount = Money::from_units(96, Currency::parse("USD").value());
    Charge charge(day, day, {amount, amount, amount, amount});
    charge.resource_id = "n1";
    charge.id = FactId{content_hash(charge)};
    charges.push_back(charge);
  }

  // What readings, lists and scrapes of these GPUs state: without instances, or with numbered ones.
  void add_telemetry() {
    const std::vector<Gpu> inventory = gpus;
    for (const Gpu& gpu : inventory) {
      for (std::uint64_t i = below(5); i > 0; --i) {
        Gpu again = stated(gpu.uuid.text(), 1 + below(23));
        again.from += std::chrono::milliseconds(1);
        if (below(4) == 0) again.node = NodeId("exporter-abc");
        std::uint64_t number = 1;
        for (const MigInstance& instance : gpu.mig_instances) {
          if (below(3) == 0) continue;
          again.mig_instances.push_back(
              {GpuId(gpu.uuid.text() + "/gi" + std::to_string(number++)), instance.profile});
        }
        if (below(2) == 0) again.mig_instances.clear();
        if (below(4) == 0) again.mig_instances = gpu.mig_instances;  // nvidia-smi -L
        gpus.push_back(again);
      }
    }
    std::shuffle(gpus.begin(), gpus.end(), random_);
  }

  std::vector<std::string> held() const {
    const auto allocation = allocate({.cluster = ClusterId("c"),
                                      .charges = charges,
                                      .nodes = nodes,
                                      .gpus = gpus,
                                      .holdings = holdings,
                                      .policy = policy,
                                      .catalog = Catalog::built_in()});
    RC_ASSERT(allocation.has_value());
    std::map<std::string, std::pair<GpuTime, Money>> sums;
    for (const Posting& posting : allocation->postings) {
      const std::string who = fmt::format("{} {} {}", posting.workload.text(),
                                          to_text(posting.kind), posting.node.text());
      const Money none = Money::zero(posting.costs.currency());
      auto& [time, cost] = sums.try_emplace(who, GpuTime(), none).first->second;
      time += posting.gpu_time;
      cost += posting.costs.effective;
    }
    std::vector<std::string> lines;
    for (const auto& [who, sum] : sums) {
      lines.push_back(
          fmt::format("{}: {} {}", who, to_text(sum.first.count()), to_text(sum.second.amount())));
    }
    return lines;
  }

  std::vector<Node> nodes;
  std::vector<Gpu> gpus;
  std::vector<Holding> holdings;
  std::vector<Charge> charges;
  Policy policy;

 private:
  std::uint64_t below(std::uint64_t bound) { return random_() % bound; }

  static Gpu stated(const std::string& uuid, std::uint64_t hour) {
    return {.cluster = ClusterId("c"),
            .node = NodeId("n1"),
            .uuid = GpuId(uuid),
            .index = uuid == "GPU-0" ? 0u : 1u,
            .model = "NVIDIA A100-SXM4-40GB",
            .memory_bytes = {},
            .mig_instances = {},
            .from = hours_after(hour),
            .to = {},
            .id = {},
            .source = {}};
  }

  void hold(const Gpu& gpu) {
    const std::size_t instances = gpu.mig_instances.size();
    const bool is_whole = instances == 0;
    const GpuId& id = is_whole ? gpu.uuid : gpu.mig_instances[below(instances)].id;
    const std::uint64_t begin = below(23);
    const Interval during(hours_after(begin), hours_after(begin + 1 + below(24 - begin)));
    Holding holding(ClusterId("c"), WorkloadId("w" + std::to_string(holdings.size())), during,
                    OnGpus{{id}});
    holding.id = FactId{natural_key(holding)};
    holdings.push_back(holding);
  }

  std::mt19937_64 random_;
};

RC_GTEST_PROP(TelemetryLayout, ChangesNothingOfWhoHeldWhat, (std::uint64_t seed)) {
  LayoutWorld world(seed);
  const auto without = world.held();
  world.add_telemetry();
  RC_ASSERT(world.held() == without);
}

}  // namespace
}  // namespace pennyweight
