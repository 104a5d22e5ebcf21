// ChargeBuilder: turns a row of Google's export into its charges in FOCUS terms.
//
// A row has a cost, and credits that reduce it. Over the charges of a row,
//     Σ BilledCost == cost + Σ credits == Σ EffectiveCost
// to the last digit: Google bills commitments as they run, so nothing is amortised over months.
//
//   usage                        Usage, with discounts taken off its BilledCost
//   usage, in part covered by    covered Usage (Committed, BilledCost 0) and the rest of the
//     a commitment's credit        Usage, split in the proportion of the credit to the cost
//   usage at a commitment's      Usage, Committed, at the billed price (the newer model)
//     price
//   fee of a commitment          Purchase, and the usage that the fee paid for: see commitment.h
//   tax                          Tax
//   adjustment, rounding_error   Adjustment
//   each promotion, and credit   Credit
//     of an unknown type
//
// docs/bills/gcp.md maps the columns one by one, with the reasons.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/error.h"
#include "ingest/bills/currency_code.h"
#include "ingest/bills/gcp/row.h"
#include "ingest/bills/gcp/shared_fields.h"
#include "ingest/bills/row_reader.h"

namespace pennyweight::gcp {

class ChargeBuilder {
 public:
  // An Error if the machine lacks the time zone of Google's months.
  static Result<ChargeBuilder> create();

  // Adds the charges of a row, at least one, or returns what is wrong with it.
  std::optional<bill::RowFault> add(Row& row, bill::ChargeBuffer& charges);

  std::uint64_t rounded_numbers() const { return rounded_numbers_; }
  std::uint64_t too_large() const { return too_large_; }  // quantities that were kept as text
  std::uint64_t unread_json() const { return shared_fields_.unread_json(); }

 private:
  explicit ChargeBuilder(SharedFields circumstances) : shared_fields_(std::move(circumstances)) {}

  SharedFields shared_fields_;
  std::uint64_t rounded_numbers_ = 0;
  std::uint64_t too_large_ = 0;
  bill::CurrencyParser currency_parser_;
};

}  // namespace pennyweight::gcp
