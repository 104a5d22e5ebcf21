#include "ledger/store/clickhouse/keyed_fact_resolver.h"

#include <tuple>

#include "core/try.h"

namespace pennyweight {
namespace {

using clickhouse::Block;

// The rows that a conflict is described from: the one that is set aside, and the one that is kept.
struct FactConflictRows {
  StagedRow here;
  std::optional<StagedRow> there;  // of the same import; absent if it is the ledger's
};

template <class Fact>
class KeyedFactResolver {
 public:
  explicit KeyedFactResolver(ImportResolver& resolver) : resolver_(resolver) {}
  Result<void> resolve(FactCounts& counts);

 private:
  Result<std::vector<LedgerFact>> read_ledger(const std::string& here);
  Result<void> keep_late_aside(const std::string& here, const std::vector<LedgerFact>& ledger,
                               StagedRange& staged);
  Result<void> describe(std::span<const FactConflictRows> conflicts);

  ImportResolver& resolver_;
};

template <class Fact>
Result<std::vector<LedgerFact>> KeyedFactResolver<Fact>::read_ledger(const std::string& here) {
  std::vector<LedgerFact> found;
  TRY(resolver_.each_block(
      fmt::format("SELECT {0}, content FROM {1}{2}{3} AND {0} GLOBAL IN {4}", key_column<Fact>(),
                  resolver_.ledger().facts(Table<Fact>::kName), resolver_.of_ledger<Fact>(), here,
                  resolver_.keys_of<Fact>(here)),
      [&](const Block& block) -> Result<bool> {
        const auto &ids = block.columns[0], &contents = block.columns[1];
        for (std::uint64_t row = 0; row < block.rows; ++row) {
          found.push_back({ids.hash(row), contents.hash(row)});
        }
        return true;
      }));
  std::ranges::sort(found, {}, &LedgerFact::id);
  return found;
}

// Drops new corrections of closed months before resolution.
template <class Fact>
Result<void> KeyedFactResolver<Fact>::keep_late_aside(const std::string& here,
                                                      const std::vector<LedgerFact>& ledger,
                                                      StagedRange& staged) {
  static_assert(std::is_same_v<Fact, Correction>, "only corrections are booked");
  if (!resolver_.is_any_closed()) return {};
  const std::string& name = resolver_.delivery().source.name;
  std::vector<std::pair<std::uint64_t, RejectedRow>> late;
  StagedRange rest;
  const auto read = resolver_.each_block_of_facts(
      fmt::format("SELECT {} FROM {}{}", rows_and_facts_columns<Fact>(),
                  resolver_.delivery().rows.template rows_of<Fact>(), here),
      [&](const Block& block) -> Result<bool> {
        const auto facts = TRY(rows_and_facts<Fact>(block, resolver_.ledger().numbers()));
        for (const auto& [row, correction] : facts) {
          const auto month = closed_month_of(
              correction, [&](const std::string& m) { return resolver_.is_closed(m); });
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
    return rows_not_returned(Table<Fact>::kName);
  }
  rest.sort();
  staged = std::move(rest);
  std::ranges::sort(late, {},
                    [](const auto& row) { return std::tie(row.first, row.second.reason); });
  for (auto& [line, row] : late) {
    ++resolver_.result().rejected_count;
    resolver_.result().rejected.push_back(std::move(row));
  }
  return {};
}

template <class Fact>
Result<void> KeyedFactResolver<Fact>::describe(std::span<const FactConflictRows> conflicts) {
  std::vector<Hash128> ids;
  for (const FactConflictRows& conflict : conflicts) ids.push_back(conflict.here.key);
  const std::string these = is_one_of(Table<Fact>::kId, ids);
  const StagedDelivery& delivery = resolver_.delivery();
  std::map<StagedRow, Fact> came, there;
  Result<void> read =
      resolver_.read_facts(narrowed(delivery.rows.template rows_of<Fact>(), these), came);
  if (read) {
    read = resolver_.read_facts(
        narrowed(resolver_.ledger().facts(Table<Fact>::kName), these) + resolver_.of_ledger<Fact>(),
        there);
  }
  if (!read) return read;
  for (const FactConflictRows& conflict : conflicts) {
    const auto here = came.find(conflict.here);
    const auto kept = conflict.there ? came.find(*conflict.there)
                                     : there.lower_bound({.key = conflict.here.key, .content = {}});
    if (here == came.end() || kept == (conflict.there ? came.end() : there.end()) ||
        kept->first.key != conflict.here.key) {
      return rows_not_returned(Table<Fact>::kName);
    }
    resolver_.add_conflict(conflict_row(delivery.source.name, here->second.source.line,
                                        Table<Fact>::kFact,
                                        difference(kept->second, here->second)));
  }
  return {};
}

template <class Fact>
Result<void> KeyedFactResolver<Fact>::resolve(FactCounts& counts) {
  const std::uint64_t rows = resolver_.delivery().rows.template of<Fact>().rows();
  if (rows == 0) return {};
  const KeyRanges parts(rows);
  std::vector<FactConflictRows> conflicts;
  std::uint64_t seen = 0;
  for (std::uint64_t part = 0; part < parts.count(); ++part) {
    TRY(resolver_.between());
    const std::string here = resolver_.of_part<Fact>(parts, part);
    StagedRange staged = TRY(resolver_.read_staged<Fact>(here));
    seen += staged.rows().size();
    std::vector<LedgerFact> ledger = TRY(read_ledger(here));
    if constexpr (std::is_same_v<Fact, Correction>) {
      TRY(keep_late_aside(here, ledger, staged));
    }
    std::vector<StagedFact> facts;
    facts.reserve(staged.rows().size());
    for (const StagedRow& row : staged.rows()) {
      facts.push_back({row.key, row.content, facts.size()});
    }
    const FactVerdict verdict = judge_facts(std::move(facts), std::move(ledger));
    counts.created += verdict.counts.created;
    counts.existing += verdict.counts.existing;
    counts.conflicts += verdict.counts.conflicts;
    for (const std::uint64_t row : verdict.created) staged.keep(row);
    TRY(resolver_.write<Fact>(here, staged));
    for (const FactConflict& conflict : verdict.conflicts) {
      if (conflicts.size() == resolver_.conflicts_left()) break;
      conflicts.push_back(
          {staged.rows()[conflict.row],
           conflict.there_row ? std::optional(staged.rows()[*conflict.there_row]) : std::nullopt});
    }
  }
  if (seen != rows) return rows_not_returned(Table<Fact>::kName);
  resolver_.result().rejected_count += counts.conflicts;
  resolver_.use_up_conflicts(conflicts.size());
  return in_lists(std::span<const FactConflictRows>(conflicts),
                  [&](std::span<const FactConflictRows> some) { return describe(some); });
}

}  // namespace

Result<void> resolve_keyed_facts(ImportResolver& resolver) {
  ImportOutcome& outcome = resolver.result().outcome;
  Result<void> done = KeyedFactResolver<Holding>(resolver).resolve(outcome.holdings);
  if (done) done = KeyedFactResolver<Node>(resolver).resolve(outcome.nodes);
  if (done) done = KeyedFactResolver<Gpu>(resolver).resolve(outcome.gpus);
  if (done) done = KeyedFactResolver<Usage>(resolver).resolve(outcome.usages);
  if (done) done = KeyedFactResolver<Outage>(resolver).resolve(outcome.outages);
  if (done) done = KeyedFactResolver<Correction>(resolver).resolve(outcome.corrections);
  if (done) done = KeyedFactResolver<Outcome>(resolver).resolve(outcome.outcomes);
  return done;
}

}  // namespace pennyweight
