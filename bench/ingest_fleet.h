// A synthetic fleet as Prometheus would send it by remote_write 1.0: nodes of eight GPUs, the
// twelve metrics that a charge or a KPI needs, labels as dcgm-exporter writes them and as a scrape
// adds to them, one scrape of each node every interval.
//
// Every value is a pure function of the GPU and of the scrape's number, so that a
// receiver can be checked for what it must have. Floating point is fine here: these are
// measurements.
#pragma once

#include <cstdint>
#include <string>

#include "telemetry/prometheus/write_request.h"

namespace pennyweight::bench {

inline constexpr std::uint32_t kGpusPerNode = 8;
inline constexpr std::uint32_t kMetrics = 12;

struct Fleet {
  std::uint32_t gpus = 0;
  std::int64_t start_ms = 0;       // of the first interval, Unix time
  std::uint32_t step_ms = 30'000;  // between the scrapes of one node
  std::string cluster = "bench";
};

// Nodes are scraped at different times of the interval, as Prometheus spreads them.
std::int64_t scrape_at_ms(const Fleet& fleet, std::uint32_t node, std::uint32_t scrape);

std::string gpu_uuid(std::uint32_t gpu);
std::string node_name(std::uint32_t node);
const char* metric_name(std::uint32_t metric);

// The value of metric 0 … kMetrics - 1 of a GPU at a scrape, in the exporter's unit.
double value_of(std::uint32_t gpu, std::uint32_t metric, std::uint32_t scrape, const Fleet& fleet);

// Adds one series with its one sample of that scrape.
void add_series(prometheus::WriteRequestBuilder& body, const Fleet& fleet, std::uint32_t gpu,
                std::uint32_t metric, std::uint32_t scrape);

// A node's exposition at a scrape, as dcgm-exporter prints it.
std::string exposition_of(const Fleet& fleet, std::uint32_t node, std::uint32_t scrape);

}  // namespace pennyweight::bench
