// Measures how fast the DuckDB store appends charges and postings, in facts a second from append to
// an acknowledged commit, and how much memory that needs.
//
//   bench_store_append --rows 1000000 --folder /tmp/bench
//
// Charges have some twenty filled columns, all distinct. Numbers: see the commits that changed
// this.
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

constexpr std::uint64_t kBatch = 8192;

Charge charge(std::uint64_t number) {
  const Instant march = *parse_instant("2026-03-01");
  const Instant hour = march + std::chrono::hours(number % 744);
  Charge made(Interval(march, march + std::chrono::days(31)),
              Interval(hour, hour + std::chrono::hours(1)), Costs::zero(kUsd));
  made.costs.billed = Money::from_ticks(Int128{1'234'567'890'123} * number, kUsd);
  made.costs.effective = made.costs.list = made.costs.contracted = made.costs.billed;
  made.billing_account_id = "123456789012";
  made.billing_account_name = "Example research";
  made.sub_account_id = std::to_string(100'000'000'000 + number % 40);
  made.invoice_id = "2026-03-0001";
  made.invoice_issuer_name = "Amazon Web Services, Inc.";
  made.service_provider_name = "AWS";
  made.charge_frequency = ChargeFrequency::kUsageBased;
  made.charge_description = "$55.04 per On Demand Linux p5.48xlarge Instance Hour";
  made.service_category = "Compute";
  made.service_name = "Amazon Elastic Compute Cloud";
  made.region_id = "us-east-1";
  made.resource_id = "i-" + std::to_string(0xabcdef000000 + number / 744);
  made.resource_type = "instance";
  made.sku_id = "7KXQBZSKETPTG6QZ";
  made.instance_type = "p5.48xlarge";
  made.pricing_category = PricingCategory::kStandard;
  made.pricing_quantity = Decimal::from_units(1);
  made.pricing_unit = "Hours";
  made.consumed_quantity = Decimal::from_units(1);
  made.consumed_unit = "Hours";
  made.cluster = "philly";
  made.source.line = number + 2;
  return made;
}

Posting posting(std::uint64_t number) {
  const Instant day = *parse_instant("2026-03-01") + std::chrono::days(number % 31);
  const Money money = Money::from_ticks(Int128{1'234'567'890'123} * number, kUsd);
  return {.charge = {{number / 8 * 0x9e3779b97f4a7c15, number / 8}},
          .kind = PostingKind::kUsed,
          .component = static_cast<Component>(number % 3),
          .interval = Interval(day, day + std::chrono::hours(1)),
          .day = std::chrono::floor<std::chrono::days>(day),
          .node = NodeId("node-" + std::to_string(number % 500)),
          .gpu = GpuId(""),
          .workload = WorkloadId("application_" + std::to_string(number % 24'000)),
          .holding = FactId{{number, 1}},
          .weight = number,
          .costs = {money, money, money, money},
          .gpu_time = GpuTime::of(number),
          .memory_time = {},
          .observed_time = {}};
}

// Generates and appends `rows` facts, commits, and returns the time in milliseconds.
template <class Fact, class Make, class Append>
std::int64_t milliseconds_for(std::uint64_t rows, const Make& make, const Append& append,
                              const auto& commit) {
  const auto begin = std::chrono::steady_clock::now();
  std::vector<Fact> batch;
  for (std::uint64_t number = 0; number < rows; ++number) {
    batch.push_back(make(number));
    if (batch.size() < kBatch && number + 1 < rows) continue;
    if (!append(batch)) return -1;
    batch.clear();
  }
  if (!commit()) return -1;
  const auto passed = std::chrono::steady_clock::now() - begin;
  return std::chrono::duration_cast<std::chrono::milliseconds>(passed).count();
}

void report(const char* what, std::uint64_t rows, std::int64_t ms) {
  rusage use{};
  ::getrusage(RUSAGE_SELF, &use);
  const long cpu_ms = use.ru_utime.tv_sec * 1000 + use.ru_utime.tv_usec / 1000 +
                      use.ru_stime.tv_sec * 1000 + use.ru_stime.tv_usec / 1000;
  std::printf("%-20s %10llu rows %8lld ms %9llu rows/s   CPU so far %ld ms, peak %ld MiB\n", what,
              static_cast<unsigned long long>(rows), static_cast<long long>(ms),
              static_cast<unsigned long long>(ms > 0 ? rows * 1000 / std::uint64_t(ms) : 0), cpu_ms,
              use.ru_maxrss / 1024);
  std::fflush(stdout);
}

int run(std::uint64_t rows, const std::string& folder) {
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  auto store = open_duckdb_store({.path = folder + "/ledger.duckdb"});
  if (!store) return 1;
  bool good = true;
  for (const char* what : {"charges, new", "charges, all known"}) {
    auto session = (*store)->begin_import({"focus", "bill", {}, Instant()});
    ImportOutcome outcome;
    const std::int64_t ms = milliseconds_for<Charge>(
        rows, charge,
        [&](const auto& batch) { return (*session)->append_charges(batch).has_value(); },
        [&] {
          const auto committed = (*session)->commit();
          if (committed) outcome = *committed;
          return committed.has_value();
        });
    report(what, rows, ms);
    good &= ms >= 0 && outcome.charges.created + outcome.charges.existing == rows;
  }
  {
    const Run made = {.scope = {ClusterId("philly"), "2026-03"},
                      .policy = "p",
                      .policy_version = {},
                      .catalog_version = {},
                      .time_zone = "UTC",
                      .program_version = "0",
                      .at = {},
                      .postings_digest = {}};
    auto session = (*store)->begin_run(made);
    const std::int64_t ms = milliseconds_for<Posting>(
        rows, posting,
        [&](const auto& batch) { return (*session)->append_postings(batch).has_value(); },
        [&] { return (*session)->commit().has_value(); });
    report("postings", rows, ms);
    good &= ms >= 0;
    // A run in which one bill line has changed; the postings of the others are kept.
    session->reset();
    session = (*store)->begin_run(made);
    const auto begin = std::chrono::steady_clock::now();
    const FactId changed = posting(0).charge;
    const bool kept = (*session)->keep_previous_except({&changed, 1}).has_value();
    const auto run = (*session)->commit();
    const auto passed = std::chrono::steady_clock::now() - begin;
    report("kept", rows, std::chrono::duration_cast<std::chrono::milliseconds>(passed).count());
    good &= kept && run && run->number == 2 && run->postings < rows;
  }
  const auto begin = std::chrono::steady_clock::now();
  const auto rows_by_kind = (*store)->summarise({.group_by = {"kind", "node"}});
  const auto passed = std::chrono::steady_clock::now() - begin;
  good &= rows_by_kind.has_value();
  report("summarised", rows, std::chrono::duration_cast<std::chrono::milliseconds>(passed).count());
  store->reset();
  std::filesystem::remove_all(folder);
  return good ? 0 : 1;
}

}  // namespace
}  // namespace pennyweight

int main(int argc, char** argv) {
  std::uint64_t rows = 1'000'000;
  std::string folder = (std::filesystem::temp_directory_path() / "bench_store_append").string();
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--rows") == 0) rows = std::strtoull(argv[i + 1], nullptr, 10);
    if (std::strcmp(argv[i], "--folder") == 0) folder = argv[i + 1];
  }
  return pennyweight::run(rows, folder);
}
