// Correction: an amount that a person moves from one owner to another, with a reason.
//
// It is a fact like any other: nothing is overwritten, and a run turns it into a transfer that sums
// to zero. A mistaken correction is undone by another one.
#pragma once

#include <string>

#include "core/id.h"
#include "core/instant.h"
#include "core/label.h"
#include "core/money.h"
#include "ledger/fact_id.h"

namespace pennyweight {

struct Correction {
  ClusterId cluster;
  std::string name;  // unique in its cluster, "2026-03 gpu day for nlp"
  Interval during;   // the local days that it is booked on
  Labels from;       // the owner's dimensions, {team: nlp}; empty: the unallocated bucket
  Labels to;         // REQUIRES: not both empty
  Money amount;      // of each of the four costs; positive
  std::string reason;
  std::string author;

  FactId id;  // set by the store
  SourceLine source;

  Correction(ClusterId in, std::string called, Interval over, Money moved)
      : cluster(std::move(in)), name(std::move(called)), during(over), amount(moved) {}
  bool operator==(const Correction&) const = default;
};

Hash128 natural_key(const Correction& correction);  // cluster, name
Hash128 content_hash(const Correction& correction);
std::string difference(const Correction& there, const Correction& here);

}  // namespace pennyweight
