// Commitments: what was paid for each, and what its use and its idle hours took of that.
//
// Identity: over a commitment's term the effective costs of what was used and what was not add up
// to its purchase (FOCUS 1.4, CommitmentDiscountStatus and EffectiveCost). A ledger rarely has the
// whole term, so a difference is told by what is missing: an upfront payment of an earlier month,
// or one of which later months take their part.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "ledger/charge.h"

namespace pennyweight {

enum class CommitmentVerdict {
  kExact,        // used + unused = purchases
  kStillToCome,  // an upfront payment of which later months take the rest
  kPaidEarlier,  // takes its part of a payment that this ledger does not have
  kOff,          // paid by the month, and use and idle hours don't add up to it
  kNoUse,        // purchases, and no line says what used them
};
std::string_view to_text(CommitmentVerdict verdict);

struct CommitmentRow {
  std::string id;
  std::string type;   // CommitmentDiscountType, of the first line that states one
  std::string month;  // "2026-03", of the billing period; empty: all that the ledger has
  Money upfront;      // billed by one-time purchases
  Money recurring;    // billed by other purchases
  Money used_billed;  // billed with the use itself, which providers without a fee line do
  Money used;         // effective
  Money unused;       // effective
  Money on_fee;       // effective of purchases: of it no line says whether it was used
  std::uint64_t lines = 0;

  Money paid() const { return upfront + recurring + used_billed; }
  Money taken() const { return used + unused + on_fee; }
  Money difference() const { return paid() - taken(); }
  CommitmentVerdict verdict() const;
};

class CommitmentAudit {
 public:
  // Lines of commitments count; others are passed over.
  void add(const Charge& charge);

  // By currency, commitment and month; `terms` by currency and what was paid and taken in all, the
  // most first.
  std::vector<CommitmentRow> months() const;
  std::vector<CommitmentRow> terms() const;

 private:
  using Key = std::tuple<Currency, std::string, std::string>;
  std::map<Key, CommitmentRow> rows_;
};

}  // namespace pennyweight
