// Real and public clusters, whole: the GPU-hours they must give, to each printed digit.
#include <gtest/gtest.h>

#include "ingest/schedulers/slurm/sacct_testing.h"

namespace pennyweight::slurm {
namespace {

std::string data(std::string_view name) {
  return file_text(fmt::format("{}/slurm/{}", TEST_DATA, name));
}

TEST(SacctTraces, PhillyByVirtualCluster) {
  const std::string text = file_text(PROJECT_ROOT "/data/demo/philly-sacct.txt");
  const SacctReading read = read_text(text, options_for("philly"));
  ASSERT_EQ(read.error, "");
  EXPECT_EQ(read.counts, (SacctCounts{.jobs = 24134, .held = 24134, .holdings = 24134}));
  EXPECT_EQ(hours(total_gpu_time(read.holdings)), "174470.6350");

  std::map<std::string, GpuTime, std::less<>> by_account;
  for (const Holding& holding : read.holdings) {
    by_account[std::string(*holding.labels.find("account"))] += total_gpu_time(holding);
  }
  std::map<std::string, std::string> texts;
  for (const auto& [account, time] : by_account) texts[account] = hours(time);
  const std::map<std::string, std::string> want = {
      {"7f04ca", "42565.6539"}, {"ee9e8c", "30591.9619"}, {"2869ce", "25000.7344"},
      {"6c71a0", "23190.5019"}, {"6214e9", "19460.6892"}, {"0e4a51", "17131.5683"},
      {"b436b2", "5209.2019"},  {"103959", "4879.4725"},  {"11cb48", "2982.3294"},
      {"ed69ec", "2634.9936"},  {"e13805", "823.5278"}};
  EXPECT_EQ(texts, want);
}

TEST(SacctTraces, FourClustersOfSarc) {
  const struct {
    std::string_view file, cluster;
    std::uint64_t jobs, pending;
    std::string_view gpu_hours;
  } table[] = {
      {"sarc_fromage_1708819200.json", "fromage", 8, 1, "94.7600"},
      {"sarc_mila_1706227200.json", "mila", 7, 0, "10.7419"},
      {"sarc_raisin_1716595200.json", "raisin", 5, 1, "2.2483"},
      {"sarc_raisin_base_job.json", "raisin", 1, 0, "0.0000"},
  };
  for (const auto& row : table) {
    const SacctReading read = read_json(data(row.file), options_for(""));
    ASSERT_EQ(read.error, "") << row.file;
    EXPECT_EQ(read.counts.jobs, row.jobs) << row.file;
    EXPECT_EQ(read.counts.pending, row.pending) << row.file;
    EXPECT_EQ(read.counts.held, row.jobs - row.pending) << row.file;
    EXPECT_EQ(read.counts.rejected, 0u) << row.file;
    EXPECT_EQ(hours(total_gpu_time(read.holdings)), row.gpu_hours) << row.file;
    for (const Holding& holding : read.holdings) EXPECT_EQ(holding.cluster.text(), row.cluster);
  }
}

TEST(SacctTraces, RunningJobsAreHeldForAsLongAsTheyHaveRun) {
  const SacctReading read = read_json(data("sarc_fromage_1708819200.json"), options_for(""));
  EXPECT_EQ(read.counts.running, 4u);
  for (const Holding& holding : read.holdings) {
    if (holding.ended) continue;
    EXPECT_EQ(to_text(holding.held.end()), "2024-02-25T00:00:00Z");  // when the file was written
  }
}

// The three views of one real Slurm 22.05: with steps, without, and as JSON.
TEST(SacctTraces, ThreeViewsOfOneClusterAgree) {
  const SacctReading plain = read_text(data("sacct-all.psv"), options_for(""));
  const SacctReading steps = read_text(data("sacct-all-steps.psv"), options_for(""));
  const SacctReading json = read_json(data("sacct.json"), options_for(""));
  for (const SacctReading* read : {&plain, &steps, &json}) ASSERT_EQ(read->error, "");
  EXPECT_EQ(plain.counts, (SacctCounts{.jobs = 8, .held = 8, .holdings = 8}));
  const SacctCounts with_steps{.jobs = 8, .held = 8, .holdings = 8, .steps = 8, .used = 8};
  EXPECT_EQ(steps.counts, with_steps);
  EXPECT_EQ(json.counts, with_steps);

  const auto by_content = [](std::vector<Holding> holdings) {
    std::map<std::string, std::string> contents;
    for (const Holding& holding : holdings) {
      contents[holding.workload.text() + " " + holding.attempt] = to_text(content_hash(holding));
    }
    return contents;
  };
  EXPECT_EQ(by_content(plain.holdings), by_content(steps.holdings));
  EXPECT_EQ(by_content(plain.holdings), by_content(json.holdings));

  const auto counted = [](const std::vector<Outcome>& usage) {
    std::map<std::string, std::uint64_t> counts;
    for (const Outcome& one : usage) counts[one.workload.text() + " " + one.measure] = one.count;
    return counts;
  };
  auto used = counted(steps.usage);
  EXPECT_EQ(used, counted(json.usage));
  // TotalCPU 00:00.003 of the job, and mem=3096K of TRESUsageInTot of its step.
  EXPECT_EQ(used["1 cpu_used_core_ms"], 3U);
  EXPECT_EQ(used["1 memory_peak_kib"], 3096U);
}

// Slurm's own ElapsedRaw × GPUs of the eight jobs: 12×2 + 6 + 2 + 50 + 5 + 5 + 5 seconds; the job
// of 4 shards for 8 seconds holds no GPU.
TEST(SacctTraces, RealClusterEqualsElapsedTimesGpus) {
  const SacctReading read = read_text(data("sacct-all.psv"), options_for(""));
  EXPECT_EQ(total_gpu_time(read.holdings), CardShare::whole().over_ms(97'000));
  std::uint64_t shard_ms = 0;
  for (const Holding& holding : read.holdings) {
    if (!std::holds_alternative<Shard>(holding.device)) continue;
    EXPECT_EQ(holding.workload.text(), "4");
    shard_ms += device_count(holding) * holding.held.length_ms();
  }
  EXPECT_EQ(shard_ms, 4u * 8'000u);
}

TEST(SacctTraces, RealJobInFull) {
  const SacctReading read = read_text(data("sacct-all.psv"), options_for(""));
  Holding want(
      ClusterId("lab"), WorkloadId("1"),
      Interval(*parse_instant("2026-11-21T08:32:10Z"), *parse_instant("2026-11-21T08:32:22Z")),
      OnNodes{{{.node = NodeId("vm"), .devices = 2}}});
  want.attempt = "2026-11-21T08:32:10Z";
  want.gpu_model = "a100";
  want.cpu_milli = 1000;
  want.source = {.line = 2};
  for (const auto& [key, value] : std::initializer_list<std::pair<const char*, const char*>>{
           {"account", "proj-llm"},
           {"user", "root"},
           {"partition", "gpu"},
           {"qos", "normal"},
           {"job_name", "train-llm"},
           {"state", "COMPLETED"},
           {"submit_time", "2026-11-21T08:32:10Z"},
           {"exit_code", "0:0"}}) {
    ASSERT_TRUE(want.labels.set(key, value).has_value());
  }
  EXPECT_EQ(read.holdings.front(), want) << difference(read.holdings.front(), want);
  std::vector<std::string> ids;
  for (const Holding& holding : read.holdings) ids.push_back(holding.workload.text());
  EXPECT_EQ(ids, (std::vector<std::string>{"1", "2", "4", "5", "6", "3_0", "3_1", "3_2"}));
}

// However the file is cut into chunks, the same comes out.
TEST(SacctTraces, ChunksDoNotMatter) {
  const std::string text = data("sacct-all-steps.psv");
  const SacctReading whole = read_text(text, options_for(""));
  for (const std::size_t bytes : {1u, 7u, 1000u}) {
    const SacctReading read = read_text(text, options_for(""), bytes);
    EXPECT_EQ(read.counts, whole.counts);
    EXPECT_EQ(read.holdings, whole.holdings);
  }
}

}  // namespace
}  // namespace pennyweight::slurm
