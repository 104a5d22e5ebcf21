// What tests/traps does not cover: refusals, options, and that the order of labels, copies and
// senders do not matter.
#include "telemetry/classification.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <limits>

#include "core/gpu/dcgm_metric.h"
#include "ledger/outcome.h"
#include "telemetry/device_metric.h"
#include "telemetry/outcome_series.h"

namespace pennyweight::telemetry {
namespace {

using LabelList = std::vector<prometheus::Label>;

Classification meant(LabelList labels,
                     const ClassificationOptions& options = {.cluster = ClusterId("c")}) {
  std::ranges::sort(labels);
  return classify_series(labels, options);
}
LabelList dcgm(std::string metric, LabelList further = {}) {
  LabelList labels = {{"__name__", std::move(metric)}, {"UUID", "GPU-1"}, {"Hostname", "n1"}};
  labels.insert(labels.end(), further.begin(), further.end());
  return labels;
}
DeviceSeries device(const LabelList& labels) { return std::get<DeviceSeries>(meant(labels)); }

TEST(Classification, EveryMetricOfDcgmIsAMeasurement) {
  for (const DcgmMetric& metric : dcgm_metrics()) {
    const DeviceSeries series = device(dcgm(std::string(metric.name), {{"xid", "79"}}));
    EXPECT_EQ(series.scale, static_cast<double>(metric.units)) << metric.name;
    EXPECT_EQ(series.most, static_cast<double>(metric.most)) << metric.name;
    EXPECT_EQ(series.source.starts_with("dcgm"), true);
    EXPECT_EQ(series.least, 0) << metric.name;
    EXPECT_FALSE(is_blank(series.quantity, series.most)) << metric.name;
  }
}

TEST(Classification, OtherMetricsAreIgnored) {
  for (const char* metric :
       {"up", "node_cpu_seconds_total", "DCGM_FI_DEV_MEM_COPY_UTIL", "kube_service_info",
        "DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL", "DCGM_FI_DEV_GPU_UTIL_", "vllm:num_requests_running",
        "tgi_request_count", "nv_inference_request_failure", "hami_vgpu_memory_limit_bytes", ""}) {
    EXPECT_TRUE(std::holds_alternative<Ignored>(meant(dcgm(metric)))) << metric;
  }
  EXPECT_TRUE(std::holds_alternative<Ignored>(meant({})));
}

TEST(Classification, CardsWithoutAUuidAreRefusedWithWords) {
  for (const char* uuid : {"", "nvidia0", "nvidia0/gi1", "nvidia0/vgpu3", "MIG-1", "GPU-1::x"}) {
    LabelList labels = {{"__name__", "DCGM_FI_DEV_FB_USED"}};
    if (*uuid != '\0') labels.push_back({"UUID", uuid});
    const auto meaning = meant(labels);
    ASSERT_TRUE(std::holds_alternative<Unusable>(meaning)) << uuid;
    EXPECT_FALSE(std::get<Unusable>(meaning).why.empty());
  }
}

TEST(Classification, LabelsThatCantBeKeptAreRefused) {
  EXPECT_TRUE(std::holds_alternative<Unusable>(
      meant(dcgm("DCGM_FI_DEV_FB_USED", {{"pod", std::string(5000, 'x')}}))));
  EXPECT_TRUE(
      std::holds_alternative<Unusable>(meant(dcgm("DCGM_FI_DEV_FB_USED", {{"pod", "\xff\xfe"}}))));
}

TEST(Classification, NodesGoByAllTheirNames) {
  const auto node_of = [](LabelList labels) {
    labels.push_back({"__name__", "nvidia_smi_power_draw_watts"});
    labels.push_back({"uuid", "1"});
    return device(labels).node.text();
  };
  EXPECT_EQ(node_of({{"Hostname", "n1"}}), "n1");
  EXPECT_EQ(node_of({{"hostname", "n1"}}), "n1");
  EXPECT_EQ(node_of({{"node", "n1"}}), "n1");
  EXPECT_EQ(node_of({{"exported_node", "n1"}, {"node", "n2"}}), "n1");
  EXPECT_EQ(node_of({{"kubernetes_node", "n1"}}), "n1");
  EXPECT_EQ(node_of({{"Hostname", "nvidia-dcgm-exporter-7x"}, {"node", "n1"}}), "n1");
  EXPECT_EQ(node_of({{"instance", "gpu01.example.com:9835"}}), "gpu01.example.com");
  EXPECT_EQ(node_of({{"instance", "gpu01"}}), "gpu01");
  EXPECT_EQ(node_of({{"instance", "10.0.0.7:9835"}}), "");
  EXPECT_EQ(node_of({{"instance", "[fe80::1]:9835"}}), "");
  EXPECT_EQ(node_of({{"instance", "localhost:9835"}}), "");
  EXPECT_EQ(node_of({}), "");
}

TEST(Classification, TheClusterIsTheSendersOrOurs) {
  const ClassificationOptions options{.cluster = ClusterId("ours"), .cluster_label = "region"};
  const auto cluster_of = [&](const LabelList& labels) {
    return std::get<DeviceSeries>(meant(labels, options)).cluster.text();
  };
  EXPECT_EQ(cluster_of(dcgm("DCGM_FI_DEV_FB_USED")), "ours");
  EXPECT_EQ(cluster_of(dcgm("DCGM_FI_DEV_FB_USED", {{"region", "eu"}})), "eu");
  EXPECT_EQ(cluster_of(dcgm("DCGM_FI_DEV_FB_USED", {{"cluster", "x"}})), "ours");
  const ClassificationOptions none{.cluster = ClusterId("ours"), .cluster_label = ""};
  EXPECT_EQ(std::get<DeviceSeries>(meant(dcgm("DCGM_FI_DEV_FB_USED", {{"cluster", "x"}}), none))
                .cluster.text(),
            "ours");
}

TEST(Classification, ExportersAreAsConfigured) {
  const LabelList labels =
      dcgm("DCGM_FI_DEV_FB_USED", {{"namespace", "ops"}, {"pod", "watcher-1"}});
  EXPECT_EQ(device(labels).workload.text(), "ops/watcher-1");
  const ClassificationOptions options{.cluster = ClusterId("c"), .exporters = {"watcher"}};
  EXPECT_EQ(std::get<DeviceSeries>(meant(labels, options)).workload.text(), "");
}

TEST(Classification, ATargetWithAPodAndNoNamespaceLeavesTheExportersNamespace) {
  EXPECT_EQ(device(dcgm("DCGM_FI_DEV_FB_USED",
                        {{"exported_pod", "train-0"}, {"pod", "x"}, {"namespace", "ml"}}))
                .workload.text(),
            "ml/train-0");
}

TEST(Classification, IndicesOutOfRangeAreNotSaid) {
  EXPECT_EQ(device(dcgm("DCGM_FI_DEV_FB_USED", {{"gpu", "7"}})).gpu_index, 7);
  EXPECT_EQ(device(dcgm("DCGM_FI_DEV_FB_USED", {{"gpu", "1024"}})).gpu_index, -1);
  EXPECT_EQ(device(dcgm("DCGM_FI_DEV_FB_USED", {{"gpu", "-1"}})).gpu_index, -1);
  EXPECT_EQ(device(dcgm("DCGM_FI_DEV_FB_USED")).gpu_index, -1);
}

TEST(Classification, RulesGoBeforeTheBuiltInCounters) {
  const ClassificationOptions options{.cluster = ClusterId("c"),
                                      .outcomes = {{.metric = "vllm:prompt_tokens_total",
                                                    .measure = "read",
                                                    .keep = {"tenant"},
                                                    .where = {{"tenant", "t1"}}}}};
  const LabelList counter = {{"__name__", "vllm:prompt_tokens_total"}, {"hpc_job", "7"}};
  const auto measure = [&](LabelList labels, const char* tenant) {
    labels.push_back({"tenant", tenant});
    return std::get<OutcomeSeries>(meant(std::move(labels), options)).measure;
  };
  EXPECT_EQ(measure(counter, "t1"), "read");
  EXPECT_EQ(measure(counter, "t2"), kPromptTokens);
}

TEST(Classification, ACounterKeepsNoMoreLabelsThanAWorkloadMayHave) {
  ClassificationOptions options{.cluster = ClusterId("c"),
                                .outcomes = {{.metric = "m", .measure = "x"}}};
  LabelList labels = {{"__name__", "m"}, {"hpc_job", "7"}};
  for (int i = 0; i < 300; ++i) {
    options.outcomes[0].keep.push_back("l" + std::to_string(i));
    labels.push_back({"l" + std::to_string(i), "v"});
  }
  EXPECT_TRUE(std::holds_alternative<Unusable>(meant(labels, options)));
}

// The state series that ingest/schedulers/kubernetes reads, and the label that only a target has.
TEST(Classification, StateSeries) {
  for (const char* metric : {"kube_pod_info",
                             "kube_pod_labels",
                             "kube_pod_annotations",
                             "kube_pod_owner",
                             "kube_pod_status_phase",
                             "kube_pod_start_time",
                             "kube_pod_created",
                             "kube_pod_completion_time",
                             "kube_pod_deletion_timestamp",
                             "kube_pod_container_resource_requests",
                             "kube_pod_container_resource_limits",
                             "kube_pod_init_container_resource_requests",
                             "kube_node_info",
                             "kube_node_labels",
                             "kube_node_annotations",
                             "kube_node_status_capacity",
                             "kube_node_status_allocatable",
                             "kube_node_spec_unschedulable",
                             "kube_node_status_condition",
                             "kube_job_owner",
                             "kube_replicaset_owner",
                             "kube_namespace_labels",
                             "kube_namespace_annotations"}) {
    const auto meaning = meant({{"__name__", metric}, {"pod", "p"}, {"instance", "i"}});
    ASSERT_TRUE(std::holds_alternative<StateSeries>(meaning)) << metric;
    EXPECT_EQ(std::get<StateSeries>(meaning).metric, metric);
    EXPECT_EQ(std::get<StateSeries>(meaning).labels, (LabelList{{"pod", "p"}}));
  }
}

TEST(Blank, OfEachTypeOfField) {
  constexpr double kInt64 = 9223372036854775794.0;
  for (const double blank :
       {2147483632.0, 2147483633.0, 2147483634.0, 2147483635.0, 140737488355328.0,
        140737488355331.0, kInt64, std::numeric_limits<double>::quiet_NaN(),
        std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()}) {
    EXPECT_TRUE(is_blank(blank)) << blank;
    EXPECT_TRUE(is_blank(Quantity::kPower, blank)) << blank;
  }
  for (const double value :
       {0.0, 1.0, 2147483631.0, 2147483636.0, 140737488355327.0, 140737488355332.0, 9.2e18}) {
    EXPECT_FALSE(is_blank(value)) << value;
  }
  EXPECT_FALSE(is_blank(Quantity::kEnergy, 2147483632.0));
  EXPECT_TRUE(is_blank(Quantity::kEnergy, 140737488355328.0));
  EXPECT_FALSE(is_blank(Quantity::kSmCyclesElapsed, 140737488355328.0));
  EXPECT_TRUE(is_blank(Quantity::kSmCyclesElapsed, kInt64));
}

TEST(Quantity, EachHasItsName) {
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < kQuantities; ++i) names.push_back(to_text(static_cast<Quantity>(i)));
  std::ranges::sort(names);
  EXPECT_EQ(std::ranges::adjacent_find(names), names.end());
  EXPECT_EQ(to_text(Quantity::kSmCyclesActive), "sm_cycles_active");
}

// A measurement of the whole GPU is one series, whatever instance, pod, job or container is named.
RC_GTEST_PROP(MeaningProperty, OfACardIsOneSeries, ()) {
  std::vector<std::string> names;
  for (const DcgmMetric& metric : dcgm_metrics()) {
    if (is_per_gpu(find_device_metric(metric.name)->quantity)) names.emplace_back(metric.name);
  }
  const std::string name = *rc::gen::elementOf(names);
  LabelList named;
  for (const char* label : {"GPU_I_ID", "GPU_I_PROFILE", "pod", "namespace", "exported_pod",
                            "container", "hpc_job", "vgpu", "pod_uid", "instance", "job"}) {
    if (*rc::gen::arbitrary<bool>()) {
      named.push_back({label, *rc::gen::elementOf(std::vector<std::string>{"1", "2", "x"})});
    }
  }
  const DeviceSeries plain = device(dcgm(name));
  const DeviceSeries copy = device(dcgm(name, named));
  RC_ASSERT(series_identity(plain) == series_identity(copy));
  RC_ASSERT(plain.source == copy.source);
}

// Labels that the sender adds, and labels that aren't part of a measurement, make no new series; a
// replica makes another source of the same one.
RC_GTEST_PROP(MeaningProperty, SendersDoNotMatter, ()) {
  const auto& metric = dcgm_metrics()[*rc::gen::inRange<std::size_t>(0, dcgm_metrics().size())];
  LabelList added;
  for (const char* name : {"job", "prometheus", "service", "endpoint", "DCGM_FI_DRIVER_VERSION",
                           "pci_bus_id", "device", "Hostname2", "prometheus_replica"}) {
    if (*rc::gen::arbitrary<bool>()) added.push_back({name, "a"});
  }
  const bool replica = std::ranges::any_of(
      added, [](const auto& label) { return label.name == "prometheus_replica"; });
  const DeviceSeries plain = device(dcgm(std::string(metric.name)));
  const DeviceSeries sent = device(dcgm(std::string(metric.name), added));
  RC_ASSERT(series_identity(plain) == series_identity(sent));
  RC_ASSERT((plain.source == sent.source) == !replica);
}

}  // namespace
}  // namespace pennyweight::telemetry
