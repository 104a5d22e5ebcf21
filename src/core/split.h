// split(): divides an amount among parties in proportion to their weights, losing nothing.
//
// The method is the largest remainder. Each party first gets the floor of its exact share; the
// ticks left over, fewer than there are parties, go one each to the largest fractional parts, and
// among equal ones to the earlier party. The result depends only on the arguments, so a re-run
// gives the same bill; callers put the parties in a stable order (by key) first.
//
// REQUIRES: at least one weight is positive, and the weights add up to less than 2^127.
// ENSURES:  the shares add up to exactly `total`, and a zero weight gets zero.
#pragma once

#include <span>
#include <vector>

#include "core/int128.h"
#include "core/money.h"

namespace pennyweight {

// A party's weight. It is an integer, so that a sum does not depend on its order.
using Weight = UInt128;

// A negative total is split as its absolute value and negated, so a credit mirrors the charge that
// it reverses.
std::vector<Money> split(Money total, std::span<const Weight> weights);

// The same for a count without a currency.
std::vector<UInt128> split_units(UInt128 total, std::span<const Weight> weights);

}  // namespace pennyweight
