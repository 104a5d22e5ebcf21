// replayed_holdings(): what jobs held in a replay, as facts that the allocation engine divides by.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "insight/replay/simulate.h"
#include "insight/what_if/replay_world.h"
#include "insight/what_if/scenario_facts.h"
#include "ledger/holding.h"

namespace pennyweight::what_if {

// Within the period. REQUIRES: the replay is of the world, and kept its runs; `slices` are of its
// jobs, and `originals` those that the world was made from.
std::vector<Holding> replayed_holdings(const ReplayWorld& world, const replay::Replay& replay,
                                       std::span<const std::optional<MigShare>> slices,
                                       std::span<const Holding> originals);

}  // namespace pennyweight::what_if
