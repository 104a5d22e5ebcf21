#include "ledger/store/clickhouse/charge_resolver.h"

#include "core/try.h"

namespace pennyweight {
namespace {

using clickhouse::Block;
using clickhouse::sql_literal;

// A charge in the ledger, with what decides whether a delivery replaces it.
struct StoredCharge {
  LedgerCharge charge;
  std::string booked_month, scope;
};

// The rows that a conflict is described from.
struct ChargeConflictRows {
  FactId id, left_out;
  StagedRow here;
};

class ChargeResolver {
 public:
  explicit ChargeResolver(ImportResolver& resolver) : resolver_(resolver) {}
  Result<void> resolve();

 private:
  bool replaces() const { return !resolver_.delivery().scopes.empty(); }
  Result<std::uint64_t> lines_to_resolve();
  Result<std::vector<StoredCharge>> read_lines(const std::string& here);
  Result<void> resolve_range(const std::string& here);
  Result<void> retire(const std::vector<StoredCharge>& lines,
                      const std::vector<std::size_t>& left_out);
  Result<void> take_back(std::span<const FactId> lines);
  Result<void> add_retired(const FactId& line, const std::optional<FactId>& reversal);
  Result<void> describe(std::span<const ChargeConflictRows> conflicts);

  ImportResolver& resolver_;
  std::uint64_t seen_ = 0;                     // rows visited so far
  std::vector<ChargeConflictRows> conflicts_;  // the first ones, by id
  std::optional<BlockInserter> retired_;
};

// The row count that sets the number of key ranges. A replacement also counts the ledger's lines.
Result<std::uint64_t> ChargeResolver::lines_to_resolve() {
  const std::uint64_t rows = resolver_.delivery().rows.of<Charge>().rows();
  if (!replaces()) return rows;
  const auto there = resolver_.count(fmt::format("SELECT count() FROM {}{}",
                                                 resolver_.ledger().facts(Table<Charge>::kName),
                                                 resolver_.of_ledger<Charge>()));
  if (!there) return there;
  return std::max(rows, *there);
}

Result<std::vector<StoredCharge>> ChargeResolver::read_lines(const std::string& here) {
  std::string scope;
  if (replaces()) {
    scope =
        ", booked_month, billing_period_start, billing_account_id, invoice_issuer_name, "
        "sub_account_id, service_provider_name";
    for (const ScopeColumn& column : kScopeColumns) {
      const std::string key = fmt::format("\"{}\":\"", column.name);
      scope += ", extract(other_columns, " + sql_literal(key + "([^\"]*)\"") + ")";
    }
  }
  const std::string which =
      replaces() ? "" : " AND natural_key GLOBAL IN " + resolver_.keys_of<Charge>(here);
  std::vector<StoredCharge> lines;
  Charge scope_fields = Table<Charge>::blank();
  TRY(resolver_.each_block(
      fmt::format("SELECT charge_id, natural_key, content, ordinal, charge_id GLOBAL NOT IN "
                  "(SELECT charge_id FROM {}){} FROM {}{}{}{}",
                  resolver_.ledger().facts("retired_charges"), scope,
                  resolver_.ledger().facts(Table<Charge>::kName), resolver_.of_ledger<Charge>(),
                  here, which),
      [&](const Block& block) -> Result<bool> {
        const auto& columns = block.columns;
        for (std::uint64_t row = 0; row < block.rows; ++row) {
          StoredCharge& line = lines.emplace_back();
          line.charge = {.id = columns[0].hash(row),
                         .natural_key = columns[1].hash(row),
                         .content = columns[2].hash(row),
                         .ordinal = columns[3].uint64(row),
                         .live = columns[4].boolean(row)};
          if (!replaces()) continue;
          line.booked_month = columns[5].text(row);
          const Instant begin = from_unix_ms(columns[6].int64(row));
          scope_fields.billing_period = Interval(begin, begin + std::chrono::milliseconds(1));
          scope_fields.billing_account_id = columns[7].text(row);
          scope_fields.invoice_issuer_name = columns[8].text(row);
          scope_fields.sub_account_id = columns[9].text(row);
          scope_fields.service_provider_name = columns[10].text(row);
          scope_fields.other_columns.clear();
          for (std::size_t i = 0; i < std::size(kScopeColumns); ++i) {
            scope_fields.other_columns +=
                fmt::format("\"{}\":\"{}\"", kScopeColumns[i].name, columns[11 + i].text(row));
          }
          line.scope = delivery_scope(scope_fields);
        }
        return true;
      }));
  return lines;
}

Result<void> ChargeResolver::add_retired(const FactId& line,
                                         const std::optional<FactId>& reversal) {
  if (!retired_) retired_.emplace(resolver_.database(), clickhouse_table("retired_charges"));
  add_record(retired_->block(), resolver_.result().instead->session(),
             RetirementRecord{line, reversal});
  ++resolver_.result().retired;
  return retired_->added(1);
}

// Lines of closed months are reversed by lines of open months.
Result<void> ChargeResolver::take_back(std::span<const FactId> lines) {
  std::vector<Hash128> ids;
  for (const FactId& line : lines) ids.push_back(line.hash);
  std::vector<Charge> reversals;
  const auto read = resolver_.each_block_of_facts(
      fmt::format(
          "SELECT {} FROM {}", clickhouse_fact_columns<Charge>(),
          narrowed(resolver_.ledger().facts(Table<Charge>::kName), is_one_of("charge_id", ids))),
      [&](const Block& block) -> Result<bool> {
        const auto originals = TRY(facts_of<Charge>(block, resolver_.ledger().numbers()));
        for (const Charge& line : originals) {
          reversals.push_back(reversal_of(line, resolver_.booked_month_of(line.booked_month)));
        }
        return true;
      });
  if (!read) return read;
  if (reversals.size() != lines.size()) return rows_not_returned(Table<Charge>::kName);
  std::vector<const Charge*> facts;
  std::vector<ClickhouseFactKeys> keys;
  for (const Charge& reversal : reversals) {
    facts.push_back(&reversal);
    keys.push_back({.id = reversal.id.hash,
                    .second = natural_key(reversal),
                    .content = reversal.id.hash,
                    .booked_month = reversal.booked_month,
                    .ordinal = 0,
                    .takes_back = reversal.takes_back->hash});
    TRY(add_retired(*reversal.takes_back, reversal.id));
  }
  resolver_.result().outcome.restated.reversed += reversals.size();
  return resolver_.result().instead->of<Charge>().add(facts, keys);
}

Result<void> ChargeResolver::retire(const std::vector<StoredCharge>& lines,
                                    const std::vector<std::size_t>& left_out) {
  std::vector<FactId> of_closed_months;
  for (const std::size_t index : left_out) {
    const StoredCharge& line = lines[index];
    if (!resolver_.delivery().scopes.contains(line.scope)) continue;
    if (resolver_.is_closed(line.booked_month)) {
      of_closed_months.push_back(FactId{line.charge.id});
      continue;
    }
    ++resolver_.result().outcome.restated.removed;
    TRY(add_retired(FactId{line.charge.id}, std::nullopt));
  }
  return in_lists(std::span<const FactId>(of_closed_months),
                  [&](std::span<const FactId> some) { return take_back(some); });
}

Result<void> ChargeResolver::resolve_range(const std::string& here) {
  TRY(resolver_.between());
  Result<StagedRange> staged = resolver_.read_staged<Charge>(here);
  if (!staged) return std::unexpected(std::move(staged.error()));
  seen_ += staged->rows().size();
  const std::vector<StoredCharge> lines = TRY(read_lines(here));
  std::vector<StagedCharge> charges;
  charges.reserve(staged->rows().size());
  for (const StagedRow& row : staged->rows()) {
    charges.push_back({row.key, row.content, charges.size()});
  }
  std::vector<LedgerCharge> ledger;
  ledger.reserve(lines.size());
  for (const StoredCharge& line : lines) ledger.push_back(line.charge);
  const ChargeVerdict verdict =
      judge_charges(resolver_.delivery().source.style, std::move(charges), ledger);
  FactCounts& counts = resolver_.result().outcome.charges;
  counts.created += verdict.counts.created;
  counts.existing += verdict.counts.existing;
  counts.repeated += verdict.counts.repeated;
  counts.conflicts += verdict.counts.conflicts;
  for (const CreatedCharge& line : verdict.created) staged->keep(line.row, line.ordinal);
  TRY(resolver_.write<Charge>(here, *staged));
  if (replaces()) {
    TRY(retire(lines, verdict.left_out));
  }
  for (const ChargeConflict& conflict : verdict.conflicts) {
    conflicts_.push_back({conflict.id, conflict.left_out, staged->rows()[conflict.row]});
  }
  std::ranges::sort(conflicts_, {}, &ChargeConflictRows::id);
  if (conflicts_.size() > resolver_.conflicts_left()) {
    conflicts_.resize(resolver_.conflicts_left());
  }
  return {};
}

Result<void> ChargeResolver::describe(std::span<const ChargeConflictRows> conflicts) {
  std::vector<Hash128> contents, ids;
  for (const ChargeConflictRows& conflict : conflicts) {
    contents.push_back(conflict.here.content);
    ids.push_back(conflict.left_out.hash);
  }
  std::map<StagedRow, Charge> came, kept;
  Result<void> read = resolver_.read_facts(
      narrowed(resolver_.delivery().rows.rows_of<Charge>(), is_one_of("content", contents)), came);
  if (read) {
    read = resolver_.read_facts(
        narrowed(resolver_.ledger().facts(Table<Charge>::kName), is_one_of("charge_id", ids)),
        kept);
  }
  if (!read) return read;
  std::map<FactId, const Charge*> there;
  for (const auto& [row, line] : kept) there.emplace(line.id, &line);
  for (const ChargeConflictRows& conflict : conflicts) {
    const auto here = came.find(conflict.here);
    const auto line = there.find(conflict.left_out);
    if (here == came.end() || line == there.end()) return rows_not_returned(Table<Charge>::kName);
    resolver_.add_conflict(conflict_row(resolver_.delivery().source.name, here->second.source.line,
                                        Table<Charge>::kFact,
                                        difference(*line->second, here->second)));
  }
  return {};
}

Result<void> ChargeResolver::resolve() {
  ImportResolution& result = resolver_.result();
  const std::uint64_t came = resolver_.delivery().rows.of<Charge>().rows();
  if (came == 0 || result.outcome.known_file) return {};
  const std::uint64_t rows = TRY(lines_to_resolve());
  const KeyRanges parts(rows);
  for (std::uint64_t part = 0; part < parts.count(); ++part) {
    const Result<void> done = resolve_range(resolver_.of_part<Charge>(parts, part));
    if (!done) return done;
  }
  if (seen_ != came) return rows_not_returned(Table<Charge>::kName);
  result.rejected_count += result.outcome.charges.conflicts;
  resolver_.use_up_conflicts(conflicts_.size());
  const Result<void> described =
      in_lists(std::span<const ChargeConflictRows>(conflicts_),
               [&](std::span<const ChargeConflictRows> some) { return describe(some); });
  return described && retired_ ? retired_->flush() : described;
}

}  // namespace

Result<void> resolve_charges(ImportResolver& resolver) {
  return ChargeResolver(resolver).resolve();
}

}  // namespace pennyweight
