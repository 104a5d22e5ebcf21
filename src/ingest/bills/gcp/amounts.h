// Amounts: the money and the numbers of a row, which decide what charges it becomes.
#pragma once

#include <optional>
#include <string>

#include "core/decimal.h"
#include "core/money.h"
#include "ingest/bills/gcp/credit.h"
#include "ingest/bills/gcp/row.h"
#include "ingest/bills/row_reader.h"

namespace pennyweight::gcp {

struct Amounts {
  explicit Amounts(Currency currency)
      : cost(Money::zero(currency)),
        reduced(Money::zero(currency)),
        covered(Money::zero(currency)),
        offset(Money::zero(currency)) {}

  Money cost;     // before credits
  Money reduced;  // Σ credits that are part of the price
  Money covered;  // Σ credits for what a commitment covers
  Money offset;   // Σ credits by which the use of a commitment reduces its fee
  bool has_offset = false;
  Credits credits;

  std::optional<Money> list;        // cost_at_list
  std::optional<Money> contracted;  // cost_at_effective_price_default
  std::optional<Decimal> list_price;
  std::optional<Decimal> effective_price;
  std::optional<Decimal> effective_price_default;
  std::optional<Decimal> consumed;  // usage.amount
  std::optional<Decimal> priced;    // usage.amount_in_pricing_units
  std::size_t rounded = 0;          // numbers with digits beyond 10^-18
  std::size_t too_large = 0;        // quantities of 10^20 or more, which are not read
};

// A RowFault names the column.
std::optional<bill::RowFault> read_amounts(const Row& row, Amounts& amounts);

// Splits `total` in two, the first as part : whole. REQUIRES: |part| < |whole|, neither is zero.
struct SplitMoney {
  Money first;
  Money second;
};
SplitMoney divide(Money total, Money part, Money whole);
std::pair<Decimal, Decimal> divide(Decimal total, Money part, Money whole);

}  // namespace pennyweight::gcp
