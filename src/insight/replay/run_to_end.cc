#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "core/check.h"
#include "core/int128.h"
#include "insight/replay/autoscaling.h"
#include "insight/replay/layouts.h"
#include "insight/replay/reservation.h"
#include "insight/replay/simulation.h"
#include "insight/replay/spot.h"
#include "insight/replay/waiting_queue.h"

namespace pennyweight::replay {
namespace {

// A job that runs goes on to its end, unless its machine is taken back.
class RunToEnd : public Simulation {
 public:
  RunToEnd(std::span<const Job> jobs, std::span<const Machine> machines,
           const ReplayOptions& options)
      : Simulation(jobs, machines, options),
        reclaims_(all_reclaims(machines, options.spot)),
        left_us_(jobs.size()),
        expected_us_(jobs.size()),
        waiting_(jobs, policy_.order, usage_, !admission_.is_open()),
        scaling_(cluster_, options.pools, jobs.size()),
        layouts_(options.layouts, policy_.admission.begin_of_day_us),
        opening_us_(options.layouts.size(), kNever),
        unprovided_(kinds_.kinds.size()),
        cached_(kinds_.kinds.size()) {
    for (std::size_t i = 0; i < jobs.size(); ++i) left_us_[i] = jobs[i].work_us;
    held_.resize(jobs.size() + machines.size());
    for (const std::uint32_t machine : scaling_.off()) turn_off(machine);
    for (std::size_t i = 0; i < layouts_.layouts().size(); ++i) close_layout(i);
  }

  Replay run() {
    while (arrived_ < arrivals_.size() || !ends_.empty() || waiting_.size() > 0) {
      const std::int64_t next_end = ends_.empty() ? kNever : ends_.begin()->end_us;
      const std::int64_t next_return = returns_.empty() ? kNever : returns_.begin()->at_us;
      const std::int64_t next =
          std::min({next_arrival_us(), next_end, next_return, next_reclaim_us(), next_opening_us(),
                    next_stop_us(), next_spill_us(), next_layout_us()});
      CHECK(next != kNever, "a job that the empty cluster can hold runs in the end");
      if (is_stopped()) break;
      if (waits_in_vain()) break;
      advance_to(next);
      while (!ends_.empty() && ends_.begin()->end_us == now_us_) {
        finish(ends_.begin()->job);
        ends_.erase(ends_.begin());
      }
      while (!returns_.empty() && returns_.begin()->at_us == now_us_) return_machine();
      for (; next_reclaim_us() == now_us_; ++reclaimed_) take_back(reclaims_[reclaimed_]);
      if (layouts_.is_used()) change_layouts();
      for (; next_arrival_us() == now_us_; ++arrived_) add_to_queue(arrivals_[arrived_]);
      start_jobs();
      if (scaling_.is_used()) scale();
    }
    // The replay lasts to the last end; nobody held anything since.
    if (waits_in_vain()) {
      replay_.idle_milli_gpu_us -= static_cast<Int128>(replay_.capacity_milli_gpus) *
                                   static_cast<Int128>(now_us_ - replay_.end_us);
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

  // Layouts of GPUs by the hour: see layouts.h.
  std::int64_t next_layout_us() {
    if (next_layout_us_ <= now_us_) next_layout_us_ = layouts_.next_change_us(now_us_);
    return next_layout_us_;
  }
  // Whoever waits fits no layout that ever comes: all hours have come twice, and nobody started.
  bool waits_in_vain() const {
    return layouts_.is_used() && ends_.empty() && arrived_ == arrivals_.size() &&
           waiting_.size() > 0 && now_us_ - last_move_us_ > 2 * kLayoutDayUs;
  }
  void change_layouts() {
    // At other moments the hour wants nothing new.
    const bool is_hour = next_layout_us_ == now_us_;
    for (const std::size_t i : is_hour ? layouts_.change(now_us_) : std::vector<std::size_t>()) {
      const LayoutHours::Layout& layout = layouts_.layouts()[i];
      placement_.set_closed(layout.open(), layout.is_draining());
      expect_opening(i);
      reserved_for_.reset();
      if (layout.is_draining()) {
        draining_.insert(i);
      } else {
        draining_.erase(i);
      }
    }
    draining_milli_ = 0;
    std::erase_if(draining_, [&](std::size_t i) {
      const std::uint32_t machine = layouts_.layouts()[i].open();
      if (cluster_.is_untouched(machine)) {
        complete_layout(i);
        return true;
      }
      draining_milli_ += cluster_.free_on(machine).gpu_milli;
      return false;
    });
  }
  // Nobody holds anything of the open machine any more.
  void complete_layout(std::size_t i) {
    const LayoutHours::Layout& layout = layouts_.layouts()[i];
    const std::uint32_t holder = holder_of(layout.closed());
    expected_.erase({opening_us_[i], holder});
    placement_.give_back(held_[holder]);
    held_[holder].clear();
    placement_.set_closed(layout.open(), false);
    layouts_.complete(i);
    ++replay_.layout_changes;
    close_layout(i);
    reserved_for_.reset();
  }
  void close_layout(std::size_t i) {
    close_machine(layouts_.layouts()[i].closed());
    expect_opening(i);
  }
  // When the closed one is expected to open: at its hour, or once the jobs on the other one end.
  void expect_opening(std::size_t i) {
    const LayoutHours::Layout& layout = layouts_.layouts()[i];
    const std::uint32_t holder = holder_of(layout.closed());
    expected_.erase({opening_us_[i], holder});
    opening_us_[i] = layouts_.next_opening_us(i, now_us_);
    if (layout.is_draining()) {
      opening_us_[i] = now_us_;
      for (const ExpectedEnd& end : ends_) {
        if (std::ranges::any_of(held_[end.job], [&](const Share& share) {
              return share.machine == layout.open();
            })) {
          opening_us_[i] = std::max(opening_us_[i], expected_us_[end.job]);
        }
      }
    }
    expected_.insert({opening_us_[i], holder});
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
    last_move_us_ = now_us_;
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
    last_move_us_ = now_us_;
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
    last_move_us_ = now_us_;
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
    const auto admits = [&](std::uint32_t job) {
      const std::uint32_t team = usage_.team_of(job);
      return !usage_.has_its_share(team) &&
             admission_.admits(team, jobs_[job].request.milli_gpus(), now_us_);
    };
    const auto try_job = [&](std::uint32_t job) {
      if (first_blocked && ++behind > policy_.depth) return false;
      if (cluster_.free_milli_gpus() == 0 && !has_requests_without_gpu_ && !scaling_.is_used()) {
        return false;
      }
      if (admission_.is_full() && !has_requests_without_gpu_) return false;
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
    };
    waiting_.visit(try_job, admits);
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
  LayoutHours layouts_;
  std::vector<std::int64_t> opening_us_;  // of each layout's closed machine, as is expected
  std::set<std::size_t> draining_;
  std::int64_t next_layout_us_ = 0;
  std::int64_t last_move_us_ = 0;   // when a job came, started or ended last
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

}  // namespace

Replay run_to_end(std::span<const Job> jobs, std::span<const Machine> machines,
                  const ReplayOptions& options) {
  return RunToEnd(jobs, machines, options).run();
}

}  // namespace pennyweight::replay
