#include "ledger/store/clickhouse/verdicts.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

#include "core/check.h"
#include "core/int128.h"
#include "ledger/store_rules.h"

namespace pennyweight {

Hash128 KeyRanges::begin(std::uint64_t part) const {
  CHECK(part < count_, "a part that there is");
  return {.high = static_cast<std::uint64_t>((UInt128{1} << 64) * part / count_), .low = 0};
}

FactVerdict judge_facts(std::vector<StagedFact> staged, std::vector<LedgerFact> ledger) {
  std::ranges::sort(staged, {},
                    [](const StagedFact& f) { return std::tie(f.id, f.content, f.row); });
  std::ranges::sort(ledger, {}, &LedgerFact::id);
  FactVerdict verdict;
  auto there = ledger.begin();
  for (auto fact = staged.begin(); fact != staged.end();) {
    there = std::lower_bound(there, ledger.end(), fact->id,
                             [](const LedgerFact& f, const Hash128& id) { return f.id < id; });
    const bool known = there != ledger.end() && there->id == fact->id;
    const auto first = fact;
    const Hash128 kept = known ? there->content : first->content;
    for (; fact != staged.end() && fact->id == first->id; ++fact) {
      if (!known && fact == first) {
        ++verdict.counts.created;
        verdict.created.push_back(fact->row);
      } else if (fact->content == kept) {
        ++verdict.counts.existing;
      } else {
        ++verdict.counts.conflicts;
        verdict.conflicts.push_back(
            {fact->id, fact->row, known ? std::nullopt : std::optional(first->row)});
      }
    }
  }
  std::ranges::sort(verdict.created);
  return verdict;
}

namespace {

// The lines of one content: how many the delivery brings, and what the ledger has.
struct Content {
  std::uint64_t delivered = 0;
  std::uint64_t ever = 0;  // in the ledger, taken back or not
  std::uint64_t live = 0;
};

// Finds contents in the sorted lines of a delivery.
class Deliveries {
 public:
  // REQUIRES: sorted by content; outlives this object.
  explicit Deliveries(const std::vector<StagedCharge>& staged) : staged_(staged) {}
  std::uint64_t count(const Hash128& content) const {
    const auto [begin, end] =
        std::ranges::equal_range(staged_, content, {}, &StagedCharge::content);
    return static_cast<std::uint64_t>(end - begin);
  }

 private:
  const std::vector<StagedCharge>& staged_;
};

}  // namespace

ChargeVerdict judge_charges(DeliveryStyle style, std::vector<StagedCharge> staged,
                            const std::vector<LedgerCharge>& ledger) {
  std::ranges::sort(staged, {}, [](const StagedCharge& c) { return std::tie(c.content, c.row); });
  const Deliveries deliveries(staged);
  std::vector<std::size_t> by_content(ledger.size());
  std::iota(by_content.begin(), by_content.end(), std::size_t{0});
  std::ranges::sort(by_content, {},
                    [&](std::size_t i) { return std::tie(ledger[i].content, ledger[i].ordinal); });
  ChargeVerdict verdict;
  // As many live lines of a content as are delivered stay: the first ones.
  std::uint64_t place = 0;
  for (std::size_t i = 0; i < by_content.size(); ++i) {
    const LedgerCharge& line = ledger[by_content[i]];
    if (i == 0 || ledger[by_content[i - 1]].content != line.content) place = 0;
    if (line.live && place++ >= deliveries.count(line.content)) {
      verdict.left_out.push_back(by_content[i]);
    }
  }
  std::map<Hash128, Hash128> missing;  // by natural key, the smallest id that is left out
  if (style == DeliveryStyle::kGuarded) {
    for (const std::size_t i : verdict.left_out) {
      const auto [least, added] = missing.try_emplace(ledger[i].natural_key, ledger[i].id);
      if (!added) least->second = std::min(least->second, ledger[i].id);
    }
  }
  const bool adds = adds_every_line(style);
  auto there = by_content.begin();
  for (auto line = staged.begin(); line != staged.end();) {
    const auto first = line;
    while (there != by_content.end() && ledger[*there].content < first->content) ++there;
    Content content{.delivered = deliveries.count(first->content)};
    for (; there != by_content.end() && ledger[*there].content == first->content; ++there) {
      ++content.ever;
      content.live += ledger[*there].live ? 1 : 0;
    }
    const std::uint64_t existing = adds ? 0 : std::min(content.live, content.delivered);
    verdict.counts.existing += existing;
    verdict.counts.repeated += content.delivered - 1;
    const auto conflict = missing.find(first->natural_key);
    for (std::uint64_t i = 0; i < content.delivered; ++i, ++line) {
      if (i < existing) continue;
      const std::uint64_t ordinal = content.ever + i - existing;
      if (conflict != missing.end()) {
        verdict.conflicts.push_back(
            {numbered(line->content, ordinal), FactId{conflict->second}, line->row});
      } else {
        verdict.created.push_back({line->row, ordinal});
      }
    }
  }
  verdict.counts.created = verdict.created.size();
  verdict.counts.conflicts = verdict.conflicts.size();
  std::ranges::sort(verdict.created, {}, &CreatedCharge::row);
  std::ranges::sort(verdict.conflicts, {}, &ChargeConflict::id);
  return verdict;
}

}  // namespace pennyweight
