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
#include "store/duckdb/one_engine_thread.h"
#include "store/duckdb/seen_filter.h"
#include "store/duckdb/settle.h"
#include "store/duckdb/work.h"

namespace pennyweight {
namespace {

using duckdb::Appender;

// The appender buffers outside the engine's memory limit, so it is flushed often.
constexpr std::uint64_t kFlushRows = 20 * Appender::kChunkRows;
constexpr std::size_t kConflictRowsShown = 100;

// One table on its way in: opened when the first row comes.
class Inlet {
 public:
  enum class Writes { kAtOnce, kBehind };
  Inlet(std::string catalog, std::string table, std::string create, Writes writes = Writes::kAtOnce)
      : catalog_(std::move(catalog)),
        table_(std::move(table)),
        create_(std::move(create)),
        writes_(writes) {}

  Result<Appender*> open(duckdb::Connection& connection) {
    if (appender_) return &*appender_;
    if (!create_.empty()) {
      if (Result<void> made = connection.execute(create_); !made) {
        return std::unexpected(std::move(made.error()));
      }
    }
    Result<Appender> opened = writes_ == Writes::kBehind
                                  ? Appender::open_behind(connection, catalog_, table_, kFlushRows)
                                  : Appender::open(connection, catalog_, table_);
    if (!opened) return std::unexpected(std::move(opened.error()));
    appender_.emplace(std::move(*opened));
    return &*appender_;
  }
  Result<void> appended(std::uint64_t rows) {
    rows_ += rows;
    unflushed_ += rows;
    if (writes_ == Writes::kBehind || unflushed_ < kFlushRows) return {};
    unflushed_ = 0;
    return appender_->flush();
  }
  Result<void> close() { return appender_ ? appender_->close() : Result<void>(); }
  std::uint64_t rows() const { return rows_; }

 private:
  std::string catalog_, table_, create_;
  Writes writes_;
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

// What the ledger holds that decides about a delivery.
struct Before {
  std::uint64_t imports = 0;     // the number of the last
  std::set<std::string> closed;  // months
  bool known_file = false;       // of differences, taken before
};

class DuckdbImport : public ImportSession {
 public:
  DuckdbImport(SessionLock lock, duckdb::Database& database, ImportSource source, Before before)
      : lock_(std::move(lock)),
        database_(database),
        source_(std::move(source)),
        number_(before.imports + 1),
        before_(std::move(before)) {}

  Result<void> append_charges(std::span<const Charge> charges) override;
  Result<void> append_holdings(std::span<const Holding> holdings) override {
    return stage(holdings);
  }
  Result<void> append_nodes(std::span<const Node> nodes) override { return stage(nodes); }
  Result<void> append_gpus(std::span<const Gpu> gpus) override { return stage(gpus); }
  Result<void> append_usages(std::span<const Usage> usages) override { return stage(usages); }
  Result<void> append_outages(std::span<const Outage> outages) override { return stage(outages); }
  Result<void> append_corrections(std::span<const Correction> corrections) override;
  Result<void> append_outcomes(std::span<const Outcome> outcomes) override {
    return stage(outcomes);
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
  const std::string& booked_month_of(const std::string& billing_month);
  Result<void> replace(ImportOutcome& outcome);
  template <class Fact>
  Result<void> settle(FactCounts& counts, ImportOutcome& outcome);
  Result<void> keep_rejected_rows();
  Result<void> record(const ImportOutcome& outcome);
  Result<void> record_touched(const ImportOutcome& outcome);

  SessionLock lock_;
  duckdb::Database& database_;
  ImportSource source_;
  std::uint64_t number_;
  Before before_;
  bool committed_ = false;
  std::map<std::string, std::string> booked_months_;  // of billing months
  std::set<std::string> scopes_;                      // of a replacement
  std::uint64_t late_ = 0;                            // of charges_

  std::unique_ptr<OneEngineThread> one_thread_;  // while lines are appended
  // Bills are long: while the engine writes lines, the next are read.
  Inlet charges_ = {"", Table<Charge>::kName, "", Inlet::Writes::kBehind};
  std::tuple<Staging<Charge>, Staging<Holding>, Staging<Node>, Staging<Gpu>, Staging<Usage>,
             Staging<Outage>, Staging<Correction>, Staging<Outcome>>
      staged_;
  std::unique_ptr<SeenFilter> contents_;
  std::unique_ptr<SeenFilter> ledger_keys_;  // none while the ledger has no line of these months
  // Of the line before, which is mostly that of the next.
  struct Month {
    Instant begin;
    std::string billing;
    std::string_view booked;  // an entry of booked_months_
  };
  std::optional<Month> month_;
  std::set<std::string> months_;  // whose lines of the ledger are in ledger_keys_

  Inlet rejected_ = {
      "temp", "staged_rejected",
      "CREATE TEMP TABLE staged_rejected (row_id UUID, import_number UBIGINT, file "
      "VARCHAR, line UBIGINT, column_name VARCHAR, reason VARCHAR, row_text VARCHAR)"};
  ImportTouches touches_;
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
      if constexpr (!std::is_same_v<Fact, Charge>) touches_.see(fact);
    }
    if (Result<void> done = write(inlet<Fact>(), batch); !done) return done;
  }
  return {};
}

Result<void> DuckdbImport::append_charges(std::span<const Charge> charges) {
  CHECK(!committed_, "nothing is appended after commit");
  if (before_.known_file) return {};
  if (!contents_) {
    contents_ = std::make_unique<SeenFilter>();
    auto one_thread = OneEngineThread::begin(database_);
    if (!one_thread) return std::unexpected(std::move(one_thread.error()));
    one_thread_ = std::move(*one_thread);
  }
  for (std::size_t begin = 0; begin < charges.size(); begin += Appender::kChunkRows) {
    Batch<Charge> fresh, doubtful;
    for (const Charge& charge : charges.subspan(
             begin, std::min<std::size_t>(Appender::kChunkRows, charges.size() - begin))) {
      if (!month_ || month_->begin != charge.billing_period.begin()) {
        const std::string month = month_of(charge.billing_period.begin());
        if (Result<void> done = remember_keys_of(month); !done) return done;
        month_ = Month{charge.billing_period.begin(), month, booked_month_of(month)};
      }
      const ChargeHashes hashes = hashes_of(charge);
      const FactKeys keys = {
          hashes.content, hashes.natural_key, hashes.content, month_->booked, {}};
      if (source_.style == DeliveryStyle::kReplacement) scopes_.insert(delivery_scope(charge));
      const bool is_new =
          !contents_->may_hold(keys.id) && (!ledger_keys_ || !ledger_keys_->may_hold(keys.second));
      contents_->add(keys.id);
      if (is_new && keys.booked_month != month_->billing) ++late_;
      (is_new ? fresh : doubtful).add(charge, keys);
    }
    if (Result<void> done = write(charges_, fresh); !done) return done;
    if (Result<void> done = write(inlet<Charge>(), doubtful); !done) return done;
  }
  return {};
}

const std::string& DuckdbImport::booked_month_of(const std::string& billing_month) {
  const auto [found, is_new] = booked_months_.try_emplace(billing_month);
  if (is_new) {
    found->second = open_month_from(
        billing_month, [&](const std::string& month) { return before_.closed.contains(month); });
  }
  return found->second;
}

// A new correction of a closed month can't be made.
Result<void> DuckdbImport::append_corrections(std::span<const Correction> corrections) {
  if (before_.closed.empty()) return stage(corrections);
  std::vector<Correction> good;
  for (const Correction& correction : corrections) {
    const auto month = closed_month_of(
        correction, [&](const std::string& m) { return before_.closed.contains(m); });
    if (month) {
      Result<duckdb::Statement> select = lock_.connection().prepare(
          "SELECT count(*)::UBIGINT FROM corrections WHERE correction_id = $1");
      if (!select) return std::unexpected(std::move(select.error()));
      const auto known = counts_of<1>(select->bind_uuid(1, natural_key(correction)).query());
      if (!known) return std::unexpected(known.error());
      if ((*known)[0] == 0) {
        const RejectedRow row = late_correction_row(source_.name, correction, *month);
        if (Result<void> done = append_rejected({&row, 1}); !done) return done;
        continue;
      }
    }
    good.push_back(correction);
  }
  return stage(std::span<const Correction>(good));
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
                      if (!ledger_keys_) ledger_keys_ = std::make_unique<SeenFilter>();
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
      number_, staged.rows(), source_.name, source_.style,
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
  outcome.restated.late += settled->late;
  for (const RejectedRow& row : settled->conflict_rows) {
    if (outcome.conflict_rows.size() == kConflictRowsShown) break;
    outcome.conflict_rows.push_back(row);
  }
  const std::uint64_t described = settled->conflict_rows.size();
  rejected_count_ += counts.conflicts - described;
  return append_rejected(settled->conflict_rows);
}

Result<void> DuckdbImport::replace(ImportOutcome& outcome) {
  Result<void> made =
      lock_.connection().execute("CREATE OR REPLACE TEMP TABLE delivered_scopes (scope VARCHAR)");
  for (const std::string& scope : scopes_) {
    if (!made) return made;
    Result<duckdb::Statement> insert =
        lock_.connection().prepare("INSERT INTO delivered_scopes VALUES ($1)");
    if (!insert) return std::unexpected(std::move(insert.error()));
    made = insert->bind_text(1, scope).execute();
  }
  if (!made) return made;
  const auto restated = retire_left_out(
      lock_.connection(), {.import = number_,
                           .staged_rows = inlet<Charge>().rows(),
                           .open_month = [&](const std::string& m) { return booked_month_of(m); }});
  if (!restated) return std::unexpected(restated.error());
  outcome.restated.removed = restated->removed;
  outcome.restated.reversed = restated->reversed;
  return {};
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
      "INSERT INTO imports VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, "
      "$15, $16, $17, $18, $19)");
  if (!insert) return std::unexpected(std::move(insert.error()));
  insert->bind_uint64(1, number_).bind_text(2, source_.format).bind_text(3, source_.name);
  insert->bind_uuid(4, source_.file_hash).bind_timestamp_ms(5, source_.at);
  insert->bind_uint64(6, outcome.charges.created).bind_uint64(7, outcome.holdings.created);
  insert->bind_uint64(8, outcome.nodes.created).bind_uint64(9, outcome.gpus.created);
  insert->bind_uint64(10, outcome.usages.created).bind_uint64(11, outcome.outages.created);
  insert->bind_uint64(12, outcome.corrections.created).bind_uint64(13, outcome.rejected);
  insert->bind_text(14, to_text(source_.style)).bind_text(15, source_.reason);
  insert->bind_uint64(16, outcome.restated.removed).bind_uint64(17, outcome.restated.reversed);
  insert->bind_uint64(18, outcome.restated.late).bind_uint64(19, outcome.outcomes.created);
  return insert->execute();
}

Result<void> DuckdbImport::record_touched(const ImportOutcome& outcome) {
  std::vector<TouchedPlace> places = touches_.places({.holdings = outcome.holdings.created,
                                                      .nodes = outcome.nodes.created,
                                                      .gpus = outcome.gpus.created,
                                                      .usages = outcome.usages.created,
                                                      .outages = outcome.outages.created,
                                                      .corrections = outcome.corrections.created});
  const Restated& restated = outcome.restated;
  if (outcome.charges.created + restated.removed + restated.reversed > 0) {
    const std::string import = std::to_string(number_);
    const auto read = each_chunk(
        lock_.connection().query(
            "SELECT booked_month FROM charges WHERE import_number = " + import +
            " UNION SELECT booked_month FROM charges WHERE charge_id IN (SELECT charge_id FROM "
            "retired_charges WHERE reversal IS NULL AND import_number = " +
            import + ") ORDER BY booked_month"),
        [&](const duckdb::Rows& chunk) -> Result<bool> {
          for (std::uint64_t row = 0; row < chunk.size(); ++row) {
            places.push_back(touched_lines(chunk.column(0).text(row)));
          }
          return true;
        });
    if (!read) return read;
  }
  return places.empty() ? Result<void>() : keep_touched(lock_.connection(), number_, places);
}

Result<ImportOutcome> DuckdbImport::commit() {
  CHECK(!std::exchange(committed_, true), "a session is committed once");
  if (source_.style == DeliveryStyle::kReplacement && rejected_count_ > 0) {
    return fail(ErrorCode::kBadFile, replacement_is_incomplete(rejected_count_));
  }
  committed_ = false;  // conflicts are still appended
  ImportOutcome outcome;
  outcome.number = number_;
  outcome.known_file = before_.known_file;
  Result<void> done = charges_.close();
  one_thread_.reset();
  if (done) done = settle<Charge>(outcome.charges, outcome);
  outcome.charges.created += charges_.rows();
  outcome.restated.late += late_;
  if (done && !scopes_.empty()) done = replace(outcome);
  if (done) done = settle<Holding>(outcome.holdings, outcome);
  if (done) done = settle<Node>(outcome.nodes, outcome);
  if (done) done = settle<Gpu>(outcome.gpus, outcome);
  if (done) done = settle<Usage>(outcome.usages, outcome);
  if (done) done = settle<Outage>(outcome.outages, outcome);
  if (done) done = settle<Correction>(outcome.corrections, outcome);
  if (done) done = settle<Outcome>(outcome.outcomes, outcome);
  if (done) done = keep_rejected_rows();
  outcome.rejected = rejected_count_;
  if (done) done = record(outcome);
  if (done) done = record_touched(outcome);
  if (done) done = lock_.commit();
  committed_ = true;
  if (!done) return std::unexpected(done.error().during("cannot import " + source_.name));
  return outcome;
}

Result<Before> look_up(duckdb::Connection& connection, const ImportSource& source) {
  Before before;
  const auto last =
      counts_of<1>(connection.query("SELECT coalesce(max(number), 0)::UBIGINT FROM imports"));
  if (!last) return std::unexpected(last.error());
  before.imports = (*last)[0];
  const auto read = each_chunk(connection.query("SELECT month FROM closings"),
                               [&](const duckdb::Rows& chunk) -> Result<bool> {
                                 for (std::uint64_t row = 0; row < chunk.size(); ++row) {
                                   before.closed.emplace(chunk.column(0).text(row));
                                 }
                                 return true;
                               });
  if (!read) return std::unexpected(read.error());
  const bool adds = source.style == DeliveryStyle::kDelta || source.style == DeliveryStyle::kLedger;
  if (!adds || source.file_hash == Hash128{}) return before;
  Result<duckdb::Statement> select =
      connection.prepare("SELECT count(*)::UBIGINT FROM imports WHERE file_hash = $1");
  if (!select) return std::unexpected(std::move(select.error()));
  const auto known = counts_of<1>(select->bind_uuid(1, source.file_hash).query());
  if (!known) return std::unexpected(known.error());
  before.known_file = (*known)[0] > 0;
  return before;
}

}  // namespace

Result<std::unique_ptr<ImportSession>> begin_duckdb_import(duckdb::Database& database, bool& open,
                                                           const ImportSource& source) {
  Result<SessionLock> lock = SessionLock::begin(database, open);
  if (!lock) return std::unexpected(std::move(lock.error()));
  Result<Before> before = look_up(lock->connection(), source);
  if (!before) return std::unexpected(before.error());
  return std::make_unique<DuckdbImport>(std::move(*lock), database, source, std::move(*before));
}

}  // namespace pennyweight
