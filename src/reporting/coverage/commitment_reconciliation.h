// Reconciles commitments: compares what was paid for each with the effective cost of its used and
// unused hours.
//
// Over a commitment's term, the effective costs of used and unused hours add up to its purchases
// (FOCUS 1.4, CommitmentDiscountStatus and EffectiveCost). A ledger rarely has the whole term, so a
// difference is explained by what is missing: an upfront payment in an earlier month, or later
// months over which an upfront payment is amortised.
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

enum class CommitmentStatus {
  kExact,             // used + unused = purchases
  kUpfrontRemaining,  // later months amortise the rest of an upfront payment
  kPaidEarlier,       // amortises a payment that this ledger does not have
  kMismatch,          // paid monthly, but used + unused differ from it
  kUseUnreported,     // purchases, but no charge says what used them
};
std::string_view to_text(CommitmentStatus status);

struct CommitmentRow {
  std::string id;
  std::string type;   // CommitmentDiscountType of the first charge that states one
  std::string month;  // the billing month, "2026-03"; empty: all that the ledger has
  Money upfront;      // billed by one-time purchases
  Money recurring;    // billed by other purchases
  Money used_billed;  // billed with the usage itself, by providers without a fee charge
  Money used;         // effective
  Money unused;       // effective
  Money on_fee;       // effective cost of purchases: no charge says whether it was used
  std::uint64_t lines = 0;

  Money paid() const { return upfront + recurring + used_billed; }
  Money amortised() const { return used + unused + on_fee; }
  Money difference() const { return paid() - amortised(); }
  CommitmentStatus status() const;
};

class CommitmentReconciler {
 public:
  // Ignores charges without a commitment.
  void add(const Charge& charge);

  // months(): by currency, commitment and month. terms(): by currency, then the largest sum of paid
  // and amortised cost first.
  std::vector<CommitmentRow> months() const;
  std::vector<CommitmentRow> terms() const;

 private:
  using Key = std::tuple<Currency, std::string, std::string>;
  std::map<Key, CommitmentRow> rows_;
};

}  // namespace pennyweight
