// The worlds of the oracle's further rules, and what it remembers of one: what is free, what each
// job holds, which machines are on. How the rules go together is in oracle_testing.h.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "insight/replay/simulate.h"

namespace pennyweight::replay {

struct SmallWorld {
  std::vector<Job> jobs;
  std::vector<Machine> machines;
  Scheduling policy;
  std::vector<NodePool> pools = {};
  SpillOver spill_over = {};
  Spot spot = {};  // what is planned, and checkpoints
  std::vector<CutMachine> layouts = {};
};

// What a job held on one machine: machine, GPUs, thousandths of each.
using OracleShare = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;
// End, job, begin, restart, shares.
using OracleRun =
    std::tuple<std::int64_t, std::uint32_t, std::int64_t, std::int64_t, std::vector<OracleShare>>;

// Machine, when it was started, when it was stopped (nothing: it stays on).
using OraclePower = std::tuple<std::uint32_t, std::int64_t, std::optional<std::int64_t>>;
class OracleState {
 protected:
  explicit OracleState(const SmallWorld& world)
      : world_(world), reclaims_(world.spot.planned.begin(), world.spot.planned.end()) {}

  struct FreeOn {
    std::vector<std::uint32_t> gpus;  // thousandths
    std::uint64_t cpu, memory;
    bool is_closed = false;
  };
  using State = std::vector<FreeOn>;
  // Of a machine in a pool. It starts where `ready` is there, and is off where it is not on either.
  struct Power {
    const NodePool* pool = nullptr;
    bool is_on = false;
    std::int64_t begin = 0, idle_since = 0;
    std::optional<std::int64_t> ready = {};
  };
  // What a job waits for: room of machines that start, and for a gang machines that are on.
  struct Wish {
    bool is_gang = false;
    Shares starting = {};
    std::set<std::uint32_t> on = {};
  };

  struct Running {
    std::int64_t left = 0, restart_left = 0, restart = 0, begin = 0, expected_end = 0;
    bool has_run = false;
    Shares shares = {};
  };
  struct Reserved {
    std::uint32_t job;
    std::int64_t begin;
    State spare;
    std::set<std::uint32_t> machines;
  };

  const SmallWorld& world_;
  std::set<Reclaim> reclaims_;  // that are still to come
  State all_;
  State free_;
  std::vector<Running> state_;
  std::set<std::uint32_t> to_come_, waiting_, running_;
  std::set<std::uint32_t> away_only_;  // jobs that their own place could never hold
  std::optional<Reserved> reservation_;
  std::vector<OracleRun> runs_;
  std::map<std::string, std::uint64_t> deserved_;  // thousandths, by team
  std::map<std::uint32_t, Power> power_;
  std::map<std::uint32_t, std::int64_t> away_;  // machines, and until when
  std::map<std::uint32_t, Wish> wishes_;        // by job
  std::optional<std::uint32_t> first_unfit_;
  std::vector<OraclePower> powered_;
  std::int64_t now_ = 0;
};

}  // namespace pennyweight::replay
