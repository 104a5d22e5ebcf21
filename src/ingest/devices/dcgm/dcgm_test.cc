#include "ingest/devices/dcgm/dcgm.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace pennyweight::dcgm {
namespace {

constexpr Instant kAt = from_unix_seconds(1'700'000'000);
constexpr std::uint64_t kMib = 1u << 20;

Options options() {
  return {.file = "metrics.prom", .cluster = ClusterId("c"), .at = kAt, .node = std::nullopt};
}

std::string read_file(const std::string& name) {
  std::ifstream file(std::string(TEST_DATA) + "/dcgm/" + name, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

Document parsed(std::string_view text) {
  auto document = parse(text, options());
  EXPECT_TRUE(document) << document.error().message;
  return document ? *std::move(document) : Document{};
}

// One sample of a device; what follows UUID="GPU-1" among the labels may be given.
std::string sample(std::string_view metric, std::string_view value, std::string_view labels = "") {
  return std::string(metric) + "{gpu=\"0\",UUID=\"GPU-1\",Hostname=\"n1\"" + std::string(labels) +
         "} " + std::string(value) + "\n";
}

// The figures of README.traces.md: GPUs, MIG instances, FB_USED by series in MiB.
TEST(Dcgm, RealScrapes) {
  struct Case {
    const char* file;
    std::size_t gpus;
    std::size_t mig_instances;
    std::vector<std::uint64_t> used_mib;
  };
  const Case kCases[] = {{"a100_mig_active_1g5gb.prom", 1, 1, {4384}},
                         {"a100_mig_idle_1g5gb.prom", 1, 1, {6}},
                         {"t4_two_gpu_one_pod.prom", 2, 0, {128, 5}}};
  for (const Case& c : kCases) {
    const Document document = parsed(read_file(c.file));
    std::size_t instances = 0;
    for (const Gpu& gpu : document.gpus) instances += gpu.mig_instances.size();
    EXPECT_EQ(document.gpus.size(), c.gpus) << c.file;
    EXPECT_EQ(instances, c.mig_instances) << c.file;
    EXPECT_TRUE(document.rejected.empty()) << c.file;
    std::multiset<std::uint64_t> used;
    for (const Usage& usage : document.usages) used.insert(usage.memory_used_bytes.value() / kMib);
    EXPECT_EQ(used, std::multiset<std::uint64_t>(c.used_mib.begin(), c.used_mib.end())) << c.file;
  }
}

TEST(Dcgm, ARealMigInstanceInFull) {
  const Document document = parsed(read_file("a100_mig_active_1g5gb.prom"));
  ASSERT_EQ(document.gpus.size(), 1u);
  const std::string uuid = "GPU-7099682b-a20d-2bcc-74ab-b9060454d81e";
  const Gpu& gpu = document.gpus[0];
  EXPECT_EQ(gpu.uuid.text(), uuid);
  EXPECT_EQ(gpu.model, "NVIDIA A100-SXM4-40GB");
  EXPECT_EQ(gpu.mig_instances, (std::vector<MigInstance>{{GpuId(uuid + "/gi9"), "1g.5gb"}}));
  EXPECT_EQ(gpu.memory_bytes, std::nullopt);  // of the slice alone, the exporter says
  EXPECT_EQ(document.counts.exporter_nodes, 1u);

  ASSERT_EQ(document.usages.size(), 1u);
  const Usage& usage = document.usages[0];
  EXPECT_EQ(usage.mig_instance, "9");
  EXPECT_EQ(usage.mig_profile, "1g.5gb");
  EXPECT_EQ(usage.at, kAt);
  EXPECT_EQ(usage.gpu_util_ppm, std::nullopt);  // there is none under MIG
  EXPECT_EQ(usage.engine_active_ppm, 999'892u);
  EXPECT_EQ(usage.power_milliwatts, 115'294u);
  EXPECT_EQ(usage.energy_millijoules, 27'151'028u);
  EXPECT_EQ(usage.memory_total_bytes, std::nullopt);  // FB_RESERVED was not exported
  EXPECT_EQ(usage.workload.text(), "");
}

TEST(Dcgm, ARealPod) {
  const Document document = parsed(read_file("t4_two_gpu_one_pod.prom"));
  ASSERT_EQ(document.usages.size(), 2u);
  std::set<std::string> workloads;
  for (const Usage& usage : document.usages) workloads.insert(usage.workload.text());
  EXPECT_EQ(workloads,
            (std::set<std::string>{
                "", "runai-reservation/runai-reservation-gpu-qa-mig-worker-gpu-1-kvltw"}));
  EXPECT_EQ(document.usages[0].gpu_util_ppm, 0u);
}

TEST(Dcgm, RenamedMetricsAndScales) {
  struct Case {
    const char* metric;
    const char* value;
    std::optional<std::uint64_t> Usage::* member;
    std::uint64_t want;
  };
  constexpr Case kCases[] = {
      {"DCGM_FI_DEV_GPU_UTIL", "37", &Usage::gpu_util_ppm, 370'000},
      {"DCGM_FI_DEV_GPU_UTIL_RATIO", "100", &Usage::gpu_util_ppm, 1'000'000},  // still 0 to 100
      {"DCGM_FI_PROF_GR_ENGINE_ACTIVE", "0.000039", &Usage::engine_active_ppm, 39},
      {"DCGM_FI_PROF_GR_ENGINE_UTIL_RATIO", "1", &Usage::engine_active_ppm, 1'000'000},
      {"DCGM_FI_PROF_SM_ACTIVE", "3.9e-05", &Usage::sm_active_ppm, 39},
      {"DCGM_FI_PROF_SM_UTIL_RATIO", "0.5", &Usage::sm_active_ppm, 500'000},
      {"DCGM_FI_PROF_PIPE_TENSOR_ACTIVE", "0.25", &Usage::tensor_active_ppm, 250'000},
      {"DCGM_FI_PROF_DRAM_ACTIVE", "0.6", &Usage::dram_active_ppm, 600'000},
      {"DCGM_FI_DEV_FB_USED", "4384", &Usage::memory_used_bytes, 4384 * kMib},
      {"DCGM_FI_DEV_FB_TOTAL", "1", &Usage::memory_total_bytes, kMib},
      {"DCGM_FI_DEV_POWER_USAGE", "28.722000", &Usage::power_milliwatts, 28'722},
      {"DCGM_FI_DEV_BOARD_POWER_WATTS", "28.7225", &Usage::power_milliwatts, 28'722},
      {"DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", "2.7151028e+07", &Usage::energy_millijoules,
       27'151'028},
      // An int32 sentinel elsewhere; a counter passes through it.
      {"DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", "2147483634", &Usage::energy_millijoules,
       2'147'483'634},
      {"dcgm_gpu_utilization", "+5", &Usage::gpu_util_ppm, 50'000},
  };
  for (const Case& c : kCases) {
    const Document document = parsed(sample(c.metric, c.value));
    ASSERT_EQ(document.usages.size(), 1u) << c.metric;
    EXPECT_EQ(document.usages[0].*c.member, c.want) << c.metric << ' ' << c.value;
  }
}

TEST(Dcgm, BlankValuesAreDroppedAndTheDeviceStays) {
  for (const char* value : {"2147483632", "2147483635", "9223372036854775792", "NaN", "+Inf",
                            "-inf", "9223372036854775794", "140737488355328", "140737488355331.000",
                            "9.223372036854776e+18", "1.40737488355328e+14"}) {
    const Document document = parsed(sample("DCGM_FI_DEV_FB_USED", value));
    EXPECT_TRUE(document.usages.empty()) << value;
    EXPECT_TRUE(document.rejected.empty()) << value;
    EXPECT_EQ(document.counts.blank, 1u) << value;
    EXPECT_EQ(document.gpus.size(), 1u) << value;
  }
}

TEST(Dcgm, ValuesOutsideOfTheirScaleAreRejected) {
  struct Case {
    const char* metric;
    const char* value;
  };
  constexpr Case kCases[] = {{"DCGM_FI_DEV_GPU_UTIL", "101"},
                             {"DCGM_FI_DEV_GPU_UTIL", "-1"},
                             {"DCGM_FI_PROF_SM_ACTIVE", "1.294"},  // DCGM issue 152
                             {"DCGM_FI_PROF_GR_ENGINE_ACTIVE", "-0.000001"},
                             {"DCGM_FI_DEV_FB_USED", "99999999999"},
                             {"DCGM_FI_DEV_POWER_USAGE", "1e9"},
                             {"DCGM_FI_DEV_POWER_USAGE", "1e300"},
                             {"DCGM_FI_DEV_POWER_USAGE", "0x10"},
                             {"DCGM_FI_DEV_POWER_USAGE", "1_000"}};
  for (const Case& c : kCases) {
    const Document document =
        parsed(sample(c.metric, c.value) + sample("DCGM_FI_DEV_FB_USED", "7"));
    ASSERT_EQ(document.rejected.size(), 1u) << c.metric << ' ' << c.value;
    EXPECT_EQ(document.rejected[0].line, 1u);
    EXPECT_EQ(document.rejected[0].column, c.metric);
    EXPECT_EQ(document.rejected[0].file, "metrics.prom");
    ASSERT_EQ(document.usages.size(), 1u);  // the good row is not lost
    EXPECT_EQ(document.usages[0].memory_used_bytes, 7 * kMib);
  }
}

TEST(Dcgm, CopiesForPodsAreRecognisedAndNotSummed) {
  const Document document =
      parsed(sample("DCGM_FI_DEV_FB_USED", "100", ",pod=\"a\",namespace=\"x\"") +
             sample("DCGM_FI_DEV_FB_USED", "100", ",pod=\"b\",namespace=\"x\"") +
             sample("DCGM_FI_DEV_FB_USED", "100") +
             sample("DCGM_FI_DEV_FB_USED", "100", ",container=\"again\""));
  ASSERT_EQ(document.usages.size(), 3u);
  EXPECT_EQ(document.usages[0].workload.text(), "");
  EXPECT_EQ(document.usages[1].workload.text(), "x/a");
  EXPECT_EQ(document.usages[2].workload.text(), "x/b");
  for (const Usage& usage : document.usages) EXPECT_EQ(usage.memory_used_bytes, 100 * kMib);
  EXPECT_EQ(document.counts.copies, 1u);
  EXPECT_EQ(document.counts.shared_devices, 1u);
  EXPECT_EQ(document.gpus.size(), 1u);
}

TEST(Dcgm, TwoValuesOfOneThingConflict) {
  const Document document =
      parsed(sample("DCGM_FI_DEV_FB_USED", "100") + sample("DCGM_FI_DEV_FB_USED", "101"));
  ASSERT_EQ(document.usages.size(), 1u);
  EXPECT_EQ(document.usages[0].memory_used_bytes, 100 * kMib);
  ASSERT_EQ(document.rejected.size(), 1u);
  EXPECT_EQ(document.rejected[0].line, 2u);
}

TEST(Dcgm, Workloads) {
  struct Case {
    const char* labels;
    const char* want;
  };
  constexpr Case kCases[] = {
      {",pod=\"p\",namespace=\"n\"", "n/p"},
      {",pod_name=\"p\",pod_namespace=\"n\"", "n/p"},
      {",pod=\"p\"", "p"},
      {",pod=\"nvidia-dcgm-exporter-x1\",namespace=\"gpu-operator\"", ""},
      {",pod=\"nvidia-dcgm-exporter-x1\",namespace=\"gpu-operator\",exported_pod=\"p\","
       "exported_namespace=\"n\"",
       "n/p"},
      {",pod=\"someone\",namespace=\"n\",exported_pod=\"\"", ""},
      {",hpc_job=\"123\"", "123"},
  };
  for (const Case& c : kCases) {
    const Document document = parsed(sample("DCGM_FI_DEV_FB_USED", "1", c.labels));
    ASSERT_EQ(document.usages.size(), 1u) << c.labels;
    EXPECT_EQ(document.usages[0].workload.text(), c.want) << c.labels;
  }
}

TEST(Dcgm, NewLabelNamesAndANodeFromTheOptions) {
  const std::string text =
      "DCGM_FI_DEV_FB_USED{gpu=\"3\",uuid=\"GPU-9\",hostname=\"n7\",modelName=\"NVIDIA H200\"} 1\n"
      "DCGM_FI_DEV_FB_TOTAL{gpu=\"3\",uuid=\"GPU-9\",hostname=\"n7\",modelName=\"NVIDIA H200\"} "
      "2\n";
  const Document by_label = parsed(text);
  ASSERT_EQ(by_label.gpus.size(), 1u);
  EXPECT_EQ(by_label.gpus[0].node.text(), "n7");
  EXPECT_EQ(by_label.gpus[0].index, 3u);
  EXPECT_EQ(by_label.gpus[0].memory_bytes, 2 * kMib);
  Options named = options();
  named.node = NodeId("real");
  EXPECT_EQ(parse(text, named)->gpus[0].node.text(), "real");
}

TEST(Dcgm, TimestampsOfBothDialects) {
  const Document prometheus = parsed("DCGM_FI_DEV_FB_USED{UUID=\"G\"} 1 1700000001500\n");
  EXPECT_EQ(prometheus.usages.at(0).at, from_unix_ms(1'700'000'001'500));
  const Document open_metrics =
      parsed("DCGM_FI_DEV_FB_USED{UUID=\"G\"} 1 1700000001.5 # {trace=\"x\"} 3\n# EOF\n");
  EXPECT_EQ(open_metrics.usages.at(0).at, from_unix_ms(1'700'000'001'500));
  EXPECT_EQ(open_metrics.gpus.at(0).from, from_unix_ms(1'700'000'001'500));
  for (const char* at : {"-1", "1.5", "x", "99999999999999999"}) {
    const Document bad = parsed("DCGM_FI_DEV_FB_USED{UUID=\"G\"} 1 " + std::string(at) + "\n");
    EXPECT_EQ(bad.rejected.size(), 1u) << at;
  }
}

TEST(Dcgm, TheGrammar) {
  const Document document = parsed(
      "\xEF\xBB\xBF# HELP x y\r\n\r\n  # TYPE x gauge\r\nup 1\r\n"
      "\tDCGM_FI_DEV_FB_USED { UUID = \"G\" , modelName=\"a\\\\b\\\"c\\nd\", } \t 5 \t\r\n");
  EXPECT_TRUE(document.rejected.empty()) << document.rejected.at(0).reason;
  ASSERT_EQ(document.gpus.size(), 1u);
  EXPECT_EQ(document.gpus[0].model, "a\\b\"c\nd");
  EXPECT_EQ(document.counts.other_metrics, 1u);
}

TEST(Dcgm, BrokenLinesAreKeptAsideAndTheRestIsRead) {
  for (const std::string line :
       {"DCGM_FI_DEV_FB_USED{UUID=\"G\"}", "DCGM_FI_DEV_FB_USED{UUID=\"G\" 5",
        "DCGM_FI_DEV_FB_USED{UUID=\"G", "DCGM_FI_DEV_FB_USED{UUID=G} 5",
        "DCGM_FI_DEV_FB_USED{UUID=\"\\x\"} 5", "DCGM_FI_DEV_FB_USED{UUID=\"G\",UUID=\"G\"} 5",
        "DCGM_FI_DEV_FB_USED{=\"G\"} 5", "DCGM_FI_DEV_FB_USED{,} 5", "DCGM_FI_DEV_FB_USED{UUID} 5",
        "DCGM_FI_DEV_FB_USED{UUID=\"G\"} 5 6 7", "DCGM_FI_DEV_FB_USED{UUID=\"G\"} five",
        "DCGM_FI_DEV_FB_USED{gpu=\"0\"} 5", "DCGM_FI_DEV_FB_USED 5", "DCGM-FB 5", "{a=\"b\"} 5",
        "DCGM_FI_DEV_FB_USED{UUID=\"G\",gpu=\"x\"} 5", "DCGM_FI_DEV_FB_USED{UUID=\"G\xFF\"} 5",
        "NULL,NULL", "123"}) {
    const Document document = parsed(line + "\n" + sample("DCGM_FI_DEV_FB_USED", "7"));
    ASSERT_EQ(document.rejected.size(), 1u) << line;
    EXPECT_EQ(document.rejected[0].line, 1u) << line;
    EXPECT_FALSE(document.rejected[0].reason.empty());
    EXPECT_EQ(document.usages.size(), 1u) << line;
  }
}

TEST(Dcgm, ALineOverTheLimitIsRejectedAndCut) {
  const Document document = parsed("x{a=\"" + std::string(10u << 20, 'y') + "\"} 1\n" +
                                   sample("DCGM_FI_DEV_FB_USED", "7"));
  ASSERT_EQ(document.rejected.size(), 1u);
  EXPECT_EQ(document.rejected[0].text.size(), 4096u);
  EXPECT_EQ(document.usages.size(), 1u);
}

TEST(Dcgm, ADocumentThatIsNoneIsAnError) {
  using namespace std::string_view_literals;
  for (const auto text : {""sv, "\n\n"sv, "# EOF\n"sv, "up 1\n"sv, "\x1F\x8B\x00\x01"sv}) {
    const auto document = parse(text, options());
    ASSERT_FALSE(document) << text;
    EXPECT_EQ(document.error().code, ErrorCode::kBadFile);
    EXPECT_TRUE(document.error().message.starts_with("metrics.prom: ")) << document.error().message;
  }
}

TEST(Dcgm, SamplesWithoutATimeNeedOne) {
  const std::string text = "DCGM_FI_DEV_GPU_UTIL{gpu=\"0\",UUID=\"GPU-1\",Hostname=\"n1\"} 5\n";
  EXPECT_EQ(parsed(text).counts.timeless, 1u);
  Options timeless = options();
  timeless.at.reset();
  const auto refused = parse(text, timeless);
  ASSERT_TRUE(refused);
  EXPECT_TRUE(refused->usages.empty());
  ASSERT_EQ(refused->rejected.size(), 1u);
  EXPECT_NE(refused->rejected[0].reason.find("--at"), std::string::npos);
}

TEST(Dcgm, TheOrderOfLinesDoesNotMatter) {
  const std::string text = read_file("t4_two_gpu_one_pod.prom");
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line + "\n");
  std::string reversed;
  for (auto line = lines.rbegin(); line != lines.rend(); ++line) reversed += *line;
  Document there = parsed(text);
  Document here = parsed(reversed);
  const auto without_lines = [](Document& document) {
    for (Gpu& gpu : document.gpus) gpu.source = {};
    for (Usage& usage : document.usages) usage.source = {};
  };
  without_lines(there);
  without_lines(here);
  EXPECT_EQ(there.gpus, here.gpus);
  EXPECT_EQ(there.usages, here.usages);
  EXPECT_EQ(there.counts, here.counts);
}

}  // namespace
}  // namespace pennyweight::dcgm
