// Polls of programs that print prepared answers: what is reported, once, and after failures,
// unconfirmed facts and restarts.
#include "ingest/schedulers/slurm/poller.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace pennyweight::slurm {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

constexpr std::int64_t kStart = 1'795'294'086;
const Instant kBegin = from_unix_seconds(kStart);

// A folder with the three programs' answers; a missing answer is a program that fails.
class Slurm {
 public:
  Slurm() : folder_(std::filesystem::path(testing::TempDir()) / unique_name()) {
    std::filesystem::create_directories(folder_);
    nodes("NodeName=n1 CPUTot=8 Gres=gpu:a100:4 State=IDLE\n");
    jobs("No jobs in the system\n");
    ended("");
  }
  ~Slurm() { std::filesystem::remove_all(folder_); }
  void nodes(const std::string& text) { write("node", text); }
  void jobs(const std::string& text) { write("job", text); }
  void ended(const std::string& rows) {
    std::string text =
        "JobID|Account|User|State|Start|End|ElapsedRaw|Suspended|AllocTRES|NodeList|JobName\n" +
        rows;
    for (char& c : text) {
      if (c == '|') c = '\x1f';
    }
    write("sacct", text);
  }
  void fail(const std::string& program) { std::filesystem::remove(folder_ / program); }
  std::string asked() const {
    std::ifstream in(folder_ / "asked");
    return {std::istreambuf_iterator<char>(in), {}};
  }
  PollerOptions options() const {
    const std::string here = folder_.string();
    return {
        .cluster = ClusterId("lab"),
        .slurm_cluster = "",
        .sacct = {"sh", "-c",
                  "echo \"$@ $TZ $SLURM_TIME_FORMAT\" >>" + here + "/asked; cat " + here + "/sacct",
                  "sacct"},
        .scontrol = {"sh", "-c", "cat " + here + "/$2", "scontrol"},
        .environment = {"PATH=/usr/bin:/bin"},
        .zone = *TimeZone::parse("Europe/Berlin"),
        .since = kBegin - std::chrono::hours(1)};
  }

 private:
  static std::string unique_name() {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    return std::string("slurm_poller_") + test->name() + std::to_string(getpid());
  }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
  }
  const std::filesystem::path folder_;
};

std::string running(std::string_view ran) {
  return "JobId=7 JobName=train\n   UserId=ada(5) GroupId=g(0)\n   Priority=1 Nice=0 Account=nlp "
         "QOS=normal\n   JobState=RUNNING Reason=None\n   RunTime=" +
         std::string(ran) +
         " TimeLimit=UNLIMITED\n   StartTime=1795294086 EndTime=Unknown\n   NodeList=n1\n   "
         "TRES=cpu=1,node=1,gres/gpu=2\n     Nodes=n1 CPU_IDs=0 Mem=0 GRES=gpu:a100:2(IDX:1-2)\n";
}

const std::string kEnded =
    "7|nlp|ada|COMPLETED|1795294086|1795294386|300|00:00:00|cpu=1,gres/gpu=2|n1|a name\n";

std::optional<GpuId> gpu_at(const NodeId& node, std::uint32_t index) {
  return GpuId(node.text() + "-" + std::to_string(index));
}

std::string described(const PollResult& result) {
  std::string all;
  for (const Holding& holding : result.holdings) {
    all += holding.workload.text() + (holding.ended ? " ended " : " runs ") +
           std::to_string(holding.held.length_ms() / 1000) + " s on " + to_text(holding.placement) +
           "; ";
  }
  return all;
}

TEST(SlurmPoller, FromRunningToEnded) {
  Slurm slurm;
  SimulatedClock clock(kBegin + seconds(10));
  SlurmPoller poller(slurm.options(), clock, gpu_at);
  PollResult result = poller.poll();
  EXPECT_TRUE(result.failures.empty()) << result.failures[0].message;
  EXPECT_EQ(described(result), "");
  EXPECT_EQ(result.nodes.size(), 1u);
  EXPECT_TRUE(result.is_caught_up);
  poller.confirm_stored();

  slurm.jobs(running("00:00:30"));
  clock.advance(seconds(20));
  result = poller.poll();
  EXPECT_EQ(described(result), "7 runs 30 s on gpus n1-1,n1-2; ");
  EXPECT_EQ(result.running_jobs, 1u);
  EXPECT_TRUE(result.nodes.empty());
  poller.confirm_stored();

  slurm.jobs(running("00:01:00"));
  clock.advance(seconds(30));
  EXPECT_EQ(described(poller.poll()), "") << "reported again only every minute";
  poller.confirm_stored();
  slurm.jobs(running("00:01:30"));
  clock.advance(seconds(30));
  EXPECT_EQ(described(poller.poll()), "7 runs 90 s on gpus n1-1,n1-2; ");
  poller.confirm_stored();

  slurm.jobs("No jobs in the system\n");
  slurm.ended(kEnded);
  clock.advance(seconds(300));
  result = poller.poll();
  EXPECT_EQ(described(result), "7 ended 300 s on gpus n1-1,n1-2; ")
      << "with the place it was seen at";
  EXPECT_EQ(result.ended_jobs, 1u);
  poller.confirm_stored();
  EXPECT_EQ(described(poller.poll()), "") << "once";
}

// scontrol named the model and no devices; sacct, asked while scontrol fails, names neither.
TEST(SlurmPoller, AModelThatIsKnownStays) {
  Slurm slurm;
  SimulatedClock clock(kBegin + seconds(30));
  SlurmPoller poller(slurm.options(), clock, gpu_at);
  std::string job = running("00:00:30");
  job.resize(job.find("TRES="));
  slurm.jobs(job + "TRES=cpu=1,node=1,gres/gpu=2,gres/gpu:a100=2\n");
  PollResult result = poller.poll();
  ASSERT_EQ(result.holdings.size(), 1u);
  const Holding first = result.holdings[0];
  EXPECT_EQ(first.gpu_model, "a100");
  poller.confirm_stored();
  slurm.fail("job");
  slurm.ended("7|nlp|ada|RUNNING|1795294086|Unknown|90|00:00:00|cpu=1,gres/gpu=2|n1|train\n");
  clock.advance(seconds(90));
  result = poller.poll();
  ASSERT_EQ(result.holdings.size(), 1u);
  EXPECT_EQ(to_text(result.holdings[0].placement), to_text(first.placement));
  EXPECT_EQ(result.holdings[0].gpu_model, "a100");
}

// At first slurmdbd has a short task of an array under a number of its own, and no name.
TEST(SlurmPoller, AJobThatScontrolNeverShowedIsReadAgainBeforeItCounts) {
  Slurm slurm;
  SimulatedClock clock(kBegin + seconds(310));
  SlurmPoller poller(slurm.options(), clock, gpu_at);
  slurm.ended("9|nlp|ada|COMPLETED|1795294384|1795294386|2|00:00:00|gres/gpu=2|n1|allocation\n");
  EXPECT_EQ(described(poller.poll()), "");
  poller.confirm_stored();
  slurm.ended("8_1|nlp|ada|COMPLETED|1795294384|1795294386|2|00:00:00|gres/gpu=2|n1|sweep\n");
  clock.advance(seconds(60));
  const PollResult later = poller.poll();
  EXPECT_EQ(described(later), "8_1 ended 2 s on nodes n1=2; ");
  EXPECT_EQ(later.holdings.at(0).labels.find("job_name"), "sweep");
  poller.confirm_stored();
  EXPECT_EQ(described(poller.poll()), "");
}

TEST(SlurmPoller, WhatWasNotKeptIsToldAgain) {
  Slurm slurm;
  SimulatedClock clock(kBegin + seconds(400));
  SlurmPoller poller(slurm.options(), clock, gpu_at);
  slurm.ended(kEnded + "8|nlp|ada|COMPLETED|x|y|1|00:00:00||n1|bad\n");
  const PollResult first = poller.poll();
  EXPECT_EQ(described(first), "7 ended 300 s on nodes n1=2; ") << "never seen while it ran";
  EXPECT_EQ(first.rejected.size(), 1u);
  const PollResult again = poller.poll();
  EXPECT_EQ(described(again), described(first));
  EXPECT_EQ(again.nodes.size(), 1u);
  EXPECT_EQ(again.rejected.size(), 1u);
  poller.confirm_stored();
  const PollResult after = poller.poll();
  EXPECT_EQ(described(after), "");
  EXPECT_TRUE(after.nodes.empty());
  EXPECT_TRUE(after.rejected.empty()) << "a bad row is reported once a day";
}

TEST(SlurmPoller, EachProgramMayFail) {
  Slurm slurm;
  SimulatedClock clock(kBegin + seconds(30));
  SlurmPoller poller(slurm.options(), clock, gpu_at);
  slurm.jobs(running("00:00:30"));
  poller.poll();
  poller.confirm_stored();

  // Without scontrol, sacct reports what runs; the placement is remembered.
  slurm.fail("job");
  slurm.fail("node");
  slurm.ended("7|nlp|ada|RUNNING|1795294086|Unknown|90|00:00:00|cpu=1,gres/gpu=2|n1|a name\n");
  clock.advance(seconds(60));
  PollResult result = poller.poll();
  ASSERT_EQ(result.failures.size(), 2u);
  EXPECT_TRUE(result.failures[0].message.starts_with("running jobs are not known by GPU: sh: "));
  EXPECT_TRUE(result.failures[1].message.starts_with("the nodes are not known: sh: "));
  EXPECT_EQ(described(result), "7 runs 90 s on gpus n1-1,n1-2; ");
  poller.confirm_stored();

  // Without sacct the time does not count as read.
  slurm.fail("sacct");
  clock.advance(minutes(30));
  result = poller.poll();
  EXPECT_EQ(result.failures.size(), 3u);
  EXPECT_FALSE(result.is_caught_up);
  poller.confirm_stored();
  slurm.ended(kEnded);
  clock.advance(minutes(5));
  EXPECT_EQ(described(poller.poll()), "7 ended 300 s on gpus n1-1,n1-2; ");
  const std::string asked = slurm.asked();
  EXPECT_NE(asked.find("--starttime=now-2700 --endtime=now"), std::string::npos)
      << "ten minutes before the last success, 35 minutes ago: " << asked;
  EXPECT_NE(asked.find(" Europe/Berlin %s\n"), std::string::npos) << "the zone and epoch seconds";
}

TEST(SlurmPoller, ARestartGoesOn) {
  Slurm slurm;
  SimulatedClock clock(kBegin + seconds(30));
  std::string saved;
  {
    SlurmPoller poller(slurm.options(), clock, gpu_at);
    slurm.jobs(running("00:00:30"));
    slurm.nodes("NodeName=n1 Gres=gpu:a100:4 State=DOWN\n   Reason=a\tb 100% [root@1795294100]\n");
    poller.poll();
    poller.confirm_stored();
    saved = poller.save();
  }
  slurm.jobs("No jobs in the system\n");
  slurm.ended(kEnded);
  clock.advance(seconds(400));
  SlurmPoller poller(slurm.options(), clock, gpu_at);
  ASSERT_TRUE(poller.restore(saved).has_value());
  EXPECT_EQ(poller.save(), saved) << "all of it comes back";
  const PollResult result = poller.poll();
  EXPECT_EQ(described(result), "7 ended 300 s on gpus n1-1,n1-2; ");
  EXPECT_TRUE(result.nodes.empty()) << "an unchanged node";
  poller.confirm_stored();
  saved = poller.save();

  SlurmPoller third(slurm.options(), clock, gpu_at);
  ASSERT_TRUE(third.restore(saved).has_value());
  EXPECT_EQ(described(third.poll()), "") << "it is not reported differently";

  for (const std::string& bad : std::vector<std::string>{
           std::string(), std::string("what"), saved.substr(0, saved.size() / 2),
           "pennyweight slurm poller 1\nsettled\tx\nend\n",
           "pennyweight slurm poller 1\nrunning\t1\t2\tnowhere\t\t5\nend\n"}) {
    EXPECT_FALSE(third.restore(bad).has_value()) << bad;
  }
}

// Wall-clock times in spite of the environment, as through a wrapper that loses it.
TEST(SlurmPoller, SummerTimeEnds) {
  Slurm slurm;
  SimulatedClock clock(*parse_instant("2026-10-25T03:00:00Z"));
  PollerOptions options = slurm.options();
  options.since = *parse_instant("2026-10-24T00:00:00Z");
  SlurmPoller poller(options, clock, gpu_at);
  const std::string rest = "|00:00:00|cpu=1,gres/gpu=1|n1|a name\n";
  slurm.ended("1|nlp|ada|COMPLETED|2026-10-25T02:30:00|2026-10-25T02:40:00|4200" + rest +
              "2|nlp|ada|COMPLETED|1792888200|1792892400|4200" + rest +
              "3|nlp|ada|COMPLETED|2026-10-25T02:30:00+0200|2026-10-25T02:40:00+0100|4200" + rest);
  const PollResult result = poller.poll();
  ASSERT_EQ(result.holdings.size(), 3u);
  for (const Holding& holding : result.holdings) {
    EXPECT_EQ(to_text(holding.held), "2026-10-25T00:30:00Z/2026-10-25T01:40:00Z")
        << holding.workload.text();
  }
}

}  // namespace
}  // namespace pennyweight::slurm
