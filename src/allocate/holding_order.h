// The order in which a run takes holdings: by what they are, never by how they came.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "ledger/holding.h"

namespace pennyweight {

// By begin and end, workload, attempt, id.
bool comes_before(const Holding& a, const Holding& b);

// Those of them that were held at some time in `during`, where it is given. The holdings outlive
// what comes back.
std::vector<const Holding*> in_order(std::span<const Holding> holdings,
                                     const std::optional<Interval>& during = {});

}  // namespace pennyweight
