#include "ingest/devices/nvidia_smi/nvidia_smi.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <fstream>
#include <sstream>

#include "ingest/devices/nvidia_smi/device_list.h"
#include "ingest/devices/nvidia_smi/device_table.h"
#include "ingest/devices/nvidia_smi/local_time.h"
#include "ingest/devices/nvidia_smi/query.h"

namespace pennyweight::nvidia_smi {
namespace {

constexpr std::uint64_t kMib = 1u << 20;

Instant instant(std::string_view text) { return parse_instant(text).value(); }

Options options() {
  return {.file = "smi.txt",
          .cluster = ClusterId("c"),
          .node = NodeId("n1"),
          .zone = TimeZone::utc(),
          .at = std::nullopt};
}

std::string read_file(const std::string& name) {
  std::ifstream file(std::string(TEST_DATA) + "/nvidia_smi/" + name, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

Document parsed(std::string_view text, const Options& with = options()) {
  auto document = parse(text, with);
  EXPECT_TRUE(document) << document.error().message;
  return document ? *std::move(document) : Document{};
}

// GPU instance, compute instance, SMs, FB total MiB, FB used MiB: the figures of README.traces.md.
TEST(NvidiaSmi, TheMigTableUnderLoad) {
  const TimeZone zone = TimeZone::utc();
  DeviceTable table(zone);
  std::vector<std::array<std::uint64_t, 5>> rows;
  std::istringstream in(read_file("h100-mig.txt"));
  std::uint64_t number = 0;
  for (std::string line; std::getline(in, line);) {
    const auto reading = table.line(++number, line);
    ASSERT_TRUE(reading) << reading.error().message;
    if (const auto* mig = std::get_if<MigReading>(&*reading)) {
      rows.push_back({mig->gpu_instance, mig->compute_instance, mig->multiprocessors,
                      mig->memory_total_bytes / kMib, mig->memory_used_bytes / kMib});
    }
  }
  ASSERT_EQ(rows.size(), 8u);  // idle, then under load
  const std::vector<std::array<std::uint64_t, 5>> load(rows.begin() + 4, rows.end());
  EXPECT_EQ(load, (std::vector<std::array<std::uint64_t, 5>>{{2, 0, 60, 40448, 11091},
                                                             {3, 0, 32, 20096, 17},
                                                             {9, 0, 16, 9984, 9},
                                                             {10, 0, 16, 9984, 9}}));
}

TEST(NvidiaSmi, ARealMigCapture) {
  const Document document = parsed(read_file("h100-mig.txt"));
  EXPECT_TRUE(document.rejected.empty()) << document.rejected[0].reason;
  ASSERT_EQ(document.gpus.size(), 1u);
  const Gpu& gpu = document.gpus[0];
  EXPECT_EQ(gpu.uuid.text(), "GPU-00000000-0000-0000-0000-000000000000");
  EXPECT_EQ(gpu.node.text(), "n1");
  EXPECT_EQ(gpu.model, "NVIDIA H100 80GB HBM3");
  EXPECT_EQ(gpu.memory_bytes, 81559 * kMib);
  EXPECT_EQ(gpu.from, instant("2026-07-14T09:00:26Z"));
  ASSERT_EQ(gpu.mig_instances.size(), 4u);
  EXPECT_EQ(gpu.mig_instances[0].profile, "3g.40gb");
  EXPECT_EQ(gpu.mig_instances[3].id.text(), "MIG-00000003-0000-0000-0000-000000000003");

  // Twice the table with a card and four instances, twice the query.
  ASSERT_EQ(document.usages.size(), 12u);
  const auto find = [&](std::string_view at, std::string_view instance) -> const Usage& {
    for (const Usage& usage : document.usages) {
      if (usage.at == instant(at) && usage.mig_instance == instance) return usage;
    }
    ADD_FAILURE() << "no usage of '" << instance << "' at " << at;
    return document.usages[0];
  };
  const Usage& slice = find("2026-07-14T09:00:43Z", "2");
  EXPECT_EQ(slice.mig_profile, "3g.40gb");
  EXPECT_EQ(slice.memory_used_bytes, 11091 * kMib);
  EXPECT_EQ(slice.memory_total_bytes, 40448 * kMib);
  EXPECT_EQ(slice.power_milliwatts, 432'000u);  // of the card
  EXPECT_EQ(find("2026-07-14T09:00:43Z", "10").mig_profile, "1g.10gb");
  const Usage& card = find("2026-07-14T09:00:43Z", "");
  EXPECT_EQ(card.memory_used_bytes, 11125 * kMib);
  EXPECT_EQ(card.gpu_util_ppm, std::nullopt);  // N/A under MIG
  EXPECT_EQ(find("2026-07-14T09:00:27.792Z", "").model, "NVIDIA H100 80GB HBM3");
}

TEST(NvidiaSmi, RealCapturesWithoutMig) {
  const Document rtx = parsed(read_file("rtx-4080.txt"));
  EXPECT_TRUE(rtx.rejected.empty());
  ASSERT_EQ(rtx.gpus.size(), 1u);
  EXPECT_TRUE(rtx.gpus[0].mig_instances.empty());
  bool seen = false;
  for (const Usage& usage : rtx.usages) {
    if (usage.at != instant("2026-06-26T11:59:58.761Z")) continue;
    seen = true;
    EXPECT_EQ(usage.gpu_util_ppm, 70'000u);
    EXPECT_EQ(usage.memory_used_bytes, 1474 * kMib);
    EXPECT_EQ(usage.power_milliwatts, 84'240u);
  }
  EXPECT_TRUE(seen);
  const Document h100 = parsed(read_file("h100.txt"));
  EXPECT_TRUE(h100.rejected.empty());
  EXPECT_EQ(h100.gpus.size(), 1u);
  EXPECT_EQ(h100.usages.size(), 4u);
  const Document h200 = parsed(read_file("h200.txt"));
  EXPECT_TRUE(h200.rejected.empty());
  EXPECT_EQ(h200.gpus.size(), 1u);
  EXPECT_EQ(h200.usages.size(), 4u);
  EXPECT_FALSE(h200.used_given_time);
}

constexpr const char* kQuery =
    "timestamp, index, uuid, name, memory.total [MiB], memory.used [MiB], utilization.gpu [%], "
    "power.draw [W]\n";

TEST(NvidiaSmi, AQueryWithAndWithoutUnits) {
  for (const char* row :
       {"2026/07/14 09:00:27.792, 3, GPU-1, NVIDIA A10, 23028 MiB, 5 MiB, 37 %, 28.77 W",
        "2026/07/14 09:00:27.792, 3, GPU-1, NVIDIA A10, 23028, 5, 37, 28.77"}) {
    const Document document = parsed(std::string("\xEF\xBB\xBF") + kQuery + row + "\r\n");
    ASSERT_TRUE(document.rejected.empty()) << document.rejected[0].reason;
    ASSERT_EQ(document.gpus.size(), 1u);
    EXPECT_EQ(document.gpus[0].index, 3u);
    EXPECT_EQ(document.gpus[0].memory_bytes, 23028 * kMib);
    ASSERT_EQ(document.usages.size(), 1u);
    EXPECT_EQ(document.usages[0].at, instant("2026-07-14T09:00:27.792Z"));
    EXPECT_EQ(document.usages[0].gpu_util_ppm, 370'000u);
    EXPECT_EQ(document.usages[0].power_milliwatts, 28'770u);
    EXPECT_EQ(document.usages[0].memory_used_bytes, 5 * kMib);
  }
}

TEST(NvidiaSmi, WhatADeviceDoesNotTellIsAbsent) {
  for (const char* absent : {"[N/A]", "N/A", "[Not Supported]", "[Insufficient Permissions]",
                             "[Unknown Error]", "[GPU is lost]", ""}) {
    const Document document =
        parsed(std::string(kQuery) + "2026/07/14 09:00:27.792, 0, GPU-1, A, " + absent +
               ", 5 MiB, " + absent + ", " + absent + "\n");
    ASSERT_EQ(document.usages.size(), 1u) << absent;
    EXPECT_EQ(document.usages[0].gpu_util_ppm, std::nullopt);
    EXPECT_EQ(document.usages[0].power_milliwatts, std::nullopt);
    EXPECT_EQ(document.gpus[0].memory_bytes, std::nullopt);
  }
}

TEST(NvidiaSmi, AGrownTableAndItsSecondHeader) {
  const Document document =
      parsed(std::string(kQuery) +
             "2026/07/14 09:00:00.000, 0, GPU-1, A, 9 MiB, 5 MiB, 1 %, 2 W\n"
             "2026/07/14 09:01:00.000, 0, GPU-1, A, 9 MiB, 6 MiB, 1 %, 2 W\n" +
             kQuery +
             "2026/07/14 09:02:00.000, 0, GPU-1, A, 9 MiB, 7 MiB, 1 %, 2 W\n"
             "2026/07/14 09:02:00.000, 0, GPU-1, A, 9 MiB, 7 MiB, 1 %, 2 W\n");
  EXPECT_TRUE(document.rejected.empty());
  EXPECT_EQ(document.usages.size(), 3u);  // a repeat is harmless
  ASSERT_EQ(document.gpus.size(), 1u);
  EXPECT_EQ(document.gpus[0].from, instant("2026-07-14T09:00:00Z"));
}

TEST(NvidiaSmi, BadRowsAreKeptAside) {
  struct Case {
    const char* row;
    const char* column;
  };
  constexpr Case kCases[] = {
      {"yesterday, 0, GPU-1, A, 9, 5, 1, 2", "timestamp"},
      {"2026/13/14 09:00:00.000, 0, GPU-1, A, 9, 5, 1, 2", "timestamp"},
      {"2026/07/14 09:00:00.0000, 0, GPU-1, A, 9, 5, 1, 2", "timestamp"},
      {"[N/A], 0, GPU-1, A, 9, 5, 1, 2", "timestamp"},
      {"2026/07/14 09:00:00.000, x, GPU-1, A, 9, 5, 1, 2", "index"},
      {"2026/07/14 09:00:00.000, 7, , A, 9, 5, 1, 2", "uuid"},
      {"2026/07/14 09:00:00.000, 0, GPU-1, A, 9 GiB, 5, 1, 2", "memory.total"},
      {"2026/07/14 09:00:00.000, 0, GPU-1, A, 9, -5 MiB, 1, 2", "memory.used"},
      {"2026/07/14 09:00:00.000, 0, GPU-1, A, 9, NULL, 1, 2", "memory.used"},
      {"2026/07/14 09:00:00.000, 0, GPU-1, A, 9, 5, 101 %, 2", "utilization.gpu"},
      {"2026/07/14 09:00:00.000, 0, GPU-1, A, 9, 5, 1, 1e9 W", "power.draw"},
      {"2026/07/14 09:00:00.000, 0, GPU-1, A, 9, 5, 1", ""},
      {"2026/07/14 09:00:00.000, 0, GPU-1, A\xFF, 9, 5, 1, 2", ""},
  };
  for (const Case& c : kCases) {
    const Document document = parsed(std::string(kQuery) + c.row +
                                     "\n2026/07/14 10:00:00.000, 0, GPU-1, A, 9, 5, 1, 2\n");
    ASSERT_EQ(document.rejected.size(), 1u) << c.row;
    EXPECT_EQ(document.rejected[0].column, c.column)
        << c.row << ": " << document.rejected[0].reason;
    EXPECT_EQ(document.rejected[0].line, 2u) << c.row;
    EXPECT_EQ(document.rejected[0].file, "smi.txt");
    ASSERT_EQ(document.usages.size(), 1u) << c.row;
  }
}

TEST(NvidiaSmi, TwoReadingsOfOneInstantConflict) {
  const Document document = parsed(std::string(kQuery) +
                                   "2026/07/14 09:00:00.000, 0, GPU-1, A, 9, 5, 1, 2\n"
                                   "2026/07/14 09:00:00.000, 0, GPU-1, A, 9, 6, 1, 2\n");
  EXPECT_EQ(document.usages.at(0).memory_used_bytes, 5 * kMib);
  ASSERT_EQ(document.rejected.size(), 1u);
  EXPECT_EQ(document.rejected[0].line, 3u);
}

TEST(NvidiaSmi, TimesAreOfTheMachinesZone) {
  Options berlin = options();
  berlin.zone = TimeZone::parse("Europe/Berlin").value();
  const Document document =
      parsed(std::string(kQuery) + "2026/07/14 09:00:00.000, 0, GPU-1, A, 9, 5, 1, 2\n", berlin);
  EXPECT_EQ(document.usages.at(0).at, instant("2026-07-14T07:00:00Z"));
}

TEST(NvidiaSmi, WithoutATimestampTheImportSaysWhen) {
  const std::string text = "uuid, memory.used [MiB]\nGPU-1, 5 MiB\n";
  EXPECT_EQ(parsed(text).rejected.size(), 1u);
  Options at = options();
  at.at = instant("2026-07-14T09:00:00Z");
  EXPECT_EQ(parsed(text, at).usages.at(0).at, instant("2026-07-14T09:00:00Z"));
  EXPECT_TRUE(parsed(text, at).used_given_time);
  const Document list =
      parsed("GPU 0: NVIDIA A30 (UUID: GPU-1)\n  MIG 2g.12gb     Device  0: (UUID: MIG-1)\n", at);
  EXPECT_EQ(list.gpus.at(0).mig_instances, (std::vector<MigInstance>{{GpuId("MIG-1"), "2g.12gb"}}));
}

TEST(NvidiaSmi, ATableNeedsToKnowWhichGpu) {
  const std::string table =
      "Tue Jul 14 09:00:43 2026       \n"
      "+------+\n| NVIDIA-SMI 590.48.01 |\n+------+------+------+\n"
      "|   0  NVIDIA A10          On  |   00000000:00:09.0 Off |                    0 |\n"
      "| N/A   52C    P0     43W / 150W |   125MiB /  23028MiB |     7%      Default |\n"
      "+------+------+------+\n";
  const Document nameless = parsed(table);
  ASSERT_EQ(nameless.rejected.size(), 1u);
  EXPECT_TRUE(nameless.usages.empty());
  const Document named = parsed(table + "\nGPU 0: NVIDIA A10 (UUID: GPU-1)\n");
  ASSERT_EQ(named.usages.size(), 1u);
  EXPECT_EQ(named.usages[0].gpu_util_ppm, 70'000u);
  EXPECT_EQ(named.usages[0].power_milliwatts, 43'000u);
  EXPECT_EQ(named.usages[0].model, "NVIDIA A10");
}

TEST(NvidiaSmi, ADamagedTableIsRejectedByLine) {
  std::string text = read_file("h100-mig.txt");
  const std::size_t at = text.find("11091MiB");
  ASSERT_NE(at, std::string::npos);
  text.replace(at, 8, "11091Mxx");
  const Document document = parsed(text);
  EXPECT_EQ(document.rejected.size(), 1u);
  EXPECT_EQ(document.usages.size(), 11u);
}

TEST(NvidiaSmi, CapturesOfTwoMachinesInOneFileAreRefused) {
  const std::string list = "GPU 0: A (UUID: GPU-1)\nGPU 0: A (UUID: GPU-2)\n";
  Options at = options();
  at.at = instant("2026-07-14T09:00:00Z");
  EXPECT_EQ(parsed(list, at).rejected.size(), 1u);
}

TEST(NvidiaSmi, ADocumentThatIsNoneIsAnError) {
  using namespace std::string_view_literals;
  for (const auto text : {""sv, "\n"sv, "hello\n"sv,
                          "\x7F"
                          "ELF\0\0"sv,
                          "2026/07/14 09:00:00.000, 0, GPU-1, A, 9\n"sv,
                          "timestamp, gpu_uuid, pid, name\n"sv, "No devices were found\n"sv}) {
    const auto document = parse(text, options());
    ASSERT_FALSE(document) << text;
    EXPECT_EQ(document.error().code, ErrorCode::kBadFile);
    EXPECT_TRUE(document.error().message.starts_with("smi.txt: "));
  }
}

TEST(NvidiaSmi, RealXmlLogs) {
  struct Case {
    const char* file;
    const char* model;
    std::uint64_t used_mib;
    std::uint64_t milliwatts;
    std::optional<std::uint64_t> util_ppm;
    std::size_t instances;
  };
  constexpr Case kCases[] = {
      {"a100-sxm4-v12.xml", "NVIDIA A100-SXM4-80GB", 50, 67'030, std::nullopt, 4},
      {"a10g.xml", "NVIDIA A10G", 22, 25'580, 0, 0},
      {"tesla-t4.xml", "Tesla T4", 1032, 26'780, 0, 0},
      // Driver 580; two clients of an MPS server.
      {"h200-mps.xml", "NVIDIA H200", 7814, 596'740, 1'000'000, 0}};
  for (const Case& c : kCases) {
    const Document document = parsed(read_file(c.file));
    ASSERT_TRUE(document.rejected.empty()) << document.rejected[0].reason;
    ASSERT_EQ(document.gpus.size(), 1u) << c.file;
    EXPECT_EQ(document.gpus[0].model, c.model);
    ASSERT_EQ(document.usages.size(), 1 + c.instances) << c.file;
    EXPECT_EQ(document.usages[0].memory_used_bytes, c.used_mib * kMib) << c.file;
    EXPECT_EQ(document.usages[0].power_milliwatts, c.milliwatts) << c.file;
    EXPECT_EQ(document.usages[0].gpu_util_ppm, c.util_ppm) << c.file;
  }
  const Document mig = parsed(read_file("a100-sxm4-v12.xml"));
  EXPECT_EQ(mig.usages[1].mig_instance, "3");
  EXPECT_EQ(mig.usages[1].memory_total_bytes, 19968 * kMib);
  EXPECT_EQ(mig.usages[1].at, instant("2023-08-04T11:44:30Z"));
}

TEST(NvidiaSmi, DamagedXml) {
  const std::string log = read_file("tesla-t4.xml");
  for (const std::string& text :
       {log.substr(0, log.size() / 2), std::string("<?xml version=\"1.0\"?>"),
        std::string("<?xml version=\"1.0\"?><html/>"), std::string("<nvidia_smi_log/>"),
        std::string("<nvidia_smi_log><gpu>\xFF</gpu></nvidia_smi_log>")}) {
    const auto document = parse(text, options());
    ASSERT_FALSE(document) << text.substr(0, 80);
    EXPECT_TRUE(document.error().message.starts_with("smi.txt: ")) << document.error().message;
  }
  std::string negative = log;
  const std::size_t at = negative.find("26.78 W");
  ASSERT_NE(at, std::string::npos);
  negative.replace(at, 7, "-6.78 W");
  const Document document = parsed(negative);
  ASSERT_EQ(document.rejected.size(), 1u);
  EXPECT_EQ(document.rejected[0].column, "power_draw");
  EXPECT_EQ(document.rejected[0].line, 170u);
}

TEST(NvidiaSmi, Headers) {
  EXPECT_TRUE(is_query_header("index, uuid, memory.used [MiB]"));
  EXPECT_TRUE(is_query_header("gpu_uuid,utilization.gpu [%]"));
  EXPECT_FALSE(is_query_header("timestamp, gpu_name, gpu_uuid, pid, used_gpu_memory [MiB]"));
  EXPECT_FALSE(is_query_header("uuid"));
  EXPECT_FALSE(is_query_header("\"uuid\" or \"gpu_uuid\", name"));
  EXPECT_FALSE(is_query_header(""));
}

TEST(NvidiaSmi, ListLines) {
  EXPECT_TRUE(parse_listed_gpu("GPU 12: Tesla T4 (UUID: GPU-1)"));
  for (const char* line : {"GPU 0: Tesla T4", "GPU x: Tesla T4 (UUID: GPU-1)", "GPU 0: (UUID: G)",
                           "GPU 0: T4 (UUID: )", "GPU 0: T4 (UUID: G", "GPU (UUID: G)", "GPU "}) {
    EXPECT_FALSE(parse_listed_gpu(line)) << line;
  }
  for (const char* line : {"MIG 1g.5gb Device 0", "MIG Device 0: (UUID: M)",
                           "MIG 1g.5gb Device x: (UUID: M)", "MIG (UUID: M)", "MIG :(UUID: M)"}) {
    EXPECT_FALSE(parse_listed_mig_device(line)) << line;
  }
}

// As the NVIDIA MIG user guide prints it.
constexpr std::string_view kInstances =
    "+----------------------------------------------------+\n"
    "| GPU instances:                                     |\n"
    "| GPU   Name          Profile  Instance   Placement  |\n"
    "|                       ID       ID       Start:Size |\n"
    "|====================================================|\n"
    "|   0  MIG 3g.20gb       9        1          4:4     |\n"
    "+----------------------------------------------------+\n"
    "|   0  MIG 2g.10gb      14        5          0:2     |\n"
    "+----------------------------------------------------+\n"
    "|   0  MIG 1g.5gb+me    20        7          2:1     |\n"
    "+----------------------------------------------------+\n";

Options captured_at(std::string_view time) {
  Options with = options();
  with.at = instant(time);
  return with;
}

TEST(NvidiaSmi, GpuInstancesAreTheLayoutWhereNoMigDevicesAreListed) {
  const std::string listed = "GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-1)\n";
  const Document document =
      parsed(listed + std::string(kInstances), captured_at("2026-03-01T00:00:00Z"));
  EXPECT_TRUE(document.rejected.empty()) << document.rejected[0].reason;
  EXPECT_TRUE(document.used_given_time);
  ASSERT_EQ(document.gpus.size(), 1u);
  EXPECT_EQ(document.gpus[0].mig_instances,
            (std::vector<MigInstance>{{GpuId("GPU-1/gi1"), "3g.20gb"},
                                      {GpuId("GPU-1/gi5"), "2g.10gb"},
                                      {GpuId("GPU-1/gi7"), "1g.5gb+me"}}));
  EXPECT_EQ(document.gpus[0].from, instant("2026-03-01T00:00:00Z"));
  // MIG devices have the names that holders have.
  const Document with_devices =
      parsed(listed + "  MIG 3g.20gb     Device  0: (UUID: MIG-1)\n" + std::string(kInstances),
             captured_at("2026-03-01T00:00:00Z"));
  ASSERT_EQ(with_devices.gpus.size(), 1u);
  EXPECT_EQ(with_devices.gpus[0].mig_instances,
            (std::vector<MigInstance>{{GpuId("MIG-1"), "3g.20gb"}}));
}

TEST(NvidiaSmi, GpuInstancesAfterAQueryHaveItsTime) {
  const Document document = parsed(
      "timestamp, index, uuid, name, memory.used [MiB]\n"
      "2026/03/01 10:00:00.000, 0, GPU-1, NVIDIA A100-SXM4-40GB, 5 MiB\n"
      "\n" +
      std::string(kInstances));
  EXPECT_TRUE(document.rejected.empty()) << document.rejected[0].reason;
  ASSERT_EQ(document.gpus.size(), 1u);
  EXPECT_EQ(document.gpus[0].mig_instances.size(), 3u);
  EXPECT_EQ(document.gpus[0].from, instant("2026-03-01T10:00:00Z"));
}

TEST(NvidiaSmi, GpuInstancesThatCannotBeReadAreRefused) {
  const auto reasons = [](const std::string& text) {
    std::vector<std::string> all;
    for (const RejectedRow& row : parsed(text, captured_at("2026-03-01T00:00:00Z")).rejected) {
      all.push_back(fmt::format("{}: {}", row.line, row.reason));
    }
    return all;
  };
  using Reasons = std::vector<std::string>;
  const std::string unknown =
      "nothing says which GPU index 0 is; capture nvidia-smi -L before it, in the same file";
  EXPECT_EQ(reasons(std::string(kInstances)),
            (Reasons{"6: " + unknown, "8: " + unknown, "10: " + unknown}));
  const std::string listed = "GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-1)\n| GPU instances: |\n";
  const Reasons unreadable = {
      "3: a GPU instance of nvidia-smi mig -lgi can't be read; capture it once more"};
  EXPECT_EQ(reasons(listed + "|   0  MIG 3g.20gb       9        1          4:     |\n"),
            unreadable);
  EXPECT_EQ(reasons(listed + "|   0  MIG 3g.20gb       9        1          4:4  5  |\n"),
            unreadable);
  EXPECT_EQ(reasons(listed + "|   0  MIG 3g.20gb       9       -1          4:4     |\n"),
            unreadable);
  EXPECT_EQ(reasons(listed + "|   0  MIG 3g.20gb   9   1   4:4 |\n"
                             "|   0  MIG 2g.10gb  14   1   0:2 |\n"),
            (Reasons{"4: instance 1 of GPU 0 is a 3g.20gb at 4 on line 3: another MIG layout; give "
                     "each layout a file of its own"}));
  // Lists of profiles and of compute instances are other things.
  EXPECT_EQ(
      reasons("GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-1)\n| GPU instance profiles: |\n"
              "|   0  MIG 1g.5gb       19     7/7        4.75       No     14     0     0   |\n"
              "| Compute instances: |\n|   0      1       MIG 3g.20gb   2   0   0:3 |\n"),
      Reasons());
}

}  // namespace
}  // namespace pennyweight::nvidia_smi
