#include "core/gpu/dcgm_metric.h"

#include <gtest/gtest.h>

#include <set>

namespace pennyweight {
namespace {

TEST(DcgmMetric, EachNameOnce) {
  std::set<std::string_view> names;
  for (const DcgmMetric& metric : dcgm_metrics()) {
    EXPECT_TRUE(names.insert(metric.name).second) << metric.name;
    EXPECT_EQ(find_dcgm_metric(metric.name), &metric);
    EXPECT_GT(metric.units, 0u) << metric.name;
    EXPECT_GT(metric.most, 0) << metric.name;
    EXPECT_FALSE(metric.scale.empty()) << metric.name;
  }
  EXPECT_EQ(find_dcgm_metric("DCGM_FI_DEV_MEM_COPY_UTIL"), nullptr);
  EXPECT_EQ(find_dcgm_metric(""), nullptr);
}

// DCGM 4.6's new names are the same fields at the same scale as the old ones.
TEST(DcgmMetric, RenamesKeepTheirScale) {
  struct Rename {
    const char* old_name;
    const char* new_name;
    std::int64_t most;
  };
  const Rename kRenames[] = {
      {"DCGM_FI_DEV_GPU_UTIL", "DCGM_FI_DEV_GPU_UTIL_RATIO", 100},
      {"DCGM_FI_DEV_POWER_USAGE", "DCGM_FI_DEV_BOARD_POWER_WATTS", 100'000},
      {"DCGM_FI_DEV_POWER_USAGE_INSTANT", "DCGM_FI_DEV_BOARD_POWER_RAW_WATTS", 100'000},
      {"DCGM_FI_DEV_XID_ERRORS", "DCGM_FI_DEV_XID_ERROR", 100'000},
      {"DCGM_FI_DEV_GPU_TEMP", "DCGM_FI_DEV_GPU_TEMP_CELSIUS", 1000},
      {"DCGM_FI_PROF_GR_ENGINE_ACTIVE", "DCGM_FI_PROF_GR_ENGINE_UTIL_RATIO", 1},
      {"DCGM_FI_PROF_SM_ACTIVE", "DCGM_FI_PROF_SM_UTIL_RATIO", 1},
      {"DCGM_FI_PROF_PIPE_TENSOR_ACTIVE", "DCGM_FI_PROF_TENSOR_UTIL_RATIO", 1},
      {"DCGM_FI_PROF_DRAM_ACTIVE", "DCGM_FI_PROF_DRAM_UTIL_RATIO", 1},
      {"DCGM_FI_DEV_CLOCK_THROTTLE_REASONS", "DCGM_FI_DEV_CLOCKS_EVENT_REASONS",
       std::int64_t{1} << 32},
  };
  for (const Rename& rename : kRenames) {
    const DcgmMetric* a = find_dcgm_metric(rename.old_name);
    const DcgmMetric* b = find_dcgm_metric(rename.new_name);
    ASSERT_NE(a, nullptr) << rename.old_name;
    ASSERT_NE(b, nullptr) << rename.new_name;
    EXPECT_EQ(a->field, b->field) << rename.new_name;
    EXPECT_EQ(a->units, b->units) << rename.new_name;
    EXPECT_EQ(a->variant, b->variant) << rename.new_name;
    EXPECT_EQ(a->most, rename.most) << rename.old_name;
    EXPECT_EQ(b->most, rename.most) << rename.new_name;
  }
}

}  // namespace
}  // namespace pennyweight
