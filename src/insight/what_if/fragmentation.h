// Fragmentation: how much of what is idle is of no use to the month's jobs, since it is scattered.
#pragma once

#include <optional>

#include "core/int128.h"
#include "insight/replay/simulate.h"
#include "insight/what_if/replay_world.h"

namespace pennyweight::what_if {

// Sums over evenly spaced moments: `unusable` of `idle`, each weighted with the number of jobs.
struct Fragmentation {
  Int128 unusable = 0;
  Int128 idle = 0;
};

// As FGD defines it: the free GPUs of a machine that a job, drawn from the world's jobs with GPUs,
// can't use there. A job of whole GPUs can use the wholly free ones where there are as many as it
// needs (all of the machine where it needs several machines), and a job of a part of a GPU can use
// each GPU with so much room. CPUs, memory and models are not looked at. Nothing where machines
// come and go in the replay, or no job has GPUs.
std::optional<Fragmentation> fragmentation_of(const ReplayWorld& world,
                                              const replay::Replay& replay);

}  // namespace pennyweight::what_if
