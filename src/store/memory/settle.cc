#include <algorithm>
#include <utility>

#include "core/limits.h"
#include "ledger/keeping.h"
#include "store/memory/memory_book.h"

namespace pennyweight {
namespace {

// The conflicts of an import, in the order of kinds and ids.
class Conflicts {
 public:
  explicit Conflicts(std::string file) : file_(std::move(file)) {}
  template <class Fact>
  void add(const char* what, const Fact& there, const Fact& here) {
    rows_.push_back(conflict_row(file_, here.source.line, what, difference(there, here)));
  }
  std::vector<RejectedRow>& rows() { return rows_; }

 private:
  std::string file_;
  std::vector<RejectedRow> rows_;
};

// Facts whose natural key is their id. Of several contents under one key the ledger's is kept, else
// the one with the least fingerprint, so that the order of rows does not matter.
template <class Fact>
FactCounts settle_keyed(std::map<FactId, Fact>& ledger, std::vector<Fact> staged, const char* what,
                        Conflicts& conflicts) {
  struct Entry {
    FactId id;
    Hash128 content;
    Fact fact;
  };
  std::vector<Entry> entries;
  for (Fact& fact : staged) {
    fact.id = FactId{natural_key(fact)};
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

FactCounts settle_charges(MemoryBook& book, std::vector<Charge> staged, Conflicts& conflicts) {
  FactCounts counts;
  // Number identical lines in the order in which they came.
  std::map<Hash128, std::uint64_t> seen;
  std::map<Hash128, std::map<FactId, Charge>> deliveries;  // by natural key
  for (Charge& charge : staged) {
    const Hash128 content = content_hash(charge);
    const std::uint64_t ordinal = seen[content]++;
    if (ordinal > 0) ++counts.repeated;
    charge.id = numbered(content, ordinal);
    deliveries[natural_key(charge)].emplace(charge.id, std::move(charge));
  }
  std::vector<std::pair<const Charge*, const Charge*>> rejected;  // there, here
  for (auto& [key, delivered] : deliveries) {
    std::set<FactId>& known = book.charges_by_key[key];
    const auto left_out =
        std::ranges::find_if(known, [&](const FactId& id) { return !delivered.contains(id); });
    const bool conflicting = left_out != known.end();
    for (const auto& [id, charge] : delivered) {
      if (known.contains(id)) {
        ++counts.existing;
      } else if (conflicting) {
        rejected.emplace_back(&book.charges.at(*left_out), &charge);
      } else {
        ++counts.created;
        book.charges.emplace(id, charge);
      }
    }
    if (conflicting) continue;
    for (const auto& [id, charge] : delivered) known.insert(id);
  }
  std::ranges::sort(rejected, {}, [](const auto& pair) { return pair.second->id; });
  for (const auto& [there, here] : rejected) conflicts.add("charge", *there, *here);
  counts.conflicts = rejected.size();
  return counts;
}

}  // namespace

ImportOutcome settle(MemoryBook& book, StagedImport staged) {
  Conflicts conflicts(staged.source.name);
  ImportOutcome outcome;
  outcome.number = book.imports.size() + 1;
  outcome.charges = settle_charges(book, std::move(staged.charges), conflicts);
  outcome.holdings = settle_keyed(book.holdings, std::move(staged.holdings), "holding", conflicts);
  outcome.nodes = settle_keyed(book.nodes, std::move(staged.nodes), "node", conflicts);
  outcome.gpus = settle_keyed(book.gpus, std::move(staged.gpus), "GPU", conflicts);
  outcome.usages = settle_keyed(book.usages, std::move(staged.usages), "usage", conflicts);
  outcome.outages = settle_keyed(book.outages, std::move(staged.outages), "outage", conflicts);
  outcome.corrections =
      settle_keyed(book.corrections, std::move(staged.corrections), "correction", conflicts);
  outcome.rejected = staged.rejected_count + conflicts.rows().size();

  const auto shown = std::min<std::size_t>(conflicts.rows().size(), 100);
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
    book.rejected.try_emplace(id, outcome.number, std::move(row));
  }
  book.imports.push_back({.number = outcome.number,
                          .source = std::move(staged.source),
                          .charges = outcome.charges.created,
                          .holdings = outcome.holdings.created,
                          .nodes = outcome.nodes.created,
                          .gpus = outcome.gpus.created,
                          .usages = outcome.usages.created,
                          .outages = outcome.outages.created,
                          .corrections = outcome.corrections.created,
                          .rejected = outcome.rejected});
  return outcome;
}

KeptRun* current_run(MemoryBook& book, const Scope& scope) {
  for (KeptRun& kept : book.runs) {
    if (kept.run.scope == scope && kept.run.current) return &kept;
  }
  return nullptr;
}

}  // namespace pennyweight
