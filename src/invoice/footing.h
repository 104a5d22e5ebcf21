// Footing: exact amounts as a page shows them, so that what is printed adds up.
//
// A page shows whole minor units (cents). Rounding each amount by itself would print lines whose
// sum is not the printed total, so the total is rounded once, half to even, and then handed down:
// the month to its customers, a customer to its sections, a section to its lines. At every step
// each amount is shown as the minor unit just below or just above it, by largest remainder.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/money.h"

namespace pennyweight {

// Digits of the currency's minor unit: ISO 4217, list one. What is not listed there otherwise
// has 2.
int minor_digits(Currency currency);

// To whole minor units, halves to the even one.
Money round_to_minor(Money amount);

struct Footing {
  std::vector<Money> shown;  // as `amounts`, each the minor unit below or above; they and `left`
                             // add up to the target
  Money left;                // what they can't reach so
};

// Amounts that are whole minor units are shown as they are; of the others the largest parts above a
// minor unit go up, ties to the earlier. Amounts that add up to less than zero are shown as their
// mirror, so that a credit undoes the page that it credits.
// REQUIRES: one currency; the target is whole minor units.
// ENSURES: nothing is left where the target is the sum of the amounts, rounded up or down.
Footing foot(std::span<const Money> amounts, Money target);

// Whole minor units as people read them: "1,234.50", "-0.07", of yen "1,234".
std::string format_minor(Money shown);

}  // namespace pennyweight
