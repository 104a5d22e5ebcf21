#include "store/clickhouse/keyed_settling.h"

#include <tuple>

namespace pennyweight {
namespace {

using clickhouse::Block;

// A conflict on its way to words: what was kept aside, and what is kept.
struct KeyedConflict {
  StagedRow here;
  std::optional<StagedRow> there;  // of the same import; nothing: the ledger's
};

template <class Fact>
class Keyed {
 public:
  explicit Keyed(Settling& settling) : settling_(settling) {}
  Result<void> settle(FactCounts& counts);

 private:
  Result<std::vector<LedgerFact>> read_ledger(const std::string& here);
  Result<void> keep_late_aside(const std::string& here, const std::vector<LedgerFact>& ledger,
                               StagedPart& staged);
  Result<void> describe(std::span<const KeyedConflict> conflicts);

  Settling& settling_;
};

template <class Fact>
Result<std::vector<LedgerFact>> Keyed<Fact>::read_ledger(const std::string& here) {
  std::vector<LedgerFact> found;
  const auto read = settling_.each_block(
      fmt::format("SELECT {0}, content FROM {1}{2}{3} AND {0} GLOBAL IN {4}", key_column<Fact>(),
                  settling_.ledger().facts(Table<Fact>::kName), settling_.of_ledger<Fact>(), here,
                  settling_.keys_of<Fact>(here)),
      [&](const Block& block) -> Result<bool> {
        const auto &ids = block.columns[0], &contents = block.columns[1];
        for (std::uint64_t row = 0; row < block.rows; ++row) {
          found.push_back({ids.hash(row), contents.hash(row)});
        }
        return true;
      });
  if (!read) return std::unexpected(read.error());
  std::ranges::sort(found, {}, &LedgerFact::id);
  return found;
}

// Takes new corrections of closed months out of what is judged.
template <class Fact>
Result<void> Keyed<Fact>::keep_late_aside(const std::string& here,
                                          const std::vector<LedgerFact>& ledger,
                                          StagedPart& staged) {
  static_assert(std::is_same_v<Fact, Correction>, "only corrections are booked");
  if (!settling_.is_any_closed()) return {};
  const std::string& name = settling_.delivery().source.name;
  std::vector<std::pair<std::uint64_t, RejectedRow>> late;
  StagedPart rest;
  const auto read = settling_.each_block_of_facts(
      fmt::format("SELECT {} FROM {}{}", rows_and_facts_columns<Fact>(),
                  settling_.delivery().rows.template rows_of<Fact>(), here),
      [&](const Block& block) -> Result<bool> {
        const auto facts = rows_and_facts<Fact>(block, settling_.ledger().numbers());
        if (!facts) return std::unexpected(facts.error());
        for (const auto& [row, correction] : *facts) {
          const auto month = closed_month_of(
              correction, [&](const std::string& m) { return settling_.is_closed(m); });
          if (!month || std::ranges::binary_search(ledger, row.key, {}, &LedgerFact::id)) {
            rest.add(row);
          } else {
            late.emplace_back(row.line, late_correction_row(name, correction, *month));
          }
        }
        return true;
      });
  if (!read) return read;
  if (rest.rows().size() + late.size() != staged.rows().size()) {
    return rows_moved(Table<Fact>::kName);
  }
  rest.sort();
  staged = std::move(rest);
  std::ranges::sort(late, {},
                    [](const auto& row) { return std::tie(row.first, row.second.reason); });
  for (auto& [line, row] : late) {
    ++settling_.made().rejected_count;
    settling_.made().rejected.push_back(std::move(row));
  }
  return {};
}

template <class Fact>
Result<void> Keyed<Fact>::describe(std::span<const KeyedConflict> conflicts) {
  std::vector<Hash128> ids;
  for (const KeyedConflict& conflict : conflicts) ids.push_back(conflict.here.key);
  const std::string these = is_one_of(Table<Fact>::kId, ids);
  const Delivery& delivery = settling_.delivery();
  std::map<StagedRow, Fact> came, there;
  Result<void> read =
      settling_.read_facts(narrowed(delivery.rows.template rows_of<Fact>(), these), came);
  if (read) {
    read = settling_.read_facts(
        narrowed(settling_.ledger().facts(Table<Fact>::kName), these) + settling_.of_ledger<Fact>(),
        there);
  }
  if (!read) return read;
  for (const KeyedConflict& conflict : conflicts) {
    const auto here = came.find(conflict.here);
    const auto kept = conflict.there ? came.find(*conflict.there)
                                     : there.lower_bound({.key = conflict.here.key, .content = {}});
    if (here == came.end() || kept == (conflict.there ? came.end() : there.end()) ||
        kept->first.key != conflict.here.key) {
      return rows_moved(Table<Fact>::kName);
    }
    settling_.add_conflict(conflict_row(delivery.source.name, here->second.source.line,
                                        Table<Fact>::kFact,
                                        difference(kept->second, here->second)));
  }
  return {};
}

template <class Fact>
Result<void> Keyed<Fact>::settle(FactCounts& counts) {
  const std::uint64_t rows = settling_.delivery().rows.template of<Fact>().rows();
  if (rows == 0) return {};
  const KeyParts parts(rows);
  std::vector<KeyedConflict> conflicts;
  std::uint64_t seen = 0;
  for (std::uint64_t part = 0; part < parts.count(); ++part) {
    if (Result<void> go_on = settling_.between(); !go_on) return go_on;
    const std::string here = settling_.of_part<Fact>(parts, part);
    Result<StagedPart> staged = settling_.read_staged<Fact>(here);
    if (!staged) return std::unexpected(std::move(staged.error()));
    seen += staged->rows().size();
    Result<std::vector<LedgerFact>> ledger = read_ledger(here);
    if (!ledger) return std::unexpected(std::move(ledger.error()));
    if constexpr (std::is_same_v<Fact, Correction>) {
      if (Result<void> done = keep_late_aside(here, *ledger, *staged); !done) return done;
    }
    std::vector<StagedFact> facts;
    facts.reserve(staged->rows().size());
    for (const StagedRow& row : staged->rows()) {
      facts.push_back({row.key, row.content, facts.size()});
    }
    const FactVerdict verdict = judge_facts(std::move(facts), std::move(*ledger));
    counts.created += verdict.counts.created;
    counts.existing += verdict.counts.existing;
    counts.conflicts += verdict.counts.conflicts;
    for (const std::uint64_t row : verdict.created) staged->keep(row);
    if (Result<void> done = settling_.write<Fact>(here, *staged); !done) return done;
    for (const FactConflict& conflict : verdict.conflicts) {
      if (conflicts.size() == settling_.conflicts_left()) break;
      conflicts.push_back(
          {staged->rows()[conflict.row],
           conflict.there_row ? std::optional(staged->rows()[*conflict.there_row]) : std::nullopt});
    }
  }
  if (seen != rows) return rows_moved(Table<Fact>::kName);
  settling_.made().rejected_count += counts.conflicts;
  settling_.use_up_conflicts(conflicts.size());
  return in_lists(std::span<const KeyedConflict>(conflicts),
                  [&](std::span<const KeyedConflict> some) { return describe(some); });
}

}  // namespace

Result<void> settle_keyed_facts(Settling& settling) {
  ImportOutcome& outcome = settling.made().outcome;
  Result<void> done = Keyed<Holding>(settling).settle(outcome.holdings);
  if (done) done = Keyed<Node>(settling).settle(outcome.nodes);
  if (done) done = Keyed<Gpu>(settling).settle(outcome.gpus);
  if (done) done = Keyed<Usage>(settling).settle(outcome.usages);
  if (done) done = Keyed<Outage>(settling).settle(outcome.outages);
  if (done) done = Keyed<Correction>(settling).settle(outcome.corrections);
  if (done) done = Keyed<Outcome>(settling).settle(outcome.outcomes);
  return done;
}

}  // namespace pennyweight
