// ChargeLines: a row of Google's export → the lines of a bill that it is in the terms of FOCUS.
//
// A row carries cost, and credits that come off it. Over the lines of a row,
//     Σ BilledCost == cost + Σ credits == Σ EffectiveCost
// to the last digit: Google bills commitments as they run, so nothing is amortised over months.
//
//   usage                        Usage, with discounts taken off its BilledCost
//   usage, in part covered by    Usage covered (Committed, BilledCost 0) and Usage not covered,
//     a commitment's credit        divided in the proportion of the credit to the cost
//   usage at a commitment's      Usage, Committed, at what it is billed (the newer model)
//     price
//   fee of a commitment          Purchase, and what the fee went to: see commitment.h
//   tax                          Tax
//   adjustment, rounding_error   Adjustment
//   each promotion, and credit   Credit
//     of an unknown type
//
// docs/bills/gcp.md has the columns one by one, and the reasons.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/error.h"
#include "ingest/bill/bill_reader.h"
#include "ingest/gcp/circumstances.h"
#include "ingest/gcp/row.h"

namespace pennyweight::gcp {

class ChargeLines {
 public:
  // An Error when the machine lacks the time zone of Google's months.
  static Result<ChargeLines> make();

  // Adds the lines of a row, at least one, or tells what is wrong with it.
  std::optional<bill::Fault> add(Row& row, bill::Lines& lines);

  std::uint64_t rounded_numbers() const { return rounded_numbers_; }
  std::uint64_t too_large() const { return too_large_; }  // quantities that were kept as text
  std::uint64_t unread_json() const { return circumstances_.unread_json(); }

 private:
  explicit ChargeLines(Circumstances circumstances) : circumstances_(std::move(circumstances)) {}

  Circumstances circumstances_;
  std::uint64_t rounded_numbers_ = 0;
  std::uint64_t too_large_ = 0;
  std::string last_currency_text_;
  Currency last_currency_ = kUsd;
};

}  // namespace pennyweight::gcp
