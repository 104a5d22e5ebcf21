#include "core/gpu/gpu_speed.h"

#include <gtest/gtest.h>

namespace pennyweight {
namespace {

TEST(GpuSpeed, AsTheTableSays) {
  const GpuSpeed a100 = gpu_speed(*find_gpu_model("A100-SXM4-80GB"));
  EXPECT_EQ(a100.memory_gb_per_second, 2039u);
  EXPECT_EQ(a100.fp16_dense_gflops, 312'000u);
  EXPECT_EQ(a100.bf16_dense_gflops, 312'000u);
  // No BF16 before Ampere, and a tenth of a TFLOPS is not lost.
  const GpuSpeed p100 = gpu_speed(*find_gpu_model("P100-PCIE-16GB"));
  EXPECT_EQ(p100.fp16_dense_gflops, 18'700u);
  EXPECT_EQ(p100.bf16_dense_gflops, 0u);
  EXPECT_EQ(gpu_speed(*find_gpu_model("RTX-4080")).memory_gb_per_second, 0u);
}

}  // namespace
}  // namespace pennyweight
