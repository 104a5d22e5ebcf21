// The table of the allocation reference, section 2.1, and the requests of HAMi, Volcano and KAI.
#include "core/gpu/resource_name.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/gpu/gpu_model.h"

namespace pennyweight {
namespace {

using Kind = RequestedDevice::Kind;
using Devices = std::vector<RequestedDevice>;
using Container = KubernetesResources;
using Annotations = std::vector<std::pair<std::string_view, std::string_view>>;

Result<Devices> ask(const std::vector<Container>& containers, const Annotations& annotations = {},
                    const NodeSharing& node = {}) {
  Labels labels;
  for (const auto& [key, value] : annotations) EXPECT_TRUE(labels.set(key, value).has_value());
  return requested_devices(containers, labels, node);
}

RequestedDevice some(Kind kind, std::uint64_t count) {
  RequestedDevice device;
  device.kind = kind;
  device.count = count;
  return device;
}

RequestedDevice slice(std::string_view profile, std::uint64_t count) {
  RequestedDevice device = some(Kind::kMigSlice, count);
  device.mig_profile = profile;
  return device;
}

struct Limits {
  std::optional<std::uint32_t> cores_percent;
  std::optional<std::uint64_t> memory_mib;
  std::optional<std::uint32_t> memory_percent;
};

RequestedDevice vgpu(std::uint64_t count, const Limits& limits) {
  RequestedDevice device = some(Kind::kVirtualGpu, count);
  device.cores_percent = limits.cores_percent;
  device.memory_percent = limits.memory_percent;
  if (limits.memory_mib) device.memory_bytes = *limits.memory_mib << 20;
  return device;
}

struct Parts {
  std::uint64_t parts;
  std::uint64_t whole;
};

RequestedDevice fraction(std::uint64_t count, Parts compute, Parts memory) {
  RequestedDevice device = some(Kind::kFraction, count);
  device.compute = CardShare::of(compute.parts, compute.whole).value();
  device.memory = CardShare::of(memory.parts, memory.whole).value();
  return device;
}

NodeSharing with_replicas(std::uint32_t replicas, bool renamed) {
  NodeSharing node;
  node.gpu_model = "NVIDIA-A100-SXM4-40GB";
  node.replicas = replicas;
  node.replicas_renamed = renamed;
  return node;
}

NodeSharing with_slices(std::string_view profile, std::uint32_t replicas = 0) {
  NodeSharing node = with_replicas(replicas, false);
  node.mig_profile = profile;
  return node;
}

struct Case {
  std::vector<Container> containers;
  NodeSharing node;
  Devices want;
};

void expect_devices(const std::vector<Case>& cases) {
  for (const Case& c : cases) {
    const std::string first =
        c.containers.empty() || c.containers.front().empty()
            ? ""
            : c.containers.front().begin()->first + "=" + c.containers.front().begin()->second;
    const auto devices = ask(c.containers, {}, c.node);
    ASSERT_TRUE(devices.has_value()) << first << ": " << devices.error().message;
    EXPECT_EQ(*devices, c.want) << first;
  }
}

TEST(ResourceName, DevicePlugin) {
  NodeSharing virtual_node;
  virtual_node.is_virtual = true;
  expect_devices({
      // n whole GPUs.
      {{{{"nvidia.com/gpu", "2"}}}, {}, {some(Kind::kGpu, 2)}},
      // n MIG slices: strategy single, and mixed.
      {{{{"nvidia.com/gpu", "2"}}}, with_slices("1g.5gb"), {slice("1g.5gb", 2)}},
      {{{{"nvidia.com/mig-1g.5gb", "1"}}}, {}, {slice("1g.5gb", 1)}},
      {{{{"nvidia.com/mig-1g.5gb.me", "1"}}}, {}, {slice("1g.5gb.me", 1)}},
      // Replicas, renamed and not, by time-slicing or MPS.
      {{{{"nvidia.com/gpu.shared", "3"}}}, with_replicas(4, true), {some(Kind::kReplica, 3)}},
      {{{{"nvidia.com/gpu.shared", "3"}}}, {}, {some(Kind::kReplica, 3)}},
      {{{{"nvidia.com/gpu", "1"}}}, with_replicas(10, false), {some(Kind::kReplica, 1)}},
      // An unshared GPU beside renamed ones can only be requested as a whole.
      {{{{"nvidia.com/gpu", "1"}}}, with_replicas(10, true), {some(Kind::kGpu, 1)}},
      // A fourth of a seventh, and of an eighth.
      {{{{"nvidia.com/gpu", "1"}}}, with_slices("1g.5gb", 4), {fraction(1, {1, 28}, {1, 32})}},
      // A vGPU without limits.
      {{{{"nvidia.com/gpu", "1"}}}, virtual_node, {vgpu(1, {})}},
      // Other vendors.
      {{{{"amd.com/gpu", "8"}}}, {}, {some(Kind::kGpu, 8)}},
      {{{{"gpu.intel.com/i915", "1"}, {"gpu.intel.com/i915_monitoring", "1"}}},
       {},
       {some(Kind::kGpu, 1)}},
      {{{{"gpu.intel.com/xe", "1"}}}, {}, {some(Kind::kGpu, 1)}},
      // No GPUs.
      {{}, {}, {}},
      {{{{"cpu", "4"}, {"memory", "16Gi"}, {"nvidia.com/hostdev", "1"}}}, {}, {}},
      {{{{"nvidia.com/gpu", "0"}}}, {}, {}},
      // Equal requests of several containers are merged; different ones are not.
      {{{{"nvidia.com/gpu", "1"}}, {{"nvidia.com/gpu", "2"}}, {{"cpu", "1"}}},
       {},
       {some(Kind::kGpu, 3)}},
      {{{{"nvidia.com/mig-3g.20gb", "1"}, {"nvidia.com/mig-1g.5gb", "2"}},
        {{"nvidia.com/mig-1g.5gb", "1"}}},
       {},
       {slice("3g.20gb", 1), slice("1g.5gb", 3)}},
  });
}

TEST(ResourceName, ReplicasOfMixedSlices) {
  NodeSharing node;
  node.gpu_model = "NVIDIA-A100-SXM4-40GB";
  node.mig_replicas = {{"3g.20gb", 2}};
  expect_devices({
      {{{{"nvidia.com/mig-3g.20gb.shared", "1"}}}, node, {fraction(1, {3, 14}, {1, 4})}},
      {{{{"nvidia.com/mig-3g.20gb", "1"}}}, node, {fraction(1, {3, 14}, {1, 4})}},
      {{{{"nvidia.com/mig-1g.5gb", "1"}}}, node, {slice("1g.5gb", 1)}},
  });
}

TEST(ResourceName, Hami) {
  expect_devices({
      {{{{"nvidia.com/gpu", "2"}, {"nvidia.com/gpumem", "3000"}, {"nvidia.com/gpucores", "30"}}},
       {},
       {vgpu(2, {.cores_percent = 30, .memory_mib = 3000, .memory_percent = {}})}},
      // The API server's spelling of 3000; without a number of GPUs, one; no limit on cores.
      {{{{"nvidia.com/gpumem", "3k"}, {"nvidia.com/gpucores", "0"}}},
       {},
       {vgpu(1, {.cores_percent = {}, .memory_mib = 3000, .memory_percent = {}})}},
      {{{{"nvidia.com/gpu", "2"}, {"nvidia.com/gpumem-percentage", "50"}}},
       {},
       {vgpu(2, {.cores_percent = {}, .memory_mib = {}, .memory_percent = 50})}},
      {{{{"nvidia.com/gpu", "1"}, {"nvidia.com/gpucores", "50"}, {"nvidia.com/priority", "1"}}},
       {},
       {vgpu(1, {.cores_percent = 50, .memory_mib = {}, .memory_percent = {}})}},
      // More memory than any GPU has: oversubscribed by deviceMemoryScaling, and kept.
      {{{{"nvidia.com/gpu", "1"}, {"nvidia.com/gpumem", "200000"}}},
       {},
       {vgpu(1, {.cores_percent = {}, .memory_mib = 200000, .memory_percent = {}})}},
      // Limits are per container: two of 3000 are two vGPUs of 3000, not of 6000.
      {{{{"nvidia.com/gpu", "1"}, {"nvidia.com/gpumem", "3000"}},
        {{"nvidia.com/gpu", "1"}, {"nvidia.com/gpumem", "3000"}}},
       {},
       {vgpu(2, {.cores_percent = {}, .memory_mib = 3000, .memory_percent = {}})}},
      // All limits are zero: a plain GPU.
      {{{{"nvidia.com/gpu", "1"}, {"nvidia.com/gpumem", "0"}}}, {}, {some(Kind::kGpu, 1)}},
  });
}

TEST(ResourceName, Volcano) {
  expect_devices({
      {{{{"volcano.sh/vgpu-number", "2"},
         {"volcano.sh/vgpu-memory", "8000"},
         {"volcano.sh/vgpu-cores", "50"}}},
       {},
       {vgpu(2, {.cores_percent = 50, .memory_mib = 8000, .memory_percent = {}})}},
      {{{{"volcano.sh/vgpu-number", "1"}}}, {}, {vgpu(1, {})}},
      {{{{"volcano.sh/vgpu-memory-percentage", "25"}}},
       {},
       {vgpu(1, {.cores_percent = {}, .memory_mib = {}, .memory_percent = 25})}},
  });
}

TEST(ResourceName, KaiAndRunai) {
  struct KaiCase {
    Annotations annotations;
    RequestedDevice want;
  };
  const KaiCase cases[] = {
      {{{"gpu-fraction", "0.5"}}, fraction(1, {1, 2}, {1, 2})},
      {{{"gpu-fraction", "0.25"}, {"gpu-fraction-num-devices", "2"}}, fraction(2, {1, 4}, {1, 4})},
      {{{"gpu-fraction", "0.333"}}, fraction(1, {333, 1000}, {333, 1000})},
      {{{"gpu-fraction", "1"}}, fraction(1, {1, 1}, {1, 1})},
      {{{"gpu-fraction", "0.5"}, {"gpu-sm-percentage", "30"}}, fraction(1, {3, 10}, {1, 2})},
      {{{"gpu-memory", "4096"}},
       vgpu(1, {.cores_percent = {}, .memory_mib = 4096, .memory_percent = {}})},
      {{{"gpu-memory", "4096"},
        {"gpu-fraction-num-devices", "3"},
        {"gpu-sm-percentage", "30"},
        {"gpu-fraction-container-name", "main"}},
       vgpu(3, {.cores_percent = 30, .memory_mib = 4096, .memory_percent = {}})},
  };
  for (const KaiCase& c : cases) {
    const auto devices = ask({{{"cpu", "1"}}}, c.annotations);
    ASSERT_TRUE(devices.has_value()) << devices.error().message;
    EXPECT_EQ(*devices, Devices{c.want}) << c.annotations.front().second;
  }
  // A third as a double: the nearest share below it.
  const auto third = ask({}, {{"gpu-fraction", "0.333333333333"}}).value().at(0);
  EXPECT_EQ(third.memory.units(), CardShare::kUnitsPerCard / 3 - 1);
}

TEST(ResourceName, WhatIsNotUnderstoodIsRefusedByName) {
  struct Refused {
    Container container;
    Annotations annotations;
    NodeSharing node;
    std::string_view want;
  };
  NodeSharing unknown_card = with_slices("1g.5gb", 4);
  unknown_card.gpu_model = "NVIDIA-X999";
  const Refused cases[] = {
      {{{"nvidia.com/gpu", "a"}}, {}, {}, "nvidia.com/gpu: 'a' is not a quantity"},
      {{{"nvidia.com/gpu", "500m"}}, {}, {}, "nvidia.com/gpu: '500m' is not a quantity"},
      {{{"nvidia.com/gpu", "-1"}}, {}, {}, "nvidia.com/gpu: '-1' is not a quantity: negative"},
      {{{"nvidia.com/gpu", "2M"}}, {}, {}, "nvidia.com/gpu: 2000000 is more than 1000000"},
      {{{"nvidia.com/mig-", "1"}}, {}, {}, "nvidia.com/mig-: no MIG profile is named"},
      {{{"nvidia.com/gpu-h100", "1"}}, {}, {}, "nvidia.com/gpu-h100: not a known GPU resource"},
      {{{"aliyun.com/gpu-mem", "4"}}, {}, {}, "aliyun.com/gpu-mem: not a known GPU resource"},
      {{{"volcano.sh/gpu-memory", "4"}}, {}, {}, "volcano.sh/gpu-memory: not a known GPU resource"},
      {{{"gpu.intel.com/millicores", "4"}},
       {},
       {},
       "gpu.intel.com/millicores: not a known GPU resource"},
      {{{"nvidia.com/mig-1g.5gb.shared", "1"}},
       {},
       {},
       "nvidia.com/mig-1g.5gb.shared: the node's number of replicas is unknown"},
      {{{"nvidia.com/gpu.shared", "1"}},
       {},
       with_slices("1g.5gb"),
       "nvidia.com/gpu.shared: the node's number of replicas is unknown"},
      {{{"nvidia.com/gpu", "1"}},
       {},
       unknown_card,
       "nvidia.com/gpu: a part of a MIG slice 1g.5gb of an unknown GPU model 'NVIDIA-X999'"},
      {{{"nvidia.com/gpu", "1"}},
       {},
       with_slices("1g.7gb", 4),
       "nvidia.com/gpu: MIG profile '1g.7gb' on a A100-SXM4-40GB: no such profile"},
      {{{"nvidia.com/gpucores", "101"}}, {}, {}, "nvidia.com/gpucores: 101 is more than 100"},
      {{{"nvidia.com/gpumem-percentage", "101"}},
       {},
       {},
       "nvidia.com/gpumem-percentage: 101 is more than 100"},
      {{{"nvidia.com/gpumem", "4096"}, {"nvidia.com/gpumem-percentage", "50"}},
       {},
       {},
       "nvidia.com/gpumem-percentage: nvidia.com/gpumem is asked for as well; state one"},
      {{{"nvidia.com/gpumem", "1.5"}}, {}, {}, "nvidia.com/gpumem: '1.5' is not a quantity"},
      {{{"volcano.sh/vgpu-cores", "101"}}, {}, {}, "volcano.sh/vgpu-cores: 101 is more than 100"},
      {{}, {{"gpu-fraction", "half"}}, {}, "gpu-fraction: "},
      {{}, {{"gpu-fraction", "0"}}, {}, "gpu-fraction: 0 is not above 0 and up to 1"},
      {{}, {{"gpu-fraction", "1.5"}}, {}, "gpu-fraction: 1.5 is not above 0 and up to 1"},
      {{}, {{"gpu-fraction", "-0.5"}}, {}, "gpu-fraction: -0.5 is not above 0 and up to 1"},
      {{}, {{"gpu-memory", "4Gi"}}, {}, "gpu-memory: '4Gi' is not a whole number"},
      {{}, {{"gpu-memory", "0"}}, {}, "gpu-memory: no memory"},
      {{},
       {{"gpu-fraction", "0.5"}, {"gpu-memory", "4096"}},
       {},
       "gpu-fraction: gpu-memory is asked for as well; state one"},
      {{},
       {{"gpu-fraction", "0.5"}, {"gpu-fraction-num-devices", "0"}},
       {},
       "gpu-fraction-num-devices: a fraction of no device"},
      {{},
       {{"gpu-fraction-num-devices", "2"}},
       {},
       "gpu-fraction-num-devices: without gpu-fraction or gpu-memory"},
      {{},
       {{"gpu-fraction", "0.5"}, {"gpu-sm-percentage", "0"}},
       {},
       "gpu-sm-percentage: from 1 to 100"},
      {{{"nvidia.com/gpu", "1"}},
       {{"gpu-fraction", "0.5"}},
       {},
       "gpu-fraction or gpu-memory: a GPU resource is requested as well"},
  };
  for (const Refused& c : cases) {
    const auto devices = ask({c.container}, c.annotations, c.node);
    ASSERT_FALSE(devices.has_value()) << c.want;
    EXPECT_TRUE(devices.error().message.starts_with(c.want)) << devices.error().message;
  }
}

// The fraction rule of section 2.2: m = gpumem / memory of the card, c = gpucores / 100.
TEST(ResourceName, WhatAHamiRequestIsOfACard) {
  const std::uint64_t t4 = find_gpu_model("Tesla-T4")->memory_bytes;
  const auto device =
      ask({{{"nvidia.com/gpu", "1"}, {"nvidia.com/gpumem", "4096"}, {"nvidia.com/gpucores", "30"}}})
          .value()
          .at(0);
  EXPECT_EQ(CardShare::nearest_below(*device.memory_bytes, t4), CardShare::of(1, 4));
  EXPECT_EQ(CardShare::of(*device.cores_percent, 100), CardShare::of(3, 10));
}

}  // namespace
}  // namespace pennyweight
