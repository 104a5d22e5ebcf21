#include "ingest/schedulers/kubernetes/state_metrics.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

namespace pennyweight::kubernetes {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const Instant kDump = *parse_instant("2026-03-01T00:00:00Z");
constexpr std::int64_t kStep = 30'000;

// A series as the text format writes it: name{a="b",c="d"}.
telemetry::StateSeries series(const std::string& text) {
  telemetry::StateSeries one{.cluster = ClusterId("c"), .metric = {}, .labels = {}};
  const std::size_t brace = text.find('{');
  one.metric = text.substr(0, brace);
  for (std::size_t at = brace + 1; at < text.size() && text[at] != '}';) {
    const std::size_t equals = text.find("=\"", at);
    const std::size_t end = text.find('"', equals + 2);
    one.labels.push_back(
        {.name = text.substr(at, equals - at), .value = text.substr(equals + 2, end - equals - 2)});
    at = end + 1 + (text[end + 1] == ',' ? 1 : 0);
  }
  std::ranges::sort(one.labels);
  return one;
}

// Scrapes of kube-state-metrics, each a set of lines "series value".
class Scrapes {
 public:
  explicit Scrapes(StateMetricsOptions options = {})
      : state_({.cluster = ClusterId("c"),
                .labels = {},
                .wait_for = {},
                .gpu_nodes_only = false,
                .known = {}}),
        metrics_(std::move(options), state_) {}

  void scrape(int number, const std::vector<std::string>& lines) {
    for (const std::string& line : lines) {
      const std::size_t blank = line.rfind(' ');
      const std::uint64_t handle = metrics_.declare(series(line.substr(0, blank)));
      if (handle == 0) continue;
      EXPECT_TRUE(metrics_.sample(handle, ms(number), std::stod(line.substr(blank + 1))));
    }
  }
  void stale(int number, const std::vector<std::string>& lines) {
    for (const std::string& line : lines) {
      const std::uint64_t handle = metrics_.declare(series(line.substr(0, line.rfind(' '))));
      if (handle != 0) metrics_.stale(handle, ms(number));
    }
  }
  Facts facts() {
    const auto until = metrics_.settle();
    return until ? state_.facts(*until) : Facts{};
  }
  StateMetrics& metrics() { return metrics_; }

 private:
  static std::int64_t ms(int number) { return unix_ms(kDump) + number * kStep; }
  ClusterState state_;
  StateMetrics metrics_;
};

std::vector<std::string> held(const Facts& facts) {
  std::vector<std::string> lines;
  for (const Holding& holding : facts.holdings) {
    lines.push_back(fmt::format("{} {} {} {} on {}", holding.workload.text(), to_text(holding.held),
                                holding.ended ? "ended" : "runs", to_text(holding.device),
                                to_text(holding.placement)));
  }
  return lines;
}

const std::vector<std::string> kNode = {
    R"(kube_node_info{node="n1",provider_id="aws:///us-east-1a/i-1"} 1)",
    R"(kube_node_created{node="n1"} 1769904000)",
    R"(kube_node_labels{node="n1",label_nvidia_com_gpu_product="NVIDIA-A100-SXM4-40GB",)"
    R"(label_nvidia_com_gpu_count="8",)"
    R"(label_node_kubernetes_io_instance_type="p4d.24xlarge"} 1)",
    R"(kube_node_status_capacity{node="n1",resource="cpu",unit="core"} 96)",
    R"(kube_node_status_capacity{node="n1",resource="memory",unit="byte"} 1.2e+12)",
    R"(kube_node_status_capacity{node="n1",resource="pods",unit="integer"} 110)",
    R"(kube_node_status_capacity{node="n1",resource="nvidia_com_gpu",unit="integer"} 7)",
    R"(kube_node_status_capacity{node="n1",resource="nvidia_com_mig_1g_5gb",unit="integer"} 7)",
    R"(kube_node_status_condition{node="n1",condition="Ready",status="true"} 1)"};

std::vector<std::string> pod_lines(const std::string& resource = "nvidia_com_mig_1g_5gb",
                                   const std::string& phase = "Running") {
  constexpr std::string_view kOf = R"(namespace="team",pod="p1",uid="u1")";
  std::vector<std::string> lines = {
      fmt::format(R"(kube_pod_info{{{},node="n1",priority_class="high"}} 1)", kOf),
      fmt::format(R"(kube_pod_status_scheduled_time{{{}}} 1772323260)", kOf),  // 00:01:00
      fmt::format(R"(kube_pod_start_time{{{}}} 1772323265)", kOf),
      fmt::format(R"(kube_pod_labels{{{},label_team_id="nlp",label_my_own="x"}} 1)", kOf),
      fmt::format(R"(kube_pod_owner{{{},owner_kind="ReplicaSet",owner_name="web-1",)"
                  R"(owner_is_controller="true"}} 1)",
                  kOf),
      R"(kube_replicaset_owner{namespace="team",replicaset="web-1",)"
      R"(owner_kind="Deployment",owner_name="web",)"
      R"(owner_is_controller="true"} 1)",
      R"(kube_namespace_labels{namespace="team",label_cost_center="42"} 1)",
      fmt::format(R"(kube_pod_container_info{{{},container="a",image_spec="vllm:1"}} 1)", kOf),
      fmt::format(R"(kube_pod_container_resource_requests{{{},)"
                  R"(node="n1",container="a",resource="cpu",unit="core"}} 0.5)",
                  kOf),
      fmt::format(R"(kube_pod_container_resource_requests{{{},)"
                  R"(node="n1",container="a",resource="{}",unit="integer"}} 2)",
                  kOf, resource)};
  for (const std::string_view one : {"Pending", "Running", "Succeeded", "Failed", "Unknown"}) {
    lines.push_back(fmt::format(R"(kube_pod_status_phase{{{},phase="{}"}} {})", kOf, one,
                                one == phase ? 1 : 0));
  }
  return lines;
}

TEST(StateMetrics, APodAndItsNode) {
  Scrapes scrapes;
  scrapes.scrape(4, kNode);
  scrapes.scrape(4, pod_lines());
  EXPECT_THAT(held(scrapes.facts()), IsEmpty());  // not before all of a scrape has come
  scrapes.scrape(5, kNode);
  scrapes.scrape(5, pod_lines());
  const Facts facts = scrapes.facts();
  EXPECT_THAT(held(facts), ElementsAre("team/p1 2026-03-01T00:01:00Z/2026-03-01T00:02:30Z runs "
                                       "mig 1g.5gb on nodes n1=2"));
  EXPECT_THAT(facts.problems, IsEmpty());
  const Holding& holding = facts.holdings[0];
  EXPECT_EQ(holding.attempt, "u1");
  EXPECT_EQ(holding.cpu_milli, 500u);
  EXPECT_EQ(holding.labels.find("team-id"), "nlp");  // known, so it comes back as it was
  EXPECT_EQ(holding.labels.find("my_own"), "x");     // not known, so it stays as it is
  EXPECT_EQ(holding.labels.find("owner_kind"), "Deployment");
  EXPECT_EQ(holding.labels.find("owner_name"), "web");
  EXPECT_EQ(holding.labels.find("image"), "vllm:1");
  EXPECT_EQ(holding.labels.find("priority_class"), "high");
  EXPECT_EQ(holding.labels.find("namespace.label/cost_center"), "42");
}

TEST(StateMetrics, TheNodeIsAsTheApiWouldSay) {
  Scrapes scrapes;
  scrapes.scrape(1, kNode);
  const Facts facts = scrapes.facts();
  ASSERT_EQ(facts.nodes.size(), 1u);
  const Node& node = facts.nodes[0];
  EXPECT_EQ(node.provider_id, "aws:///us-east-1a/i-1");
  EXPECT_EQ(node.instance_type, "p4d.24xlarge");
  EXPECT_EQ(node.gpu_model, "NVIDIA-A100-SXM4-40GB");
  EXPECT_EQ(node.gpu_count, 8u);
  EXPECT_EQ(node.cpu_milli, 96'000u);
  EXPECT_EQ(node.memory_bytes, 1'200'000'000'000u);
  EXPECT_EQ(to_text(node.from), "2026-02-01T00:00:00Z");
}

TEST(StateMetrics, APodThatSucceedsEndsAtItsCompletion) {
  Scrapes scrapes;
  for (int i = 4; i < 6; ++i) scrapes.scrape(i, kNode), scrapes.scrape(i, pod_lines());
  static_cast<void>(scrapes.facts());
  auto over = pod_lines("nvidia_com_mig_1g_5gb", "Succeeded");
  over.push_back(
      R"(kube_pod_completion_time{namespace="team",pod="p1",uid="u1"} 1772323352)");  // 00:02:32
  scrapes.scrape(6, over);
  const Facts last = scrapes.facts();
  ASSERT_EQ(last.holdings.size(), 1u);
  EXPECT_EQ(last.holdings[0].labels.find("phase"), "Succeeded");
  EXPECT_THAT(held(last),
              ElementsAre("team/p1 2026-03-01T00:01:00Z/2026-03-01T00:02:32Z ended mig 1g.5gb on "
                          "nodes n1=2"));
  scrapes.scrape(7, over);
  EXPECT_THAT(held(scrapes.facts()), IsEmpty());
}

TEST(StateMetrics, APodThatIsNoLongerSpokenOfEndsAtItsLastSample) {
  Scrapes scrapes;
  for (int i = 4; i < 8; ++i) scrapes.scrape(i, kNode), scrapes.scrape(i, pod_lines());
  for (int i = 8; i < 20; ++i) scrapes.scrape(i, kNode);  // 5 minutes and more
  EXPECT_THAT(held(scrapes.facts()),
              ElementsAre("team/p1 2026-03-01T00:01:00Z/2026-03-01T00:03:30Z ended mig 1g.5gb on "
                          "nodes n1=2"));
}

TEST(StateMetrics, AStaleMarkerSaysThatItEndedAtMostAnIntervalLater) {
  Scrapes scrapes;
  for (int i = 4; i < 8; ++i) scrapes.scrape(i, kNode), scrapes.scrape(i, pod_lines());
  scrapes.stale(8, pod_lines());
  for (int i = 8; i < 20; ++i) scrapes.scrape(i, kNode);
  EXPECT_THAT(held(scrapes.facts()),
              ElementsAre("team/p1 2026-03-01T00:01:00Z/2026-03-01T00:04:00Z ended mig 1g.5gb on "
                          "nodes n1=2"));
}

TEST(StateMetrics, NothingEndsWhileKubeStateMetricsItselfIsSilent) {
  Scrapes scrapes;
  for (int i = 4; i < 8; ++i) scrapes.scrape(i, kNode), scrapes.scrape(i, pod_lines());
  static_cast<void>(scrapes.facts());
  scrapes.stale(8, kNode);  // its scrape failed: Prometheus marks everything
  scrapes.stale(8, pod_lines());
  EXPECT_THAT(held(scrapes.facts()), IsEmpty());
  scrapes.scrape(60, kNode);  // and it is there again, the pod as well
  scrapes.scrape(60, pod_lines());
  EXPECT_THAT(held(scrapes.facts()),
              ElementsAre("team/p1 2026-03-01T00:01:00Z/2026-03-01T00:30:00Z runs mig 1g.5gb on "
                          "nodes n1=2"));
}

TEST(StateMetrics, NewLabelsAreANewSeries) {
  Scrapes scrapes;
  for (int i = 4; i < 6; ++i) scrapes.scrape(i, kNode), scrapes.scrape(i, pod_lines());
  static_cast<void>(scrapes.facts());
  auto moved = pod_lines();
  scrapes.stale(6, {moved[3]});
  moved[3] = R"(kube_pod_labels{namespace="team",pod="p1",uid="u1",label_team_id="vision"} 1)";
  scrapes.scrape(6, kNode);
  scrapes.scrape(6, moved);
  const Facts facts = scrapes.facts();
  ASSERT_EQ(facts.holdings.size(), 1u);
  EXPECT_EQ(facts.holdings[0].labels.find("team-id"), "vision");
  EXPECT_EQ(facts.holdings[0].labels.find("my_own"), std::nullopt);
}

TEST(StateMetrics, PrometheusOwnLabelsDoNotStandInTheWay) {
  Scrapes scrapes;
  std::vector<std::string> moved = pod_lines();
  for (std::string& line : moved) {
    const std::size_t brace = line.find('{');
    for (const std::string_view name : {"namespace=", "pod=", "container=", "node="}) {
      for (std::size_t at = line.find(name); at != std::string::npos; at = line.find(name, at)) {
        line.insert(at, "exported_");
        at += 9 + name.size();
      }
    }
    line.insert(brace + 1, R"(namespace="monitoring",pod="ksm-0",container="ksm",)");
  }
  for (int i = 4; i < 6; ++i) scrapes.scrape(i, kNode), scrapes.scrape(i, moved);
  EXPECT_THAT(held(scrapes.facts()), ElementsAre("team/p1 2026-03-01T00:01:00Z/"
                                                 "2026-03-01T00:02:30Z runs mig 1g.5gb on nodes "
                                                 "n1=2"));
}

TEST(StateMetrics, ReadsItsOwnTestsSeries) {
  Scrapes scrapes;
  std::ifstream in(std::string(TEST_DATA) + "/kubernetes/ksm_gpu_pod_resources.prom");
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  ASSERT_GT(lines.size(), 20u);
  scrapes.scrape(1, lines);
  EXPECT_EQ(scrapes.metrics().series(), 8u);  // requests of cpu, memory and GPUs, none of storage
  scrapes.scrape(1, {R"(kube_pod_info{namespace="ns1",pod="pod1",uid="uid1",node="n9"} 1)",
                     R"(kube_pod_created{namespace="ns1",pod="pod1",uid="uid1"} 1772323200)",
                     R"(kube_node_labels{node="n9",label_nvidia_com_gpu_product="Tesla-T4"} 1)",
                     R"(kube_node_status_capacity{node="n9",resource="nvidia_com_gpu"} 2)"});
  scrapes.scrape(3, {R"(kube_node_status_capacity{node="n9",resource="nvidia_com_gpu"} 2)"});
  const Facts facts = scrapes.facts();
  EXPECT_THAT(held(facts), ElementsAre("ns1/pod1 2026-03-01T00:00:00Z/2026-03-01T00:01:30Z runs "
                                       "gpu on nodes n9=1"));
  EXPECT_EQ(facts.holdings[0].cpu_milli, 500u);
  EXPECT_EQ(facts.holdings[0].memory_bytes, 300'000'000u);
}

TEST(StateMetrics, WhatIsGoneIsForgottenAndItsHandlesAreNoOthers) {
  Scrapes scrapes;
  scrapes.scrape(4, kNode);
  scrapes.scrape(4, pod_lines());
  const std::uint64_t handle = scrapes.metrics().declare(series(pod_lines()[0]));
  const std::size_t with_pod = scrapes.metrics().series();
  for (int i = 5; i < 20; ++i) scrapes.scrape(i, kNode);
  static_cast<void>(scrapes.facts());
  EXPECT_LT(scrapes.metrics().series(), with_pod);
  EXPECT_FALSE(scrapes.metrics().sample(handle, unix_ms(kDump) + 100 * kStep, 1));
  EXPECT_NE(scrapes.metrics().declare(series(pod_lines()[0])), handle);
}

TEST(KsmNames, ResourcesComeBackExactly) {
  EXPECT_EQ(original_resource("nvidia_com_gpu"), "nvidia.com/gpu");
  EXPECT_EQ(original_resource("nvidia_com_gpu_shared"), "nvidia.com/gpu.shared");
  EXPECT_EQ(original_resource("nvidia_com_mig_1g_5gb"), "nvidia.com/mig-1g.5gb");
  EXPECT_EQ(original_resource("nvidia_com_mig_1g_10gb_me"), "nvidia.com/mig-1g.10gb.me");
  EXPECT_EQ(original_resource("nvidia_com_mig_1c_3g_20gb_shared"),
            "nvidia.com/mig-1c.3g.20gb.shared");
  EXPECT_EQ(original_resource("nvidia_com_gpumem_percentage"), "nvidia.com/gpumem-percentage");
  EXPECT_EQ(original_resource("volcano_sh_vgpu_number"), "volcano.sh/vgpu-number");
  EXPECT_EQ(original_resource("gpu_intel_com_i915"), "gpu.intel.com/i915");
  EXPECT_EQ(original_resource("cpu"), "cpu");
  EXPECT_EQ(original_resource("example_com_gpu"), "example_com_gpu");  // refused by name later
}

TEST(KsmNames, LabelsComeBackWhereTheyAreKnown) {
  const SanitizedNames names({"example.com/team-name", "userName"});
  EXPECT_EQ(names.original("label_example_com_team_name", "label_"), "example.com/team-name");
  EXPECT_EQ(names.original("label_user_name", "label_"), "userName");
  EXPECT_EQ(names.original("label_app_kubernetes_io_name", "label_"), "app.kubernetes.io/name");
  EXPECT_EQ(names.original("label_whatever_else", "label_"), "whatever_else");
  EXPECT_EQ(names.original("annotation_a", "label_"), "");
  EXPECT_EQ(names.original("label_nvidia_com_mig_1g_5gb_count", "label_"),
            "nvidia.com/mig-1g.5gb.count");
}

}  // namespace
}  // namespace pennyweight::kubernetes
