// What tracejob prints: it holds what the same records of the accounting log do, however its lines
// are wrapped, and what a line's end may have cut is set aside.
#include "ingest/schedulers/pbs/tracejob.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "ingest/schedulers/accounting/accounting_testing.h"
#include "ingest/schedulers/pbs/accounting.h"

namespace pennyweight::pbs {
namespace {

using accounting::AccountingReading;

AccountingReading trace(std::string_view text, std::size_t chunk = 65'536) {
  AccountingReading read;
  const auto into = [](auto& facts) {
    return [&facts](const auto& some) -> Result<void> {
      facts.insert(facts.end(), some.begin(), some.end());
      return {};
    };
  };
  TracejobReader reader(
      {.file = "f", .cluster = ClusterId("c"), .read_at = parse_instant("2026-03-01").value()},
      {.holdings = into(read.holdings),
       .outcomes = into(read.outcomes),
       .rejected = into(read.rejected)});
  for (std::size_t at = 0; at < text.size(); at += chunk) {
    EXPECT_TRUE(reader.feed(text.substr(at, chunk)));
  }
  EXPECT_TRUE(reader.finish());
  read.counts = reader.counts();
  return read;
}

constexpr std::string_view kRun =
    "user=ann group=\"the lab\" account=physics project=quarks jobname=train queue=gpu "
    "ctime=1770861600 start=1770865200 "
    "exec_vnode=(n1:ncpus=8:ngpus=2:mem=10gb)+(n2:ncpus=8:ngpus=1) Resource_List.ngpus=3 "
    "resources_used.GPU_endTime=n1:(gpu0:Wed Feb 11 21:12:21 2026) end=1770868800 Exit_status=0 "
    "resources_used.cput=01:00:00";

// tracejob's lines of so many columns at least, wrapped at blanks as it does.
std::string traced(std::string_view record, std::size_t columns) {
  std::string out =
      "Job: 7.srv\n\n02/11/2026 20:12:20  L    Considering job to run\n"
      "02/11/2026 20:12:21  A    ";
  std::size_t used = 0;
  for (std::size_t i = 0; i < record.size(); ++i) {
    const bool breaks = record[i] == ' ' && used >= columns;
    out += breaks ? "\n" + std::string(26, ' ') : std::string(1, record[i]);
    used = breaks ? 0 : used + 1;
  }
  return out + "\n02/11/2026 20:12:22  S    dequeuing from gpu\n";
}

TEST(Tracejob, HoldsWhatTheAccountingLogSays) {
  const std::string logged = shown(
      accounting::read_all(read_record, "02/11/2026 20:12:21;E;7.srv;" + std::string(kRun) + "\n"));
  ASSERT_TRUE(logged.starts_with("7.srv ")) << logged;
  for (std::size_t columns = 1; columns < 500; ++columns) {
    EXPECT_EQ(shown(trace(traced(kRun, columns), columns)), logged) << columns;
  }
}

TEST(Tracejob, ASampleOfARealServer) {
  std::ifstream in(std::string(TEST_DATA) + "/pbs/tracejob");
  const std::string text((std::istreambuf_iterator<char>(in)), {});
  ASSERT_TRUE(is_tracejob(text));
  for (const std::size_t chunk : {std::size_t{1}, std::size_t{7}, text.size()}) {
    EXPECT_EQ(shown(trace(text, chunk)), "67.dll-2-1-1 jobs_of_zero_length\n2 others\n");
  }
}

TEST(Tracejob, RunsOfOneJobAndSeveralJobsInOneFile) {
  const std::string text =
      "Job: 7.srv\n\n02/11/2026 20:12:21  A    user=ann start=1770865200 end=1770866000 "
      "exec_vnode=(n1:ngpus=1) Exit_status=-11\n"
      "02/11/2026 21:12:21  A    user=ann start=1770866100 end=1770868800 exec_vnode=(n1:ngpus=1)\n"
      "/var/spool/pbs/mom_logs/20260211: No such file or directory\n"
      "Job: 8.srv\n\n02/11/2026 21:12:21  A    requestor=ann@login\n"
      "02/11/2026 21:12:21  A    user=bob start=1770866100 end=1770866160 "
      "exec_vnode=(n2:ngpus=4)\n";
  const auto read = trace(text);
  ASSERT_EQ(read.holdings.size(), 3u);
  EXPECT_EQ(read.holdings[0].workload.text(), "7.srv");
  EXPECT_EQ(read.holdings[1].workload.text(), "7.srv");
  EXPECT_NE(read.holdings[0].attempt, read.holdings[1].attempt);
  EXPECT_EQ(read.holdings[2].workload.text(), "8.srv");
  EXPECT_EQ(read.holdings[2].source.line, 9u);
  EXPECT_EQ(read.counts.others, 1u);
}

TEST(Tracejob, OnlyRunsThatEndedHoldSomething) {
  const std::string line = "02/11/2026 20:12:21  A    ";
  const auto read = trace(
      "Job: R8.srv\n\n" + line +
      "owner=ann queue=R8 ctime=1 start=1770865200 end=1770868800 "
      "duration=3600 nodes=(n1:ncpus=8:ngpus=2)\n" +
      "Job: 7.srv\n\n" + line + "user=ann start=1770865200 exec_vnode=(n1:ngpus=2)\n" + line +
      "resources_used.ncpus=2 resources_released=(n1:ngpus=2)\n" + line +
      "user=ann start=1770865200 exec_vnode=(n1:ngpus=2) session=9\n" + line +
      "user=ann account=\"owner= duration=1\" start=1770865200 exec_vnode=(n1:ngpus=2) session=9 "
      "end=1770868800\n");
  EXPECT_TRUE(read.rejected.empty());
  ASSERT_EQ(read.holdings.size(), 1u);
  EXPECT_EQ(read.holdings[0].held.length_ms(), 3'600'000u);
  EXPECT_EQ(read.counts.others, 4u);
  EXPECT_EQ(read.counts.disregarded.size(), 2u);
}

// Lines of a terminal that cut words: 170886 | 8800 is no time, n2:nc | pus=8 no vnode.
TEST(Tracejob, AValueThatALineEndCutIsSetAside) {
  for (const std::string_view at :
       {"start=1770", "end=177086", "exec_vnode=(n1:ncpus=8:ng",
        "exec_vnode=(n1:ncpus=8:ngpus=2:mem=10gb)", "Resource_List.ng",
        "resources_used.cput=01:", "user=a", "account=phys", "project=qu", "jobname=tr"}) {
    const std::size_t cut = kRun.find(at) + at.size();
    for (const std::string_view indent : {"      ", ""}) {
      const auto read =
          trace("Job: 7.srv\n\n02/11/2026 20:12:21  A    " + std::string(kRun.substr(0, cut)) +
                "\n" + std::string(indent) + std::string(kRun.substr(cut)) + "\n");
      EXPECT_TRUE(read.holdings.empty()) << at;
      ASSERT_EQ(read.rejected.size(), 1u) << at;
      EXPECT_EQ(read.rejected[0].line, 3u);
    }
  }
}

TEST(Tracejob, AGroupWithoutQuotesThatALineEndCutIsSetAside) {
  const auto read = trace(
      "Job: 7.srv\n\n02/11/2026 20:12:21  A    user=ann group=phys\n      ics "
      "start=1770865200 end=1770868800 exec_vnode=(n1:ngpus=1)\n");
  EXPECT_TRUE(read.holdings.empty());
  EXPECT_EQ(read.rejected.size(), 1u);
}

TEST(Tracejob, IsToldFromOtherText) {
  EXPECT_FALSE(is_tracejob(""));
  EXPECT_FALSE(is_tracejob("Job: 7.srv\n\n02/11/2026 20:12:21  S    Job Queued\n"));
  EXPECT_FALSE(is_tracejob("02/11/2026 20:12:21  A    queue=gpu\n"));
  EXPECT_TRUE(is_tracejob("Job: 7.srv\n\n02/11/2026 20:12:21  A    queue=gpu\n"));
  EXPECT_EQ(shown(trace("02/11/2026 20:12:21  A    start=1770865200 end=1770866000\n")),
            "1 : there is no job, or nothing after it: the record is cut off\n");
}

}  // namespace
}  // namespace pennyweight::pbs
