#include "insight/replay/simulate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <map>

#include "insight/replay/placement.h"

namespace pennyweight::replay {
namespace {

constexpr std::int64_t kSecond = 1'000'000;

Job make_job(std::int64_t submit_s, std::int64_t work_s, std::uint32_t gpus) {
  Job job;
  job.submit_us = submit_s * kSecond;
  job.work_us = work_s * kSecond;
  job.request.gpus = gpus;
  return job;
}

std::vector<Machine> machines_of(std::initializer_list<std::uint32_t> gpus) {
  std::vector<Machine> machines;
  for (const std::uint32_t count : gpus) machines.push_back({.gpus = count});
  return machines;
}

std::vector<std::int64_t> starts_s(const Replay& replay) {
  std::vector<std::int64_t> starts;
  for (const JobResult& job : replay.jobs) {
    starts.push_back(job.first_start_us ? *job.first_start_us / kSecond : -1);
  }
  return starts;
}

Scheduling with(QueueOrder order, WhenBlocked when_blocked = WhenBlocked::kWait) {
  Scheduling scheduling;
  scheduling.order = order;
  scheduling.when_blocked = when_blocked;
  return scheduling;
}

using Starts = std::vector<std::int64_t>;

TEST(Simulate, NobodyOvertakesUnlessToldSo) {
  // 4 GPUs: the second job waits for the first; the third would fit beside the first.
  const std::vector<Job> jobs = {make_job(0, 100, 3), make_job(1, 10, 4), make_job(2, 50, 1),
                                 make_job(3, 500, 1)};
  const auto machines = machines_of({4});
  const auto fcfs = QueueOrder::kFirstComeFirstServed;
  EXPECT_EQ(starts_s(simulate(jobs, machines, {.scheduling = with(fcfs)})),
            (Starts{0, 100, 110, 110}));
  // Backfilled: the third ends before the second's reservation at 100, the fourth doesn't.
  EXPECT_EQ(starts_s(simulate(jobs, machines, {.scheduling = with(fcfs, WhenBlocked::kBackfill)})),
            (Starts{0, 100, 2, 110}));
  // Skipping lets the fourth delay the second.
  EXPECT_EQ(starts_s(simulate(jobs, machines, {.scheduling = with(fcfs, WhenBlocked::kSkip)})),
            (Starts{0, 552, 2, 52}));
}

TEST(Simulate, ABackfilledJobMayOutliveTheReservationOnOtherMachines) {
  // The second job needs all of the larger machine; the smaller one stays free for the third.
  const std::vector<Job> jobs = {make_job(0, 100, 3), make_job(1, 10, 4), make_job(2, 500, 2)};
  const auto machines = machines_of({4, 2});
  EXPECT_EQ(starts_s(simulate(
                jobs, machines,
                {.scheduling = with(QueueOrder::kFirstComeFirstServed, WhenBlocked::kBackfill)})),
            (Starts{0, 100, 2}));
}

TEST(Simulate, TheShortestJobGoesFirst) {
  const std::vector<Job> jobs = {make_job(0, 10, 1), make_job(1, 30, 1), make_job(2, 20, 1)};
  EXPECT_EQ(
      starts_s(simulate(jobs, machines_of({1}), {.scheduling = with(QueueOrder::kShortestJob)})),
      (Starts{0, 30, 10}));
}

TEST(Simulate, PreemptionKeepsProgressAndPaysForTheRestart) {
  std::vector<Job> jobs = {make_job(0, 100, 1), make_job(10, 20, 1)};
  jobs[0].restart_us = 5 * kSecond;
  Scheduling scheduling = with(QueueOrder::kShortestRemaining);
  scheduling.preempts = true;
  const Replay replay = simulate(jobs, machines_of({1}), {.scheduling = scheduling});
  EXPECT_EQ(replay.jobs[1].end_us, 30 * kSecond);
  EXPECT_EQ(replay.jobs[0].end_us, 125 * kSecond);  // 10 + 20 of the other + 5 + 90
  EXPECT_EQ(replay.jobs[0].interruptions, 1u);
  EXPECT_EQ(replay.jobs[0].held_us, 105 * kSecond);
  EXPECT_EQ(replay.restart_milli_gpu_us, Int128{5} * kSecond * 1000);
}

TEST(Simulate, FairQueuesServeTheTeamWithLessFirst) {
  // Team a has submitted everything first; b comes later and still gets every second GPU. Equal
  // teams go by who waits longer.
  std::vector<Job> jobs;
  for (int i = 0; i < 8; ++i) {
    jobs.push_back(make_job(i < 4 ? 0 : 1, 100, 1));
    jobs.back().team = i < 4 ? "a" : "b";
  }
  const auto replay =
      simulate(jobs, machines_of({2}), {.scheduling = with(QueueOrder::kMaxMinFair)});
  EXPECT_EQ(starts_s(replay), (Starts{0, 0, 100, 200, 100, 200, 300, 300}));
  // b's weight of 3 gives it three of four GPUs as soon as they are free.
  Scheduling weighted = with(QueueOrder::kMaxMinFair);
  weighted.team_weights = {{"b", 3}};
  EXPECT_EQ(starts_s(simulate(jobs, machines_of({4}), {.scheduling = weighted})),
            (Starts{0, 0, 0, 0, 100, 100, 100, 100}));
}

TEST(Simulate, AJobThatTheEmptyClusterCannotHoldNeverStarts) {
  const std::vector<Job> jobs = {make_job(0, 10, 9), make_job(0, 10, 6), make_job(0, 10, 2)};
  const Replay replay = simulate(jobs, machines_of({4, 4}), {});
  EXPECT_EQ(starts_s(replay), (Starts{-1, 0, 0}));  // 6 = 4 + 2
}

TEST(Simulate, AMachineThatIsTakenBackCostsWhatNoCheckpointSaved) {
  // One machine, taken back once within the first hour and away for 10 s. What the job did since
  // its last checkpoint is lost; it goes on after a restart of 5 s.
  std::vector<Job> jobs = {make_job(0, 7200, 4)};
  jobs[0].restart_us = 5 * kSecond;
  const auto machines = machines_of({4});
  Spot spot{.reclaimed_per_hour = kReclaimParts,
            .replaced_after_us = 10 * kSecond,
            .checkpoint_every_us = 60 * kSecond,
            .until_us = 3600 * kSecond,
            .seed = 7};
  const auto reclaims = draw_reclaims(machines, spot);
  ASSERT_EQ(reclaims.size(), 1u);
  const std::int64_t at = reclaims.front().at_us;
  const std::int64_t lost = at % (60 * kSecond);
  const Replay replay = simulate(jobs, machines, {.spot = spot, .keep_runs = true});
  EXPECT_EQ(replay.jobs[0].end_us, 7200 * kSecond + lost + 10 * kSecond + 5 * kSecond);
  EXPECT_EQ(replay.jobs[0].interruptions, 1u);
  EXPECT_TRUE(replay.lost_milli_gpu_us == Int128{4000} * lost);
  EXPECT_TRUE(replay.restart_milli_gpu_us == Int128{4000} * 5 * kSecond);
  EXPECT_TRUE(replay.unavailable_milli_gpu_us == Int128{4000} * 10 * kSecond);
  EXPECT_TRUE(replay.idle_milli_gpu_us == 0);
  // Without checkpoints all of it is lost.
  spot.checkpoint_every_us = 0;
  EXPECT_EQ(simulate(jobs, machines, {.spot = spot}).jobs[0].end_us,
            7200 * kSecond + at + 10 * kSecond + 5 * kSecond);
  // Other models stay.
  spot.models = 2;
  EXPECT_EQ(simulate(jobs, machines, {.spot = spot}).jobs[0].end_us, 7200 * kSecond);
}

TEST(Simulate, EveryRulePlacesOnMachinesWhoseCpuIsNotKnown) {
  // An unknown capacity limits nobody: it is 2^60 of everything.
  std::vector<Machine> machines = machines_of({8, 8});
  for (Machine& machine : machines) {
    machine.cpu_milli = std::uint64_t{1} << 60;
    machine.memory_mib = std::uint64_t{1} << 60;
  }
  std::vector<Job> jobs = {make_job(0, 10, 8), make_job(0, 10, 2), make_job(1, 10, 1)};
  for (Job& job : jobs) job.request.cpu_milli = 16'000;
  for (int rule = 0; rule < 8; ++rule) {
    Scheduling scheduling;
    scheduling.placement = static_cast<PlacementRule>(rule);
    EXPECT_EQ(starts_s(simulate(jobs, machines, {.scheduling = scheduling})), (Starts{0, 0, 1}))
        << to_text(scheduling.placement);
  }
}

// Random worlds under every policy.
class RandomWorlds : public testing::TestWithParam<std::uint64_t> {};

struct World {
  std::vector<Job> jobs;
  std::vector<Machine> machines;
};

World make_world(SeededRandom& random) {
  World world;
  const std::uint64_t machines = 1 + random.below(5);
  for (std::uint64_t i = 0; i < machines; ++i) {
    world.machines.push_back({.model = static_cast<std::uint32_t>(random.below(2)),
                              .gpus = static_cast<std::uint32_t>(random.below(9)),
                              .cpu_milli = 1000 * random.below(65),
                              .memory_mib = 1024 * random.below(257)});
  }
  const std::uint64_t jobs = 1 + random.below(40);
  for (std::uint64_t i = 0; i < jobs; ++i) {
    Job& job = world.jobs.emplace_back();
    job.team = std::string(1, static_cast<char>('a' + random.below(3)));
    job.submit_us = static_cast<std::int64_t>(random.below(50)) * kSecond;
    job.work_us = static_cast<std::int64_t>(1 + random.below(30 * kSecond));
    if (random.below(2) == 0) {
      job.estimate_us = static_cast<std::int64_t>(1 + random.below(60 * kSecond));
    }
    job.restart_us = static_cast<std::int64_t>(random.below(3)) * kSecond;
    job.priority = static_cast<std::int64_t>(random.below(3));
    const std::uint64_t kind = random.below(4);
    if (kind == 0) job.request.gpu_milli = static_cast<std::uint32_t>(1 + random.below(999));
    if (kind > 1) job.request.gpus = static_cast<std::uint32_t>(1 + random.below(12));
    job.request.cpu_milli = 500 * random.below(9);
    job.request.memory_mib = 512 * random.below(9);
    if (random.below(3) == 0) job.request.models = 1 + random.below(3);
  }
  return world;
}

Scheduling make_policy(SeededRandom& random) {
  Scheduling policy;
  policy.order = static_cast<QueueOrder>(random.below(7));
  policy.when_blocked = static_cast<WhenBlocked>(random.below(3));
  policy.placement = static_cast<PlacementRule>(random.below(8));
  policy.preempts = !is_fair(policy.order) && random.below(2) == 0;
  if (random.below(4) == 0) policy.restart_cost = RestartCost::kEveryEvent;
  policy.half_life_us = 20 * kSecond;
  policy.seed = random.below(100);
  return policy;
}

TEST(Simulate, JobsStartInTheirPartOfTheDayOnly) {
  constexpr std::int64_t kHour = 3600 * kSecond;
  // From 20:00 to 06:00; the replay begins at 10:00.
  Scheduling scheduling = with(QueueOrder::kFirstComeFirstServed, WhenBlocked::kSkip);
  scheduling.admission.windows["night"] = {.from_minute = 20 * 60, .to_minute = 6 * 60};
  scheduling.admission.begin_of_day_us = 10 * kHour;
  std::vector<Job> jobs = {make_job(0, 3600, 1), make_job(0, 3600, 1), make_job(15 * 3600, 60, 1),
                           make_job(21 * 3600, 60, 1)};
  for (const std::size_t job : {0u, 2u, 3u}) jobs[job].team = "night";
  const auto machines = machines_of({4});
  const Replay replay = simulate(jobs, machines, {.scheduling = scheduling});
  // At 20:00; at once, since the team is another one; at once at 01:00; at 07:00 it waits for
  // 20:00.
  EXPECT_EQ(starts_s(replay), (Starts{10 * 3600, 0, 15 * 3600, 34 * 3600}));
}

TEST(Simulate, TeamsBorrowWhatOthersLeaveOfTheirQuotas) {
  Scheduling scheduling = with(QueueOrder::kFirstComeFirstServed, WhenBlocked::kSkip);
  scheduling.admission.quotas["a"] = {.milli_gpus = 2000, .borrowed_milli_max = 1000};
  scheduling.admission.quotas["b"] = {.milli_gpus = 4000};
  std::vector<Job> jobs;
  for (int i = 0; i < 4; ++i) {
    jobs.push_back(make_job(0, 100, 1));
    jobs.back().team = "a";
  }
  jobs.push_back(make_job(10, 100, 4));  // b's own quota is lent out by one
  jobs.back().team = "b";
  jobs.push_back(make_job(0, 100, 9));  // more than all quotas
  jobs.back().team = "b";
  const auto machines = machines_of({16});
  const Replay replay = simulate(jobs, machines, {.scheduling = scheduling});
  // Two of its own and one borrowed; the fourth and b's job wait for them to end, b's gets the room
  // that the fourth leaves only after it.
  EXPECT_EQ(starts_s(replay), (Starts{0, 0, 0, 100, 100, -1}));
}

TEST(Simulate, JobsThatAQuotaRefusesAreNotAmongThoseTriedBehindTheFirst) {
  Scheduling scheduling = with(QueueOrder::kFirstComeFirstServed, WhenBlocked::kSkip);
  scheduling.depth = 1;
  scheduling.admission.quotas["a"] = {.milli_gpus = 1000, .borrowed_milli_max = 0};
  scheduling.admission.quotas["b"] = {.milli_gpus = 100'000};
  std::vector<Job> jobs = {make_job(0, 100, 4), make_job(0, 100, 1), make_job(1, 10, 8),
                           make_job(2, 10, 1),  make_job(2, 10, 1),  make_job(3, 10, 1),
                           make_job(3, 10, 4),  make_job(3, 10, 1)};
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    jobs[i].team = i == 1 || i == 3 || i == 4 ? "a" : "b";
  }
  const auto machines = machines_of({8});
  const Replay replay = simulate(jobs, machines, {.scheduling = scheduling});
  // a holds all of its quota, so its jobs of second 2 are passed over, and b's of second 3 is the
  // one that is tried. Behind that, the one of 4 GPUs is tried and does not fit, and from then on
  // none behind it is: the last one waits for the first at 100.
  EXPECT_EQ(starts_s(replay), (Starts{0, 0, 100, 110, 120, 3, 110, 110}));
}

TEST(Simulate, AnOutageInterruptsAndEnds) {
  const std::vector<Job> jobs = {make_job(0, 1000, 2), make_job(0, 1000, 2)};
  const auto machines = machines_of({2, 2});
  Spot spot;
  spot.checkpoint_every_us = 300 * kSecond;
  spot.planned = {{.at_us = 700 * kSecond, .machine = 1, .away_us = 500 * kSecond}};
  const Replay replay = simulate(jobs, machines, {.spot = spot, .keep_runs = true});
  EXPECT_EQ(replay.jobs[0].end_us, 1000 * kSecond);
  // Its last checkpoint was at 600; it goes on at 1000, on the other machine.
  EXPECT_EQ(replay.jobs[1].end_us, 1400 * kSecond);
  EXPECT_EQ(replay.unavailable_milli_gpu_us, Int128{2000} * 500 * kSecond);
  EXPECT_EQ(replay.lost_milli_gpu_us, Int128{2000} * 100 * kSecond);
}

Spot make_spot(SeededRandom& random) {
  Spot spot;
  if (random.below(3) == 0) {
    spot.planned.push_back({.at_us = static_cast<std::int64_t>(random.below(60)) * kSecond,
                            .machine = 0,
                            .away_us = static_cast<std::int64_t>(random.below(40)) * kSecond});
  }
  if (random.below(2) == 0) return spot;
  spot.reclaimed_per_hour = kReclaimParts;  // each machine once, within the hour
  spot.models = random.below(4);
  spot.replaced_after_us = static_cast<std::int64_t>(random.below(3)) * 7 * kSecond;
  spot.checkpoint_every_us = static_cast<std::int64_t>(random.below(3)) * 4 * kSecond;
  spot.until_us = 90 * kSecond + static_cast<std::int64_t>(random.below(2)) * 3600 * kSecond;
  spot.seed = random.below(1000);
  return spot;
}

// Nobody holds more than a machine has, at any moment.
void check_capacity(const World& world, const Replay& replay) {
  struct Change {
    std::int64_t at_us;
    bool takes;
    const Share* share;
  };
  std::vector<Change> changes;
  for (const JobRun& run : replay.runs) {
    for (const Share& share : run.shares) {
      changes.push_back({run.begin_us, true, &share});
      changes.push_back({run.end_us, false, &share});
    }
  }
  std::stable_sort(changes.begin(), changes.end(), [](const Change& a, const Change& b) {
    return a.at_us != b.at_us ? a.at_us < b.at_us : a.takes < b.takes;
  });
  ClusterState cluster(world.machines);
  for (const Change& change : changes) {
    // take() checks that what it takes is free.
    change.takes ? cluster.take(*change.share) : cluster.give_back(*change.share);
  }
  EXPECT_EQ(cluster.free_milli_gpus(), cluster.capacity_milli_gpus());
}

TEST(Reclaims, AnOutageOfAMachineThatIsAwayKeepsItAway) {
  const std::vector<Machine> machines(2);
  Spot spot;
  spot.planned = {{.at_us = 70, .machine = 0, .away_us = 240},
                  {.at_us = 60, .machine = 0, .away_us = 20},
                  {.at_us = 65, .machine = 1, .away_us = 5},
                  {.at_us = 75, .machine = 0, .away_us = 10},
                  {.at_us = 310, .machine = 0, .away_us = 1}};
  const std::vector<Reclaim> expected = {{.at_us = 60, .machine = 0, .away_us = 250},
                                         {.at_us = 65, .machine = 1, .away_us = 5},
                                         {.at_us = 310, .machine = 0, .away_us = 1}};
  EXPECT_EQ(all_reclaims(machines, spot), expected);
}

std::vector<std::int64_t> ends_s(const Replay& replay) {
  std::vector<std::int64_t> ends;
  for (const PowerSpan& span : replay.powered) {
    ends.push_back(span.end_us ? *span.end_us / kSecond : -1);
  }
  return ends;
}

TEST(NodePools, AMachineStartsForAJobAndStopsWithoutOne) {
  // One of two machines is always on. The second job finds it full, and waits 60 s for the other
  // one, which stops 30 s after it.
  const std::vector<Job> jobs = {make_job(0, 1000, 4), make_job(10, 100, 4), make_job(20, 5, 1)};
  const Replay replay = simulate(
      jobs, machines_of({4, 4}),
      {.pools = {
           {.machines = {0, 1}, .least = 1, .start_us = 60 * kSecond, .kept_us = 30 * kSecond}}});
  EXPECT_EQ(starts_s(replay), (Starts{0, 70, 170}));  // nobody overtakes
  EXPECT_EQ(ends_s(replay), (Starts{-1, 205}));
  EXPECT_EQ(replay.machine_starts, 1u);
  const Int128 second = Int128{kSecond} * 4000;
  EXPECT_EQ(replay.starting_milli_gpu_us, 60 * second);
  EXPECT_EQ(replay.off_milli_gpu_us, (10 + 1000 - 205) * second);
}

TEST(NodePools, JobsShareWhatStartsForThem) {
  // Four jobs of one GPU: one machine for all; the fifth needs another one.
  std::vector<Job> jobs(5, make_job(0, 100, 1));
  const NodePool pool{
      .machines = {0, 1, 2}, .least = 0, .start_us = 60 * kSecond, .kept_us = 30 * kSecond};
  const Replay replay = simulate(
      jobs, machines_of({4, 4, 4}),
      {.scheduling = with(QueueOrder::kFirstComeFirstServed, WhenBlocked::kSkip), .pools = {pool}});
  EXPECT_EQ(starts_s(replay), (Starts{60, 60, 60, 60, 60}));
  EXPECT_EQ(ends_s(replay), (Starts{190, 190}));
  EXPECT_EQ(replay.never_on, std::vector<std::uint32_t>{2});
}

TEST(NodePools, AGangGetsAllItsMachinesAndKeepsThem) {
  // Eight GPUs are two machines. The first is on and idle: it would stop at 10 s, before the other
  // one is there, if the gang did not wait for it.
  const NodePool pool{
      .machines = {0, 1, 2}, .least = 0, .start_us = 60 * kSecond, .kept_us = 10 * kSecond};
  const std::vector<Job> jobs = {make_job(0, 20, 1), make_job(85, 100, 8)};
  const Replay replay =
      simulate(jobs, machines_of({4, 4, 4}),
               {.scheduling = with(QueueOrder::kFirstComeFirstServed, WhenBlocked::kBackfill),
                .pools = {pool}});
  EXPECT_EQ(starts_s(replay), (Starts{60, 145}));
  EXPECT_EQ(ends_s(replay), (Starts{255, 255}));
}

TEST(SpillOver, WhoHasWaitedGoesElsewhere) {
  // Two places of one machine each. The second job finds its place full, and leaves it after 60 s;
  // the third has no other place; the fourth fits nowhere at home, and leaves at once.
  std::vector<Machine> machines = machines_of({4, 8});
  machines[1].model = 1;
  std::vector<Job> jobs = {make_job(0, 1000, 4), make_job(10, 20, 4), make_job(20, 5, 1),
                           make_job(30, 5, 8)};
  for (Job& job : jobs) job.request.models = 1;
  jobs[1].elsewhere = 1;
  jobs[3].elsewhere = 1;
  const SpillOver spill_over{.after_us = 60 * kSecond, .places = {{2}}};
  const Replay replay =
      simulate(jobs, machines,
               {.scheduling = with(QueueOrder::kFirstComeFirstServed, WhenBlocked::kSkip),
                .spill_over = spill_over});
  EXPECT_EQ(starts_s(replay), (Starts{0, 70, 1000, 30}));
}

TEST_P(RandomWorlds, KeepTheirPromises) {
  SeededRandom random(GetParam());
  for (int i = 0; i < 40; ++i) {
    const World world = make_world(random);
    const Scheduling policy = make_policy(random);
    const Spot spot = policy.preempts ? Spot() : make_spot(random);
    const Replay replay = simulate(world.jobs, world.machines,
                                   {.scheduling = policy, .spot = spot, .keep_runs = true});
    check_capacity(world, replay);
    std::map<std::uint32_t, std::int64_t> held;
    std::map<std::uint32_t, std::int64_t> worked;
    Int128 milli_gpu_us = 0;
    for (const JobRun& run : replay.runs) {
      held[run.job] += run.end_us - run.begin_us;
      worked[run.job] += run.end_us - run.begin_us - run.restart_us - run.lost_us;
      std::uint64_t gpus = 0;
      for (const Share& share : run.shares) {
        gpus += static_cast<std::uint64_t>(std::popcount(share.gpu_mask)) * share.gpu_milli;
      }
      ASSERT_EQ(gpus, world.jobs[run.job].request.milli_gpus());
      milli_gpu_us += static_cast<Int128>(gpus) * (run.end_us - run.begin_us);
    }
    EXPECT_TRUE(milli_gpu_us == replay.held_milli_gpu_us);
    for (std::uint32_t job = 0; job < world.jobs.size(); ++job) {
      const JobResult& result = replay.jobs[job];
      if (!result.first_start_us) {
        EXPECT_EQ(held.count(job), 0u);
        continue;
      }
      EXPECT_GE(*result.first_start_us, world.jobs[job].submit_us);
      EXPECT_EQ(held[job], result.held_us);
      if (!policy.preempts || policy.restart_cost == RestartCost::kOnResume) {
        EXPECT_EQ(worked[job], world.jobs[job].work_us);
      }
      // All of the work, and nothing more unless it was interrupted or each event costs it.
      EXPECT_GE(result.held_us, world.jobs[job].work_us);
      if ((!policy.preempts && result.interruptions == 0) ||
          (result.interruptions == 0 && policy.restart_cost == RestartCost::kOnResume)) {
        EXPECT_EQ(result.held_us, world.jobs[job].work_us);
      }
    }
    // The same again, to the microsecond.
    const Replay again = simulate(world.jobs, world.machines,
                                  {.scheduling = policy, .spot = spot, .keep_runs = true});
    EXPECT_EQ(starts_s(again), starts_s(replay));
    EXPECT_EQ(again.end_us, replay.end_us);
    EXPECT_TRUE(again.idle_milli_gpu_us == replay.idle_milli_gpu_us);
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomWorlds, testing::Range<std::uint64_t>(1, 26));

}  // namespace
}  // namespace pennyweight::replay
