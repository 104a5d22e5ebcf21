#include "insight/guardrails/estimate.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "ingest/manifests/manifest_files.h"
#include "insight/guardrails/changed_estimate.h"
#include "insight/guardrails/comparison.h"
#include "insight/guardrails/estimate_report.h"
#include "insight/guardrails/findings.h"

namespace pennyweight::guardrails {
namespace {

// A machine of 8 H100 with 100 CPUs and 1000 GiB at 40 an hour: CPU and memory are 4 each at these
// market prices, the GPUs 32.
constexpr std::string_view kPrices =
    "provider,region,instance_type,option,from,per_hour,currency,gpu_model,gpu_count,vcpu,memory_"
    "gib\n"
    "test,r1,big,on_demand,2026-01-01,40,USD,H100-SXM5-80GB,8,100,1000\n"
    "test,r1,big,spot,2026-01-01,16,USD,H100-SXM5-80GB,8,100,1000\n"
    "test,r2,big,on_demand,2026-01-01,48,USD,H100-SXM5-80GB,8,100,1000\n"
    "test,r1,small,on_demand,2026-01-01,9,USD,H100-SXM5-80GB,1,10,100\n"
    "test,r1,a100,on_demand,2026-01-01,24,USD,A100-SXM4-80GB,8,100,1000\n"
    "test,,(cpu),on_demand,2026-01-01,0.04,USD,,,,\n"
    "test,,(memory_gib),on_demand,2026-01-01,0.004,USD,,,,\n";

Money usd(std::string_view amount) {
  return Money::from_decimal(parse_exact_decimal(amount).value(), kUsd);
}

Result<Estimate> estimate_text(const std::string& text, EstimateOptions options = {}) {
  const auto catalog = Catalog::built_in().overridden_by(kPrices, "prices.csv");
  EXPECT_TRUE(catalog) << catalog.error().message;
  if (!catalog) return std::unexpected(catalog.error());
  options.provider = "test";
  options.at = parse_instant("2026-11-01").value();
  const manifests::ManifestFile file{"f.yaml", text};
  const auto reading = manifests::read_manifest_files({&file, 1});
  if (!reading) return std::unexpected(reading.error());
  return estimate_workloads(*reading, *catalog, options);
}

GroupEstimate one_group(const std::string& text, const EstimateOptions& options = {}) {
  const auto estimate = estimate_text(text, options);
  EXPECT_TRUE(estimate) << estimate.error().message;
  if (!estimate || estimate->workloads.size() != 1 || estimate->workloads[0].groups.size() != 1) {
    ADD_FAILURE() << "not one group";
    return {};
  }
  return estimate->workloads[0].groups[0];
}

std::string deployment(int replicas, const std::string& resources) {
  return "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\nspec: {replicas: " +
         std::to_string(replicas) +
         ", template: {spec: {nodeSelector: {nvidia.com/gpu.product: NVIDIA-H100-80GB-HBM3}, "
         "containers: [{resources: {limits: {" +
         resources + "}}}]}}}\n";
}

TEST(Estimate, DividesTheMachineAsAllocationDoes) {
  // Three of two GPUs each fit one machine: 3/4 of 32, 30 of 100 CPUs, 300 of 1000 GiB.
  const GroupEstimate group = one_group(deployment(3, "nvidia.com/gpu: 2, cpu: 10, memory: 100Gi"));
  EXPECT_EQ(group.problem, "");
  ASSERT_TRUE(group.machine);
  EXPECT_EQ(group.machine->instance_type, "big");
  EXPECT_EQ(group.machines, 1U);
  EXPECT_EQ(group.gpu, usd("24"));
  EXPECT_EQ(group.cpu, usd("1.2"));
  EXPECT_EQ(group.memory, usd("1.2"));
  EXPECT_EQ(group.idle, usd("13.6"));
  EXPECT_EQ(group.per_month, usd("19272"));  // 26.4 x 730
}

TEST(Estimate, TakesTheCheapestMachinesThatHoldTheReplicas) {
  // One GPU: a small machine at 9 is cheaper than a whole big one.
  const GroupEstimate one = one_group(deployment(1, "nvidia.com/gpu: 1"));
  EXPECT_EQ(one.machine->instance_type, "small");
  // Eight of them: one big machine at 40 is cheaper than eight small ones at 72.
  const GroupEstimate eight = one_group(deployment(8, "nvidia.com/gpu: 1"));
  EXPECT_EQ(eight.machine->instance_type, "big");
  EXPECT_EQ(eight.gpu, usd("32"));
  EXPECT_EQ(eight.idle, usd("8"));
  // More memory than a small one has.
  const GroupEstimate wide = one_group(deployment(1, "nvidia.com/gpu: 1, memory: 200Gi"));
  EXPECT_EQ(wide.machine->instance_type, "big");
}

TEST(Estimate, OffersCheaperWays) {
  const GroupEstimate group = one_group(deployment(8, "nvidia.com/gpu: 1"));
  ASSERT_EQ(group.alternatives.size(), 1U);
  EXPECT_EQ(group.alternatives[0].machine.option, PurchaseOption::kSpot);
  EXPECT_EQ(group.alternatives[0].saving_per_hour, usd("24"));
}

TEST(Estimate, PricesPartsOfGpus) {
  // 1g.10gb is 1/7 of the compute and 1/8 of the memory of an H100: 1/7 of 32 for each of seven.
  const GroupEstimate group =
      one_group(deployment(7, "nvidia.com/mig-1g.10gb: 1"), {.instance_type = "big"});
  EXPECT_EQ(group.problem, "");
  EXPECT_EQ(group.machines, 1U);
  EXPECT_EQ(group.gpu, usd("4"));
  EXPECT_EQ(group.idle, usd("36"));
}

TEST(Estimate, PricesRunsUpToTheirLimit) {
  EstimateOptions options;
  options.gpu_models[""] = "H100-SXM5-80GB";
  const GroupEstimate array = one_group(
      "#!/bin/sh\n#SBATCH --gres=gpu:8 -c 100 --mem=1000G -t 90 --array=0-9%2\n", options);
  EXPECT_EQ(array.machines, 2U);
  EXPECT_EQ(array.per_hour(), usd("80"));
  EXPECT_EQ(array.per_run_max, usd("600"));  // 10 tasks x 1.5 h x 40
  EXPECT_FALSE(array.per_month);
  const GroupEstimate unlimited = one_group("srun -G 8 x", options);
  EXPECT_FALSE(unlimited.per_run_max);
  options.run_ms = 7'200'000;
  const GroupEstimate stated = one_group("srun -G 8 --exclusive x", options);
  EXPECT_EQ(stated.per_run_max, usd("80"));
}

TEST(Estimate, SpansMachinesWhereSlurmMay) {
  EstimateOptions options;
  options.gpu_models[""] = "H100-SXM5-80GB";
  const GroupEstimate group = one_group("srun --gpus=20 -t 60 x", options);
  EXPECT_EQ(group.machine->instance_type, "big");
  EXPECT_EQ(group.machines, 3U);
  EXPECT_EQ(group.gpu, usd("80"));  // 20 of 24 GPUs, 32 x 3
}

TEST(Estimate, CountsASchedulesMonth) {
  const auto estimate = estimate_text(
      "apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: c}\nspec: {schedule: '0 3 * * *', "
      "jobTemplate: {spec: {activeDeadlineSeconds: 3600, template: {spec: {nodeSelector: "
      "{node.kubernetes.io/instance-type: big}, containers: [{resources: {limits: {nvidia.com/gpu: "
      "8}}}]}}}}}\n");
  ASSERT_TRUE(estimate);
  EXPECT_EQ(estimate->workloads[0].runs_per_month, 30U);
  EXPECT_EQ(estimate->workloads[0].groups[0].per_run_max, usd("32"));
  EXPECT_EQ(estimate->totals().per_month, usd("960"));
}

TEST(Estimate, PricesPodsWithoutGpusAtMarketPrices) {
  const GroupEstimate group = one_group(
      "apiVersion: v1\nkind: Pod\nspec: {containers: [{resources: {requests: {cpu: 500m, memory: "
      "1Gi}}}]}\n");
  EXPECT_EQ(group.cpu, usd("0.02"));
  EXPECT_EQ(group.memory, usd("0.004"));
  EXPECT_FALSE(group.machine);
}

TEST(Estimate, WholeMachinesOfAnUnknownKindHaveNoPrice) {
  const std::string job = "#!/bin/sh\n#SBATCH --exclusive --nodes=4\n";
  EXPECT_NE(one_group(job).problem.find("takes whole machines"), std::string::npos);
  EstimateOptions options;
  options.instance_type = "big";
  EXPECT_EQ(one_group(job, options).per_hour(), usd("160"));
}

TEST(Estimate, AGpuOfOneVendorIsNeverPricedAsAnothers) {
  EstimateOptions options;
  options.gpu_models = {{"", "H100-SXM5-80GB"}};
  EXPECT_EQ(one_group("apiVersion: v1\nkind: Pod\nspec: {containers: [{resources: {limits: "
                      "{nvidia.com/gpu: 1}}}]}\n",
                      options)
                .problem,
            "");
  EXPECT_NE(one_group("apiVersion: v1\nkind: Pod\nspec: {containers: [{resources: {limits: "
                      "{amd.com/gpu: 1}}}]}\n",
                      options)
                .problem.find("a GPU of AMD"),
            std::string::npos);
  options.instance_type = "big";
  EXPECT_NE(one_group("apiVersion: v1\nkind: Pod\nspec: {containers: [{resources: {limits: "
                      "{amd.com/gpu: 1}}}]}\n",
                      options)
                .problem,
            "");
}

TEST(Estimate, SaysWhyItCanNotPrice) {
  const auto problem = [](const std::string& text, const EstimateOptions& options = {}) {
    return one_group(text, options).problem;
  };
  EXPECT_NE(problem("srun -G 1 -t 1 x").find("--gpu-model"), std::string::npos);
  EXPECT_NE(problem("srun --gres=gpu:a100:1 -t 1 x").find("--gpu-model a100=MODEL"),
            std::string::npos);
  EXPECT_NE(problem(deployment(1, "nvidia.com/gpu: 9")).find("holds one replica (9 GPUs"),
            std::string::npos);
  EXPECT_NE(problem(deployment(1, "nvidia.com/gpu: 1"), {.region = "r9"}).find("in r9"),
            std::string::npos);
  EXPECT_NE(problem(deployment(1, "nvidia.com/gpu: 1"), {.currency = kEur}), "");
  const auto unknown = estimate_text(deployment(1, "cpu: 1"), {.instance_type = "huge"});
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().message.find("--instance-type"), std::string::npos);
}

TEST(Estimate, NothingAbsurdAborts) {
  EstimateOptions options;
  options.gpu_models[""] = "H100-SXM5-80GB";
  for (const std::string_view text : {"srun -N 1000000 --gres=gpu:8 -t 100000-0 x",
                                      "srun --gpus=1000000 -t 100000-0 --array=0-999999 x",
                                      "srun -N 1000000 --array=0-999999 --gres=gpu:1 -t 1 x",
                                      "srun --gpus=1000000 --mem-per-gpu=1000T -t 1 x",
                                      "srun -n 1000000 -c 1000000 --gpus=1 -t 1 x"}) {
    const auto estimate = estimate_text(std::string(text), options);
    ASSERT_TRUE(estimate) << text;
    (void)estimate->totals();
  }
}

// Many components that use many claims of their own.
TEST(Estimate, SharedClaimsAreJoinedUpToALimit) {
  const auto joined = [](std::size_t claims, std::size_t parts) {
    WorkloadEstimate whole;
    whole.workload.kind = "AppWrapper";
    whole.workload.parts.resize(parts);
    Estimate arrived;
    for (std::size_t i = 0; i < claims; ++i) {
      WorkloadEstimate claim;
      claim.workload.kind = "ResourceClaim";
      claim.workload.name = std::to_string(i);
      claim.workload.groups.resize(1);
      arrived.workloads.push_back(std::move(claim));
      whole.workload.shared_claims.push_back("/" + std::to_string(i));
    }
    arrived.workloads.push_back(std::move(whole));
    return estimate_changed(arrived, {}, Catalog::built_in(), {}, {});
  };
  const auto fits = joined(100, 199);
  ASSERT_TRUE(fits) << fits.error().message;
  ASSERT_EQ(fits->workloads.size(), 1U);
  EXPECT_EQ(fits->workloads[0].workload.parts[198].groups.size(), 100U);
  EXPECT_FALSE(joined(101, 199));
}

TEST(ScaleAmount, RoundsHalfToEvenAndRefusesTheAbsurd) {
  const auto ticks = [](std::int64_t count) { return Money::from_ticks(count, kUsd); };
  EXPECT_EQ(scale_amount(ticks(5), 1, 2), ticks(2));
  EXPECT_EQ(scale_amount(ticks(7), 1, 2), ticks(4));
  EXPECT_EQ(scale_amount(ticks(10), 2, 3), ticks(7));
  EXPECT_EQ(scale_amount(usd("40"), 730, 1), usd("29200"));
  EXPECT_FALSE(scale_amount(usd("1000000"), ~std::uint64_t{0}, 1));
  EXPECT_FALSE(scale_amount(usd("10000000000000.01"), 1, 1));
}

// A list is kept until a price changes, and says what one that is made anew does.
TEST(OfferLists, ChangeWithThePrices) {
  const auto catalog = Catalog::built_in().overridden_by(
      std::string(kPrices) + "test,r1,big,on_demand,2026-06-01,44,USD,H100-SXM5-80GB,8,100,1000\n",
      "prices.csv");
  ASSERT_TRUE(catalog) << catalog.error().message;
  const OfferLists lists(*catalog);
  const auto at = [](std::string_view day) { return parse_instant(day).value(); };
  for (const std::string_view day : {"2026-05-31", "2026-06-01", "2026-11-01", "1999-01-01"}) {
    const OfferFilter filter{.provider = "test", .region = "r1", .currency = kUsd, .at = at(day)};
    const auto kept = lists.list(filter);
    const auto anew = list_offers(*catalog, filter);
    ASSERT_EQ(kept->size(), anew.size()) << day;
    for (std::size_t i = 0; i < anew.size(); ++i) {
      EXPECT_EQ((*kept)[i].type, anew[i].type) << day;
      EXPECT_EQ((*kept)[i].rate, anew[i].rate) << day;
    }
  }
  const auto list = [&](std::string_view day, const std::string& region) {
    return lists.list({.provider = "test", .region = region, .currency = kUsd, .at = at(day)});
  };
  EXPECT_EQ(list("2099-01-01", "r1"), list("2099-01-02", "r1")) << "no price changed";
  EXPECT_NE(list("2026-05-31", "r1"), list("2026-06-01", "r1"));
  EXPECT_NE(list("2026-06-01", "r1"), list("2026-06-01", "r2"));
  // Whoever names many regions drives lists out, and nobody who holds one notices.
  const auto held = list("2026-06-01", "r1");
  for (int i = 0; i < 100; ++i) list("2026-06-01", "x" + std::to_string(i));
  EXPECT_EQ(held->size(), list("2026-06-01", "r1")->size());
}

TEST(EstimateComparison, SaysWhatAChangeAdds) {
  const auto before = estimate_text(deployment(1, "nvidia.com/gpu: 8"));
  const auto after = estimate_text(deployment(2, "nvidia.com/gpu: 8"));
  ASSERT_TRUE(before && after);
  const EstimateComparison comparison = compare_estimates(*before, *after);
  ASSERT_EQ(comparison.workloads.size(), 1U);
  EXPECT_EQ(comparison.workloads[0].change, WorkloadDifference::Change::kChanged);
  EXPECT_EQ(comparison.after.per_hour - comparison.before.per_hour, usd("32"));
  EXPECT_TRUE(
      any_fails(find_problems(*after, &comparison, {.increase_per_month = usd("23359.99")})));
  EXPECT_FALSE(any_fails(find_problems(*after, &comparison, {.increase_per_month = usd("23360")})));
}

TEST(Findings, ARunWithoutALimitNeverPassesOne) {
  EstimateOptions options;
  options.gpu_models[""] = "H100-SXM5-80GB";
  const auto estimate = estimate_text("srun -G 8 x", options);
  ASSERT_TRUE(estimate);
  const auto findings = find_problems(*estimate, nullptr, {.per_run = usd("1000000")});
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_TRUE(findings[0].fails);
  EXPECT_NE(findings[0].message.find("state a time limit"), std::string::npos);
}

TEST(EstimateReport, KeepsForeignTextInItsPlace) {
  const auto estimate = estimate_text(
      "apiVersion: x/v1\nkind: 'A|B <script>'\nmetadata: {name: \"@all \\\"](http://x) & `\"}\n");
  ASSERT_TRUE(estimate);
  const auto findings = find_problems(*estimate, nullptr, {.refuses_unpriced = true});
  const auto limited = find_problems(*estimate, nullptr, {.per_month = Money::zero(kUsd)});
  EXPECT_TRUE(any_fails(limited)) << "what has no price holds no limit";
  EXPECT_FALSE(any_fails(find_problems(*estimate, nullptr, {})));
  const std::string markdown = estimate_markdown(*estimate, nullptr, findings);
  EXPECT_TRUE(markdown.starts_with(kMarkdownMarker));
  EXPECT_EQ(markdown.find("<script>"), std::string::npos);
  EXPECT_EQ(markdown.find("@all"), std::string::npos);
  EXPECT_EQ(markdown.find("](http"), std::string::npos);
  const std::string junit = estimate_junit(*estimate, findings);
  EXPECT_EQ(junit.find("<script>"), std::string::npos);
  EXPECT_NE(junit.find("failures=\"1\""), std::string::npos);
  const std::string sarif = findings_sarif(findings, "1");
  EXPECT_NE(sarif.find("\"level\":\"error\""), std::string::npos);
}

}  // namespace
}  // namespace pennyweight::guardrails
