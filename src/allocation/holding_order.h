// The order in which a run processes holdings: by their content, never by their arrival.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "ledger/holding.h"

namespace pennyweight {

// By begin and end, workload, attempt, id.
bool comes_before(const Holding& a, const Holding& b);

// The holdings in order; with `during`, only those held at some time in it. The result points into
// `holdings`.
std::vector<const Holding*> sort_holdings(std::span<const Holding> holdings,
                                          const std::optional<Interval>& during = {});

}  // namespace pennyweight
