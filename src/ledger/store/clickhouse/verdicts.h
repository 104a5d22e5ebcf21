// Verdicts on the facts of an import: new, already stored, or in conflict. Pure: they follow from
// the fingerprints of the imported facts and of the ledger's facts with the same keys. Only facts
// with one key can conflict, so an import may be judged one range of keys at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ledger/store.h"

namespace pennyweight {

// Facts are judged in parts of this many rows, cut by their keys.
inline constexpr std::uint64_t kRowsPerKeyRange = 500'000;

// The parts: equal ranges of fingerprints, by their order.
class KeyRanges {
 public:
  explicit KeyRanges(std::uint64_t rows) : count_(rows / kRowsPerKeyRange + 1) {}
  std::uint64_t count() const { return count_; }
  // The first fingerprint of a part. REQUIRES: part < count().
  Hash128 begin(std::uint64_t part) const;

 private:
  std::uint64_t count_;
};

// Of a fact whose key is its id.
struct StagedFact {
  Hash128 id, content;
  std::uint64_t row = 0;  // of the import, as it came
};
struct LedgerFact {
  Hash128 id, content;
};
struct FactConflict {
  Hash128 id;
  std::uint64_t row = 0;                   // the one that is set aside
  std::optional<std::uint64_t> there_row;  // what is kept, where it came with it; nothing: the
                                           // ledger's
};
struct FactVerdict {
  FactCounts counts;
  std::vector<std::uint64_t> created;   // rows, ascending
  std::vector<FactConflict> conflicts;  // by id, content, row
};
// Of several contents under one key the ledger's is kept, else the one with the least fingerprint,
// so that the order of rows does not matter.
FactVerdict judge_facts(std::vector<StagedFact> staged, std::vector<LedgerFact> ledger);

struct StagedCharge {
  Hash128 natural_key, content;
  std::uint64_t row = 0;
};
// A line of the ledger, and none that takes another back.
struct LedgerCharge {
  Hash128 id, natural_key, content;
  std::uint64_t ordinal = 0;  // among those of one content, as they came
  bool live = true;           // not taken back
};
struct CreatedCharge {
  std::uint64_t row = 0, ordinal = 0;
};
struct ChargeConflict {
  FactId id;        // that it would have had
  FactId left_out;  // the first line under its key that the ledger has and the delivery has not
  std::uint64_t row = 0;
};
struct ChargeVerdict {
  FactCounts counts;
  std::vector<CreatedCharge> created;     // by row
  std::vector<ChargeConflict> conflicts;  // by id
  std::vector<std::size_t> left_out;      // of `ledger`, by index: live, and not delivered
};
// ledger/store.h says when a guarded delivery conflicts, ledger/delivery.h what the styles mean.
// REQUIRES: `ledger` holds every line under a key of `staged`; it may hold others.
ChargeVerdict judge_charges(DeliveryStyle style, std::vector<StagedCharge> staged,
                            const std::vector<LedgerCharge>& ledger);

}  // namespace pennyweight
