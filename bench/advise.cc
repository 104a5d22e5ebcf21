// Measures advice for a large fleet from its ledger: --gpus GPUs with a sample a minute for --days.
//
//   bench_advise --gpus 10000 --days 30 --threads 2 --folder /tmp/bench
//
// Nodes have eight GPUs, a line of the bill and a job each day; of ten nodes, one is held and idle,
// one does nothing at night, and one is held by nobody. Facts are imported, samples are written in
// SQL into the table of the store. Prints the seconds and the processor seconds that advice takes,
// and the most memory that the process ever had; the ledger is kept with --keep 1.
#include <fmt/format.h>
#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "allocation/policy/default_policy.h"
#include "core/duckdb/database.h"
#include "core/try.h"
#include "insight/queries/advice_query.h"
#include "ledger/store/duckdb/duckdb_store.h"

namespace pennyweight {
namespace {

using Clock = std::chrono::steady_clock;

struct Options {
  std::uint64_t gpus = 1000;
  int days = 3;
  std::uint32_t threads = 2;
  std::string folder = "/tmp/bench_advise";
  bool keep = false;
};

const Instant kBegin = parse_instant("2026-03-01").value();
constexpr std::uint64_t kGpusPerNode = 8;

std::string node_name(std::uint64_t node) { return fmt::format("gpu-node-{:05}", node); }

Result<void> fill_facts(Store& store, const Options& options) {
  auto session = TRY(store.begin_import({"bench", "facts", {}, Instant()}));
  const std::uint64_t nodes = options.gpus / kGpusPerNode;
  std::vector<Charge> charges;
  std::vector<Node> machines;
  std::vector<Gpu> gpus;
  std::vector<Holding> holdings;
  const Money price = Money::from_decimal(Decimal::from_units(480), kUsd);
  for (std::uint64_t node = 0; node < nodes; ++node) {
    Node& machine = machines.emplace_back(Node{.cluster = ClusterId("prod"),
                                               .name = NodeId(node_name(node)),
                                               .provider_id = node_name(node),
                                               .instance_type = "p4de.24xlarge",
                                               .region = "us-east-1",
                                               .pool = PoolId("gpu"),
                                               .gpu_model = "A100-SXM4-80GB",
                                               .gpu_count = kGpusPerNode,
                                               .cpu_milli = 96'000,
                                               .memory_bytes = std::uint64_t{1152} << 30,
                                               .from = kBegin,
                                               .to = {},
                                               .id = {},
                                               .source = {}});
    for (std::uint32_t index = 0; index < kGpusPerNode; ++index) {
      gpus.push_back(Gpu{.cluster = ClusterId("prod"),
                         .node = machine.name,
                         .uuid = GpuId(fmt::format("GPU-{:08}", node * kGpusPerNode + index)),
                         .index = index,
                         .model = "A100-SXM4-80GB",
                         .memory_bytes = {},
                         .mig_instances = {},
                         .from = kBegin,
                         .to = {},
                         .id = {},
                         .source = {}});
    }
    for (int day = 0; day < options.days; ++day) {
      const Instant begin = kBegin + std::chrono::hours(24 * day);
      const Interval during(begin, begin + std::chrono::hours(24));
      Charge& charge = charges.emplace_back(Interval(kBegin, parse_instant("2026-04-01").value()),
                                            during, Costs{price, price, price, price});
      charge.resource_id = machine.provider_id;
      charge.service_category = "Compute";
      charge.pricing_category = PricingCategory::kStandard;
      charge.billing_account_id = "bench";
      if (node % 10 == 9) continue;
      Holding& holding =
          holdings.emplace_back(ClusterId("prod"), WorkloadId(fmt::format("job-{}-{}", node, day)),
                                during, OnNodes{{{machine.name, kGpusPerNode}}});
      holding.labels.set("user", fmt::format("user-{:03}", node % 300)).value();
      holding.labels.set("job_name", fmt::format("run-{:04}", node % 700)).value();
    }
  }
  TRY(session->append_nodes(machines));
  TRY(session->append_gpus(gpus));
  TRY(session->append_holdings(holdings));
  TRY(session->append_charges(charges));
  Usage one{.cluster = ClusterId("prod"),
            .node = NodeId("prototype"),
            .gpu = GpuId("prototype"),
            .mig_instance = {},
            .mig_profile = {},
            .model = "A100-SXM4-80GB",
            .at = kBegin,
            .gpu_util_ppm = 1,
            .engine_active_ppm = 1,
            .sm_active_ppm = 1,
            .memory_used_bytes = 1,
            .memory_total_bytes = std::uint64_t{80} << 30,
            .power_milliwatts = 1,
            .energy_millijoules = {},
            .workload = WorkloadId(""),
            .span_ms = 60'000,
            .id = {},
            .source = {}};
  one.dram_active_ppm = 1;
  const std::vector<Usage> prototype = {one};
  TRY(session->append_usages(prototype));
  std::ignore = TRY(session->commit());
  return {};
}

// From the one sample that was imported; a day at a time, so that it fits into memory.
Result<void> fill_samples(const Options& options, const std::string& path) {
  auto database = TRY(duckdb::Database::open({.path = path, .threads = options.threads}));
  auto connection = TRY(database.connect());
  TRY(connection.execute("CREATE TEMP TABLE one AS SELECT * FROM usages"));
  TRY(connection.execute("DELETE FROM usages"));
  TRY(connection.execute(
      fmt::format("CREATE TEMP TABLE names AS SELECT g, printf('gpu-node-%05d', g // 8) AS node, "
                  "printf('GPU-%08d', g) AS gpu FROM range({}) u(g)",
                  options.gpus)));
  for (int day = 0; day < options.days; ++day) {
    TRY(connection.execute(fmt::format(
        "INSERT INTO usages SELECT o.* REPLACE (gen_random_uuid() AS usage_id, "
        "n.node AS node, n.gpu AS gpu, "
        "o.observed_at + INTERVAL (m) MINUTE AS observed_at, "
        "(CASE WHEN g // 8 % 10 = 8 OR (g // 8 % 10 = 7 AND m % 1440 < 480) THEN 0 ELSE 200000 + "
        "hash(g, m) % 700000 END)::UBIGINT AS sm_active_ppm, "
        "(100000 + hash(m, g) % 300000)::UBIGINT AS dram_active_ppm, "
        "(hash(g) % 70 * 1073741824 + hash(g, m // 60) % 1073741824)::UBIGINT AS "
        "memory_used_bytes) FROM one o, range({}, {}) t(m), names n",
        day * 1440, (day + 1) * 1440)));
  }
  TRY(connection.execute("CHECKPOINT"));
  return {};
}

double processor_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

Result<int> run(const Options& options) {
  std::filesystem::create_directories(options.folder);
  const std::string path = options.folder + "/advise.ledger";
  const bool is_there = options.keep && std::filesystem::exists(path);
  if (!is_there) {
    std::filesystem::remove(path);
    {
      auto store = TRY(open_duckdb_store({.path = path, .threads = options.threads}));
      TRY(fill_facts(*store, options));
    }
    TRY(fill_samples(options, path));
  }
  auto store =
      TRY(open_duckdb_store({.path = path, .threads = options.threads, .read_only = true}));
  const Policy policy = default_policy();
  const Catalog catalog = Catalog::built_in();
  const double before = processor_seconds();
  const Clock::time_point begin = Clock::now();
  const AdviceResult advice = TRY(query_advice(
      *store, {.month = "2026-03", .kinds = {}, .prices_at = parse_instant("2026-07-31").value()},
      {.policy = policy, .catalog = catalog, .join_rules = {}}));
  const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const std::uint64_t samples =
      options.gpus * static_cast<std::uint64_t>(options.days) * std::uint64_t{1440};
  fmt::print(
      "{{\"gpus\": {}, \"days\": {}, \"samples\": {}, \"proposals\": {}, \"seconds\": {:.1f}, "
      "\"processor_seconds\": {:.1f}, \"peak_mib\": {}, \"ledger_mib\": {}}}\n",
      options.gpus, options.days, samples, advice.proposals.size(), seconds,
      processor_seconds() - before, usage.ru_maxrss / 1024, std::filesystem::file_size(path) >> 20);
  if (!options.keep) std::filesystem::remove(path);
  // With a week of records, the idle, the nightly and the unneeded nodes are found.
  return options.days >= 7 && advice.proposals.size() < 2 ? 1 : 0;
}

}  // namespace
}  // namespace pennyweight

int main(int argc, char** argv) {
  pennyweight::Options options;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string name = argv[i], value = argv[i + 1];
    if (name == "--gpus") {
      options.gpus = std::strtoull(value.c_str(), nullptr, 10);
    } else if (name == "--days") {
      options.days = std::atoi(value.c_str());
    } else if (name == "--threads") {
      options.threads = static_cast<std::uint32_t>(std::strtoul(value.c_str(), nullptr, 10));
    } else if (name == "--folder") {
      options.folder = value;
    } else if (name == "--keep") {
      options.keep = value == "1";
    } else {
      fmt::print(stderr, "there is no option {}\n", name);
      return 2;
    }
  }
  const auto done = pennyweight::run(options);
  if (done) return *done;
  std::fprintf(stderr, "%s\n", done.error().message.c_str());
  return 1;
}
