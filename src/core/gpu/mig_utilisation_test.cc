#include "core/gpu/mig_utilisation.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace pennyweight {
namespace {

const GpuModel& utilised_model(std::string_view name) {
  const GpuModel* found = find_gpu_model(name);
  if (found == nullptr) throw std::runtime_error("no model " + std::string(name));
  return *found;
}

using Instances = std::vector<InstanceActivity>;

TEST(MigUtilisation, ActivityOfACard) {
  struct Case {
    std::string_view model;
    Instances instances;
    CardActivity want;
  };
  const Case cases[] = {
      // The worked example of the allocation reference, section 1.5: (120 + 90 + 40 + 20 + 70 +
      // 10) / 7 = 50.0 %.
      {"A100-SXM4-40GB",
       {{"2g.10gb", 600'000},
        {"1g.5gb", 900'000},
        {"1g.5gb", 400'000},
        {"1g.5gb", 200'000},
        {"1g.5gb", 700'000},
        {"1g.5gb", 100'000}},
       {.activity_ppm = 500'000, .by_multiprocessors = false, .clamped_instances = 0}},
      {"A100-SXM4-40GB",
       {{"7g.40gb", 1'000'000}},
       {.activity_ppm = 1'000'000, .by_multiprocessors = false, .clamped_instances = 0}},
      // Two of the sevenths belong to no instance, and are idle.
      {"A100-SXM4-40GB",
       {{"3g.20gb", 1'000'000}, {"2g.10gb", 0}},
       {.activity_ppm = 428'571, .by_multiprocessors = false, .clamped_instances = 0}},
      // DCGM issue 152: 1.294 of an instance.
      {"A100-SXM4-40GB",
       {{"3g.20gb", 1'294'000}, {"3g.20gb", 1'294'000}},
       {.activity_ppm = 857'143, .by_multiprocessors = false, .clamped_instances = 2}},
      // Seven 1g of an H100 have 112 of its 132 multiprocessors; a 3g has 60.
      {"H100-SXM5-80GB",
       Instances(7, {"1g.10gb", 1'000'000}),
       {.activity_ppm = 848'485, .by_multiprocessors = true, .clamped_instances = 0}},
      {"H100-SXM5-80GB",
       {{"3g.40gb", 500'000}, {"4g.40gb", 250'000}},
       {.activity_ppm = 348'485, .by_multiprocessors = true, .clamped_instances = 0}},
      // A third of the 60 of a 3g.
      {"H100-SXM5-80GB",
       {{"1c.3g.40gb", 1'000'000}},
       {.activity_ppm = 151'515, .by_multiprocessors = true, .clamped_instances = 0}},
      // The PCIe board has 114 multiprocessors, 14 in a 1g.
      {"H100-PCIE-80GB",
       {{"1g.10gb", 1'000'000}},
       {.activity_ppm = 122'807, .by_multiprocessors = true, .clamped_instances = 0}},
      // A 3g of an H200 was not measured, so slices are used.
      {"H200-SXM-141GB",
       {{"3g.71gb", 700'000}, {"1g.18gb", 700'000}},
       {.activity_ppm = 400'000, .by_multiprocessors = false, .clamped_instances = 0}},
      {"H100-NVL-94GB",
       {{"1g.24gb", 1'000'000}},
       {.activity_ppm = 196'970, .by_multiprocessors = true, .clamped_instances = 0}},
      {"A30",
       {{"1g.6gb", 1'000'000}, {"2g.12gb", 500'000}},
       {.activity_ppm = 500'000, .by_multiprocessors = false, .clamped_instances = 0}},
      {"A100-SXM4-40GB",
       {},
       {.activity_ppm = 0, .by_multiprocessors = false, .clamped_instances = 0}},
  };
  for (const Case& c : cases) {
    const auto activity = card_activity(utilised_model(c.model), c.instances);
    ASSERT_TRUE(activity.has_value()) << activity.error().message;
    EXPECT_EQ(*activity, c.want) << c.model << " " << activity->activity_ppm;
  }
}

TEST(MigUtilisation, WhatIsNotACardIsRefused) {
  struct Case {
    std::string_view model;
    Instances instances;
    std::string_view want;
  };
  const Case cases[] = {
      {"A100-SXM4-40GB", {{"3g.40gb", 1}}, "MIG profile '3g.40gb' on a A100-SXM4-40GB: no such"},
      {"A100-SXM4-40GB", Instances(8, {"1g.5gb", 1}), "8 MIG instances on a A100-SXM4-40GB: "},
      {"H100-SXM5-80GB", Instances(3, {"3g.40gb", 1}), "3 MIG instances on a H100-SXM5-80GB: "},
      {"T4", {}, "activity of MIG instances on a T4: this model has no MIG"},
  };
  for (const Case& c : cases) {
    const auto activity = card_activity(utilised_model(c.model), c.instances);
    ASSERT_FALSE(activity.has_value());
    EXPECT_TRUE(activity.error().message.starts_with(c.want)) << activity.error().message;
  }
}

TEST(MigUtilisation, KnownToBeWrongOnAnA100WithASmallAndALargerInstance) {
  struct Case {
    std::string_view model;
    std::vector<std::string> profiles;
    bool want;
  };
  const Case cases[] = {
      {"A100-SXM4-40GB", {"1g.5gb", "2g.10gb"}, true},
      {"A100-SXM4-40GB", {"1g.5gb", "1g.5gb", "2g.10gb", "3g.20gb"}, true},
      {"A100-PCIE-80GB", {"mig-1g.10gb", "mig-3g.40gb"}, true},
      {"A100-SXM4-40GB", {"1g.10gb", "3g.20gb"}, true},
      {"A100-SXM4-40GB", {"1g.5gb", "1g.5gb"}, false},
      {"A100-SXM4-40GB", {"3g.20gb", "2g.10gb"}, false},
      {"A100-SXM4-40GB", {"1g.5gb", "9g.99gb"}, false},
      {"A100-SXM4-40GB", {}, false},
      {"H100-SXM5-80GB", {"1g.10gb", "2g.20gb"}, false},
      {"A30", {"1g.6gb", "2g.12gb"}, false},
      {"T4", {"1g.5gb", "2g.10gb"}, false},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(mig_profiling_unreliable(utilised_model(c.model), c.profiles), c.want) << c.model;
  }
}

}  // namespace
}  // namespace pennyweight
