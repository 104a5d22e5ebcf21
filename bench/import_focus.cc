// Measures how fast a big FOCUS bill gets into the ledger, and in how much memory, compared with
// DuckDB's own read_csv of the same file in the same run.
//
//   bench_import_focus --rows 10000000 --folder /var/tmp/bench
//
// Makes a seeded bill of GPU instances (made up, and saying so in every row), then
//   parse    reads it into charges and adds them up,
//   import   reads it into a DuckDB ledger file: fingerprints, duplicate lines, conflicts, commit,
//   read_csv lets DuckDB read it: first the sums of the four costs, then CREATE TABLE AS, all
//   texts.
// All four give the same count and the same totals, compared with ==, or the exit code is 1.
#include <fmt/format.h>
#include <sys/resource.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "core/decimal.h"
#include "core/duckdb/database.h"
#include "core/int128.h"
#include "core/try.h"
#include "ingest/bills/csv_import.h"
#include "ingest/bills/focus/focus_bill.h"
#include "ledger/store/duckdb/duckdb_store.h"

namespace pennyweight {
namespace {

constexpr std::size_t kChunkBytes = 1u << 20;

struct Totals {
  std::uint64_t rows = 0;
  std::array<Int128, 4> costs{};  // billed, effective, list, contracted, in 10^-18
  bool operator==(const Totals&) const = default;
};

struct Settings {
  std::uint64_t rows = 10'000'000;
  std::filesystem::path folder = ".";
  std::uint64_t seed = 1;
};

// splitmix64: small, and the same everywhere.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t below(std::uint64_t limit) {
    state_ += 0x9E3779B97F4A7C15u;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return (z ^ (z >> 31)) % limit;
  }

 private:
  std::uint64_t state_;
};

struct Instance {
  std::string_view type;
  std::string_view gpu;
  unsigned gpus;
  std::int64_t micros_per_hour;  // list price, in 10^-6 of a dollar
};

constexpr Instance kInstances[] = {
    {"p5.48xlarge", "H100", 8, 55'040'000},
    {"p4d.24xlarge", "A100", 8, 21'957'642},
    {"p4de.24xlarge", "A100", 8, 27'447'052},
    {"g6.xlarge", "L4", 1, 804'800},
    {"g6e.12xlarge", "L40S", 4, 10'492'640},
    {"g5.48xlarge", "A10G", 8, 16'288'000},
    {"m6i.large", "", 0, 96'000},
};

constexpr std::string_view kHeader =
    "AvailabilityZone,BilledCost,BillingAccountId,BillingAccountName,BillingCurrency,"
    "BillingPeriodEnd,BillingPeriodStart,ChargeCategory,ChargeClass,ChargeDescription,"
    "ChargeFrequency,ChargePeriodEnd,ChargePeriodStart,CommitmentDiscountId,"
    "CommitmentDiscountStatus,ConsumedQuantity,ConsumedUnit,ContractedCost,ContractedUnitPrice,"
    "EffectiveCost,HostProviderName,InvoiceId,InvoiceIssuerName,ListCost,ListUnitPrice,"
    "PricingCategory,PricingCurrency,PricingQuantity,PricingUnit,ProviderName,PublisherName,"
    "RegionId,RegionName,ResourceId,ResourceType,ServiceCategory,ServiceName,ServiceProviderName,"
    "ServiceSubcategory,SkuId,SkuMeter,SkuPriceDetails,SkuPriceId,SubAccountId,SubAccountName,Tags,"
    "x_PoolId\n";

// A micro-dollar times a ten-thousandth of an hour is a count of 10^-10 dollars.
std::string ten_digits(std::int64_t amount) {
  return fmt::format("{}.{:010}", amount / 10'000'000'000, amount % 10'000'000'000);
}

void append_line(Random& random, std::uint64_t number, Totals& totals, std::string& out) {
  const Instance& instance = kInstances[random.below(std::size(kInstances))];
  const std::uint64_t hour = number / 2000 % 744;
  const std::uint64_t machine = number % 2000 + 2000 * (number / 1'488'000);
  const auto quantity = static_cast<std::int64_t>(1 + random.below(10'000));  // 10^-4 of an hour
  const bool spot = random.below(5) == 0;
  const bool committed = !spot && random.below(3) == 0;
  const std::int64_t contracted_price = instance.micros_per_hour * (spot ? 4 : 9) / 10;
  const std::int64_t list = instance.micros_per_hour * quantity;
  const std::int64_t contracted = contracted_price * quantity;
  const std::int64_t effective = committed ? contracted / 2 : contracted;
  const std::int64_t billed = committed ? 0 : contracted;
  const std::int64_t amounts[] = {billed, effective, list, contracted};
  for (std::size_t i = 0; i < 4; ++i) totals.costs[i] += Int128{amounts[i]} * 100'000'000;
  ++totals.rows;

  const std::uint64_t account = machine % 40;
  const std::uint64_t end_hour = hour + 1;
  const std::string quantity_text = fmt::format("{}.{:04}", quantity / 10'000, quantity % 10'000);
  fmt::format_to(
      std::back_inserter(out),
      "us-east-1{},{},100000000001,Example Research,USD,2026-02-01T00:00:00Z,2026-01-01T00:00:00Z,"
      "Usage,,\"Made up for a benchmark: {}{} per hour, Linux\",Usage-Based,"
      "2026-{}T{:02}:00:00Z,2026-01-{:02}T{:02}:00:00Z,{},{},{},Hours,{},{}.{:06},{},"
      "Amazon Web Services,INV-2026-01-{:04},Amazon Web Services,{},{}.{:06},{},USD,{},Hours,AWS,"
      "Amazon Web Services,us-east-1,US East (N. Virginia),"
      "arn:aws:ec2:us-east-1:{:012}:instance/i-{:017x},Instance,Compute,"
      "Amazon Elastic Compute Cloud,AWS,Virtual Machines,SKU-{},BoxUsage,"
      "\"{{\"\"InstanceType\"\":\"\"{}\"\",\"\"GpuCount\"\":{},\"\"x_GpuModel\"\":\"\"{}\"\"}}\","
      "SKU-{}.ON,{:012},team-{:02},\"{{\"\"team\"\":\"\"team-{:02}\"\",\"\"environment\"\":\"\"{}"
      "\"\","
      "\"\"cost_center\"\":\"\"cc-{}\"\"}}\",pool-{}\n",
      "abcdef"[machine % 6], ten_digits(billed), instance.type, spot ? " spot" : "",
      end_hour == 744 ? std::string("02-01") : fmt::format("01-{:02}", 1 + end_hour / 24),
      end_hour % 24, 1 + hour / 24, hour % 24,
      committed ? "arn:aws:savingsplans::100000000001:savingsplan/4f1c" : "",
      committed ? "Used" : "", quantity_text, ten_digits(contracted), contracted_price / 1'000'000,
      contracted_price % 1'000'000, ten_digits(effective), account, ten_digits(list),
      instance.micros_per_hour / 1'000'000, instance.micros_per_hour % 1'000'000,
      spot        ? "Dynamic"
      : committed ? "Committed"
                  : "Standard",
      quantity_text, 200'000'000'000 + account, 0x5d0000000u + machine, instance.type,
      instance.type, instance.gpus, instance.gpu, instance.type, 200'000'000'000 + account,
      account % 24, account % 24, account % 3 == 0 ? "dev" : "prod", 1000 + account, instance.type);
}

Totals write_bill(const Settings& settings, const std::filesystem::path& path) {
  std::ofstream out(path, std::ios::binary);
  Random random(settings.seed);
  Totals totals;
  std::string text(kHeader);
  for (std::uint64_t i = 0; i < settings.rows; ++i) {
    append_line(random, i, totals, text);
    if (text.size() >= kChunkBytes || i + 1 == settings.rows) {
      out.write(text.data(), static_cast<std::streamsize>(text.size()));
      text.clear();
    }
  }
  return totals;
}

// Adds up what the importer returns, and passes it on to the session, if any.
class Keep : public focus::ImportSink {
 public:
  explicit Keep(ImportSession* session) : session_(session) {}
  Result<void> charges(std::span<const Charge> charges) override {
    for (const Charge& charge : charges) {
      totals.costs[0] += charge.costs.billed.ticks();
      totals.costs[1] += charge.costs.effective.ticks();
      totals.costs[2] += charge.costs.list.ticks();
      totals.costs[3] += charge.costs.contracted.ticks();
    }
    totals.rows += charges.size();
    return session_ == nullptr ? Result<void>{} : session_->append_charges(charges);
  }
  Result<void> rejected(std::span<const RejectedRow> rows) override {
    return fail(ErrorCode::kBadValue, rows.front().reason);
  }
  Totals totals;

 private:
  ImportSession* session_;
};

Result<Totals> read_bill(const std::filesystem::path& path, ImportSession* session) {
  std::ifstream in(path, std::ios::binary);
  Keep keep(session);
  bill::CsvImport import(path.string(), focus::focus_bill(), keep);
  std::vector<char> chunk(kChunkBytes);
  while (in) {
    in.read(chunk.data(), static_cast<std::streamsize>(chunk.size()));
    const auto size = static_cast<std::size_t>(in.gcount());
    TRY(import.feed({chunk.data(), size}));
  }
  std::ignore = TRY(import.finish());
  return keep.totals;
}

Result<Totals> import_bill(const std::filesystem::path& bill, const std::filesystem::path& ledger) {
  auto store = TRY(open_duckdb_store({.path = ledger.string()}));
  auto session = TRY(store->begin_import({.format = "focus",
                                          .name = bill.string(),
                                          .file_hash = {},
                                          .at = from_unix_seconds(1'770'000'000)}));
  auto totals = read_bill(bill, session.get());
  if (!totals) return totals;
  const auto outcome = TRY(session->commit());
  if (outcome.charges.created != totals->rows || outcome.rejected != 0) {
    return fail(ErrorCode::kStore, fmt::format("{} charges created, {} rejected",
                                               outcome.charges.created, outcome.rejected));
  }
  return totals;
}

constexpr std::string_view kSums =
    "SELECT count(*), sum(BilledCost::DECIMAL(38,18)), sum(EffectiveCost::DECIMAL(38,18)), "
    "sum(ListCost::DECIMAL(38,18)), sum(ContractedCost::DECIMAL(38,18)) FROM ";

Result<Totals> query_totals(const std::filesystem::path& database_path, const std::string& before,
                            const std::string& table) {
  auto database = TRY(duckdb::Database::open({.path = database_path.string()}));
  auto connection = TRY(database.connect());
  if (!before.empty()) {
    TRY(connection.execute(before));
  }
  auto rows = TRY(connection.query(std::string(kSums) + table));
  std::ignore = TRY(rows.next());
  Totals totals{.rows = static_cast<std::uint64_t>(rows.column(0).int64(0)), .costs = {}};
  for (std::uint64_t i = 0; i < 4; ++i) totals.costs[i] = rows.column(i + 1).unscaled(0);
  return totals;
}

std::int64_t peak_mib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss / 1024;
}

// Processor time of all threads: the cost of the work, whatever else the machine does.
double processor_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

class Bench {
 public:
  Bench(std::uint64_t rows, std::uintmax_t bytes, const Totals& want)
      : rows_(rows), bytes_(bytes), want_(want) {}

  // False when it failed or the totals differ.
  bool run(std::string_view name, const std::function<Result<Totals>()>& work) {
    const auto begin = std::chrono::steady_clock::now();
    const double processor_begin = processor_seconds();
    const auto totals = work();
    const double processor = processor_seconds() - processor_begin;
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    if (!totals) {
      fmt::print("{:<22} FAILED: {}\n", name, totals.error().message);
      return false;
    }
    const auto rows = static_cast<double>(rows_);
    fmt::print(
        "{:<22} {:8.2f} s {:10.0f} rows/s {:7.1f} MB/s   processor {:8.2f} s {:9.0f} rows/s   "
        "peak {:5} MiB   totals {}\n",
        name, took.count(), rows / took.count(), static_cast<double>(bytes_) / 1e6 / took.count(),
        processor, rows / processor, peak_mib(), *totals == want_ ? "equal" : "DIFFER");
    return *totals == want_;
  }

 private:
  std::uint64_t rows_;
  std::uintmax_t bytes_;
  Totals want_;
};

int run(const Settings& settings) {
  const auto bill = settings.folder / "bill.csv";
  const auto ledger = settings.folder / "ledger.duckdb";
  const auto staged = settings.folder / "read_csv.duckdb";
  std::filesystem::create_directories(settings.folder);
  std::filesystem::remove(ledger);
  std::filesystem::remove(staged);

  const Totals want = write_bill(settings, bill);
  const auto bytes = std::filesystem::file_size(bill);
  fmt::print("{} rows, {:.1f} MB, billed {}\n", want.rows, static_cast<double>(bytes) / 1e6,
             to_text(Decimal::from_ticks(want.costs[0])));
  const std::string source =
      "read_csv(" + duckdb::quote_text(bill.string()) + ", all_varchar = true, header = true)";

  // The peak covers the whole process so far, so our own import runs first.
  Bench bench(want.rows, bytes, want);
  bool same = bench.run("parse", [&] { return read_bill(bill, nullptr); });
  same = bench.run("import", [&] { return import_bill(bill, ledger); }) && same;
  same = bench.run("charges in the ledger", [&] {
    return query_totals(ledger, "",
                        "(SELECT billed_cost AS BilledCost, effective_cost AS EffectiveCost, "
                        "list_cost AS ListCost, "
                        "contracted_cost AS ContractedCost FROM charges)");
  }) && same;
  same = bench.run("read_csv, sums", [&] { return query_totals("", "", source); }) && same;
  same = bench.run("read_csv, to a table", [&] {
    return query_totals(staged, "CREATE TABLE bill AS SELECT * FROM " + source, "bill");
  }) && same;
  for (const auto& file : {bill, ledger, staged}) std::filesystem::remove(file);
  return same ? 0 : 1;
}

}  // namespace
}  // namespace pennyweight

int main(int argc, char** argv) {
  pennyweight::Settings settings;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view name = argv[i];
    if (name == "--rows") {
      settings.rows = std::stoull(argv[i + 1]);
    } else if (name == "--seed") {
      settings.seed = std::stoull(argv[i + 1]);
    } else if (name == "--folder") {
      settings.folder = argv[i + 1];
    } else {
      fmt::print("usage: {} [--rows N] [--seed N] [--folder PATH]\n", argv[0]);
      return 2;
    }
  }
  return pennyweight::run(settings);
}
