#include "store/duckdb/duckdb_store.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include "ledger/keeping.h"
#include "store/duckdb/fact_table.h"
#include "store/duckdb/import_session.h"
#include "store/duckdb/reconcile.h"
#include "store/duckdb/run_session.h"
#include "store/duckdb/schema.h"
#include "store/duckdb/summary_sql.h"
#include "store/duckdb/usage_scan.h"

namespace pennyweight {
namespace {

using duckdb::Connection;
using duckdb::Rows;
using duckdb::Statement;

class DuckdbStore : public Store {
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
  Result<void> scan_charges(const std::string& month, const ChargeSink& sink) override;
  Result<void> scan_holdings(const ClusterId& cluster, const Interval& during,
                             const HoldingSink& sink) override;
  Result<std::vector<Node>> nodes() override;
  Result<std::vector<Gpu>> gpus() override;
  Result<void> scan_usage(const ClusterId& cluster, const Interval& during,
                          const UsageSink& sink) override {
    return pennyweight::scan_usage(database_, cluster, during, sink);
  }
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
  Result<std::vector<Posting>> largest_postings(const SummaryQuery& query,
                                                std::uint64_t at_most) override;
  Result<std::vector<Run>> runs() override;
  Result<std::vector<ImportRecord>> imports() override;
  Result<std::vector<RejectedRow>> rejected_rows(std::uint64_t at_most) override;
  Result<StoreOverview> overview() override;
  Result<std::vector<SummaryRow>> summarise(const SummaryQuery& query) override;
  Result<std::vector<ReconcileTotals>> reconcile(const std::string& month, bool only_off,
                                                 const LineSink& sink) override {
    Result<Connection> connection = database_.connect();
    if (!connection) return std::unexpected(std::move(connection.error()));
    return pennyweight::reconcile(*connection, month, only_off, sink);
  }

 private:
  static std::unexpected<Error> refuse_to_write() {
    return fail(ErrorCode::kStore, "the store was opened to be read only");
  }
  // Prepares `sql` on a connection of its own, binds, and visits the chunks. A connection each, so
  // that a sink may ask the store for more while its scan goes on.
  template <class Bind, class Visit>
  Result<void> visit(const std::string& sql, const Bind& bind, const Visit& visit_chunk) {
    Result<Connection> connection = database_.connect();
    if (!connection) return std::unexpected(std::move(connection.error()));
    Result<Statement> statement = connection->prepare(sql);
    if (!statement) return std::unexpected(std::move(statement.error()));
    bind(*statement);
    return each_chunk(statement->query(), visit_chunk);
  }
  template <class Fact, class Bind>
  Result<std::vector<Fact>> collect(const std::string& rest, const Bind& bind) {
    std::vector<Fact> facts;
    const auto take = [&](const Rows& chunk) -> Result<bool> {
      Result<std::vector<Fact>> some = facts_of<Fact>(chunk);
      if (!some) return std::unexpected(std::move(some.error()));
      std::ranges::move(*some, std::back_inserter(facts));
      return true;
    };
    const Result<void> read =
        visit("SELECT " + fact_columns<Fact>("") + " FROM " + Table<Fact>::kName + " " + rest, bind,
              take);
    if (!read) return std::unexpected(read.error());
    return facts;
  }
  template <class Fact>
  Result<std::optional<Fact>> find(const FactId& id);
  Result<std::vector<std::string>> texts(const std::string& sql);

  duckdb::Database database_;
  bool read_only_;
  bool session_open_ = false;
};

constexpr auto kNothing = [](Statement&) {};

template <class Fact, class Sink>
Result<bool> hand_over(const Rows& chunk, const Sink& sink) {
  const Result<std::vector<Fact>> facts = facts_of<Fact>(chunk);
  if (!facts) return std::unexpected(facts.error());
  return sink(std::span<const Fact>(*facts));
}

Result<void> DuckdbStore::scan_charges(const std::string& month, const ChargeSink& sink) {
  return visit(
      "SELECT " + fact_columns<Charge>("") +
          " FROM charges WHERE $1 = '' OR billing_month = $1 ORDER BY charge_id",
      [&](Statement& statement) { statement.bind_text(1, month); },
      [&](const Rows& chunk) { return hand_over<Charge>(chunk, sink); });
}

Result<void> DuckdbStore::scan_holdings(const ClusterId& cluster, const Interval& during,
                                        const HoldingSink& sink) {
  // Of each attempt the ended fact, else the latest reading, as supersedes() has it. The order of
  // ids is the last word in both, since it is unique.
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

Result<std::vector<Node>> DuckdbStore::nodes() {
  return collect<Node>("ORDER BY cluster, name, valid_from", kNothing);
}

Result<std::vector<Gpu>> DuckdbStore::gpus() {
  return collect<Gpu>("ORDER BY cluster, node, gpu_index, uuid, valid_from", kNothing);
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
  Result<std::vector<Fact>> found =
      collect<Fact>(std::string("WHERE ") + Table<Fact>::kId + " = $1",
                    [&](Statement& statement) { statement.bind_uuid(1, id.hash); });
  if (!found) return std::unexpected(std::move(found.error()));
  if (found->empty()) return std::nullopt;
  return std::move(found->front());
}

Result<std::vector<Posting>> DuckdbStore::postings_of(const FactId& charge) {
  std::vector<Posting> postings;
  const Result<void> read = visit(
      "SELECT " + posting_columns("p.") +
          " FROM postings p JOIN runs r ON r.run_id = p.run_id "
          "WHERE r.is_current AND p.charge_id = $1",
      [&](Statement& statement) { statement.bind_uuid(1, charge.hash); },
      [&](const Rows& chunk) -> Result<bool> {
        Result<std::vector<Posting>> some = postings_of_chunk(chunk);
        if (!some) return std::unexpected(std::move(some.error()));
        std::ranges::move(*some, std::back_inserter(postings));
        return true;
      });
  if (!read) return std::unexpected(read.error());
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
        const Result<std::vector<Posting>> some = postings_of_chunk(chunk);
        if (!some) return std::unexpected(some.error());
        return sink(*some);
      });
}

Result<std::vector<WorkloadDimensions>> DuckdbStore::dimensions_of(const Scope& scope) {
  Result<Connection> connection = database_.connect();
  if (!connection) return std::unexpected(std::move(connection.error()));
  Result<Statement> select = connection->prepare(
      "SELECT workload, dimension, value FROM run_dimensions JOIN runs USING (run_id) "
      "WHERE is_current AND cluster = $1 AND month = $2 ORDER BY workload, dimension");
  if (!select) return std::unexpected(std::move(select.error()));
  select->bind_text(1, scope.cluster.text()).bind_text(2, scope.month);
  return dimensions_of_rows(select->query());
}

Result<std::vector<Posting>> DuckdbStore::largest_postings(const SummaryQuery& query,
                                                           std::uint64_t at_most) {
  const SummarySql sql(query);
  std::vector<Posting> postings;
  const Result<void> read = visit(
      sql.largest(at_most), [&](Statement& statement) { sql.bind(statement); },
      [&](const Rows& chunk) -> Result<bool> {
        Result<std::vector<Posting>> some = postings_of_chunk(chunk);
        if (!some) return std::unexpected(std::move(some.error()));
        std::ranges::move(*some, std::back_inserter(postings));
        return true;
      });
  if (!read) return std::unexpected(read.error());
  return postings;
}

Result<std::vector<Run>> DuckdbStore::runs() {
  std::vector<Run> found;
  const Result<void> read =
      visit(std::string("SELECT ") + kRunColumns + " FROM runs ORDER BY cluster, month, number",
            kNothing, [&](const Rows& chunk) -> Result<bool> {
              for (std::uint64_t row = 0; row < chunk.size(); ++row)
                found.push_back(run_of(chunk, row));
              return true;
            });
  if (!read) return std::unexpected(read.error());
  return found;
}

Result<std::vector<ImportRecord>> DuckdbStore::imports() {
  std::vector<ImportRecord> found;
  const auto take = [&](const Rows& chunk) -> Result<bool> {
    for (std::uint64_t row = 0; row < chunk.size(); ++row) {
      const auto count = [&](std::uint64_t column) { return chunk.column(column).uint64(row); };
      found.push_back({.number = count(0),
                       .source = {.format = std::string(chunk.column(1).text(row)),
                                  .name = std::string(chunk.column(2).text(row)),
                                  .file_hash = chunk.column(3).uuid(row),
                                  .at = chunk.column(4).timestamp_ms(row)},
                       .charges = count(5),
                       .holdings = count(6),
                       .nodes = count(7),
                       .gpus = count(8),
                       .usages = count(9),
                       .outages = count(10),
                       .corrections = count(11),
                       .rejected = count(12)});
    }
    return true;
  };
  const Result<void> read = visit("SELECT * FROM imports ORDER BY number", kNothing, take);
  if (!read) return std::unexpected(read.error());
  return found;
}

Result<std::vector<RejectedRow>> DuckdbStore::rejected_rows(std::uint64_t at_most) {
  std::vector<RejectedRow> found;
  const auto take = [&](const Rows& chunk) -> Result<bool> {
    for (std::uint64_t row = 0; row < chunk.size(); ++row) {
      const auto text = [&](std::uint64_t column) {
        return std::string(chunk.column(column).text(row));
      };
      found.push_back({text(0), chunk.column(1).uint64(row), text(2), text(3), text(4)});
    }
    return true;
  };
  const Result<void> read = visit(
      "SELECT file, line, column_name, reason, row_text FROM rejected_rows "
      "ORDER BY import_number, file, line, column_name, reason, row_text LIMIT " +
          std::to_string(at_most),
      kNothing, take);
  if (!read) return std::unexpected(read.error());
  return found;
}

Result<std::vector<std::string>> DuckdbStore::texts(const std::string& sql) {
  std::vector<std::string> found;
  const Result<void> read = visit(sql, kNothing, [&](const Rows& chunk) -> Result<bool> {
    const duckdb::Column column = chunk.column(0);
    for (std::uint64_t row = 0; row < chunk.size(); ++row) found.emplace_back(column.text(row));
    return true;
  });
  if (!read) return std::unexpected(read.error());
  return found;
}

Result<StoreOverview> DuckdbStore::overview() {
  StoreOverview view;
  const auto count = [](const char* table) {
    return std::string("(SELECT count(*)::UBIGINT FROM ") + table + "), ";
  };
  const Result<void> read =
      visit("SELECT " + count("charges") + count("holdings") + count("nodes") + count("gpus") +
                count("usages") + count("outages") + count("corrections") + count("imports") +
                count("rejected_rows") +
                "(SELECT coalesce(sum(postings), 0)::UBIGINT FROM runs WHERE is_current)",
            kNothing, [&](const Rows& chunk) -> Result<bool> {
              std::uint64_t column = 0;
              for (std::uint64_t* into : {&view.charges, &view.holdings, &view.nodes, &view.gpus,
                                          &view.usages, &view.outages, &view.corrections,
                                          &view.imports, &view.rejected, &view.postings}) {
                *into = chunk.column(column++).uint64(0);
              }
              return true;
            });
  if (!read) return std::unexpected(read.error());
  Result<std::vector<std::string>> clusters =
      texts("SELECT cluster FROM nodes UNION SELECT cluster FROM holdings ORDER BY cluster");
  if (!clusters) return std::unexpected(std::move(clusters.error()));
  Result<std::vector<std::string>> months =
      texts("SELECT DISTINCT billing_month FROM charges ORDER BY billing_month");
  if (!months) return std::unexpected(std::move(months.error()));
  view.clusters = std::move(*clusters);
  view.months = std::move(*months);
  return view;
}

Result<std::vector<SummaryRow>> DuckdbStore::summarise(const SummaryQuery& query) {
  const SummarySql sql(query);
  const std::uint64_t keys = query.group_by.size();
  std::vector<SummaryRow> rows;
  const auto take = [&](const Rows& chunk) -> Result<bool> {
    for (std::uint64_t row = 0; row < chunk.size(); ++row) {
      const Result<Currency> currency = Currency::parse(chunk.column(keys + 1).text(row));
      if (!currency) return std::unexpected(currency.error());
      const auto money = [&](std::uint64_t i) {
        return Money::from_ticks(chunk.column(keys + 2 + i).unscaled(row), *currency);
      };
      const auto amount = [&](std::uint64_t i) {
        return static_cast<UInt128>(chunk.column(keys + 6 + i).hugeint(row));
      };
      SummaryRow& sum = rows.emplace_back(
          SummaryRow{{}, {}, {money(0), money(1), money(2), money(3)}, {}, {}, {}, {}, 0});
      if (!chunk.column(0).is_null(row)) sum.bucket = chunk.column(0).date(row);
      for (std::uint64_t i = 0; i < keys; ++i) sum.keys.emplace_back(chunk.column(i + 1).text(row));
      sum.gpu_time = GpuTime::of(amount(0));
      sum.idle_time = GpuTime::of(amount(1));
      sum.memory_time = MemoryTime::of(amount(2));
      sum.observed_time = GpuTime::of(amount(3));
      sum.postings = chunk.column(keys + 10).uint64(row);
    }
    return true;
  };
  const Result<void> read =
      visit(sql.summarise(), [&](Statement& statement) { sql.bind(statement); }, take);
  if (!read) return std::unexpected(read.error());
  std::ranges::sort(rows,
                    [](const SummaryRow& a, const SummaryRow& b) { return comes_before(a, b); });
  return rows;
}

// The engine opens files of several other kinds too, a CSV say, as a view in memory, in which
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

Result<std::unique_ptr<Store>> open(const DuckdbOptions& options) {
  if (Result<void> good = check_path(options); !good) return std::unexpected(good.error());
  Result<duckdb::Database> database =
      duckdb::Database::open({.path = options.path,
                              .read_only = options.read_only,
                              .memory_bytes_max = options.memory_bytes_max,
                              .threads = options.threads,
                              .temp_directory = options.temp_directory,
                              .keeps_insertion_order = false});
  if (!database) return std::unexpected(std::move(database.error()));
  std::error_code code;
  if (!std::filesystem::exists(options.path, code)) {
    return fail(ErrorCode::kConfig, "DuckDB does not take this for the name of a file");
  }
  {
    Result<Connection> connection = database->connect();
    if (!connection) return std::unexpected(std::move(connection.error()));
    const Result<void> ready = prepare_schema(*connection, options.read_only);
    if (!ready) return std::unexpected(ready.error());
  }
  return std::make_unique<DuckdbStore>(std::move(*database), options.read_only);
}

}  // namespace

Result<std::unique_ptr<Store>> open_duckdb_store(const DuckdbOptions& options) {
  Result<std::unique_ptr<Store>> store = open(options);
  if (!store) return std::unexpected(store.error().during("cannot open the store " + options.path));
  return store;
}

}  // namespace pennyweight
