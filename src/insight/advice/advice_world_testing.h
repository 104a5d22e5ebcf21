// World: a made-up cluster of one month, for tests of advice.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "allocation/policy/default_policy.h"
#include "insight/advice/advise.h"
#include "insight/advice/portfolio.h"

namespace pennyweight::advising {

inline const Instant kMarch = parse_instant("2026-03-01").value();
inline const Instant kApril = parse_instant("2026-04-01").value();
inline constexpr int kDays = 31;
inline constexpr std::size_t kHours = 31 * 24;

// A cluster of one month, with a line for each node and day.
struct World {
  std::vector<Charge> charges;
  std::vector<Node> nodes;
  std::vector<Gpu> gpus;
  std::vector<Holding> holdings;
  std::vector<Outage> outages;
  std::vector<Usage> usages;  // by GPU, then time
  Policy policy = default_policy();
  Catalog catalog = Catalog::built_in();
  std::uint64_t ids = 0;

  FactId next_id() { return numbered(hash_of("fact"), ++ids); }

  void add_node(const std::string& name, const std::string& pool, const std::string& type,
                std::uint32_t gpus_each, const char* per_hour,
                std::optional<PricingCategory> category = PricingCategory::kStandard) {
    Node node{.cluster = ClusterId("lab"),
              .name = NodeId(name),
              .provider_id = {},
              .instance_type = {},
              .region = {},
              .pool = PoolId(pool),
              .gpu_model = {},
              .cpu_milli = 8000,
              .memory_bytes = 64ull << 30,
              .from = kMarch,
              .to = {},
              .id = {},
              .source = {}};
    node.provider_id = "i-" + name;
    node.instance_type = type;
    node.region = "us-central1";
    node.gpu_model = "V100-SXM2-16GB";
    node.gpu_count = gpus_each;
    node.id = next_id();
    nodes.push_back(node);
    const Decimal day = Decimal::from_ticks(parse_exact_decimal(per_hour).value().ticks() * 24);
    for (int at = 0; at < kDays; ++at) {
      const Money money = Money::from_decimal(day, kUsd);
      Charge& charge = charges.emplace_back(
          Interval(kMarch, kApril),
          Interval(kMarch + std::chrono::hours(24 * at), kMarch + std::chrono::hours(24 * at + 24)),
          Costs{money, money, money, money});
      charge.resource_id = "i-" + name;
      charge.service_category = "Compute";
      charge.pricing_category = category;
      charge.id = next_id();
    }
  }

  Holding& add_holding(const std::string& name, int from_hour, int to_hour, Placement placement) {
    Holding& holding = holdings.emplace_back(
        ClusterId("lab"), WorkloadId(name),
        Interval(kMarch + std::chrono::hours(from_hour), kMarch + std::chrono::hours(to_hour)),
        std::move(placement));
    holding.id = next_id();
    return holding;
  }
  void hold(const std::string& name, int from_hour, int to_hour, const std::string& node) {
    add_holding(name, from_hour, to_hour, OnNodes{{{NodeId(node), 1}}});
  }
  void hold_in_pool(const std::string& name, int from_hour, int to_hour, const std::string& pool,
                    std::uint32_t devices) {
    add_holding(name, from_hour, to_hour, InPool{{PoolId(pool)}, devices});
  }

  ClusterMonth month() const {
    return {.cluster = ClusterId("lab"),
            .charges = charges,
            .nodes = nodes,
            .gpus = gpus,
            .holdings = holdings,
            .catalog = catalog};
  }
  Advice advise() const {
    const ClusterMonth data = month();
    return advising::advise({.facts = data,
                             .outages = outages,
                             .policy = policy,
                             .period = Interval(kMarch, kApril),
                             .prices_at = parse_instant("2026-07-31").value(),
                             .telemetry = [&](ActivityProfiles& profiles) -> Result<void> {
                               profiles.add(usages);
                               return {};
                             }})
        .value();
  }
};

// A node of its own GPUs, each with an hourly span.
struct Work : World {
  void add_machine(const std::string& name, std::uint32_t gpus_each, const char* per_hour,
                   std::optional<PricingCategory> category = PricingCategory::kStandard,
                   const std::string& type = "", const std::string& model = "V100-SXM2-16GB") {
    add_node(name, "gpu", type, gpus_each, per_hour, category);
    nodes.back().gpu_model = model;
    for (std::uint32_t i = 0; i < gpus_each; ++i) {
      gpus.push_back(Gpu{.cluster = ClusterId("lab"),
                         .node = NodeId(name),
                         .uuid = GpuId(fmt::format("GPU-{}{}", name, i)),
                         .index = i,
                         .model = model,
                         .memory_bytes = {},
                         .mig_instances = {},
                         .from = kMarch,
                         .to = {},
                         .id = next_id(),
                         .source = {}});
    }
  }
  Holding& hold_gpu(const std::string& name, const std::string& user, const std::string& gpu,
                    int from_hour = 0, int to_hour = static_cast<int>(kHours)) {
    Holding& holding = add_holding(name, from_hour, to_hour, OnGpus{{GpuId(gpu)}});
    EXPECT_TRUE(holding.labels.set("user", user).has_value());
    return holding;
  }
  Usage& sample(const std::string& gpu, int hour) {
    Usage& usage = usages.emplace_back(Usage{.cluster = ClusterId("lab"),
                                             .node = NodeId(""),
                                             .gpu = GpuId(gpu),
                                             .mig_instance = {},
                                             .mig_profile = {},
                                             .model = {},
                                             .at = kMarch + std::chrono::hours(hour),
                                             .gpu_util_ppm = {},
                                             .engine_active_ppm = {},
                                             .sm_active_ppm = {},
                                             .memory_used_bytes = {},
                                             .memory_total_bytes = {},
                                             .power_milliwatts = {},
                                             .energy_millijoules = {},
                                             .workload = WorkloadId(""),
                                             .span_ms = 3'600'000,
                                             .id = {},
                                             .source = {}});
    return usage;
  }
  // SM activity of one GPU over hours.
  void run(const std::string& gpu, int from_hour, int to_hour, std::uint64_t sm_ppm) {
    for (int hour = from_hour; hour < to_hour; ++hour) sample(gpu, hour).sm_active_ppm = sm_ppm;
  }
};

}  // namespace pennyweight::advising
