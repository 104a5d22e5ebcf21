// Output of xpu-smi in the forms that its documentation shows: what each gives, and what is
// refused.
#include "ingest/devices/xpu_smi/xpu_smi.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

namespace pennyweight::xpu_smi {
namespace {

const Instant kAt = parse_instant("2026-03-01T00:00:00Z").value();

std::string facts_of(std::string_view text, std::optional<Instant> at = kAt) {
  const auto read =
      parse(text, {.file = "f", .cluster = ClusterId("c"), .node = NodeId("n1"), .at = at});
  if (!read) return read.error().message;
  std::string shown;
  for (const Gpu& gpu : read->gpus) {
    shown += fmt::format("{} {} {} {}\n", gpu.index, gpu.uuid.text(), gpu.model,
                         gpu.memory_bytes.value_or(0) >> 20);
  }
  const auto number = [](const std::optional<std::uint64_t>& value) {
    return value ? std::to_string(*value) : "-";
  };
  for (const Usage& usage : read->usages) {
    shown += fmt::format("  {} util={} mem={} mW={} {}\n", usage.gpu.text(),
                         number(usage.gpu_util_ppm), number(usage.memory_used_bytes),
                         number(usage.power_milliwatts), to_text(usage.at));
  }
  for (const RejectedRow& row : read->rejected) shown += row.reason + "\n";
  return shown;
}

std::string discovery(int index) {
  return fmt::format(R"({{"device_list":[{{"device_id":{},"device_name":"Max 1550",)"
                     R"("pci_bdf_address":"0000:4d:00.0","uuid":"u{}"}}]}})",
                     index, index);
}

std::string statistic(std::string_view name, std::string_view value) {
  return fmt::format(R"({{"metrics_type":"XPUM_STATS_{}","value":{}}})", name, value);
}

std::string tiles(std::string_view first, std::string_view second) {
  return fmt::format(R"({{"device_id":0,"device_level":[],"tile_level":[{{"data_list":[{}]}},)"
                     R"({{"data_list":[{}]}}]}})",
                     first, second);
}

TEST(XpuSmi, TheDocumentedOutput) {
  std::ifstream in("tests/data/intel/xpu-smi.json");
  std::ostringstream text;
  text << in.rdbuf();
  // Its 16,169,744 mJ are those of the 255.5 s since `begin` (63.3 W), and no counter.
  EXPECT_EQ(facts_of(text.str(), std::nullopt),
            "0 n1/00000000-0000-0000-0000-020a00008086 Intel(R) Graphics [0x020a] 32768\n"
            "  n1/00000000-0000-0000-0000-020a00008086 util=1000000 mem=8501719040 mW=63260 "
            "2022-02-23T05:25:23.506Z\n");
  EXPECT_TRUE(is_xpu_smi(text.str()));
  EXPECT_FALSE(is_xpu_smi(R"({"gpu_data":[{"gpu":0,"bdf":"0000:0C:00.0"}]})"));
}

TEST(XpuSmi, TilesAreOneGpu) {
  EXPECT_EQ(
      facts_of(discovery(0) +
               tiles(statistic("GPU_UTILIZATION", "100.0") + "," +
                         statistic("MEMORY_USED", "1024") + "," + statistic("POWER", "50.5") + "," +
                         statistic("ENERGY", "7"),
                     statistic("GPU_UTILIZATION", "0") + "," + statistic("MEMORY_USED", "1024") +
                         "," + statistic("POWER", "10") + "," + statistic("ENERGY", "8"))),
      "0 n1/u0 Max 1550 0\n  n1/u0 util=500000 mem=2048 mW=60500 "
      "2026-03-01T00:00:00Z\n");
  // One tile of two is not the GPU.
  EXPECT_EQ(facts_of(discovery(0) + tiles(statistic("POWER", "50.5"), "")), "0 n1/u0 Max 1550 0\n");
}

TEST(XpuSmi, WhatIsRefused) {
  const std::string reading = tiles(statistic("POWER", "1"), statistic("POWER", "1"));
  const struct {
    std::string text, says;
  } table[] = {{reading, "put the output of `xpu-smi discovery -j` before it"},
               {discovery(0) + reading + reading, "two readings of GPU 0"},
               {"{\"device_list\":[]}", "there is no GPU in it"},
               {discovery(0).substr(0, 30), "JSON"},
               {"\xff", "not UTF-8"},
               {"{\"device_id\":-1}", "is not a number below"},
               {discovery(0) + tiles(statistic("GPU_UTILIZATION", "100.1"), ""),
                "GPU 0: XPUM_STATS_GPU_UTILIZATION: '100.100000' is not a number of 0 to 100"},
               {discovery(0) + tiles(statistic("POWER", "\"N/A\""), ""), "'N/A' is not a number"}};
  for (const auto& each : table) {
    EXPECT_NE(facts_of(each.text).find(each.says), std::string::npos) << facts_of(each.text);
  }
  EXPECT_EQ(facts_of(discovery(0), std::nullopt), "nothing says when this was captured; give --at");
}

}  // namespace
}  // namespace pennyweight::xpu_smi
