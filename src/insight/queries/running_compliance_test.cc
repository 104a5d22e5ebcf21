#include "insight/queries/running_compliance.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace pennyweight {
namespace {

const Instant kComplianceNow = *parse_instant("2026-03-04T08:05:00Z");

struct PlacedWork {
  std::string workload;
  std::string client;
  std::string node;
  std::string gpu = {};
  std::string device = "gpu";
};

std::shared_ptr<const ViewRows> placed_view(const std::vector<PlacedWork>& works) {
  const Interval window(kComplianceNow - std::chrono::minutes(5), kComplianceNow);
  LiveCosts costs{.window = window,
                  .shares = {},
                  .notes = {},
                  .nodes_unpriced = 0,
                  .price_per_hour = {},
                  .gpus = 0};
  for (const PlacedWork& work : works) {
    LiveShare share{.workload = WorkloadId(work.workload),
                    .labels = {},
                    .dimensions = {},
                    .nodes = {NodeId(work.node)},
                    .gpus = {},
                    .device = work.device,
                    .since = window.begin(),
                    .running = true,
                    .cost = {},
                    .idle_cost = {},
                    .gpu_time = GpuTime::of(UInt128{CardShare::kUnitsPerCard} * 300'000),
                    .observed_time = {}};
    if (!work.gpu.empty()) share.gpus = {GpuId(work.gpu)};
    EXPECT_TRUE(share.dimensions.set("client", work.client));
    costs.shares.push_back(std::move(share));
  }
  LiveView view{.at = kComplianceNow, .clusters = {}};
  LiveCluster lab{.cluster = ClusterId("lab"), .recent = std::move(costs), .today = std::nullopt};
  view.clusters.emplace(ClusterId("lab"), std::move(lab));
  return view_rows(std::make_shared<const LiveView>(std::move(view)));
}

Node placed_node(const std::string& name, const std::string& region, const std::string& pool) {
  return {.cluster = ClusterId("lab"),
          .name = NodeId(name),
          .provider_id = {},
          .instance_type = {},
          .region = region,
          .pool = PoolId(pool),
          .gpu_model = {},
          .cpu_milli = {},
          .memory_bytes = {},
          .from = {},
          .to = {},
          .id = {},
          .source = {}};
}

std::vector<std::string> violations(const std::vector<PlacedWork>& works,
                                    const std::string& client = "") {
  const std::vector<guardrails::ClientTerms> terms = {
      {.name = "acme", .regions = {"eu-*"}, .node_pools = {"acme-*"}, .dedicated_nodes = true},
      {.name = "umbrella"}};
  const ComplianceQuery query{.month = "2026-03", .client = client, .clients = terms};
  const std::vector<Node> nodes = {placed_node("eu", "eu-central-1", "acme-a"),
                                   placed_node("us", "us-east-1", "shared")};
  std::vector<std::string> out;
  for (const auto& one : find_running_violations(query, *placed_view(works), nodes)) {
    out.push_back(one.client + ": " + std::string(to_text(one.rule)) + " " + one.where + ": " +
                  one.workload + " " + one.evidence);
  }
  return out;
}

TEST(RunningCompliance, WorkIsWhereItMayBe) {
  EXPECT_TRUE(violations({{"1", "acme", "eu"}, {"2", "umbrella", "us"}}).empty());
  EXPECT_EQ(
      violations({{"1", "acme", "us"}, {"2", "acme", "new"}}),
      (std::vector<std::string>{
          "acme: region (not known): lab/2 on new", "acme: region us-east-1: lab/1 on us",
          "acme: node pool (not known): lab/2 on new", "acme: node pool shared: lab/1 on us"}));
}

TEST(RunningCompliance, WorkIsBesideWhomItMayBe) {
  const std::vector<PlacedWork> works = {{"1", "acme", "eu", "GPU-1"},
                                         {"2", "umbrella", "eu", "GPU-1"}};
  EXPECT_EQ(violations(works),
            (std::vector<std::string>{"acme: dedicated node eu: lab/1 beside lab/2 of umbrella",
                                      "acme: shared GPU GPU-1: lab/1 beside lab/2 of umbrella",
                                      "umbrella: shared GPU GPU-1: lab/2 beside lab/1 of acme"}));
  // The report of one client names nobody else.
  EXPECT_EQ(
      violations(works, "umbrella"),
      std::vector<std::string>{"umbrella: shared GPU GPU-1: lab/2 beside work of somebody else"});
  EXPECT_TRUE(violations({{"1", "umbrella", "us", "GPU-1", "mig 1g.10gb"},
                          {"2", "other", "us", "GPU-1", "mig 1g.10gb"}})
                  .empty());
  EXPECT_EQ(violations({{"1", "umbrella", "us", "GPU-1"}, {"2", "umbrella", "us", "GPU-1"}}),
            std::vector<std::string>());
}

}  // namespace
}  // namespace pennyweight
