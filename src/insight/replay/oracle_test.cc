// The simulator against an oracle that is slow and obvious: it looks at every microsecond, every
// job and every GPU, and remembers nothing. On small worlds both must agree on every run of every
// job: when, where, on which GPUs.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "insight/replay/simulate.h"

namespace pennyweight::replay {
namespace {

struct SmallWorld {
  std::vector<Job> jobs;
  std::vector<Machine> machines;
  Scheduling policy;
  std::vector<NodePool> pools = {};
  SpillOver spill_over = {};
  Spot spot = {};  // what is planned, and checkpoints
};

// What a job held on one machine: machine, GPUs, thousandths of each.
using OracleShare = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;
// End, job, begin, restart, shares.
using OracleRun =
    std::tuple<std::int64_t, std::uint32_t, std::int64_t, std::int64_t, std::vector<OracleShare>>;

// Machine, when it was started, when it was stopped (nothing: it stays on).
using OraclePower = std::tuple<std::uint32_t, std::int64_t, std::optional<std::int64_t>>;

class Oracle {
 public:
  explicit Oracle(const SmallWorld& world)
      : world_(world),
        reclaims_(world.spot.planned.begin(), world.spot.planned.end()),
        all_(empty()),
        free_(all_) {
    for (const NodePool& pool : world.pools) {
      for (std::size_t i = 0; i < pool.machines.size(); ++i) {
        Power& power = power_[pool.machines[i]];
        power.pool = &pool;
        power.is_on = i < pool.least;
        if (!power.is_on) change(free_, {all_of(pool.machines[i])}, true);
      }
    }
  }

  std::vector<OracleRun> run() {
    std::vector<Running> states(world_.jobs.size());
    state_ = states;
    for (std::uint32_t job = 0; job < world_.jobs.size(); ++job) {
      state_[job].left = world_.jobs[job].work_us;
      State nothing_held = all_;
      if (!place(nothing_held, world_.jobs[job].request)) away_only_.insert(job);
      nothing_held = all_;
      if (!place_anywhere(nothing_held, job)) continue;
      if (is_within_quotas(job)) to_come_.insert(job);
    }
    for (now_ = 0; !to_come_.empty() || !waiting_.empty() || !running_.empty(); ++now_) {
      bool something_happened = false;
      for (const std::uint32_t job : std::set<std::uint32_t>(running_)) {
        if (state_[job].left > 0 || state_[job].restart_left > 0) continue;
        if (now_ != state_[job].expected_end) reservation_.reset();
        stop(job);
        something_happened = true;
      }
      if (make_ready()) something_happened = true;
      if (take_back_now()) something_happened = true;
      for (const std::uint32_t job : std::set<std::uint32_t>(to_come_)) {
        if (world_.jobs[job].submit_us != now_) continue;
        to_come_.erase(job);
        waiting_.insert(job);
        something_happened = true;
      }
      if (!waiting_.empty() && opens_now()) something_happened = true;
      for (const std::uint32_t job : waiting_) {
        if (world_.jobs[job].elsewhere > 0 &&
            world_.jobs[job].submit_us + world_.spill_over.after_us == now_) {
          something_happened = true;
        }
      }
      if (may_stop_now()) something_happened = true;
      if (something_happened) world_.policy.preempts ? start_or_interrupt() : start_jobs();
      if (something_happened) scale();
      // A machine that starts at once is there at the same moment.
      if (std::any_of(power_.begin(), power_.end(),
                      [&](const auto& each) { return each.second.ready == now_; })) {
        --now_;
        continue;
      }
      for (const std::uint32_t job : running_) {
        std::int64_t& left =
            state_[job].restart_left > 0 ? state_[job].restart_left : state_[job].left;
        --left;
      }
    }
    // Machines that start or are away come at their times.
    for (; !away_.empty() ||
           std::any_of(power_.begin(), power_.end(), [](auto& each) { return each.second.ready; });
         ++now_) {
      make_ready();
    }
    // Nobody comes any more: those that are idle longest go first.
    for (const NodePool& pool : world_.pools) {
      while (on_of(pool) > pool.least) stop_first(pool, std::numeric_limits<std::int64_t>::max());
    }
    for (const auto& [machine, power] : power_) {
      if (power.is_on) powered_.emplace_back(machine, power.begin, std::nullopt);
    }
    std::sort(powered_.begin(), powered_.end());
    std::sort(runs_.begin(), runs_.end());
    return runs_;
  }
  const std::vector<OraclePower>& powered() const { return powered_; }

 private:
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

  Share all_of(std::uint32_t machine) const {
    const Machine& it = world_.machines[machine];
    return {machine, (1u << it.gpus) - 1, 1000, true, it.cpu_milli, it.memory_mib};
  }
  bool is_off(std::uint32_t machine) const {
    const auto power = power_.find(machine);
    return power != power_.end() && !power->second.is_on && !power->second.ready &&
           !away_.contains(machine);
  }
  bool is_starting(std::uint32_t machine) const {
    const auto power = power_.find(machine);
    return power != power_.end() && power->second.ready.has_value();
  }
  // Free machines as they will be: nobody holds anything of those that are off, and of those that
  // start only what was promised is taken.
  State promised() const {
    State state = free_;
    for (const auto& [machine, power] : power_) {
      if (!power.is_on && !away_.contains(machine)) change(state, {all_of(machine)}, false);
    }
    for (const auto& [job, wish] : wishes_) change(state, wish.starting, true);
    return state;
  }

  // Machines that start or come back now, by number; one that comes back may make another start.
  bool make_ready() {
    for (bool is_any = false;; is_any = true) {
      std::set<std::uint32_t> come;
      for (const auto& [machine, power] : power_) {
        if (power.ready == now_) come.insert(machine);
      }
      for (const auto& [machine, until] : away_) {
        if (until == now_) come.insert(machine);
      }
      if (come.empty()) return is_any;
      const std::uint32_t machine = *come.begin();
      if (away_.erase(machine) > 0) {
        if (!power_.contains(machine)) change(free_, {all_of(machine)}, false);
        keep_least();
        continue;
      }
      Power& power = power_[machine];
      power.ready.reset();
      power.is_on = true;
      power.idle_since = now_;
      change(free_, {all_of(machine)}, false);
      for (auto& [job, wish] : wishes_) {
        const auto is_here = [&](const Share& share) { return share.machine == machine; };
        if (std::erase_if(wish.starting, is_here) > 0 && wish.is_gang) wish.on.insert(machine);
      }
      std::erase_if(wishes_, [](const auto& each) {
        return !each.second.is_gang && each.second.starting.empty();
      });
    }
  }

  // Where fewer than the least of a pool are on, the first ones that are off start.
  void keep_least() {
    for (const NodePool& pool : world_.pools) {
      for (const std::uint32_t machine : pool.machines) {
        if (on_of(pool) < pool.least && is_off(machine)) start_machine(machine);
      }
    }
  }

  bool take_back_now() {
    bool is_any = false;
    while (!reclaims_.empty() && reclaims_.begin()->at_us == now_) {
      const Reclaim reclaim = *reclaims_.begin();
      reclaims_.erase(reclaims_.begin());
      is_any = true;
      if (!is_off(reclaim.machine) || !reclaim.if_on) take_back(reclaim);
    }
    return is_any;
  }
  void take_back(const Reclaim& reclaim) {
    const std::uint32_t machine = reclaim.machine;
    for (const std::uint32_t job : std::set<std::uint32_t>(running_)) {
      const Shares& shares = state_[job].shares;
      if (std::none_of(shares.begin(), shares.end(),
                       [&](const Share& share) { return share.machine == machine; })) {
        continue;
      }
      stop(job);
      const std::int64_t every = world_.spot.checkpoint_every_us;
      const std::int64_t done = world_.jobs[job].work_us - state_[job].left;
      state_[job].left = world_.jobs[job].work_us - (every == 0 ? 0 : done / every * every);
      waiting_.insert(job);
    }
    reservation_.reset();
    const auto power = power_.find(machine);
    if (power == power_.end()) {
      if (reclaim.away_us > 0) change(free_, {all_of(machine)}, true);
    } else if (!is_off(machine)) {
      std::erase_if(wishes_, [&](const auto& each) {
        const Shares& starting = each.second.starting;
        return each.second.on.contains(machine) ||
               std::any_of(starting.begin(), starting.end(),
                           [&](const Share& share) { return share.machine == machine; });
      });
      powered_.emplace_back(machine, power->second.begin, now_);
      if (power->second.is_on) change(free_, {all_of(machine)}, true);
      power->second.is_on = false;
      power->second.ready.reset();
    }
    if (reclaim.away_us > 0) away_[machine] = now_ + reclaim.away_us;
    keep_least();
  }

  std::uint32_t on_of(const NodePool& pool) const {
    return static_cast<std::uint32_t>(std::count_if(
        pool.machines.begin(), pool.machines.end(),
        [&](std::uint32_t machine) { return !is_off(machine) && !away_.contains(machine); }));
  }
  bool holds_any(std::uint32_t machine) const {
    return std::any_of(running_.begin(), running_.end(), [&](std::uint32_t job) {
      const Shares& shares = state_[job].shares;
      return std::any_of(shares.begin(), shares.end(),
                         [&](const Share& share) { return share.machine == machine; });
    });
  }
  // Those that may be stopped now or later, and when.
  std::vector<std::pair<std::int64_t, std::uint32_t>> idle_of(const NodePool& pool) const {
    std::vector<std::pair<std::int64_t, std::uint32_t>> idle;
    for (const std::uint32_t machine : pool.machines) {
      const Power& power = power_.at(machine);
      const bool is_wanted = std::any_of(wishes_.begin(), wishes_.end(), [&](const auto& each) {
        return each.second.on.contains(machine);
      });
      if (!power.is_on || is_wanted || holds_any(machine)) continue;
      idle.emplace_back(power.idle_since + pool.kept_us, ~machine);
    }
    std::sort(idle.begin(), idle.end());
    return idle;
  }
  bool may_stop_now() const {
    return std::any_of(world_.pools.begin(), world_.pools.end(), [&](const NodePool& pool) {
      const auto idle = idle_of(pool);
      return on_of(pool) > pool.least &&
             std::any_of(idle.begin(), idle.end(),
                         [&](const auto& each) { return each.first == now_; });
    });
  }
  // Whether one was there that could be stopped by `until`.
  bool stop_first(const NodePool& pool, std::int64_t until) {
    const auto idle = idle_of(pool);
    if (idle.empty() || idle.front().first > until) return false;
    const std::uint32_t machine = ~idle.front().second;
    power_[machine].is_on = false;
    const bool is_over = until > now_;
    powered_.emplace_back(machine, power_[machine].begin, is_over ? idle.front().first : now_);
    change(free_, {all_of(machine)}, true);
    reservation_.reset();
    return true;
  }
  void scale() {
    const bool is_coming =
        !away_.empty() || std::any_of(power_.begin(), power_.end(),
                                      [](const auto& each) { return each.second.ready; });
    if (first_unfit_ && running_.empty() && !is_coming) {
      Wish& wish = wishes_[*first_unfit_];
      wish.is_gang = true;
      for (const auto& [machine, power] : power_) {
        if (power.is_on) wish.on.insert(machine);
        if (power.is_on) continue;
        start_machine(machine);
        wish.starting.push_back({.machine = machine});
      }
    }
    for (const NodePool& pool : world_.pools) {
      while (on_of(pool) > pool.least && stop_first(pool, now_)) {
      }
    }
  }
  void start_machine(std::uint32_t machine) {
    power_[machine].begin = now_;
    power_[machine].ready = now_ + power_[machine].pool->start_us;
    reservation_.reset();
  }

  void ask_for_machines(std::uint32_t job) {
    if (!first_unfit_) first_unfit_ = job;
    if (wishes_.contains(job)) return;
    const Request& request = world_.jobs[job].request;
    std::uint32_t largest = 0;
    for (const Machine& machine : world_.machines) largest = std::max(largest, machine.gpus);
    State state = promised();
    const auto number = static_cast<std::uint32_t>(world_.machines.size());
    if (request.gpus <= largest) {
      for (const bool starts : {true, false}) {
        for (std::uint32_t machine = 0; machine < number; ++machine) {
          if (starts ? !is_starting(machine) : !is_off(machine)) continue;
          const auto share = on_machine(state, machine, request);
          if (!share) continue;
          if (!starts) start_machine(machine);
          wishes_[job].starting = {*share};
          return;
        }
      }
      return;
    }
    // On, starting, off.
    std::vector<std::uint32_t> order;
    for (int kind = 0; kind < 3; ++kind) {
      for (std::uint32_t machine = 0; machine < number; ++machine) {
        if ((is_off(machine) ? 2 : is_starting(machine) ? 1 : 0) == kind) order.push_back(machine);
      }
    }
    const auto part = [&](std::uint32_t gpus) {
      const auto of = [&](std::uint64_t all) {
        return (all * gpus + request.gpus - 1) / request.gpus;
      };
      return Request{.gpus = gpus,
                     .cpu_milli = of(request.cpu_milli),
                     .memory_mib = of(request.memory_mib),
                     .models = request.models};
    };
    Shares found;
    std::uint32_t missing = request.gpus;
    const auto take = [&](std::uint32_t machine, std::uint32_t gpus) {
      if (gpus == 0) return;
      const auto share = on_machine(state, machine, part(gpus));
      if (!share) return;
      found.push_back(*share);
      change(state, {*share}, true);
      missing -= gpus;
    };
    for (const std::uint32_t machine : order) {
      const std::uint32_t gpus = world_.machines[machine].gpus;
      if (gpus <= missing) take(machine, gpus);
    }
    if (missing >= largest) return;
    for (const std::uint32_t machine : order) {
      const auto is_here = [&](const Share& share) { return share.machine == machine; };
      if (missing > 0 && std::none_of(found.begin(), found.end(), is_here)) take(machine, missing);
    }
    if (missing > 0) return;
    Wish& wish = wishes_[job];
    wish.is_gang = true;
    for (const Share& share : found) {
      if (is_off(share.machine)) start_machine(share.machine);
      if (is_starting(share.machine)) {
        wish.starting.push_back(share);
      } else {
        wish.on.insert(share.machine);
      }
    }
  }

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

  State empty() const {
    State state;
    for (const Machine& machine : world_.machines) {
      state.push_back({std::vector<std::uint32_t>(machine.gpus, 1000), machine.cpu_milli,
                       machine.memory_mib, false});
    }
    return state;
  }

  static bool has_room(const FreeOn& free, const Share& share) {
    for (std::uint32_t i = 0; i < free.gpus.size(); ++i) {
      if (((share.gpu_mask >> i) & 1) != 0 && free.gpus[i] < share.gpu_milli) return false;
    }
    return free.cpu >= share.cpu_milli && free.memory >= share.memory_mib;
  }
  static void change(State& state, const Shares& shares, bool takes) {
    for (const Share& share : shares) {
      FreeOn& free = state[share.machine];
      for (std::uint32_t i = 0; i < free.gpus.size(); ++i) {
        if (((share.gpu_mask >> i) & 1) == 0) continue;
        takes ? free.gpus[i] -= share.gpu_milli : free.gpus[i] += share.gpu_milli;
      }
      takes ? free.cpu -= share.cpu_milli : free.cpu += share.cpu_milli;
      takes ? free.memory -= share.memory_mib : free.memory += share.memory_mib;
      if (share.closes) free.is_closed = takes;
    }
  }

  // What the request gets of one machine, if it fits.
  std::optional<Share> on_machine(const State& state, std::uint32_t machine,
                                  const Request& request) const {
    const FreeOn& free = state[machine];
    if (free.is_closed || !allows_model(request, world_.machines[machine])) return std::nullopt;
    Share share{.machine = machine,
                .gpu_mask = 0,
                .gpu_milli = request.gpu_milli > 0 ? request.gpu_milli : 1000,
                .closes = false,
                .cpu_milli = request.cpu_milli,
                .memory_mib = request.memory_mib};
    std::vector<std::pair<std::uint32_t, std::uint32_t>> gpus;  // free thousandths, number
    for (std::uint32_t i = 0; i < free.gpus.size(); ++i) {
      if (free.gpus[i] >= share.gpu_milli) gpus.emplace_back(free.gpus[i], i);
    }
    std::sort(gpus.begin(), gpus.end());
    const std::uint32_t wanted = request.gpu_milli > 0 ? 1 : request.gpus;
    if (gpus.size() < wanted) return std::nullopt;
    for (std::uint32_t i = 0; i < wanted; ++i) share.gpu_mask |= 1u << gpus[i].second;
    if (!has_room(free, share)) return std::nullopt;
    return share;
  }

  std::optional<Share> on_one(const State& state, const Request& request) const {
    std::vector<std::pair<Int128, Share>> choices;
    Int128 cpu_max = 1;
    Int128 gpu_max = 1;
    for (const Machine& machine : world_.machines) {
      cpu_max = std::max(cpu_max, static_cast<Int128>(machine.cpu_milli));
      gpu_max = std::max(gpu_max, static_cast<Int128>(machine.gpus) * 1000);
    }
    for (std::uint32_t machine = 0; machine < state.size(); ++machine) {
      const auto share = on_machine(state, machine, request);
      if (!share) continue;
      Int128 gpu = 0;
      for (const std::uint32_t milli : state[machine].gpus) gpu += milli;
      const Int128 free = static_cast<Int128>(state[machine].cpu) * gpu_max + gpu * cpu_max;
      const PlacementRule rule = world_.policy.placement;
      choices.emplace_back(rule == PlacementRule::kFirstFit  ? 0
                           : rule == PlacementRule::kBestFit ? free
                                                             : -free,
                           *share);
    }
    const auto best =
        std::min_element(choices.begin(), choices.end(),
                         [](const auto& a, const auto& b) { return a.first < b.first; });
    if (best == choices.end()) return std::nullopt;
    return best->second;
  }

  // Takes what a request for several machines gets of one rack: two passes over its machines.
  std::optional<Shares> place_in_rack(State& state, const Request& request, std::uint32_t rack,
                                      std::uint32_t largest) const {
    const State before = state;
    Shares shares;
    std::uint32_t missing = request.gpus;
    for (const bool is_rest : {false, true}) {
      for (std::uint32_t i = 0; i < state.size() && missing > 0; ++i) {
        if (world_.machines[i].rack != rack || (is_rest && missing >= largest)) continue;
        const std::uint32_t gpus = is_rest ? missing : world_.machines[i].gpus;
        if (gpus == 0 || gpus > missing) continue;
        const auto of = [&](std::uint64_t all) {
          return (all * gpus + request.gpus - 1) / request.gpus;
        };
        const auto share = on_machine(state, i,
                                      {.gpus = gpus,
                                       .cpu_milli = of(request.cpu_milli),
                                       .memory_mib = of(request.memory_mib),
                                       .models = request.models});
        const bool is_taken = std::any_of(shares.begin(), shares.end(),
                                          [&](const Share& one) { return one.machine == i; });
        if (!share || is_taken) continue;
        shares.push_back(*share);
        change(state, {*share}, true);
        missing -= gpus;
      }
    }
    if (missing == 0) return shares;
    state = before;
    return std::nullopt;
  }

  // Takes what the request gets.
  std::optional<Shares> place(State& state, const Request& request) const {
    std::uint32_t largest = 0;
    for (const Machine& machine : world_.machines) largest = std::max(largest, machine.gpus);
    const State before = state;
    Shares shares;
    Request rest = request;
    const auto part = [&](std::uint64_t all, std::uint32_t gpus) {
      return (all * gpus + request.gpus - 1) / request.gpus;
    };
    if (request.gpus > largest && world_.policy.same_rack) {
      std::set<std::uint32_t> racks;
      for (const Machine& machine : world_.machines) racks.insert(machine.rack);
      for (const std::uint32_t rack : racks) {
        if (const auto in_rack = place_in_rack(state, request, rack, largest)) return in_rack;
      }
      return std::nullopt;
    }
    if (request.gpus > largest) {
      for (std::uint32_t i = 0; i < state.size(); ++i) {
        const std::uint32_t gpus = world_.machines[i].gpus;
        if (gpus == 0 || gpus > rest.gpus) continue;
        const auto share = on_machine(state, i,
                                      {.gpus = gpus,
                                       .cpu_milli = part(request.cpu_milli, gpus),
                                       .memory_mib = part(request.memory_mib, gpus),
                                       .models = request.models});
        if (!share) continue;
        shares.push_back(*share);
        change(state, {*share}, true);
        rest.gpus -= gpus;
      }
      if (rest.gpus == 0) return shares;
      rest.cpu_milli = part(request.cpu_milli, rest.gpus);
      rest.memory_mib = part(request.memory_mib, rest.gpus);
    }
    const auto share = rest.gpus > 0 && rest.gpus == largest && !shares.empty()
                           ? std::nullopt
                           : on_one(state, rest);
    if (!share) {
      state = before;
      return std::nullopt;
    }
    shares.push_back(*share);
    change(state, {*share}, true);
    return shares;
  }

  // In its own place, or elsewhere once it may go there.
  std::optional<Shares> place_anywhere(State& state, std::uint32_t job) const {
    const Job& it = world_.jobs[job];
    if (const auto shares = place(state, it.request)) return shares;
    const bool may_go =
        now_ >= it.submit_us + world_.spill_over.after_us || away_only_.contains(job);
    if (it.elsewhere == 0 || !may_go) return std::nullopt;
    for (const ModelSet models : world_.spill_over.places[it.elsewhere - 1]) {
      Request there = it.request;
      there.models = models;
      if (const auto shares = place(state, there)) return shares;
    }
    return std::nullopt;
  }

  std::int64_t estimate(std::uint32_t job) const {
    const Job& it = world_.jobs[job];
    return it.estimate_us > 0 ? it.estimate_us : it.work_us;
  }
  // When it will end, as far as the scheduler knows, if it starts now.
  std::int64_t expected_end(std::uint32_t job) const {
    const std::int64_t done = world_.jobs[job].work_us - state_[job].left;
    return now_ + (state_[job].has_run ? world_.jobs[job].restart_us : 0) +
           std::max<std::int64_t>(1, estimate(job) - done);
  }
  // Lower goes first.
  std::tuple<std::int64_t, std::int64_t, std::uint32_t> key(std::uint32_t job) const {
    const Job& it = world_.jobs[job];
    const std::int64_t done = it.work_us - state_[job].left;
    const std::int64_t left = std::max<std::int64_t>(0, estimate(job) - done);
    std::int64_t first = 0;
    const QueueOrder order = world_.policy.order;
    if (order == QueueOrder::kPriority) first = -it.priority;
    if (order == QueueOrder::kShortestJob) first = estimate(job);
    if (order == QueueOrder::kShortestRemaining) first = left;
    if (order == QueueOrder::kShortestRemainingWork) {
      first = left * static_cast<std::int64_t>(it.request.milli_gpus());
    }
    return {first, it.submit_us, job};
  }

  void start(std::uint32_t job, const Shares& shares) {
    Running& state = state_[job];
    state.expected_end = expected_end(job);
    state.restart = state.has_run ? world_.jobs[job].restart_us : 0;
    state.restart_left = state.restart;
    state.has_run = true;
    state.begin = now_;
    state.shares = shares;
    waiting_.erase(job);
    running_.insert(job);
    wishes_.erase(job);
  }

  // REQUIRES: what it holds is given back, or will be by the caller.
  void record(std::uint32_t job) {
    const Running& state = state_[job];
    running_.erase(job);
    if (state.begin == now_) return;
    std::vector<OracleShare> shares;
    for (const Share& share : state.shares) {
      shares.emplace_back(share.machine, share.gpu_mask, share.gpu_milli);
    }
    runs_.emplace_back(now_, job, state.begin, std::min(now_ - state.begin, state.restart), shares);
  }
  void stop(std::uint32_t job) {
    change(free_, state_[job].shares, false);
    record(job);
    for (const Share& share : state_[job].shares) {
      const auto power = power_.find(share.machine);
      if (power != power_.end() && !holds_any(share.machine)) power->second.idle_since = now_;
    }
  }

  std::uint64_t held_by(const std::string& team) const {
    std::uint64_t held = 0;
    for (const std::uint32_t job : running_) {
      if (world_.jobs[job].team == team) held += world_.jobs[job].request.milli_gpus();
    }
    return held;
  }
  // What each team deserves by what it asks for: those that ask for less than their part first.
  void divide() {
    deserved_.clear();
    std::map<std::string, std::uint64_t> asked;
    for (const Job& job : world_.jobs) asked[job.team] = 0;
    std::uint64_t left = 0;
    for (const Machine& machine : world_.machines) left += machine.gpus * 1000;
    for (const auto* jobs : {&running_, &waiting_}) {
      for (const std::uint32_t job : *jobs) {
        asked[world_.jobs[job].team] += world_.jobs[job].request.milli_gpus();
      }
    }
    while (true) {
      std::uint64_t weights = 0;
      for (const auto& [team, wanted] : asked) weights += weight_of(team);
      std::map<std::string, std::uint64_t> rest;
      const std::uint64_t all = left;
      for (const auto& [team, wanted] : asked) {
        deserved_[team] = all * weight_of(team) / weights;
        if (wanted > deserved_[team]) {
          rest[team] = wanted;
          continue;
        }
        deserved_[team] = wanted;
        left -= wanted;
      }
      if (rest.size() == asked.size()) return;
      asked = rest;
    }
  }
  bool has_its_share(const std::string& team) const {
    return world_.policy.order == QueueOrder::kProportion && held_by(team) > 0 &&
           held_by(team) >= deserved_.at(team);
  }

  std::uint64_t weight_of(const std::string& team) const {
    const auto weight = world_.policy.team_weights.find(team);
    return weight == world_.policy.team_weights.end() ? 1 : weight->second;
  }

  // Its largest share of the cluster, in parts of 2^40.
  std::uint64_t dominant_share_of(const std::string& team) const {
    std::uint64_t gpus = 0, cpus = 0, memory = 0;
    for (const Machine& machine : world_.machines) {
      gpus += machine.gpus * 1000;
      cpus += machine.cpu_milli;
      memory += machine.memory_mib;
    }
    std::uint64_t held_cpus = 0, held_memory = 0;
    for (const std::uint32_t job : running_) {
      if (world_.jobs[job].team != team) continue;
      held_cpus += world_.jobs[job].request.cpu_milli;
      held_memory += world_.jobs[job].request.memory_mib;
    }
    constexpr std::uint64_t kParts = std::uint64_t{1} << 40;
    return std::max({gpus == 0 ? 0 : held_by(team) * kParts / gpus, held_cpus * kParts / cpus,
                     held_memory * kParts / memory});
  }

  // Whether the quotas let the job's team hold it besides what runs.
  bool is_within_quotas(std::uint32_t job) const {
    const auto& quotas = world_.policy.admission.quotas;
    if (quotas.empty()) return true;
    std::uint64_t all_quotas = 0, all_held = 0;
    for (const auto& [team, quota] : quotas) all_quotas += quota.milli_gpus;
    for (const std::uint32_t other : running_) {
      all_held += world_.jobs[other].request.milli_gpus();
    }
    const std::uint64_t wanted = world_.jobs[job].request.milli_gpus();
    if (all_held + wanted > all_quotas) return false;
    const auto own = quotas.find(world_.jobs[job].team);
    if (own == quotas.end() || !own->second.borrowed_milli_max) return true;
    return held_by(world_.jobs[job].team) + wanted <=
           own->second.milli_gpus + *own->second.borrowed_milli_max;
  }

  // Windows of these worlds open once, and close after the world has ended.
  std::int64_t opening_of(const DailyWindow& window) const {
    return window.from_minute * std::int64_t{60'000'000} - world_.policy.admission.begin_of_day_us;
  }
  bool opens_now() const {
    for (const auto& [team, window] : world_.policy.admission.windows) {
      if (opening_of(window) == now_) return true;
    }
    return false;
  }
  bool is_admitted(std::uint32_t job) const {
    const auto& windows = world_.policy.admission.windows;
    const auto window = windows.find(world_.jobs[job].team);
    if (window != windows.end() && now_ < opening_of(window->second)) return false;
    return is_within_quotas(job);
  }

  // The next to be tried of those that weren't yet.
  std::optional<std::uint32_t> next(const std::set<std::uint32_t>& tried,
                                    const std::set<std::string>& passed) const {
    std::optional<std::uint32_t> best;
    const bool is_drf = world_.policy.order == QueueOrder::kDominantResourceFair;
    const bool is_proportion = world_.policy.order == QueueOrder::kProportion;
    const bool is_fair = is_drf || is_proportion || world_.policy.order == QueueOrder::kMaxMinFair;
    // What its weight, or what it deserves, is compared with.
    const auto part_of = [&](const std::string& team) {
      return is_proportion ? std::max<std::uint64_t>(1, deserved_.at(team)) : weight_of(team);
    };
    const auto used = [&](const std::string& team) {
      return is_drf ? dominant_share_of(team) : held_by(team);
    };
    for (const std::uint32_t job : waiting_) {
      const std::string& team = world_.jobs[job].team;
      if (tried.contains(job) || (is_fair && passed.contains(team))) continue;
      bool is_better = !best;
      if (best) {
        const std::string& other = world_.jobs[*best].team;
        const std::uint64_t mine = is_fair ? used(team) * part_of(other) : 0;
        const std::uint64_t others = is_fair ? used(other) * part_of(team) : 0;
        is_better = std::tuple(mine, key(job)) < std::tuple(others, key(*best));
      }
      if (is_better) best = job;
    }
    return best;
  }

  void start_jobs() {
    std::set<std::uint32_t> tried;
    std::set<std::string> passed;
    std::optional<std::uint32_t> first_blocked;
    std::uint32_t behind = 0;
    first_unfit_.reset();
    divide();
    while (const auto job = next(tried, passed)) {
      tried.insert(*job);
      if (has_its_share(world_.jobs[*job].team) || !is_admitted(*job)) {
        passed.insert(world_.jobs[*job].team);
        continue;
      }
      if (first_blocked && ++behind > world_.policy.depth) return;
      State after = free_;
      const auto shares = place_anywhere(after, *job);
      bool starts = shares.has_value();
      if (!shares) {
        if (!world_.pools.empty()) ask_for_machines(*job);
        if (world_.policy.when_blocked == WhenBlocked::kWait) return;
        const std::int64_t guard = world_.policy.starvation_guard_us;
        if (guard > 0 && now_ - world_.jobs[*job].submit_us >= guard) return;
        if (!first_blocked) first_blocked = job;
      } else if (first_blocked && world_.policy.when_blocked == WhenBlocked::kBackfill) {
        starts = may_overtake(*first_blocked, *job, *shares);
      }
      if (!starts) {
        passed.insert(world_.jobs[*job].team);
        continue;
      }
      free_ = after;
      start(*job, *shares);
    }
  }

  // A reservation stands until its job starts or a job ends at another time than expected.
  bool may_overtake(std::uint32_t first, std::uint32_t job, const Shares& shares) {
    if (!reservation_ || reservation_->job != first) reserve(first);
    if (!reservation_) return false;
    if (expected_end(job) <= reservation_->begin) return true;
    const bool is_clear = std::all_of(shares.begin(), shares.end(), [&](const Share& share) {
      return !reservation_->machines.contains(share.machine) ||
             has_room(reservation_->spare[share.machine], share);
    });
    if (!is_clear) return false;
    for (const Share& share : shares) {
      if (reservation_->machines.contains(share.machine)) {
        change(reservation_->spare, {share}, true);
      }
    }
    return true;
  }
  void reserve(std::uint32_t first) {
    reservation_.reset();
    std::vector<std::pair<std::int64_t, std::uint32_t>> ends;
    for (const std::uint32_t job : running_) {
      ends.emplace_back(state_[job].expected_end, job);
    }
    // Machines that start or come back come after the jobs; one of a pool comes back off.
    const auto jobs = static_cast<std::uint32_t>(world_.jobs.size());
    for (const auto& [machine, power] : power_) {
      if (power.ready) ends.emplace_back(*power.ready, jobs + machine);
    }
    for (const auto& [machine, until] : away_) {
      if (!power_.contains(machine)) ends.emplace_back(until, jobs + machine);
    }
    std::sort(ends.begin(), ends.end());
    State state = free_;
    for (const auto& [end, job] : ends) {
      change(state, job < jobs ? state_[job].shares : Shares{all_of(job - jobs)}, false);
      const auto shares = place(state, world_.jobs[first].request);
      if (!shares) continue;
      reservation_ = Reserved{first, std::max(now_, end), state, {}};
      for (const Share& share : *shares) reservation_->machines.insert(share.machine);
      return;
    }
  }

  void start_or_interrupt() {
    std::optional<std::uint32_t> last;
    while (true) {
      std::optional<std::uint32_t> job;
      for (const std::uint32_t other : waiting_) {
        if (last && key(other) <= key(*last)) continue;
        if (!job || key(other) < key(*job)) job = other;
      }
      if (!job) return;
      last = job;
      if (const auto shares = place(free_, world_.jobs[*job].request)) {
        start(*job, *shares);
      } else {
        interrupt_for(*job);
      }
    }
  }
  void interrupt_for(std::uint32_t job) {
    std::vector<std::uint32_t> victims;
    for (const std::uint32_t other : running_) {
      if (key(job) < key(other)) victims.push_back(other);
    }
    std::sort(victims.begin(), victims.end(),
              [&](std::uint32_t a, std::uint32_t b) { return key(b) < key(a); });
    State state = free_;
    for (std::size_t taken = 0; taken < victims.size(); ++taken) {
      change(state, state_[victims[taken]].shares, false);
      const auto shares = place(state, world_.jobs[job].request);
      if (!shares) continue;
      free_ = state;
      // The last that was taken from is the first that may stay.
      for (std::size_t i = taken + 1; i-- > 0;) {
        const Shares& old = state_[victims[i]].shares;
        const bool stays = std::all_of(old.begin(), old.end(), [&](const Share& share) {
          return has_room(free_[share.machine], share);
        });
        if (stays) {
          change(free_, old, true);
        } else {
          record(victims[i]);
          waiting_.insert(victims[i]);
        }
      }
      start(job, *shares);
      return;
    }
  }

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

std::vector<OracleRun> runs_of(const Replay& replay) {
  std::vector<OracleRun> runs;
  for (const JobRun& run : replay.runs) {
    std::vector<OracleShare> shares;
    for (const Share& share : run.shares) {
      shares.emplace_back(share.machine, share.gpu_mask, share.gpu_milli);
    }
    runs.emplace_back(run.end_us, run.job, run.begin_us, run.restart_us, shares);
  }
  std::sort(runs.begin(), runs.end());
  return runs;
}

std::uint32_t number(std::uint32_t from, std::uint32_t to) {
  return *rc::gen::resize(100, rc::gen::inRange(from, to + 1));
}

// Each machine is in the first pool, in the second, or always on.
void add_pools(SmallWorld& world) {
  for (int i = 0; i < 2; ++i) {
    world.pools.push_back(
        {.machines = {}, .least = 0, .start_us = number(0, 5), .kept_us = number(1, 5)});
  }
  for (std::uint32_t machine = 0; machine < world.machines.size(); ++machine) {
    const std::uint32_t pool = number(0, 2);
    if (pool < 2) world.pools[pool].machines.push_back(machine);
  }
  for (NodePool& pool : world.pools) {
    pool.least = number(0, static_cast<std::uint32_t>(pool.machines.size()));
  }
}

// Machines of model 2 and 3 are another place, to which every second job may go.
void add_places(SmallWorld& world) {
  world.spill_over = {.after_us = number(0, 10), .places = {{4 | 8}, {4, 8}}};
  for (Machine& machine : world.machines) machine.model += 2 * number(0, 1);
  for (Job& job : world.jobs) {
    if (job.request.models == 0) job.request.models = 3;
    job.elsewhere = number(0, 2);
  }
}

// Each machine is taken back up to twice.
void add_reclaims(SmallWorld& world) {
  world.spot.checkpoint_every_us = number(0, 4);
  for (std::uint32_t machine = 0; machine < world.machines.size(); ++machine) {
    std::int64_t at = 0;
    for (std::uint32_t i = number(0, 2); i > 0; --i) {
      const Reclaim& one = world.spot.planned.emplace_back(
          Reclaim{at + number(0, 12), machine, number(0, 8), number(0, 1) == 0});
      at = one.at_us + one.away_us + 1;
    }
  }
}

SmallWorld any_world() {
  SmallWorld world;
  const std::uint32_t machines = number(1, 4);
  for (std::uint32_t i = 0; i < machines; ++i) {
    world.machines.push_back({.model = number(0, 1),
                              .gpus = number(0, 4),
                              .cpu_milli = 1000 * number(2, 8),
                              .memory_mib = 1024 * number(4, 8),
                              .rack = number(0, 1)});
  }
  const std::uint32_t jobs = number(1, 8);
  for (std::uint32_t i = 0; i < jobs; ++i) {
    Job& job = world.jobs.emplace_back();
    job.team = std::string(1, static_cast<char>('a' + number(0, 2)));
    job.submit_us = number(0, 12);
    job.work_us = number(1, 15);
    if (number(0, 2) == 0) job.estimate_us = number(1, 20);
    job.restart_us = number(0, 3);
    job.priority = number(0, 2);
    switch (number(0, 5)) {
      case 0:
        job.request.gpu_milli = 100 * number(1, 9);
        break;
      case 1:
        break;
      case 2:
        job.request.gpus = number(4, 9);
        break;
      default:
        job.request.gpus = number(1, 4);
    }
    job.request.cpu_milli = 500 * number(0, 4);
    job.request.memory_mib = 512 * number(0, 4);
    if (number(0, 3) == 0) job.request.models = number(1, 3);
  }
  constexpr QueueOrder kOrders[] = {
      QueueOrder::kFirstComeFirstServed,  QueueOrder::kPriority,
      QueueOrder::kShortestJob,           QueueOrder::kShortestRemaining,
      QueueOrder::kShortestRemainingWork, QueueOrder::kMaxMinFair,
      QueueOrder::kDominantResourceFair,  QueueOrder::kProportion};
  constexpr PlacementRule kRules[] = {PlacementRule::kFirstFit, PlacementRule::kBestFit,
                                      PlacementRule::kWorstFit};
  world.policy.order = kOrders[number(0, 7)];
  world.policy.when_blocked = static_cast<WhenBlocked>(number(0, 2));
  world.policy.placement = kRules[number(0, 2)];
  world.policy.preempts = !is_fair(world.policy.order) && number(0, 1) == 0;
  world.policy.team_weights = {{"b", 2}};
  world.policy.same_rack = number(0, 3) == 0;
  if (world.policy.preempts) return world;
  if (number(0, 3) == 0) world.policy.starvation_guard_us = number(1, 12);
  if (number(0, 2) == 0) world.policy.depth = number(1, 3);
  AdmissionRules& admission = world.policy.admission;
  if (number(0, 2) == 0) {
    admission.quotas["a"] = {.milli_gpus = 1000 * number(0, 4)};
    admission.quotas["b"] = {.milli_gpus = 1000 * number(0, 4),
                             .borrowed_milli_max = 1000 * number(0, 3)};
  }
  if (number(0, 2) == 0) {
    // Opens in the course of the world.
    admission.windows["a"] = {.from_minute = 600, .to_minute = 700};
    admission.begin_of_day_us = 600 * std::int64_t{60'000'000} - number(1, 30);
  }
  if (!world.policy.same_rack && number(0, 2) == 0) add_pools(world);
  if (number(0, 2) == 0) add_places(world);
  if (number(0, 2) == 0) add_reclaims(world);
  return world;
}

RC_GTEST_PROP(ReplayOracle, EveryRunIsTheOracles, ()) {
  const SmallWorld world = any_world();
  RC_LOG() << to_text(world.policy.order) << ", " << to_text(world.policy.when_blocked) << ", "
           << to_text(world.policy.placement) << (world.policy.preempts ? ", preempts" : "")
           << (world.pools.empty() ? "" : ", pools")
           << (world.spill_over.places.empty() ? "" : ", places")
           << (world.spot.planned.empty() ? "" : ", taken back");
  const Replay replay = simulate(world.jobs, world.machines,
                                 {.scheduling = world.policy,
                                  .spot = world.spot,
                                  .pools = world.pools,
                                  .spill_over = world.spill_over,
                                  .keep_runs = true});
  Oracle oracle(world);
  RC_ASSERT(runs_of(replay) == oracle.run());
  std::vector<OraclePower> powered;
  for (const PowerSpan& span : replay.powered) {
    powered.emplace_back(span.machine, span.begin_us, span.end_us);
  }
  std::sort(powered.begin(), powered.end());
  RC_ASSERT(powered == oracle.powered());
}

// Jobs that differ in what decides their turn may be given in any order.
RC_GTEST_PROP(ReplayOracle, TheOrderOfTheInputChangesNothing, ()) {
  SmallWorld world = any_world();
  for (std::size_t i = 0; i < world.jobs.size(); ++i) {
    world.jobs[i].name = std::to_string(i);
    world.jobs[i].submit_us = world.jobs[i].submit_us * 8 + static_cast<std::int64_t>(i);
  }
  std::vector<Job> shuffled = world.jobs;
  for (std::size_t i = shuffled.size(); i > 1; --i) {
    std::swap(shuffled[i - 1], shuffled[number(0, static_cast<std::uint32_t>(i - 1))]);
  }
  // Ends at the same moment are handled in the order of the input; they are the tie that is left.
  std::set<std::int64_t> ends;
  const ReplayOptions options{.scheduling = world.policy,
                              .spot = world.spot,
                              .pools = world.pools,
                              .spill_over = world.spill_over};
  const Replay replay = simulate(world.jobs, world.machines, options);
  for (const JobResult& result : replay.jobs) RC_PRE(ends.insert(result.end_us).second);
  const Replay again = simulate(shuffled, world.machines, options);
  RC_ASSERT(again.end_us == replay.end_us);
  RC_ASSERT(again.idle_milli_gpu_us == replay.idle_milli_gpu_us);
  for (std::size_t i = 0; i < shuffled.size(); ++i) {
    const JobResult& was = replay.jobs[std::stoul(shuffled[i].name)];
    RC_ASSERT(again.jobs[i].first_start_us == was.first_start_us);
    RC_ASSERT(again.jobs[i].end_us == was.end_us);
    RC_ASSERT(again.jobs[i].interruptions == was.interruptions);
  }
}

}  // namespace
}  // namespace pennyweight::replay
