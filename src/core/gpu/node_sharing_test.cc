#include "core/gpu/node_sharing.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace pennyweight {
namespace {

using Pairs = std::initializer_list<std::pair<std::string_view, std::string_view>>;

Labels labels_of(Pairs pairs) {
  Labels labels;
  for (const auto& [key, value] : pairs) EXPECT_TRUE(labels.set(key, value).has_value());
  return labels;
}

KubernetesResources resources_of(Pairs pairs) {
  KubernetesResources resources;
  for (const auto& [name, quantity] : pairs) resources.emplace(name, quantity);
  return resources;
}

struct Want {
  std::string_view model = "NVIDIA-A100-SXM4-40GB";
  std::optional<std::uint64_t> gpus;
  std::uint32_t replicas = 0;
  bool renamed = false;
  bool mps = false;
  std::string_view mig_profile = "";
  bool is_virtual = false;
};

void expect_sharing(Pairs capacity, Pairs labels, const Want& want) {
  const auto sharing = node_sharing(resources_of(capacity), labels_of(labels));
  ASSERT_TRUE(sharing.has_value()) << sharing.error().message;
  EXPECT_EQ(sharing->gpu_model, want.model);
  EXPECT_EQ(sharing->physical_gpus, want.gpus);
  EXPECT_EQ(sharing->replicas, want.replicas);
  EXPECT_EQ(sharing->replicas_renamed, want.renamed);
  EXPECT_EQ(sharing->is_mps, want.mps);
  EXPECT_EQ(sharing->mig_profile, want.mig_profile);
  EXPECT_EQ(sharing->is_virtual, want.is_virtual);
}

constexpr std::pair<std::string_view, std::string_view> kA100 = {"nvidia.com/gpu.product",
                                                                 "NVIDIA-A100-SXM4-40GB"};
constexpr std::pair<std::string_view, std::string_view> kA100Shared = {
    "nvidia.com/gpu.product", "NVIDIA-A100-SXM4-40GB-SHARED"};
constexpr std::pair<std::string_view, std::string_view> kA100Slices = {
    "nvidia.com/gpu.product", "NVIDIA-A100-SXM4-40GB-MIG-1g.5gb"};

TEST(NodeSharing, WholeGpus) {
  expect_sharing({{"nvidia.com/gpu", "8"}, {"cpu", "96"}},
                 {kA100, {"nvidia.com/gpu.count", "8"}, {"nvidia.com/gpu.replicas", "1"}},
                 {.gpus = 8});
  expect_sharing({{"nvidia.com/gpu", "8"}}, {kA100, {"nvidia.com/gpu.sharing-strategy", "none"}},
                 {.gpus = 8});
  // No labels, and no GPUs.
  expect_sharing({{"nvidia.com/gpu", "4"}}, {}, {.model = "", .gpus = 4});
  expect_sharing({{"cpu", "96"}}, {}, {.model = "", .gpus = 0});
  // The plugin leaves one out, or it is broken; there are eight, and eight are paid for.
  expect_sharing({{"nvidia.com/gpu", "7"}}, {kA100, {"nvidia.com/gpu.count", "8"}}, {.gpus = 8});
}

TEST(NodeSharing, TimeSlicingWithoutRenameInflatesCapacity) {
  expect_sharing({{"nvidia.com/gpu", "80"}},
                 {kA100Shared,
                  {"nvidia.com/gpu.count", "8"},
                  {"nvidia.com/gpu.replicas", "10"},
                  {"nvidia.com/gpu.sharing-strategy", "time-slicing"}},
                 {.gpus = 8, .replicas = 10});
  // Each label alone is enough: replicas without a strategy (before 0.15), or "-SHARED" and a
  // count.
  expect_sharing({{"nvidia.com/gpu", "80"}}, {kA100, {"nvidia.com/gpu.replicas", "10"}},
                 {.gpus = 8, .replicas = 10});
  expect_sharing({{"nvidia.com/gpu", "80"}}, {kA100Shared, {"nvidia.com/gpu.count", "8"}},
                 {.gpus = 8, .replicas = 10});
  // While the plugin restarts, capacity is 0, but the GPUs still exist.
  expect_sharing({{"nvidia.com/gpu", "0"}},
                 {kA100Shared, {"nvidia.com/gpu.count", "8"}, {"nvidia.com/gpu.replicas", "10"}},
                 {.gpus = 8, .replicas = 10});
}

TEST(NodeSharing, TimeSlicingWithRename) {
  expect_sharing({{"nvidia.com/gpu.shared", "16"}, {"nvidia.com/gpu", "0"}},
                 {kA100,
                  {"nvidia.com/gpu.count", "4"},
                  {"nvidia.com/gpu.replicas", "4"},
                  {"nvidia.com/gpu.sharing-strategy", "time-slicing"}},
                 {.gpus = 4, .replicas = 4, .renamed = true});
}

TEST(NodeSharing, Mps) {
  expect_sharing({{"nvidia.com/gpu", "20"}},
                 {{"nvidia.com/gpu.product", "Tesla-T4-SHARED"},
                  {"nvidia.com/gpu.count", "2"},
                  {"nvidia.com/gpu.replicas", "10"},
                  {"nvidia.com/gpu.sharing-strategy", "mps"}},
                 {.model = "Tesla-T4", .gpus = 2, .replicas = 10, .mps = true});
}

TEST(NodeSharing, MigSingleCountsSlices) {
  // The 56 slices of 8 GPUs in GPU feature discovery's own example.
  expect_sharing({{"nvidia.com/gpu", "56"}},
                 {kA100Slices,
                  {"nvidia.com/mig.strategy", "single"},
                  {"nvidia.com/gpu.count", "56"},
                  {"nvidia.com/gpu.replicas", "1"}},
                 {.gpus = 8, .mig_profile = "1g.5gb"});
  expect_sharing({{"nvidia.com/gpu", "4"}},
                 {{"nvidia.com/gpu.product", "NVIDIA-H100-80GB-HBM3-MIG-3g.40gb"},
                  {"nvidia.com/mig.strategy", "single"}},
                 {.model = "NVIDIA-H100-80GB-HBM3", .gpus = 2, .mig_profile = "3g.40gb"});
  // Slices shared by replicas.
  expect_sharing({{"nvidia.com/gpu", "224"}},
                 {{"nvidia.com/gpu.product", "NVIDIA-A100-SXM4-40GB-MIG-1g.5gb-SHARED"},
                  {"nvidia.com/mig.strategy", "single"},
                  {"nvidia.com/gpu.count", "56"},
                  {"nvidia.com/gpu.replicas", "4"}},
                 {.gpus = 8, .replicas = 4, .mig_profile = "1g.5gb"});
  // GPUs that are not cut into the largest number of slices; a model that is not known.
  expect_sharing({{"nvidia.com/gpu", "5"}}, {kA100Slices},
                 {.gpus = std::nullopt, .mig_profile = "1g.5gb"});
  expect_sharing({{"nvidia.com/gpu", "7"}}, {{"nvidia.com/gpu.product", "NVIDIA-X999-MIG-1g.5gb"}},
                 {.model = "NVIDIA-X999", .gpus = std::nullopt, .mig_profile = "1g.5gb"});
  // Three compute instances in each of two GPU instances.
  expect_sharing({{"nvidia.com/gpu", "6"}},
                 {{"nvidia.com/gpu.product", "NVIDIA-A100-SXM4-40GB-MIG-1c.3g.20gb"}},
                 {.gpus = 1, .mig_profile = "1c.3g.20gb"});
  // Strategy single, but MIG is not enabled on any GPU.
  expect_sharing({{"nvidia.com/gpu", "8"}}, {kA100, {"nvidia.com/mig.strategy", "single"}},
                 {.gpus = 8});
}

TEST(NodeSharing, MigMixed) {
  const auto sharing = node_sharing(resources_of({{"nvidia.com/gpu", "6"},
                                                  {"nvidia.com/mig-1g.5gb", "28"},
                                                  {"nvidia.com/mig-3g.20gb.shared", "2"},
                                                  {"nvidia.com/mig-7g.40gb", "0"}}),
                                    labels_of({kA100,
                                               {"nvidia.com/mig.strategy", "mixed"},
                                               {"nvidia.com/gpu.count", "8"},
                                               {"nvidia.com/gpu.replicas", "0"},
                                               {"nvidia.com/mig-1g.5gb.count", "7"},
                                               {"nvidia.com/mig-1g.5gb.replicas", "4"},
                                               {"nvidia.com/mig-3g.20gb.replicas", "2"}}));
  ASSERT_TRUE(sharing.has_value()) << sharing.error().message;
  EXPECT_EQ(sharing->physical_gpus, 8u);
  EXPECT_EQ(sharing->mig_profile, "");
  EXPECT_EQ(sharing->replicas, 0u);
  EXPECT_EQ(sharing->mig_replicas,
            (std::map<std::string, std::uint32_t, std::less<>>{{"1g.5gb", 4}, {"3g.20gb", 2}}));
  // Without a GPU count, the slices do not show how many there are.
  expect_sharing({{"nvidia.com/mig-1g.5gb", "7"}}, {kA100, {"nvidia.com/mig.strategy", "mixed"}},
                 {.gpus = std::nullopt});
}

TEST(NodeSharing, VirtualGpus) {
  expect_sharing({{"nvidia.com/gpu", "80"}},
                 {kA100, {"nvidia.com/gpu.count", "8"}, {"hami.io/node-nvidia-register", "[]"}},
                 {.gpus = 8, .is_virtual = true});
  expect_sharing({{"nvidia.com/gpu", "80"}}, {kA100, {"nvidia.com/gpu.count", "8"}},
                 {.gpus = 8, .is_virtual = true});
  expect_sharing({{"nvidia.com/gpu", "10"}}, {{"hami.io/node-nvidia-register", "[]"}},
                 {.model = "", .gpus = std::nullopt, .is_virtual = true});
  expect_sharing({{"volcano.sh/vgpu-number", "20"}}, {kA100, {"nvidia.com/gpu.count", "2"}},
                 {.gpus = 2, .is_virtual = true});
}

TEST(NodeSharing, Gke) {
  expect_sharing({{"nvidia.com/gpu", "2"}},
                 {{"cloud.google.com/gke-accelerator", "nvidia-l4"},
                  {"cloud.google.com/gke-accelerator-count", "2"}},
                 {.model = "nvidia-l4", .gpus = 2});
  expect_sharing({{"nvidia.com/gpu", "6"}},
                 {{"cloud.google.com/gke-accelerator", "nvidia-tesla-t4"},
                  {"cloud.google.com/gke-gpu-sharing-strategy", "time-sharing"},
                  {"cloud.google.com/gke-max-shared-clients-per-gpu", "3"}},
                 {.model = "nvidia-tesla-t4", .gpus = 2, .replicas = 3});
  expect_sharing({{"nvidia.com/gpu", "21"}},
                 {{"cloud.google.com/gke-accelerator", "nvidia-tesla-a100"},
                  {"cloud.google.com/gke-gpu-partition-size", "1g.5gb"},
                  {"cloud.google.com/gke-gpu-sharing-strategy", "time-sharing"},
                  {"cloud.google.com/gke-max-shared-clients-per-gpu", "3"}},
                 {.model = "nvidia-tesla-a100", .gpus = 1, .replicas = 3, .mig_profile = "1g.5gb"});
}

TEST(NodeSharing, OtherVendors) {
  expect_sharing({{"amd.com/gpu", "8"}}, {{"amd.com/gpu.product-name", "AMD_Instinct_MI300X_OAM"}},
                 {.model = "AMD_Instinct_MI300X_OAM", .gpus = 8});
  expect_sharing({{"gpu.intel.com/i915", "2"}, {"gpu.intel.com/i915_monitoring", "1"}}, {},
                 {.model = "", .gpus = 2});
  expect_sharing({{"gpu.intel.com/xe", "1"}}, {}, {.model = "", .gpus = 1});
}

TEST(NodeSharing, ContradictionsAreRefusedByName) {
  struct Case {
    KubernetesResources capacity;
    Labels labels;
    std::string_view want;
  };
  const Case cases[] = {
      {resources_of({{"nvidia.com/gpu", "eight"}}), {}, "capacity nvidia.com/gpu: 'eight'"},
      {resources_of({{"nvidia.com/gpu", "500m"}}), {}, "capacity nvidia.com/gpu: '500m'"},
      {resources_of({{"nvidia.com/gpu", "9G"}}), {}, "capacity nvidia.com/gpu: 9000000000"},
      {resources_of({{"nvidia.com/mig-1g.5gb", "-1"}}), {}, "capacity nvidia.com/mig-1g.5gb"},
      {resources_of({{"nvidia.com/gpu", "80"}}), labels_of({{"nvidia.com/gpu.replicas", "x"}}),
       "label nvidia.com/gpu.replicas: 'x'"},
      {resources_of({{"nvidia.com/gpu", "80"}}), labels_of({{"nvidia.com/gpu.count", ""}}),
       "label nvidia.com/gpu.count"},
      {resources_of({{"nvidia.com/gpu", "80"}}),
       labels_of({{"nvidia.com/gpu.sharing-strategy", "sliced"}}),
       "label nvidia.com/gpu.sharing-strategy: 'sliced'"},
      {resources_of({{"nvidia.com/gpu", "80"}}), labels_of({kA100Shared}),
       "the GPUs are shared by replicas, and no label says by how many"},
      {resources_of({{"nvidia.com/gpu.shared", "80"}}), labels_of({kA100}),
       "the GPUs are shared by replicas, and no label says by how many"},
      {resources_of({{"nvidia.com/gpu", "81"}}), labels_of({{"nvidia.com/gpu.replicas", "10"}}),
       "capacity nvidia.com/gpu of 81 is not"},
      {resources_of({{"nvidia.com/gpu", "80"}}),
       labels_of({{"nvidia.com/gpu.replicas", "10"}, {"nvidia.com/gpu.count", "4"}}),
       "capacity nvidia.com/gpu of 80 is not 4 x 10 replicas"},
      {resources_of({{"nvidia.com/gpu", "9"}}), labels_of({{"nvidia.com/gpu.count", "8"}}),
       "capacity nvidia.com/gpu of 9 is not 8 x 1 replicas"},
      {resources_of({{"nvidia.com/gpu", "4"}, {"nvidia.com/gpu.shared", "16"}}),
       labels_of({{"nvidia.com/gpu.replicas", "4"}}),
       "capacity of both nvidia.com/gpu and nvidia.com/gpu.shared"},
      {resources_of({{"nvidia.com/gpu", "0"}}),
       labels_of({{"nvidia.com/gpu.product", "NVIDIA-A100-SXM4-40GB-MIG-INVALID"}}),
       "label nvidia.com/gpu.product: the MIG layout of this NVIDIA-A100-SXM4-40GB is INVALID"},
      {resources_of({{"nvidia.com/gpu", "2"}}),
       labels_of({{"nvidia.com/gpu.product", "NVIDIA-A100-SXM4-40GB-MIG-3g.40gb"}}),
       "MIG profile '3g.40gb' on a A100-SXM4-40GB: no such profile"},
      {resources_of({{"nvidia.com/gpu", "2"}, {"amd.com/gpu", "2"}}),
       {},
       "GPUs of two kinds, nvidia.com/gpu and amd.com/gpu"},
      {resources_of({{"gpu.intel.com/xe", "2"}, {"amd.com/gpu", "2"}}),
       {},
       "GPUs of two kinds, amd.com/gpu and gpu.intel.com/xe"},
  };
  for (const Case& c : cases) {
    const auto sharing = node_sharing(c.capacity, c.labels);
    ASSERT_FALSE(sharing.has_value()) << c.want;
    EXPECT_TRUE(sharing.error().message.starts_with(c.want)) << sharing.error().message;
  }
}

}  // namespace
}  // namespace pennyweight
