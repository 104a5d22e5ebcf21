// sacct --parsable2, row by row: what each row becomes, and what must be refused.
#include <gtest/gtest.h>

#include "core/limits.h"
#include "ingest/schedulers/slurm/sacct_testing.h"
#include "ledger/task_count.h"

namespace pennyweight::slurm {
namespace {

constexpr std::string_view kTextHeader =
    "JobID|State|Start|End|ElapsedRaw|Suspended|AllocTRES|NodeList|Partition|Comment\n";

SacctOptions lab() { return options_for("lab"); }

SacctOptions lab_in(std::string_view zone) {
  SacctOptions options = lab();
  options.zone = *TimeZone::parse(zone);
  return options;
}

SacctReading rows(std::string_view text, const SacctOptions& options) {
  return read_text(std::string(kTextHeader) + std::string(text), options);
}

// "12/2026-03-01T00:00:00Z: 00:00/01:00 gpu [a100] nodes n1=2" …, one line a holding; then
// rejections.
std::string outcome(const SacctReading& read) {
  if (!read.error.empty()) return "error: " + read.error;
  std::string text;
  for (const Holding& holding : read.holdings) {
    text += fmt::format("{} {} {}{} {} [{}] {}\n", holding.workload.text(), holding.attempt,
                        to_text(holding.held), holding.ended ? "" : "…", to_text(holding.device),
                        holding.gpu_model, to_text(holding.placement));
  }
  for (const RejectedRow& row : read.rejected) {
    text += fmt::format("line {}: {}: {}\n", row.line, row.column, row.reason);
  }
  return text;
}

constexpr std::string_view kOneHour = "2026-03-01T00:00:00|2026-03-01T01:00:00|3600|00:00:00";

std::string with_tres(std::string_view id, std::string_view tres, std::string_view nodes) {
  return fmt::format("{}|COMPLETED|{}|{}|{}|gpu,long|\n", id, kOneHour, tres, nodes);
}

TEST(SacctText, Jobs) {
  const std::string held = "2026-03-01T00:00:00Z/2026-03-01T01:00:00Z";
  const std::string attempt = "2026-03-01T00:00:00Z";
  const struct {
    std::string_view id, tres, nodes;
    std::string want;
  } table[] = {
      {"12", "cpu=1", "None assigned", "12 " + attempt + " " + held + " gpu [] pool 0"},
      {"12_7", "gres/gpu=2", "n1", "12_7 " + attempt + " " + held + " gpu [] nodes n1=2"},
      {"12+1", "gres/gpu:v100=2", "n[1-2]",
       "12+1 " + attempt + " " + held + " gpu [v100] nodes n1=1,n2=1"},
      // The remainder goes to the first nodes; a node without a device is held all the same.
      {"12", "gres/gpu=7", "n[1-3]", "12 " + attempt + " " + held + " gpu [] nodes n1=3,n2=2,n3=2"},
      {"12", "gres/gpu=1", "b,a", "12 " + attempt + " " + held + " gpu [] nodes b=1,a=0"},
      {"12", "cpu=1", "n[1-2]", "12 " + attempt + " " + held + " gpu [] nodes n1=0,n2=0"},
      {"12", "gres/gpu=1", "(null)", "12 " + attempt + " " + held + " gpu [] pool 1"},
      {"12", "gres/gpu:a100_3g.20gb=1", "n1",
       "12 " + attempt + " " + held + " mig 3g.20gb [a100] nodes n1=1"},
      {"12", "gres/shard=3", "n1", "12 " + attempt + " " + held + " shard [] nodes n1=3"},
      {"12", "gres/gpu:a100=1,gres/shard=2,gres/gpu=1", "n1",
       "12 " + attempt + "/gpu:a100 " + held + " gpu [a100] nodes n1=1\n12 " + attempt + "/shard " +
           held + " shard [] nodes n1=2"},
  };
  for (const auto& row : table) {
    EXPECT_EQ(outcome(rows(with_tres(row.id, row.tres, row.nodes), lab())), row.want + "\n");
  }
}

TEST(SacctText, ColumnsMayBeGivenForATextWithoutHeader) {
  const std::string row = with_tres("12", "cpu=8,gres/gpu=2", "n1");
  SacctOptions given = lab();
  given.columns =
      "JobID%20,State,Start,End,ElapsedRaw,Suspended,AllocTRES,NodeList,Partition,Comment";
  EXPECT_EQ(outcome(read_text(row, given)), outcome(rows(row, lab())));
  const std::string barred = row.substr(0, row.size() - 1) + "|\n";
  EXPECT_EQ(outcome(read_text(barred + barred, given)), outcome(rows(row + row, lab())));
  given.columns = "JobID,User";
  EXPECT_NE(outcome(read_text(row, given)).find("the columns 'JobID,User' do not do"),
            std::string::npos);
  // One column too few: no row is read wrongly.
  given.columns =
      "JobID,State,Start,End,ElapsedRaw,Suspended,AllocTRES,NodeList,Partition,Comment,QOS";
  EXPECT_NE(outcome(read_text(row, given)).find("the row has 10 fields"), std::string::npos);
}

TEST(SacctText, PartitionsAreSometimesPools) {
  SacctOptions options = lab();
  options.partitions_are_pools = true;
  const SacctReading read = rows(with_tres("1", "gres/gpu=4", "None assigned"), options);
  EXPECT_EQ(to_text(read.holdings[0].placement), "pool 4 gpu,long");
}

TEST(SacctText, ProcessorsAndMemoryCountOnce) {
  const SacctReading read =
      rows(with_tres("1", "cpu=8,mem=2G,gres/gpu:a=1,gres/gpu:b=1", "n1"), lab());
  ASSERT_EQ(read.holdings.size(), 2u);
  EXPECT_EQ(read.holdings[0].cpu_milli, 8000u);
  EXPECT_EQ(read.holdings[0].memory_bytes, std::uint64_t{2} << 30);
  EXPECT_EQ(read.holdings[1].cpu_milli, 0u);
  EXPECT_EQ(read.holdings[1].memory_bytes, 0u);
  const SacctReading silent = rows(with_tres("1", "gres/gpu:a=1,gres/gpu:b=1", "n1"), lab());
  EXPECT_EQ(silent.holdings[1].cpu_milli, std::nullopt);
}

TEST(SacctText, NotEveryJobHolds) {
  const SacctReading read = rows(
      "1|PENDING|Unknown|Unknown|0|00:00:00||None assigned|gpu|\n"
      "2_[3-9%2]|PENDING|Unknown|Unknown|0|00:00:00||None assigned|gpu|\n"
      "3|CANCELLED by 1001|None|2026-03-01T01:00:00|0|00:00:00||None assigned|gpu|\n"
      "4|FAILED|2026-03-01T01:00:00|2026-03-01T01:00:00|0|00:00:00|gres/gpu=1|n1|gpu|\n"
      "5|COMPLETED|2026-03-01T01:00:00|2026-03-01T01:00:01|1|00:00:00|gres/gpu=1|n1|gpu|\n"
      "5.batch|COMPLETED|2026-03-01T01:00:00|2026-03-01T01:00:01|1|00:00:00|gres/gpu=1|n1||\n"
      "5.extern|COMPLETED|2026-03-01T01:00:00|2026-03-01T01:00:01|1|00:00:00|gres/gpu=1|n1||\n"
      "5.0|COMPLETED|2026-03-01T01:00:00|2026-03-01T01:00:01|1|00:00:00|gres/gpu=1|n1||\n"
      "6_1.0|COMPLETED|2026-03-01T01:00:00|2026-03-01T01:00:01|1|00:00:00|gres/gpu=1|n1||\n"
      "\n" +
          std::string(kTextHeader),
      lab());
  EXPECT_EQ(read.counts, (SacctCounts{.jobs = 5,
                                      .held = 1,
                                      .holdings = 1,
                                      .pending = 2,
                                      .never_started = 1,
                                      .zero_length = 1,
                                      .steps = 4,
                                      .repeated_headers = 1}));
  // Those that held nothing are told all the same, as what they were and when they ended.
  ASSERT_EQ(read.without_time.size(), 2u);
  EXPECT_EQ(read.without_time[0].workload.text() + " " + read.without_time[0].measure + " " +
                to_text(read.without_time[0].during.begin()),
            "3 jobs_never_started 2026-03-01T01:00:00Z");
  EXPECT_EQ(read.without_time[0].labels.find("state"), "CANCELLED");
  EXPECT_EQ(read.without_time[1].workload.text() + " " + read.without_time[1].measure,
            "4 jobs_of_zero_length");
}

// What a job used: its own TotalCPU, the highest of its steps, cut at midnight, and nothing of what
// Slurm left at 0, what still runs, or of several tasks of which only the largest is told.
TEST(SacctText, EndedJobsTellWhatTheyUsed) {
  const SacctReading read = read_text(
      "JobID|State|Start|End|ElapsedRaw|AllocTRES|NodeList|TotalCPU|NTasks|MaxRSS|TRESUsageInTot\n"
      "1|COMPLETED|2026-03-01T23:00:00|2026-03-02T01:00:00|7200|cpu=4,mem=8G|n1|02:00:01|||\n"
      "1.batch|COMPLETED|2026-03-01T23:00:00|2026-03-02T01:00:00|7200||n1|00:01|1|1024K|\n"
      "1.0|COMPLETED|2026-03-01T23:00:00|2026-03-02T01:00:00|7200||n1|02:00:00|1|4G|\n"
      "1.1|COMPLETED|2026-03-01T23:00:00|2026-03-02T01:00:00|7200||n1|00:01|9|9G|cpu=1,mem=2048K\n"
      "2|COMPLETED|2026-03-01T23:00:00|2026-03-01T23:01:00|60|cpu=4|n1|00:00:00|||\n"
      "3.0|COMPLETED|2026-03-01T23:00:00|2026-03-01T23:01:00|60||n1|00:00:00|1|1G|\n"
      "3|RUNNING|2026-03-01T23:00:00|Unknown|60|cpu=4|n1|00:30.500|||\n"
      "3.0|RUNNING|2026-03-01T23:00:00|Unknown|60||n1||1|1G|\n"
      "4|FAILED|2026-03-01T23:00:00|2026-03-01T23:01:00|60|cpu=4|n1|00:30.500|||\n"
      "4.batch|FAILED|2026-03-01T23:00:00|2026-03-01T23:01:00|60||n1|00:01|1|1024K|\n"
      "4.0|FAILED|2026-03-01T23:00:00|2026-03-01T23:01:00|60||n1|00:01|4|1G|\n"
      "5|COMPLETED|2024-01-01T00:00:00|2026-03-01T00:00:00|68256000|cpu=4|n1|99-00:00:00|||\n",
      lab());
  EXPECT_EQ(read.error, "");
  std::string shown;
  for (const Outcome& one : read.usage) {
    shown += fmt::format("{} {} {} {}\n", one.workload.text(), one.measure, to_text(one.during),
                         one.count);
  }
  EXPECT_EQ(shown,
            "1 cpu_used_core_ms 2026-03-01T23:00:00Z/2026-03-02T00:00:00Z 3600500\n"
            "1 memory_peak_kib 2026-03-01T23:00:00Z/2026-03-02T00:00:00Z 4194304\n"
            "1 cpu_used_core_ms 2026-03-02T00:00:00Z/2026-03-02T01:00:00Z 3600500\n"
            "1 memory_peak_kib 2026-03-02T00:00:00Z/2026-03-02T01:00:00Z 4194304\n"
            "4 cpu_used_core_ms 2026-03-01T23:00:00Z/2026-03-01T23:01:00Z 30500\n");
  EXPECT_EQ(read.counts.used, 2U);
}

// A row that contradicts itself is never taken for one that waited, nor for 56 years.
TEST(SacctText, ContradictionsAreToldForWhatTheyAre) {
  const struct {
    std::string_view row, reason;
  } table[] = {
      {"2_[1-3]|COMPLETED|2026-03-01T00:00:00|2026-03-01T04:00:00|14400||gres/gpu=2|n1||",
       "still wait, but the row is COMPLETED and has run"},
      {"2_[1-3]|FAILED|Unknown|2026-03-01T04:00:00|14400||gres/gpu=2|n1||", "sacct --array"},
      {"3|PENDING|2026-03-01T00:00:00|2026-03-01T04:00:00|14400||gres/gpu=2|n1||",
       "is PENDING, but ran for 14400 s"},
      {"4|COMPLETED|Unknown|2026-03-01T04:00:00|3600||gres/gpu=2|n1||",
       "unknown, but Elapsed is 3600 s"},
      {"5|COMPLETED|1970-01-01T00:00:00|2026-03-01T04:00:00|3600||gres/gpu=2|n1||",
       "it is 0, which is no time, and Elapsed is 3600 s"}};
  for (const auto& each : table) {
    const SacctReading read = rows(std::string(each.row) + "\n", lab());
    ASSERT_EQ(read.rejected.size(), 1U) << each.row;
    EXPECT_NE(read.rejected[0].reason.find(each.reason), std::string::npos)
        << read.rejected[0].reason;
    EXPECT_EQ(read.counts.pending + read.counts.never_started + read.counts.held, 0U);
  }
  // None of these contradicts itself.
  const SacctReading good = rows(
      "2_[1-3]|CANCELLED by 7|Unknown|2026-03-01T04:00:00|0||||||\n"
      "2_[4-9]|PENDING|Unknown|Unknown|0|||||\n"
      "3|PENDING|2030-03-01T00:00:00|Unknown|0|||||\n"
      "4|OUT_OF_ME+|1970-01-01T00:00:00|1970-01-01T01:00:00|3600||gres/gpu=2|n1||\n",
      lab());
  EXPECT_EQ(good.counts.pending, 2U);
  EXPECT_EQ(good.counts.held, 1U);
  EXPECT_EQ(good.counts.unknown_state, 0U);
  EXPECT_EQ(good.counts.shortened, 0U);
}

TEST(SacctText, WhatIsTakenForGrantedIsCounted) {
  const SacctReading read = rows(
      "3|EXPLODED|2026-03-01T00:00:00|2026-03-01T04:00:00|14400||gres/gpu=2|n1||\n"
      "4|COMPLETED|2026-03-01T00:00:00|2026-03-01T04:00:00|999||gres/gpu=2|n1||\n",
      lab());
  EXPECT_EQ(read.counts.held, 2U);
  EXPECT_EQ(read.counts.unknown_state, 1U);
  EXPECT_EQ(read.counts.shortened, 1U);
}

TEST(SacctText, RunsOfARequeuedJobAreAttempts) {
  const SacctReading read = rows(
      "7|REQUEUED|2026-03-01T00:00:00|2026-03-01T01:00:00|3600|00:00:00|gres/gpu=1|n1|gpu|\n"
      "7|NODE_FAIL|2026-03-01T02:00:00|2026-03-01T03:00:00|3600|00:00:00|gres/gpu=1|n1|gpu|\n"
      "7|RUNNING|2026-03-01T04:00:00|Unknown|1800|00:00:00|gres/gpu=1|n1|gpu|\n",
      lab());
  EXPECT_EQ(
      outcome(read),
      "7 2026-03-01T00:00:00Z 2026-03-01T00:00:00Z/2026-03-01T01:00:00Z gpu [] nodes n1=1\n"
      "7 2026-03-01T02:00:00Z 2026-03-01T02:00:00Z/2026-03-01T03:00:00Z gpu [] nodes n1=1\n"
      "7 2026-03-01T04:00:00Z 2026-03-01T04:00:00Z/2026-03-01T04:30:00Z… gpu [] nodes n1=1\n");
  EXPECT_EQ(read.counts.running, 1u);
}

TEST(SacctText, SuspendedTimeComesOffTheEnd) {
  const std::string_view stated =
      "1|COMPLETED|2026-03-01T00:00:00|2026-03-01T01:00:00|3000|00:10:00|gres/gpu=1|n1|gpu|\n";
  const std::string_view derived =
      "1|COMPLETED|2026-03-01T00:00:00|2026-03-01T01:00:00|3000||gres/gpu=1|n1|gpu|\n";
  const std::string_view without_elapsed =
      "1|COMPLETED|2026-03-01T00:00:00|2026-03-01T01:00:00||00:10:00|gres/gpu=1|n1|gpu|\n";
  for (const std::string_view row : {stated, derived, without_elapsed}) {
    const SacctReading read = rows(row, lab());
    ASSERT_EQ(read.holdings.size(), 1u) << row;
    EXPECT_EQ(read.holdings[0].suspended_ms, 600'000u);
    EXPECT_EQ(to_text(read.holdings[0].held.end()), "2026-03-01T00:50:00Z");
  }
}

TEST(SacctText, RunningJobsNeedAnEnd) {
  const std::string_view bare = "1|RUNNING|2026-03-01T00:00:00|Unknown|||gres/gpu=1|n1|gpu|\n";
  EXPECT_TRUE(outcome(rows(bare, lab())).starts_with("line 2: End: the job is still running"));
  SacctOptions options = lab();
  options.now = *parse_instant("2026-03-01T02:00:00Z");
  SacctReading read = rows(bare, options);
  EXPECT_EQ(to_text(read.holdings[0].held.end()), "2026-03-01T02:00:00Z");
  EXPECT_FALSE(read.holdings[0].ended);
  // What the file says wins over when it was read.
  read = rows("1|RUNNING|2026-03-01T00:00:00|Unknown|60|00:00:00|gres/gpu=1|n1|gpu|\n", options);
  EXPECT_EQ(to_text(read.holdings[0].held.end()), "2026-03-01T00:01:00Z");
  // sacct --truncate cuts a running job at the end of its window.
  read =
      rows("1|RUNNING|2026-03-01T00:00:00|2026-03-01T01:00:00|3600|00:00:00||n1|gpu|\n", options);
  EXPECT_FALSE(read.holdings[0].ended);
}

TEST(SacctText, SummerTime) {
  // Los Angeles had 01:00–02:00 twice on 2026-11-01: 08:00–09:00 UTC, then 09:00–10:00 UTC.
  const struct {
    std::string_view start, end, elapsed;
    std::string_view want;
    bool ambiguous;
  } table[] = {
      {"01:10:00", "01:50:00", "2400", "2026-11-01T08:10:00Z/2026-11-01T08:50:00Z", false},
      {"01:10:00", "01:50:00", "6000", "2026-11-01T08:10:00Z/2026-11-01T09:50:00Z", false},
      {"01:50:00", "01:10:00", "1200", "2026-11-01T08:50:00Z/2026-11-01T09:10:00Z", false},
      {"01:30:00", "03:00:00", "5400", "2026-11-01T09:30:00Z/2026-11-01T11:00:00Z", false},
      {"01:30:00", "03:00:00", "9000", "2026-11-01T08:30:00Z/2026-11-01T11:00:00Z", false},
      {"00:30:00", "01:30:00", "7200", "2026-11-01T07:30:00Z/2026-11-01T09:30:00Z", false},
      {"00:30:00", "03:00:00", "12600", "2026-11-01T07:30:00Z/2026-11-01T11:00:00Z", false},
      // Without Elapsed nobody is charged an hour that the record does not prove.
      {"01:10:00", "01:50:00", "", "2026-11-01T08:10:00Z/2026-11-01T08:50:00Z", true},
      {"01:50:00", "01:10:00", "", "2026-11-01T08:50:00Z/2026-11-01T09:10:00Z", false},
      {"01:30:00", "03:00:00", "", "2026-11-01T09:30:00Z/2026-11-01T11:00:00Z", true},
      {"00:30:00", "01:30:00", "", "2026-11-01T07:30:00Z/2026-11-01T08:30:00Z", true},
  };
  for (const auto& row : table) {
    const SacctReading read =
        rows(fmt::format("1|COMPLETED|2026-11-01T{}|2026-11-01T{}|{}|00:00:00|||gpu|\n", row.start,
                         row.end, row.elapsed),
             lab_in("America/Los_Angeles"));
    ASSERT_EQ(read.holdings.size(), 1u) << outcome(read);
    EXPECT_EQ(to_text(read.holdings[0].held), row.want) << row.start << " " << row.end;
    EXPECT_EQ(read.counts.ambiguous, row.ambiguous ? 1u : 0u) << row.start << " " << row.end;
  }
  const SacctReading skipped =
      rows("1|COMPLETED|2026-03-08T02:30:00|2026-03-08T04:00:00|||||gpu|\n",
           lab_in("America/Los_Angeles"));
  EXPECT_TRUE(outcome(skipped).starts_with("line 2: Start: 2026-03-08T02:30:00 does not exist"));
}

TEST(SacctText, BadRowsAreKeptAsideAndGoodOnesAreRead) {
  SacctOptions options = lab();
  options.now = *parse_instant("2027-01-01");
  const struct {
    std::string_view row, column, reason;
  } table[] = {
      {"1|COMPLETED|2026-03-01T02:00:00|2026-03-01T01:00:00|3600|||n1|gpu|", "End",
       "End is before Start"},
      {"1|COMPLETED|2026-03-01T00:00:00|2026-03-01T01:00:00|60|00:00:00||n1|gpu|", "Elapsed",
       "End − Start is 3600 s, but Elapsed + Suspended is 60 s"},
      {"1|COMPLETED|2026-03-01T00:00:00|2026-03-01T01:00:00|7200|||n1|gpu|", "Elapsed", "7200 s"},
      {"1|COMPLETED|2026-03-01T00:00:00|2026-03-01T01:00:00||02:00:00||n1|gpu|", "Suspended",
       "suspended for 7200 s"},
      {"1|COMPLETED|2027-03-01T00:00:00|2027-03-01T01:00:00|3600|||n1|gpu|", "End",
       "in the future"},
      {"1|COMPLETED|2026-12-31T23:30:00|2027-01-01T00:30:00|3600|||n1|gpu|", "End",
       "in the future"},
      {"1|RUNNING|2027-03-01T00:00:00|Unknown||||n1|gpu|", "Start", "in the future"},
      {"1|RUNNING|Unknown|Unknown||||n1|gpu|", "Start", "nothing says since when"},
      {"1|COMPLETED|2026-03-01T00:00:00|Unknown|3600|||n1|gpu|", "End", "there is no End"},
      {"1|COMPLETED|2026-03-01|2026-03-01T01:00:00|3600|||n1|gpu|", "Start", "not a local time"},
      {"1|COMPLETED|2026-02-30T00:00:00|2026-03-01T01:00:00|3600|||n1|gpu|", "Start", "not a time"},
      {"1|COMPLETED|2026-03-01T00:00:00|soon|3600|||n1|gpu|", "End", "not a local time"},
      {"1|COMPLETED|2026-03-01T00:00:00|2026-03-01T01:00:00|-1|||n1|gpu|", "ElapsedRaw",
       "'-1' is not a whole number"},
      {"1|COMPLETED|2026-03-01T00:00:00|2026-03-01T01:00:00|3600|1 h||n1|gpu|", "Suspended",
       "'1 h' is not a duration"},
      {"1|COMPLETED|2026-03-01T00:00:00|2026-03-01T01:00:00|3600||gres/gpu=x|n1|gpu|", "AllocTRES",
       "'x' is not a whole number"},
      {"1|COMPLETED|2026-03-01T00:00:00|2026-03-01T01:00:00|3600||gres/gpu:a=2,gres/gpu=1|n1|gpu|",
       "AllocTRES", "should not exceed"},
      {"1|COMPLETED|2026-03-01T00:00:00|2026-03-01T01:00:00|3600|||n[1-|gpu|", "NodeList",
       "a bracket is not closed"},
      {"x|COMPLETED|2026-03-01T00:00:00|2026-03-01T01:00:00|3600|||n1|gpu|", "JobID",
       "'x' is not the id of a job"},
      {"|COMPLETED|2026-03-01T00:00:00|2026-03-01T01:00:00|3600|||n1|gpu|", "JobID", "not the id"},
      {"1|COMPLETED|2026-03-01T00:00:00|2026-03-01T01:00:00|3600|||n1|gpu|caf\xe9", "Comment",
       "not UTF-8"},
      {"1|COMPLETED|2026-03-01T00:00:00|2026-03-01T01:00:00|3600|||n1|gp\xffu|", "Partition",
       "not UTF-8"},
      {"1|COMPLETED|2026-03-01T00:00:00|2026-03-01T01:00:00|3600|||n1|gpu|a|b", "",
       "the row has 11 fields where the columns are 10"},
      {"1|COMPLETED|2026-03-01T00:00:00|2026-03-01T01:00:00|3600|||n1", "",
       "the row has 8 fields where the columns are 10"},
      {"sacct: error: slurmdbd: connection refused", "", "the row has 1 fields"},
  };
  for (const auto& row : table) {
    const std::string good = with_tres("9", "gres/gpu=1", "n1");
    const SacctReading read = rows(good + std::string(row.row) + "\n" + good, options);
    ASSERT_EQ(read.rejected.size(), 1u) << row.row << "\n" << outcome(read);
    const RejectedRow& rejected = read.rejected[0];
    EXPECT_EQ(rejected.line, 3u);
    EXPECT_EQ(rejected.file, "sacct");
    EXPECT_EQ(rejected.column, row.column) << row.row;
    EXPECT_TRUE(rejected.reason.find(row.reason) != std::string::npos) << rejected.reason;
    EXPECT_EQ(read.holdings.size(), 2u) << row.row;
    EXPECT_EQ(read.counts.rejected, 1u);
  }
}

TEST(SacctText, RejectedTextIsShortAndClean) {
  const SacctReading read = rows("1|COMPLETED|\xff\n" + std::string(10'000, 'x') + "\n", lab());
  EXPECT_EQ(read.rejected[0].text, "1|COMPLETED|?");
  EXPECT_EQ(read.rejected[1].text.size(), limits::kRejectedTextBytesMax);
}

TEST(SacctText, LongRowsAreRejectedNotKept) {
  const std::string good = with_tres("9", "gres/gpu=1", "n1");
  const SacctReading read = rows(good + std::string(10'000'000, 'x') + "\n" + good, lab());
  EXPECT_EQ(read.holdings.size(), 2u);
  ASSERT_EQ(read.rejected.size(), 1u);
  EXPECT_EQ(read.rejected[0].line, 3u);
  EXPECT_TRUE(read.rejected[0].reason.find("longer than 4194304 bytes") != std::string::npos);
}

// Of the step that had most; Slurm's own step has a task on each node.
TEST(SacctText, TasksAreThoseOfTheWidestStep) {
  const std::string times = "|COMPLETED|2026-03-01T00:00:00|2026-03-01T01:00:00|";
  const auto row = [&](const std::string& id, const std::string& tasks) {
    return id + times + "gres/gpu:a=1,gres/gpu:b=1|" + tasks + "\n";
  };
  const SacctReading read =
      read_text("JobID|State|Start|End|AllocTRES|NTasks\n" + row("1", "") + row("1.batch", "1") +
                    row("1.extern", "64") + row("1.0", "8") + row("1.1", "2") + row("2", "") +
                    row("3.0", "9") + row("3", "") + row("3.0", "x") + row("3.extern", "4") +
                    row("4_1", "") + row("4_1.0", "3"),
                lab());
  std::string shown;
  for (const Holding& one : read.holdings) {
    shown +=
        fmt::format("{} {}\n", one.workload.text(), one.labels.find(kTasksLabel).value_or("-"));
  }
  EXPECT_EQ(shown, "1 8\n1 8\n2 -\n2 -\n3 -\n3 -\n4_1 3\n4_1 3\n");
}

TEST(SacctText, Labels) {
  const SacctReading read = read_text(
      "JobID|JobName|Account|User|QOS|WCKey|Reservation|State|Start|End|AllocTRES|Comment|"
      "Timelimit\n"
      "1|train|llm|alice|high|*k|r1|CANCELLED by 1001|2026-03-01T00:00:00|2026-03-01T01:00:00||"
      "project=chat; team = nlp;user=mallory;project=other;bad "
      "key=1;=x;empty=;url=a,b=c|1-00:00:00\n"
      "2|a b|||||||2026-03-01T00:00:00|2026-03-01T01:00:00||x=1,y=2|UNLIMITED\n"
      "3|\xc3\xa9t\xc3\xa9|||||||2026-03-01T00:00:00|2026-03-01T01:00:00||for me|\n",
      lab());
  const auto labels = [&](std::size_t i) {
    std::string text;
    for (const auto& [key, value] : read.holdings[i].labels.entries()) {
      text += fmt::format("{}={} | ", key, value);
    }
    return text;
  };
  ASSERT_EQ(read.holdings.size(), 3u) << outcome(read);
  EXPECT_EQ(
      labels(0),
      "account=llm | comment=project=chat; team = nlp;user=mallory;project=other;bad key=1;=x;"
      "empty=;url=a,b=c | job_name=train | project=chat | qos=high | reservation=r1 | "
      "state=CANCELLED | team=nlp | time_limit_minutes=1440 | url=a,b=c | user=alice | "
      "wckey=*k | ");
  EXPECT_EQ(labels(1), "comment=x=1,y=2 | job_name=a b | x=1 | y=2 | ");
  EXPECT_EQ(labels(2), "comment=for me | job_name=\xc3\xa9t\xc3\xa9 | ");
}

TEST(SacctText, FormsOfTheFile) {
  const std::string_view row = "7|2026-03-01T00:00:00|2026-03-02T00:00:00|gres/gpu=1";
  const std::string_view head = "JobIDRaw|Start|End|AllocTRES";
  const struct {
    std::string_view what;
    std::string text;
  } table[] = {
      {"plain", fmt::format("{}\n{}\n", head, row)},
      {"no line break at the end", fmt::format("{}\n{}", head, row)},
      {"CRLF", fmt::format("{}\r\n{}\r\n", head, row)},
      {"byte order mark", fmt::format("\xEF\xBB\xBF{}\n{}\n", head, row)},
      {"--parsable", fmt::format("{}|\n{}|\n", head, row)},
      {"other case", fmt::format("jobidraw|START|End|AllocTres\n{}\n", row)},
      {"other order",
       "End|X|AllocTRES|Start|JobIDRaw\n2026-03-02T00:00:00||gres/gpu=1|"
       "2026-03-01T00:00:00|7\n"},
      {"blank lines", fmt::format("\n\n{}\n\n{}\n\n", head, row)},
      {"a column twice", fmt::format("{}|Start\n{}|2026-03-01T00:00:00\n", head, row)},
  };
  for (const auto& form : table) {
    EXPECT_EQ(outcome(read_text(form.text, lab())),
              "7 2026-03-01T00:00:00Z 2026-03-01T00:00:00Z/2026-03-02T00:00:00Z gpu [] pool 1\n")
        << form.what;
  }
  const SacctReading cut = read_text(fmt::format("{}|\n{}\n", head, row), lab());
  EXPECT_TRUE(outcome(cut).find("no '|' at its end") != std::string::npos) << outcome(cut);
}

TEST(SacctText, RefusesWhatIsNotSaccts) {
  const struct {
    std::string text;
    std::string_view why;
  } table[] = {
      {"", "the file is empty"},
      {"\n\n", "the file is empty"},
      {"hello\n", "there is no '|' in 'hello'"},
      {std::string("\x7f"
                   "ELF\0|\n",
                   7),
       "it is binary"},
      {"State|Start|End|AllocTRES\n", "there is no JobID or JobIDRaw"},
      {"JobID|End|AllocTRES\n", "there is no Start"},
      {"JobID|Start|AllocTRES\n", "there is no End or ElapsedRaw"},
      {"JobID|Start|End|ReqTRES\n", "there is no AllocTRES"},
      {"JobID|" + std::string(3000, '|') + "\n", "more than 2048 columns"},
      {std::string(5'000'000, '|'), "longer than 4194304 bytes"},
      {"PK\x03\x04|\n", "there is no JobID"},
  };
  for (const auto& row : table) {
    const SacctReading read = read_text(row.text, lab());
    EXPECT_TRUE(read.error.find(row.why) != std::string::npos) << row.why << ": " << read.error;
    EXPECT_TRUE(read.holdings.empty());
  }
  const SacctReading no_jobs = read_text("JobID|Start|End|AllocTRES\n", lab());
  EXPECT_EQ(no_jobs.error, "");
  EXPECT_EQ(no_jobs.counts, SacctCounts{});
}

TEST(SacctText, TheClusterIsToldOrInTheFile) {
  const std::string_view text =
      "JobID|Start|End|AllocTRES|Cluster\n1|2026-03-01T00:00:00|2026-03-01T01:00:00||lab\n"
      "2|2026-03-01T00:00:00|2026-03-01T01:00:00||\n";
  const SacctReading read = read_text(text, options_for(""));
  ASSERT_EQ(read.holdings.size(), 1u);
  EXPECT_EQ(read.holdings[0].cluster, ClusterId("lab"));
  EXPECT_EQ(read.rejected.at(0).column, "Cluster");
  EXPECT_EQ(read_text(text, options_for("west")).holdings.at(1).cluster, ClusterId("west"));
  EXPECT_TRUE(read_text("JobID|Start|End|AllocTRES\n", options_for(""))
                  .error.starts_with("the file has no column Cluster"));
}

TEST(SacctText, AnErrorOfTheSinkEndsTheReading) {
  SacctText reader(lab(),
                   {.holdings = [](std::span<const Holding>) -> Result<void> {
                      return fail(ErrorCode::kStore, "disk full");
                    },
                    .rejected = [](std::span<const RejectedRow>) -> Result<void> { return {}; }});
  ASSERT_TRUE(reader.feed(std::string(kTextHeader) + with_tres("1", "", "n1")).has_value());
  EXPECT_EQ(reader.finish().error().message, "disk full");
}

TEST(SacctText, BatchesAreBounded) {
  std::string text(kTextHeader);
  for (std::size_t i = 0; i < limits::kBatchRows + 5; ++i) {
    text += with_tres(std::to_string(i + 1), "gres/gpu=1", "n1") + "bad\n";
  }
  std::vector<std::size_t> sizes;
  SacctText reader(lab(), {.holdings = [&](std::span<const Holding> rows) -> Result<void> {
                             sizes.push_back(rows.size());
                             return {};
                           },
                           .rejected = [&](std::span<const RejectedRow> rows) -> Result<void> {
                             sizes.push_back(rows.size());
                             return {};
                           }});
  ASSERT_TRUE(reader.feed(text).has_value());
  ASSERT_TRUE(reader.finish().has_value());
  EXPECT_EQ(sizes, (std::vector<std::size_t>{limits::kBatchRows, limits::kBatchRows, 5, 5}));
}

}  // namespace
}  // namespace pennyweight::slurm
