#include "ledger/store/clickhouse/import_session.h"

#include <array>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "core/check.h"
#include "core/limits.h"
#include "core/try.h"
#include "ledger/end_keys.h"
#include "ledger/store/clickhouse/closings.h"
#include "ledger/store/clickhouse/commit_turn.h"
#include "ledger/store/clickhouse/import_resolution.h"
#include "ledger/store/clickhouse/import_resolver.h"
#include "ledger/store/clickhouse/import_rows.h"
#include "ledger/store/clickhouse/scan.h"
#include "ledger/store/clickhouse/work.h"
#include "ledger/store_rules.h"

namespace pennyweight {
namespace {

// A resolution is valid for a state of the ledger in which these were the last entries.
constexpr std::array<std::string_view, 2> kResolutionInputs = {kImportEntry, kClosingEntry};

class ClickhouseImport : public ImportSession {
 public:
  ClickhouseImport(ClickhouseDatabase& database, SessionGuard mark, ImportSource source,
                   std::set<std::string> closed, bool known_file)
      : database_(database),
        mark_(std::move(mark)),
        source_(std::move(source)),
        closed_(std::move(closed)),
        known_file_(known_file),
        rows_(database) {}

  Result<void> append_charges(std::span<const Charge> charges) override;
  Result<void> append_holdings(std::span<const Holding> holdings) override { return add(holdings); }
  Result<void> append_nodes(std::span<const Node> nodes) override { return add(nodes); }
  Result<void> append_gpus(std::span<const Gpu> gpus) override { return add(gpus); }
  Result<void> append_usages(std::span<const Usage> usages) override { return add(usages); }
  Result<void> append_outages(std::span<const Outage> outages) override { return add(outages); }
  Result<void> append_corrections(std::span<const Correction> corrections) override {
    return add(corrections);
  }
  Result<void> append_outcomes(std::span<const Outcome> outcomes) override { return add(outcomes); }
  Result<void> append_rejected(std::span<const RejectedRow> rows) override {
    CHECK(!committed_, "nothing is appended after commit");
    keep_rejected(rows);
    return {};
  }
  Result<ImportOutcome> commit_on(const CommitTerms& terms) override;

 private:
  template <class Fact>
  Result<void> add(std::span<const Fact> facts);
  template <class Fact>
  Hash128 key_of(const Fact& fact) {
    if constexpr (has_end_key<Fact>) {
      return std::get<std::optional<EndKeys<Fact>>>(end_keys_)->key_of(fact);
    } else {
      return natural_key(fact);
    }
  }
  void keep_rejected(std::span<const RejectedRow> rows);
  Result<ImportOutcome> resolve_and_commit(const CommitTerms& terms);
  Result<ImportResolution> resolve(const Snapshot& ledger,
                                   const std::function<Result<void>()>& between);
  Result<void> write_rejected(const Snapshot& ledger, std::uint64_t session);
  Result<void> write_record(const ImportOutcome& outcome, const std::string& statement,
                            std::uint64_t session);
  Result<void> write_invalidated(const ImportResolution& resolution);
  const ImportRows& rows_of(const ImportResolution& resolution) const {
    return resolution.instead ? *resolution.instead : rows_;
  }

  ClickhouseDatabase& database_;
  SessionGuard mark_;
  ImportSource source_;
  std::set<std::string> closed_;  // closed months at the start of the import
  bool known_file_;
  bool committed_ = false;
  ImportRows rows_;
  InvalidationCollector invalidations_;
  std::optional<std::uint64_t> invalidations_session_;   // the session of the invalidation rows
  std::map<std::string, StagedDelivery::Month> months_;  // lines by billing month
  std::optional<Instant> month_begin_;  // of the previous line; the next line usually has the same
  StagedDelivery::Month* month_ = nullptr;
  std::set<std::string> scopes_;  // of a replacement
  std::vector<RejectedRow> rejected_;
  std::uint64_t rejected_count_ = 0;
  // As of the first node or GPU of this import. Where another import states or ends the same one
  // meanwhile, both come under their keys, and readers take the one with the end.
  std::tuple<std::optional<EndKeys<Node>>, std::optional<EndKeys<Gpu>>> end_keys_;
};

template <class Fact>
Result<void> ClickhouseImport::add(std::span<const Fact> facts) {
  CHECK(!committed_, "nothing is appended after commit");
  if constexpr (has_end_key<Fact>) {
    auto& end_keys = std::get<std::optional<EndKeys<Fact>>>(end_keys_);
    if (!end_keys) {
      const Scan scan = TRY(Scan::begin(database_));
      const std::vector<Fact> known = TRY(scan.collect<Fact>(""));
      end_keys.emplace(std::span<const Fact>(known));
    }
  }
  std::vector<const Fact*> pointers;
  std::vector<ClickhouseFactKeys> keys;
  for (const Fact& fact : facts) {
    pointers.push_back(&fact);
    keys.push_back({.id = key_of(fact), .second = content_hash(fact)});
    invalidations_.add(fact);
  }
  return rows_.of<Fact>().add(pointers, keys);
}

Result<void> ClickhouseImport::append_charges(std::span<const Charge> charges) {
  CHECK(!committed_, "nothing is appended after commit");
  if (known_file_) return {};
  std::vector<const Charge*> pointers;
  std::vector<ClickhouseFactKeys> keys;
  for (const Charge& charge : charges) {
    if (month_begin_ != charge.billing_period.begin()) {
      month_begin_ = charge.billing_period.begin();
      const std::string month = month_of(*month_begin_);
      month_ = &months_[month];
      month_->booked =
          open_month_from(month, [&](const std::string& m) { return closed_.contains(m); });
    }
    ++month_->lines;
    if (source_.style == DeliveryStyle::kReplacement) scopes_.insert(delivery_scope(charge));
    const ChargeHashes hashes = hashes_of(charge);
    pointers.push_back(&charge);
    keys.push_back({.id = hashes.content,
                    .second = hashes.natural_key,
                    .content = hashes.content,
                    .booked_month = month_->booked});
  }
  return rows_.of<Charge>().add(pointers, keys);
}

void ClickhouseImport::keep_rejected(std::span<const RejectedRow> rows) {
  rejected_count_ += rows.size();
  const std::size_t kept =
      std::min(rows.size(), limits::kRejectedRowsKeptMax -
                                std::min(limits::kRejectedRowsKeptMax, rejected_.size()));
  rejected_.insert(rejected_.end(), rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(kept));
}

Result<ImportResolution> ClickhouseImport::resolve(const Snapshot& ledger,
                                                   const std::function<Result<void>()>& between) {
  const StagedDelivery delivery = {.source = source_,
                                   .rows = rows_,
                                   .months = months_,
                                   .scopes = scopes_,
                                   .rejected_rows_kept = rejected_.size()};
  return resolve_import(database_, ledger, delivery, between);
}

// Writes the rejected rows that the ledger does not have yet.
Result<void> ClickhouseImport::write_rejected(const Snapshot& ledger, std::uint64_t session) {
  std::map<Hash128, std::uint64_t> seen;
  std::vector<Hash128> ids;
  for (const RejectedRow& row : rejected_) {
    const Hash128 content = content_hash(row);
    ids.push_back(numbered(content, seen[content]++).hash);
  }
  std::set<Hash128> known;
  const ClickhouseDatabase::Loan client = database_.lend();
  for (std::size_t begin = 0; begin < ids.size(); begin += kListedMax) {
    std::string list;
    for (std::size_t i = begin; i < std::min(begin + kListedMax, ids.size()); ++i) {
      list += (list.empty() ? "" : ", ") + clickhouse::sql_literal(ids[i]);
    }
    const Result<void> read = client->query(
        "SELECT row_id FROM " + ledger.facts("rejected_rows") + " AND row_id IN (" + list + ")",
        [&](const clickhouse::Block& block) -> Result<bool> {
          for (std::uint64_t i = 0; i < block.rows; ++i) known.insert(block.columns[0].hash(i));
          return true;
        },
        database_.reading());
    if (!read) return read;
  }
  BlockInserter inserter(database_, clickhouse_table("rejected_rows"));
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (known.contains(ids[i])) continue;
    const RejectedRow* const row = &rejected_[i];
    clickhouse_io::ColumnFiller<RejectedRow> filler(inserter.block(), {&row, 1});
    filler.each([&](auto& column, auto, const RejectedRow&) { column.add_uint64(session); });
    filler.each([&](auto& column, auto, const RejectedRow&) { column.add_hash(ids[i]); });
    Table<RejectedRow>::list(filler);
    TRY(inserter.added(1));
  }
  if (inserter.rows() == 0) return {};
  TRY(inserter.flush());
  return verify_row_count(database_, "rejected_rows", session, inserter.rows());
}

Result<void> ClickhouseImport::write_record(const ImportOutcome& outcome,
                                            const std::string& statement, std::uint64_t session) {
  return insert_record(database_, session, import_record(source_, outcome, statement));
}

// Writes what the import invalidates, once for each session that may be committed.
Result<void> ClickhouseImport::write_invalidated(const ImportResolution& resolution) {
  const std::uint64_t session = rows_of(resolution).session();
  if (invalidations_session_ == session) return {};
  const ImportOutcome& outcome = resolution.outcome;
  std::vector<Invalidation> found = invalidations_by(invalidations_, outcome);
  const ClickhouseDatabase::Loan client = database_.lend();
  std::set<std::string> months;
  const auto add_months = [&](const std::string& lines) {
    return client->query(
        "SELECT DISTINCT booked_month FROM " + lines,
        [&](const clickhouse::Block& block) -> Result<bool> {
          for (std::uint64_t i = 0; i < block.rows; ++i) months.emplace(block.columns[0].text(i));
          return true;
        },
        database_.reading());
  };
  Result<void> done = {};
  if (outcome.charges.created + outcome.restated.reversed > 0) {
    done = add_months(rows_of(resolution).rows_of<Charge>());
  }
  if (done && outcome.restated.removed > 0) {
    done =
        add_months(database_.all("charges") + " WHERE charge_id GLOBAL IN (SELECT charge_id FROM " +
                   database_.all("retired_charges") +
                   " WHERE session = " + std::to_string(session) + " AND isNull(reversal))");
  }
  if (!done) return done;
  for (const std::string& month : months) found.push_back(charge_invalidation(month));
  done = write_invalidations(database_, session, source_.at, found);
  if (done) invalidations_session_ = session;
  return done;
}

Result<ImportOutcome> ClickhouseImport::resolve_and_commit(const CommitTerms& terms) {
  TRY(rows_.finish());
  const Result<Snapshot> before = Snapshot::of(database_);
  if (!before) return std::unexpected(before.error());
  Result<ImportResolution> resolution = resolve(*before, [] { return Result<void>(); });
  if (!resolution) return std::unexpected(std::move(resolution.error()));
  TRY(write_invalidated(*resolution));
  Result<CommitTurn> turn = CommitTurn::begin(database_);
  if (!turn) return std::unexpected(std::move(turn.error()));
  const Snapshot now(database_, turn->view());
  if (turn->has_new_entries(before->view(), kResolutionInputs)) {
    resolution = resolve(now, [&] { return turn->alive(); });
    if (!resolution) return std::unexpected(std::move(resolution.error()));
  }
  ImportOutcome outcome = std::move(resolution->outcome);
  outcome.number = now.imports() + 1;
  outcome.rejected = rejected_count_ + resolution->rejected_count;
  keep_rejected(resolution->rejected);
  const std::uint64_t session = rows_of(*resolution).session();
  Result<void> done = write_invalidated(*resolution);
  if (done) done = write_rejected(now, session);
  if (done) done = turn->alive();
  if (done) done = write_record(outcome, terms.statement, session);
  if (done) done = turn->commit(session, kImportEntry);
  if (!done) return std::unexpected(std::move(done.error()));
  return outcome;
}

Result<ImportOutcome> ClickhouseImport::commit_on(const CommitTerms& terms) {
  CHECK(!std::exchange(committed_, true), "a session is committed once");
  if (source_.style == DeliveryStyle::kReplacement) {
    if (rejected_count_ > 0 && !terms.accepts_rejected) {
      return fail(ErrorCode::kBadFile, replacement_is_incomplete(rejected_count_));
    }
    scopes_.insert(terms.also_replaced.begin(), terms.also_replaced.end());
  }
  Result<ImportOutcome> outcome = resolve_and_commit(terms);
  if (!outcome) return std::unexpected(outcome.error().during("cannot import " + source_.name));
  return outcome;
}

}  // namespace

Result<std::unique_ptr<ImportSession>> begin_clickhouse_import(ClickhouseDatabase& database,
                                                               bool& open,
                                                               const ImportSource& source) {
  SessionGuard mark = TRY(SessionGuard::set(open));
  const Snapshot ledger = TRY(Snapshot::of(database));
  std::set<std::string> closed = TRY(closed_months(database, ledger));
  const bool known = TRY(is_known_file(database, ledger, source));
  return std::make_unique<ClickhouseImport>(database, std::move(mark), source, std::move(closed),
                                            known);
}

}  // namespace pennyweight
