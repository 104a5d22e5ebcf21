#include "ingest/schedulers/kubernetes/object_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "ingest/schedulers/kubernetes/pod_request.h"

namespace pennyweight::kubernetes {
namespace {

using testing::HasSubstr;

std::string file(const std::string& name) {
  std::ifstream in(std::string(TEST_DATA) + "/kubernetes/" + name);
  EXPECT_TRUE(in.good()) << name;
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

template <class Kind>
Kind read(const std::string& json) {
  ObjectReader reader;
  auto object = reader.read(json);
  if (!object) {
    ADD_FAILURE() << object.error().message;
    return {};
  }
  const auto* one = std::get_if<Kind>(&*object);
  if (one == nullptr) {
    ADD_FAILURE() << "another kind";
    return {};
  }
  return *one;
}

std::string refusal(std::string_view json) {
  ObjectReader reader;
  const auto object = reader.read(json);
  return object ? "taken" : object.error().message;
}

TEST(KubernetesObject, ReadsARealPod) {
  const Pod pod = read<Pod>(file("pod_a100_mig.json"));
  EXPECT_EQ(pod.meta.name, "job-2-0-0");
  EXPECT_EQ(pod.meta.name_space, "runai-team-a");
  EXPECT_EQ(pod.meta.uid, "cb9aaa99-97df-4c10-bfa7-c1ed024c672b");
  EXPECT_EQ(pod.node, "qa-mig-worker-gpu-a100");
  EXPECT_EQ(pod.phase, "Running");
  EXPECT_EQ(pod.service_account, "default");
  EXPECT_EQ(to_text(*pod.scheduled), "2023-01-19T07:56:49Z");
  EXPECT_EQ(to_text(*pod.started), "2023-01-19T07:56:50Z");
  EXPECT_FALSE(pod.terminated);
  ASSERT_EQ(pod.meta.owners.size(), 1u);
  EXPECT_EQ(pod.meta.owners[0].kind, "RunaiJob");
  EXPECT_TRUE(pod.meta.owners[0].is_controller);
  EXPECT_EQ(pod.meta.labels.at("project"), "team-a");
  EXPECT_EQ(pod.meta.annotations.at("user"), "guyshaibi");
  ASSERT_EQ(pod.containers.size(), 1u);
  EXPECT_EQ(pod.containers[0].requests.at("cpu"), "500m");
}

TEST(KubernetesObject, ReadsARealNode) {
  const NodeObject node = read<NodeObject>(file("node_a100_mig.json"));
  EXPECT_EQ(node.meta.name, "qa-mig-worker-gpu-a100");
  EXPECT_EQ(node.capacity.at("nvidia.com/mig-1g.5gb"), "2");
  EXPECT_EQ(node.meta.labels.at("nvidia.com/gpu.product"), "NVIDIA-A100-SXM4-40GB");
  EXPECT_EQ(node.is_ready, true);
  EXPECT_EQ(to_text(*node.ready_changed), "2023-01-18T11:53:07Z");
  EXPECT_FALSE(node.is_unschedulable);
}

TEST(KubernetesObject, ReadsClaimsAndSlicesOfEitherVersion) {
  const auto claim =
      read<ResourceClaim>(R"({"kind":"ResourceClaim","metadata":{"name":"c","uid":"u",
    "namespace":"n"},"status":{"allocation":{"devices":{"results":[
    {"driver":"gpu.nvidia.com","pool":"n1","device":"gpu-3","request":"gpu"},
    {"driver":"gpu.nvidia.com","pool":"n1","device":"gpu-4","adminAccess":true},
    {"driver":"gpu.nvidia.com","pool":"n1","device":"gpu-5","consumedCapacity":{"memory":"10Gi"}}
    ]}}}})");
  ASSERT_EQ(claim.devices.size(), 3u);
  EXPECT_EQ(claim.devices[0].device, "gpu-3");
  EXPECT_TRUE(claim.devices[1].is_admin_access);
  EXPECT_EQ(claim.devices[2].memory_bytes, 10'737'418'240u);
  for (const std::string_view form : {R"({"name":"gpu-0","attributes":{"uuid":{"string":"GPU-1"},
         "type":{"string":"gpu"},"minor":{"int":0},"productName":{"string":"NVIDIA L4"}},
         "capacity":{"memory":{"value":"23034Mi"}}})",
                                      R"({"name":"gpu-0","basic":{"attributes":{"uuid":{"string":
         "GPU-1"},"type":{"string":"gpu"},"minor":{"int":0},"productName":{"string":"NVIDIA L4"}},
         "capacity":{"memory":{"value":"23034Mi"}}}})"}) {
    const auto slice = read<ResourceSlice>(
        std::string(R"({"kind":"ResourceSlice","metadata":{"name":"s","uid":"u"},
         "spec":{"driver":"gpu.nvidia.com","nodeName":"n1","pool":{"name":"n1"},"devices":[)") +
        std::string(form) + "]}}");
    ASSERT_EQ(slice.devices.size(), 1u);
    EXPECT_EQ(slice.devices[0].uuid, "GPU-1");
    EXPECT_EQ(slice.devices[0].product, "NVIDIA L4");
    EXPECT_EQ(slice.devices[0].memory_bytes, std::uint64_t{23034} << 20);
    EXPECT_EQ(slice.devices[0].minor, 0u);
  }
}

TEST(KubernetesObject, AnItemOfAListIsOfTheListsKind) {
  ObjectReader reader;
  const auto item = reader.read(R"({"metadata":{"name":"j","uid":"u"}})", "Job", "batch/v1");
  ASSERT_TRUE(item);
  EXPECT_EQ(object_kind(*item), ObjectKind::kWorkload);
  EXPECT_EQ(object_meta(*item).kind, "Job");
  EXPECT_EQ(object_meta(*item).api_version, "batch/v1");
}

TEST(KubernetesObject, LeavesOutWhatMayHoldSecretsAndWhatIsLong) {
  const std::string kLong(kAnnotationBytesMax + 1, 'x');
  const auto pod = read<Pod>(R"({"kind":"Pod","metadata":{"name":"p","uid":"u","annotations":{
    "kubectl.kubernetes.io/last-applied-configuration":"{}","a":"b","long":")" +
                             kLong + R"(","hami.io/vgpu-devices-allocated":")" + kLong + R"("}}})");
  EXPECT_EQ(pod.meta.annotations.size(), 2u);
  EXPECT_TRUE(pod.meta.annotations.contains("a"));
  EXPECT_TRUE(pod.meta.annotations.contains("hami.io/vgpu-devices-allocated"));
}

TEST(KubernetesObject, RefusesWhatIsNotAsTheApiHasIt) {
  EXPECT_THAT(refusal(""), HasSubstr("not JSON"));
  EXPECT_THAT(refusal("[]"), HasSubstr("is a JSON object"));
  EXPECT_THAT(refusal(R"({"kind":"Pod"})"), HasSubstr("metadata/name"));
  EXPECT_THAT(refusal(R"({"kind":"Pod","metadata":{"name":"p"}})"), HasSubstr("metadata/uid"));
  EXPECT_THAT(refusal(R"({"kind":"Pod","metadata":[]})"), HasSubstr("metadata/name"));
  EXPECT_THAT(refusal(R"({"kind":"Pod","metadata":{"name":1,"uid":"u"}})"),
              HasSubstr("not a string"));
  EXPECT_THAT(refusal(R"({"kind":"Pod","metadata":{"name":"p","uid":"u","labels":{"a":1}}})"),
              HasSubstr("metadata/labels"));
  EXPECT_THAT(refusal(R"({"kind":"Pod","metadata":{"name":"p","uid":"u"},
                         "spec":{"containers":{}}})"),
              HasSubstr("spec/containers: not a list"));
  EXPECT_THAT(refusal(R"({"kind":"Pod","metadata":{"name":"p","uid":"u",
                         "creationTimestamp":"yesterday"}})"),
              HasSubstr("metadata/creationTimestamp"));
  EXPECT_THAT(refusal(R"({"kind":"Node","metadata":{"name":"n","uid":"u"},
                         "status":{"capacity":{"cpu":true}}})"),
              HasSubstr("status/capacity"));
  EXPECT_THAT(refusal(R"({"kind":"Node","metadata":{"name":"n","uid":"u"},
                         "spec":{"unschedulable":"yes"}})"),
              HasSubstr("spec/unschedulable"));
}

TEST(KubernetesObject, CutsTimesToTheMillisecond) {
  EXPECT_EQ(to_text(*parse_time("2026-03-01T10:00:00.123456Z")), "2026-03-01T10:00:00.123Z");
  EXPECT_EQ(to_text(*parse_time("2026-03-01T10:00:00Z")), "2026-03-01T10:00:00Z");
  EXPECT_EQ(to_text(*parse_time("2026-03-01T10:00:00.5+01:00")), "2026-03-01T09:00:00.500Z");
  EXPECT_FALSE(parse_time("2026-03-01T10:00:00.Z..5"));
}

Container container(KubernetesResources requests, bool is_sidecar = false) {
  return {.name = "c",
          .image = {},
          .requests = std::move(requests),
          .limits = {},
          .is_sidecar = is_sidecar};
}

TEST(PodRequest, CountsAsTheSchedulerDoes) {
  Pod pod;
  // Init 4 cores alone; sidecar 1 core stays; init after it 2 cores + the sidecar's 1.
  pod.init_containers = {container({{"cpu", "4"}, {"memory", "1Gi"}}),
                         container({{"cpu", "1"}, {"memory", "1Gi"}}, true),
                         container({{"cpu", "2"}, {"memory", "6Gi"}})};
  pod.containers = {container({{"cpu", "1500m"}, {"memory", "2Gi"}}), container({{"cpu", "500m"}})};
  auto request = pod_request(pod);
  ASSERT_TRUE(request);
  EXPECT_EQ(request->cpu_milli, 4000u);                      // max(1 + 1.5 + 0.5, 4, 2 + 1)
  EXPECT_EQ(request->memory_bytes, std::uint64_t{7} << 30);  // max(1 + 2, 1, 6 + 1)

  pod.overhead = {{"cpu", "250m"}, {"memory", "128Mi"}};
  request = pod_request(pod);
  EXPECT_EQ(request->cpu_milli, 4250u);
  EXPECT_EQ(request->memory_bytes, (std::uint64_t{7} << 30) + (std::uint64_t{128} << 20));

  pod.requests = {{"cpu", "2"}};  // of the pod as a whole
  request = pod_request(pod);
  EXPECT_EQ(request->cpu_milli, 2250u);
}

TEST(PodRequest, TakesLimitsWhereRequestsAreMissing) {
  Pod pod;
  Container one = container({{"cpu", "100m"}});
  one.limits = {{"cpu", "2"}, {"memory", "1Gi"}, {"nvidia.com/gpu", "2"}};
  pod.containers = {one};
  const auto request = pod_request(pod);
  ASSERT_TRUE(request);
  EXPECT_EQ(request->cpu_milli, 100u);
  EXPECT_EQ(request->memory_bytes, std::uint64_t{1} << 30);
  ASSERT_EQ(request->extended.size(), 1u);
  EXPECT_EQ(request->extended[0].at("nvidia.com/gpu"), "2");
}

TEST(PodRequest, KeepsWhatAnInitContainerTookBeyondTheOthers) {
  Pod pod;
  pod.init_containers = {container({{"nvidia.com/gpu", "4"}}),
                         container({{"nvidia.com/gpu", "3"}})};
  pod.containers = {container({{"nvidia.com/gpu", "1"}})};
  const auto request = pod_request(pod);
  ASSERT_TRUE(request);
  ASSERT_EQ(request->extended.size(), 2u);
  EXPECT_EQ(request->extended[0].at("nvidia.com/gpu"), "1");
  EXPECT_EQ(request->extended[1].at("nvidia.com/gpu"), "3");
}

TEST(PodRequest, RoundsUpWhatIsFinerThanAUnitAndRefusesNonsense) {
  Pod pod;
  pod.containers = {container({{"memory", "1500m"}})};
  EXPECT_EQ(pod_request(pod)->memory_bytes, 2u);
  pod.containers = {container({{"cpu", "many"}})};
  EXPECT_THAT(pod_request(pod).error().message, HasSubstr("container c: cpu"));
}

}  // namespace
}  // namespace pennyweight::kubernetes
