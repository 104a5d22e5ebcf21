#include <algorithm>
#include <utility>

#include "core/limits.h"
#include "ledger/end_keys.h"
#include "ledger/store_rules.h"
#include "testing/memory_store/memory_ledger.h"

namespace pennyweight {
namespace {

// The conflicts of an import, in the order of kinds and ids.
class ConflictRows {
 public:
  explicit ConflictRows(std::string file) : file_(std::move(file)) {}
  template <class Fact>
  void add(const char* what, const Fact& there, const Fact& here) {
    rows_.push_back(conflict_row(file_, here.source.line, what, difference(there, here)));
  }
  std::vector<RejectedRow>& rows() { return rows_; }

 private:
  std::string file_;
  std::vector<RejectedRow> rows_;
};

// Facts whose natural key is their id. If a key has several contents, the ledger's is kept, or else
// the one with the smallest fingerprint, so that the order of rows does not matter.
template <class Fact>
FactCounts resolve_keyed(std::map<FactId, Fact>& ledger, std::vector<Fact> staged, const char* what,
                         ConflictRows& conflicts) {
  struct Entry {
    FactId id;
    Hash128 content;
    Fact fact;
  };
  std::vector<Entry> entries;
  auto key_of = [&] {
    if constexpr (has_end_key<Fact>) {
      std::vector<Fact> known;
      for (const auto& [id, fact] : ledger) known.push_back(fact);
      return [keys = EndKeys<Fact>(known)](const Fact& fact) mutable { return keys.key_of(fact); };
    } else {
      return [](const Fact& fact) { return natural_key(fact); };
    }
  }();
  for (Fact& fact : staged) {
    fact.id = FactId{key_of(fact)};
    entries.push_back({fact.id, content_hash(fact), std::move(fact)});
  }
  std::ranges::stable_sort(entries, [](const Entry& a, const Entry& b) {
    return std::pair(a.id, a.content) < std::pair(b.id, b.content);
  });
  FactCounts counts;
  for (Entry& entry : entries) {
    const auto [kept, created] = ledger.try_emplace(entry.id, entry.fact);
    if (created) {
      ++counts.created;
    } else if (content_hash(kept->second) == entry.content) {
      ++counts.existing;
    } else {
      ++counts.conflicts;
      conflicts.add(what, kept->second, entry.fact);
    }
  }
  return counts;
}

// The lines of one content: what the delivery brings, and what the ledger has.
struct Content {
  std::vector<Charge> delivered;  // in order of arrival
  std::vector<FactId> live;       // in the ledger and not taken back, in order of arrival
  std::uint64_t ever = 0;         // in the ledger, taken back or not
};

class ChargeResolver {
 public:
  ChargeResolver(MemoryLedger& ledger, const ImportSource& source, const CommitTerms& terms,
                 std::uint64_t import, ConflictRows& conflicts)
      : ledger_(ledger),
        source_(source),
        import_(import),
        conflicts_(conflicts),
        scopes_(terms.also_replaced.begin(), terms.also_replaced.end()) {}

  FactCounts commit_import(std::vector<Charge> staged) {
    for (Charge& charge : staged) {
      scopes_.insert(delivery_scope(charge));
      const Hash128 content = content_hash(charge);
      contents_[content].delivered.push_back(std::move(charge));
    }
    for (auto& [hash, content] : contents_) find_in_ledger(hash, content);
    const bool adds = adds_every_line(source_.style);
    if (source_.style == DeliveryStyle::kReplacement) retire_what_is_left_out();
    if (source_.style == DeliveryStyle::kGuarded) find_conflicts();
    for (auto& [hash, content] : contents_) take(hash, content, adds);
    report_conflicts();
    return counts_;
  }
  const Restated& restated() const { return restated_; }
  // The months in which lines were booked or retired.
  const std::set<std::string>& months() const { return months_; }

 private:
  void find_in_ledger(const Hash128& hash, Content& content) const {
    const auto ever = ledger_.charges_by_content.find(hash);
    if (ever == ledger_.charges_by_content.end()) return;
    content.ever = ever->second.size();
    std::ranges::copy_if(ever->second, std::back_inserter(content.live),
                         [&](const FactId& id) { return !ledger_.retired.contains(id); });
  }

  // For each delivered key, finds the first line that the ledger has and the delivery lacks.
  void find_conflicts() {
    for (const auto& [hash, content] : contents_) {
      const Hash128 key = natural_key(content.delivered.front());
      const auto known = ledger_.charges_by_key.find(key);
      if (known == ledger_.charges_by_key.end() || left_out_.contains(key)) continue;
      std::optional<FactId> first;
      for (const FactId& id : known->second) {
        if (ledger_.retired.contains(id)) continue;
        if (!is_delivered(id) && (!first || id < *first)) first = id;
      }
      if (first) left_out_.emplace(key, *first);
    }
  }

  // As many live lines of a content as are delivered stay: the first ones.
  bool is_delivered(const FactId& id) const {
    const auto content = contents_.find(content_hash(ledger_.charges.at(id)));
    if (content == contents_.end()) return false;
    const auto& live = content->second.live;
    const auto at = static_cast<std::size_t>(std::ranges::find(live, id) - live.begin());
    return at < content->second.delivered.size();
  }

  void retire_what_is_left_out() {
    std::vector<FactId> gone;
    for (const auto& [id, charge] : ledger_.charges) {
      if (charge.takes_back || ledger_.retired.contains(id)) continue;
      if (scopes_.contains(delivery_scope(charge)) && !is_delivered(id)) gone.push_back(id);
    }
    for (const FactId& id : gone) retire(id);
  }

  void retire(const FactId& id) {
    const Charge& charge = ledger_.charges.at(id);
    Retirement retirement{import_, std::nullopt};
    if (ledger_.is_closed(charge.booked_month)) {
      Charge reversal = reversal_of(charge, open_month(charge.booked_month));
      reversal.import_number = import_;
      retirement.reversal = reversal.id;
      months_.insert(reversal.booked_month);
      ledger_.charges.emplace(reversal.id, reversal);
      ++restated_.reversed;
    } else {
      months_.insert(charge.booked_month);
      ++restated_.removed;
    }
    ledger_.retired.emplace(id, retirement);
  }

  std::string open_month(const std::string& month) const {
    return open_month_from(month, [&](const std::string& m) { return ledger_.is_closed(m); });
  }

  void take(const Hash128& hash, Content& content, bool adds) {
    const std::size_t existing = adds ? 0 : std::min(content.live.size(), content.delivered.size());
    counts_.existing += existing;
    counts_.repeated += content.delivered.size() - 1;
    for (std::size_t i = existing; i < content.delivered.size(); ++i) {
      Charge& charge = content.delivered[i];
      charge.id = numbered(hash, content.ever + i - existing);
      const Hash128 key = natural_key(charge);
      if (left_out_.contains(key)) {
        rejected_.emplace_back(left_out_.at(key), std::move(charge));
        continue;
      }
      const std::string month = month_of(charge.billing_period.begin());
      charge.import_number = import_;
      charge.takes_back.reset();
      charge.booked_month = open_month(month);
      restated_.late += charge.booked_month == month ? 0 : 1;
      months_.insert(charge.booked_month);
      ++counts_.created;
      ledger_.charges_by_content[hash].push_back(charge.id);
      ledger_.charges_by_key[key].insert(charge.id);
      ledger_.charges.emplace(charge.id, std::move(charge));
    }
  }

  void report_conflicts() {
    std::ranges::sort(rejected_, {}, [](const auto& pair) { return pair.second.id; });
    for (const auto& [there, here] : rejected_) {
      conflicts_.add("charge", ledger_.charges.at(there), here);
    }
    counts_.conflicts = rejected_.size();
  }

  MemoryLedger& ledger_;
  const ImportSource& source_;
  std::uint64_t import_;
  ConflictRows& conflicts_;
  std::set<std::string> scopes_;
  std::map<Hash128, Content> contents_;
  std::map<Hash128, FactId> left_out_;               // by natural key
  std::vector<std::pair<FactId, Charge>> rejected_;  // the ledger's and the delivered one
  FactCounts counts_;
  Restated restated_;
  std::set<std::string> months_;
};

// A file of differences that was imported before.
bool is_known(const MemoryLedger& ledger, const ImportSource& source) {
  if (!adds_every_line(source.style)) return false;
  if (source.file_hash == Hash128{}) return false;
  return std::ranges::any_of(ledger.imports, [&](const ImportRecord& import) {
    return import.source.file_hash == source.file_hash;
  });
}

// New corrections of closed months, which are not allowed.
void reject_late(const MemoryLedger& ledger, StagedImport& staged) {
  std::erase_if(staged.corrections, [&](const Correction& correction) {
    if (ledger.corrections.contains(FactId{natural_key(correction)})) return false;
    const auto month =
        closed_month_of(correction, [&](const std::string& m) { return ledger.is_closed(m); });
    if (!month) return false;
    ++staged.rejected_count;
    staged.rejected.push_back(late_correction_row(staged.source.name, correction, *month));
    return true;
  });
}

}  // namespace

Result<ImportOutcome> commit_import(MemoryLedger& ledger, StagedImport staged,
                                    const CommitTerms& terms) {
  if (staged.source.style == DeliveryStyle::kReplacement && staged.rejected_count > 0 &&
      !terms.accepts_rejected) {
    return fail(ErrorCode::kBadFile, replacement_is_incomplete(staged.rejected_count));
  }
  ConflictRows conflicts(staged.source.name);
  ImportOutcome outcome;
  outcome.number = ledger.imports.size() + 1;
  outcome.known_file = is_known(ledger, staged.source);
  if (outcome.known_file) staged.charges.clear();
  ChargeResolver charges(ledger, staged.source, terms, outcome.number, conflicts);
  outcome.charges = charges.commit_import(std::move(staged.charges));
  outcome.restated = charges.restated();
  reject_late(ledger, staged);
  outcome.holdings =
      resolve_keyed(ledger.holdings, std::move(staged.holdings), "holding", conflicts);
  outcome.nodes = resolve_keyed(ledger.nodes, std::move(staged.nodes), "node", conflicts);
  outcome.gpus = resolve_keyed(ledger.gpus, std::move(staged.gpus), "GPU", conflicts);
  outcome.usages = resolve_keyed(ledger.usages, std::move(staged.usages), "usage", conflicts);
  outcome.outages = resolve_keyed(ledger.outages, std::move(staged.outages), "outage", conflicts);
  outcome.corrections =
      resolve_keyed(ledger.corrections, std::move(staged.corrections), "correction", conflicts);
  outcome.outcomes =
      resolve_keyed(ledger.outcomes, std::move(staged.outcomes), "outcome", conflicts);
  outcome.rejected = staged.rejected_count + conflicts.rows().size();

  const auto shown = std::min<std::size_t>(conflicts.rows().size(), kConflictRowsShown);
  outcome.conflict_rows.assign(conflicts.rows().begin(),
                               conflicts.rows().begin() + static_cast<std::ptrdiff_t>(shown));
  std::ranges::move(conflicts.rows(), std::back_inserter(staged.rejected));
  if (staged.rejected.size() > limits::kRejectedRowsKeptMax) {
    staged.rejected.resize(limits::kRejectedRowsKeptMax);
  }
  std::map<Hash128, std::uint64_t> seen;
  for (RejectedRow& row : staged.rejected) {
    const Hash128 content = content_hash(row);
    const Hash128 id = numbered(content, seen[content]++).hash;
    ledger.rejected.try_emplace(id, outcome.number, std::move(row));
  }
  ledger.imports.push_back(import_record(staged.source, outcome, terms.statement));
  std::vector<Invalidation> invalidated = invalidations_by(staged.invalidations, outcome);
  for (const std::string& month : charges.months())
    invalidated.push_back(charge_invalidation(month));
  if (!invalidated.empty()) {
    ledger.invalidated.emplace_back(outcome.number, std::move(invalidated));
  }
  return outcome;
}

StoredRun* current_run(MemoryLedger& ledger, const Scope& scope) {
  for (StoredRun& kept : ledger.runs) {
    if (kept.run.scope == scope && kept.run.current) return &kept;
  }
  return nullptr;
}

}  // namespace pennyweight
