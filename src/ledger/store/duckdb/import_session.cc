#include "ledger/store/duckdb/import_session.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "core/limits.h"
#include "core/try.h"
#include "ledger/end_keys.h"
#include "ledger/store/duckdb/fact_table.h"
#include "ledger/store/duckdb/fingerprint_filter.h"
#include "ledger/store/duckdb/one_engine_thread.h"
#include "ledger/store/duckdb/resolution.h"
#include "ledger/store/duckdb/schema.h"
#include "ledger/store/duckdb/usage_keys.h"
#include "ledger/store/duckdb/work.h"
#include "ledger/store_rules.h"

namespace pennyweight {
namespace {

using duckdb::Appender;

// One staging table, opened when the first row arrives.
class TableAppender {
 public:
  enum class Writes { kAtOnce, kBehind };
  TableAppender(std::string catalog, std::string table, std::string create,
                Writes writes = Writes::kAtOnce)
      : catalog_(std::move(catalog)),
        table_(std::move(table)),
        create_(std::move(create)),
        writes_(writes) {}

  Result<Appender*> open(duckdb::Connection& connection) {
    if (appender_) return &*appender_;
    if (!create_.empty()) {
      TRY(connection.execute(create_));
    }
    Appender opened = TRY(writes_ == Writes::kBehind
                              ? Appender::open_behind(connection, catalog_, table_, kFlushRows)
                              : Appender::open(connection, catalog_, table_));
    appender_.emplace(std::move(opened));
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
  // Rows that came by another way.
  void add_rows(std::uint64_t rows) { rows_ += rows; }

 private:
  std::string catalog_, table_, create_;
  Writes writes_;
  std::optional<Appender> appender_;
  std::uint64_t rows_ = 0, unflushed_ = 0;
};

// The temporary table in which the facts of one kind wait for resolution.
template <class Fact>
class StagingTable : public TableAppender {
 public:
  StagingTable()
      : TableAppender(
            "temp", staged_table<Fact>(),
            "CREATE TEMP TABLE " + staged_table<Fact>() + " (" + table_definition<Fact>() + ")") {}
};

// What the ledger contains that decides about a delivery.
struct PriorLedger {
  std::uint64_t imports = 0;     // the number of the last import
  std::set<std::string> closed;  // closed months
  bool known_file = false;       // this file of differences was imported before
};

class DuckdbImport : public ImportSession {
 public:
  DuckdbImport(SessionLock lock, duckdb::Database& database, ImportSource source,
               PriorLedger before)
      : lock_(std::move(lock)),
        database_(database),
        source_(std::move(source)),
        number_(before.imports + 1),
        before_(std::move(before)) {}

  Result<void> append_charges(std::span<const Charge> charges) override;
  Result<void> append_holdings(std::span<const Holding> holdings) override {
    return stage(holdings);
  }
  Result<void> append_nodes(std::span<const Node> nodes) override {
    return stage_with_end_keys(nodes);
  }
  Result<void> append_gpus(std::span<const Gpu> gpus) override { return stage_with_end_keys(gpus); }
  Result<void> append_usages(std::span<const Usage> usages) override;
  Result<void> append_outages(std::span<const Outage> outages) override { return stage(outages); }
  Result<void> append_corrections(std::span<const Correction> corrections) override;
  Result<void> append_outcomes(std::span<const Outcome> outcomes) override {
    return stage(outcomes);
  }
  Result<void> append_rejected(std::span<const RejectedRow> rows) override;
  Result<ImportOutcome> commit_on(const CommitTerms& terms) override;

 private:
  // Appends the facts of one chunk, and what is written beside them.
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
  TableAppender& staging_table() {
    return std::get<StagingTable<Fact>>(staged_);
  }
  template <class Fact>
  Result<void> write(TableAppender& staging_table, const Batch<Fact>& batch);
  template <class Fact>
  Result<void> stage(std::span<const Fact> facts);
  template <class Fact>
  Result<void> stage_with_end_keys(std::span<const Fact> facts);
  template <class Fact>
  Hash128 key_of(const Fact& fact) {
    if constexpr (has_end_key<Fact>) {
      return std::get<std::optional<EndKeys<Fact>>>(end_keys_)->key_of(fact);
    } else {
      return natural_key(fact);
    }
  }
  Result<void> remember_keys_of(const std::string& month);
  const std::string& booked_month_of(const std::string& billing_month);
  Result<void> replace(ImportOutcome& outcome, const CommitTerms& terms);
  template <class Fact>
  Result<void> resolve(FactCounts& counts, ImportOutcome& outcome);
  Result<void> resolve_usages(ImportOutcome& outcome);
  Result<void> keep_rejected_rows();
  Result<void> record(const ImportOutcome& outcome, const std::string& statement);
  Result<void> record_invalidations(const ImportOutcome& outcome);

  SessionLock lock_;
  duckdb::Database& database_;
  ImportSource source_;
  std::uint64_t number_;
  PriorLedger before_;
  bool committed_ = false;
  std::map<std::string, std::string> booked_months_;  // by billing month
  std::uint64_t late_ = 0;                            // of charges_

  std::unique_ptr<OneEngineThread> one_thread_;  // while lines are appended
  // Bills are long: the next lines are read while the engine writes.
  TableAppender charges_ = {"", Table<Charge>::kName, "", TableAppender::Writes::kBehind};
  std::tuple<StagingTable<Charge>, StagingTable<Holding>, StagingTable<Node>, StagingTable<Gpu>,
             StagingTable<Usage>, StagingTable<Outage>, StagingTable<Correction>,
             StagingTable<Outcome>>
      staged_;
  std::tuple<std::optional<EndKeys<Node>>, std::optional<EndKeys<Gpu>>> end_keys_;
  std::unique_ptr<FingerprintFilter> contents_;
  std::unique_ptr<FingerprintFilter>
      ledger_keys_;  // absent while the ledger has no line of these months
  // Of the previous line; the next line usually has the same.
  struct Month {
    Instant begin;
    std::string billing;
    std::string_view booked;  // an entry of booked_months_
  };
  std::optional<Month> month_;
  std::set<std::string> months_;  // the months whose ledger lines are in ledger_keys_

  TableAppender usages_ = {"", Table<Usage>::kName, ""};  // of those that are certainly new
  UsageKeys usage_keys_;

  TableAppender rejected_ = {
      "temp", "staged_rejected",
      "CREATE TEMP TABLE staged_rejected (" + rejected_row_definition() + ")"};
  InvalidationCollector invalidations_;
  std::map<Hash128, std::uint64_t> rejected_seen_;
  std::uint64_t rejected_count_ = 0;
};

template <class Fact>
Result<void> DuckdbImport::write(TableAppender& staging_table, const Batch<Fact>& batch) {
  if (batch.facts.empty()) return {};
  Appender* appender = TRY(staging_table.open(lock_.connection()));
  const Result<void> written =
      append_facts(*appender, std::span<const Fact* const>(batch.facts), batch.keys, number_);
  if (!written) return written;
  return staging_table.appended(batch.facts.size());
}

template <class Fact>
Result<void> DuckdbImport::stage_with_end_keys(std::span<const Fact> facts) {
  auto& keys = std::get<std::optional<EndKeys<Fact>>>(end_keys_);
  if (!keys) {
    const std::vector<Fact> known = TRY(all_facts<Fact>(lock_.connection().query(
        "SELECT " + fact_columns<Fact>("") + " FROM " + Table<Fact>::kName)));
    keys.emplace(std::span<const Fact>(known));
  }
  return stage(facts);
}

template <class Fact>
Result<void> DuckdbImport::stage(std::span<const Fact> facts) {
  CHECK(!committed_, "nothing is appended after commit");
  for (std::size_t begin = 0; begin < facts.size(); begin += Appender::kChunkRows) {
    Batch<Fact> batch;
    for (const Fact& fact :
         facts.subspan(begin, std::min<std::size_t>(Appender::kChunkRows, facts.size() - begin))) {
      batch.add(fact, {key_of(fact), content_hash(fact)});
      if constexpr (!std::is_same_v<Fact, Charge>) invalidations_.add(fact);
    }
    TRY(write(staging_table<Fact>(), batch));
  }
  return {};
}

Result<void> DuckdbImport::append_charges(std::span<const Charge> charges) {
  CHECK(!committed_, "nothing is appended after commit");
  if (before_.known_file) return {};
  if (!contents_) {
    contents_ = std::make_unique<FingerprintFilter>();
    auto one_thread = TRY(OneEngineThread::begin(database_));
    one_thread_ = std::move(one_thread);
  }
  for (std::size_t begin = 0; begin < charges.size(); begin += Appender::kChunkRows) {
    Batch<Charge> fresh, doubtful;
    for (const Charge& charge : charges.subspan(
             begin, std::min<std::size_t>(Appender::kChunkRows, charges.size() - begin))) {
      if (!month_ || month_->begin != charge.billing_period.begin()) {
        const std::string month = month_of(charge.billing_period.begin());
        TRY(remember_keys_of(month));
        month_ = Month{charge.billing_period.begin(), month, booked_month_of(month)};
      }
      const ChargeHashes hashes = hashes_of(charge);
      const FactKeys keys = {
          hashes.content, hashes.natural_key, hashes.content, month_->booked, {}};
      const bool is_new =
          !contents_->may_hold(keys.id) && (!ledger_keys_ || !ledger_keys_->may_hold(keys.second));
      contents_->add(keys.id);
      if (is_new && keys.booked_month != month_->billing) ++late_;
      (is_new ? fresh : doubtful).add(charge, keys);
    }
    TRY(write(charges_, fresh));
    TRY(write(staging_table<Charge>(), doubtful));
  }
  return {};
}

Result<void> DuckdbImport::append_usages(std::span<const Usage> usages) {
  CHECK(!committed_, "nothing is appended after commit");
  for (std::size_t begin = 0; begin < usages.size(); begin += Appender::kChunkRows) {
    const std::span<const Usage> chunk =
        usages.subspan(begin, std::min<std::size_t>(Appender::kChunkRows, usages.size() - begin));
    TRY(usage_keys_.read_times_of(database_, chunk));
    Batch<Usage> fresh, doubtful;
    for (const Usage& usage : chunk) {
      const FactKeys keys = {natural_key(usage), content_hash(usage)};
      const bool is_new = UsageKeys::is_of_collector(usage) && usage_keys_.add_if_new(keys.id);
      (is_new ? fresh : doubtful).add(usage, keys);
      invalidations_.add(usage);
    }
    TRY(write(usages_, fresh));
    TRY(write(staging_table<Usage>(), doubtful));
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

// A new correction of a closed month is not allowed.
Result<void> DuckdbImport::append_corrections(std::span<const Correction> corrections) {
  if (before_.closed.empty()) return stage(corrections);
  std::vector<Correction> good;
  for (const Correction& correction : corrections) {
    const auto month = closed_month_of(
        correction, [&](const std::string& m) { return before_.closed.contains(m); });
    if (month) {
      duckdb::Statement select = TRY(lock_.connection().prepare(
          "SELECT count(*)::UBIGINT FROM corrections WHERE correction_id = $1"));
      const auto known = TRY(counts_of<1>(select.bind_uuid(1, natural_key(correction)).query()));
      if (known[0] == 0) {
        const RejectedRow row = late_correction_row(source_.name, correction, *month);
        TRY(append_rejected({&row, 1}));
        continue;
      }
    }
    good.push_back(correction);
  }
  return stage(std::span<const Correction>(good));
}

// The billing period is part of a charge's natural key, so a line can only conflict with lines of
// its own month.
Result<void> DuckdbImport::remember_keys_of(const std::string& month) {
  if (!months_.insert(month).second) return {};
  duckdb::Connection connection = TRY(database_.connect());
  duckdb::Statement select =
      TRY(connection.prepare("SELECT natural_key FROM charges WHERE billing_month = $1"));
  return each_chunk(select.bind_text(1, month).query(),
                    [&](const duckdb::Rows& chunk) -> Result<bool> {
                      if (!ledger_keys_) ledger_keys_ = std::make_unique<FingerprintFilter>();
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
    Appender* appender = TRY(rejected_.open(lock_.connection()));
    const Hash128 content = content_hash(row);
    const FactId id = numbered(content, rejected_seen_[content]++);
    const RejectedRow* const rejected = &row;
    duckdb_io::ColumnFiller<RejectedRow> filler(*appender, {&rejected, 1});
    filler.each([&](auto& writer, auto at, const RejectedRow&) { writer.set_uuid(at, id.hash); });
    filler.each([&](auto& writer, auto at, const RejectedRow&) { writer.set_uint64(at, number_); });
    Table<RejectedRow>::list(filler);
    TRY(appender->append(1));
    TRY(rejected_.appended(1));
  }
  return {};
}

template <class Fact>
Result<void> DuckdbImport::resolve(FactCounts& counts, ImportOutcome& outcome) {
  TableAppender& staged = staging_table<Fact>();
  TRY(staged.close());
  if (staged.rows() == 0) return {};
  const ResolutionRequest order = {
      number_, staged.rows(), source_.name, source_.style,
      std::max<std::uint64_t>(kConflictRowsShown, limits::kRejectedRowsKeptMax - rejected_.rows())};
  Resolution resolved = TRY([&] {
    if constexpr (std::is_same_v<Fact, Charge>) {
      return resolve_charges(lock_.connection(), order);
    } else {
      return resolve_keyed_facts<Fact>(lock_.connection(), order);
    }
  }());
  counts = resolved.counts;
  outcome.restated.late += resolved.late;
  for (const RejectedRow& row : resolved.conflict_rows) {
    if (outcome.conflict_rows.size() == kConflictRowsShown) break;
    outcome.conflict_rows.push_back(row);
  }
  const std::uint64_t described = resolved.conflict_rows.size();
  rejected_count_ += counts.conflicts - described;
  return append_rejected(resolved.conflict_rows);
}

Result<void> DuckdbImport::resolve_usages(ImportOutcome& outcome) {
  StagingTable<Usage>& staged = std::get<StagingTable<Usage>>(staged_);
  TRY(usages_.close());
  TRY(staged.close());
  std::uint64_t direct = usages_.rows();
  if (direct > 0 && staged.rows() > 0) {
    const std::uint64_t moved = TRY(stage_contended_usages(lock_.connection(), number_));
    direct -= moved;
    staged.add_rows(moved);
  }
  TRY(resolve<Usage>(outcome.usages, outcome));
  outcome.usages.created += direct;
  return {};
}

Result<void> DuckdbImport::replace(ImportOutcome& outcome, const CommitTerms& terms) {
  const auto restated = TRY(
      retire_left_out(lock_.connection(),
                      {.import = number_,
                       .staged_rows = staging_table<Charge>().rows(),
                       .also_replaced = terms.also_replaced,
                       .open_month = [&](const std::string& m) { return booked_month_of(m); }}));
  outcome.restated.removed = restated.removed;
  outcome.restated.reversed = restated.reversed;
  return {};
}

Result<void> DuckdbImport::keep_rejected_rows() {
  TRY(rejected_.close());
  if (rejected_.rows() == 0) return {};
  return lock_.connection().execute(
      "INSERT INTO rejected_rows BY NAME SELECT * FROM staged_rejected "
      "WHERE row_id NOT IN (SELECT row_id FROM rejected_rows)");
}

Result<void> DuckdbImport::record(const ImportOutcome& outcome, const std::string& statement) {
  return duckdb_io::RowInsert(Table<ImportRecord>::kName)
      .number("number", number_)
      .add(import_record(source_, outcome, statement))
      .execute(lock_.connection());
}

Result<void> DuckdbImport::record_invalidations(const ImportOutcome& outcome) {
  std::vector<Invalidation> found = invalidations_by(invalidations_, outcome);
  const Restated& restated = outcome.restated;
  if (outcome.charges.created + restated.removed + restated.reversed > 0) {
    const std::string import = std::to_string(number_);
    TRY(each_chunk(
        lock_.connection().query(
            "SELECT booked_month FROM charges WHERE import_number = " + import +
            " UNION SELECT booked_month FROM charges WHERE charge_id IN (SELECT charge_id FROM "
            "retired_charges WHERE reversal IS NULL AND import_number = " +
            import + ") ORDER BY booked_month"),
        [&](const duckdb::Rows& chunk) -> Result<bool> {
          for (std::uint64_t row = 0; row < chunk.size(); ++row) {
            found.push_back(charge_invalidation(chunk.column(0).text(row)));
          }
          return true;
        }));
  }
  return found.empty() ? Result<void>() : save_invalidations(lock_.connection(), number_, found);
}

Result<ImportOutcome> DuckdbImport::commit_on(const CommitTerms& terms) {
  CHECK(!std::exchange(committed_, true), "a session is committed once");
  const bool replaces = source_.style == DeliveryStyle::kReplacement;
  if (replaces && rejected_count_ > 0 && !terms.accepts_rejected) {
    return fail(ErrorCode::kBadFile, replacement_is_incomplete(rejected_count_));
  }
  committed_ = false;  // conflicts are still to be appended
  ImportOutcome outcome;
  outcome.number = number_;
  outcome.known_file = before_.known_file;
  Result<void> done = charges_.close();
  one_thread_.reset();
  if (done) done = resolve<Charge>(outcome.charges, outcome);
  outcome.charges.created += charges_.rows();
  outcome.restated.late += late_;
  if (done && replaces) done = replace(outcome, terms);
  if (done) done = resolve<Holding>(outcome.holdings, outcome);
  if (done) done = resolve<Node>(outcome.nodes, outcome);
  if (done) done = resolve<Gpu>(outcome.gpus, outcome);
  if (done) done = resolve_usages(outcome);
  if (done) done = resolve<Outage>(outcome.outages, outcome);
  if (done) done = resolve<Correction>(outcome.corrections, outcome);
  if (done) done = resolve<Outcome>(outcome.outcomes, outcome);
  if (done) done = keep_rejected_rows();
  outcome.rejected = rejected_count_;
  if (done) done = record(outcome, terms.statement);
  if (done) done = record_invalidations(outcome);
  if (done) done = lock_.commit();
  committed_ = true;
  if (!done) return std::unexpected(done.error().during("cannot import " + source_.name));
  return outcome;
}

Result<PriorLedger> read_prior_ledger(duckdb::Connection& connection, const ImportSource& source) {
  PriorLedger before;
  const auto last =
      TRY(counts_of<1>(connection.query("SELECT coalesce(max(number), 0)::UBIGINT FROM imports")));
  before.imports = last[0];
  TRY(each_chunk(connection.query("SELECT month FROM closings"),
                 [&](const duckdb::Rows& chunk) -> Result<bool> {
                   for (std::uint64_t row = 0; row < chunk.size(); ++row) {
                     before.closed.emplace(chunk.column(0).text(row));
                   }
                   return true;
                 }));
  if (!adds_every_line(source.style) || source.file_hash == Hash128{}) return before;
  duckdb::Statement select =
      TRY(connection.prepare("SELECT count(*)::UBIGINT FROM imports WHERE file_hash = $1"));
  const auto known = TRY(counts_of<1>(select.bind_uuid(1, source.file_hash).query()));
  before.known_file = known[0] > 0;
  return before;
}

}  // namespace

Result<std::unique_ptr<ImportSession>> begin_duckdb_import(duckdb::Database& database, bool& open,
                                                           const ImportSource& source) {
  SessionLock lock = TRY(SessionLock::begin(database, open));
  PriorLedger before = TRY(read_prior_ledger(lock.connection(), source));
  return std::make_unique<DuckdbImport>(std::move(lock), database, source, std::move(before));
}

}  // namespace pennyweight
