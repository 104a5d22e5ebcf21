// Spot: machines that their provider takes back at any moment.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "insight/replay/job.h"

namespace pennyweight::replay {

constexpr std::uint32_t kReclaimParts = 1'000'000;

struct Reclaim {
  std::int64_t at_us;
  std::uint32_t machine;
  std::int64_t away_us = 0;  // how long until another one is there
  // Only where somebody has it: a machine of a pool that is off is not taken back.
  bool if_on = false;
  auto operator<=>(const Reclaim&) const = default;
};

// A job on a machine that is taken back goes back to the queue and goes on from its last
// checkpoint; what it did since is lost. Saving a checkpoint costs nothing here: use
// Young's or Daly's formula for the interval, and a longer Job::work_us for the time it takes.
struct Spot {
  // Millionths: how likely a machine is taken back within an hour. 0: nobody takes anything back.
  std::uint32_t reclaimed_per_hour = 0;
  ModelSet models = 0;                   // of which machines; 0: all
  std::vector<bool> of_machine = {};     // which of those, by number; empty: all
  std::int64_t replaced_after_us = 0;    // how long until another one is there
  std::int64_t checkpoint_every_us = 0;  // of work; 0: no checkpoints, everything is lost
  std::int64_t until_us = 0;             // no machine is taken back from here on
  std::uint64_t seed = 1;
  std::vector<Reclaim> planned = {};  // besides what is drawn: outages, or what a trace says
};

// In order of time, then machine. A machine is taken back at most once in each hour from the
// beginning, at any microsecond of it alike; its own draws depend on the seed and its number only.
std::vector<Reclaim> draw_reclaims(std::span<const Machine> machines, const Spot& spot);
// Those that are drawn and those that are planned, likewise in order. What is planned of a machine
// that is away already keeps it away until the later end.
std::vector<Reclaim> all_reclaims(std::span<const Machine> machines, const Spot& spot);

}  // namespace pennyweight::replay
