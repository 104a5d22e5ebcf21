#include "ingest_fleet.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace pennyweight::bench {
namespace {

enum Metric : std::uint32_t { kSmClock, kTemperature, kPower, kEnergy, kXid, kUtil, kFree, kUsed };

constexpr std::array<const char*, kMetrics> kNames = {"DCGM_FI_DEV_SM_CLOCK",
                                                      "DCGM_FI_DEV_GPU_TEMP",
                                                      "DCGM_FI_DEV_POWER_USAGE",
                                                      "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION",
                                                      "DCGM_FI_DEV_XID_ERRORS",
                                                      "DCGM_FI_DEV_GPU_UTIL",
                                                      "DCGM_FI_DEV_FB_FREE",
                                                      "DCGM_FI_DEV_FB_USED",
                                                      "DCGM_FI_PROF_GR_ENGINE_ACTIVE",
                                                      "DCGM_FI_PROF_SM_ACTIVE",
                                                      "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE",
                                                      "DCGM_FI_PROF_DRAM_ACTIVE"};

// splitmix64: the same numbers everywhere.
std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

// A number below `range` for a GPU at a scrape.
std::uint64_t noise(std::uint32_t gpu, std::uint32_t scrape, std::uint32_t what,
                    std::uint64_t range) {
  return mix((std::uint64_t{gpu} << 32 | scrape) * 31 + what) % range;
}

// Jobs come and go: a GPU is usually busy for periods of forty scrapes.
bool is_busy(std::uint32_t gpu, std::uint32_t scrape) {
  return noise(gpu, scrape / 40, 99, 10) < 7;
}

double power_watts(std::uint32_t gpu, std::uint32_t scrape) {
  const std::uint64_t milliwatts = is_busy(gpu, scrape)
                                       ? 450'000 + noise(gpu, scrape, kPower, 240'000)
                                       : 68'000 + noise(gpu, scrape, kPower, 4'000);
  return static_cast<double>(milliwatts) / 1000;
}

// Six decimals, as the exporter prints ratios.
double share(std::uint32_t gpu, std::uint32_t metric, std::uint32_t scrape) {
  if (!is_busy(gpu, scrape)) return 0;
  return static_cast<double>(300'000 + noise(gpu, scrape, metric, 700'000)) / 1e6;
}

}  // namespace

const char* metric_name(std::uint32_t metric) { return kNames[metric]; }

std::string node_name(std::uint32_t node) { return fmt::format("gpu-node-{:05}", node); }

std::string gpu_uuid(std::uint32_t gpu) {
  const std::uint64_t high = mix(gpu);
  const std::uint64_t low = mix(high);
  return fmt::format("GPU-{:08x}-{:04x}-{:04x}-{:04x}-{:012x}", high >> 32, high >> 16 & 0xffff,
                     high & 0xffff, low >> 48, low & 0xffff'ffff'ffff);
}

std::int64_t scrape_at_ms(const Fleet& fleet, std::uint32_t node, std::uint32_t scrape) {
  return fleet.start_ms + std::int64_t{scrape} * fleet.step_ms +
         static_cast<std::int64_t>(mix(node ^ 0xfeedu) % fleet.step_ms);
}

double value_of(std::uint32_t gpu, std::uint32_t metric, std::uint32_t scrape, const Fleet& fleet) {
  const bool busy = is_busy(gpu, scrape);
  constexpr std::uint64_t kTotalMib = 81'559;
  const std::uint64_t used_mib = busy ? 60'000 + noise(gpu, scrape / 40, kUsed, 20'000) : 4;
  switch (metric) {
    case kSmClock:
      return busy ? 1980 : 345;
    case kTemperature:
      return static_cast<double>((busy ? 55 : 30) + noise(gpu, scrape, kTemperature, 8));
    case kPower:
      return power_watts(gpu, scrape);
    case kEnergy:
      // Millijoules at 400 W on average; the counter never decreases.
      return static_cast<double>(std::uint64_t{scrape} * fleet.step_ms * 400 +
                                 noise(gpu, scrape, kEnergy, 1'000'000) + 27'151'028'000);
    case kXid:
      return 0;
    case kUtil:
      return std::floor(share(gpu, metric, scrape) * 100);
    case kFree:
      return static_cast<double>(kTotalMib - used_mib - 600);
    case kUsed:
      return static_cast<double>(used_mib);
    default:
      return share(gpu, metric, scrape);
  }
}

void add_series(prometheus::WriteRequestBuilder& body, const Fleet& fleet, std::uint32_t gpu,
                std::uint32_t metric, std::uint32_t scrape) {
  const std::uint32_t node = gpu / kGpusPerNode;
  const std::uint32_t index = gpu % kGpusPerNode;
  std::vector<prometheus::Label> labels = {
      {"__name__", kNames[metric]},
      {"DCGM_FI_DRIVER_VERSION", "550.90.07"},
      {"Hostname", node_name(node)},
      {"UUID", gpu_uuid(gpu)},
      {"cluster", fleet.cluster},
      {"device", fmt::format("nvidia{}", index)},
      {"gpu", std::to_string(index)},
      {"instance", fmt::format("10.{}.{}.{}:9400", node >> 16, node >> 8 & 255, node & 255)},
      {"job", "dcgm-exporter"},
      {"modelName", "NVIDIA H100 80GB HBM3"},
      {"pci_bus_id", fmt::format("00000000:{:02X}:00.0", 0x18 + index * 0x10)}};
  // Most GPUs are held by a pod of their own; Prometheus has no empty labels.
  if (mix(gpu) % 10 < 8) {
    labels.push_back({"container", "main"});
    labels.push_back({"namespace", fmt::format("team-{}", node % 40)});
    labels.push_back({"pod", fmt::format("train-{:05x}-worker-{}", mix(node) >> 44, index)});
  }
  std::ranges::sort(labels);
  const prometheus::Sample sample{scrape_at_ms(fleet, node, scrape),
                                  value_of(gpu, metric, scrape, fleet)};
  body.add(labels, {&sample, 1});
}

std::string exposition_of(const Fleet& fleet, std::uint32_t node, std::uint32_t scrape) {
  std::string text;
  const std::uint32_t end = std::min(fleet.gpus, (node + 1) * kGpusPerNode);
  for (std::uint32_t metric = 0; metric < kMetrics; ++metric) {
    const char* const name = kNames[metric];
    text += fmt::format("# HELP {} What the exporter says of it.\n# TYPE {} {}\n", name, name,
                        metric == kEnergy ? "counter" : "gauge");
    for (std::uint32_t gpu = node * kGpusPerNode; gpu < end; ++gpu) {
      const std::uint32_t index = gpu % kGpusPerNode;
      const bool held = mix(gpu) % 10 < 8;
      text += fmt::format(
          "{}{{gpu=\"{}\",UUID=\"{}\",pci_bus_id=\"00000000:{:02X}:00.0\",device=\"nvidia{}\","
          "modelName=\"NVIDIA H100 80GB HBM3\",Hostname=\"{}\",DCGM_FI_DRIVER_VERSION="
          "\"550.90.07\",container=\"{}\",namespace=\"{}\",pod=\"{}\"}} {}\n",
          name, index, gpu_uuid(gpu), 0x18 + index * 0x10, index, node_name(node),
          held ? "main" : "", held ? fmt::format("team-{}", node % 40) : "",
          held ? fmt::format("train-{:05x}-worker-{}", mix(node) >> 44, index) : "",
          value_of(gpu, metric, scrape, fleet));
    }
  }
  return text;
}

}  // namespace pennyweight::bench
