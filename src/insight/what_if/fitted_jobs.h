// Fitted jobs: a month's jobs drawn anew, by a generator that is fitted to what the ledger has.
//
// The generator knows each hour of the week (168, in UTC): how many jobs arrive in it on average,
// and which they are. In each hour of the period as many arrive as a Poisson process of that mean
// brings, at any moment of it alike, and each is a copy of one of the jobs of that hour of the
// week: its team, size, memory, length, limit and models, together. So sizes and lengths stay as
// they belong together, and waves of the day and the week stay; what one job has to do with another
// one (an array, a chain) does not. Jobs that were there at the beginning of the period stay.
//
// Integers throughout: the same seed draws the same jobs on every machine.
#pragma once

#include <cstdint>

#include "core/error.h"
#include "insight/compare/policy_costs.h"
#include "insight/replay/seeded_random.h"
#include "insight/what_if/replay_world.h"

namespace pennyweight::what_if {

// A number drawn from a Poisson distribution with this mean, in 1024ths.
std::uint64_t draw_poisson(std::uint64_t mean_1024ths, replay::SeededRandom& random);

// ReplayWorld::origins follow, and copies of job "a" are "a~2", "a~3". An Error where no job
// arrives in the period, and kLimit where more are drawn than a scenario may have.
Result<void> draw_fitted_jobs(ReplayWorld& world, std::uint64_t seed, const StopCheck& is_stopped);

}  // namespace pennyweight::what_if
