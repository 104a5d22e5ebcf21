// What qacct -j prints, in the form of Grid Engine 8.1.9 and with the times of Univa's: what each
// record holds, and why one is set aside.
#include "ingest/schedulers/grid_engine/qacct.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

#include "ingest/schedulers/accounting/accounting_testing.h"

namespace pennyweight::grid_engine {
namespace {

struct QacctRecord {
  std::string_view start = "Fri Mar 27 22:06:57 2020", end = "Fri Mar 27 22:07:37 2020";
  std::string_view category = "category     -l gpu=2 -q gpu.q\n", task = "undefined", slots = "1";
  std::string_view failed = "0", submitted = "Fri Mar 27 22:06:53 2020";
};

std::string text_of(const QacctRecord& of) {
  return fmt::format(
      "==============================================================\n"
      "qname        gpu.q               \nhostname     n68                 \n"
      "group        staff               \nowner        ann                 \n"
      "project      NONE                \ndepartment   defaultdepartment   \n"
      "jobname      train: all          \njobnumber    7                   \n"
      "taskid       {}\naccount      sge                 \npriority     0                   \n"
      "qsub_time    {}\nstart_time   {}\nend_time     {}\n"
      "granted_pe   NONE                \nslots        {}                   \n"
      "failed       {}    \nexit_status  0                   \nru_wallclock 40s\n"
      "ru_utime     6.401s\nru_stime     1.181s\nru_maxrss    6.121KB\ncpu          7.582s\n"
      "mem          29.088MBs\nio           379.767MB\nmaxvmem      6.105MB\n"
      "arid         undefined\nar_sub_time  undefined\n{}",
      of.task, of.submitted, of.start, of.end, of.slots, of.failed, of.category);
}

std::string read_qacct(std::string_view text, const char* zone = "Europe/Paris") {
  return accounting::shown(accounting::read_all(read_qacct_record, text, 11, is_qacct_separator,
                                                TimeZone::parse(zone).value()));
}

constexpr std::string_view kQacctLabels =
    "account=sge exit_code=0 group=staff job_name=train: all partition=gpu.q queue=gpu.q "
    "state=COMPLETED submit_time=2020-03-27T21:06:53Z user=ann\n";

TEST(Qacct, ARecordIsAHoldingInTheClustersTime) {
  const std::string job = fmt::format(
      "7 nodes n68=2 2020-03-27T21:06:57Z/2020-03-27T21:07:37Z cpu=1000 {}", kQacctLabels);
  EXPECT_EQ(read_qacct("$ qacct -j 7\n" + text_of({})), job);
  EXPECT_EQ(read_qacct("\xEF\xBB\xBF" + text_of({})), job);  // a byte order mark hides nothing
  EXPECT_EQ(read_qacct(text_of({}) + text_of({.task = "3"}) +
                       "Total System Usage\n    WALLCLOCK         UTIME         STIME\n" +
                       std::string(80, '=') + "\n           40         1.500         0.250\n"),
            job + "7[3]" + job.substr(1) + "1 others\n");
  const auto used =
      accounting::read_all(read_qacct_record, text_of({}), 65'536, is_qacct_separator);
  ASSERT_EQ(used.outcomes.size(), 2U);
  EXPECT_EQ(used.outcomes[0].count, 7582U);
  EXPECT_EQ(used.outcomes[1].count, 6251U);  // 6.105 MB in KiB
  // Univa's times, which have parts of seconds as in its accounting file.
  EXPECT_NE(
      read_qacct(text_of({.start = "03/27/2020 22:06:57.680", .end = "03/27/2020 22:07:37.020"}))
          .find("2020-03-27T21:06:57.680Z/2020-03-27T21:07:37.020Z"),
      std::string::npos);
  EXPECT_EQ(read_qacct(text_of({.start = "-/-", .end = "-/-"})), "7 jobs_never_started\n");
  EXPECT_TRUE(is_qacct(text_of({})));
  EXPECT_FALSE(is_qacct("=====\nqname x\n"));
}

// A job of one second in London, of Grid Engine 8.1.9; and one of Gridware's, which prints no
// category.
TEST(Qacct, ASampleOfTwoVersions) {
  std::ifstream in("tests/data/grid_engine/qacct", std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  const std::string shown = read_qacct(text, "Europe/London");
  EXPECT_EQ(shown.substr(0, shown.find('\n')),
            "2467870 nodes abner-601-2.local=0 2020-10-19T20:23:19Z/2020-10-19T20:23:20Z cpu=1000 "
            "account=sge exit_code=0 group=cs_postgrad job_name=submitit partition=test.q "
            "project=csml queue=test.q state=COMPLETED submit_time=2020-10-19T20:21:25Z "
            "user=yicheluo");
  EXPECT_NE(shown.find("\n46 category: this version of qacct"), std::string::npos) << shown;
}

TEST(Qacct, WhatCannotBeKnownIsSetAside) {
  const struct {
    QacctRecord record;
    std::string_view says;
  } table[] = {
      {{.category = ""}, "category: this version of qacct does not print what was requested"},
      {{.start = "Sun Oct 25 02:30:00 2020", .end = "Sun Oct 25 05:00:00 2020"},
       "start_time: 'Sun Oct 25 02:30:00 2020' is in the hour that Europe/Paris has twice"},
      {{.start = "Fri Foo 27 22:06:57 2020"},
       "start_time: 'Fri Foo 27 22:06:57 2020' is not a time"},
      {{.start = ""}, "start_time: '' is not a time"},
      {{.slots = "2"}, "category: 2 slots requested GPUs"},
      {{.slots = "two"}, "slots: 'two' is not a number"}};
  for (const auto& each : table) {
    const std::string said = read_qacct(text_of(each.record));
    EXPECT_NE(said.find(each.says), std::string::npos) << said;
  }
  EXPECT_NE(read_qacct(text_of({}).substr(0, 200)).find("it is cut off"), std::string::npos);
  EXPECT_NE(read_qacct(text_of({.failed = "15  : in epilog"})).find("state=FAILED"),
            std::string::npos);
}

}  // namespace
}  // namespace pennyweight::grid_engine
