// Rounds exact amounts to the minor units (cents) that a page shows, so that the page adds up.
//
// Rounded one by one, the lines of a page may not add up to its rounded total. So the total is
// rounded once, half to even, and distributed: from the month to its customers, from a customer to
// the sections, from a section to its lines. At every step each amount becomes the minor unit just
// below or just above it, by the largest-remainder method.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/money.h"
#include "reporting/minor_unit.h"

namespace pennyweight {

// To whole minor units, half to even.
Money round_to_minor(Money amount);

struct RoundedAmounts {
  std::vector<Money> shown;  // in the order of the amounts: each the minor unit below or above
  Money residue;             // what is missing from the target
};

// Rounds the amounts so that they add up to `target`. Whole minor units stay as they are. Of the
// others, those with the largest remainders are rounded up; of equal remainders, the earlier. If
// the sum is negative, the result mirrors that of the negated amounts, so that a credit note
// cancels the invoice it credits. REQUIRES: one currency; the target is whole minor units. ENSURES:
// shown and residue add up to the target. The residue is zero where the target is the sum of the
// amounts, rounded up or down.
RoundedAmounts round_to_total(std::span<const Money> amounts, Money target);

}  // namespace pennyweight
