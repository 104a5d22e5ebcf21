// Records of Grid Engine's accounting file: what each holds, and why one is set aside.
#include "ingest/schedulers/grid_engine/accounting.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

#include "ingest/schedulers/accounting/accounting_testing.h"

namespace pennyweight::grid_engine {
namespace {

std::string read_records(std::string_view text) { return accounting::shown(read_record, text); }

std::string record(std::string_view category, std::string_view slots = "1",
                   std::string_view task = "0", std::string_view start = "1770865200",
                   std::string_view end = "1770868800", std::string_view pe_task = "NONE") {
  return fmt::format(
      "gpu.q:n1:staff:ann:train:7:sge:0:1770861600:{}:{}:0:0:3600:1.0:2.0:3.0:0:0:0:0:4:5:0:0.0:0:0"
      ":0:0:6:7:NONE:defaultdepartment:NONE:{}:{}:8.0:9.0:0.0:{}:0.000000:{}:1024.0:0:0\n",
      start, end, slots, task, category, pe_task);
}

constexpr std::string_view kHour = "2026-02-12T03:00:00Z/2026-02-12T04:00:00Z";
constexpr std::string_view kLabels =
    "account=sge exit_code=0 group=staff job_name=train partition=gpu.q queue=gpu.q "
    "state=COMPLETED submit_time=2026-02-12T02:00:00Z user=ann\n";

// cpu 8.0 s and a maxvmem of 1024 bytes.
TEST(GridEngineAccounting, AJobTellsWhatItUsed) {
  EXPECT_EQ(accounting::shown_usage(read_record, record("")),
            "cpu_used_core_ms=8000 memory_peak_kib=1");
}

TEST(GridEngineAccounting, AJobHoldsTheGpusOfItsRequest) {
  const auto holds = [&](std::string_view id, int gpus, int cpus) {
    return fmt::format("{} nodes n1={} {} cpu={}000 {}", id, gpus, kHour, cpus, kLabels);
  };
  EXPECT_EQ(read_records(record("-u ann -l gpu=2,h_rt=7200")), holds("7", 2, 1));
  EXPECT_EQ(read_records(record("-l h_rt=7200 -l ngpus=1,gpu_type=a100", "1", "3")),
            holds("7[3]", 1, 1));
  EXPECT_EQ(read_records(record("-q gpu.q -pe smp 8", "8")), holds("7", 0, 8));
  EXPECT_EQ(read_records(record("-soft -l gpu=2")), holds("7", 0, 1));
  EXPECT_EQ(read_records(record("-soft -l gpu=2 -hard -l gpu=1")), holds("7", 1, 1));
  EXPECT_EQ(read_records("# a comment\n" +
                         record("-l gpu=2", "1", "0", "1770865200000", "1770868800000")),
            holds("7", 2, 1));
}

TEST(GridEngineAccounting, WhatHeldNothing) {
  EXPECT_EQ(read_records(record("-l gpu=2", "1", "0", "0", "0")), "7 jobs_never_started\n");
  EXPECT_EQ(read_records(record("-l gpu=2", "1", "0", "1770868800")), "7 jobs_of_zero_length\n");
  EXPECT_EQ(read_records(record("", "1", "0", "1770865200", "1770868800", "1.n2")), "1 others\n");
}

TEST(GridEngineAccounting, WhatIsSetAside) {
  const struct {
    std::string text;
    const char* reason;
  } cases[] = {
      {record("-l gpu=2", "4"), "nothing says whether the number is of the job or of each slot"},
      {record("-l gpu=many"), "'gpu=many' is not a number of GPUs"},
      {record("-l gpu=1 -l gpu=2"), "'gpu=2' is not a number of GPUs"},
      {record("-l gpu_mem=4G"), "whether 'gpu_mem' is a number of GPUs is not known"},
      {record("", "0"), "had no slots"},
      {record("", "-1"), "'-1' is not a number of 0 to 1000000"},
      {record("", "1", "0", "1770868800", "1770865200"), "before it began"},
      {record("", "1", "0", "1770868800", "0"), "it has no end, but began at 2026-02-12T04:00:00Z"},
      {record("", "1", "0", "1770865200", "1790865200"), "after the file was read"},
      {record("").substr(0, 80), "it is cut off"},
      {"no record\n", "1 fields of at least 43"},
      {"\xff" + record(""), "not UTF-8"},
  };
  for (const auto& c : cases) {
    EXPECT_NE(read_records(c.text).find(c.reason), std::string::npos) << read_records(c.text);
  }
}

// Five records of four sites, of them one with milliseconds.
TEST(GridEngineAccounting, RealRecords) {
  std::ifstream in("tests/data/grid_engine/accounting", std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  ASSERT_TRUE(is_accounting_file(text.str()));
  const std::string read = read_records(text.str());
  for (const char* part :
       {"43 nodes testce.test=0 2008-01-11T23:14:54Z/2008-01-11T23:14:55Z cpu=1000 ",
        "6972834 nodes compute-4-19.local=0 2011-10-14T02:44:14Z/2011-10-16T04:44:15Z cpu=9000 ",
        "exit_code=138 ", "state=FAILED", "project=pilatl.p",
        "3872561 nodes node101.cm.cluster=0 2014-10-10T09:21:05.141Z/2014-10-10T09:24:45.629Z "}) {
    EXPECT_NE(read.find(part), std::string::npos) << part << "\n" << read;
  }
  EXPECT_FALSE(is_accounting_file("a:b:c\n"));
  EXPECT_FALSE(is_accounting_file("# only a comment"));
}

}  // namespace
}  // namespace pennyweight::grid_engine
