#include "telemetry/metric_names.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace pennyweight::telemetry {
namespace {

TEST(MetricNames, HaveEachFamilyAndWhatIsConfigured) {
  ClassificationOptions options{.cluster = ClusterId("c")};
  options.outcomes.push_back({.metric = "my_requests_total", .measure = "requests"});
  const std::vector<std::string> names = metric_names(options);
  for (const char* const name :
       {"DCGM_FI_DEV_GPU_UTIL", "DCGM_FI_DEV_GPU_UTIL_RATIO", "nvidia_smi_power_draw_watts",
        "HostCoreUtilization", "vllm:request_success_total", "nv_inference_request_success",
        "my_requests_total"}) {
    EXPECT_TRUE(std::ranges::binary_search(names, name)) << name;
  }
  EXPECT_EQ(std::ranges::adjacent_find(names), names.end());
}

// Each name in the list is classified: a wrong name would give nothing.
TEST(MetricNames, AllMeanSomething) {
  const ClassificationOptions options{.cluster = ClusterId("c")};
  for (const std::string& name : metric_names(options)) {
    const std::vector<prometheus::Label> labels = {
        {"UUID", "GPU-1f0a2b3c-0000-0000-0000-000000000001"},
        {"__name__", name},
        {"namespace", "ml"},
        {"pod", "p"}};
    EXPECT_FALSE(std::holds_alternative<Ignored>(classify_series(labels, options))) << name;
  }
}

}  // namespace
}  // namespace pennyweight::telemetry
