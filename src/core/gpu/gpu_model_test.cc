#include "core/gpu/gpu_model.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <string_view>

namespace pennyweight {
namespace {

std::string model_name(std::string_view reported) {
  const GpuModel* model = find_gpu_model(reported);
  return model == nullptr ? "" : model->name;
}

TEST(GpuModel, NamesOfEverySourceLeadToTheModel) {
  struct Case {
    std::string_view reported;
    std::string_view want;
  };
  const Case cases[] = {
      // NVML, DCGM
      {"NVIDIA A100-SXM4-40GB", "A100-SXM4-40GB"},
      {"NVIDIA A100-PCIE-40GB", "A100-PCIE-40GB"},
      {"NVIDIA A100 80GB PCIe", "A100-PCIE-80GB"},
      {"NVIDIA H100 80GB HBM3", "H100-SXM5-80GB"},
      {"NVIDIA H100 PCIe", "H100-PCIE-80GB"},
      {"NVIDIA H100 NVL", "H100-NVL-94GB"},
      {"NVIDIA H200", "H200-SXM-141GB"},
      {"NVIDIA GH200 480GB", "GH200-96GB"},
      {"Tesla V100-SXM2-16GB", "V100-SXM2-16GB"},
      {"Tesla T4", "T4"},
      {"NVIDIA A10G", "A10G"},
      {"NVIDIA GeForce RTX 4080", "RTX-4080"},
      {"AMD Instinct MI300X", "MI300X"},
      // Kubernetes' nvidia.com/gpu.product
      {"NVIDIA-A100-SXM4-80GB", "A100-SXM4-80GB"},
      {"NVIDIA-A100-SXM4-80GB-SHARED", "A100-SXM4-80GB"},
      {"NVIDIA-A100-SXM4-40GB-MIG-1g.5gb", "A100-SXM4-40GB"},
      {"NVIDIA-H100-80GB-HBM3-MIG-1g.10gb-SHARED", "H100-SXM5-80GB"},
      {"Tesla-T4-SHARED", "T4"},
      {"NVIDIA-H100-80GB-HBM3-SHARED", "H100-SXM5-80GB"},
      {"NVIDIA-A100-80GB-PCIe", "A100-PCIE-80GB"},
      {"NVIDIA-GH200-480GB", "GH200-96GB"},
      {"A100-SXM4-80GB", "A100-SXM4-80GB"},
      {"AMD_Instinct_MI300X_OAM", "MI300X"},  // amd.com/gpu.product-name
      // A MIG instance in NVML, a GPU in HAMi's register, an early driver
      {"NVIDIA A100-SXM4-40GB MIG 1g.5gb", "A100-SXM4-40GB"},
      {"NVIDIA-NVIDIA A100-SXM4-80GB", "A100-SXM4-80GB"},
      {"NVIDIA-Tesla T4", "T4"},
      {"NVIDIA A100-SXM-80GB", "A100-SXM4-80GB"},
      // Slurm
      {"nvidia_a100-sxm4-40gb", "A100-SXM4-40GB"},
      {"nvidia_h100_80gb_hbm3", "H100-SXM5-80GB"},
      {"t4", "T4"},
      {"l40s", "L40S"},
      // openb
      {"P100", "P100-PCIE-16GB"},
      {"V100M16", "V100-SXM2-16GB"},
      {"V100M32", "V100-SXM2-32GB"},
      {"A10", "A10"},
      // clouds
      {"nvidia-tesla-t4", "T4"},
      {"nvidia-tesla-a100", "A100-SXM4-40GB"},
      {"h100-80gb", "H100-SXM5-80GB"},
      {"a100-80gb", "A100-SXM4-80GB"},
      {"nvidia-l4", "L4"},
      {"rtx-pro-server-6000", "RTX-PRO-6000-BLACKWELL-96GB"},
      {"B200-SXM-180GB", "B200-SXM-180GB"},
      // Names that match several models, or none.
      {"a100", ""},
      {"NVIDIA A100", ""},
      {"h100", ""},
      {"v100", ""},
      {"V100-SXM2", ""},
      {"gh200", ""},
      {"G2", ""},
      {"gpu", ""},
      {"", ""},
      {"nvidia", ""},
      {"-MIG-1g.5gb", ""},
      {" MIG 1g.5gb", ""},
      {"nvidia nvidia nvidia", ""},
      {"A100-SXM4-40GB extra", ""},
      {"\xFF\xFE", ""},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(model_name(c.reported), c.want) << c.reported;
  }
}

TEST(GpuModel, EveryModelIsFoundByItsNameAndByItsDeviceName) {
  std::set<std::string> names;
  for (const GpuModel& model : gpu_models()) {
    SCOPED_TRACE(model.name);
    EXPECT_TRUE(names.insert(model.name).second);
    EXPECT_EQ(find_gpu_model(model.name), &model);
    EXPECT_EQ(find_gpu_model(model.device_name), &model);
    EXPECT_GE(model.memory_bytes, std::uint64_t{8} << 30);
    EXPECT_EQ(model.mig_compute_slices == 0, model.mig_geometries.empty());
    EXPECT_EQ(model.mig_memory_slices == 0, model.mig_geometries.empty());
  }
  EXPECT_GE(names.size(), 40u);
}

TEST(GpuModel, FactsOfACard) {
  const GpuModel* a100 = find_gpu_model("A100-SXM4-40GB");
  ASSERT_NE(a100, nullptr);
  EXPECT_EQ(a100->vendor, "NVIDIA");
  EXPECT_EQ(a100->architecture, "Ampere");
  EXPECT_EQ(a100->memory_bytes, std::uint64_t{40} << 30);
  EXPECT_EQ(a100->mig_compute_slices, 7u);
  EXPECT_EQ(a100->mig_memory_slices, 8u);
  EXPECT_EQ(find_gpu_model("A30")->mig_compute_slices, 4u);
  EXPECT_EQ(find_gpu_model("T4")->mig_compute_slices, 0u);
}

}  // namespace
}  // namespace pennyweight
