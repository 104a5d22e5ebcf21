#include "ledger/store/duckdb/duckdb_store.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include "core/try.h"
#include "ledger/activity_scan.h"
#include "ledger/store/duckdb/activity_scan.h"
#include "ledger/store/duckdb/closings.h"
#include "ledger/store/duckdb/fact_table.h"
#include "ledger/store/duckdb/import_session.h"
#include "ledger/store/duckdb/reconcile.h"
#include "ledger/store/duckdb/run_session.h"
#include "ledger/store/duckdb/schema.h"
#include "ledger/store/duckdb/summary_sql.h"
#include "ledger/store/duckdb/usage_scan.h"
#include "ledger/store/duckdb/work.h"
#include "ledger/store_rules.h"

namespace pennyweight {
namespace {

using duckdb::Connection;
using duckdb::Rows;
using duckdb::Statement;

class DuckdbStore : public Store, public ActivityScanner {
 public:
  DuckdbStore(duckdb::Database database, bool read_only)
      : database_(std::move(database)), read_only_(read_only) {}

  Result<std::unique_ptr<ImportSession>> begin_import(const ImportSource& source) override {
    if (read_only_) return refuse_to_write();
    return begin_duckdb_import(database_, session_open_, source);
  }
  Result<std::unique_ptr<RunSession>> begin_run(const Run& run) override {
    if (read_only_) return refuse_to_write();
    return begin_duckdb_run(database_, session_open_, run);
  }
  Result<WorkRecords> work_records() override {
    Connection connection = TRY(database_.connect());
    return read_work_records(connection);
  }
  Result<std::vector<InvalidatedScope>> invalidated_scopes(std::uint64_t after) override {
    Connection connection = TRY(database_.connect());
    return invalidated_since(connection, after);
  }
  Result<std::optional<WorkClaim>> claim_work(const ClaimRequest& request) override;
  Result<void> renew_claim(const WorkClaim& claim, Instant at) override {
    return change(
        [&](Connection& connection) { return record_heartbeat(connection, claim, at, false); });
  }
  Result<void> release_claim(const WorkClaim& claim, Instant at) override {
    return change(
        [&](Connection& connection) { return record_heartbeat(connection, claim, at, true); });
  }
  Result<void> save_plan(const WorkPlan& plan) override {
    return change([&](Connection& connection) { return pennyweight::save_plan(connection, plan); });
  }
  Result<std::unique_ptr<RunSession>> begin_claimed_run(const Run& run, const WorkClaim& claim,
                                                        const WorkCompletion& done) override {
    if (read_only_) return refuse_to_write();
    return begin_duckdb_run(database_, session_open_, run, claim, done);
  }
  Result<void> scan_charges(const std::string& month, const ChargeSink& sink) override;
  Result<void> scan_holdings(const ClusterId& cluster, const Interval& during,
                             const HoldingSink& sink) override;
  Result<std::vector<Node>> nodes() override;
  Result<std::vector<Gpu>> gpus() override;
  Result<void> scan_usage(const ClusterId& cluster, const Interval& during, UsageDetail detail,
                          const UsageSink& sink) override {
    return pennyweight::scan_usage(database_, cluster, during, detail, sink);
  }
  Result<void> scan_activity(const ClusterId& cluster, const Interval& during,
                             const ActivitySink& sink) override {
    return scan_duckdb_activity(database_, cluster, during, sink);
  }
  Result<bool> has_usage_after(const ClusterId& cluster, const Interval& during,
                               std::uint64_t import) override;
  Result<void> scan_outcomes(const ClusterId& cluster, const Interval& during,
                             const OutcomeSink& sink) override;
  Result<std::vector<Outage>> outages(const ClusterId& cluster, const Interval& during) override;
  Result<std::vector<Correction>> corrections(const ClusterId& cluster,
                                              const Interval& during) override;
  Result<std::optional<Charge>> find_charge(const FactId& id) override { return find<Charge>(id); }
  Result<std::optional<Holding>> find_holding(const FactId& id) override {
    return find<Holding>(id);
  }
  Result<std::vector<Posting>> postings_of(const FactId& charge) override;
  Result<void> scan_postings(const Scope& scope, const PostingSink& sink) override;
  Result<std::vector<WorkloadDimensions>> dimensions_of(const Scope& scope) override;
  Result<std::vector<Posting>> largest_postings(const SummaryQuery& query, std::uint64_t at_most,
                                                std::uint64_t skipped) override;
  Result<std::vector<Run>> runs() override;
  Result<std::vector<ImportRecord>> imports() override { return import_records(""); }
  Result<std::vector<ImportRecord>> imports_numbered(
      std::span<const std::uint64_t> numbers) override;
  Result<std::uint64_t> last_import_until(Instant at) override;
  Result<std::vector<RejectedRow>> rejected_rows(std::uint64_t at_most) override;
  Result<StoreOverview> overview() override;
  Result<std::vector<SummaryRow>> summarise(const SummaryQuery& query) override;
  Result<void> scan_summary(const SummaryQuery& query, const SummarySink& sink) override;
  Result<std::vector<ReconcileTotals>> reconcile(const std::string& month, bool only_off,
                                                 const LineSink& sink) override {
    Connection connection = TRY(database_.connect());
    return pennyweight::reconcile(connection, month, only_off, sink);
  }
  Result<Closing> close_month(const Closing& closing) override;
  Result<std::vector<Closing>> closings() override {
    Connection connection = TRY(database_.connect());
    return pennyweight::closings(connection);
  }
  Result<std::vector<RetiredCharge>> retired_charges(const std::string& month) override {
    Connection connection = TRY(database_.connect());
    return pennyweight::retired_charges(connection, month);
  }
  Result<std::vector<Charge>> restated_charges(const std::string& month) override {
    Connection connection = TRY(database_.connect());
    return pennyweight::restated_charges(connection, month);
  }
  Result<void> issue_invoices(std::span<const IssuedInvoice> invoices) override;
  Result<std::vector<IssuedInvoice>> issued_invoices() override {
    Connection connection = TRY(database_.connect());
    return pennyweight::issued_invoices(connection);
  }

 private:
  static std::unexpected<Error> refuse_to_write() {
    return fail(ErrorCode::kStore, kStoreIsReadOnly);
  }
  // All or nothing.
  template <class Change>
  Result<void> change(const Change& what) {
    if (read_only_) return refuse_to_write();
    SessionLock lock = TRY(SessionLock::begin(database_, session_open_));
    TRY(what(lock.connection()));
    return lock.commit();
  }
  // Prepares `sql` on a connection of its own, binds, and visits the chunks. Each scan has its own
  // connection, so that a sink may query the store while its scan continues.
  template <class Bind, class Visit>
  Result<void> visit(const std::string& sql, const Bind& bind, const Visit& visit_chunk) {
    Connection connection = TRY(database_.connect());
    Statement statement = TRY(connection.prepare(sql));
    bind(statement);
    return each_chunk(statement.query(), visit_chunk);
  }
  template <class Fact, class Bind>
  Result<std::vector<Fact>> collect(const std::string& rest, const Bind& bind) {
    std::vector<Fact> facts;
    const auto take = [&](const Rows& chunk) -> Result<bool> {
      std::vector<Fact> some = TRY(facts_of<Fact>(chunk));
      std::ranges::move(some, std::back_inserter(facts));
      return true;
    };
    TRY(visit("SELECT " + fact_columns<Fact>("") + " FROM " + Table<Fact>::kName + " " + rest, bind,
              take));
    return facts;
  }
  template <class Fact>
  Result<std::optional<Fact>> find(const FactId& id);
  Result<std::vector<std::string>> texts(const std::string& sql);
  Result<std::vector<ImportRecord>> import_records(const std::string& where);

  duckdb::Database database_;
  bool read_only_;
  bool session_open_ = false;
};

constexpr auto kNothing = [](Statement&) {};

template <class Fact, class Sink>
Result<bool> hand_over(const Rows& chunk, const Sink& sink) {
  const std::vector<Fact> facts = TRY(facts_of<Fact>(chunk));
  return sink(std::span<const Fact>(facts));
}

Result<void> DuckdbStore::scan_charges(const std::string& month, const ChargeSink& sink) {
  return visit(
      "SELECT " + fact_columns<Charge>("") +
          " FROM booked_charges WHERE $1 = '' OR booked_month = $1 ORDER BY charge_id",
      [&](Statement& statement) { statement.bind_text(1, month); },
      [&](const Rows& chunk) { return hand_over<Charge>(chunk, sink); });
}

Result<void> DuckdbStore::scan_holdings(const ClusterId& cluster, const Interval& during,
                                        const HoldingSink& sink) {
  // For each attempt, the fact that ended it; otherwise the latest reading. This is the rule of
  // supersedes(). Ids break ties in both, since they are unique.
  return visit(
      "SELECT " + fact_columns<Holding>("") +
          " FROM (SELECT * FROM holdings WHERE cluster = $1 QUALIFY row_number() OVER "
          "(PARTITION BY workload, attempt ORDER BY ended DESC, held_to DESC, holding_id) = 1) "
          "WHERE held_from < $3 AND held_to > $2 ORDER BY held_from, workload, attempt",
      [&](Statement& statement) {
        statement.bind_text(1, cluster.text());
        statement.bind_timestamp_ms(2, during.begin()).bind_timestamp_ms(3, during.end());
      },
      [&](const Rows& chunk) { return hand_over<Holding>(chunk, sink); });
}

Result<void> DuckdbStore::scan_outcomes(const ClusterId& cluster, const Interval& during,
                                        const OutcomeSink& sink) {
  return visit(
      "SELECT " + fact_columns<Outcome>("") +
          " FROM outcomes WHERE cluster = $1 AND counted_from >= $2 AND counted_from < $3 "
          "ORDER BY counted_from, outcome_id",
      [&](Statement& statement) {
        statement.bind_text(1, cluster.text());
        statement.bind_timestamp_ms(2, during.begin()).bind_timestamp_ms(3, during.end());
      },
      [&](const Rows& chunk) { return hand_over<Outcome>(chunk, sink); });
}

// Imports are numbered as they come, so blocks of earlier ones are passed over.
Result<bool> DuckdbStore::has_usage_after(const ClusterId& cluster, const Interval& during,
                                          std::uint64_t import) {
  Connection connection = TRY(database_.connect());
  Statement statement = TRY(connection.prepare(fmt::format(
      "SELECT count(*)::UBIGINT FROM (SELECT 1 FROM usages WHERE import_number > {} AND cluster = "
      "$1 AND observed_at >= $2 AND observed_at < $3 LIMIT 1)",
      import)));
  statement.bind_text(1, cluster.text());
  statement.bind_timestamp_ms(2, during.begin()).bind_timestamp_ms(3, during.end());
  return TRY(count_of(statement.query())) > 0;
}

Result<std::vector<Node>> DuckdbStore::nodes() {
  auto nodes = TRY(collect<Node>("ORDER BY cluster, name, valid_from", kNothing));
  keep_ended(nodes);
  return nodes;
}

Result<std::vector<Gpu>> DuckdbStore::gpus() {
  auto gpus = TRY(collect<Gpu>("ORDER BY cluster, node, gpu_index, uuid, valid_from", kNothing));
  keep_ended(gpus);
  return gpus;
}

Result<std::vector<Outage>> DuckdbStore::outages(const ClusterId& cluster, const Interval& during) {
  return collect<Outage>(
      "WHERE cluster = $1 AND out_to > $2 AND out_from < $3 ORDER BY node, gpu, out_from",
      [&](Statement& statement) {
        statement.bind_text(1, cluster.text());
        statement.bind_timestamp_ms(2, during.begin()).bind_timestamp_ms(3, during.end());
      });
}

Result<std::vector<Correction>> DuckdbStore::corrections(const ClusterId& cluster,
                                                         const Interval& during) {
  return collect<Correction>(
      "WHERE cluster = $1 AND booked_to > $2 AND booked_from < $3 ORDER BY name",
      [&](Statement& statement) {
        statement.bind_text(1, cluster.text());
        statement.bind_timestamp_ms(2, during.begin()).bind_timestamp_ms(3, during.end());
      });
}

template <class Fact>
Result<std::optional<Fact>> DuckdbStore::find(const FactId& id) {
  std::vector<Fact> found =
      TRY(collect<Fact>(std::string("WHERE ") + Table<Fact>::kId + " = $1",
                        [&](Statement& statement) { statement.bind_uuid(1, id.hash); }));
  if (found.empty()) return std::nullopt;
  return std::move(found.front());
}

Result<std::vector<Posting>> DuckdbStore::postings_of(const FactId& charge) {
  std::vector<Posting> postings;
  TRY(visit(
      "SELECT " + posting_columns("p.") +
          " FROM postings p JOIN runs r ON r.run_id = p.run_id "
          "WHERE r.is_current AND p.charge_id = $1",
      [&](Statement& statement) { statement.bind_uuid(1, charge.hash); },
      [&](const Rows& chunk) -> Result<bool> {
        Result<std::vector<Posting>> some = postings_of_chunk(chunk);
        if (!some) return std::unexpected(std::move(some.error()));
        std::ranges::move(*some, std::back_inserter(postings));
        return true;
      }));
  std::ranges::sort(postings,
                    [](const Posting& a, const Posting& b) { return comes_before(a, b); });
  return postings;
}

Result<void> DuckdbStore::scan_postings(const Scope& scope, const PostingSink& sink) {
  return visit(
      "SELECT " + posting_columns("p.") +
          " FROM postings p JOIN runs r ON r.run_id = p.run_id WHERE r.is_current AND "
          "r.cluster = $1 AND r.month = $2 ORDER BY " +
          posting_order("p."),
      [&](Statement& statement) {
        statement.bind_text(1, scope.cluster.text()).bind_text(2, scope.month);
      },
      [&](const Rows& chunk) -> Result<bool> {
        const std::vector<Posting> some = TRY(postings_of_chunk(chunk));
        return sink(some);
      });
}

Result<std::vector<WorkloadDimensions>> DuckdbStore::dimensions_of(const Scope& scope) {
  Connection connection = TRY(database_.connect());
  Statement select = TRY(connection.prepare(
      "SELECT workload, dimension, value FROM run_dimensions JOIN runs USING (run_id) "
      "WHERE is_current AND cluster = $1 AND month = $2 ORDER BY workload, dimension"));
  select.bind_text(1, scope.cluster.text()).bind_text(2, scope.month);
  return dimensions_of_rows(select.query());
}

Result<std::vector<Posting>> DuckdbStore::largest_postings(const SummaryQuery& query,
                                                           std::uint64_t at_most,
                                                           std::uint64_t skipped) {
  const SummarySql sql(query);
  std::vector<Posting> postings;
  TRY(visit(
      sql.largest(at_most, skipped), [&](Statement& statement) { sql.bind(statement); },
      [&](const Rows& chunk) -> Result<bool> {
        Result<std::vector<Posting>> some = postings_of_chunk(chunk);
        if (!some) return std::unexpected(std::move(some.error()));
        std::ranges::move(*some, std::back_inserter(postings));
        return true;
      }));
  return postings;
}

Result<std::vector<Run>> DuckdbStore::runs() {
  Connection connection = TRY(database_.connect());
  const std::vector<NumberedRun> runs = TRY(read_runs(
      connection.query("SELECT " + run_columns() + " FROM runs ORDER BY cluster, month, number")));
  std::vector<Run> found;
  for (const NumberedRun& run : runs) found.push_back(run.record.run);
  return found;
}

Result<std::vector<ImportRecord>> DuckdbStore::import_records(const std::string& where) {
  std::vector<ImportRecord> found;
  TRY(visit("SELECT number, " + record_columns<ImportRecord>() + " FROM imports " + where +
                " ORDER BY number",
            kNothing, [&](const Rows& chunk) -> Result<bool> {
              std::vector<ImportRecord> records = TRY(records_of<ImportRecord>(chunk, 1));
              const duckdb::Column numbers = chunk.column(0);
              for (std::uint64_t row = 0; row < chunk.size(); ++row) {
                records[row].number = numbers.uint64(row);
                found.push_back(std::move(records[row]));
              }
              return true;
            }));
  return found;
}

Result<std::vector<ImportRecord>> DuckdbStore::imports_numbered(
    std::span<const std::uint64_t> numbers) {
  if (numbers.empty()) return std::vector<ImportRecord>();
  return import_records(fmt::format("WHERE number IN ({})", fmt::join(numbers, ", ")));
}

Result<std::uint64_t> DuckdbStore::last_import_until(Instant at) {
  std::uint64_t last = 0;
  TRY(visit(fmt::format("SELECT coalesce(max(number), 0)::UBIGINT FROM imports "
                        "WHERE epoch_ms(imported_at) <= {}",
                        unix_ms(at)),
            kNothing, [&](const Rows& chunk) -> Result<bool> {
              last = chunk.column(0).uint64(0);
              return true;
            }));
  return last;
}

Result<std::vector<RejectedRow>> DuckdbStore::rejected_rows(std::uint64_t at_most) {
  Connection connection = TRY(database_.connect());
  const std::string columns = record_columns<RejectedRow>();
  return all_records<RejectedRow>(connection.query("SELECT " + columns +
                                                   " FROM rejected_rows ORDER BY import_number, " +
                                                   columns + " LIMIT " + std::to_string(at_most)));
}

Result<std::vector<std::string>> DuckdbStore::texts(const std::string& sql) {
  std::vector<std::string> found;
  TRY(visit(sql, kNothing, [&](const Rows& chunk) -> Result<bool> {
    const duckdb::Column column = chunk.column(0);
    for (std::uint64_t row = 0; row < chunk.size(); ++row) found.emplace_back(column.text(row));
    return true;
  }));
  return found;
}

// One query of a row a table: DuckDB takes ten times as long to plan as many subqueries side by
// side.
Result<StoreOverview> DuckdbStore::overview() {
  StoreOverview view;
  const std::array<std::pair<const char*, std::uint64_t*>, 10> tables = {{
      {"charges", &view.charges},
      {"holdings", &view.holdings},
      {"nodes", &view.nodes},
      {"gpus", &view.gpus},
      {"usages", &view.usages},
      {"outages", &view.outages},
      {"corrections", &view.corrections},
      {"outcomes", &view.outcomes},
      {"imports", &view.imports},
      {"rejected_rows", &view.rejected},
  }};
  std::string sql;
  for (std::size_t place = 0; place < tables.size(); ++place) {
    sql += fmt::format("SELECT {}::UBIGINT, count(*)::UBIGINT FROM {} UNION ALL ", place,
                       tables[place].first);
  }
  sql += fmt::format(
      "SELECT {}::UBIGINT, coalesce(sum(postings), 0)::UBIGINT FROM runs WHERE is_current",
      tables.size());
  TRY(visit(sql, kNothing, [&](const Rows& chunk) -> Result<bool> {
    const duckdb::Column places = chunk.column(0);
    const duckdb::Column counts = chunk.column(1);
    for (std::uint64_t row = 0; row < chunk.size(); ++row) {
      const std::uint64_t place = places.uint64(row);
      *(place < tables.size() ? tables[place].second : &view.postings) = counts.uint64(row);
    }
    return true;
  }));
  std::vector<std::string> clusters =
      TRY(texts("SELECT cluster FROM nodes UNION SELECT cluster FROM holdings UNION "
                "SELECT cluster FROM outcomes ORDER BY cluster"));
  std::vector<std::string> months =
      TRY(texts("SELECT DISTINCT booked_month FROM charges ORDER BY booked_month"));
  view.clusters = std::move(clusters);
  view.months = std::move(months);
  return view;
}

// The rows of a chunk with the columns of SummarySql.
Result<std::vector<SummaryRow>> summary_rows_of(const Rows& chunk, std::uint64_t keys) {
  std::vector<SummaryRow> rows;
  rows.reserve(chunk.size());
  const duckdb::Column currencies = chunk.column(keys + 1);
  const duckdb::Column billed = chunk.column(keys + 2), effective = chunk.column(keys + 3);
  const duckdb::Column list = chunk.column(keys + 4), contracted = chunk.column(keys + 5);
  for (std::uint64_t row = 0; row < chunk.size(); ++row) {
    const Currency currency = TRY(Currency::parse(currencies.text(row)));
    const auto money = [&](const duckdb::Column& column) {
      return Money::from_ticks(column.unscaled(row), currency);
    };
    rows.push_back({{},
                    {},
                    {money(billed), money(effective), money(list), money(contracted)},
                    {},
                    {},
                    {},
                    {},
                    0});
    rows.back().keys.reserve(keys);
  }
  const duckdb::Column buckets = chunk.column(0);
  const duckdb::Column held = chunk.column(keys + 6), idle = chunk.column(keys + 7);
  const duckdb::Column memory = chunk.column(keys + 8), observed = chunk.column(keys + 9);
  const duckdb::Column postings = chunk.column(keys + 10);
  for (std::uint64_t row = 0; row < chunk.size(); ++row) {
    const auto amount = [&](const duckdb::Column& column) {
      return static_cast<UInt128>(column.hugeint(row));
    };
    SummaryRow& sum = rows[row];
    if (!buckets.is_null(row)) sum.bucket = buckets.date(row);
    sum.gpu_time = GpuTime::of(amount(held));
    sum.idle_time = GpuTime::of(amount(idle));
    sum.memory_time = MemoryTime::of(amount(memory));
    sum.observed_time = GpuTime::of(amount(observed));
    sum.postings = postings.uint64(row);
  }
  for (std::uint64_t i = 0; i < keys; ++i) {
    const duckdb::Column texts = chunk.column(i + 1);
    for (std::uint64_t row = 0; row < chunk.size(); ++row) {
      rows[row].keys.emplace_back(texts.text(row));
    }
  }
  return rows;
}

Result<std::vector<SummaryRow>> DuckdbStore::summarise(const SummaryQuery& query) {
  const SummarySql sql(query);
  std::vector<SummaryRow> rows;
  const auto take = [&](const Rows& chunk) -> Result<bool> {
    std::vector<SummaryRow> some = TRY(summary_rows_of(chunk, query.group_by.size()));
    std::ranges::move(some, std::back_inserter(rows));
    return true;
  };
  TRY(visit(sql.summarise(), [&](Statement& statement) { sql.bind(statement); }, take));
  std::ranges::sort(rows,
                    [](const SummaryRow& a, const SummaryRow& b) { return comes_before(a, b); });
  return rows;
}

Result<void> DuckdbStore::scan_summary(const SummaryQuery& query, const SummarySink& sink) {
  const SummarySql sql(query);
  return visit(
      sql.scan(), [&](Statement& statement) { sql.bind(statement); },
      [&](const Rows& chunk) -> Result<bool> {
        const std::vector<SummaryRow> some = TRY(summary_rows_of(chunk, query.group_by.size()));
        return sink(some);
      });
}

Result<std::optional<WorkClaim>> DuckdbStore::claim_work(const ClaimRequest& request) {
  std::optional<WorkClaim> claim;
  TRY(change([&](Connection& connection) -> Result<void> {
    auto made = pennyweight::claim_work(connection, request);
    if (!made) return std::unexpected(made.error());
    claim = *std::move(made);
    return {};
  }));
  return claim;
}

Result<Closing> DuckdbStore::close_month(const Closing& closing) {
  if (read_only_) return refuse_to_write();
  SessionLock lock = TRY(SessionLock::begin(database_, session_open_));
  auto closed = pennyweight::close_month(lock.connection(), closing);
  if (!closed) return closed;
  TRY(lock.commit());
  return closed;
}

Result<void> DuckdbStore::issue_invoices(std::span<const IssuedInvoice> invoices) {
  return change(
      [&](Connection& connection) { return pennyweight::issue_invoices(connection, invoices); });
}

// The engine also opens files of several other formats, such as CSV, as an in-memory view in which
// everything written would be lost. An empty file becomes a database.
Result<void> check_magic(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::array<char, 12> head{};
  file.read(head.data(), head.size());
  if (file.gcount() == 0 && file.eof()) return {};
  if (file.gcount() == 0) return fail(ErrorCode::kIo, "it can't be read; check its permissions");
  if (std::string_view(head.data(), head.size()).substr(8) != "DUCK") {
    return fail(ErrorCode::kBadFile, "it is not a DuckDB database; name another file");
  }
  return {};
}

Result<void> check_path(const DuckdbOptions& options) {
  namespace fs = std::filesystem;
  if (options.path.empty()) return fail(ErrorCode::kConfig, "the store has no path");
  if (options.path.starts_with(":memory:")) {
    return fail(ErrorCode::kConfig, "DuckDB does not accept this as the name of a file");
  }
  std::error_code code;
  const fs::path path(options.path);
  if (fs::is_directory(path, code)) {
    return fail(ErrorCode::kBadFile, "it is a directory; name a file in it");
  }
  if (fs::exists(path, code)) return check_magic(path);
  if (options.read_only) {
    return fail(ErrorCode::kNotFound, "there is no such file; import something first");
  }
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  if (!fs::is_directory(folder, code)) {
    return fail(ErrorCode::kNotFound, "the directory " + folder.string() + " does not exist");
  }
  return {};
}

// Opens the file at `path`, with our tables.
Result<duckdb::Database> open_file(const DuckdbOptions& options, const std::string& path) {
  Result<duckdb::Database> database =
      duckdb::Database::open({.path = path,
                              .read_only = options.read_only,
                              .memory_bytes_max = options.memory_bytes_max,
                              .threads = options.threads,
                              .temp_directory = options.temp_directory,
                              .keeps_insertion_order = false,
                              .survives_kill = true});
  if (!database) return database;
  std::error_code code;
  if (!std::filesystem::exists(path, code)) {
    return fail(ErrorCode::kConfig, "DuckDB does not accept this as the name of a file");
  }
  Connection connection = TRY(database->connect());
  TRY(prepare_schema(connection, options.read_only));
  return database;
}

// DuckDB creates a file step by step, and cannot open one whose creation was interrupted. So a new
// ledger is created under another name and renamed when it is complete. If another program was
// faster, its file stays.
Result<void> make_file(const DuckdbOptions& options) {
  namespace fs = std::filesystem;
  const std::string making = fmt::format("{}.making-{}", options.path, ::getpid());
  std::error_code code;
  // Of an earlier attempt: in a container every program has the same number.
  for (const char* end : {"", ".wal", ".rescue"}) fs::remove(making + end, code);
  {
    Result<duckdb::Database> made = open_file(options, making);
    if (!made) {
      fs::remove(making, code);
      return std::unexpected(made.error());
    }
    TRY(made->checkpoint());
  }
  // Unlike a rename, a link never replaces an existing file.
  std::error_code linking;
  fs::create_hard_link(making, options.path, linking);
  if (linking && !fs::exists(options.path, code)) fs::rename(making, options.path, linking);
  fs::remove(making, code);
  for (const char* end : {".wal", ".rescue"}) fs::remove(making + end, code);
  if (!fs::exists(options.path, code)) {
    return fail(ErrorCode::kIo, "cannot put a new file there: " + linking.message());
  }
  return {};
}

Result<std::unique_ptr<Store>> open(const DuckdbOptions& options) {
  TRY(check_path(options));
  std::error_code code;
  if (!options.read_only && !std::filesystem::exists(options.path, code)) {
    TRY(make_file(options));
  }
  duckdb::Database database = TRY(open_file(options, options.path));
  return std::make_unique<DuckdbStore>(std::move(database), options.read_only);
}

}  // namespace

Result<std::unique_ptr<Store>> open_duckdb_store(const DuckdbOptions& options) {
  Result<std::unique_ptr<Store>> store = open(options);
  if (!store) return std::unexpected(store.error().during("cannot open the store " + options.path));
  return store;
}

}  // namespace pennyweight
