#include "store/clickhouse/import_session.h"

#include <array>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "core/check.h"
#include "core/limits.h"
#include "ledger/keeping.h"
#include "store/clickhouse/books.h"
#include "store/clickhouse/import_rows.h"
#include "store/clickhouse/import_settling.h"
#include "store/clickhouse/turn.h"
#include "store/clickhouse/work.h"

namespace pennyweight {
namespace {

// A settlement is of a state of the ledger in which these were the last.
constexpr std::array<std::string_view, 2> kDecisive = {kImportEntry, kClosingEntry};
// So many fingerprints stand in one statement.
constexpr std::size_t kListedMax = 2'000;

class ClickhouseImport : public ImportSession {
 public:
  ClickhouseImport(ClickhouseDatabase& database, OpenMark mark, ImportSource source,
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
  Result<ImportOutcome> commit() override;

 private:
  template <class Fact>
  Result<void> add(std::span<const Fact> facts);
  void keep_rejected(std::span<const RejectedRow> rows);
  Result<ImportOutcome> settle_and_commit();
  Result<Settlement> settle(const Snapshot& ledger, const std::function<Result<void>()>& between);
  Result<void> write_rejected(const Snapshot& ledger, std::uint64_t session);
  Result<void> write_record(const ImportOutcome& outcome, std::uint64_t session);
  Result<void> write_places(const Settlement& settled);
  const ImportRows& rows_of(const Settlement& settled) const {
    return settled.instead ? *settled.instead : rows_;
  }

  ClickhouseDatabase& database_;
  OpenMark mark_;
  ImportSource source_;
  std::set<std::string> closed_;  // months, when it began
  bool known_file_;
  bool committed_ = false;
  ImportRows rows_;
  ImportTouches touches_;
  std::optional<std::uint64_t> placed_;  // the session under which it stands what was touched
  std::map<std::string, Delivery::Month> months_;  // of lines, by billing month
  std::optional<Instant> month_begin_;             // of the line before, which is mostly the next's
  Delivery::Month* month_ = nullptr;
  std::set<std::string> scopes_;  // of a replacement
  std::vector<RejectedRow> rejected_;
  std::uint64_t rejected_count_ = 0;
};

template <class Fact>
Result<void> ClickhouseImport::add(std::span<const Fact> facts) {
  CHECK(!committed_, "nothing is appended after commit");
  std::vector<const Fact*> pointers;
  std::vector<ClickhouseFactKeys> keys;
  for (const Fact& fact : facts) {
    pointers.push_back(&fact);
    keys.push_back({.id = natural_key(fact), .second = content_hash(fact)});
    touches_.see(fact);
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

Result<Settlement> ClickhouseImport::settle(const Snapshot& ledger,
                                            const std::function<Result<void>()>& between) {
  const Delivery delivery = {.source = source_,
                             .rows = rows_,
                             .months = months_,
                             .scopes = scopes_,
                             .rejected_rows_kept = rejected_.size()};
  return settle_import(database_, ledger, delivery, between);
}

// Those that the ledger does not have.
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
      list += (list.empty() ? "" : ", ") + clickhouse::quoted(ids[i]);
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
  Outlet outlet(database_, clickhouse_table("rejected_rows"));
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (known.contains(ids[i])) continue;
    clickhouse::BlockWriter& block = outlet.block();
    block.column(0).add_uint64(session);
    block.column(1).add_hash(ids[i]);
    block.column(2).add_text(rejected_[i].file);
    block.column(3).add_uint64(rejected_[i].line);
    block.column(4).add_text(rejected_[i].column);
    block.column(5).add_text(rejected_[i].reason);
    block.column(6).add_text(rejected_[i].text);
    if (Result<void> done = outlet.added(1); !done) return done;
  }
  if (outlet.rows() == 0) return {};
  if (Result<void> done = outlet.flush(); !done) return done;
  return must_hold(database_, "rejected_rows", session, outlet.rows());
}

Result<void> ClickhouseImport::write_record(const ImportOutcome& outcome, std::uint64_t session) {
  Outlet outlet(database_, clickhouse_table("imports"));
  clickhouse::BlockWriter& block = outlet.block();
  std::size_t column = 0;
  const auto count = [&](std::uint64_t value) { block.column(column++).add_uint64(value); };
  const auto text = [&](std::string_view value) { block.column(column++).add_text(value); };
  count(session);
  text(source_.format);
  text(source_.name);
  block.column(column++).add_hash(source_.file_hash);
  block.column(column++).add_int64(unix_ms(source_.at));
  for (const FactCounts* counts :
       {&outcome.charges, &outcome.holdings, &outcome.nodes, &outcome.gpus, &outcome.usages,
        &outcome.outages, &outcome.corrections, &outcome.outcomes}) {
    count(counts->created);
  }
  count(outcome.rejected);
  text(to_text(source_.style));
  text(source_.reason);
  count(outcome.restated.removed);
  count(outcome.restated.reversed);
  count(outcome.restated.late);
  Result<void> done = outlet.added(1);
  if (done) done = outlet.flush();
  if (done) done = must_hold(database_, "imports", session, 1);
  return done;
}

// What was touched, once for each session that may be committed.
Result<void> ClickhouseImport::write_places(const Settlement& settled) {
  const std::uint64_t session = rows_of(settled).session();
  if (placed_ == session) return {};
  const ImportOutcome& outcome = settled.outcome;
  std::vector<TouchedPlace> places = touches_.places({.holdings = outcome.holdings.created,
                                                      .nodes = outcome.nodes.created,
                                                      .gpus = outcome.gpus.created,
                                                      .usages = outcome.usages.created,
                                                      .outages = outcome.outages.created,
                                                      .corrections = outcome.corrections.created});
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
    done = add_months(rows_of(settled).rows_of<Charge>());
  }
  if (done && outcome.restated.removed > 0) {
    done =
        add_months(database_.all("charges") + " WHERE charge_id GLOBAL IN (SELECT charge_id FROM " +
                   database_.all("retired_charges") +
                   " WHERE session = " + std::to_string(session) + " AND isNull(reversal))");
  }
  if (!done) return done;
  for (const std::string& month : months) places.push_back(touched_lines(month));
  done = write_touched(database_, session, source_.at, places);
  if (done) placed_ = session;
  return done;
}

Result<ImportOutcome> ClickhouseImport::settle_and_commit() {
  if (Result<void> sent = rows_.finish(); !sent) return std::unexpected(sent.error());
  const Result<Snapshot> before = Snapshot::of(database_);
  if (!before) return std::unexpected(before.error());
  Result<Settlement> settled = settle(*before, [] { return Result<void>(); });
  if (!settled) return std::unexpected(std::move(settled.error()));
  if (auto placed = write_places(*settled); !placed) return std::unexpected(placed.error());
  Result<Turn> turn = Turn::begin(database_);
  if (!turn) return std::unexpected(std::move(turn.error()));
  const Snapshot now(database_, turn->view());
  if (turn->has_news(before->view(), kDecisive)) {
    settled = settle(now, [&] { return turn->alive(); });
    if (!settled) return std::unexpected(std::move(settled.error()));
  }
  ImportOutcome outcome = std::move(settled->outcome);
  outcome.number = now.imports() + 1;
  outcome.rejected = rejected_count_ + settled->rejected_count;
  keep_rejected(settled->rejected);
  const std::uint64_t session = rows_of(*settled).session();
  Result<void> done = write_places(*settled);
  if (done) done = write_rejected(now, session);
  if (done) done = turn->alive();
  if (done) done = write_record(outcome, session);
  if (done) done = turn->commit(session, kImportEntry);
  if (!done) return std::unexpected(std::move(done.error()));
  return outcome;
}

Result<ImportOutcome> ClickhouseImport::commit() {
  CHECK(!std::exchange(committed_, true), "a session is committed once");
  if (source_.style == DeliveryStyle::kReplacement && rejected_count_ > 0) {
    return fail(ErrorCode::kBadFile, replacement_is_incomplete(rejected_count_));
  }
  Result<ImportOutcome> outcome = settle_and_commit();
  if (!outcome) return std::unexpected(outcome.error().during("cannot import " + source_.name));
  return outcome;
}

}  // namespace

Result<std::unique_ptr<ImportSession>> begin_clickhouse_import(ClickhouseDatabase& database,
                                                               bool& open,
                                                               const ImportSource& source) {
  Result<OpenMark> mark = OpenMark::set(open);
  if (!mark) return std::unexpected(std::move(mark.error()));
  const Result<Snapshot> ledger = Snapshot::of(database);
  if (!ledger) return std::unexpected(ledger.error());
  Result<std::set<std::string>> closed = closed_months(database, *ledger);
  if (!closed) return std::unexpected(std::move(closed.error()));
  const Result<bool> known = is_known_file(database, *ledger, source);
  if (!known) return std::unexpected(known.error());
  return std::make_unique<ClickhouseImport>(database, std::move(*mark), source, std::move(*closed),
                                            *known);
}

}  // namespace pennyweight
