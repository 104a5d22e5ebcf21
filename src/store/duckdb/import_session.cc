#include "store/duckdb/import_session.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "core/limits.h"
#include "ledger/keeping.h"
#include "store/duckdb/fact_table.h"
#include "store/duckdb/seen_filter.h"
#include "store/duckdb/settle.h"

namespace pennyweight {
namespace {

using duckdb::Appender;

// The appender buffers outside the engine's memory limit, so it is flushed often.
constexpr std::uint64_t kFlushRows = 20 * Appender::kChunkRows;
constexpr std::size_t kConflictRowsShown = 100;

// One table on its way in: opened when the first row comes.
class Inlet {
 public:
  Inlet(std::string catalog, std::string table, std::string create)
      : catalog_(std::move(catalog)), table_(std::move(table)), create_(std::move(create)) {}

  Result<Appender*> open(duckdb::Connection& connection) {
    if (appender_) return &*appender_;
    if (!create_.empty()) {
      if (Result<void> made = connection.execute(create_); !made) {
        return std::unexpected(std::move(made.error()));
      }
    }
    Result<Appender> opened = Appender::open(connection, catalog_, table_);
    if (!opened) return std::unexpected(std::move(opened.error()));
    appender_.emplace(std::move(*opened));
    return &*appender_;
  }
  Result<void> appended(std::uint64_t rows) {
    rows_ += rows;
    unflushed_ += rows;
    if (unflushed_ < kFlushRows) return {};
    unflushed_ = 0;
    return appender_->flush();
  }
  Result<void> close() { return appender_ ? appender_->close() : Result<void>(); }
  std::uint64_t rows() const { return rows_; }

 private:
  std::string catalog_, table_, create_;
  std::optional<Appender> appender_;
  std::uint64_t rows_ = 0, unflushed_ = 0;
};

// The temporary table in which the facts of one kind wait to be judged.
template <class Fact>
class Staging : public Inlet {
 public:
  Staging()
      : Inlet("temp", staged_table<Fact>(),
              "CREATE TEMP TABLE " + staged_table<Fact>() + " (" + table_definition<Fact>() + ")") {
  }
};

class DuckdbImport : public ImportSession {
 public:
  DuckdbImport(SessionLock lock, duckdb::Database& database, ImportSource source,
               std::uint64_t number)
      : lock_(std::move(lock)), database_(database), source_(std::move(source)), number_(number) {}

  Result<void> append_charges(std::span<const Charge> charges) override;
  Result<void> append_holdings(std::span<const Holding> holdings) override {
    return stage(holdings);
  }
  Result<void> append_nodes(std::span<const Node> nodes) override { return stage(nodes); }
  Result<void> append_gpus(std::span<const Gpu> gpus) override { return stage(gpus); }
  Result<void> append_usages(std::span<const Usage> usages) override { return stage(usages); }
  Result<void> append_outages(std::span<const Outage> outages) override { return stage(outages); }
  Result<void> append_corrections(std::span<const Correction> corrections) override {
    return stage(corrections);
  }
  Result<void> append_rejected(std::span<const RejectedRow> rows) override;
  Result<ImportOutcome> commit() override;

 private:
  // The facts of one chunk and what is written beside them.
  template <class Fact>
  struct Batch {
    std::vector<const Fact*> facts;
    std::vector<FactKeys> keys;
    void add(const Fact& fact, const FactKeys& key) {
      facts.push_back(&fact);
      keys.push_back(key);
    }
  };

  template <class Fact>
  Inlet& inlet() {
    return std::get<Staging<Fact>>(staged_);
  }
  template <class Fact>
  Result<void> write(Inlet& inlet, const Batch<Fact>& batch);
  template <class Fact>
  Result<void> stage(std::span<const Fact> facts);
  Result<void> remember_keys_of(const std::string& month);
  template <class Fact>
  Result<void> settle(FactCounts& counts, ImportOutcome& outcome);
  Result<void> keep_rejected_rows();
  Result<void> record(const ImportOutcome& outcome);

  SessionLock lock_;
  duckdb::Database& database_;
  ImportSource source_;
  std::uint64_t number_;
  bool committed_ = false;

  Inlet charges_ = {"", Table<Charge>::kName, ""};
  std::tuple<Staging<Charge>, Staging<Holding>, Staging<Node>, Staging<Gpu>, Staging<Usage>,
             Staging<Outage>, Staging<Correction>>
      staged_;
  std::unique_ptr<SeenFilter> contents_, ledger_keys_;
  std::set<std::string> months_;  // whose lines of the ledger are in ledger_keys_

  Inlet rejected_ = {
      "temp", "staged_rejected",
      "CREATE TEMP TABLE staged_rejected (row_id UUID, import_number UBIGINT, file "
      "VARCHAR, line UBIGINT, column_name VARCHAR, reason VARCHAR, row_text VARCHAR)"};
  std::map<Hash128, std::uint64_t> rejected_seen_;
  std::uint64_t rejected_count_ = 0;
};

template <class Fact>
Result<void> DuckdbImport::write(Inlet& inlet, const Batch<Fact>& batch) {
  if (batch.facts.empty()) return {};
  const Result<Appender*> appender = inlet.open(lock_.connection());
  if (!appender) return std::unexpected(appender.error());
  const Result<void> written =
      append_facts(**appender, std::span<const Fact* const>(batch.facts), batch.keys, number_);
  if (!written) return written;
  return inlet.appended(batch.facts.size());
}

template <class Fact>
Result<void> DuckdbImport::stage(std::span<const Fact> facts) {
  CHECK(!committed_, "nothing is appended after commit");
  for (std::size_t begin = 0; begin < facts.size(); begin += Appender::kChunkRows) {
    Batch<Fact> batch;
    for (const Fact& fact :
         facts.subspan(begin, std::min<std::size_t>(Appender::kChunkRows, facts.size() - begin))) {
      batch.add(fact, {natural_key(fact), content_hash(fact)});
    }
    if (Result<void> done = write(inlet<Fact>(), batch); !done) return done;
  }
  return {};
}

Result<void> DuckdbImport::append_charges(std::span<const Charge> charges) {
  CHECK(!committed_, "nothing is appended after commit");
  if (!contents_) {
    contents_ = std::make_unique<SeenFilter>();
    ledger_keys_ = std::make_unique<SeenFilter>();
  }
  for (std::size_t begin = 0; begin < charges.size(); begin += Appender::kChunkRows) {
    Batch<Charge> fresh, doubtful;
    for (const Charge& charge : charges.subspan(
             begin, std::min<std::size_t>(Appender::kChunkRows, charges.size() - begin))) {
      const FactKeys keys = {content_hash(charge), natural_key(charge)};
      if (Result<void> done = remember_keys_of(month_of(charge.billing_period.begin())); !done) {
        return done;
      }
      const bool is_new = !contents_->may_hold(keys.id) && !ledger_keys_->may_hold(keys.second);
      contents_->add(keys.id);
      (is_new ? fresh : doubtful).add(charge, keys);
    }
    if (Result<void> done = write(charges_, fresh); !done) return done;
    if (Result<void> done = write(inlet<Charge>(), doubtful); !done) return done;
  }
  return {};
}

// The billing period is part of a charge's natural key, so a line can only meet lines of its month.
Result<void> DuckdbImport::remember_keys_of(const std::string& month) {
  if (!months_.insert(month).second) return {};
  Result<duckdb::Connection> connection = database_.connect();
  if (!connection) return std::unexpected(std::move(connection.error()));
  Result<duckdb::Statement> select =
      connection->prepare("SELECT natural_key FROM charges WHERE billing_month = $1");
  if (!select) return std::unexpected(std::move(select.error()));
  return each_chunk(select->bind_text(1, month).query(),
                    [&](const duckdb::Rows& chunk) -> Result<bool> {
                      const duckdb::Column keys = chunk.column(0);
                      for (std::uint64_t row = 0; row < chunk.size(); ++row) {
                        ledger_keys_->add(keys.uuid(row));
                      }
                      return true;
                    });
}

Result<void> DuckdbImport::append_rejected(std::span<const RejectedRow> rows) {
  CHECK(!committed_, "nothing is appended after commit");
  rejected_count_ += rows.size();
  for (const RejectedRow& row : rows) {
    if (rejected_.rows() == limits::kRejectedRowsKeptMax) return {};
    const Result<Appender*> opened = rejected_.open(lock_.connection());
    if (!opened) return std::unexpected(opened.error());
    Appender& appender = **opened;
    const Hash128 content = content_hash(row);
    appender.column(0).set_uuid(0, numbered(content, rejected_seen_[content]++).hash);
    appender.column(1).set_uint64(0, number_);
    appender.column(2).set_text(0, row.file);
    appender.column(3).set_uint64(0, row.line);
    appender.column(4).set_text(0, row.column);
    appender.column(5).set_text(0, row.reason);
    appender.column(6).set_text(0, row.text);
    if (Result<void> done = appender.append(1); !done) return done;
    if (Result<void> done = rejected_.appended(1); !done) return done;
  }
  return {};
}

template <class Fact>
Result<void> DuckdbImport::settle(FactCounts& counts, ImportOutcome& outcome) {
  Inlet& staged = inlet<Fact>();
  if (Result<void> closed = staged.close(); !closed) return closed;
  if (staged.rows() == 0) return {};
  const SettleOrder order = {
      number_, staged.rows(), source_.name,
      std::max<std::uint64_t>(kConflictRowsShown, limits::kRejectedRowsKeptMax - rejected_.rows())};
  Result<Settled> settled = [&] {
    if constexpr (std::is_same_v<Fact, Charge>) {
      return settle_charges(lock_.connection(), order);
    } else {
      return settle_keyed<Fact>(lock_.connection(), order);
    }
  }();
  if (!settled) return std::unexpected(std::move(settled.error()));
  counts = settled->counts;
  for (const RejectedRow& row : settled->conflict_rows) {
    if (outcome.conflict_rows.size() == kConflictRowsShown) break;
    outcome.conflict_rows.push_back(row);
  }
  const std::uint64_t described = settled->conflict_rows.size();
  rejected_count_ += counts.conflicts - described;
  return append_rejected(settled->conflict_rows);
}

Result<void> DuckdbImport::keep_rejected_rows() {
  if (Result<void> closed = rejected_.close(); !closed) return closed;
  if (rejected_.rows() == 0) return {};
  return lock_.connection().execute(
      "INSERT INTO rejected_rows SELECT * FROM staged_rejected "
      "WHERE row_id NOT IN (SELECT row_id FROM rejected_rows)");
}

Result<void> DuckdbImport::record(const ImportOutcome& outcome) {
  Result<duckdb::Statement> insert = lock_.connection().prepare(
      "INSERT INTO imports VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)");
  if (!insert) return std::unexpected(std::move(insert.error()));
  insert->bind_uint64(1, number_).bind_text(2, source_.format).bind_text(3, source_.name);
  insert->bind_uuid(4, source_.file_hash).bind_timestamp_ms(5, source_.at);
  insert->bind_uint64(6, outcome.charges.created).bind_uint64(7, outcome.holdings.created);
  insert->bind_uint64(8, outcome.nodes.created).bind_uint64(9, outcome.gpus.created);
  insert->bind_uint64(10, outcome.usages.created).bind_uint64(11, outcome.outages.created);
  insert->bind_uint64(12, outcome.corrections.created).bind_uint64(13, outcome.rejected);
  return insert->execute();
}

Result<ImportOutcome> DuckdbImport::commit() {
  CHECK(!std::exchange(committed_, true), "a session is committed once");
  committed_ = false;  // conflicts are still appended
  ImportOutcome outcome;
  outcome.number = number_;
  Result<void> done = charges_.close();
  if (done) done = settle<Charge>(outcome.charges, outcome);
  outcome.charges.created += charges_.rows();
  if (done) done = settle<Holding>(outcome.holdings, outcome);
  if (done) done = settle<Node>(outcome.nodes, outcome);
  if (done) done = settle<Gpu>(outcome.gpus, outcome);
  if (done) done = settle<Usage>(outcome.usages, outcome);
  if (done) done = settle<Outage>(outcome.outages, outcome);
  if (done) done = settle<Correction>(outcome.corrections, outcome);
  if (done) done = keep_rejected_rows();
  outcome.rejected = rejected_count_;
  if (done) done = record(outcome);
  if (done) done = lock_.commit();
  committed_ = true;
  if (!done) return std::unexpected(done.error().during("cannot import " + source_.name));
  return outcome;
}

}  // namespace

Result<std::unique_ptr<ImportSession>> begin_duckdb_import(duckdb::Database& database, bool& open,
                                                           const ImportSource& source) {
  Result<SessionLock> lock = SessionLock::begin(database, open);
  if (!lock) return std::unexpected(std::move(lock.error()));
  const Result<std::array<std::uint64_t, 1>> last = counts_of<1>(
      lock->connection().query("SELECT coalesce(max(number), 0)::UBIGINT FROM imports"));
  if (!last) return std::unexpected(last.error());
  return std::make_unique<DuckdbImport>(std::move(*lock), database, source, (*last)[0] + 1);
}

}  // namespace pennyweight
