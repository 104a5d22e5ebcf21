#include "ingest/inventory/outcomes.h"

#include "ingest/inventory/table_testing.h"

namespace pennyweight::inventory {
namespace {

Read<Outcome> read(std::string_view text, const char* cluster = "c") {
  return read_with<OutcomeReader, Outcome>(
      TableOptions{.file = "o.csv", .cluster = ClusterId(cluster)}, text);
}

TEST(Outcomes, TheDocumentedExample) {
  const auto got = read(documented("outcomes"), "");
  ASSERT_TRUE(got.done) << got.done.error().message;
  EXPECT_TRUE(got.rejected.empty());
  ASSERT_EQ(got.facts.size(), 4U);
  const Outcome& first = got.facts[0];
  EXPECT_EQ(first.cluster.text(), "prod");
  EXPECT_EQ(first.workload.text(), "serving/llama-0");
  EXPECT_EQ(first.measure, kRequests);
  EXPECT_EQ(first.count, 1200U);
  EXPECT_EQ(first.labels.find("user"), "eve");
  EXPECT_EQ(first.during,
            Interval(instant("2026-03-04T08:00:00Z"), instant("2026-03-04T09:00:00Z")));
  EXPECT_EQ(got.facts[2].labels.find("user"), std::nullopt);
  EXPECT_EQ(got.facts[3].measure, "samples");
  EXPECT_EQ(got.facts[3].labels.find("stage"), "pretrain");
}

TEST(Outcomes, RefusesRowByRow) {
  const std::string header = "workload,measure,begin,end,count,user,label:user,label:x\n";
  const std::pair<const char*, const char*> cases[] = {
      {",requests,2026-03-01,2026-03-02,1,,,", "workload"},
      {"w,,2026-03-01,2026-03-02,1,,,", "measure"},
      {"w,requests,2026-03-02,2026-03-02,1,,,", "end"},
      {"w,requests,soon,2026-03-02,1,,,", "begin"},
      {"w,requests,2026-03-01,2026-03-02,,,,", "count"},
      {"w,requests,2026-03-01,2026-03-02,-1,,,", "count"},
      {"w,requests,2026-03-01,2026-03-02,1.5,,,", "count"},
      {"w,requests,2026-03-01,2026-03-02,1000000000000000001,,,", "count"},
      {"w,requests,2026-03-01,2026-03-02,1,a,b,", "label:user"},
  };
  for (const auto& [row, column] : cases) {
    const auto got = read(header + row + "\nw,requests,2026-03-01,2026-03-02,0,,b,\n");
    ASSERT_TRUE(got.done);
    ASSERT_EQ(got.rejected.size(), 1U) << row;
    EXPECT_EQ(got.rejected[0].column, column) << row;
    EXPECT_EQ(got.rejected[0].line, 2U);
    ASSERT_EQ(got.facts.size(), 1U);
    EXPECT_EQ(got.facts[0].labels.find("user"), "b");
    EXPECT_EQ(got.facts[0].count, 0U) << "nobody asked, and that was counted";
  }
}

TEST(Outcomes, RefusesTheFile) {
  EXPECT_FALSE(read("workload,measure,begin,end\n").done);
  EXPECT_FALSE(read("workload,measure,begin,end,count,uesr\n").done);
  const auto nowhere = read("workload,measure,begin,end,count\nw,m,2026-03-01,2026-03-02,1\n", "");
  ASSERT_EQ(nowhere.rejected.size(), 1U);
  EXPECT_EQ(nowhere.rejected[0].column, "cluster");
}

}  // namespace
}  // namespace pennyweight::inventory
