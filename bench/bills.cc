// Measures how fast each provider's bill gets from its file to committed facts, and in how much
// memory, compared with DuckDB's own reading of the same file in the same run.
//
//   bench_bills --rows 10000000 --folder /var/tmp/bench [--only focus] [--threads 2]
//
// For every bill (generated, and marked so):
//   parse        the file into charges, which are added up and thrown away,
//   import       the file into a DuckDB ledger file: read, checked, fingerprinted, committed,
//   scan, all    DuckDB reads every column of the file: count(*) and bit_xor(hash(every column)),
//                CSV by read_csv with all_varchar, Parquet by read_parquet; nothing is kept,
//   scan, costs  DuckDB reads the file for the sums of its cost columns alone, as DECIMAL(38,18),
//   load         DuckDB reads the same and keeps it: every column in a table of a file of its own,
//                nothing checked, mapped, fingerprinted or totalled.
// DuckDB has --threads threads, as many as an import uses. The ledger is compared with the
// generator's figures (==), and DuckDB's counts and sums with those of the file; if they differ,
// the exit code is 1. The ratios are DuckDB's time over that of the import: 100 % is as fast as
// DuckDB reads.
#include <fmt/format.h>
#include <sys/resource.h>

#include <array>
#include <chrono>
#include <fstream>
#include <functional>

#include "bills_made.h"
#include "core/decimal.h"
#include "core/duckdb/database.h"
#include "core/try.h"
#include "ingest/bills/csv_import.h"
#include "ingest/bills/parquet_import.h"
#include "ledger/store/duckdb/duckdb_store.h"

namespace pennyweight::bench {
namespace {

constexpr std::size_t kChunkBytes = 1u << 20;

struct Settings {
  std::uint64_t rows = 10'000'000;
  std::filesystem::path folder = ".";
  std::string only;
  std::uint32_t threads = 2;
};

struct Totals {
  std::uint64_t rows = 0;         // of the file
  std::array<Int128, 4> costs{};  // billed, effective, list, contracted, in 10^-18
  bool operator==(const Totals&) const = default;
};

// Adds up what the reader returns, and passes it on to the session, if any.
class Keep : public bill::ImportSink {
 public:
  explicit Keep(ImportSession* session) : session_(session) {}
  Result<void> charges(std::span<const Charge> charges) override {
    for (const Charge& charge : charges) {
      costs[0] += charge.costs.billed.ticks();
      costs[1] += charge.costs.effective.ticks();
      costs[2] += charge.costs.list.ticks();
      costs[3] += charge.costs.contracted.ticks();
    }
    return session_ == nullptr ? Result<void>{} : session_->append_charges(charges);
  }
  Result<void> rejected(std::span<const RejectedRow> rows) override {
    return fail(ErrorCode::kBadValue, rows.front().reason);
  }
  std::array<Int128, 4> costs{};

 private:
  ImportSession* session_;
};

struct Read {
  Totals totals;
  std::uint64_t charges = 0;
};

Result<bill::ImportSummary> read_file(const MadeBill& made, Keep& keep) {
  const std::string path = made.path.string();
  if (made.is_parquet) return bill::import_parquet(path, path, made.reader, keep);
  std::ifstream in(made.path, std::ios::binary);
  bill::CsvImport import(path, made.reader, keep);
  std::vector<char> chunk(kChunkBytes);
  while (in) {
    in.read(chunk.data(), static_cast<std::streamsize>(chunk.size()));
    const auto size = static_cast<std::size_t>(in.gcount());
    TRY(import.feed({chunk.data(), size}));
  }
  return import.finish();
}

Result<Read> read_bill(const MadeBill& made, ImportSession* session) {
  Keep keep(session);
  const auto summary = TRY(read_file(made, keep));
  return Read{{summary.rows, keep.costs}, summary.charges};
}

Result<duckdb::Rows> first_row(duckdb::Connection& connection, const std::string& sql) {
  auto rows = connection.query(sql);
  if (!rows) return rows;
  const auto more = rows->next();
  if (!more) return std::unexpected(more.error());
  if (!*more) return fail(ErrorCode::kStore, "DuckDB gives no row");
  return rows;
}

Result<Read> import_bill(const MadeBill& made, const std::filesystem::path& ledger) {
  std::filesystem::remove(ledger);
  auto store = TRY(open_duckdb_store({.path = ledger.string()}));
  auto session = TRY(store->begin_import({.format = "bill",
                                          .name = made.path.string(),
                                          .file_hash = {},
                                          .at = from_unix_seconds(1'770'000'000)}));
  auto read = read_bill(made, session.get());
  if (!read) return read;
  const auto outcome = TRY(session->commit());
  if (outcome.charges.created != read->charges || outcome.rejected != 0) {
    return fail(ErrorCode::kStore,
                fmt::format("{} of {} charges created, {} rejected", outcome.charges.created,
                            read->charges, outcome.rejected));
  }
  return read;
}

// The contents of the closed file.
Result<Read> sums_of_ledger(const std::filesystem::path& ledger) {
  auto database = TRY(duckdb::Database::open({.path = ledger.string(), .read_only = true}));
  auto connection = TRY(database.connect());
  const auto row = TRY(first_row(connection,
                                 "SELECT count(*), sum(billed_cost), sum(effective_cost), "
                                 "sum(list_cost), sum(contracted_cost) FROM charges"));
  Read read;
  read.charges = static_cast<std::uint64_t>(row.column(0).int64(0));
  for (std::uint64_t i = 0; i < 4; ++i) read.totals.costs[i] = row.column(i + 1).unscaled(0);
  return read;
}

struct Scan {
  std::uint64_t rows = 0;
  std::vector<Int128> sums;
};

std::string source_of(const MadeBill& made) {
  const std::string path = duckdb::quote_text(made.path.string());
  return made.is_parquet ? "read_parquet(" + path + ")"
                         : "read_csv(" + path + ", all_varchar = true, header = true)";
}

Result<Scan> scan(const MadeBill& made, const std::string& select, std::size_t sums,
                  std::uint32_t threads) {
  auto database = TRY(duckdb::Database::open({.threads = threads,
                                              .temp_directory = made.path.parent_path().string(),
                                              .keeps_insertion_order = false}));
  auto connection = TRY(database.connect());
  const auto row =
      TRY(first_row(connection, "SELECT count(*)" + select + " FROM " + source_of(made)));
  Scan scan{static_cast<std::uint64_t>(row.column(0).int64(0)), {}};
  for (std::uint64_t i = 0; i < sums; ++i) scan.sums.push_back(row.column(i + 1).unscaled(0));
  return scan;
}

Result<Scan> scan_all(const MadeBill& made, std::uint32_t threads) {
  return scan(made, ", bit_xor(hash(*COLUMNS(*)))", 0, threads);
}
Result<Scan> scan_costs(const MadeBill& made, std::uint32_t threads) {
  std::string sums;
  for (const std::string& column : made.cost_columns) {
    sums += ", sum(" + duckdb::quote_identifier(column) + "::DECIMAL(38,18))";
  }
  return scan(made, sums, made.cost_columns.size(), threads);
}

// DuckDB's own import: every column of the bill in a table of a database file.
Result<Scan> load(const MadeBill& made, const std::filesystem::path& path, std::uint32_t threads) {
  std::filesystem::remove(path);
  auto database = TRY(duckdb::Database::open({.path = path.string(),
                                              .threads = threads,
                                              .temp_directory = path.parent_path().string(),
                                              .keeps_insertion_order = false}));
  auto connection = TRY(database.connect());
  TRY(connection.execute("CREATE TABLE bill AS SELECT * FROM " + source_of(made)));
  TRY(connection.execute("CHECKPOINT"));
  const auto row = TRY(first_row(connection, "SELECT count(*) FROM bill"));
  return Scan{static_cast<std::uint64_t>(row.column(0).int64(0)), {}};
}

// The peak of this process since the last call of forget_peak.
void forget_peak() { std::ofstream("/proc/self/clear_refs") << "5"; }
std::uint64_t peak_mib() {
  std::ifstream status("/proc/self/status");
  std::string word;
  while (status >> word) {
    std::uint64_t kib = 0;
    if (word == "VmHWM:" && status >> kib) return kib / 1024;
  }
  return 0;
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

struct Times {
  double wall = 0;
  double processor = 0;
};

template <class Work>
auto timed(const MadeBill& made, std::string_view step, Times& times, const Work& work) {
  forget_peak();
  const auto begin = std::chrono::steady_clock::now();
  const double processor_begin = processor_seconds();
  auto result = work();
  times.processor = processor_seconds() - processor_begin;
  times.wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const auto rows = static_cast<double>(made.rows);
  fmt::print("  {:<12} {:8.2f} s {:9.0f} rows/s   processor {:8.2f} s {:9.0f} rows/s   {:5} MiB\n",
             step, times.wall, rows / times.wall, times.processor, rows / times.processor,
             peak_mib());
  std::fflush(stdout);
  return result;
}

// Reports differences, if any.
bool same(std::string_view what, const std::optional<Int128>& want, Int128 got) {
  if (!want || *want == got) return true;
  fmt::print("  DIFFERS: {}: {} wanted, {} found\n", what, to_text(Decimal::from_ticks(*want)),
             to_text(Decimal::from_ticks(got)));
  return false;
}

bool failed(std::string_view what, const Error& error) {
  fmt::print("  FAILED: {}: {}\n", what, error.message);
  return false;
}

bool measure(const MadeBill& made, const Settings& settings) {
  const auto bytes = std::filesystem::file_size(made.path);
  fmt::print("{}: {} rows, {:.1f} MB\n", made.name, made.rows, static_cast<double>(bytes) / 1e6);
  const auto ledger = settings.folder / "ledger.duckdb";
  Times parse, import, all, costs, loading;

  const auto parsed = timed(made, "parse", parse, [&] { return read_bill(made, nullptr); });
  if (!parsed) return failed("parse", parsed.error());
  const auto imported = timed(made, "import", import, [&] { return import_bill(made, ledger); });
  if (!imported) return failed("import", imported.error());
  const auto kept = sums_of_ledger(ledger);
  if (!kept) return failed("the ledger", kept.error());
  const double megabytes = static_cast<double>(std::filesystem::file_size(ledger)) / 1e6;
  std::filesystem::remove(ledger);
  const auto scanned =
      timed(made, "scan, all", all, [&] { return scan_all(made, settings.threads); });
  if (!scanned) return failed("scan, all", scanned.error());
  const auto summed =
      timed(made, "scan, costs", costs, [&] { return scan_costs(made, settings.threads); });
  if (!summed) return failed("scan, costs", summed.error());
  const auto table = settings.folder / "bill.duckdb";
  const auto loaded =
      timed(made, "load", loading, [&] { return load(made, table, settings.threads); });
  std::filesystem::remove(table);
  if (!loaded) return failed("load", loaded.error());

  fmt::print(
      "  import at {:.0f} % of the scan of all columns by the clock, {:.0f} % by processor time; "
      "{:.0f} % and {:.0f} % of that of the costs alone; {:.0f} % and {:.0f} % of DuckDB's "
      "load; ledger {:.1f} MB\n",
      100 * all.wall / import.wall, 100 * all.processor / import.processor,
      100 * costs.wall / import.wall, 100 * costs.processor / import.processor,
      100 * loading.wall / import.wall, 100 * loading.processor / import.processor, megabytes);
  const std::array<std::optional<Int128>, 4> truth = {made.truth.billed, made.truth.effective,
                                                      made.truth.list, made.truth.contracted};
  bool good = same("rows read", made.rows, parsed->totals.rows) &&
              same("rows imported", made.rows, imported->totals.rows) &&
              same("charges in the ledger", imported->charges, kept->charges) &&
              same("rows that DuckDB reads", made.rows, scanned->rows) &&
              same("rows that DuckDB keeps", made.rows, loaded->rows) &&
              same("rows that DuckDB adds up", made.rows, summed->rows);
  constexpr const char* kCosts[] = {"billed", "effective", "list", "contracted"};
  for (std::size_t i = 0; i < 4; ++i) {
    good = same(fmt::format("{} that the generator says", kCosts[i]), truth[i],
                kept->totals.costs[i]) &&
           same(fmt::format("{} that was parsed", kCosts[i]), parsed->totals.costs[i],
                kept->totals.costs[i]) &&
           good;
  }
  for (std::size_t i = 0; i < summed->sums.size(); ++i) {
    // else a column of the provider is not one of our costs
    if (made.cost_columns.size() != 4) continue;
    good =
        same("sum by DuckDB of " + made.cost_columns[i], kept->totals.costs[i], summed->sums[i]) &&
        good;
  }
  return good;
}

int run(const Settings& settings) {
  std::filesystem::create_directories(settings.folder);
  bool good = true;
  for (const std::string_view provider : providers()) {
    if (!settings.only.empty() && provider != settings.only) continue;
    const auto made = make_bills(provider, settings.rows, settings.folder);
    if (!made) {
      failed(provider, made.error());
      return 1;
    }
    for (const MadeBill& bill : *made) good = measure(bill, settings) && good;
    for (const MadeBill& bill : *made) std::filesystem::remove(bill.path);
  }
  return good ? 0 : 1;
}

}  // namespace
}  // namespace pennyweight::bench

int main(int argc, char** argv) {
  pennyweight::bench::Settings settings;
  for (int i = 1; i < argc; i += 2) {
    const std::string_view name = argv[i];
    if (i + 1 < argc && name == "--rows") {
      settings.rows = std::stoull(argv[i + 1]);
    } else if (i + 1 < argc && name == "--folder") {
      settings.folder = argv[i + 1];
    } else if (i + 1 < argc && name == "--only") {
      settings.only = argv[i + 1];
    } else if (i + 1 < argc && name == "--threads") {
      settings.threads = static_cast<std::uint32_t>(std::stoul(argv[i + 1]));
    } else {
      fmt::print(
          "usage: {} [--rows N] [--folder PATH] [--only focus|aws-cur2|azure|gcp] "
          "[--threads N]\n",
          argv[0]);
      return 2;
    }
  }
  return pennyweight::bench::run(settings);
}
