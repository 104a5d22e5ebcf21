// BillTruth: the sums of a generated bill, recorded while its rows are made and never read back
// from them.
//
// An import of the bill must arrive at these sums: the billed ones as on the invoice, the effective
// ones as in the provider's amortised view.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "core/decimal.h"
#include "core/money.h"

namespace pennyweight::bills {

enum class LineType {
  kOnDemand,
  kSpot,
  kCommitmentUsed,     // usage of a node that a commitment covers
  kCommitmentUnused,   // the unused part, if it is a row of its own
  kCommitmentFee,      // the monthly or hourly fee
  kCommitmentUpfront,  // the upfront payment
  kNegation,           // reverses the list price of usage that a commitment covers
  kStorage,
  kNetwork,
  kSupport,
  kRefund,
  kCorrection,  // one that names the row that it reverses
  kCredit,
  kDiscount,
  kTax,
  kRounding,
};
std::string_view to_text(LineType type);

struct TruthKey {
  std::string month;    // "2026-03", of the invoice, in the provider's time zone
  std::string invoice;  // as in the rows; empty if they name none
  std::string account;  // that used it: account, subscription, project, tenancy
  std::string service;  // as in the rows
  std::string team;     // the value of the tag `team`; empty: none
  LineType type;
  auto operator<=>(const TruthKey&) const = default;
};

struct TruthAmounts {
  Decimal billed;
  Decimal effective;
  bool operator==(const TruthAmounts&) const = default;
};

// One commitment over the whole bill. Its cost for the time of the bill equals the used and unused
// parts, to the last digit.
struct CommitmentTruth {
  Decimal recurring;          // paid for the time of the bill
  Decimal amortised_upfront;  // the part of earlier payments that falls into it
  Decimal used;
  Decimal unused;
  bool holds() const {
    return recurring.ticks() + amortised_upfront.ticks() == used.ticks() + unused.ticks();
  }
};

struct BillTruth {
  Currency currency = kUsd;
  std::uint64_t rows = 0;            // of the file
  std::uint64_t repeating_rows = 0;  // rows among them that repeat the cost of other rows
  std::map<TruthKey, TruthAmounts> amounts;
  std::map<std::string, CommitmentTruth> commitments;  // by the id in the rows
  // For bills without money: the quantity used, by SKU and unit.
  std::map<std::pair<std::string, std::string>, Decimal> quantities;

  void add(const TruthKey& key, Decimal billed, Decimal effective);
  Decimal billed() const;
  Decimal effective() const;
};

// One JSON object, keys sorted, amounts as texts with all their digits.
std::string to_json(const BillTruth& truth);

}  // namespace pennyweight::bills
