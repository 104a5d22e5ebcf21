#include "insight/replay/simulate.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "core/check.h"
#include "insight/replay/reservation.h"
#include "insight/replay/waiting_queue.h"

namespace pennyweight::replay {
namespace {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

std::vector<std::uint32_t> in_order_of_arrival(std::span<const Job> jobs) {
  std::vector<std::uint32_t> order(jobs.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return jobs[a].submit_us < jobs[b].submit_us;
  });
  return order;
}

// What both ways of scheduling share: the cluster, the clock and the account of GPU time.
class Simulation {
 public:
  Simulation(std::span<const Job> jobs, std::span<const Machine> machines,
             const ReplayOptions& options)
      : jobs_(jobs),
        options_(options),
        policy_(options.scheduling),
        kinds_(request_kinds(jobs)),
        random_(policy_.seed),
        cluster_(machines),
        placement_(cluster_, policy_.placement, kinds_.kinds, random_, policy_.same_rack),
        usage_(jobs, machines, policy_),
        admission_(jobs, usage_.team_of_jobs(), usage_.team_count(), policy_.admission),
        held_(jobs.size()),
        begun_us_(jobs.size(), 0),
        restarts_us_(jobs.size(), 0),
        arrivals_(in_order_of_arrival(jobs)) {
    replay_.jobs.resize(jobs.size());
    replay_.capacity_milli_gpus = cluster_.capacity_milli_gpus();
    for (const Job& job : jobs) {
      CHECK(job.work_us > 0 && job.submit_us >= 0, "the caller leaves out jobs without work");
    }
    drop_impossible(machines);
  }

  Replay take_result() {
    if (replay_.is_stopped) return std::move(replay_);
    const Int128 capacity =
        static_cast<Int128>(replay_.capacity_milli_gpus) * static_cast<Int128>(replay_.end_us);
    // Held time is summed by job, idle time by the clock; neither is derived from the other.
    CHECK(replay_.held_milli_gpu_us + replay_.idle_milli_gpu_us + replay_.unavailable_milli_gpu_us +
                  replay_.off_milli_gpu_us + replay_.starting_milli_gpu_us ==
              capacity,
          "GPU time of jobs, idle and unavailable GPU time make up the capacity");
    return std::move(replay_);
  }

 protected:
  // Whether somebody has asked the replay to end.
  bool is_stopped() {
    if (options_.watch == nullptr) return false;
    replay_.is_stopped = options_.watch->stop.load(std::memory_order_relaxed);
    return replay_.is_stopped;
  }

  std::int64_t next_arrival_us() const {
    return arrived_ < arrivals_.size() ? jobs_[arrivals_[arrived_]].submit_us : kNever;
  }

  void advance_to(std::int64_t to_us) {
    replay_.idle_milli_gpu_us +=
        static_cast<Int128>(cluster_.free_milli_gpus()) * static_cast<Int128>(to_us - now_us_);
    replay_.unavailable_milli_gpu_us +=
        static_cast<Int128>(unavailable_milli_) * static_cast<Int128>(to_us - now_us_);
    replay_.off_milli_gpu_us +=
        static_cast<Int128>(off_milli_) * static_cast<Int128>(to_us - now_us_);
    replay_.starting_milli_gpu_us +=
        static_cast<Int128>(starting_milli_) * static_cast<Int128>(to_us - now_us_);
    usage_.advance(to_us);
    now_us_ = to_us;
  }

  void record_start(std::uint32_t job) {
    begun_us_[job] = now_us_;
    auto& first = replay_.jobs[job].first_start_us;
    if (!first) first = now_us_;
    usage_.start(usage_.team_of(job), jobs_[job].request);
    admission_.start(usage_.team_of(job), jobs_[job].request.milli_gpus());
  }

  // The job no longer holds held_[job].
  void record_stop(std::uint32_t job, std::int64_t lost_us = 0) {
    const std::int64_t span = now_us_ - begun_us_[job];
    const auto milli_gpus = jobs_[job].request.milli_gpus();
    usage_.stop(usage_.team_of(job), jobs_[job].request);
    admission_.stop(usage_.team_of(job), milli_gpus);
    replay_.jobs[job].held_us += span;
    replay_.held_milli_gpu_us += static_cast<Int128>(span) * static_cast<Int128>(milli_gpus);
    if (options_.keep_runs && span > 0) {
      replay_.runs.push_back(
          {job, begun_us_[job], now_us_, std::min(span, restarts_us_[job]), lost_us, held_[job]});
    }
  }

  void record_end(std::uint32_t job) {
    record_stop(job);
    replay_.jobs[job].end_us = now_us_;
    replay_.end_us = now_us_;
    if (options_.watch != nullptr) {
      options_.watch->jobs_ended.fetch_add(1, std::memory_order_relaxed);
    }
  }

  std::span<const Job> jobs_;
  const ReplayOptions& options_;
  const Scheduling& policy_;
  RequestKinds kinds_;
  SeededRandom random_;
  ClusterState cluster_;
  Placement placement_;
  TeamUsage usage_;
  Admission admission_;
  std::vector<Shares> held_;               // of each job
  std::vector<std::int64_t> begun_us_;     // since when each job holds held_
  std::vector<std::int64_t> restarts_us_;  // what its last resumption costs each job
  std::vector<std::uint32_t> arrivals_;
  std::size_t arrived_ = 0;
  std::int64_t now_us_ = 0;
  std::vector<bool> fits_at_home_;       // of each kind of request
  std::uint64_t unavailable_milli_ = 0;  // of machines that were taken back, now
  std::uint64_t off_milli_ = 0;          // of machines of pools, likewise
  std::uint64_t starting_milli_ = 0;
  bool has_requests_without_gpu_ =
      std::any_of(kinds_.kinds.begin(), kinds_.kinds.end(),
                  [](const RequestKind& kind) { return kind.request.milli_gpus() == 0; });
  Replay replay_;

 private:
  // Jobs that the empty cluster can't hold, or that their team may never start, never arrive.
  void drop_impossible(std::span<const Machine> machines) {
    ClusterState empty(machines);
    SeededRandom unused(0);
    Placement placement(empty, PlacementRule::kFirstFit, {}, unused, policy_.same_rack);
    for (const RequestKind& kind : kinds_.kinds) {
      fits_at_home_.push_back(placement.find(kind.request).has_value());
    }
    std::map<std::pair<std::uint32_t, std::uint32_t>, bool> fits_elsewhere;
    const auto is_possible = [&](std::uint32_t job) {
      const std::uint32_t kind = kinds_.kind_of_job[job];
      if (fits_at_home_[kind]) return true;
      if (jobs_[job].elsewhere == 0) return false;
      const auto [at, is_new] = fits_elsewhere.try_emplace({kind, jobs_[job].elsewhere}, false);
      if (!is_new) return at->second;
      for (const ModelSet models : options_.spill_over.places[jobs_[job].elsewhere - 1]) {
        Request there = jobs_[job].request;
        there.models = models;
        if (placement.find(there)) at->second = true;
      }
      return at->second;
    };
    std::erase_if(arrivals_, [&](std::uint32_t job) {
      return !is_possible(job) ||
             !admission_.is_possible(usage_.team_of(job), jobs_[job].request.milli_gpus());
    });
  }
};

// A job that runs goes on to its end, unless its machine is taken back.
class RunToEnd : public Simulation {
 public:
  RunToEnd(std::span<const Job> jobs, std::span<const Machine> machines,
           const ReplayOptions& options)
      : Simulation(jobs, machines, options),
        reclaims_(all_reclaims(machines, options.spot)),
        left_us_(jobs.size()),
        expected_us_(jobs.size()),
        waiting_(jobs, policy_.order, usage_),
        scaling_(cluster_, options.pools, jobs.size()),
        unprovided_(kinds_.kinds.size()),
        cached_(kinds_.kinds.size()) {
    for (std::size_t i = 0; i < jobs.size(); ++i) left_us_[i] = jobs[i].work_us;
    held_.resize(jobs.size() + machines.size());
    for (const std::uint32_t machine : scaling_.off()) turn_off(machine);
  }

  Replay run() {
    while (arrived_ < arrivals_.size() || !ends_.empty() || waiting_.size() > 0) {
      const std::int64_t next_end = ends_.empty() ? kNever : ends_.begin()->end_us;
      const std::int64_t next_return = returns_.empty() ? kNever : returns_.begin()->at_us;
      const std::int64_t next =
          std::min({next_arrival_us(), next_end, next_return, next_reclaim_us(), next_opening_us(),
                    next_stop_us(), next_spill_us()});
      CHECK(next != kNever, "a job that the empty cluster can hold runs in the end");
      if (is_stopped()) break;
      advance_to(next);
      while (!ends_.empty() && ends_.begin()->end_us == now_us_) {
        finish(ends_.begin()->job);
        ends_.erase(ends_.begin());
      }
      while (!returns_.empty() && returns_.begin()->at_us == now_us_) return_machine();
      for (; next_reclaim_us() == now_us_; ++reclaimed_) take_back(reclaims_[reclaimed_]);
      for (; next_arrival_us() == now_us_; ++arrived_) add_to_queue(arrivals_[arrived_]);
      start_jobs();
      if (scaling_.is_used()) scale();
    }
    note_later_outages();
    if (scaling_.is_used() && !replay_.is_stopped) {
      end_pools();
      replay_.powered = scaling_.spans();
      replay_.machine_starts = replay_.powered.size();
      std::set<std::uint32_t> were_on;
      for (const PowerSpan& span : replay_.powered) were_on.insert(span.machine);
      for (const NodePool& pool : options_.pools) {
        replay_.machine_starts -= pool.least;
        for (const std::uint32_t machine : pool.machines) {
          if (!were_on.contains(machine)) replay_.never_on.push_back(machine);
        }
      }
    }
    return take_result();
  }

 private:
  std::int64_t next_stop_us() const {
    if (!scaling_.is_used()) return kNever;
    return scaling_.next_stop_us(now_us_).value_or(kNever);
  }
  // When the next job that still waits may run elsewhere. Jobs arrive in the order of these times.
  std::int64_t next_spill_us() {
    if (options_.spill_over.places.empty()) return kNever;
    while (!spills_again_.empty() && spills_again_.begin()->first <= now_us_) {
      spills_again_.erase(spills_again_.begin());
    }
    const std::int64_t again = spills_again_.empty() ? kNever : spills_again_.begin()->first;
    for (; spilled_ < arrived_; ++spilled_) {
      const std::uint32_t job = arrivals_[spilled_];
      const std::int64_t at = spill_us(job);
      if (at <= now_us_ || jobs_[job].elsewhere == 0 || replay_.jobs[job].first_start_us) continue;
      return std::min(at, again);
    }
    return again;
  }
  std::int64_t spill_us(std::uint32_t job) const {
    return jobs_[job].submit_us + options_.spill_over.after_us;
  }
  bool may_go_elsewhere(std::uint32_t job) const {
    return jobs_[job].elsewhere > 0 &&
           (now_us_ >= spill_us(job) || !fits_at_home_[kinds_.kind_of_job[job]]);
  }

  std::uint64_t milli_on(std::uint32_t machine) const {
    return std::uint64_t{kMilliPerGpu} * cluster_.machines()[machine].gpus;
  }
  std::uint32_t holder_of(std::uint32_t machine) const {
    return static_cast<std::uint32_t>(jobs_.size()) + machine;
  }

  // Nobody but the machine itself can hold anything of it.
  void close_machine(std::uint32_t machine) {
    const Machine& whole = cluster_.machines()[machine];
    const std::uint32_t all =
        whole.gpus == kGpusPerMachineMax ? ~std::uint32_t{0} : (1u << whole.gpus) - 1;
    Shares& held = held_[holder_of(machine)];
    held = {Share{machine, all, kMilliPerGpu, true, whole.cpu_milli, whole.memory_mib}};
    placement_.take(held);
  }
  void open_machine(std::uint32_t machine) {
    placement_.give_back(held_[holder_of(machine)]);
    held_[holder_of(machine)].clear();
    expected_.erase({now_us_, holder_of(machine)});
  }

  void turn_off(std::uint32_t machine) {
    close_machine(machine);
    off_milli_ += milli_on(machine);
  }
  // Machines that are started for a job.
  void start_machines(const std::vector<std::uint32_t>& machines) {
    for (const std::uint32_t machine : machines) {
      off_milli_ -= milli_on(machine);
      starting_milli_ += milli_on(machine);
      returns_.insert({scaling_.ready_us(machine), machine});
      expected_.insert({scaling_.ready_us(machine), holder_of(machine)});
      reserved_for_.reset();
    }
  }
  void scale() {
    // The first that fits nowhere, while nobody else is there and nothing comes.
    if (first_unfit_ && ends_.empty() && returns_.empty()) {
      start_machines(scaling_.provide_all(*first_unfit_, now_us_));
    }
    for (const std::uint32_t machine : scaling_.stop_idle(now_us_)) {
      turn_off(machine);
      reserved_for_.reset();
    }
  }

  std::int64_t next_reclaim_us() const {
    return reclaimed_ < reclaims_.size() ? reclaims_[reclaimed_].at_us : kNever;
  }

  // When nothing comes any more: machines that start or are away are there at their times.
  void end_pools() {
    while (!returns_.empty()) {
      const auto [at_us, machine, away_us, if_on] = *returns_.begin();
      returns_.erase(returns_.begin());
      if (!scaling_.has(machine)) continue;
      if (scaling_.is_starting(machine)) {
        scaling_.machine_is_ready(machine, at_us);
        continue;
      }
      scaling_.machine_is_back(machine);
      for (const std::uint32_t other : scaling_.keep_least(at_us)) {
        returns_.insert({scaling_.ready_us(other), other});
      }
    }
    scaling_.end_spans();
  }

  // Machines that are taken back after the last job's end: nobody is interrupted, and the time is
  // not of this replay, but a period that is longer lacks them. A pool has others then.
  void note_later_outages() {
    std::map<std::uint32_t, std::int64_t> away_until;
    for (const Reclaim& back : returns_) away_until[back.machine] = back.at_us;
    for (; reclaimed_ < reclaims_.size(); ++reclaimed_) {
      const Reclaim& reclaim = reclaims_[reclaimed_];
      if (scaling_.has(reclaim.machine)) continue;
      std::int64_t& until = away_until[reclaim.machine];
      if (reclaim.away_us == 0 || reclaim.at_us < until) continue;
      until = reclaim.at_us + reclaim.away_us;
      replay_.outages.push_back({reclaim.machine, reclaim.at_us, until});
    }
  }

  // When a team that has to wait for a part of the day may start jobs again.
  std::int64_t next_opening_us() const {
    if (waiting_.size() == 0) return kNever;
    return admission_.next_opening_us(now_us_).value_or(kNever);
  }

  void finish(std::uint32_t job) {
    record_end(job);
    release(job);
    // Whoever ends before or after its estimate changes when the first of the queue can start.
    if (expected_us_[job] != now_us_) reserved_for_.reset();
  }

  void release(std::uint32_t job) {
    placement_.give_back(held_[job]);
    scaling_.job_stopped(held_[job], now_us_);
    held_[job].clear();
    expected_.erase({expected_us_[job], job});
    count_restart(job);
  }

  // For how long the scheduler believes that the job will run, if it starts now.
  std::int64_t expected_length_us(std::uint32_t job) const {
    const std::int64_t saved = jobs_[job].work_us - left_us_[job];
    const std::int64_t restart =
        replay_.jobs[job].first_start_us.has_value() ? jobs_[job].restart_us : 0;
    return restart + std::max<std::int64_t>(1, estimate_of(jobs_[job]) - saved);
  }

  std::int64_t restarted_us(std::uint32_t job) const {
    return std::min(now_us_ - begun_us_[job], restarts_us_[job]);
  }
  void count_restart(std::uint32_t job) {
    replay_.restart_milli_gpu_us += static_cast<Int128>(restarted_us(job)) *
                                    static_cast<Int128>(jobs_[job].request.milli_gpus());
  }

  void start(std::uint32_t job, Shares shares) {
    waiting_.remove(job);
    if (!spills_again_.empty()) spills_again_.erase({spill_us(job), job});
    usage_.remove_waiting(usage_.team_of(job), jobs_[job].request);
    held_[job] = std::move(shares);
    scaling_.job_started(job, held_[job]);
    const bool resumes = replay_.jobs[job].first_start_us.has_value();
    expected_us_[job] = now_us_ + expected_length_us(job);
    record_start(job);
    restarts_us_[job] = resumes ? jobs_[job].restart_us : 0;
    ends_.insert({now_us_ + restarts_us_[job] + left_us_[job], job});
    expected_.insert({expected_us_[job], job});
  }

  void return_machine() {
    const std::uint32_t machine = returns_.begin()->machine;
    returns_.erase(returns_.begin());
    if (scaling_.is_starting(machine)) {
      open_machine(machine);
      scaling_.machine_is_ready(machine, now_us_);
      starting_milli_ -= milli_on(machine);
      return;
    }
    unavailable_milli_ -= milli_on(machine);
    if (scaling_.has(machine)) {
      back_into_pool(machine);
    } else {
      open_machine(machine);
    }
  }

  // A machine of a pool that may be started again.
  void back_into_pool(std::uint32_t machine) {
    off_milli_ += milli_on(machine);
    scaling_.machine_is_back(machine);
    start_machines(scaling_.keep_least(now_us_));
  }

  // A machine that is away already can't be taken back again.
  void take_back(const Reclaim& reclaim) {
    const std::uint32_t machine = reclaim.machine;
    const bool is_off = scaling_.is_off(machine);
    if (is_off && reclaim.if_on) return;
    if (!held_[holder_of(machine)].empty() && !is_off && !scaling_.is_starting(machine)) return;
    ++replay_.reclaims;
    if (scaling_.has(machine)) {
      take_back_from_pool(reclaim);
    } else {
      interrupt_on(machine);
      reserved_for_.reset();
      if (reclaim.away_us == 0) return;
      close_machine(machine);
      expected_.insert({now_us_ + reclaim.away_us, holder_of(machine)});
      keep_away(reclaim);
    }
  }

  void take_back_from_pool(const Reclaim& reclaim) {
    const std::uint32_t machine = reclaim.machine;
    if (scaling_.is_off(machine)) {
      off_milli_ -= milli_on(machine);
    } else if (scaling_.is_starting(machine)) {
      starting_milli_ -= milli_on(machine);
      returns_.erase({scaling_.ready_us(machine), machine});
      expected_.erase({scaling_.ready_us(machine), holder_of(machine)});
    } else {
      interrupt_on(machine);
      close_machine(machine);
    }
    reserved_for_.reset();
    scaling_.take_back(machine, now_us_);
    if (reclaim.away_us == 0) {
      back_into_pool(machine);
      return;
    }
    keep_away(reclaim);
    start_machines(scaling_.keep_least(now_us_));
  }

  void keep_away(const Reclaim& reclaim) {
    const std::int64_t until = now_us_ + reclaim.away_us;
    returns_.insert({until, reclaim.machine});
    replay_.outages.push_back({reclaim.machine, now_us_, until});
    unavailable_milli_ += milli_on(reclaim.machine);
  }

  void interrupt_on(std::uint32_t machine) {
    std::vector<ExpectedEnd> interrupted;
    for (const ExpectedEnd& end : ends_) {
      const Shares& shares = held_[end.job];
      if (std::any_of(shares.begin(), shares.end(),
                      [&](const Share& share) { return share.machine == machine; })) {
        interrupted.push_back(end);
      }
    }
    for (const ExpectedEnd& end : interrupted) {
      ends_.erase(end);
      interrupt(end.job);
    }
  }

  void interrupt(std::uint32_t job) {
    const std::int64_t done =
        jobs_[job].work_us - left_us_[job] + now_us_ - begun_us_[job] - restarted_us(job);
    const std::int64_t every = options_.spot.checkpoint_every_us;
    const std::int64_t saved = every == 0 ? 0 : done / every * every;
    replay_.lost_milli_gpu_us +=
        static_cast<Int128>(done - saved) * static_cast<Int128>(jobs_[job].request.milli_gpus());
    left_us_[job] = jobs_[job].work_us - saved;
    record_stop(job, done - saved);
    release(job);
    ++replay_.jobs[job].interruptions;
    add_to_queue(job);
    if (jobs_[job].elsewhere > 0) spills_again_.emplace(spill_us(job), job);
  }

  void add_to_queue(std::uint32_t job) {
    const std::int64_t saved = jobs_[job].work_us - left_us_[job];
    waiting_.add(job, std::max<std::int64_t>(0, estimate_of(jobs_[job]) - saved));
    usage_.add_waiting(usage_.team_of(job), jobs_[job].request);
  }

  void start_jobs() {
    std::uint32_t behind = 0;
    std::optional<std::uint32_t> first_blocked;
    first_unfit_.reset();
    usage_.divide();
    ++visit_;
    ++state_;
    waiting_.visit([&](std::uint32_t job) {
      if (first_blocked && ++behind > policy_.depth) return false;
      if (cluster_.free_milli_gpus() == 0 && !has_requests_without_gpu_ && !scaling_.is_used()) {
        return false;
      }
      if (admission_.is_full() && !has_requests_without_gpu_) return false;
      if (usage_.has_its_share(usage_.team_of(job)) ||
          !admission_.admits(usage_.team_of(job), jobs_[job].request.milli_gpus(), now_us_)) {
        return true;
      }
      const std::optional<Shares>& shares = find(job);
      if (!shares) {
        if (scaling_.is_used()) ask_for_machines(job);
        if (policy_.when_blocked == WhenBlocked::kWait || is_guarded(job)) return false;
        if (!first_blocked) first_blocked = job;
        return true;
      }
      if (first_blocked && policy_.when_blocked == WhenBlocked::kBackfill &&
          !may_overtake(*first_blocked, job, *shares)) {
        return true;
      }
      placement_.take(*shares);
      ++state_;
      start(job, *shares);
      return true;
    });
  }

  void ask_for_machines(std::uint32_t job) {
    if (!first_unfit_) first_unfit_ = job;
    // Within a visit jobs only take: what nobody could be started for once fails again, until
    // machines start or room on them is given up.
    auto& failed = unprovided_[kinds_.kind_of_job[job]];
    if (failed == std::pair(visit_, scaling_.version())) return;
    start_machines(scaling_.provide(job, jobs_[job].request, now_us_));
    if (!scaling_.has_asked(job)) failed = {visit_, scaling_.version()};
  }

  // Whether the job has waited so long that nobody may overtake it.
  bool is_guarded(std::uint32_t job) const {
    return policy_.starvation_guard_us > 0 &&
           now_us_ - jobs_[job].submit_us >= policy_.starvation_guard_us;
  }

  struct CachedShares {
    std::uint64_t visit = 0;
    std::uint64_t state = 0;
    std::optional<Shares> shares = {};
  };
  const std::optional<Shares>& find(CachedShares& cached, const Request& request) {
    const bool is_known = cached.shares ? cached.state == state_ : cached.visit == visit_;
    if (!is_known) cached = {visit_, state_, placement_.find(request)};
    return cached.shares;
  }

  // What the job would get. Jobs of a kind get the same until one takes something, and until the
  // next event jobs only take: what has failed once fails again.
  const std::optional<Shares>& find(std::uint32_t job) {
    const std::uint32_t kind = kinds_.kind_of_job[job];
    const std::optional<Shares>& shares = find(cached_[kind], jobs_[job].request);
    if (shares || !may_go_elsewhere(job)) return shares;
    for (const ModelSet models : options_.spill_over.places[jobs_[job].elsewhere - 1]) {
      Request there = jobs_[job].request;
      there.models = models;
      const std::optional<Shares>& found = find(cached_elsewhere_[{kind, models}], there);
      if (found) return found;
    }
    return shares;
  }

  // REQUIRES: shares are free.
  bool may_overtake(std::uint32_t first, std::uint32_t job, const Shares& shares) {
    if (reserved_for_ != first) {
      reservation_ =
          Reservation::find(cluster_, placement_, jobs_[first].request, expected_, held_, now_us_);
      reserved_for_ = first;
    }
    return reservation_ && reservation_->admits(shares, now_us_ + expected_length_us(job));
  }

  // Machines that were taken back, are off or start hold themselves, in held_ behind the jobs.
  std::vector<Reclaim> reclaims_;
  std::size_t reclaimed_ = 0;
  std::set<Reclaim> returns_;
  std::vector<std::int64_t> left_us_;      // of each job's work, at its last checkpoint
  std::vector<std::int64_t> expected_us_;  // end of each running job, as the scheduler believes
  WaitingQueue waiting_;
  Autoscaling scaling_;
  std::set<ExpectedEnd> ends_;      // as they will be
  std::set<ExpectedEnd> expected_;  // as the scheduler believes, returns of machines included
  std::optional<std::uint32_t> first_unfit_;  // of this visit of the queue
  std::optional<std::uint32_t> reserved_for_;
  std::optional<Reservation> reservation_;
  // When jobs that were interrupted and wait may run elsewhere.
  std::set<std::pair<std::int64_t, std::uint32_t>> spills_again_;
  std::size_t spilled_ = 0;  // of the arrivals: how many need no moment of their own any more
  std::uint64_t visit_ = 0;  // of the queue
  std::uint64_t state_ = 0;  // of what is free
  // Of each kind of request: when no machine could be started for it last.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> unprovided_;
  std::vector<CachedShares> cached_;  // of each kind of request
  std::map<std::pair<std::uint32_t, ModelSet>, CachedShares> cached_elsewhere_;
};

// A job that comes first in the queue and doesn't fit interrupts jobs that come after it, the last
// of them first, and no more of them than it needs. Nobody else is moved.
class Preempt : public Simulation {
 public:
  Preempt(std::span<const Job> jobs, std::span<const Machine> machines,
          const ReplayOptions& options)
      : Simulation(jobs, machines, options),
        left_us_(jobs.size()),
        restart_left_us_(jobs.size(), 0),
        counted_to_us_(jobs.size(), 0) {
    for (std::size_t i = 0; i < jobs.size(); ++i) left_us_[i] = jobs[i].work_us;
  }

  Replay run() {
    while (arrived_ < arrivals_.size() || !ends_.empty()) {
      if (is_stopped()) return take_result();
      const std::int64_t next_end = ends_.empty() ? kNever : ends_.begin()->end_us;
      advance_to(std::min(next_arrival_us(), next_end));
      while (!ends_.empty() && ends_.begin()->end_us == now_us_) finish(ends_.begin()->job);
      for (; next_arrival_us() == now_us_; ++arrived_) add(arrivals_[arrived_]);
      start_jobs();
    }
    CHECK(waiting_.empty(), "a job that the empty cluster can hold runs in the end");
    return take_result();
  }

 private:
  // Brings a running job's progress up to now.
  void count_progress(std::uint32_t job) {
    const std::int64_t span = now_us_ - counted_to_us_[job];
    const std::int64_t restarting = std::min(span, restart_left_us_[job]);
    restart_left_us_[job] -= restarting;
    left_us_[job] -= span - restarting;
    counted_to_us_[job] = now_us_;
    replay_.restart_milli_gpu_us +=
        static_cast<Int128>(restarting) * static_cast<Int128>(jobs_[job].request.milli_gpus());
  }

  QueueKey key_of(std::uint32_t job) const {
    const std::int64_t done = jobs_[job].work_us - left_us_[job];
    return queue_key(policy_.order, jobs_[job], job,
                     std::max<std::int64_t>(0, estimate_of(jobs_[job]) - done));
  }

  void add(std::uint32_t job) { waiting_.insert(key_of(job)); }

  void leave(std::uint32_t job) {
    count_progress(job);
    ends_.erase({end_of(job), job});
    placement_.give_back(held_[job]);
  }
  std::int64_t end_of(std::uint32_t job) const {
    return counted_to_us_[job] + restart_left_us_[job] + left_us_[job];
  }

  void finish(std::uint32_t job) {
    leave(job);
    record_end(job);
    held_[job].clear();
  }

  // REQUIRES: shares are taken.
  void start(std::uint32_t job, Shares shares) {
    const bool resumes = replay_.jobs[job].first_start_us.has_value();
    held_[job] = std::move(shares);
    record_start(job);
    counted_to_us_[job] = now_us_;
    restarts_us_[job] = resumes ? jobs_[job].restart_us : 0;
    restart_left_us_[job] = restarts_us_[job];
    ends_.insert({end_of(job), job});
  }

  // REQUIRES: its shares are given back.
  void interrupt(std::uint32_t job) {
    count_progress(job);
    record_stop(job);
    held_[job].clear();
    ++replay_.jobs[job].interruptions;
    add(job);
  }

  void start_jobs() {
    std::uint32_t blocked = 0;
    bool may_preempt = true;
    // Whoever is interrupted comes after the job that interrupts it, so the walk meets it later.
    for (auto at = waiting_.begin(); at != waiting_.end() && blocked <= policy_.depth;) {
      const QueueKey key = *at;
      std::optional<Shares> shares = placement_.place(jobs_[key.job].request);
      if (!shares && may_preempt) {
        // Jobs behind one that could interrupt nobody come after it, and can't either, unless they
        // need less; only the first few are tried.
        shares = preempt_for(key);
        may_preempt = shares.has_value() || blocked < kPreemptionsTried;
      }
      if (!shares) {
        ++blocked;
        ++at;
        continue;
      }
      waiting_.erase(at);
      start(key.job, std::move(*shares));
      at = waiting_.upper_bound(key);
    }
  }

  // Takes the shares of running jobs that come after `key` until its job fits, the last first.
  std::optional<Shares> preempt_for(const QueueKey& key) {
    std::vector<QueueKey> victims;
    for (const ExpectedEnd& end : ends_) {
      count_progress(end.job);  // which moves no end, so that ends_ stays in order
      const QueueKey other = key_of(end.job);
      if (key < other) victims.push_back(other);
    }
    std::sort(victims.begin(), victims.end(), std::greater<>());
    std::optional<Shares> shares;
    std::size_t taken = 0;
    while (taken < victims.size() && !shares) {
      placement_.give_back(held_[victims[taken].job]);
      ++taken;
      shares = placement_.place(jobs_[key.job].request);
    }
    if (!shares) {
      for (std::size_t i = 0; i < taken; ++i) placement_.take(held_[victims[i].job]);
      return shares;
    }
    // Who turns out not to be in the way goes on as if nothing had been.
    for (std::size_t i = taken; i-- > 0;) {
      const std::uint32_t job = victims[i].job;
      if (placement_.is_free(held_[job])) {
        placement_.take(held_[job]);
        continue;
      }
      ends_.erase({end_of(job), job});
      interrupt(job);
    }
    return shares;
  }

  std::vector<std::int64_t> left_us_;          // of each job's work, at counted_to_us_
  std::vector<std::int64_t> restart_left_us_;  // until it does work again, likewise
  std::vector<std::int64_t> counted_to_us_;
  std::set<ExpectedEnd> ends_;
  std::set<QueueKey> waiting_;
};

// Every arrival and end plans all jobs anew, from an empty cluster.
class PlanAnew : public Simulation {
 public:
  PlanAnew(std::span<const Job> jobs, std::span<const Machine> machines,
           const ReplayOptions& options)
      : Simulation(jobs, machines, options),
        left_us_(jobs.size()),
        is_held_(jobs.size(), false),
        runs_(jobs.size(), false) {
    for (std::size_t i = 0; i < jobs.size(); ++i) left_us_[i] = jobs[i].work_us;
  }

  Replay run() {
    while (arrived_ < arrivals_.size() || !running_.empty()) {
      if (is_stopped()) return take_result();
      std::int64_t next = next_arrival_us();
      for (const std::uint32_t job : running_) {
        next = std::min(next, now_us_ + left_us_[job]);
      }
      const std::int64_t span = next - now_us_;
      for (const std::uint32_t job : running_) progress(job, span);
      advance_to(next);
      end_finished();
      for (; next_arrival_us() == now_us_; ++arrived_) insert(waiting_, arrivals_[arrived_]);
      plan();
    }
    CHECK(waiting_.empty(), "a job that the empty cluster can hold runs in the end");
    return take_result();
  }

 private:
  // How a span between two events was used. REQUIRES: the job doesn't end before it does.
  void progress(std::uint32_t job, std::int64_t span) {
    const std::int64_t restarting =
        span < left_us_[job] ? std::min(span, jobs_[job].restart_us) : 0;
    left_us_[job] -= span - restarting;
    replay_.restart_milli_gpu_us +=
        static_cast<Int128>(restarting) * static_cast<Int128>(jobs_[job].request.milli_gpus());
  }

  QueueKey key_of(std::uint32_t job) const {
    // What is left of the estimate, as far as the work is done.
    const std::int64_t done = jobs_[job].work_us - left_us_[job];
    const std::int64_t left = std::max<std::int64_t>(0, estimate_of(jobs_[job]) - done);
    return queue_key(policy_.order, jobs_[job], job, left);
  }
  void insert(std::set<QueueKey>& queue, std::uint32_t job) { queue.insert(key_of(job)); }

  void end_finished() {
    std::erase_if(running_, [&](std::uint32_t job) {
      if (left_us_[job] > 0) return false;
      record_end(job);
      placement_.give_back(held_[job]);
      held_[job].clear();
      is_held_[job] = false;
      return true;
    });
  }

  void plan() {
    // Waiting jobs keep their keys while they wait; those that ran get theirs anew.
    std::set<QueueKey> queue;
    for (const std::uint32_t job : running_) insert(queue, job);
    const std::vector<std::uint32_t> before = std::move(running_);
    running_.clear();
    placement_.clear();
    std::vector<std::uint32_t> started;
    auto ran = queue.begin();
    auto waits = waiting_.begin();
    while (ran != queue.end() || waits != waiting_.end()) {
      if (cluster_.free_milli_gpus() == 0 && !has_requests_without_gpu_) break;
      const bool takes_waiting = ran == queue.end() || (waits != waiting_.end() && *waits < *ran);
      const std::uint32_t job = takes_waiting ? waits->job : ran->job;
      std::optional<Shares> shares = placement_.place(jobs_[job].request);
      if (shares) {
        continue_or_start(job, std::move(*shares));
        running_.push_back(job);
      }
      if (!takes_waiting) {
        ++ran;
      } else if (shares) {
        waits = waiting_.erase(waits);
      } else {
        ++waits;
      }
    }
    for (const std::uint32_t job : running_) runs_[job] = true;
    for (const std::uint32_t job : before) {
      if (!runs_[job]) interrupt(job);
    }
    for (const std::uint32_t job : running_) runs_[job] = false;
  }

  // A job that is moved holds other machines from now on; that is no interruption here.
  void continue_or_start(std::uint32_t job, Shares shares) {
    if (is_held_[job] && held_[job] == shares) return;
    if (is_held_[job]) record_stop(job);
    held_[job] = std::move(shares);
    record_start(job);
    is_held_[job] = true;
  }

  void interrupt(std::uint32_t job) {
    record_stop(job);
    held_[job].clear();
    is_held_[job] = false;
    ++replay_.jobs[job].interruptions;
    insert(waiting_, job);
  }

  std::vector<std::int64_t> left_us_;  // of each job's work
  std::vector<bool> is_held_;
  std::vector<bool> runs_;
  std::vector<std::uint32_t> running_;
  std::set<QueueKey> waiting_;
};

}  // namespace

Replay simulate(std::span<const Job> jobs, std::span<const Machine> machines,
                const ReplayOptions& options) {
  const Scheduling& policy = options.scheduling;
  CHECK(!policy.preempts || !is_fair(policy.order), "a fair queue interrupts nobody");
  CHECK(!policy.preempts || (options.spot.reclaimed_per_hour == 0 && options.spot.planned.empty()),
        "preemption and machines that are taken back are not replayed together");
  CHECK(options.pools.empty() || !policy.preempts,
        "pools and preemption are not replayed together");
  CHECK(options.spill_over.places.empty() || !policy.preempts,
        "spill-over and preemption are not replayed together");
  CHECK(options.pools.empty() || !policy.same_rack,
        "machines that are started for a job are of any rack");
  CHECK(!policy.preempts || (policy.admission.quotas.empty() && policy.admission.windows.empty()),
        "preemption and quotas or windows are not replayed together");
  if (!policy.preempts) return RunToEnd(jobs, machines, options).run();
  return policy.restart_cost == RestartCost::kEveryEvent ? PlanAnew(jobs, machines, options).run()
                                                         : Preempt(jobs, machines, options).run();
}

}  // namespace pennyweight::replay
