#include <gtest/gtest.h>

#include <string>

#include "core/card_share.h"
#include "core/int128.h"
#include "insight/guardrails/usage_limit.h"

namespace pennyweight::guardrails {
namespace {

using manifests::Lifetime;

constexpr Currency kTestedUnit{"XTS"};
constexpr std::uint64_t kHourOfLimitMs = 3'600'000;

UInt128 card_units(std::uint64_t gpus) { return UInt128{gpus} * CardShare::kUnitsPerCard; }

WorkloadEstimate limited_work(Lifetime lifetime, std::uint64_t replicas, std::uint64_t gpus_each) {
  WorkloadEstimate work;
  work.workload.labels["team"] = "nlp";
  work.workload.lifetime = lifetime;
  GroupEstimate group;
  group.group.replicas = replicas;
  group.group.gpus = {manifests::whole_gpus(gpus_each)};
  group.gpu_units = group.gpu_units_max = card_units(replicas * gpus_each);
  work.groups = {group};
  return work;
}

// Why work is denied, with 100 GPU-hours a month, of which 40 are used, and `left` hours of it.
std::string why_denied(const WorkloadEstimate& work, std::uint64_t left) {
  const LimitUse use{.limit = {.name = "nlp", .gpu_hours = Money::from_units(100, kTestedUnit)},
                     .gpu_hours = Money::from_units(40, kTestedUnit)};
  const LimitUse uses[] = {use};
  const auto hits = limit_hits(work, uses, kUsd, left * kHourOfLimitMs, nullptr);
  if (hits.empty()) return "";
  EXPECT_EQ(hits[0].effect, RuleEffect::kDeny);
  return hits[0].because;
}

TEST(HoursLimit, CountsTheGpuHoursOfNewWork) {
  const WorkloadEstimate service = limited_work(Lifetime::kService, 3, 2);
  EXPECT_EQ(why_denied(service, 10), "");  // 60 of 60
  EXPECT_EQ(why_denied(service, 11),
            "it may hold 66.00 GPU-hours this month, and 60.00 of 100.00 are left");
  WorkloadEstimate scaled = service;
  scaled.groups[0].gpu_units_max = card_units(12);
  EXPECT_NE(why_denied(scaled, 10), "");
  EXPECT_EQ(why_denied(scaled, 5), "");
}

TEST(HoursLimit, ARunEndsWithItsTimeOrTheMonth) {
  WorkloadEstimate run = limited_work(Lifetime::kRun, 8, 8);
  EXPECT_NE(why_denied(run, 720), "");                // nothing limits it: 64 x 720
  run.groups[0].replica_ms_max = 7 * kHourOfLimitMs;  // of all replicas: 8 GPUs x 7 h
  EXPECT_EQ(why_denied(run, 720), "");                // 56
  run.groups[0].replica_ms_max = 8 * kHourOfLimitMs;  // 64
  EXPECT_NE(why_denied(run, 720), "");
  run.workload.lifetime = Lifetime::kScheduled;
  run.groups[0].replica_ms_max = kHourOfLimitMs;
  run.runs_per_month = 7;
  EXPECT_EQ(why_denied(run, 720), "");  // 56
  run.runs_per_month = 8;
  EXPECT_NE(why_denied(run, 720), "");
  run.runs_per_month.reset();
  EXPECT_EQ(why_denied(run, 720),
            "how long it holds GPUs is not known, and 60.00 GPU-hours are left this month");
}

// A component counts by its own lifetime, also where the limit is only its own.
TEST(HoursLimit, ComponentsGoOnAsTheyDo) {
  WorkloadEstimate whole = limited_work(Lifetime::kService, 1, 1);
  const auto add = [&](Lifetime lifetime, const char* team, std::uint64_t replicas) {
    const std::size_t index = whole.groups.size();
    whole.groups.push_back(limited_work(lifetime, replicas, 1).groups[0]);
    whole.workload.parts.push_back({.kind = "x",
                                    .name_space = "ml",
                                    .name = "c",
                                    .labels = {{"team", team}},
                                    .lifetime = lifetime,
                                    .groups = {index}});
    return index;
  };
  whole.groups.clear();
  add(Lifetime::kService, "nlp", 2);
  const std::size_t run = add(Lifetime::kRun, "nlp", 4);
  const std::size_t schedule = add(Lifetime::kScheduled, "nlp", 1);
  add(Lifetime::kService, "cv", 100);
  whole.groups[run].replica_ms_max = 4 * 5 * kHourOfLimitMs;
  whole.groups[schedule].replica_ms_max = kHourOfLimitMs;
  whole.runs_of_parts = {std::nullopt, std::nullopt, 20, std::nullopt};
  whole.workload.labels.clear();         // its components differ
  EXPECT_EQ(why_denied(whole, 10), "");  // 2 x 10, 4 x 5 and 20 x 1
  EXPECT_EQ(why_denied(whole, 11),
            "it may hold 62.00 GPU-hours this month, and 60.00 of 100.00 are left");
  whole.runs_of_parts[2].reset();
  EXPECT_NE(why_denied(whole, 10), "");
}

TEST(HoursLimit, WholeGpusNeedNoPriceToBeCounted) {
  WorkloadEstimate work = limited_work(Lifetime::kService, 3, 2);
  work.groups[0].problem = "no price";
  work.groups[0].gpu_units = work.groups[0].gpu_units_max = 0;
  EXPECT_EQ(why_denied(work, 10), "");
  EXPECT_NE(why_denied(work, 11), "");
  work.groups[0].group.gpus[0].kind = RequestedDevice::Kind::kReplica;
  EXPECT_NE(why_denied(work, 1), "");  // of an unknown size
  work.groups[0].group.gpus.clear();
  EXPECT_EQ(why_denied(work, 720), "");
  // Nothing says whether these are GPUs.
  work.groups[0].group.unknown_resources = {"example.com/fast"};
  EXPECT_NE(why_denied(work, 1), "");
}

}  // namespace
}  // namespace pennyweight::guardrails
