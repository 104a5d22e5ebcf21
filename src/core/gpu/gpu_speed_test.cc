#include "core/gpu/gpu_speed.h"

#include <gtest/gtest.h>

namespace pennyweight {
namespace {

TEST(GpuSpeed, AsTheTableSays) {
  const GpuSpeed a100 = gpu_speed(*find_gpu_model("A100-SXM4-80GB"));
  EXPECT_EQ(a100.memory_gb_per_second, 2039u);
  EXPECT_EQ(a100.fp16_dense_gflops, 312'000u);
  EXPECT_EQ(a100.bf16_dense_gflops, 312'000u);
  EXPECT_EQ(a100.tdp_watts, 400u);
  // No BF16 before Ampere, and a tenth of a TFLOPS is not lost.
  const GpuSpeed p100 = gpu_speed(*find_gpu_model("P100-PCIE-16GB"));
  EXPECT_EQ(p100.fp16_dense_gflops, 18'700u);
  EXPECT_EQ(p100.bf16_dense_gflops, 0u);
  EXPECT_EQ(gpu_speed(*find_gpu_model("RTX-4080")).memory_gb_per_second, 0u);
}

// The core of the catalogue as the trade prints it: GB, GB/s, dense FP16 TFLOPS, BF16 or not, MIG.
// Headlines of vendors are twice that, with sparsity: 242 of an L4, 1979 of an H100.
TEST(GpuSpeed, TheCoreOfTheCatalogue) {
  struct Card {
    const char* name;
    std::uint64_t gib;
    std::uint64_t gb_per_second;
    std::uint64_t fp16_gflops;
    bool has_bf16;
    std::uint32_t mig_slices;
  };
  constexpr Card kCards[] = {
      {"T4", 16, 320, 65'000, false, 0},
      {"P100-SXM2-16GB", 16, 720, 21'200, false, 0},
      {"P100-PCIE-16GB", 16, 732, 18'700, false, 0},
      {"V100-SXM2-16GB", 16, 900, 125'000, false, 0},
      {"V100-SXM2-32GB", 32, 900, 125'000, false, 0},
      {"V100-PCIE-16GB", 16, 900, 112'000, false, 0},
      {"A10G", 24, 600, 70'000, true, 0},
      {"A10", 24, 600, 125'000, true, 0},
      {"L4", 24, 300, 121'000, true, 0},
      {"L40S", 48, 864, 362'000, true, 0},
      {"A100-SXM4-40GB", 40, 1555, 312'000, true, 7},
      {"A100-SXM4-80GB", 80, 2039, 312'000, true, 7},
      {"H100-PCIE-80GB", 80, 2000, 756'000, true, 7},
      {"H100-SXM5-80GB", 80, 3350, 989'000, true, 7},
      {"H200-SXM-141GB", 141, 4800, 989'000, true, 7},
      {"B200-SXM-180GB", 180, 8000, 2'250'000, true, 7},
      {"MI300X", 192, 5300, 1'307'000, true, 0},
  };
  for (const Card& card : kCards) {
    const GpuModel* model = find_gpu_model(card.name);
    ASSERT_NE(model, nullptr) << card.name;
    const GpuSpeed speed = gpu_speed(*model);
    EXPECT_EQ(model->memory_bytes >> 30, card.gib) << card.name;
    EXPECT_EQ(speed.memory_gb_per_second, card.gb_per_second) << card.name;
    // A tenth of a TFLOPS where the table prints one: H100 of 989.4 is 989.
    EXPECT_EQ(speed.fp16_dense_gflops / 1000, card.fp16_gflops / 1000) << card.name;
    EXPECT_EQ(speed.bf16_dense_gflops > 0, card.has_bf16) << card.name;
    EXPECT_EQ(model->mig_compute_slices, card.mig_slices) << card.name;
  }
}

}  // namespace
}  // namespace pennyweight
