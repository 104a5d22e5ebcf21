// Measures how fast the DuckDB store returns telemetry in the order of an allocation, in samples a
// second, on a given number of threads.
//
//   bench_store_usage --gpus 2000 --threads 2 --folder /tmp/bench
//
// A day of one-minute samples, imported minute by minute as exporters deliver them, so that the
// order of the scan differs from that of the file. Numbers: see the commits that changed this.
#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "ledger/store/duckdb/duckdb_store.h"

namespace pennyweight {
namespace {

constexpr std::uint64_t kMinutes = 1440;

Usage sample(std::uint64_t gpu, std::uint64_t minute) {
  const std::string digits = std::to_string(gpu * 0x9e3779b97f4a7c15 % 100'000'000);
  return {.cluster = ClusterId("prod"),
          .node = NodeId("gpu-node-" + std::to_string(gpu / 8)),
          .gpu = GpuId("GPU-" + digits + "-5a0c-4c1e-9d2b-" + std::to_string(gpu)),
          .mig_instance = {},
          .mig_profile = {},
          .model = "NVIDIA H100 80GB HBM3",
          .at = *parse_instant("2026-03-01") + std::chrono::minutes(minute),
          .gpu_util_ppm = {},
          .engine_active_ppm = (gpu * 7919 + minute * 104'729) % 1'000'000,
          .sm_active_ppm = {},
          .memory_used_bytes = (gpu + minute * 65'537) << 16,
          .memory_total_bytes = 80ull << 30,
          .power_milliwatts = {},
          .energy_millijoules = {},
          .workload = WorkloadId("ml/train-" + std::to_string(gpu / 8)),
          .of_workload = false,
          .id = {},
          .source = {}};
}

bool fill(Store& store, std::uint64_t gpus) {
  auto session = store.begin_import({"dcgm", "metrics", {}, Instant()});
  if (!session) return false;
  std::vector<Usage> batch;
  for (std::uint64_t minute = 0; minute < kMinutes; ++minute) {
    batch.clear();
    for (std::uint64_t gpu = 0; gpu < gpus; ++gpu) batch.push_back(sample(gpu, minute));
    if (!(*session)->append_usages(batch)) return false;
  }
  const auto outcome = (*session)->commit();
  return outcome && outcome->usages.created == gpus * kMinutes;
}

int run(std::uint64_t gpus, std::uint32_t threads, const std::string& folder) {
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  auto store = open_duckdb_store({.path = folder + "/ledger.duckdb", .threads = threads});
  if (!store || !fill(**store, gpus)) return 1;
  const Interval day(*parse_instant("2026-03-01"), *parse_instant("2026-03-02"));
  for (int round = 0; round < 3; ++round) {
    std::uint64_t rows = 0;
    const auto begin = std::chrono::steady_clock::now();
    const auto scanned = (*store)->scan_usage(ClusterId("prod"), day, UsageDetail::kShares,
                                              [&](std::span<const Usage> some) {
                                                rows += some.size();
                                                return true;
                                              });
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
    if (!scanned || rows != gpus * kMinutes) return 1;
    rusage use{};
    getrusage(RUSAGE_SELF, &use);
    std::printf("%llu samples in %.2f s, %.2f million a second, %ld MiB at most\n",
                static_cast<unsigned long long>(rows), passed.count(),
                static_cast<double>(rows) / passed.count() / 1e6, use.ru_maxrss / 1024);
  }
  store->reset();
  std::filesystem::remove_all(folder);
  return 0;
}

}  // namespace
}  // namespace pennyweight

int main(int argc, char** argv) {
  std::uint64_t gpus = 2000, threads = 0;
  std::string folder = (std::filesystem::temp_directory_path() / "bench_store_usage").string();
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--gpus") == 0) gpus = std::strtoull(argv[i + 1], nullptr, 10);
    if (std::strcmp(argv[i], "--threads") == 0) threads = std::strtoull(argv[i + 1], nullptr, 10);
    if (std::strcmp(argv[i], "--folder") == 0) folder = argv[i + 1];
  }
  return pennyweight::run(gpus, static_cast<std::uint32_t>(threads), folder);
}
