// Running jobs as scontrol prints them: where they are, what they are called, and what must be
// refused.
#include "ingest/schedulers/slurm/scontrol_jobs.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "ingest/schedulers/slurm/gres_details.h"
#include "ingest/schedulers/slurm/sacct_testing.h"

namespace pennyweight::slurm {
namespace {

const Instant kShownAt = from_unix_seconds(1'795'294'091);

// Node n1 has four GPUs that are known, n2 has none.
std::optional<GpuId> listed_gpu(const NodeId& node, std::uint32_t index) {
  if (node != NodeId("n1") || index > 3) return std::nullopt;
  return GpuId(fmt::format("GPU-{}", index));
}

ScontrolJobs parse(std::string_view text, std::string_view zone = "UTC", Instant now = kShownAt) {
  SacctOptions options = options_for("lab");
  options.zone = *TimeZone::parse(zone);
  auto jobs = parse_scontrol_jobs(text, options, now, listed_gpu);
  EXPECT_TRUE(jobs.has_value()) << jobs.error().message;
  return std::move(*jobs);
}

// A running job as Slurm 22.05 prints it, without the lines that are not read.
std::string job(std::string_view tres, std::string_view places, std::string_view nodes = "n1",
                std::string_view name = "train", std::string_view state = "RUNNING",
                std::string_view start = "1795294086", std::string_view ran = "00:00:04") {
  return fmt::format(
      "JobId=12 JobName={}\n   UserId=games(5) GroupId=root(0) MCS_label=N/A\n"
      "   Priority=1 Nice=0 Account=proj-llm QOS=normal\n   JobState={} Reason=None "
      "Dependency=(null)\n   RunTime={} TimeLimit=01:00:00 TimeMin=N/A\n"
      "   StartTime={} EndTime=Unknown Deadline=N/A\n   SuspendTime=None SecsPreSuspend=0\n"
      "   Partition=gpu AllocNode:Sid=n0:1\n   NodeList={}\n   TRES={}\n{}\n\n",
      name, state, ran, start, nodes, tres, places);
}

TEST(ScontrolJobs, RealJobs) {
  const ScontrolJobs jobs = parse(file_text(TEST_DATA "/slurm/scontrol-job.txt"));
  EXPECT_TRUE(jobs.rejected.empty());
  EXPECT_EQ(jobs.running, 5u);
  EXPECT_EQ(jobs.others, 3u);
  EXPECT_EQ(jobs.on_gpus, 2u);
  std::map<std::string, Holding> by_id;
  for (const Holding& holding : jobs.holdings) by_id.emplace(holding.workload.text(), holding);
  ASSERT_EQ(by_id.size(), 5u);
  const Holding& two = by_id.at("1");
  EXPECT_EQ(two.placement, Placement(OnGpus{{GpuId("GPU-0"), GpuId("GPU-1")}}));
  EXPECT_EQ(two.gpu_model, "a100");
  EXPECT_EQ(two.attempt, to_text(two.held.begin())) << "as sacct's record will have it";
  EXPECT_FALSE(two.ended);
  EXPECT_EQ(two.held.length_ms(), 6000u);
  EXPECT_EQ(two.labels.find("account"), "proj-llm");
  EXPECT_EQ(two.labels.find("user"), "games");
  EXPECT_EQ(two.labels.find("job_name"), "two");
  EXPECT_EQ(by_id.at("2").device, Device(Shard{}));
  EXPECT_EQ(by_id.at("2").placement, Placement(OnNodes{{{NodeId("n1"), 4}}}));
  EXPECT_EQ(by_id.at("3_1").placement, Placement(OnGpus{{GpuId("GPU-3")}}));
  EXPECT_EQ(by_id.at("3_1").labels.find("project"), "x");
  EXPECT_EQ(by_id.at("3_2").placement, Placement(OnNodes{{{NodeId("n2"), 1}}}))
      << "of n2 no GPU is known";
  EXPECT_EQ(device_count(by_id.at("6")), 0u);
}

TEST(ScontrolJobs, CountsOfEachNode) {
  const auto placed = [](std::string_view tres, std::string_view places, std::string_view nodes) {
    const ScontrolJobs jobs = parse(job(tres, places, nodes));
    EXPECT_TRUE(jobs.rejected.empty());
    std::string all;
    for (const Holding& holding : jobs.holdings) {
      all += fmt::format("{} {} {}; ", to_text(holding.device), holding.gpu_model,
                         to_text(holding.placement));
    }
    return all;
  };
  EXPECT_EQ(placed("cpu=2,node=2,gres/gpu=4",
                   "     Nodes=n1 CPU_IDs=0 Mem=0 GRES=gpu:a100:1(IDX:3)\n"
                   "     Nodes=n2 CPU_IDs=0 Mem=0 GRES=gpu:a100:3(IDX:0-2)",
                   "n[1-2]"),
            "gpu a100 nodes n1=1,n2=3; ")
      << "not two and two";
  EXPECT_EQ(placed("cpu=2,node=2,gres/gpu=4",
                   "     Nodes=n[1-2] CPU_IDs=0 Mem=0 GRES=gpu:2(IDX:0,2)", "n[1-2]"),
            "gpu  nodes n1=2,n2=2; ");
  EXPECT_EQ(placed("cpu=2,node=2,gres/gpu=2",
                   "     Nodes=n1 CPU_IDs=0 Mem=0 GRES=gpu:2(IDX:0,2)\n"
                   "     Nodes=n2 CPU_IDs=0 Mem=0 GRES=",
                   "n[1-2]"),
            "gpu  nodes n1=2,n2=0; ")
      << "the node without GPUs stays";
  EXPECT_EQ(placed("gres/gpu=3,gres/gpu:a100=2,gres/gpu:a100_3g.20gb=1",
                   "     Nodes=n1 CPU_IDs=0 Mem=0 "
                   "GRES=gpu:a100:2(IDX:0-1),gpu:a100_3g.20gb:1(IDX:2),gpu:h100:0(IDX:)",
                   "n1"),
            "gpu a100 gpus GPU-0,GPU-1; mig 3g.20gb a100 nodes n1=1; ");
  // Where the lines don't add up, the total counts.
  EXPECT_EQ(placed("gres/gpu=3", "     Nodes=n1 CPU_IDs=0 Mem=0 GRES=gpu:2(IDX:0-1)", "n1"),
            "gpu  nodes n1=3; ");
  EXPECT_EQ(placed("gres/gpu=1", "     Nodes=n9 CPU_IDs=0 Mem=0 GRES=gpu:1(IDX:0)", "n1"),
            "gpu  nodes n1=1; ");
  EXPECT_EQ(placed("gres/gpu=1", "     Nodes=n1 CPU_IDs=0 Mem=0 GRES=gpu:1(IDX:9)", "n1"),
            "gpu  nodes n1=1; ")
      << "no GPU is known at that index";
}

TEST(ScontrolJobs, IdsAsSacctHasThem) {
  const auto id = [](std::string_view ids) {
    std::string text = job("cpu=1", "");
    text.replace(0, std::string_view("JobId=12").size(), ids);
    return parse(text).holdings.at(0).workload.text();
  };
  EXPECT_EQ(id("JobId=12"), "12");
  EXPECT_EQ(id("JobId=14 ArrayJobId=12 ArrayTaskId=7 ArrayTaskThrottle=2"), "12_7");
  EXPECT_EQ(id("JobId=13 HetJobId=12 HetJobOffset=1 HetJobIdSet=12-13"), "12+1");
}

TEST(ScontrolJobs, NamesCannotFeignOtherWords) {
  const ScontrolJobs named =
      parse(job("cpu=1", "", "n1", "x UserId=root(0) Account=other TRES=gres/gpu=8"));
  ASSERT_EQ(named.holdings.size(), 1u);
  EXPECT_EQ(named.holdings[0].labels.find("account"), "proj-llm");
  EXPECT_EQ(named.holdings[0].labels.find("user"), "games");
  EXPECT_EQ(device_count(named.holdings[0]), 0u);

  const ScontrolJobs broken = parse(job("cpu=1", "", "n1", "x\n   UserId=root(0) GroupId=root(0)"));
  EXPECT_TRUE(broken.holdings.empty());
  ASSERT_EQ(broken.rejected.size(), 1u);
  EXPECT_EQ(broken.rejected[0].column, "UserId");
  EXPECT_TRUE(broken.rejected[0].reason.starts_with("it appears twice and differs"));

  const ScontrolJobs twice = parse(job("cpu=1", "") + job("cpu=2", ""));
  EXPECT_TRUE(twice.holdings.empty());
  EXPECT_EQ(twice.rejected.size(), 2u);
}

TEST(ScontrolJobs, StatesAndSuspendedTime) {
  for (const std::string_view state :
       {"PENDING", "CONFIGURING", "COMPLETING", "COMPLETED", "CANCELLED", "REQUEUED", ""}) {
    const ScontrolJobs jobs = parse(job("gres/gpu=1", "", "n1", "x", state));
    EXPECT_TRUE(jobs.holdings.empty() && jobs.rejected.empty()) << state;
    EXPECT_EQ(jobs.others, 1u) << state;
  }
  std::string text = job("gres/gpu=1", "", "n1", "x", "SUSPENDED");
  const std::string_view none = "SuspendTime=None SecsPreSuspend=0";
  text.replace(text.find(none), none.size(), "SuspendTime=1795294090 SecsPreSuspend=4");
  const ScontrolJobs jobs = parse(text, "UTC", kShownAt + std::chrono::seconds(9));
  ASSERT_EQ(jobs.holdings.size(), 1u);
  EXPECT_EQ(jobs.holdings[0].held.length_ms(), 4000u);
  EXPECT_EQ(jobs.holdings[0].suspended_ms, 10'000u);
}

// On 2026-03-29 at 02:00 Berlin's clocks go to 03:00, on 2026-10-25 at 03:00 back to 02:00.
TEST(ScontrolJobs, SummerTimeBeginsAndEnds) {
  const auto begin = [](std::string_view start, std::string_view ran, std::string_view now) {
    const ScontrolJobs jobs = parse(job("gres/gpu=1", "", "n1", "x", "RUNNING", start, ran),
                                    "Europe/Berlin", *parse_instant(now));
    return jobs.holdings.empty() ? jobs.rejected.at(0).column : to_text(jobs.holdings.at(0).held);
  };
  EXPECT_EQ(begin("2026-03-29T01:30:00", "01:00:00", "2026-03-29T01:30:01Z"),
            "2026-03-29T00:30:00Z/2026-03-29T01:30:00Z");
  EXPECT_EQ(begin("2026-03-29T02:30:00", "01:00:00", "2026-03-29T01:30:01Z"), "StartTime")
      << "there is no such time";
  EXPECT_EQ(begin("2026-10-25T01:30:00", "03:00:00", "2026-10-25T02:30:01Z"),
            "2026-10-24T23:30:00Z/2026-10-25T02:30:00Z");
  // Half past two occurs twice: how long the job has run shows which one it was.
  EXPECT_EQ(begin("2026-10-25T02:30:00", "01:10:00", "2026-10-25T01:40:01Z"),
            "2026-10-25T00:30:00Z/2026-10-25T01:40:00Z");
  EXPECT_EQ(begin("2026-10-25T02:30:00", "00:10:00", "2026-10-25T01:40:01Z"),
            "2026-10-25T01:30:00Z/2026-10-25T01:40:00Z");
  EXPECT_EQ(begin("1792891800", "00:10:00", "2026-10-25T01:40:01Z"),
            "2026-10-25T01:30:00Z/2026-10-25T01:40:00Z")
      << "epoch seconds need no zone";
}

TEST(ScontrolJobs, BadJobsAreKeptAside) {
  const struct {
    std::string text, column;
  } table[] = {
      {job("cpu=x", ""), "TRES"},
      {job("cpu=1", "     Nodes=n1 CPU_IDs=0 Mem=0 GRES=gpu:2(IDX:1-0)"), "GRES"},
      {job("cpu=1", "     Nodes=n[1 CPU_IDs=0 Mem=0 GRES=gpu:1(IDX:0)"), "Nodes"},
      {job("cpu=1", "", "n1", "x", "RUNNING", "Unknown"), "StartTime"},
      {job("cpu=1", "", "n1", "x", "RUNNING", "99999999999"), "StartTime"},
      {job("cpu=1", "", "n1", "x", "RUNNING", "1795294086", "INVALID"), "RunTime"},
      {job("cpu=1", "", "n["), "NodeList"},
  };
  for (const auto& row : table) {
    const ScontrolJobs jobs = parse(row.text);
    ASSERT_EQ(jobs.rejected.size(), 1u) << row.column;
    EXPECT_EQ(jobs.rejected[0].column, row.column);
    EXPECT_EQ(jobs.rejected[0].line, 1u);
  }
  EXPECT_EQ(parse("").running, 0u);
  EXPECT_EQ(parse("No jobs in the system\n").running, 0u);
  EXPECT_FALSE(
      parse_scontrol_jobs("NodeName=n1\n", options_for("lab"), kShownAt, listed_gpu).has_value());
}

TEST(GresDetails, Entries) {
  const auto indexes = [](std::string_view text) {
    const auto details = parse_gres_details(text);
    if (!details) return std::string("refused");
    std::string all;
    for (const GresDetail& detail : *details) {
      all += fmt::format("{}:{}x{}[", detail.gres.name, detail.gres.type, detail.gres.count);
      for (const std::uint32_t index : detail.indexes) all += fmt::format(" {}", index);
      all += " ]";
    }
    return all;
  };
  EXPECT_EQ(indexes(""), "");
  EXPECT_EQ(indexes("(null)"), "");
  EXPECT_EQ(indexes("gpu:a100:2(IDX:0-1)"), "gpu:a100x2[ 0 1 ]");
  EXPECT_EQ(indexes("gpu:3(IDX:0,2-3),nic:1(IDX:0),shard:4(IDX:2)"),
            "gpu:x3[ 0 2 3 ]shard:x4[ 2 ]");
  EXPECT_EQ(indexes("gpu:h100:1(IDX:0),gpu:a100_3g.20gb:0(IDX:)"), "gpu:h100x1[ 0 ]");
  EXPECT_EQ(indexes("gpu:2"), "gpu:x2[ ]");
  EXPECT_EQ(indexes("gpu:1(IDX:N/A)"), "gpu:x1[ ]");
  for (const std::string_view bad : {"gpu", "gpu:a100:2(IDX:0-1", "gpu:2(IDX:1,0)", "gpu:2(IDX:0,)",
                                     "gpu:1(IDX:1024)", "gpu:1(IDX:-1)", "gpu:1(IDX:x)"}) {
    EXPECT_EQ(indexes(bad), "refused") << bad;
  }
}

}  // namespace
}  // namespace pennyweight::slurm
