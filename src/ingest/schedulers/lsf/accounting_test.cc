// Records of lsb.acct: what each holds, and why one is set aside.
#include "ingest/schedulers/lsf/accounting.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

#include "ingest/schedulers/accounting/accounting_testing.h"

namespace pennyweight::lsf {
namespace {

std::string read_records(std::string_view text) { return accounting::shown(read_record, text); }

std::string finish(std::string_view start, std::string_view hosts, std::string_view gpus,
                   std::string_view index = "0", std::string_view end = "1770868800") {
  return fmt::format(
      R"("JOB_FINISH" "10.1" {} 7 1000 33554438 2 1770861600 0 0 {} "ann" "gpu" "" "" "" "login" )"
      R"("~" "" "" "" "1.7" 0 {} 64 60.0 "say ""hi""" "sleep 10" 0.1 0.2 3 0 -1 0 0 4 0 0 0 0 -1 )"
      R"(0 0 0 17 3 -1 "" "default" 0 2 "" "" {} 3072 0 "{}" "")"
      "\n",
      end, start, hosts, index, gpus);
}

// ru_utime 0.1 s, ru_stime 0.2 s and a maxRMem of 3072 KiB.
TEST(LsfAccounting, AJobTellsWhatItUsed) {
  EXPECT_EQ(accounting::shown_usage(read_record, finish("1770865200", "1 \"n1\"", "")),
            "cpu_used_core_ms=300 memory_peak_kib=3072");
  std::string without = finish("1770865200", "1 \"n1\"", "");
  without.replace(without.find("0.1 0.2"), 7, "-1 -1");
  without.replace(without.find(" 3072 "), 6, " 0 ");
  EXPECT_EQ(accounting::shown_usage(read_record, without), "");
}

TEST(LsfAccounting, AJobHoldsTheGpusOfItsRequirement) {
  constexpr std::string_view kLabels =
      "exit_code=0 job_name=say \"hi\" partition=gpu queue=gpu state=DONE "
      "submit_time=2026-02-12T02:00:00Z user=ann\n";
  const std::string hour = "2026-02-12T03:00:00Z/2026-02-12T04:00:00Z";
  EXPECT_EQ(read_records(finish("1770865200", R"(2 "n1" "n2")", "num=2:mode=shared")),
            fmt::format("7 nodes n1=2,n2=2 {} cpu=2000 {}", hour, kLabels));
  // Of each slot; and hosts with their slots before them.
  EXPECT_EQ(read_records(finish("1770865200", R"(2 "4*n1" "2*n2")", "num=1/task", "3")),
            fmt::format("7[3] nodes n1=4,n2=2 {} cpu=6000 {}", hour, kLabels));
  EXPECT_EQ(read_records(finish("1770865200", R"(1 "n1")", "")),
            fmt::format("7 nodes n1=0 {} cpu=1000 {}", hour, kLabels));
}

TEST(LsfAccounting, ANameIsNoRequirement) {
  std::string record = finish("1770865200", R"(1 "n1")", "");
  const std::string_view name = R"("say ""hi""")";
  record.replace(record.find(name), name.size(), R"("num=8")");
  EXPECT_NE(read_records(record).find("nodes n1=0 "), std::string::npos) << read_records(record);
}

TEST(LsfAccounting, ARealRecord) {
  std::ifstream in("tests/data/lsf/lsb.acct", std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  EXPECT_EQ(
      read_records(text.str()),
      "521375 nodes apcw103-10-59-161-19=0 2022-03-31T11:41:12Z/2022-04-06T03:11:36Z cpu=1000 "
      "exit_code=33280 partition=batchq project=r56 queue=batchq state=EXIT "
      "submit_time=2022-03-31T11:41:11Z user=nxp52488\n");
}

TEST(LsfAccounting, JobsThatHeldNothingAreCounted) {
  EXPECT_EQ(read_records(finish("0", "0", "")), "7 jobs_never_started\n");
  EXPECT_EQ(read_records(finish("1770868800", R"(1 "n1")", "num=1")), "7 jobs_of_zero_length\n");
  EXPECT_EQ(read_records("# comment\n\"JOB_RESIZE\" \"10.1\" 1770868800 7\n"), "1 others\n");
}

TEST(LsfAccounting, WhatCantBeIsRefused) {
  const struct {
    std::string record;
    std::string_view reason;
  } table[] = {
      {finish("1770865200", R"(1 "n1")", "rusage[ngpus_physical=2.00]"), "resReq: GPUs were"},
      {finish("1770865200", R"(1 "n1")", "num=2/core"), "gpuReq: 'num=2/core' is not"},
      {finish("1770865200", R"(1 "n1")", "num=99999999"), "gpuReq: 'num=99999999'"},
      {finish("1770865200", "0", ""), "numExHosts: the job ran, but on no host"},
      {finish("1770865200", R"(1 "0*n1")", ""), "execHosts: a host has no name"},
      {finish("1770865200", R"(2 "n1")", ""), "execHosts: '64' is not in quotes"},
      {finish("1770872400", R"(1 "n1")", ""), "eventTime: it ended at"},
      {finish("1770865200", R"(1 "n1")", "", "0", "1780868800"), "after the file was read"},
      {"\"JOB_FINISH\" \"10.1\" 1770868800 7\n", "userId: the record ends before it"},
      {"\"JOB_FINISH\" \"10\n", "a quote does not end"},
      {"JOB_FINISH 10.1\n", "does not begin with a type in quotes"},
      {"\"JOB_FINISH\" \"10.1\" x 7\n", "eventTime: 'x' is not a number"}};
  for (const auto& each : table) {
    EXPECT_NE(read_records(each.record).find(each.reason), std::string::npos)
        << each.reason << " in " << read_records(each.record);
  }
}

TEST(LsfAccounting, IsRecognised) {
  EXPECT_TRUE(is_accounting_file("# comment\n\"JOB_FINISH\" \"10.1\" 1 2\n"));
  EXPECT_FALSE(is_accounting_file("JOB_FINISH 10.1\n"));
  EXPECT_FALSE(is_accounting_file("# only a comment"));
}

}  // namespace
}  // namespace pennyweight::lsf
