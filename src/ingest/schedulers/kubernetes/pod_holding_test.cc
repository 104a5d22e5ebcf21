#include "ingest/schedulers/kubernetes/pod_holding.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

#include "ingest/schedulers/kubernetes/node_facts.h"
#include "ingest/schedulers/kubernetes/object_json.h"

namespace pennyweight::kubernetes {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const ClusterId kCluster("c");

template <class Kind>
Kind read_record(std::string_view json) {
  ObjectReader reader;
  auto object = reader.read(json);
  EXPECT_TRUE(object) << object.error().message << json;
  return std::get<Kind>(*object);
}

// A pod of namespace "team" on node "n1"; `spec` and `meta` are further JSON fields.
PodRecord pod_record(std::string_view spec, std::string_view meta = "",
                     std::string_view name_space = "team") {
  return make_record(read_record<Pod>(fmt::format(
                         R"({{"kind":"Pod","metadata":{{"name":"p","uid":"u1","namespace":"{}"{}}},
          "spec":{{"nodeName":"n1",{}}},"status":{{"phase":"Running",
          "startTime":"2026-03-01T00:00:00Z"}}}})",
                         name_space, meta, spec)),
                     {});
}
std::string requests(std::string_view resources) {
  return fmt::format(R"("containers":[{{"name":"a","resources":{{"requests":{{{}}}}}}}])",
                     resources);
}
NodeRecord node_record(std::string_view labels, std::string_view capacity,
                       std::string_view more = "") {
  return make_record(kCluster, read_record<NodeObject>(fmt::format(
                                   R"({{"kind":"Node","metadata":{{"name":"n1","uid":"nu",
        "labels":{{{}}}{}}},"status":{{"capacity":{{{}}}}}}})",
                                   labels, more, capacity)));
}

struct World {
  NodeRecord node;
  std::set<std::string> cards;
  std::map<std::string, ResourceClaim> claims;
  std::map<std::string, SliceDevice> devices;

  AllocationContext around() const {
    AllocationContext around;
    around.sharing = node.problem.empty() ? &node.sharing : nullptr;
    around.sharing_problem = node.problem;
    around.is_known_gpu = [this](const std::string& id) { return cards.contains(id); };
    around.claim = [this](std::string_view name_space, std::string_view name) {
      const auto at = claims.find(fmt::format("{}/{}", name_space, name));
      return at == claims.end() ? nullptr : &at->second;
    };
    around.slice_device = [this](const ClaimedDevice& device) {
      const auto at = devices.find(device.device);
      return at == devices.end() ? nullptr : &at->second;
    };
    return around;
  }
};

// "device @ placement", with claim and group where there are any.
std::vector<std::string> described(const HeldDevices& parts) {
  std::vector<std::string> lines;
  for (const HeldDevice& part : parts.parts) {
    std::string line = to_text(part.device) + " @ " + to_text(part.placement);
    if (!part.claim.empty()) line += " claim " + part.claim;
    if (!part.gpu_group.empty()) line += " group " + part.gpu_group;
    if (part.is_reservation) line += " reserved";
    lines.push_back(std::move(line));
  }
  return lines;
}

constexpr std::string_view kA100 =
    R"("nvidia.com/gpu.product":"NVIDIA-A100-SXM4-40GB","nvidia.com/gpu.count":"8")";

struct Case {
  std::string what;
  std::string labels;
  std::string capacity;
  std::string requests;
  std::string expected;
};

TEST(PodHolding, EveryWayOfSharingAGpu) {
  const std::string a100(kA100);
  const std::vector<Case> cases = {
      {"whole cards", a100, R"("nvidia.com/gpu":"8")", R"("nvidia.com/gpu":"2")",
       "gpu @ nodes n1=2"},
      {"no card", a100, R"("nvidia.com/gpu":"8")", R"("cpu":"2")", "gpu @ nodes n1=0"},
      {"MIG mixed", a100 + R"(,"nvidia.com/mig.strategy":"mixed")",
       R"("nvidia.com/gpu":"7","nvidia.com/mig-1g.5gb":"7")", R"("nvidia.com/mig-1g.5gb":"2")",
       "mig 1g.5gb @ nodes n1=2"},
      {"MIG single",
       R"("nvidia.com/gpu.product":"NVIDIA-A100-SXM4-40GB-MIG-1g.5gb","nvidia.com/gpu.count":"56",
          "nvidia.com/mig.strategy":"single")",
       R"("nvidia.com/gpu":"56")", R"("nvidia.com/gpu":"3")", "mig 1g.5gb @ nodes n1=3"},
      {"time-slicing, not renamed",
       R"("nvidia.com/gpu.product":"NVIDIA-A100-SXM4-40GB-SHARED","nvidia.com/gpu.count":"8",
          "nvidia.com/gpu.replicas":"10","nvidia.com/gpu.sharing-strategy":"time-slicing")",
       R"("nvidia.com/gpu":"80")", R"("nvidia.com/gpu":"1")", "replica @ nodes n1=1"},
      {"time-slicing, renamed",
       a100 + R"(,"nvidia.com/gpu.replicas":"4","nvidia.com/gpu.sharing-strategy":"time-slicing")",
       R"("nvidia.com/gpu.shared":"32")", R"("nvidia.com/gpu.shared":"2")", "replica @ nodes n1=2"},
      {"MPS", a100 + R"(,"nvidia.com/gpu.replicas":"2","nvidia.com/gpu.sharing-strategy":"mps")",
       R"("nvidia.com/gpu":"16")", R"("nvidia.com/gpu":"1")", "replica @ nodes n1=1"},
      {"HAMi, before it is placed", a100, R"("nvidia.com/gpu":"80")",
       R"("nvidia.com/gpu":"1","nvidia.com/gpumem":"3k","nvidia.com/gpucores":"30")",
       "vgpu cores=30 memory=3145728000 @ nodes n1=1"},
      {"HAMi, percent of memory", a100, R"("nvidia.com/gpu":"80")",
       R"("nvidia.com/gpu":"2","nvidia.com/gpumem-percentage":"50")",
       "vgpu memory_percent=50 @ nodes n1=2"},
      {"Volcano", a100, R"("volcano.sh/vgpu-number":"80")",
       R"("volcano.sh/vgpu-number":"1","volcano.sh/vgpu-memory":"1000",
          "volcano.sh/vgpu-cores":"20")",
       "vgpu cores=20 memory=1048576000 @ nodes n1=1"},
      {"GKE time-sharing",
       R"("cloud.google.com/gke-accelerator":"nvidia-l4",
          "cloud.google.com/gke-accelerator-count":"1",
          "cloud.google.com/gke-gpu-sharing-strategy":"time-sharing",
          "cloud.google.com/gke-max-shared-clients-per-gpu":"3")",
       R"("nvidia.com/gpu":"3")", R"("nvidia.com/gpu":"1")", "replica @ nodes n1=1"},
      {"AMD", R"("amd.com/gpu.product-name":"AMD_Instinct_MI300X_OAM")", R"("amd.com/gpu":"8")",
       R"("amd.com/gpu":"4")", "gpu @ nodes n1=4"},
  };
  for (const Case& one : cases) {
    SCOPED_TRACE(one.what);
    World world{
        .node = node_record(one.labels, one.capacity), .cards = {}, .claims = {}, .devices = {}};
    const HeldDevices parts = held_devices(pod_record(requests(one.requests)), world.around());
    EXPECT_THAT(parts.problems, ElementsAre());
    EXPECT_THAT(described(parts), ElementsAre(one.expected));
  }
}

TEST(PodHolding, ARealPodThatRunAiGaveASliceAsksForNoneByResource) {
  // Run:ai's dynamic MIG of 2023 named the slice in an annotation only; it gives no device and
  // stays as a label, and telemetry shows where the pod is.
  std::ifstream in(std::string(TEST_DATA) + "/kubernetes/pod_a100_mig.json");
  std::ostringstream text;
  text << in.rdbuf();
  const PodRecord real = make_record(read_record<Pod>(text.str()), {});
  World world{.node = node_record(kA100, R"("nvidia.com/mig-1g.5gb":"2")"),
              .cards = {},
              .claims = {},
              .devices = {}};
  EXPECT_THAT(described(held_devices(real, world.around())),
              ElementsAre("gpu @ nodes qa-mig-worker-gpu-a100=0"));
  EXPECT_EQ(real.annotations.find("nvidia.com/mig-1g.5gb"), "1");
  EXPECT_EQ(real.request.cpu_milli, 500u);
}

constexpr std::string_view kHami =
    R"(,"annotations":{"hami.io/vgpu-devices-allocated":"GPU-1,NVIDIA,3000,30:;)"
    R"(GPU-1,NVIDIA,3000,30:GPU-2,NVIDIA,8000,0:;"})";

TEST(PodHolding, HamiSaysOnWhichCards) {
  World world{.node = node_record(kA100, R"("nvidia.com/gpu":"80")"),
              .cards = {"GPU-1", "GPU-2"},
              .claims = {},
              .devices = {}};
  const PodRecord shared =
      pod_record(requests(R"("nvidia.com/gpu":"1","nvidia.com/gpumem":"3k")"), kHami);
  EXPECT_THAT(described(held_devices(shared, world.around())),
              ElementsAre("vgpu cores=30 memory=3145728000 @ gpus GPU-1,GPU-1",
                          "vgpu memory=8388608000 @ gpus GPU-2"));
  // GPUs that are in no inventory would not be found: the node is used.
  world.cards = {};
  EXPECT_THAT(described(held_devices(shared, world.around())),
              ElementsAre("vgpu cores=30 memory=3145728000 @ nodes n1=2",
                          "vgpu memory=8388608000 @ nodes n1=1"));
}

TEST(PodHolding, AStaleAnnotationOfHamiGivesNothingToAPodThatAsksForNothing) {
  World world{.node = node_record(kA100, R"("nvidia.com/gpu":"80")"),
              .cards = {"GPU-1", "GPU-2"},
              .claims = {},
              .devices = {}};
  EXPECT_THAT(described(held_devices(pod_record(requests(R"("cpu":"1")"), kHami), world.around())),
              ElementsAre("gpu @ nodes n1=0"));
}

TEST(PodHolding, VolcanoSaysOnWhichCards) {
  World world{.node = node_record(kA100, R"("volcano.sh/vgpu-number":"80")"),
              .cards = {"GPU-9"},
              .claims = {},
              .devices = {}};
  EXPECT_THAT(
      described(held_devices(
          pod_record(requests(R"("volcano.sh/vgpu-number":"1")"),
                     R"(,"annotations":{"volcano.sh/vgpu-ids-new":"GPU-9,NVIDIA,1126,0:"})"),
          world.around())),
      ElementsAre("vgpu memory=1180696576 @ gpus GPU-9"));
}

TEST(PodHolding, KaiFractionsAreInTheirGroupAndReservationsOnTheirCard) {
  World world{.node = node_record(kA100, R"("nvidia.com/gpu":"8")"),
              .cards = {"GPU-1"},
              .claims = {},
              .devices = {}};
  const auto fraction =
      pod_record(requests(R"("cpu":"1")"),
                 R"(,"labels":{"runai-gpu-group":"g1"},"annotations":{"gpu-fraction":"0.5"})");
  EXPECT_THAT(described(held_devices(fraction, world.around())),
              ElementsAre("fraction 36036000/36036000 @ nodes n1=1 group g1"));
  const auto two = pod_record(requests(R"("cpu":"1")"),
                              R"(,"labels":{"runai-gpu-group/g1":"g1","runai-gpu-group/g2":"g2"},
          "annotations":{"gpu-memory":"2000","gpu-fraction-num-devices":"2"})");
  EXPECT_THAT(described(held_devices(two, world.around())),
              ElementsAre("vgpu memory=2097152000 @ nodes n1=1 group g1",
                          "vgpu memory=2097152000 @ nodes n1=1 group g2"));
  const auto reservation = pod_record(requests(R"("nvidia.com/gpu":"1")"),
                                      R"(,"labels":{"runai-gpu-group":"g1"},
          "annotations":{"run.ai/reserve_for_gpu_index":"GPU-1"})",
                                      "kai-resource-reservation");
  EXPECT_THAT(described(held_devices(reservation, world.around())),
              ElementsAre("gpu @ gpus GPU-1 group g1 reserved"));
  world.cards = {};
  EXPECT_THAT(described(held_devices(reservation, world.around())),
              ElementsAre("gpu @ nodes n1=1 group g1 reserved"));
}

ResourceClaim claim(std::string_view results) {
  return read_record<ResourceClaim>(fmt::format(
      R"({{"kind":"ResourceClaim","metadata":{{"name":"x","uid":"cu","namespace":"team"}},
      "status":{{"allocation":{{"devices":{{"results":[{}]}}}}}}}})",
      results));
}

constexpr std::string_view kClaims =
    R"("containers":[{"name":"a"}],"resourceClaims":[{"name":"gpu","resourceClaimName":"x"}])";

TEST(PodHolding, ClaimsHoldWhatTheyWereGiven) {
  World world{.node = node_record(kA100, R"("cpu":"8")"), .cards = {}, .claims = {}, .devices = {}};
  const auto result = [](std::string_view device, std::string_view more = "") {
    return fmt::format(R"({{"driver":"gpu.nvidia.com","pool":"n1","device":"{}"{}}})", device,
                       more);
  };
  const auto held = [&] { return described(held_devices(pod_record(kClaims), world.around())); };

  world.claims["team/x"] = claim(result("gpu-0") + "," + result("gpu-1"));
  EXPECT_THAT(held(), ElementsAre("gpu @ nodes n1=2 claim team/x"));
  world.claims["team/x"] = claim(result("gpu-0-mig-1g5gb-19-0"));
  EXPECT_THAT(held(), ElementsAre("mig 1g.5gb @ nodes n1=1 claim team/x"));
  world.claims["team/x"] = claim(result("gpu-0", R"(,"adminAccess":true)"));
  EXPECT_THAT(held(), ElementsAre("gpu @ nodes n1=0"));
  world.claims["team/x"] = claim(result("gpu-0", R"(,"consumedCapacity":{"memory":"10Gi"})"));
  EXPECT_THAT(held(), ElementsAre("vgpu memory=10737418240 @ nodes n1=1 claim team/x"));
  world.claims["team/x"] = claim(R"({"driver":"dra.net","pool":"n1","device":"nic-0"})");
  EXPECT_THAT(held(), ElementsAre("gpu @ nodes n1=0"));

  // With known slices: on the GPUs. The name of a claim belongs to one kind of device only.
  world.cards = {"GPU-1", "MIG-7"};
  world.devices["gpu-0"].uuid = "GPU-1";
  world.devices["gpu-1-mig-1g5gb-19-0"] = {.name = {},
                                           .type = {},
                                           .uuid = "MIG-7",
                                           .parent_uuid = "GPU-2",
                                           .profile = "1g.5gb",
                                           .product = {},
                                           .memory_bytes = {},
                                           .minor = {}};
  world.claims["team/x"] = claim(result("gpu-0") + "," + result("gpu-1-mig-1g5gb-19-0"));
  EXPECT_THAT(held(), ElementsAre("gpu @ gpus GPU-1 claim team/x",
                                  "mig 1g.5gb @ gpus MIG-7 claim team/x/mig 1g.5gb gpus MIG-7"));
}

TEST(PodHolding, AClaimMadeFromATemplateIsNamedInTheStatus) {
  const Pod made =
      read_record<Pod>(R"({"kind":"Pod","metadata":{"name":"p","uid":"u","namespace":"team"},
    "spec":{"resourceClaims":[{"name":"gpu","resourceClaimTemplateName":"t"}]},
    "status":{"resourceClaimStatuses":[{"name":"gpu","resourceClaimName":"p-gpu-x7"}]}})");
  EXPECT_THAT(make_record(made, {}).claims, ElementsAre("p-gpu-x7"));
}

TEST(PodHolding, WhatIsNotUnderstoodIsSaidAndNotGuessed) {
  World world{.node = node_record(kA100, R"("nvidia.com/gpu":"8")"),
              .cards = {},
              .claims = {},
              .devices = {}};
  const auto problem = [&](const PodRecord& record) {
    const HeldDevices parts = held_devices(record, world.around());
    EXPECT_THAT(described(parts), ElementsAre("gpu @ nodes n1=0"));
    return parts.problems.empty() ? std::string() : parts.problems.front();
  };
  EXPECT_THAT(problem(pod_record(requests(R"("example.com/gpu":"1")"))),
              HasSubstr("example.com/gpu"));
  EXPECT_THAT(problem(pod_record(kClaims)), HasSubstr("ResourceClaim x is not known"));
  EXPECT_THAT(problem(pod_record(requests(R"("cpu":"lots")"))), HasSubstr("cpu"));
  // Shared, and no label gives the number of replicas.
  world.node =
      node_record(R"("nvidia.com/gpu.sharing-strategy":"time-slicing")", R"("nvidia.com/gpu":"8")");
  EXPECT_THAT(problem(pod_record(requests(R"("nvidia.com/gpu":"1")"))),
              HasSubstr("shared by replicas"));
}

TEST(PodHolding, SeveralKindsAreSeveralAttemptsAndTheHostIsCountedOnce) {
  World world{.node = node_record(kA100, R"("nvidia.com/gpu":"7","nvidia.com/mig-1g.5gb":"7")"),
              .cards = {},
              .claims = {},
              .devices = {}};
  const PodRecord record = pod_record(
      requests(R"("nvidia.com/gpu":"1","nvidia.com/mig-1g.5gb":"2","cpu":"3","memory":"1Gi")"));
  const Interval held(from_unix_seconds(100), from_unix_seconds(200));
  const auto holdings =
      make_holdings(kCluster, record, held_devices(record, world.around()), held, true, Labels());
  ASSERT_EQ(holdings.size(), 2u);
  EXPECT_EQ(holdings[0].workload, WorkloadId("team/p"));
  EXPECT_EQ(holdings[0].attempt, "u1");
  EXPECT_EQ(holdings[0].cpu_milli, 3000u);
  EXPECT_EQ(holdings[0].memory_bytes, std::uint64_t{1} << 30);
  EXPECT_EQ(holdings[1].attempt, "u1/mig 1g.5gb");
  EXPECT_EQ(holdings[1].cpu_milli, 0u);
  EXPECT_EQ(holdings[1].memory_bytes, 0u);
  EXPECT_TRUE(holdings[1].ended);
}

}  // namespace
}  // namespace pennyweight::kubernetes
