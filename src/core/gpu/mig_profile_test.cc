#include "core/gpu/mig_profile.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/gpu/embedded.h"
#include "core/gpu/gpu_model.h"
#include "core/gpu/plain_table.h"
#include "core/whole_count.h"

namespace pennyweight {
namespace {

const GpuModel& profiled_model(std::string_view name) {
  const GpuModel* found = find_gpu_model(name);
  if (found == nullptr) throw std::runtime_error("no model " + std::string(name));
  return *found;
}

struct ProfileParts {
  std::uint64_t parts;
  std::uint64_t whole;
};

void expect_share(std::string_view model_name, std::string_view profile, ProfileParts compute,
                  ProfileParts memory) {
  SCOPED_TRACE(std::string(model_name) + " " + std::string(profile));
  const auto share = find_mig_share(profiled_model(model_name), profile);
  ASSERT_TRUE(share.has_value()) << share.error().message;
  EXPECT_EQ(share->compute, CardShare::of(compute.parts, compute.whole));
  EXPECT_EQ(share->memory, CardShare::of(memory.parts, memory.whole));
}

TEST(MigProfile, EveryRowOfTheTableIsFoundOnEveryModelOfItsGeometry) {
  constexpr std::string_view kColumns[] = {"gpu",     "total_compute_slices", "total_memory_slices",
                                           "profile", "compute_slices",       "memory_slices"};
  const auto table = PlainTable::parse(embedded::mig_profiles_csv(), "mig_profiles.csv",
                                       {.required = kColumns, .others_ignored = true});
  ASSERT_TRUE(table.has_value()) << table.error().message;
  EXPECT_EQ(table->size(), 116u);
  for (std::size_t i = 0; i < table->size(); ++i) {
    const auto row = table->row(i);
    const auto number = [&](std::size_t cell) { return parse_count(row[cell], 1'000'000).value(); };
    std::size_t models = 0;
    for (const GpuModel& candidate : gpu_models()) {
      for (const std::string& geometry : candidate.mig_geometries) {
        if (geometry != row[0]) continue;
        ++models;
        EXPECT_EQ(candidate.mig_compute_slices, number(1));
        EXPECT_EQ(candidate.mig_memory_slices, number(2));
        expect_share(candidate.name, row[3], {number(4), number(1)}, {number(5), number(2)});
      }
    }
    EXPECT_GE(models, 1u) << "no model has the geometry " << row[0];
  }
}

TEST(MigProfile, TheSameNameIsAnotherPartOfAnotherCard) {
  expect_share("A100-SXM4-40GB", "1g.10gb", {1, 7}, {2, 8});
  expect_share("A100-SXM4-80GB", "1g.10gb", {1, 7}, {1, 8});
  expect_share("H100-SXM5-80GB", "1g.10gb", {1, 7}, {1, 8});
  expect_share("H100-NVL-94GB", "1g.24gb", {1, 7}, {2, 8});
  expect_share("GH200-96GB", "1g.24gb", {1, 7}, {2, 8});
  expect_share("RTX-PRO-6000-BLACKWELL-96GB", "1g.24gb", {1, 4}, {1, 4});
  expect_share("H200-SXM-141GB", "1g.35gb", {1, 7}, {2, 8});
  expect_share("GB300-278GB", "1g.35gb", {1, 7}, {1, 8});
}

TEST(MigProfile, Spellings) {
  for (const std::string_view profile :
       {"3g.20gb", "3G.20GB", "a100_3g.20gb", "A100_3g.20gb", "nvidia_a100-sxm4-40gb_3g.20gb",
        "mig-3g.20gb", "nvidia.com/mig-3g.20gb", "NVIDIA-A100-SXM4-40GB-MIG-3g.20gb",
        "bigcard_3g.20gb"}) {
    expect_share("A100-SXM4-40GB", profile, {3, 7}, {4, 8});
  }
  for (const std::string_view profile :
       {"1g.5gb+me", "mig-1g.5gb.me", "nvidia.com/mig-1g.5gb.me", "a100_1g.5gb+me"}) {
    expect_share("A100-SXM4-40GB", profile, {1, 7}, {1, 8});
  }
  expect_share("RTX-PRO-6000-BLACKWELL-96GB", "1g.24gb+me.all", {1, 4}, {1, 4});
  expect_share("RTX-PRO-6000-BLACKWELL-96GB", "mig-1g.24gb.me.all", {1, 4}, {1, 4});
  expect_share("RTX-PRO-6000-BLACKWELL-96GB", "2g.48gb-me", {2, 4}, {2, 4});
}

TEST(MigProfile, AComputeInstanceIsAnEvenPartOfItsGpuInstance) {
  expect_share("A100-SXM4-40GB", "1c.3g.20gb", {1, 7}, {4, 24});
  expect_share("A100-SXM4-40GB", "2c.3g.20gb", {2, 7}, {8, 24});
  expect_share("A100-SXM4-40GB", "3c.3g.20gb", {3, 7}, {4, 8});
  expect_share("H100-SXM5-80GB", "4c.7g.80gb", {4, 7}, {4, 7});
  expect_share("H100-SXM5-80GB", "mig-1c.2g.20gb", {1, 7}, {1, 8});
}

TEST(MigProfile, BoardsOfOneFamilyAndMemoryHaveTheSameProfiles) {
  expect_share("H100-PCIE-80GB", "nvidia_h100_80gb_hbm3_3g.40gb", {3, 7}, {4, 8});
  expect_share("A100-PCIE-40GB", "nvidia_a100-sxm4-40gb_3g.20gb", {3, 7}, {4, 8});
}

// `nvidia-smi mig -lgip`: the slices of an A100 have 14 multiprocessors each; those of an H100
// differ in size, and those of its PCIe board have fewer.
TEST(MigProfile, MultiprocessorsOfInstances) {
  struct Case {
    std::string_view model;
    std::string_view profile;
    std::uint32_t want;
    std::uint32_t card;
  };
  const Case cases[] = {
      {"A100-SXM4-40GB", "1g.5gb", 14, 108},   {"A100-SXM4-40GB", "2g.10gb", 28, 108},
      {"A100-SXM4-40GB", "3g.20gb", 42, 108},  {"A100-SXM4-40GB", "4g.20gb", 56, 108},
      {"A100-SXM4-40GB", "7g.40gb", 98, 108},  {"H100-SXM5-80GB", "1g.10gb", 16, 132},
      {"H100-SXM5-80GB", "1g.20gb", 26, 132},  {"H100-SXM5-80GB", "2g.20gb", 32, 132},
      {"H100-SXM5-80GB", "3g.40gb", 60, 132},  {"H100-SXM5-80GB", "4g.40gb", 64, 132},
      {"H100-SXM5-80GB", "7g.80gb", 132, 132}, {"H100-PCIE-80GB", "1g.10gb", 14, 114},
      {"H100-PCIE-80GB", "1g.20gb", 14, 114},  {"H100-PCIE-80GB", "3g.40gb", 46, 114},
      {"H100-PCIE-80GB", "7g.80gb", 114, 114},
  };
  for (const Case& c : cases) {
    const auto use = find_mig_profile(profiled_model(c.model), c.profile);
    ASSERT_TRUE(use.has_value()) << use.error().message;
    EXPECT_EQ(use->profile->multiprocessors, c.want) << c.model << " " << c.profile;
    EXPECT_EQ(use->profile->card_multiprocessors, c.card) << c.model << " " << c.profile;
  }
}

TEST(MigProfile, WhatDoesNotGoTogetherIsRefusedByName) {
  struct Case {
    std::string_view model;
    std::string_view profile;
    std::string_view reason;
  };
  const Case cases[] = {
      {"A100-SXM4-40GB", "3g.40gb", "no such profile"},  // of the 80 GB card
      {"A100-SXM4-80GB", "3g.20gb", "no such profile"},
      {"A100-SXM4-40GB", "", "no such profile"},
      {"A100-SXM4-40GB", "3g", "no such profile"},
      {"A100-SXM4-40GB", "3g.20gb+gfx", "no such profile"},
      {"A100-SXM4-40GB", "\xC3\x28", "no such profile"},
      {"T4", "1g.5gb", "no MIG"},
      {"MI300X", "1g.5gb", "no MIG"},
      {"A100-SXM4-40GB", "0c.3g.20gb", "a compute instance has 1 to 3"},
      {"A100-SXM4-40GB", "4c.3g.20gb", "a compute instance has 1 to 3"},
      {"H100-SXM5-80GB", "a100_3g.40gb", "of another model"},
      {"A100-SXM4-80GB", "nvidia_a100-sxm4-40gb_1g.10gb", "of another model"},
      {"B200-SXM-180GB", "gb200_1g.23gb", "of another model"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(std::string(c.model) + " " + std::string(c.profile));
    const auto share = find_mig_share(profiled_model(c.model), c.profile);
    ASSERT_FALSE(share.has_value());
    EXPECT_NE(share.error().message.find(c.model), std::string::npos) << share.error().message;
    EXPECT_NE(share.error().message.find(c.profile), std::string::npos) << share.error().message;
    EXPECT_NE(share.error().message.find(c.reason), std::string::npos) << share.error().message;
  }
}

// Half by compute and half by memory, as units of two GPUs.
std::uint64_t weighted(std::string_view profile) {
  const MigShare share = find_mig_share(profiled_model("A100-SXM4-40GB"), profile).value();
  return share.compute.units() + share.memory.units();
}

TEST(MigProfile, CostFractionsOfAnA100AtFourDollars) {
  struct Case {
    std::string_view profile;
    ProfileParts want;  // of the GPU, halves by compute and memory
  };
  const Case cases[] = {{"1g.5gb", {15, 112}}, {"1g.10gb", {11, 56}}, {"2g.10gb", {15, 56}},
                        {"3g.20gb", {13, 28}}, {"4g.20gb", {15, 28}}, {"7g.40gb", {1, 1}}};
  for (const Case& c : cases) {
    EXPECT_EQ(weighted(c.profile) * c.want.whole, 2 * CardShare::kUnitsPerCard * c.want.parts)
        << c.profile;
  }
}

TEST(MigProfile, WhatALayoutLeavesOver) {
  struct Case {
    std::vector<std::string_view> layout;
    ProfileParts want;  // of the GPU
  };
  const Case cases[] = {
      {{"1g.5gb", "1g.5gb", "1g.5gb", "1g.5gb", "1g.5gb", "1g.5gb", "1g.5gb"}, {15, 16}},
      {{"3g.20gb", "3g.20gb"}, {13, 14}},
      {{"4g.20gb", "3g.20gb"}, {1, 1}},
      {{"1g.5gb", "1g.5gb", "2g.10gb", "3g.20gb"}, {1, 1}},
      {{"2g.10gb", "2g.10gb", "2g.10gb", "1g.5gb"}, {15, 16}},
      {{"1g.10gb", "1g.10gb", "1g.10gb", "1g.10gb"}, {11, 14}},
  };
  for (const Case& c : cases) {
    std::uint64_t sum = 0;
    for (const std::string_view profile : c.layout) sum += weighted(profile);
    EXPECT_EQ(sum * c.want.whole, 2 * CardShare::kUnitsPerCard * c.want.parts) << c.layout.front();
  }
}

}  // namespace
}  // namespace pennyweight
