// Compose files and Terraform plans, which name machines or hosts.
#include <gtest/gtest.h>

#include <string>

#include "ingest/manifests/manifest_files.h"

namespace pennyweight::manifests {
namespace {

ManifestReading read_text(const std::string& text) {
  const ManifestFile file{"f", text};
  auto reading = read_manifest_files({&file, 1});
  EXPECT_TRUE(reading) << reading.error().message;
  return reading ? *reading : ManifestReading();
}

TEST(ComposeServices, ReadsGpusInAllSpellings) {
  const auto reading = read_text(
      "x-gpu: &gpu {deploy: {replicas: 2, resources: {reservations: {devices: [{driver: nvidia, "
      "count: 2, capabilities: [gpu]}]}}}}\n"
      "services:\n"
      "  counted: *gpu\n"
      "  named: {deploy: {resources: {reservations: {devices: [{device_ids: ['0', '3', '4'], "
      "capabilities: [[gpu, utility]]}]}, limits: {cpus: '1.5', memory: 16gb}}}}\n"
      "  all: {gpus: all}\n"
      "  runtime: {runtime: nvidia}\n"
      "  web: {image: nginx}\n"
      "  wrong: {cpus: many}\n");
  ASSERT_EQ(reading.workloads.size(), 4U);
  EXPECT_EQ(reading.workloads[0].groups[0].gpus[0].count, 2U);
  EXPECT_EQ(reading.workloads[0].groups[0].replicas, 2U);
  EXPECT_EQ(reading.workloads[1].groups[0].gpus[0].count, 3U);
  EXPECT_EQ(reading.workloads[1].groups[0].cpu_milli, 1500U);
  EXPECT_EQ(reading.workloads[1].groups[0].memory_bytes, 16ULL << 30U);
  EXPECT_TRUE(reading.workloads[2].groups[0].takes_whole_machines);
  EXPECT_TRUE(reading.workloads[3].groups[0].takes_whole_machines);
  EXPECT_EQ(reading.without_cost, 1U);
  ASSERT_EQ(reading.unpriced.size(), 1U);
  EXPECT_EQ(reading.unpriced[0].name, "wrong");
}

TEST(TerraformPlan, ReadsMachinesOfTheThreeClouds) {
  const auto reading = read_text(R"({"terraform_version": "1.9.0",
   "configuration": {"provider_config": {"aws": {"name": "aws",
     "expressions": {"region": {"constant_value": "us-east-1"}}}}},
   "resource_changes": [
    {"address": "aws_instance.gpu", "mode": "managed", "type": "aws_instance",
     "change": {"actions": ["create"],
       "after": {"instance_type": "p5.48xlarge", "tags": {"team": "nlp"}}}},
    {"address": "aws_instance.gone", "mode": "managed", "type": "aws_instance",
     "change": {"actions": ["delete"], "after": null}},
    {"address": "aws_eks_node_group.g", "mode": "managed", "type": "aws_eks_node_group",
     "change": {"actions": ["create"], "after": {"instance_types": ["p4d.24xlarge"],
       "capacity_type": "SPOT",
       "scaling_config": [{"desired_size": 2, "max_size": 5, "min_size": 0}]}}},
    {"address": "google_container_node_pool.p", "mode": "managed",
     "type": "google_container_node_pool", "change": {"actions": ["update"],
      "after": {"location": "us-central1-a", "node_count": 3,
       "node_config": [{"machine_type": "a3-highgpu-8g", "spot": true}]}}},
    {"address": "azurerm_kubernetes_cluster_node_pool.n", "mode": "managed",
     "type": "azurerm_kubernetes_cluster_node_pool",
     "change": {"actions": ["create"],
       "after": {"vm_size": "Standard_ND96isr_H100_v5", "node_count": 1}}},
    {"address": "aws_instance.later", "mode": "managed", "type": "aws_instance",
     "change": {"actions": ["create"], "after": {}}},
    {"address": "hcloud_server.s", "mode": "managed", "type": "hcloud_server",
     "change": {"actions": ["create"], "after": {}}},
    {"address": "aws_s3_bucket.b", "mode": "managed", "type": "aws_s3_bucket",
     "change": {"actions": ["create"], "after": {}}}]})");
  ASSERT_EQ(reading.workloads.size(), 4U);
  EXPECT_EQ(reading.workloads[0].groups[0].place.region, "us-east-1");
  EXPECT_EQ(reading.workloads[0].labels.at("team"), "nlp");
  EXPECT_EQ(reading.workloads[1].groups[0].replicas, 2U);
  EXPECT_EQ(reading.workloads[1].groups[0].replicas_max, 5U);
  EXPECT_TRUE(reading.workloads[1].groups[0].place.is_spot);
  EXPECT_EQ(reading.workloads[2].groups[0].place.region, "us-central1");
  EXPECT_TRUE(reading.workloads[2].groups[0].place.is_spot);
  EXPECT_EQ(reading.workloads[3].groups[0].place.instance_type, "Standard_ND96isr_H100_v5");
  EXPECT_EQ(reading.unpriced.size(), 2U);
  EXPECT_EQ(reading.without_cost, 1U);
}

// Each instance of for_each takes the template with its own key, in any order of the plan.
TEST(TerraformPlan, TakesTheTemplateWithTheSameKey) {
  const std::string configuration = R"({"terraform_version": "1.9.0", "configuration": {
     "root_module": {"resources": [
      {"address": "aws_autoscaling_group.g", "expressions": {"launch_template": [{"id":
        {"references": ["aws_launch_template.t", "each.key"]}}]}},
      {"address": "aws_autoscaling_group.fixed", "expressions": {"launch_template": [{"id":
        {"references": ["aws_launch_template.t[\"small\"].id",
          "aws_launch_template.t[\"small\"]", "aws_launch_template.t"]}}]}}]}},
   "resource_changes": [)";
  const auto resource = [](const std::string& type, const std::string& name,
                           const std::string& after) {
    return R"({"address": ")" + type + "." + name + R"(", "type": ")" + type +
           R"(", "change": {"after": )" + after + "}}";
  };
  const std::string big =
      resource("aws_launch_template", R"(t[\"big\"])", R"({"instance_type": "p5.48xlarge"})");
  const std::string small =
      resource("aws_launch_template", R"(t[\"small\"])", R"({"instance_type": "g5.xlarge"})");
  const std::string groups =
      resource("aws_autoscaling_group", R"(g[\"small\"])", R"({"desired_capacity": 1})") + "," +
      resource("aws_autoscaling_group", R"(g[\"big\"])", R"({"desired_capacity": 1})") + "," +
      resource("aws_autoscaling_group", "fixed", R"({"desired_capacity": 1})") + "," +
      resource("aws_autoscaling_group", R"(g[\"other\"])", R"({"desired_capacity": 1})");
  for (const std::string& templates : {big + "," + small, small + "," + big}) {
    const auto reading = read_text(configuration + templates + "," + groups + "]}");
    ASSERT_EQ(reading.workloads.size(), 3U);
    EXPECT_EQ(reading.workloads[0].groups.at(0).place.instance_type, "g5.xlarge");
    EXPECT_EQ(reading.workloads[1].groups.at(0).place.instance_type, "p5.48xlarge");
    EXPECT_EQ(reading.workloads[2].groups.at(0).place.instance_type, "g5.xlarge");
    ASSERT_EQ(reading.unpriced.size(), 1U);
    EXPECT_NE(reading.unpriced[0].reason.find("does not say which"), std::string::npos);
  }
}

TEST(TerraformPlan, FollowsTemplatesAndZones) {
  const auto reading = read_text(R"({"terraform_version": "1.9.0",
   "configuration": {"root_module": {
     "resources": [
      {"address": "aws_autoscaling_group.g", "expressions": {"launch_template": [{"id":
        {"references": ["aws_launch_template.gpu.id", "aws_launch_template.gpu"]}}]}},
      {"address": "azurerm_kubernetes_cluster_node_pool.n", "expressions": {
        "kubernetes_cluster_id": {"references": ["azurerm_kubernetes_cluster.k.id",
          "azurerm_kubernetes_cluster.k"]}}}],
     "module_calls": {"m": {"module": {"resources": [
      {"address": "google_compute_instance_group_manager.i", "expressions": {"version": [{
        "instance_template": {"references": ["google_compute_instance_template.t.id",
          "google_compute_instance_template.t"]}}]}}]}}}}},
   "resource_changes": [
    {"address": "aws_launch_template.gpu", "type": "aws_launch_template",
     "change": {"after": {"instance_type": "g5.xlarge",
       "instance_market_options": [{"market_type": "spot"}]}}},
    {"address": "aws_autoscaling_group.g[0]", "type": "aws_autoscaling_group",
     "change": {"after": {"min_size": 1, "desired_capacity": 3, "max_size": 6,
       "launch_template": [{"version": "1"}]}}},
    {"address": "module.m[\"x\"].google_compute_instance_template.t",
     "type": "google_compute_instance_template",
     "change": {"after": {"machine_type": "n1-standard-8",
       "guest_accelerator": [{"type": "nvidia-tesla-t4", "count": 2}]}}},
    {"address": "module.m[\"x\"].google_compute_instance_group_manager.i",
     "type": "google_compute_instance_group_manager",
     "change": {"after": {"zone": "us-central1-a", "target_size": 4}}},
    {"address": "google_container_node_pool.r", "type": "google_container_node_pool",
     "change": {"after": {"location": "us-central1", "initial_node_count": 2,
       "autoscaling": [{"min_node_count": 1, "max_node_count": 4}],
       "node_config": [{"machine_type": "a2-highgpu-1g", "preemptible": true}]}}},
    {"address": "google_container_node_pool.z", "type": "google_container_node_pool",
     "change": {"after": {"location": "us-central1", "node_count": 2,
       "node_locations": ["us-central1-a", "us-central1-b"],
       "node_config": [{"machine_type": "a2-highgpu-1g"}]}}},
    {"address": "azurerm_kubernetes_cluster.k", "type": "azurerm_kubernetes_cluster",
     "change": {"after": {"location": "westeurope",
       "default_node_pool": [{"vm_size": "Standard_D4s_v5", "min_count": 2, "max_count": 3}]}}},
    {"address": "azurerm_kubernetes_cluster_node_pool.n",
     "type": "azurerm_kubernetes_cluster_node_pool",
     "change": {"after": {"vm_size": "Standard_NC24ads_A100_v4", "node_count": 1}}}]})");
  ASSERT_EQ(reading.workloads.size(), 6U) << reading.unpriced.at(0).reason;
  const auto group = [&](std::size_t i) { return reading.workloads[i].groups.at(0); };
  EXPECT_EQ(group(0).place.instance_type, "g5.xlarge");
  EXPECT_TRUE(group(0).place.is_spot);
  EXPECT_EQ(group(0).replicas, 3U);
  EXPECT_EQ(group(0).replicas_max, 6U);
  EXPECT_EQ(group(1).place.instance_type, "n1-standard-8");
  EXPECT_EQ(group(1).place.gpu_model, "nvidia-tesla-t4");
  EXPECT_EQ(group(1).gpus.at(0).count, 2U);
  EXPECT_EQ(group(1).replicas, 4U);
  EXPECT_EQ(group(2).replicas, 6U);
  EXPECT_EQ(group(2).replicas_max, 12U);
  EXPECT_TRUE(group(2).place.is_spot);
  EXPECT_EQ(reading.workloads[2].notes.size(), 1U);
  EXPECT_EQ(group(3).replicas, 4U);
  EXPECT_EQ(group(4).replicas, 2U);
  EXPECT_EQ(group(5).place.region, "westeurope");
  EXPECT_EQ(reading.without_cost, 2U);
}

TEST(TerraformPlan, SaysWhatMayStartMachines) {
  const auto reading = read_text(R"({"terraform_version": "1.9.0", "resource_changes": [
    {"address": "aws_batch_compute_environment.b", "type": "aws_batch_compute_environment",
     "change": {"after": {"compute_resources": [{"instance_type": ["p4d.24xlarge"]}]}}},
    {"address": "aws_sagemaker_endpoint_configuration.e",
     "type": "aws_sagemaker_endpoint_configuration",
     "change": {"after": {"production_variants": [{"instance_type": "ml.g5.xlarge"}]}}},
    {"address": "helm_release.vllm", "type": "helm_release", "change": {"after": {}}},
    {"address": "aws_autoscaling_group.g", "type": "aws_autoscaling_group",
     "change": {"after": {"desired_capacity": 3}}},
    {"address": "aws_iam_instance_profile.p", "type": "aws_iam_instance_profile",
     "change": {"after": {}}},
    {"address": "aws_vpc.v", "type": "aws_vpc", "change": {"after": {}}}]})");
  EXPECT_TRUE(reading.workloads.empty());
  EXPECT_EQ(reading.unpriced.size(), 4U);
  EXPECT_EQ(reading.without_cost, 2U);
}

}  // namespace
}  // namespace pennyweight::manifests
