// The peers' published numbers, to the digits that they give, and each sharing mode on one card.
#include "insight/compare/preset.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "insight/compare/holding_type.h"
#include "insight/compare/node_window.h"

namespace pennyweight {
namespace {

constexpr std::uint64_t kGibibyte = std::uint64_t{1} << 30;
constexpr std::uint64_t kHourMs = 3'600'000;

Money preset_usd(std::string_view text) {
  return Money::from_decimal(*parse_exact_decimal(text), kUsd);
}

// The first `digits` behind the point, rounded as a page would.
std::string shown(Money money, int digits) {
  Int128 unit = Decimal::kTicksPerUnit;
  for (int i = 0; i < digits; ++i) unit /= 10;
  const Int128 rounded = (money.ticks() + (money.is_negative() ? -unit : unit) / 2) / unit * unit;
  return to_text(Decimal::from_ticks(rounded));
}

TEST(Presets, AreKnownByName) {
  for (const Preset preset : kPresets) EXPECT_EQ(parse_preset(to_text(preset)), preset);
  EXPECT_EQ(parse_preset("OpenCost"), std::nullopt);
}

// OpenCost's specification: base prices of 30, 30 and 10 for GPU, CPU and RAM scale to a node
// of 35.
TEST(RatioSplit, OpenCostSpecification) {
  const Capacity one{.gpus = 1, .cpu_milli = 1000, .memory_bytes = kGibibyte};
  const ComponentCosts costs =
      ratio_split(preset_usd("35"), one, {.gpu = 30, .cpu = 30, .gib = 10});
  EXPECT_EQ(costs, (ComponentCosts{preset_usd("15"), preset_usd("15"), preset_usd("5")}));
}

struct ShareOfGpus {
  const char* node;
  Capacity capacity;
  const char* price;
  const char* scad;      // percent of the price that the GPUs get
  const char* opencost;  // the same
};

// By 9 : 0.9 : 0.1 and by OpenCost's default prices: p3.16xlarge, p4d.24xlarge, p5.48xlarge,
// g5.xlarge.
TEST(RatioSplit, ShareOfTheGpusFallsWithEachGeneration) {
  const ShareOfGpus table[] = {
      {"p3.16xlarge", {8, 64'000, 488 * kGibibyte}, "24.48", "40.4", "65"},
      {"p4d.24xlarge", {8, 96'000, 1152 * kGibibyte}, "32.77", "26.3", "49"},
      {"p5.48xlarge", {8, 192'000, 2048 * kGibibyte}, "98.32", "16", "34"},
      {"g5.xlarge", {1, 4'000, 16 * kGibibyte}, "1.006", "63.4", "83"},
  };
  for (const ShareOfGpus& row : table) {
    const auto percent = [&](const RatioWeights& weights) {
      return shown(ratio_split(preset_usd("100"), row.capacity, weights).gpu, 1);
    };
    EXPECT_EQ(percent(kScadAccelerated), row.scad) << row.node;
    EXPECT_EQ(percent(kOpenCostPrices), row.opencost) << row.node;
    const ComponentCosts costs = ratio_split(preset_usd(row.price), row.capacity, kOpenCostPrices);
    EXPECT_EQ(costs.sum(), preset_usd(row.price)) << row.node;
  }
}

// AWS's two examples: a p3.16xlarge at 10 $ and an m5.xlarge at 1 $ an hour. The page prints
// 0.00506 for the first's GB-hour; 10/178.4 · 0.1 is 0.0056.
TEST(UnitCosts, AwsExamples) {
  const ComponentCosts p3 =
      unit_costs(preset_usd("10"), {8, 64'000, 488 * kGibibyte}, kScadAccelerated);
  EXPECT_EQ(shown(p3.gpu, 7), "0.5044843");
  EXPECT_EQ(shown(p3.cpu, 7), "0.0504484");
  EXPECT_EQ(shown(p3.memory, 8), "0.00560538");
  const ComponentCosts m5 = unit_costs(preset_usd("1"), {0, 4'000, 16 * kGibibyte}, kScadPlain);
  EXPECT_EQ(m5.gpu, preset_usd("0"));
  EXPECT_EQ(shown(m5.cpu, 6), "0.173077");
  EXPECT_EQ(shown(m5.memory, 7), "0.0192308");
  EXPECT_EQ(unit_costs(preset_usd("1"), {}, kScadPlain), ComponentCosts::zero(kUsd));
}

// One hour of a node.
NodeWindow window_of(Preset preset, std::string_view price, const Capacity& capacity) {
  return {1,
          ratio_split(preset_usd(price), capacity, weights_of(preset, capacity)),
          {UInt128{capacity.gpus} * CardShare::kUnitsPerCard * kHourMs,
           UInt128{capacity.cpu_milli} * kHourMs, UInt128{capacity.memory_bytes} * kHourMs},
          {}};
}

struct Pod {
  std::uint64_t cpu_reserved, cpu_used;  // thousandths
  std::uint64_t gpu_reserved, gpu_used;
  std::uint64_t gib_reserved, gib_used;
  const char* total;  // what the page prints
};

void expect_scad(std::string_view price, const Capacity& capacity, std::span<const Pod> pods) {
  NodeWindow window = window_of(Preset::kAwsScad, price, capacity);
  for (const Pod& pod : pods) {
    window.claims.push_back(
        {.gpu =
             UInt128{std::max(pod.gpu_reserved, pod.gpu_used)} * CardShare::kUnitsPerCard * kHourMs,
         .cpu = UInt128{std::max(pod.cpu_reserved, pod.cpu_used)} * kHourMs,
         .memory = UInt128{std::max(pod.gib_reserved, pod.gib_used)} * kGibibyte * kHourMs});
  }
  const WindowCosts costs = price_window(Preset::kAwsScad, window);
  Money sum = costs.idle + costs.undocumented;
  for (std::size_t i = 0; i < pods.size(); ++i) {
    EXPECT_EQ(shown(costs.claims[i].sum(), 2), pods[i].total) << "pod " << i + 1;
    sum += costs.claims[i].sum();
  }
  EXPECT_EQ(costs.idle, preset_usd("0"));
  EXPECT_EQ(sum, preset_usd(price));
}

// The user guide's four pods, with what it prints for each.
TEST(AwsScad, PublishedExamples) {
  const Pod accelerated[] = {{16'000, 4'000, 1, 1, 100, 60, "1.91"},
                             {16'000, 18'000, 2, 3, 100, 140, "3.26"},
                             {16'000, 4'000, 2, 1, 100, 60, "2.41"},
                             {16'000, 4'000, 2, 2, 100, 40, "2.41"}};
  expect_scad("10", {8, 64'000, 488 * kGibibyte}, accelerated);
  const Pod plain[] = {{1'000, 100, 0, 0, 4, 3, "0.23"},
                       {1'000, 1'900, 0, 0, 4, 6, "0.4"},
                       {1'000, 500, 0, 0, 2, 2, "0.19"},
                       {1'000, 500, 0, 0, 2, 2, "0.19"}};
  expect_scad("1", {0, 4'000, 16 * kGibibyte}, plain);
}

TEST(AwsScad, AnHourWithoutPodsStaysWithTheInstance) {
  const WindowCosts costs =
      price_window(Preset::kAwsScad, window_of(Preset::kAwsScad, "1", {0, 4'000, 16 * kGibibyte}));
  EXPECT_EQ(costs.idle, preset_usd("1"));
}

struct Mode {
  const char* name;
  HoldingType how;
  Device device;
  std::uint64_t devices;  // held, each for the whole hour
  const char* opencost;   // charged to the holders
  const char* opencost_idle;
  const char* koku;
  const char* koku_idle;
  const char* scad;
  const char* scad_undocumented;
};

// One A100-40GB at 4.00 $ an hour and nothing else of the node, fully held in every way that a card
// can be cut. `koku` follows compute slices alone: 3g + 2g + 2 × 1g and 7 × 1g fill the card, two
// 3g leave 1/7; a shared card costs as many cards as it has sharers.
TEST(OneCard, InEveryMode) {
  const Mode table[] = {
      {"whole", HoldingType::kWhole, WholeGpu{}, 1, "4", "0", "4", "0", "4", "0"},
      {"7 x 1g.5gb", HoldingType::kMig, MigSlice{"1g.5gb"}, 7, "0", "4", "4", "0", "0", "4"},
      {"2 x 3g.20gb", HoldingType::kMig, MigSlice{"3g.20gb"}, 2, "0", "4", "3.428571", "0.571429",
       "0", "4"},
      {"4 x 1g.10gb", HoldingType::kMig, MigSlice{"1g.10gb"}, 4, "0", "4", "2.285714", "1.714286",
       "0", "4"},
      {"4 renamed", HoldingType::kRenamedReplica, Replica{}, 4, "0", "4", "16", "0", "0", "4"},
      {"4 replicas", HoldingType::kReplica, Replica{}, 4, "16", "-12", "16", "0", "4", "0"},
      {"10 replicas", HoldingType::kReplica, Replica{}, 10, "40", "-36", "40", "0", "4", "0"},
      {"4 vGPUs", HoldingType::kVirtualGpu, VirtualGpu{25, {}, {}}, 4, "16", "-12", "0", "0", "4",
       "0"},
      {"DRA", HoldingType::kClaim, WholeGpu{}, 1, "0", "4", "0", "0", "0", "4"},
  };
  const GpuModel* model = find_gpu_model("A100-SXM4-40GB");
  ASSERT_NE(model, nullptr);
  for (const Mode& mode : table) {
    const auto price = [&](Preset preset) {
      NodeWindow window = window_of(preset, "4", {.gpus = 1});
      for (std::uint64_t i = 0; i < mode.devices; ++i) {
        WindowClaim claim;
        const auto share = counted_share(preset, mode.how, mode.device, model);
        if (share) claim.gpu = UInt128{share->units()} * kHourMs;
        window.claims.push_back(claim);
      }
      const WindowCosts costs = price_window(preset, window);
      Money charged = preset_usd("0");
      for (const ComponentCosts& claim : costs.claims) charged += claim.sum();
      return std::tuple(shown(charged, 6), shown(costs.idle, 6), shown(costs.undocumented, 6));
    };
    EXPECT_EQ(price(Preset::kOpenCost), std::tuple(mode.opencost, mode.opencost_idle, "0"))
        << mode.name;
    EXPECT_EQ(price(Preset::kKoku), std::tuple(mode.koku, mode.koku_idle, "0")) << mode.name;
    EXPECT_EQ(price(Preset::kAwsScad), std::tuple(mode.scad, "0", mode.scad_undocumented))
        << mode.name;
  }
}

TEST(Koku, DropsANodeThatNoGpuPodRanOn) {
  const WindowCosts costs =
      price_window(Preset::kKoku, window_of(Preset::kKoku, "4", {.gpus = 1, .cpu_milli = 8'000}));
  EXPECT_EQ(costs.idle, preset_usd("0"));
}

// Two A100-40GB at 4.00 $ each for an hour: one held whole, 3g.20gb of the other. Koku charges
// 4 + 3/7 · 4, and its unallocated row is (2 · 7 - 1 - 3) slices at 4/7 $: more than is left.
TEST(Koku, AWholeGpuBesideMigIsOneSliceOfTheUnallocatedRow) {
  NodeWindow window = window_of(Preset::kKoku, "8", {.gpus = 2});
  const UInt128 card = UInt128{CardShare::kUnitsPerCard} * kHourMs;
  window.claims.push_back({.gpu = card});
  const auto whole_alone = price_window(Preset::kKoku, window);
  EXPECT_EQ(whole_alone.idle, preset_usd("4"));
  window.claims.push_back({.gpu = card / 7 * 3, .slices = 7});
  const WindowCosts costs = price_window(Preset::kKoku, window);
  EXPECT_EQ(costs.claims[0].sum(), preset_usd("4"));
  EXPECT_EQ(shown(costs.claims[1].sum(), 6), "1.714286");
  EXPECT_EQ(shown(costs.idle, 6), "5.714286");
  window.claims.erase(window.claims.begin());
  EXPECT_EQ(shown(price_window(Preset::kKoku, window).idle, 6), "6.285714");
}

// Ten nodes of one card each at 4.00 $, of which holders of a pool ask for two and a half: three
// are taken to have run something.
TEST(Pools, FewestNodesThatHoldWhatIsAskedFor) {
  for (const Preset preset : {Preset::kAwsScad, Preset::kKoku}) {
    NodeWindow window = window_of(preset, "40", {.gpus = 10});
    window.nodes = 10;
    window.claims.push_back({.gpu = UInt128{CardShare::kUnitsPerCard} * kHourMs * 2});
    window.claims.push_back({.gpu = UInt128{CardShare::kUnitsPerCard} * kHourMs / 2});
    const WindowCosts costs = price_window(preset, window);
    const bool is_aws = preset == Preset::kAwsScad;
    EXPECT_EQ(costs.claims[0].sum(), preset_usd(is_aws ? "9.6" : "8")) << to_text(preset);
    EXPECT_EQ(costs.claims[1].sum(), preset_usd(is_aws ? "2.4" : "2")) << to_text(preset);
    EXPECT_EQ(costs.idle, preset_usd(is_aws ? "28" : "2")) << to_text(preset);
  }
}

TEST(Koku, AnUnknownModelIsACardOfItsOwn) {
  EXPECT_EQ(counted_share(Preset::kKoku, HoldingType::kMig, MigSlice{"3g.20gb"}, nullptr),
            CardShare::whole());
}

// A credit mirrors the charge that it undoes.
TEST(Slots, ACreditTurnsEveryAmountRound) {
  for (const Preset preset : kPresets) {
    NodeWindow charge = window_of(preset, "10", {2, 64'000, 100 * kGibibyte});
    charge.claims.push_back({.holding = 0,
                             .gpu = UInt128{CardShare::kUnitsPerCard} * kHourMs / 3,
                             .cpu = 7'000 * UInt128{kHourMs},
                             .memory = 11 * kGibibyte * UInt128{kHourMs}});
    NodeWindow credit = charge;
    credit.costs = {-charge.costs.gpu, -charge.costs.cpu, -charge.costs.memory};
    const WindowCosts there = price_window(preset, charge);
    const WindowCosts back = price_window(preset, credit);
    EXPECT_EQ(back.claims[0].sum(), -there.claims[0].sum()) << to_text(preset);
    EXPECT_EQ(back.idle, -there.idle) << to_text(preset);
  }
}

}  // namespace
}  // namespace pennyweight
