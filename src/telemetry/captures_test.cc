// Real scrapes, through the parser and the classification: the figures of each capture.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "telemetry/classification.h"
#include "telemetry/prometheus/exposition.h"

namespace pennyweight::telemetry {
namespace {

constexpr std::uint64_t kMib = 1u << 20;

class Captured : public prometheus::SeriesSink {
 public:
  explicit Captured(const std::string& file) {
    std::ifstream in(std::string(TEST_DATA) + "/" + file, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    const auto report =
        prometheus::parse_exposition(prometheus::ExpositionFormat::kText, text.str(), {},
                                     {.scraped_at = from_unix_seconds(1'700'000'000)}, *this);
    EXPECT_TRUE(report);
    EXPECT_EQ(report->bad, 0u) << file;
    EXPECT_GT(report->samples, 10u) << file;
  }

  void series(const Hash128&, const prometheus::EncodedLabels& encoded,
              std::span<const prometheus::Sample> samples) override {
    std::vector<prometheus::Label> labels;
    ASSERT_TRUE(encoded.decode(labels));
    const Classification meaning = classify_series(labels, {.cluster = ClusterId("c")});
    EXPECT_FALSE(std::holds_alternative<Unusable>(meaning));
    const auto* device = std::get_if<DeviceSeries>(&meaning);
    if (device == nullptr || device->is_description) return;
    gpus.insert(device->gpu.text());
    if (!device->mig_instance.empty()) {
      instances.insert(device->gpu.text() + "/" + device->mig_instance);
    }
    const double value = samples[0].value;
    EXPECT_FALSE(is_blank(device->quantity, value)) << to_text(device->quantity);
    EXPECT_TRUE(value >= device->least && value <= device->most) << to_text(device->quantity);
    values[device->quantity].insert(
        static_cast<std::uint64_t>(std::llround(value * device->scale)));
    workloads.insert(device->workload.text());
    nodes.insert(device->node.text());
  }

  std::multiset<std::uint64_t> used_mib() {
    std::multiset<std::uint64_t> mib;
    for (const std::uint64_t bytes : values[Quantity::kMemoryUsed]) mib.insert(bytes / kMib);
    return mib;
  }

  std::set<std::string> gpus;
  std::set<std::string> instances;
  std::set<std::string> workloads;
  std::set<std::string> nodes;
  std::map<Quantity, std::multiset<std::uint64_t>> values;
};

using Numbers = std::multiset<std::uint64_t>;

// GPUs; MIG instances; FB_USED by series, in MiB, from the README of the captures.
TEST(Captures, A100UnderMigActive) {
  Captured seen("dcgm/a100_mig_active_1g5gb.prom");
  EXPECT_EQ(seen.gpus.size(), 1u);
  EXPECT_EQ(seen.instances.size(), 1u);
  EXPECT_EQ(seen.used_mib(), Numbers{4384});
  EXPECT_EQ(seen.values[Quantity::kEngineActive], Numbers{999'892});
  EXPECT_EQ(seen.values[Quantity::kPower], Numbers{115'294});
  EXPECT_EQ(seen.values[Quantity::kEnergy], Numbers{27'151'028});
  EXPECT_EQ(seen.nodes, std::set<std::string>{""}) << "the exporter's pod is no node";
}

TEST(Captures, A100UnderMigIdle) {
  Captured seen("dcgm/a100_mig_idle_1g5gb.prom");
  EXPECT_EQ(seen.gpus.size(), 1u);
  EXPECT_EQ(seen.instances.size(), 1u);
  EXPECT_EQ(seen.used_mib(), Numbers{6});
}

TEST(Captures, TwoT4WithOnePod) {
  Captured seen("dcgm/t4_two_gpu_one_pod.prom");
  EXPECT_EQ(seen.gpus.size(), 2u);
  EXPECT_TRUE(seen.instances.empty());
  EXPECT_EQ(seen.used_mib(), (Numbers{128, 5}));
  EXPECT_EQ(seen.workloads,
            (std::set<std::string>{
                "", "runai-reservation/runai-reservation-gpu-qa-mig-worker-gpu-1-kvltw"}));
}

TEST(Captures, H100UnderMigByNvidiaGpuExporter) {
  Captured seen("telemetry/h100_mig_load.metrics");
  EXPECT_EQ(seen.gpus, std::set<std::string>{"GPU-00000000-0000-0000-0000-000000000000"});
  EXPECT_EQ(seen.used_mib(), Numbers{11'125});
  EXPECT_TRUE(seen.values[Quantity::kGpuUtil].empty()) << "there is none under MIG";
  EXPECT_EQ(seen.values[Quantity::kPower], (Numbers{433'780, 433'780, 447'350}));
  EXPECT_EQ(seen.values[Quantity::kSmClock], Numbers{1980});
  EXPECT_EQ(seen.values[Quantity::kTemperature], Numbers{53});
}

TEST(Captures, Rtx4080ByNvidiaGpuExporter) {
  Captured seen("telemetry/rtx_4080_load.metrics");
  EXPECT_EQ(seen.gpus.size(), 1u);
  EXPECT_EQ(seen.used_mib(), Numbers{1474});
  EXPECT_EQ(seen.values[Quantity::kGpuUtil], Numbers{70'000});
  EXPECT_EQ(seen.values[Quantity::kTemperature], Numbers{46});
}

}  // namespace
}  // namespace pennyweight::telemetry
