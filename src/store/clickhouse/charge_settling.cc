#include "store/clickhouse/charge_settling.h"

namespace pennyweight {
namespace {

using clickhouse::Block;
using clickhouse::quoted;

// A line of the ledger, and what decides whether a delivery replaces it.
struct Line {
  LedgerCharge charge;
  std::string booked_month, scope;
};

// A conflict on its way to words.
struct LineConflict {
  FactId id, left_out;
  StagedRow here;
};

class Charges {
 public:
  explicit Charges(Settling& settling) : settling_(settling) {}
  Result<void> settle();

 private:
  bool replaces() const { return !settling_.delivery().scopes.empty(); }
  Result<std::uint64_t> lines_to_settle();
  Result<std::vector<Line>> read_lines(const std::string& here);
  Result<void> settle_part(const std::string& here);
  Result<void> retire(const std::vector<Line>& lines, const std::vector<std::size_t>& left_out);
  Result<void> take_back(std::span<const FactId> lines);
  Result<void> add_retired(const FactId& line, const std::optional<FactId>& reversal);
  Result<void> describe(std::span<const LineConflict> conflicts);

  Settling& settling_;
  std::uint64_t seen_ = 0;               // rows that came
  std::vector<LineConflict> conflicts_;  // the first ones, by id
  std::optional<Outlet> retired_;
};

// How many rows the parts of the charges are cut by. Of a replacement those of the ledger count,
// too.
Result<std::uint64_t> Charges::lines_to_settle() {
  const std::uint64_t rows = settling_.delivery().rows.of<Charge>().rows();
  if (!replaces()) return rows;
  const auto there = settling_.count(fmt::format("SELECT count() FROM {}{}",
                                                 settling_.ledger().facts(Table<Charge>::kName),
                                                 settling_.of_ledger<Charge>()));
  if (!there) return there;
  return std::max(rows, *there);
}

Result<std::vector<Line>> Charges::read_lines(const std::string& here) {
  const std::string part = std::string("\"") + kDeliveryPartColumn + "\":\"";
  const std::string scope = replaces()
                                ? fmt::format(
                                      ", booked_month, billing_period_start, billing_account_id, "
                                      "invoice_issuer_name, position(other_columns, {}) > 0, "
                                      "extract(other_columns, {})",
                                      quoted(part), quoted(part + "([^\"]*)\""))
                                : "";
  const std::string which =
      replaces() ? "" : " AND natural_key GLOBAL IN " + settling_.keys_of<Charge>(here);
  std::vector<Line> lines;
  Charge told = Table<Charge>::blank();
  const auto read = settling_.each_block(
      fmt::format("SELECT charge_id, natural_key, content, ordinal, charge_id GLOBAL NOT IN "
                  "(SELECT charge_id FROM {}){} FROM {}{}{}{}",
                  settling_.ledger().facts("retired_charges"), scope,
                  settling_.ledger().facts(Table<Charge>::kName), settling_.of_ledger<Charge>(),
                  here, which),
      [&](const Block& block) -> Result<bool> {
        const auto& columns = block.columns;
        for (std::uint64_t row = 0; row < block.rows; ++row) {
          Line& line = lines.emplace_back();
          line.charge = {.id = columns[0].hash(row),
                         .natural_key = columns[1].hash(row),
                         .content = columns[2].hash(row),
                         .ordinal = columns[3].uint64(row),
                         .live = columns[4].boolean(row)};
          if (!replaces()) continue;
          line.booked_month = columns[5].text(row);
          const Instant begin = from_unix_ms(columns[6].int64(row));
          told.billing_period = Interval(begin, begin + std::chrono::milliseconds(1));
          told.billing_account_id = columns[7].text(row);
          told.invoice_issuer_name = columns[8].text(row);
          told.other_columns =
              columns[9].boolean(row) ? part + std::string(columns[10].text(row)) + "\"" : "";
          line.scope = delivery_scope(told);
        }
        return true;
      });
  if (!read) return std::unexpected(read.error());
  return lines;
}

Result<void> Charges::add_retired(const FactId& line, const std::optional<FactId>& reversal) {
  if (!retired_) retired_.emplace(settling_.database(), clickhouse_table("retired_charges"));
  clickhouse::BlockWriter& block = retired_->block();
  block.column(0).add_uint64(settling_.made().instead->session());
  block.column(1).add_hash(line.hash);
  reversal ? block.column(2).add_hash(reversal->hash) : block.column(2).add_null();
  ++settling_.made().retired;
  return retired_->added(1);
}

// Lines of closed months are taken back by lines of open ones.
Result<void> Charges::take_back(std::span<const FactId> lines) {
  std::vector<Hash128> ids;
  for (const FactId& line : lines) ids.push_back(line.hash);
  std::vector<Charge> reversals;
  const auto read = settling_.each_block_of_facts(
      fmt::format(
          "SELECT {} FROM {}", clickhouse_fact_columns<Charge>(),
          narrowed(settling_.ledger().facts(Table<Charge>::kName), is_one_of("charge_id", ids))),
      [&](const Block& block) -> Result<bool> {
        const auto originals = facts_of<Charge>(block, settling_.ledger().numbers());
        if (!originals) return std::unexpected(originals.error());
        for (const Charge& line : *originals) {
          reversals.push_back(reversal_of(line, settling_.booked_month_of(line.booked_month)));
        }
        return true;
      });
  if (!read) return read;
  if (reversals.size() != lines.size()) return rows_moved(Table<Charge>::kName);
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
    if (auto done = add_retired(*reversal.takes_back, reversal.id); !done) return done;
  }
  settling_.made().outcome.restated.reversed += reversals.size();
  return settling_.made().instead->of<Charge>().add(facts, keys);
}

Result<void> Charges::retire(const std::vector<Line>& lines,
                             const std::vector<std::size_t>& left_out) {
  std::vector<FactId> of_closed_months;
  for (const std::size_t index : left_out) {
    const Line& line = lines[index];
    if (!settling_.delivery().scopes.contains(line.scope)) continue;
    if (settling_.is_closed(line.booked_month)) {
      of_closed_months.push_back(FactId{line.charge.id});
      continue;
    }
    ++settling_.made().outcome.restated.removed;
    if (auto done = add_retired(FactId{line.charge.id}, std::nullopt); !done) return done;
  }
  return in_lists(std::span<const FactId>(of_closed_months),
                  [&](std::span<const FactId> some) { return take_back(some); });
}

Result<void> Charges::settle_part(const std::string& here) {
  if (Result<void> go_on = settling_.between(); !go_on) return go_on;
  Result<StagedPart> staged = settling_.read_staged<Charge>(here);
  if (!staged) return std::unexpected(std::move(staged.error()));
  seen_ += staged->rows().size();
  const Result<std::vector<Line>> lines = read_lines(here);
  if (!lines) return std::unexpected(lines.error());
  std::vector<StagedCharge> charges;
  charges.reserve(staged->rows().size());
  for (const StagedRow& row : staged->rows()) {
    charges.push_back({row.key, row.content, charges.size()});
  }
  std::vector<LedgerCharge> ledger;
  ledger.reserve(lines->size());
  for (const Line& line : *lines) ledger.push_back(line.charge);
  const ChargeVerdict verdict =
      judge_charges(settling_.delivery().source.style, std::move(charges), ledger);
  FactCounts& counts = settling_.made().outcome.charges;
  counts.created += verdict.counts.created;
  counts.existing += verdict.counts.existing;
  counts.repeated += verdict.counts.repeated;
  counts.conflicts += verdict.counts.conflicts;
  for (const CreatedCharge& line : verdict.created) staged->keep(line.row, line.ordinal);
  if (Result<void> done = settling_.write<Charge>(here, *staged); !done) return done;
  if (replaces()) {
    if (Result<void> done = retire(*lines, verdict.left_out); !done) return done;
  }
  for (const ChargeConflict& conflict : verdict.conflicts) {
    conflicts_.push_back({conflict.id, conflict.left_out, staged->rows()[conflict.row]});
  }
  std::ranges::sort(conflicts_, {}, &LineConflict::id);
  if (conflicts_.size() > settling_.conflicts_left()) {
    conflicts_.resize(settling_.conflicts_left());
  }
  return {};
}

Result<void> Charges::describe(std::span<const LineConflict> conflicts) {
  std::vector<Hash128> contents, ids;
  for (const LineConflict& conflict : conflicts) {
    contents.push_back(conflict.here.content);
    ids.push_back(conflict.left_out.hash);
  }
  std::map<StagedRow, Charge> came, kept;
  Result<void> read = settling_.read_facts(
      narrowed(settling_.delivery().rows.rows_of<Charge>(), is_one_of("content", contents)), came);
  if (read) {
    read = settling_.read_facts(
        narrowed(settling_.ledger().facts(Table<Charge>::kName), is_one_of("charge_id", ids)),
        kept);
  }
  if (!read) return read;
  std::map<FactId, const Charge*> there;
  for (const auto& [row, line] : kept) there.emplace(line.id, &line);
  for (const LineConflict& conflict : conflicts) {
    const auto here = came.find(conflict.here);
    const auto line = there.find(conflict.left_out);
    if (here == came.end() || line == there.end()) return rows_moved(Table<Charge>::kName);
    settling_.add_conflict(conflict_row(settling_.delivery().source.name, here->second.source.line,
                                        Table<Charge>::kFact,
                                        difference(*line->second, here->second)));
  }
  return {};
}

Result<void> Charges::settle() {
  Settlement& made = settling_.made();
  const std::uint64_t came = settling_.delivery().rows.of<Charge>().rows();
  if (came == 0 || made.outcome.known_file) return {};
  const Result<std::uint64_t> rows = lines_to_settle();
  if (!rows) return std::unexpected(rows.error());
  const KeyParts parts(*rows);
  for (std::uint64_t part = 0; part < parts.count(); ++part) {
    const Result<void> done = settle_part(settling_.of_part<Charge>(parts, part));
    if (!done) return done;
  }
  if (seen_ != came) return rows_moved(Table<Charge>::kName);
  made.rejected_count += made.outcome.charges.conflicts;
  settling_.use_up_conflicts(conflicts_.size());
  const Result<void> described =
      in_lists(std::span<const LineConflict>(conflicts_),
               [&](std::span<const LineConflict> some) { return describe(some); });
  return described && retired_ ? retired_->flush() : described;
}

}  // namespace

Result<void> settle_charges(Settling& settling) { return Charges(settling).settle(); }

}  // namespace pennyweight
