// Measures advice for a large fleet from its ledger: --gpus GPUs with a sample a minute for --days.
//
//   bench_advise --gpus 10000 --days 30 --threads 2 --folder /tmp/bench
//
// Nodes have eight GPUs, a line of the bill and a job each day; of ten nodes, one is held and idle,
// one does nothing at night, and one is held by nobody. Facts are imported, samples are written in
// SQL into the table of the store, hour by hour as exporters deliver them. Prints the seconds and
// the processor seconds that advice takes, the same after one more day has come, and the most
// memory that the process had while it advised; the ledger is kept with --keep 1. Ids of samples
// are all the same, which saves half of the file and is not read.
#include <fmt/format.h>
#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "allocation/policy/default_policy.h"
#include "core/duckdb/database.h"
#include "core/hash.h"
#include "core/try.h"
#include "insight/queries/advice_query.h"
#include "ledger/store/duckdb/duckdb_store.h"

namespace pennyweight {
namespace {

using Clock = std::chrono::steady_clock;

struct Options {
  std::uint64_t gpus = 1000;
  int days = 3;  // at least 2
  std::uint32_t threads = 2;
  std::string folder = "/tmp/bench_advise";
  bool keep = false;
};

const Instant kBegin = parse_instant("2026-03-01").value();
constexpr std::uint64_t kGpusPerNode = 8;

std::string node_name(std::uint64_t node) { return fmt::format("gpu-node-{:05}", node); }

// Of the days from `first` up to `end`.
Result<void> fill_facts(Store& store, const Options& options, int first, int end) {
  auto session = TRY(store.begin_import(
      {"bench", fmt::format("days from {}", first), {}, kBegin + std::chrono::hours(24 * first)}));
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
    for (int day = first; day < end; ++day) {
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
  TRY(session->append_holdings(holdings));
  TRY(session->append_charges(charges));
  if (first > 0) {
    std::ignore = TRY(session->commit());
    return {};
  }
  TRY(session->append_nodes(machines));
  TRY(session->append_gpus(gpus));
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

// From one sample that was imported; an hour at a time.
Result<void> fill_samples(const Options& options, const std::string& path, int first, int end) {
  auto database = TRY(duckdb::Database::open({.path = path, .threads = options.threads}));
  auto connection = TRY(database.connect());
  TRY(connection.execute("CREATE TEMP TABLE one AS SELECT * FROM usages LIMIT 1"));
  if (first == 0) TRY(connection.execute("DELETE FROM usages"));
  TRY(connection.execute(
      fmt::format("CREATE TEMP TABLE names AS SELECT g, printf('gpu-node-%05d', g // 8) AS node, "
                  "printf('GPU-%08d', g) AS gpu FROM range({}) u(g)",
                  options.gpus)));
  for (int hour = first * 24; hour < end * 24; ++hour) {
    TRY(connection.execute(fmt::format(
        "INSERT INTO usages SELECT o.* REPLACE (n.node AS node, n.gpu AS gpu, "
        "(TIMESTAMP '2026-03-01' + INTERVAL (m) MINUTE)::TIMESTAMP_MS AS observed_at, "
        "(CASE WHEN g // 8 % 10 = 8 OR (g // 8 % 10 = 7 AND m % 1440 < 480) THEN 0 ELSE 200000 + "
        "hash(g, m) % 700000 END)::UBIGINT AS sm_active_ppm, "
        "(100000 + hash(m, g) % 300000)::UBIGINT AS dram_active_ppm, "
        "(hash(g) % 70 * 1073741824 + hash(g, m // 60) % 1073741824)::UBIGINT AS "
        "memory_used_bytes) FROM one o, range({}, {}) t(m), names n",
        hour * 60, (hour + 1) * 60)));
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

// The most memory of the process since reset_peak(), in MiB.
std::uint64_t peak_mib() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return std::strtoull(line.c_str() + 6, nullptr, 10) >> 10;
  }
  return 0;
}
void reset_peak() { std::ofstream("/proc/self/clear_refs") << "5"; }

struct Measured {
  std::size_t proposals = 0;
  std::uint64_t digest = 0;  // of everything that they say
};

// Advice as it stands, with its figures on one line of JSON.
Result<Measured> measure(const Options& options, const std::string& path, AdviceCache& cache,
                         int days) {
  auto store =
      TRY(open_duckdb_store({.path = path, .threads = options.threads, .read_only = true}));
  const Policy policy = default_policy();
  const Catalog catalog = Catalog::built_in();
  reset_peak();
  const double before = processor_seconds();
  const Clock::time_point begin = Clock::now();
  const AdviceResult advice = TRY(query_advice(
      *store, {.month = "2026-03", .kinds = {}, .prices_at = parse_instant("2026-07-31").value()},
      {.policy = policy, .catalog = catalog, .join_rules = {}, .cache = &cache}));
  const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  std::uint64_t digest = 0;
  for (const advising::Proposal& each : advice.proposals) {
    std::string text = each.id + each.change + to_text(each.monthly.low.amount()) +
                       to_text(each.monthly.expected.amount()) + each.confidence_reason;
    for (const std::string& line : each.evidence) text += line;
    digest = digest * 31 + hash_of(text).low;
  }
  fmt::print(
      "{{\"gpus\": {}, \"days\": {}, \"samples\": {}, \"proposals\": {}, \"digest\": \"{:x}\", "
      "\"seconds\": {:.2f}, \"processor_seconds\": {:.2f}, \"peak_mib\": {}, \"ledger_mib\": "
      "{}}}\n",
      options.gpus, days, options.gpus * static_cast<std::uint64_t>(days) * std::uint64_t{1440},
      advice.proposals.size(), digest, seconds, processor_seconds() - before, peak_mib(),
      std::filesystem::file_size(path) >> 20);
  std::fflush(stdout);
  return Measured{advice.proposals.size(), digest};
}

// Everything of the days from `first` up to `end`.
Result<void> fill(const Options& options, const std::string& path, int first, int end) {
  {
    auto store = TRY(open_duckdb_store({.path = path, .threads = options.threads}));
    TRY(fill_facts(*store, options, first, end));
  }
  return fill_samples(options, path, first, end);
}

Result<int> run(const Options& options) {
  std::filesystem::create_directories(options.folder);
  const std::string path = options.folder + "/advise.ledger";
  const bool is_there = options.keep && std::filesystem::exists(path);
  if (!is_there) {
    std::filesystem::remove(path);
    TRY(fill(options, path, 0, options.days - 1));
  }
  AdviceCache cache;
  std::optional<Measured> resumed;
  if (!is_there) {
    std::ignore = TRY(measure(options, path, cache, options.days - 1));
    TRY(fill(options, path, options.days - 1, options.days));
    resumed = TRY(measure(options, path, cache, options.days));
  }
  // The whole of it, with nothing kept from before.
  AdviceCache none;
  const Measured whole = TRY(measure(options, path, none, options.days));
  if (!options.keep) std::filesystem::remove(path);
  if (resumed && resumed->digest != whole.digest) {
    fmt::print(stderr, "what was kept leads to other advice than the whole\n");
    return 1;
  }
  // With a week of records, the idle, the nightly and the unneeded nodes are found.
  return options.days >= 7 && whole.proposals < 2 ? 1 : 0;
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
