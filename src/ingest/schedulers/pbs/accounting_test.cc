// Records of the accounting log: what each holds, and why one is set aside.
#include "ingest/schedulers/pbs/accounting.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/schedulers/accounting/accounting_testing.h"

namespace pennyweight::pbs {
namespace {

using accounting::AccountingReading;

AccountingReading read_log(std::string_view text, std::size_t chunk = 65'536) {
  return accounting::read_all(read_record, text, chunk);
}

std::string record(std::string_view fields, char type = 'E') {
  return fmt::format("02/11/2026 20:12:21;{};7.srv;user=ann {}\n", type, fields);
}

constexpr std::string_view kHour = "ctime=1770861600 start=1770865200 end=1770868800 ";

std::string held(std::string_view vnodes) {
  const auto read = read_log(record(fmt::format("{}exec_vnode={}", kHour, vnodes)));
  if (!read.rejected.empty()) return read.rejected[0].column + ": " + read.rejected[0].reason;
  if (read.holdings.size() != 1) return "nothing";
  const Holding& one = read.holdings[0];
  return fmt::format("{} cpu={} mem={}", to_text(one.placement), one.cpu_milli.value_or(0),
                     one.memory_bytes.value_or(0));
}

// Records of the Casper cluster: one GPU for 3,330 s; a run of 3 s that was run again; two jobs of
// 5 s on one and on two nodes; five records that hold nothing.
TEST(PbsAccounting, ASampleOfCasper) {
  std::ifstream in("tests/data/pbs/accounting", std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  const auto read = read_log(text);
  std::string shown;
  for (const Holding& one : read.holdings) {
    shown += fmt::format("{} {} {} cpu={} mem={} user={} queue={} exit={}\n", one.workload.text(),
                         to_text(one.placement), to_text(one.held), one.cpu_milli.value_or(0),
                         one.memory_bytes.value_or(0) >> 30, one.labels.find("user").value_or(""),
                         one.labels.find("queue").value_or(""),
                         one.labels.find("exit_code").value_or(""));
  }
  EXPECT_EQ(shown,
            "4413086.casper-pbs nodes casper15=1 2025-04-16T15:24:18Z/2025-04-16T16:19:48Z "
            "cpu=1000 mem=10 user=vanderwb queue=vis exit=271\n"
            "4400521.casper-pbs nodes crhtc07=0 2025-04-15T21:14:55Z/2025-04-15T21:14:58Z "
            "cpu=1000 mem=4 user=rpconroy queue=rda exit=-3\n"
            "2281314.casper-pbs nodes crhtc65=0 2026-02-12T03:12:16Z/2026-02-12T03:12:21Z "
            "cpu=1000 mem=10 user=vanderwb queue=htc exit=0\n"
            "2281981.casper-pbs nodes crhtc67=0,crhtc70=0 "
            "2026-02-12T03:16:42Z/2026-02-12T03:16:47Z cpu=2000 mem=20 user=vanderwb queue=htc "
            "exit=0\n");
  EXPECT_TRUE(read.rejected.empty());
}

TEST(PbsAccounting, ARunTellsWhatItUsed) {
  const auto used = [](std::string_view resources) {
    return accounting::shown_usage(
        read_record, record(fmt::format("{}exec_vnode=(n1:ncpus=8) {}", kHour, resources)));
  };
  EXPECT_EQ(used("resources_used.cput=101:02:03 resources_used.mem=2048kb"),
            "cpu_used_core_ms=363723000 memory_peak_kib=2048");
  EXPECT_EQ(used("resources_used.cput=00:00:00 resources_used.mem=0kb"), "");
  for (const char* odd : {"1:2", "1:60:00", "::", "x:00:00", "00:00:00:00", "99999999999:00:00"}) {
    EXPECT_EQ(used(fmt::format("resources_used.cput={} resources_used.mem=some", odd)), "") << odd;
  }
}

TEST(PbsAccounting, ARunHoldsWhatItsVnodesSay) {
  const auto read = read_log(record(fmt::format(
      "{}group=phys account=\"SC 1\" project=_pbs_project_default jobname=train queue=gpu "
      "exec_host=n1/0*8 exec_vnode=(n1:ncpus=8:ngpus=2:mem=10485760kb) Resource_List.ngpus=2 "
      "Exit_status=271",
      kHour)));
  ASSERT_EQ(read.holdings.size(), 1u);
  const Holding& one = read.holdings[0];
  EXPECT_EQ(one.workload.text(), "7.srv");
  EXPECT_EQ(one.attempt, "2026-02-12T03:00:00Z");
  EXPECT_EQ(one.held.length_ms(), 3'600'000u);
  EXPECT_TRUE(one.ended);
  EXPECT_EQ(to_text(one.placement), "nodes n1=2");
  EXPECT_EQ(one.memory_bytes, std::uint64_t{10} << 30);
  std::string labels;
  for (const auto& [key, value] : one.labels.entries()) labels += key + "=" + value + ";";
  EXPECT_EQ(labels,
            "account=SC 1;exit_code=271;group=phys;job_name=train;partition=gpu;queue=gpu;"
            "submit_time=2026-02-12T02:00:00Z;user=ann;");
}

TEST(PbsAccounting, ChunksAndVnodes) {
  EXPECT_EQ(held("(n1:ncpus=8:ngpus=2:mem=1gb)+(n2:ncpus=8:ngpus=2:mem=1gb)"),
            "nodes n1=2,n2=2 cpu=16000 mem=2147483648");
  EXPECT_EQ(held("(n1[0]:ncpus=4:ngpus=1+n1[1]:ncpus=4:ngpus=1)"), "nodes n1=2 cpu=8000 mem=0");
  EXPECT_EQ(held("(n1:ncpus=1)"), "nodes n1=0 cpu=1000 mem=0");
  EXPECT_EQ(held("(n1)"), "nodes n1=0 cpu=0 mem=0");
  EXPECT_EQ(held("(n1:ncpus=x)"), "exec_vnode: ncpus=x is not a whole number");
  EXPECT_EQ(held("(n1:mem=1gw)"), "exec_vnode: mem=1gw is no size in bytes");
  EXPECT_EQ(held("(:ncpus=1)"), "exec_vnode: a vnode has no name: the record may be cut off");
}

TEST(PbsAccounting, RunsOfOneJobAndRecordsThatHoldNothing) {
  const std::string text = record("start=1770865200 end=1770865800 exec_vnode=(n1:ncpus=1)", 'R') +
                           record("start=1770866000 end=1770868800 exec_vnode=(n2:ncpus=1)") +
                           record("", 'S') + record("requestor=bo@login", 'D') +
                           record("ctime=1770861600 Exit_status=-1") +
                           record("start=1770866000 end=1770866000 exec_vnode=(n2:ncpus=1)") + "\n";
  const AccountingReading whole = read_log(text);
  EXPECT_EQ(whole.counts, (accounting::Counts{.runs = 4,
                                              .holdings = 2,
                                              .never_started = 1,
                                              .zero_length = 1,
                                              .others = 2,
                                              .rejected = 0}));
  ASSERT_EQ(whole.holdings.size(), 2u);
  EXPECT_NE(whole.holdings[0].attempt, whole.holdings[1].attempt);
  const AccountingReading bytes = read_log(text, 1);
  EXPECT_EQ(bytes.counts, whole.counts);
  EXPECT_EQ(bytes.holdings, whole.holdings);
}

// The E of an array has no vnodes, since its elements have records of their own. One that never
// began has no elements either: it is counted.
TEST(PbsAccounting, AnArrayAsAWholeHoldsNothing) {
  const std::string array = "02/11/2026 20:12:21;E;7[].srv;user=ann ";
  const auto read = read_log(
      array + "ctime=1770861600 start=1770865200 Resource_List.ngpus=2 end=1770868800\n" + array +
      "ctime=1770861600 start=0 end=1770868800\n" +
      "02/11/2026 20:12:21;E;7[3].srv;start=1770865200 exec_vnode=(n1:ngpus=2) end=1770868800\n");
  EXPECT_TRUE(read.rejected.empty());
  ASSERT_EQ(read.holdings.size(), 1u);
  EXPECT_EQ(read.holdings[0].workload.text(), "7[3].srv");
  EXPECT_EQ(read.counts.others, 1u);
  EXPECT_EQ(read.counts.never_started, 1u);
}

TEST(PbsAccounting, WhatIsNotTakenIntoAccountIsCounted) {
  const auto read = read_log(
      record("start=1770865200 exec_vnode=(n1:ngpus=2) session=7", 'u') +
      record("start=1770865200 exec_vnode=(n1:ngpus=1) session=7", 'e') +
      "02/11/2026 20:12:21;z;7.srv;resources_used.ncpus=2\n02/11/2026 20:12:25;r;7.srv;\n");
  EXPECT_EQ(read.counts.others, 4u);
  std::string disregarded;
  for (const auto& [what, count] : read.counts.disregarded) {
    disregarded += fmt::format("{}: {}\n", what, count);
  }
  EXPECT_EQ(disregarded,
            "records of suspensions, during which the jobs are charged as well: 1\n"
            "records of vnodes that jobs gave up early, for which these are charged until they "
            "end: 1\n");
}

// PBS writes what a user gives as an account between quotes, whatever is in it.
TEST(PbsAccounting, AValueThatAUserChoseDoesNotStandForAnother) {
  const auto reason = [](std::string_view chosen) {
    const auto read = read_log(record(
        fmt::format("{} ctime=1 start=1770865200 exec_vnode=(n1:ngpus=8) end=1770868800", chosen)));
    return read.rejected.size() == 1 ? read.rejected[0].column : std::string("read");
  };
  EXPECT_EQ(reason("account=\"x\" end=1770865201 y=\"\""), "end");
  EXPECT_EQ(reason("account=\"x\" start=0 y=\"\""), "start");
  EXPECT_EQ(reason("account=\"x\" exec_vnode=(n1:ncpus=1) y=\"\""), "exec_vnode");
  // What looks like one in a value may be the true one, between two quotes that a user chose.
  EXPECT_EQ(reason("account=\"x end=5\""), "end");
  EXPECT_EQ(reason("Resource_List.site='a \"b\" end=5'"), "end");
  EXPECT_EQ(reason("account=\"x backend=5 end\" Resource_List.site='a \"b\" c'"), "read");
  const auto hidden =
      read_log(record("account=\"x\" foo=\" ctime=1 start=1770865200 exec_vnode=(n1:ngpus=8) "
                      "Resource_List.site='a\"' end=1770868800"));
  EXPECT_EQ(hidden.counts.never_started, 0u);
  ASSERT_EQ(hidden.rejected.size(), 1u);
  EXPECT_EQ(hidden.rejected[0].column, "ctime");
  EXPECT_EQ(reason("project=\"x\" foo=\" jobname=j queue=q group=\"a\""), "jobname");
}

TEST(PbsAccounting, BadRecordsAreSetAsideAndGoodOnesAreRead) {
  const struct {
    std::string text;
    std::string_view reason;
  } table[] = {
      {"Job;42\n", "does not begin as"},
      {"02/11/2026 20:12:21;E;7.srv\n", "cut off"},
      {record("start=soon end=1770868800 exec_vnode=(n1)"), "seconds since 1970"},
      {record("start=1770868800 exec_vnode=(n1)"), "there is none, though"},
      {record("start=1770868800 end=1770865200 exec_vnode=(n1)"), "before it began"},
      {record("start=1770868800 end=4070865200 exec_vnode=(n1)"), "after the file was read"},
      {record(fmt::format("{}exec_host=n1/0 Resource_List.nodes=1:gpus=2", kHour)), "Torque"},
      {record(fmt::format("{}exec_vnode=(n1:ncpus=1) Resource_List.ngpus=2", kHour)),
       "2 GPUs were requested"},
      {record("\xff"), "UTF-8"},
  };
  for (const auto& row : table) {
    const auto read = read_log(row.text + record(fmt::format("{}exec_vnode=(n1:ncpus=1)", kHour)));
    ASSERT_EQ(read.rejected.size(), 1u) << row.text;
    EXPECT_EQ(read.rejected[0].line, 1u);
    EXPECT_NE(read.rejected[0].reason.find(row.reason), std::string::npos)
        << read.rejected[0].reason;
    EXPECT_EQ(read.holdings.size(), 1u);
  }
}

}  // namespace
}  // namespace pennyweight::pbs
