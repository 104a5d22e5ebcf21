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

}  // namespace
}  // namespace pennyweight::manifests
