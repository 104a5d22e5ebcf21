// to_intervals(): every trap of telemetry in a line or two, and what must hold whatever comes in.
//
// Intervals are written "device pod from-to compute memory", times in seconds behind midnight and
// values in thousandths of the device; "?" is unknown, and "n units" is no whole thousandth.
#include "allocation/utilization.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <tuple>

#include "core/card_share.h"

namespace pennyweight {
namespace {

using Texts = std::vector<std::string>;

constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;
const Instant kMidnight = *parse_instant("2026-03-01");
Instant at(std::int64_t seconds) { return kMidnight + std::chrono::seconds(seconds); }
Interval between(std::int64_t begin, std::int64_t end) { return {at(begin), at(end)}; }

Usage row(std::string gpu, std::int64_t seconds) {
  return {.cluster = ClusterId("c"),
          .node = NodeId("n"),
          .gpu = GpuId(std::move(gpu)),
          .mig_instance = {},
          .mig_profile = {},
          .model = "NVIDIA H100 80GB HBM3",
          .at = at(seconds),
          .gpu_util_ppm = {},
          .engine_active_ppm = {},
          .sm_active_ppm = {},
          .memory_used_bytes = {},
          .memory_total_bytes = {},
          .power_milliwatts = {},
          .energy_millijoules = {},
          .workload = WorkloadId(""),
          .of_workload = false,
          .id = {},
          .source = {}};
}

// What a card did, in thousandths; its memory is 1000 bytes.
Usage card(std::string gpu, std::int64_t seconds, std::uint64_t compute, std::uint64_t memory) {
  Usage usage = row(std::move(gpu), seconds);
  usage.engine_active_ppm = compute * 1000;
  usage.memory_used_bytes = memory;
  usage.memory_total_bytes = 1000;
  return usage;
}

Usage pod(std::string name, Usage usage) {
  usage.workload = WorkloadId(std::move(name));
  return usage;
}

// As DCGM has it by default: GPU_UTIL beside GR_ENGINE_ACTIVE.
Usage with_util(std::uint64_t util, Usage usage) {
  usage.gpu_util_ppm = util * 1000;
  return usage;
}

Usage own(Usage usage) {
  usage.of_workload = true;
  return usage;
}

Usage instance(std::string gpu, std::string number, std::string profile, std::int64_t seconds,
               std::uint64_t compute) {
  Usage usage = row(std::move(gpu), seconds);
  usage.mig_instance = std::move(number);
  usage.mig_profile = std::move(profile);
  usage.model = "NVIDIA A100-SXM4-40GB";
  usage.engine_active_ppm = compute * 1000;
  return usage;
}

Gpu gpu(std::string uuid, std::string model, std::vector<MigInstance> instances,
        std::int64_t from = -86'400) {
  return {.cluster = ClusterId("c"),
          .node = NodeId("n"),
          .uuid = GpuId(std::move(uuid)),
          .index = 0,
          .model = std::move(model),
          .memory_bytes = {},
          .mig_instances = std::move(instances),
          .from = at(from),
          .to = {},
          .id = {},
          .source = {}};
}

MigInstance mig(std::string id, std::string profile) {
  return {GpuId(std::move(id)), std::move(profile)};
}

std::string value_text(std::uint32_t value) {
  if (value == UtilizationInterval::kUnknown) return "?";
  if (std::uint64_t{value} * 1000 % CardShare::kUnitsPerCard != 0) {
    return fmt::format("{} units", value);
  }
  return fmt::format("{}", std::uint64_t{value} * 1000 / CardShare::kUnitsPerCard);
}

std::string seconds_text(std::uint32_t ms) { return fmt::format("{:g}", ms / 1000.0); }

Texts texts(const ObservedUtilization& usage) {
  Texts lines;
  for (const UtilizationSeries& series : usage.series) {
    for (const UtilizationInterval& seen : series.intervals) {
      lines.push_back(fmt::format("{} {} {}-{} {} {}", series.device.text(),
                                  series.workload.empty() ? "-" : series.workload.text(),
                                  seconds_text(seen.begin_ms), seconds_text(seen.end_ms),
                                  value_text(seen.compute), value_text(seen.memory)));
    }
  }
  return lines;
}

Texts placed(const ObservedUtilization& usage) {
  Texts lines;
  for (const WorkloadSighting& seen : usage.placed) {
    lines.push_back(seen.workload.text() + " " + seen.device.text());
  }
  const auto repeated = std::ranges::unique(lines);
  lines.erase(repeated.begin(), repeated.end());
  return lines;
}

const Interval kHour = between(0, 3600);
ObservedUtilization seen(const std::vector<Usage>& usages, const std::vector<Gpu>& gpus = {},
                         const Interval& during = kHour, const UsageRules& rules = {}) {
  return to_intervals(usages, gpus, rules, during);
}

TEST(UtilizationInterval, HoldsToTheNextSampleAndTwoAndAHalfIntervalsAtMost) {
  // 150 s behind the sample of 60 s nothing is known, until the one of 600 s.
  EXPECT_EQ(texts(seen({card("A", 0, 100, 250), card("A", 60, 200, 500), card("A", 600, 0, 0)})),
            (Texts{"A - 0-60 100 250", "A - 60-210 200 500", "A - 600-750 0 0"}));
}

Usage over(std::int64_t length, Usage usage) {
  usage.span_ms = static_cast<std::uint32_t>(length * 1000);
  return usage;
}
Usage without_compute(Usage usage) {
  usage.engine_active_ppm.reset();
  return usage;
}
Usage without_memory(Usage usage) {
  usage.memory_used_bytes.reset();
  return usage;
}

TEST(UtilizationInterval, ASpanHoldsForItsTimeAndNotALongerOne) {
  EXPECT_EQ(texts(seen({over(60, card("A", 0, 100, 250)), over(30, card("A", 60, 200, 500)),
                        over(60, card("A", 120, 0, 0))})),
            (Texts{"A - 0-60 100 250", "A - 60-90 200 500", "A - 120-180 0 0"}));
  // One that began long before the stretch, and one that ends behind it.
  EXPECT_EQ(texts(seen({over(900, card("A", -600, 100, 250)), over(600, card("A", 300, 200, 500))},
                       {}, between(0, 400))),
            (Texts{"A - 0-300 100 250", "A - 300-400 200 500"}));
}

TEST(UtilizationInterval, PartsOfASpanAreOne) {
  // Memory came later than compute; then memory of half of the time.
  EXPECT_EQ(texts(seen({over(60, without_memory(card("A", 0, 100, 0))),
                        over(60, without_compute(card("A", 0, 0, 250)))})),
            (Texts{"A - 0-60 100 250"}));
  EXPECT_EQ(texts(seen({over(60, without_memory(card("A", 0, 100, 0))),
                        over(30, without_compute(card("A", 15, 0, 250)))})),
            (Texts{"A - 0-15 100 ?", "A - 15-45 100 250", "A - 45-60 100 ?"}));
}

TEST(UtilizationInterval, SpansOfPodsAreHeldAgainstThoseOfTheirDevice) {
  // Two pods repeat their device's values; the second began in the middle of the minute.
  EXPECT_EQ(texts(seen({over(60, pod("p", card("A", 0, 300, 500))),
                        over(30, pod("q", card("A", 30, 300, 500)))})),
            (Texts{"A - 0-30 300 500", "A - 30-60 300 500"}));
  // A pod's own values beside its device's.
  EXPECT_EQ(
      texts(seen({over(60, card("A", 0, 300, 500)), over(60, pod("p", card("A", 0, 200, 100))),
                  over(30, pod("q", card("A", 30, 100, 400)))})),
      (Texts{"A - 0-30 300 500", "A - 30-60 300 500", "A p 0-30 200 100", "A p 30-60 200 100",
             "A q 30-60 100 400"}));
}

TEST(UtilizationInterval, TakesTheSampleBeforeTheStretchAndCutsAtBothEnds) {
  const std::vector<Usage> usages = {card("A", -150, 100, 0), card("A", -149, 200, 0),
                                     card("A", 100, 300, 0)};
  EXPECT_EQ(texts(seen(usages, {}, between(0, 120))),
            (Texts{"A - 0-1 200 0", "A - 100-120 300 0"}));
  EXPECT_EQ(seen(usages, {}, between(0, 120)).samples, 2u);
  EXPECT_EQ(texts(seen(usages, {}, between(50, 100))), Texts{});
}

TEST(UtilizationInterval, ShiftsASkewedClock) {
  UsageRules rules;
  rules.shift_ms = -30'500;
  EXPECT_EQ(texts(seen({card("A", 60, 100, 250)}, {}, between(0, 60), rules)),
            (Texts{"A - 29.5-60 100 250"}));
}

TEST(UtilizationInterval, HoldsAsLongAsTheRulesSay) {
  const UsageRules rules{
      .activity = {}, .interval_ms = 15'000, .hold_permille = 1100, .shift_ms = 0};
  EXPECT_EQ(texts(seen({card("A", 0, 100, 250)}, {}, kHour, rules)), (Texts{"A - 0-16.5 ? 250"}));
}

TEST(UtilizationInterval, TakesTheFirstActivityThatIsKnown) {
  using enum UsageRules::Activity;
  Usage all = card("A", 0, 300, 0);
  all.sm_active_ppm = 200'000;
  all.gpu_util_ppm = 1'000'000;
  Usage sm = all;
  sm.engine_active_ppm.reset();
  Usage util = sm;
  util.sm_active_ppm.reset();
  const auto compute = [](const Usage& usage, std::vector<UsageRules::Activity> activity) {
    UsageRules rules;
    rules.activity = std::move(activity);
    const ObservedUtilization found = seen({usage}, {}, kHour, rules);
    return found.series.empty() ? "none" : value_text(found.series[0].intervals[0].compute);
  };
  EXPECT_EQ(compute(all, {kEngineActive, kSmActive, kGpuUtil}), "300");
  EXPECT_EQ(compute(sm, {kEngineActive, kSmActive, kGpuUtil}), "200");
  EXPECT_EQ(compute(util, {kEngineActive, kSmActive, kGpuUtil}), "1000");
  EXPECT_EQ(compute(all, {kSmActive}), "200");
  EXPECT_EQ(compute(all, {kGpuUtil, kEngineActive}), "1000");
  EXPECT_EQ(compute(util, {kEngineActive}), "?");
}

TEST(UtilizationInterval, FloorsToUnitsAndClampsToTheScale) {
  Usage usage = row("A", 0);
  usage.sm_active_ppm = 1;  // 72.072 units
  usage.memory_used_bytes = 1;
  usage.memory_total_bytes = 7;
  EXPECT_EQ(texts(seen({usage})), (Texts{"A - 0-150 72 units 10296000 units"}));

  usage.sm_active_ppm = 1'294'000;  // SM_ACTIVE 1.294, DCGM issue #152
  usage.memory_used_bytes = 8;
  EXPECT_EQ(texts(seen({usage})), (Texts{"A - 0-150 1000 1000"}));
  EXPECT_EQ(seen({usage}).clamped, 2u);

  usage.memory_used_bytes = std::uint64_t{1} << 45;  // the product needs more than 64 bits
  usage.memory_total_bytes = std::uint64_t{1} << 46;
  EXPECT_EQ(texts(seen({usage})), (Texts{"A - 0-150 1000 500"}));
}

TEST(UtilizationInterval, KeepsUnknownApartFromZero) {
  Usage compute = row("A", 0);
  compute.engine_active_ppm = 0;
  Usage memory = row("A", 60);
  memory.memory_used_bytes = 0;
  memory.memory_total_bytes = 10;
  Usage power = row("A", 90);  // says nothing of either, so it ends nothing
  power.power_milliwatts = 300'000;
  EXPECT_EQ(texts(seen({compute, memory, power})), (Texts{"A - 0-60 0 ?", "A - 60-210 ? 0"}));
}

TEST(UtilizationInterval, FindsTheMemoryOfTheDevice) {
  Usage usage = row("A", 0);
  usage.memory_used_bytes = 20 * kGiB;
  const auto memory = [&](const std::vector<Gpu>& gpus) {
    const ObservedUtilization found = seen({usage}, gpus);
    return found.series.empty() ? "none" : value_text(found.series[0].intervals[0].memory);
  };
  Gpu stated = gpu("A", "NVIDIA H100 80GB HBM3", {});
  stated.memory_bytes = 40 * kGiB;
  EXPECT_EQ(memory({stated}), "500");
  EXPECT_EQ(memory({gpu("A", "NVIDIA H100 80GB HBM3", {})}), "250");
  EXPECT_EQ(memory({}), "250");  // by the row's own model
  EXPECT_EQ(memory({gpu("A", "Abacus 9000", {})}), "none");
  usage.model = "Abacus 9000";
  EXPECT_EQ(memory({}), "none");
  usage.memory_total_bytes = 100 * kGiB;
  EXPECT_EQ(memory({stated}), "200");
  usage.memory_total_bytes = 0;
  EXPECT_EQ(memory({stated}), "none");

  Usage slice = instance("A", "1", "3g.20gb", 0, 500);
  slice.memory_used_bytes = 10 * kGiB;
  EXPECT_EQ(texts(seen({slice})), (Texts{"A/gi1 - 0-150 500 500"}));
  slice.mig_profile = "9g.90gb";
  EXPECT_EQ(texts(seen({slice})), (Texts{"A/gi1 - 0-150 500 ?"}));
}

TEST(UtilizationInterval, DoesNotConfuseModelsOfOneNamelessCard) {
  Usage h100 = row("A", 0);
  h100.memory_used_bytes = 20 * kGiB;
  Usage a100 = row("A", 60);
  a100.memory_used_bytes = 20 * kGiB;
  a100.model = "NVIDIA A100-SXM4-40GB";
  EXPECT_EQ(texts(seen({h100, a100})), (Texts{"A - 0-60 ? 250", "A - 60-210 ? 500"}));
}

TEST(UtilizationInterval, NamesMigInstancesAsTheLayoutOfTheTimeDoes) {
  const std::vector<Gpu> gpus = {
      gpu("A", "NVIDIA H100 80GB HBM3", {mig("A/gi7", "3g.40gb"), mig("MIG-1", "4g.40gb")}, 0),
      gpu("A", "NVIDIA H100 80GB HBM3", {mig("MIG-2", "3g.40gb"), mig("MIG-3", "4g.40gb")}, 600),
      gpu("A", "NVIDIA H100 80GB HBM3", {mig("MIG-4", "3g.40gb"), mig("MIG-5", "3g.40gb")}, 1200)};
  EXPECT_EQ(
      texts(seen({instance("A", "7", "3g.40gb", 0, 100), instance("A", "1", "4g.40gb", 0, 200),
                  instance("A", "7", "3g.40gb", 600, 300), instance("A", "7", "3g.40gb", 1200, 400),
                  instance("A", "8", "3g.40gb", -1, 500)},
                 gpus)),
      (Texts{"A/gi7 - 0-150 100 ?", "A/gi7 - 1200-1350 400 ?", "A/gi8 - 0-149 500 ?",
             "MIG-1 - 0-150 200 ?", "MIG-2 - 600-750 300 ?"}));
}

TEST(UtilizationInterval, TakesAFactThatEndedForNoLayout) {
  Gpu ended = gpu("A", "NVIDIA H100 80GB HBM3", {mig("MIG-1", "3g.40gb")}, 0);
  ended.to = at(60);
  EXPECT_EQ(
      texts(seen({instance("A", "7", "3g.40gb", 59, 100), instance("A", "7", "3g.40gb", 60, 200)},
                 {ended})),
      (Texts{"A/gi7 - 60-210 200 ?", "MIG-1 - 59-209 100 ?"}));
  // The same again, behind a time that no fact speaks of; in whatever order the rows come.
  const Gpu again = gpu("A", "NVIDIA H100 80GB HBM3", {mig("MIG-1", "3g.40gb")}, 120);
  const Usage before = instance("A", "7", "3g.40gb", 59, 100);
  const Usage between_them = instance("A", "7", "3g.40gb", 119, 200);
  const Usage after = instance("A", "7", "3g.40gb", 120, 300);
  const Texts expected = {"A/gi7 - 119-269 200 ?", "MIG-1 - 59-120 100 ?", "MIG-1 - 120-270 300 ?"};
  EXPECT_EQ(texts(seen({before, between_them, after}, {ended, again})), expected);
  EXPECT_EQ(texts(seen({after, between_them, before}, {again, ended})), expected);
}

TEST(UtilizationInterval, UsesNoGpuUtilUnderMig) {
  Usage usage = row("A", 0);
  usage.gpu_util_ppm = 1'000'000;
  usage.memory_used_bytes = 1;
  usage.memory_total_bytes = 4;
  const auto with_layout = [&](std::vector<MigInstance> layout) {
    return texts(seen({usage}, {gpu("A", "NVIDIA H100 80GB HBM3", std::move(layout))}));
  };
  EXPECT_EQ(with_layout({}), (Texts{"A - 0-150 1000 250"}));
  EXPECT_EQ(with_layout({mig("MIG-1", "1g.10gb")}), (Texts{"A - 0-150 ? 250"}));
  usage.mig_instance = "1";
  EXPECT_EQ(with_layout({}), (Texts{"A/gi1 - 0-150 ? 250"}));
}

TEST(UtilizationInterval, DistrustsMigProfilingOfAMixedA100) {
  Usage two = instance("A", "3", "2g.10gb", 0, 500);
  two.memory_used_bytes = 5 * kGiB;
  const auto with = [&](std::string model, std::vector<MigInstance> layout) {
    return seen({two}, {gpu("A", std::move(model), std::move(layout))});
  };
  const std::vector<MigInstance> mixed = {mig("A/gi3", "2g.10gb"), mig("A/gi9", "1g.5gb+me")};
  EXPECT_EQ(texts(with("NVIDIA A100-SXM4-40GB", mixed)), (Texts{"A/gi3 - 0-150 ? 500"}));
  EXPECT_EQ(with("NVIDIA A100-SXM4-40GB", mixed).unreliable, 1u);
  EXPECT_EQ(texts(with("", mixed)), (Texts{"A/gi3 - 0-150 ? 500"}));  // by the row's own model
  const std::vector<MigInstance> alike = {mig("A/gi3", "2g.10gb"), mig("A/gi5", "2g.10gb")};
  EXPECT_EQ(texts(with("NVIDIA A100-SXM4-40GB", alike)), (Texts{"A/gi3 - 0-150 500 500"}));
  const std::vector<MigInstance> ones = {mig("A/gi3", "1g.5gb"), mig("A/gi4", "1g.5gb")};
  EXPECT_EQ(texts(with("NVIDIA A100-SXM4-40GB", ones)), (Texts{"A/gi3 - 0-150 500 500"}));
  const std::vector<MigInstance> h100 = {mig("A/gi3", "2g.20gb"), mig("A/gi9", "1g.10gb")};
  two.mig_profile = "2g.20gb";
  EXPECT_EQ(texts(with("NVIDIA H100 80GB HBM3", h100)), (Texts{"A/gi3 - 0-150 500 250"}));
}

TEST(UtilizationInterval, CountsCopiesForPodsOnce) {
  // dcgm-exporter issue #582: the same power, memory and activity on each pod of a card.
  const ObservedUtilization usage =
      seen({pod("a", card("A", 0, 714, 500)), pod("b", card("A", 0, 714, 500)),
            pod("c", card("A", 0, 714, 500)), pod("a", card("A", 60, 100, 500))});
  EXPECT_EQ(texts(usage), (Texts{"A - 0-60 714 500", "A - 60-210 100 500"}));
  EXPECT_EQ(usage.copies, 2u);
  EXPECT_EQ(placed(usage), (Texts{"a A", "b A", "c A"}));
}

TEST(UtilizationInterval, TakesOneArbitraryLabelForTheDevice) {
  // Issue #151: of all pods on a card one has the series, and not always the same.
  const ObservedUtilization usage =
      seen({pod("a", card("A", 0, 714, 500)), pod("b", card("A", 60, 100, 500)),
            pod("b", card("A", 120, 200, 500))});
  EXPECT_EQ(texts(usage), (Texts{"A - 0-60 714 500", "A - 60-120 100 500", "A - 120-270 200 500"}));
  EXPECT_EQ(usage.copies, 0u);
  EXPECT_EQ(placed(usage), (Texts{"a A", "b A"}));
}

TEST(UtilizationInterval, KeepsAPodsOwnBesideTheDeviceOfTheSameInstant) {
  // Issue #594: GPU_UTIL and FB_USED by pod, and the device's row too. The pod that runs nothing
  // has zeros. GR_ENGINE_ACTIVE stays the device's: it is no pod's, unless that did everything.
  const ObservedUtilization usage = seen(
      {with_util(900, card("A", 0, 714, 600)), pod("a", with_util(600, card("A", 0, 714, 350))),
       pod("b", with_util(300, card("A", 0, 714, 250))), with_util(900, card("A", 60, 500, 400)),
       pod("a", with_util(900, card("A", 60, 500, 350))),
       pod("b", with_util(0, card("A", 60, 500, 0))), with_util(0, card("A", 120, 0, 0)),
       pod("a", with_util(0, card("A", 120, 0, 0))), pod("b", with_util(0, card("A", 120, 0, 0)))});
  EXPECT_EQ(texts(usage), (Texts{"A - 0-60 714 600", "A - 60-120 500 400", "A - 120-270 0 0",
                                 "A a 0-60 600 350", "A a 60-120 500 350", "A a 120-270 0 0",
                                 "A b 0-60 300 250", "A b 60-120 0 0", "A b 120-270 0 0"}));
  EXPECT_EQ(usage.copies, 0u);
}

TEST(UtilizationInterval, TakesTheOnlyPodOfADeviceAsItIs) {
  EXPECT_EQ(
      texts(seen({with_util(900, card("A", 0, 714, 600)),
                  pod("a", with_util(900, card("A", 0, 714, 600))),
                  with_util(900, card("B", 0, 714, 600)),
                  pod("a", with_util(500, card("B", 0, 714, 600)))})),
      (Texts{"A - 0-150 714 600", "A a 0-150 714 600", "B - 0-150 714 600", "B a 0-150 500 600"}));
}

TEST(UtilizationInterval, TakesGpuUtilOfPodsThatAreAlikeButForMemory) {
  EXPECT_EQ(texts(seen({pod("a", with_util(400, card("A", 0, 714, 350))),
                        pod("b", with_util(400, card("A", 0, 714, 250)))})),
            (Texts{"A a 0-150 400 350", "A b 0-150 400 250"}));
}

TEST(UtilizationInterval, DoesNotTakeSeveralWholesForParts) {
  // A node's exporter beside one that copies: two pods can't both have done all of it.
  const ObservedUtilization usage = seen(
      {card("A", 0, 714, 600), pod("a", card("A", 0, 714, 600)), pod("b", card("A", 0, 714, 600))});
  EXPECT_EQ(texts(usage), (Texts{"A - 0-150 714 600"}));
  EXPECT_EQ(usage.copies, 2u);
}

TEST(UtilizationInterval, TakesRowsThatDifferForThePodsOwn) {
  const ObservedUtilization usage =
      seen({pod("a", card("A", 0, 600, 350)), pod("b", card("A", 0, 100, 250))});
  EXPECT_EQ(texts(usage), (Texts{"A a 0-150 600 350", "A b 0-150 100 250"}));
}

TEST(UtilizationInterval, HasNoComputeByProcessUnderMig) {
  // DCGM issue #58: memory is the pod's, activity is the instance's.
  const auto on_mig = [](std::string name, std::uint64_t memory) {
    Usage usage = instance("A", "1", "3g.20gb", 0, 800);
    usage.memory_used_bytes = memory;
    usage.memory_total_bytes = 1000;
    return name.empty() ? usage : pod(std::move(name), usage);
  };
  EXPECT_EQ(texts(seen({on_mig("", 700), on_mig("a", 400), on_mig("b", 300)})),
            (Texts{"A/gi1 - 0-150 800 700", "A/gi1 a 0-150 ? 400", "A/gi1 b 0-150 ? 300"}));
}

TEST(UtilizationInterval, LetsCopiesAndOwnValuesEndEachOther) {
  // While rows differ they are the pods' own, and nobody says what the device did; while they agree
  // they are the device's, and nobody says what the pods did.
  EXPECT_EQ(texts(seen({pod("a", card("A", 0, 600, 350)), pod("b", card("A", 0, 100, 250)),
                        pod("a", card("A", 60, 0, 10)), pod("b", card("A", 60, 0, 10)),
                        pod("a", card("A", 120, 700, 350)), pod("b", card("A", 120, 0, 0))})),
            (Texts{"A - 60-120 0 10", "A a 0-60 600 350", "A a 120-270 700 350", "A b 0-60 100 250",
                   "A b 120-270 0 0"}));
}

TEST(UtilizationInterval, TakesAWorkloadsOwnValuesAsTheyAre) {
  // HAMi's monitor has its own instants; rows that copy the device's end nothing of it.
  const ObservedUtilization usage =
      seen({own(pod("a", card("A", 0, 300, 200))), own(pod("a", card("A", 60, 300, 200))),
            pod("a", card("A", 15, 714, 500)), pod("b", card("A", 15, 714, 500)),
            card("A", 75, 720, 500)});
  EXPECT_EQ(texts(usage), (Texts{"A - 15-75 714 500", "A - 75-225 720 500", "A a 0-60 300 200",
                                 "A a 60-210 300 200"}));
  EXPECT_EQ(placed(usage), (Texts{"a A", "b A"}));
}

TEST(UtilizationInterval, PrefersAWorkloadsOwnValuesOfOneInstant) {
  const ObservedUtilization usage =
      seen({card("A", 0, 714, 500), own(pod("a", card("A", 0, 300, 200))),
            pod("a", card("A", 0, 100, 100))});
  EXPECT_EQ(texts(usage), (Texts{"A - 0-150 714 500", "A a 0-150 300 200"}));
  EXPECT_EQ(usage.copies, 1u);
}

TEST(UtilizationInterval, KeepsOneOfTwoSamplesOfOneInstant) {
  Usage elsewhere = card("A", 0, 400, 500);
  elsewhere.node = NodeId("m");
  const ObservedUtilization usage = seen({elsewhere, card("A", 0, 300, 500)});
  EXPECT_EQ(texts(usage), (Texts{"A - 0-150 300 500"}));
  EXPECT_EQ(usage.copies, 1u);
}

TEST(UtilizationInterval, SightingsEndWhereTheWorkloadIsNotSeenAnyMore) {
  // Silent for 150 s at most: one sighting. Longer: two, of which a run has what is of its time.
  const ObservedUtilization usage =
      seen({pod("a", card("A", 60, 0, 0)), pod("a", card("A", 210, 0, 0)),
            pod("a", card("A", 361, 0, 0)), own(pod("a", card("B", 400, 0, 0)))});
  const WorkloadId a("a");
  EXPECT_EQ(usage.placed, (std::vector<WorkloadSighting>{{a, GpuId("A"), at(60), at(210)},
                                                         {a, GpuId("A"), at(361), at(361)},
                                                         {a, GpuId("B"), at(400), at(400)}}));
  EXPECT_TRUE(usage.placed[0].is_within(between(100, 200)));
  EXPECT_TRUE(usage.placed[0].is_within(between(210, 211)));
  EXPECT_FALSE(usage.placed[0].is_within(between(0, 60)));
  EXPECT_FALSE(usage.placed[0].is_within(between(211, 300)));
  // A span was observed to its end, and is silent from there on: of a pod that was resized within
  // it, both holdings are there.
  const ObservedUtilization spans = seen({own(over(900, pod("a", card("A", 0, 0, 0)))),
                                          own(over(900, pod("a", card("A", 1049, 0, 0))))});
  ASSERT_EQ(spans.placed.size(), 1u);
  EXPECT_TRUE(spans.placed[0].is_within(between(300, 720)));
  EXPECT_TRUE(spans.placed[0].is_within(between(1948, 2000)));
  EXPECT_FALSE(spans.placed[0].is_within(between(1949, 2000)));
}

TEST(UtilizationInterval, PlacesWhereOnlyTheLabelSaysAnything) {
  Usage power = pod("a", row("A", 10));
  power.power_milliwatts = 1;
  const ObservedUtilization usage = seen(
      {power, pod("a", card("B", 10, 0, 0)), card("C", 10, 0, 0), pod("z", card("C", 7200, 0, 0))});
  EXPECT_EQ(placed(usage), (Texts{"a A", "a B"}));
  EXPECT_EQ(texts(usage), (Texts{"B - 10-160 0 0", "C - 10-160 0 0"}));
}

TEST(UtilizationInterval, RefusesStretchesThatDoNotFit) {
  const Interval long_one(kMidnight, kMidnight + std::chrono::days(50));
  EXPECT_THROW(seen({}, {}, long_one), InvariantError);
  EXPECT_TRUE(seen({}, {}, {kMidnight, kMidnight + std::chrono::days(48)}).series.empty());
}

// Rows drawn from so few values that copies, twins, gaps and changes of layout are frequent.
struct Anything {
  std::vector<Usage> usages;
  std::vector<Gpu> gpus;
};

Usage any_usage() {
  const auto one_of = [](std::initializer_list<const char*> texts) {
    return std::string(*rc::gen::elementOf(std::vector<std::string>(texts.begin(), texts.end())));
  };
  Usage usage = row(one_of({"A", "A", "B"}), *rc::gen::inRange<std::int64_t>(-10, 60) * 20);
  if (*rc::gen::inRange(0, 3) == 0) {
    usage.mig_instance = one_of({"1", "2"});
    usage.mig_profile = one_of({"1g.5gb", "3g.20gb"});
  }
  usage.model = one_of({"NVIDIA A100-SXM4-40GB", "NVIDIA H100 80GB HBM3"});
  const auto maybe = [](std::initializer_list<std::uint64_t> values) {
    const auto drawn = *rc::gen::elementOf(std::vector<std::uint64_t>(values));
    return drawn == 7 ? std::nullopt : std::optional(drawn);
  };
  usage.engine_active_ppm = maybe({7, 0, 300'000, 300'000, 1'294'000});
  usage.gpu_util_ppm = maybe({7, 0, 500'000, 1'000'000});
  usage.memory_used_bytes = maybe({7, 0, kGiB, 3 * kGiB, 90 * kGiB});
  usage.memory_total_bytes = maybe({7, 7, 4 * kGiB});
  usage.workload = WorkloadId(one_of({"", "a", "a", "b"}));
  usage.of_workload = *rc::gen::inRange(0, 8) == 0;
  return usage;
}

Anything anything() {
  Anything drawn;
  // One fact of a natural key, as the ledger keeps it.
  std::set<std::string> keys;
  const int count = *rc::gen::inRange(0, 40);
  for (int i = 0; i < count; ++i) {
    Usage usage = any_usage();
    if (keys.insert(to_text(natural_key(usage))).second) drawn.usages.push_back(std::move(usage));
  }
  for (const char* uuid : {"A", "B"}) {
    for (const std::int64_t from : {-300, 200, 500}) {
      std::vector<MigInstance> layout;
      if (*rc::gen::arbitrary<bool>()) layout.push_back(mig("MIG-1", "1g.5gb"));
      if (*rc::gen::arbitrary<bool>()) layout.push_back(mig("A/gi2", "3g.20gb"));
      if (*rc::gen::arbitrary<bool>()) {
        drawn.gpus.push_back(gpu(uuid, "NVIDIA A100-SXM4-40GB", std::move(layout), from));
        if (*rc::gen::arbitrary<bool>()) drawn.gpus.back().to = at(from + 100);
      }
    }
  }
  return drawn;
}

constexpr int kEnd = 1300;  // seconds, behind every sample that is drawn

RC_GTEST_PROP(UtilizationInterval, DoesNotDependOnTheOrder, ()) {
  Anything drawn = anything();
  const ObservedUtilization once = seen(drawn.usages, drawn.gpus);
  std::mt19937 shuffler(*rc::gen::arbitrary<std::uint32_t>());
  std::ranges::shuffle(drawn.usages, shuffler);
  std::ranges::shuffle(drawn.gpus, shuffler);
  const ObservedUtilization again = seen(drawn.usages, drawn.gpus);
  RC_ASSERT(texts(once) == texts(again));
  RC_ASSERT(once.placed == again.placed);
  RC_ASSERT(std::tie(once.samples, once.clamped, once.unreliable, once.copies) ==
            std::tie(again.samples, again.clamped, again.unreliable, again.copies));
}

RC_GTEST_PROP(UtilizationInterval, SaysTheSameOfFactsThatComeTwice, ()) {
  Anything drawn = anything();
  const ObservedUtilization once = seen(drawn.usages, drawn.gpus);
  for (const Usage& usage : std::vector<Usage>(drawn.usages)) {
    if (*rc::gen::arbitrary<bool>()) drawn.usages.push_back(usage);
  }
  const ObservedUtilization again = seen(drawn.usages, drawn.gpus);
  RC_ASSERT(texts(once) == texts(again));
  RC_ASSERT(once.placed == again.placed);
}

RC_GTEST_PROP(UtilizationInterval, NeverOverlapsAndStaysWithin, ()) {
  const Anything drawn = anything();
  const ObservedUtilization usage = seen(drawn.usages, drawn.gpus, between(0, 600));
  for (std::size_t i = 0; i < usage.series.size(); ++i) {
    const UtilizationSeries& series = usage.series[i];
    RC_ASSERT(!series.intervals.empty());
    if (i > 0) {
      const UtilizationSeries& before = usage.series[i - 1];
      RC_ASSERT(std::tie(before.device, before.workload) <
                std::tie(series.device, series.workload));
    }
    std::uint32_t free_from = 0;
    for (const UtilizationInterval& each : series.intervals) {
      RC_ASSERT(each.begin_ms >= free_from);
      RC_ASSERT(each.begin_ms < each.end_ms);
      RC_ASSERT(each.end_ms - each.begin_ms <= UsageRules{}.hold_ms());
      RC_ASSERT(each.compute <= CardShare::kUnitsPerCard ||
                each.compute == UtilizationInterval::kUnknown);
      RC_ASSERT(each.memory <= CardShare::kUnitsPerCard ||
                each.memory == UtilizationInterval::kUnknown);
      RC_ASSERT(each.compute != UtilizationInterval::kUnknown ||
                each.memory != UtilizationInterval::kUnknown);
      free_from = each.end_ms;
    }
    RC_ASSERT(free_from <= 600'000u);
  }
}

// Each series' intervals from `shift_ms` on, cut at `cut_ms`.
using Cut = std::map<std::pair<GpuId, WorkloadId>, std::vector<std::vector<std::uint32_t>>>;
void cut_into(Cut& cut, const ObservedUtilization& usage, std::uint32_t shift_ms,
              std::uint32_t cut_ms) {
  for (const UtilizationSeries& series : usage.series) {
    auto& pieces = cut[{series.device, series.workload}];
    for (const UtilizationInterval& each : series.intervals) {
      const std::uint32_t begin = each.begin_ms + shift_ms;
      const std::uint32_t end = each.end_ms + shift_ms;
      if (begin < cut_ms && cut_ms < end) {
        pieces.push_back({begin, cut_ms, each.compute, each.memory});
        pieces.push_back({cut_ms, end, each.compute, each.memory});
      } else {
        pieces.push_back({begin, end, each.compute, each.memory});
      }
    }
  }
}

RC_GTEST_PROP(UtilizationInterval, IsWhatItsStretchesAre, ()) {
  const Anything drawn = anything();
  const int cut = *rc::gen::inRange(1, kEnd);
  const auto cut_ms = static_cast<std::uint32_t>(cut) * 1000;
  const ObservedUtilization whole = seen(drawn.usages, drawn.gpus, between(0, kEnd));
  const ObservedUtilization first = seen(drawn.usages, drawn.gpus, between(0, cut));
  const ObservedUtilization second = seen(drawn.usages, drawn.gpus, between(cut, kEnd));
  Cut expected;
  cut_into(expected, whole, 0, cut_ms);
  Cut pieces;
  cut_into(pieces, first, 0, cut_ms);
  cut_into(pieces, second, cut_ms, cut_ms);
  RC_ASSERT(pieces == expected);
  Texts both = placed(first);
  std::ranges::copy(placed(second), std::back_inserter(both));
  std::ranges::sort(both);
  both.erase(std::ranges::unique(both).begin(), both.end());
  RC_ASSERT(both == placed(whole));
}

RC_GTEST_PROP(UtilizationInterval, IsTheLatestSampleWithinTheHold, ()) {
  // An oracle for rows that name no pod: second by second, look for the latest one.
  std::map<std::int64_t, Usage> by_time;
  const int count = *rc::gen::inRange(0, 12);
  for (int i = 0; i < count; ++i) {
    const auto time = *rc::gen::inRange<std::int64_t>(-200, 400);
    by_time.insert_or_assign(time, card("A", time, *rc::gen::inRange<std::uint64_t>(0, 1001), 500));
  }
  std::vector<Usage> usages;
  for (const auto& [time, usage] : by_time) usages.push_back(usage);
  const ObservedUtilization usage = seen(usages, {}, between(0, 300));
  for (std::int64_t second = 0; second < 300; ++second) {
    std::string expected = "none";
    for (const auto& [time, each] : by_time) {
      if (time > second) break;
      expected = second - time < 150
                     ? value_text(static_cast<std::uint32_t>(*each.engine_active_ppm * 9009 / 125))
                     : "none";
    }
    std::string found = "none";
    for (const UtilizationSeries& series : usage.series) {
      for (const UtilizationInterval& each : series.intervals) {
        const auto ms = static_cast<std::uint32_t>(second * 1000);
        if (each.begin_ms <= ms && ms < each.end_ms) found = value_text(each.compute);
      }
    }
    RC_ASSERT(found == expected);
  }
}

}  // namespace
}  // namespace pennyweight
