// Sample facts, and helpers for the tests of the stores.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "ledger/store.h"
#include "ledger/store/duckdb/duckdb_store.h"
#include "testing/memory_store/memory_store.h"

namespace pennyweight::sample {

// A folder of its own, removed with the object.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    static std::atomic<int> counter{0};
    path_ = std::filesystem::temp_directory_path() /
            ("pennyweight_store_" + std::to_string(::getpid()) + "_" + std::to_string(++counter));
    std::filesystem::create_directories(path_);
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

template <class T>
T must(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message);
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

inline std::unique_ptr<Store> open_file(const std::string& path) {
  return must(open_duckdb_store({.path = path, .memory_bytes_max = 256u << 20, .threads = 1}));
}

inline Instant at(const char* text) { return must(parse_instant(text)); }
inline Interval march() { return Interval(at("2026-03-01"), at("2026-04-01")); }

inline Costs costs(std::int64_t units, Currency currency = kUsd) {
  return {Money::from_units(units, currency), Money::from_units(units + 1, currency),
          Money::from_units(units + 2, currency), Money::from_units(units + 3, currency)};
}

inline Charge charge(const std::string& resource, std::int64_t units, std::uint64_t line = 1) {
  Charge made(march(), march(), costs(units));
  made.resource_id = resource;
  made.source.line = line;
  return made;
}

inline Holding holding(const std::string& workload, const char* from, const char* to,
                       bool ended = true) {
  Holding made(ClusterId("philly"), WorkloadId(workload), Interval(at(from), at(to)),
               InPool{{PoolId("v100")}, 2});
  made.ended = ended;
  return made;
}

inline Node node(const std::string& name, const std::string& type = "p5.48xlarge") {
  return {.cluster = ClusterId("philly"),
          .name = NodeId(name),
          .provider_id = "i-" + name,
          .instance_type = type,
          .region = "us-east-1",
          .pool = PoolId("gpu"),
          .gpu_model = "H100",
          .gpu_count = 8,
          .shard_count = 0,
          .cpu_milli = 192'000,
          .memory_bytes = {},
          .from = at("2026-01-01"),
          .to = {},
          .id = {},
          .source = {}};
}

inline Gpu gpu(const std::string& uuid) {
  return {.cluster = ClusterId("philly"),
          .node = NodeId("n1"),
          .uuid = GpuId(uuid),
          .index = 3,
          .model = "NVIDIA H100 80GB HBM3",
          .memory_bytes = 80ull << 30,
          .mig_instances = {{GpuId("MIG-b"), "3g.40gb"}, {GpuId("MIG-a"), "3g.40gb"}},
          .from = at("2026-01-01"),
          .to = at("2026-06-01"),
          .id = {},
          .source = {}};
}

inline Usage usage(const std::string& uuid, const char* when) {
  return {.cluster = ClusterId("philly"),
          .node = NodeId("n1"),
          .gpu = GpuId(uuid),
          .mig_instance = "7",
          .mig_profile = "1g.10gb",
          .model = "H100",
          .at = at(when),
          .gpu_util_ppm = 0,
          .engine_active_ppm = {},
          .sm_active_ppm = 1'000'000,
          .memory_used_bytes = 1,
          .memory_total_bytes = ~std::uint64_t{1},
          .power_milliwatts = {},
          .energy_millijoules = 5,
          .workload = WorkloadId("ml/train-0"),
          .of_workload = false,
          .id = {},
          .source = {}};
}

inline Outage outage(const std::string& node, const char* from, const char* to) {
  Outage made(ClusterId("philly"), NodeId(node), Interval(at(from), at(to)));
  made.reason = "drained: replace fan";
  return made;
}

inline Correction correction(const std::string& name, std::int64_t units) {
  Correction made(ClusterId("philly"), name, Interval(at("2026-03-04"), at("2026-03-05")),
                  Money::from_units(units, kEur));
  made.reason = "booked on the wrong team";
  return made;
}

inline Outcome outcome(const std::string& workload, const char* from, std::uint64_t count) {
  Outcome made(ClusterId("philly"), WorkloadId(workload), "requests",
               Interval(at(from), at(from) + std::chrono::minutes(1)), count);
  CHECK(made.labels.set("model", "llama"), "a short label");
  made.part = 9;
  return made;
}

inline Posting posting(const FactId& charge, const std::string& workload, const Costs& amounts,
                       const char* day = "2026-03-04") {
  return {.charge = charge,
          .kind = workload.empty() ? PostingKind::kUnallocated : PostingKind::kUsed,
          .component = Component::kGpu,
          .interval = Interval(at(day), at(day) + std::chrono::hours(1)),
          .day = std::chrono::floor<std::chrono::days>(at(day)),
          .node = NodeId("n1"),
          .gpu = GpuId(""),
          .workload = WorkloadId(workload),
          .holding = {},
          .weight = 3,
          .costs = amounts,
          .gpu_time = GpuTime::of(1000),
          .memory_time = MemoryTime::of(UInt128{1} << 100),
          .observed_time = GpuTime::of(700)};
}

inline Run run(const std::string& cluster = "philly", const std::string& policy = "default") {
  return {.scope = {ClusterId(cluster), "2026-03"},
          .policy = policy,
          .policy_version = {1, 2},
          .catalog_version = {3, 4},
          .time_zone = "UTC",
          .program_version = "0.1.0",
          .at = at("2026-04-02T10:00:00Z"),
          .postings_digest = {}};
}

inline ImportSource source(const std::string& name = "bill.csv") {
  return {.format = "focus", .name = name, .file_hash = {5, 6}, .at = at("2026-04-01T09:00:00Z")};
}

inline ImportOutcome import_charges(Store& store, const std::vector<Charge>& charges,
                                    const std::string& name = "bill.csv") {
  const auto session = must(store.begin_import(source(name)));
  must(session->append_charges(charges));
  return must(session->commit());
}

inline Run keep_run(Store& store, const Run& made, const std::vector<Posting>& postings,
                    const std::vector<WorkloadDimensions>& dimensions = {}) {
  const auto session = must(store.begin_run(made));
  must(session->append_postings(postings));
  must(session->append_dimensions(dimensions));
  return must(session->commit());
}

inline std::vector<Posting> postings_in(Store& store, const Scope& scope) {
  std::vector<Posting> found;
  must(store.scan_postings(scope, [&](std::span<const Posting> some) {
    found.insert(found.end(), some.begin(), some.end());
    return true;
  }));
  return found;
}

inline std::vector<Charge> charges_of(Store& store, const std::string& month = "") {
  std::vector<Charge> found;
  must(store.scan_charges(month, [&](std::span<const Charge> some) {
    found.insert(found.end(), some.begin(), some.end());
    return true;
  }));
  return found;
}

inline std::vector<Holding> holdings_of(Store& store, const Interval& during) {
  std::vector<Holding> found;
  must(store.scan_holdings(ClusterId("philly"), during, [&](std::span<const Holding> some) {
    found.insert(found.end(), some.begin(), some.end());
    return true;
  }));
  return found;
}

inline std::vector<Usage> usages_of(Store& store, const Interval& during,
                                    const std::string& cluster = "philly",
                                    UsageDetail detail = UsageDetail::kAll) {
  std::vector<Usage> found;
  must(store.scan_usage(ClusterId(cluster), during, detail, [&](std::span<const Usage> some) {
    found.insert(found.end(), some.begin(), some.end());
    return true;
  }));
  return found;
}

inline std::vector<Outcome> outcomes_of(Store& store, const Interval& during,
                                        const std::string& cluster = "philly") {
  std::vector<Outcome> found;
  must(store.scan_outcomes(ClusterId(cluster), during, [&](std::span<const Outcome> some) {
    found.insert(found.end(), some.begin(), some.end());
    return true;
  }));
  return found;
}

inline std::vector<LineCheck> lines_of(Store& store, bool only_off = false,
                                       const std::string& month = "") {
  std::vector<LineCheck> found;
  must(store.reconcile(month, only_off, [&](const LineCheck& line) {
    found.push_back(line);
    return true;
  }));
  return found;
}

inline std::vector<ReconcileTotals> totals_of(Store& store, const std::string& month = "") {
  return must(store.reconcile(month, true, [](const LineCheck&) { return true; }));
}

inline Labels labels(const std::vector<Labels::Entry>& entries) {
  Labels made;
  for (const auto& [key, value] : entries) must(made.set(key, value));
  return made;
}

}  // namespace pennyweight::sample
