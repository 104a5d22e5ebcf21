// Output of amd-smi and rocm-smi in the forms that their documentation shows: what each gives, and
// what is refused.
#include "ingest/devices/amd_smi/amd_smi.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>

namespace pennyweight::amd_smi {
namespace {

const Instant kAt = parse_instant("2026-03-01T00:00:00Z").value();

std::string facts_of(std::string_view text, std::optional<Instant> at = kAt) {
  const auto read =
      parse(text, {.file = "f", .cluster = ClusterId("c"), .node = NodeId("n"), .at = at});
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
    shown +=
        fmt::format("  {}/{} util={} mem={}/{} mW={} mJ={} {}\n", usage.gpu.text(),
                    usage.mig_instance, number(usage.gpu_util_ppm), number(usage.memory_used_bytes),
                    number(usage.memory_total_bytes), number(usage.power_milliwatts),
                    number(usage.energy_millijoules), to_text(usage.at));
  }
  for (const RejectedRow& row : read->rejected) shown += row.reason + "\n";
  return shown;
}

std::string metric(int index, const char* util, const char* power, const char* energy) {
  return fmt::format(R"({{"gpu":{},"usage":{{"gfx_activity":{}}},"power":{{"socket_power":{}}},)"
                     R"("energy":{{"total_energy_consumption":{}}},"mem_usage":{{"total_vram":)"
                     R"({{"value":1024,"unit":"MB"}},"used_vram":{{"value":512,"unit":"MB"}}}}}})",
                     index, util, power, energy);
}

constexpr const char* kList = R"([{"gpu":0,"bdf":"0000:0C:00.0","uuid":"aa","partition_id":0}, )"
                              R"({"gpu":1,"bdf":"0000:1C:00.0","uuid":"bb","partition_id":0}] )";

TEST(AmdSmi, ListStaticAndMetricGoTogether) {
  const std::string statics =
      R"({"gpu_data":[{"gpu":0,"asic":{"market_name":"AMD Instinct MI300X"},)"
      R"("vram":{"size":{"value":196592,"unit":"MB"}}}]} )";
  EXPECT_EQ(facts_of(kList + statics + "{\"gpu_data\":[" +
                     metric(0, R"({"value":37,"unit":"%"})", R"({"value":133,"unit":"W"})",
                            R"({"value":3436801.25,"unit":"J"})") +
                     "]}"),
            "0 aa AMD Instinct MI300X 196592\n1 bb  0\n"
            "  aa/ util=370000 mem=536870912/206141652992 mW=133000 mJ=3436801250 "
            "2026-03-01T00:00:00Z\n");
  // A Radeon has no counter, and amd-smi prints 0.0 for it; that is not what it used.
  EXPECT_EQ(facts_of(kList + metric(1, R"({"value":1,"unit":"%"})", R"({"value":6,"unit":"W"})",
                                    R"({"value":0.0,"unit":"J"})")),
            "0 aa  0\n1 bb  1024\n"
            "  bb/ util=10000 mem=536870912/1073741824 mW=6000 mJ=- 2026-03-01T00:00:00Z\n");
  // Plain numbers and texts, as other versions write them; N/A is not 0.
  EXPECT_EQ(facts_of(kList + metric(1, "\"N/A\"", "\"12 W\"", "\"N/A\"")),
            "0 aa  0\n1 bb  1024\n  bb/ util=- mem=536870912/1073741824 mW=12000 mJ=- "
            "2026-03-01T00:00:00Z\n");
}

TEST(AmdSmi, PartitionsAreInstancesOfOneGpuWhoseEnergyIsToldOnce) {
  const std::string list = R"([{"gpu":0,"bdf":"0000:0C:00.0","uuid":"aa","partition_id":0},)"
                           R"({"gpu":1,"bdf":"0000:0C:00.1","uuid":"aa","partition_id":1},)"
                           R"({"gpu":2,"bdf":"0000:1C:00.0","uuid":"bb","partition_id":0}] )";
  const char* watts = R"({"value":600,"unit":"W"})";
  EXPECT_EQ(facts_of(list + "[" + metric(0, "10", watts, "\"N/A\"") + "," +
                     metric(1, "90", watts, "\"N/A\"") + "]"),
            "0 aa  0\n2 bb  0\n"
            "  aa/ util=- mem=-/- mW=600000 mJ=- 2026-03-01T00:00:00Z\n"
            "  aa/0 util=100000 mem=536870912/1073741824 mW=- mJ=- 2026-03-01T00:00:00Z\n"
            "  aa/1 util=900000 mem=536870912/1073741824 mW=- mJ=- 2026-03-01T00:00:00Z\n");
}

// What amd-smi static --json printed of an MI210.
TEST(AmdSmi, ASampleOfAnMi210) {
  std::ifstream in("tests/data/amd/static.json", std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  EXPECT_EQ(facts_of(R"([{"gpu":0,"bdf":"0000:0C:00.0","uuid":"aa"}] )" + text),
            "0 aa AMD Instinct MI210 65520\n");
}

TEST(AmdSmi, CardsOfRocmSmi) {
  EXPECT_EQ(
      facts_of(R"x({"card0":{"Unique ID":"0xab","GPU use (%)":"99",)x"
               R"x("Card Series":"AMD Instinct MI300X OAM","PCI Bus":"0000:05:00.0",)x"
               R"x("Current Socket Graphics Package Power (W)":"133.5",)x"
               R"x("VRAM Total Memory (B)":"1073741824","VRAM Total Used Memory (B)":"2048",)x"
               R"x("Accumulated Energy (uJ)":"52583068287.32"},"system":{}})x"),
      "0 0xab AMD Instinct MI300X OAM 1024\n  0xab/ util=990000 mem=2048/1073741824 mW=133500 "
      "mJ=52583068 2026-03-01T00:00:00Z\n");
}

TEST(AmdSmi, WhatCantBeIsRefused) {
  EXPECT_NE(facts_of(metric(0, "1", "1", "1")).find("amd-smi list"), std::string::npos);
  EXPECT_NE(facts_of("[]").find("there is no GPU"), std::string::npos);
  EXPECT_NE(facts_of("{\"gpu").find("JSON"), std::string::npos);
  EXPECT_NE(facts_of(std::string(kList) + "[{\"gpu\":0").find("JSON"), std::string::npos);
  EXPECT_NE(facts_of(kList, std::nullopt).find("--at"), std::string::npos);
  EXPECT_NE(facts_of(kList + metric(0, "1", "1", "1") + metric(0, "2", "1", "1"))
                .find("two readings of GPU 0"),
            std::string::npos);
  EXPECT_NE(facts_of(kList + metric(0, "101", "1", "1")).find("GPU 0: usage/gfx_activity: '101'"),
            std::string::npos);
  EXPECT_NE(facts_of(kList + metric(0, R"({"value":1,"unit":"mW"})", "1", "1"))
                .find("'1 mW' is not a number of 0 to 100 %"),
            std::string::npos);
}

TEST(AmdSmi, IsRecognised) {
  EXPECT_TRUE(is_amd_smi(kList));
  EXPECT_TRUE(is_amd_smi("{\"card0\": {\"Unique ID\": \"0x1\"}}"));
  EXPECT_FALSE(is_amd_smi("{\"jobs\": []}"));
  EXPECT_FALSE(is_amd_smi("gpu,uuid\n"));
}

}  // namespace
}  // namespace pennyweight::amd_smi
