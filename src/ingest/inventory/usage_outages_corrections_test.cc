// The tables of usage, outages and corrections: what they read and what they refuse.
#include <gtest/gtest.h>

#include "ingest/inventory/corrections.h"
#include "ingest/inventory/outages.h"
#include "ingest/inventory/table_testing.h"
#include "ingest/inventory/usage.h"

namespace pennyweight::inventory {
namespace {

TableOptions options(const std::string& cluster = "c") {
  return {.file = "f.csv", .cluster = ClusterId(cluster)};
}
Read<Usage> read_usage(std::string_view text) {
  return read_with<UsageReader, Usage>(options(), text);
}
Read<Outage> read_outages(std::string_view text) {
  return read_with<OutageReader, Outage>(options(), text);
}
Read<Correction> read_corrections(std::string_view text) {
  return read_with<CorrectionReader, Correction>(options(), text);
}

struct Case {
  const char* row;
  const char* column;
};

// Each row is refused for its column, and the good row behind it is read.
template <class Fact>
void expect_refusals(std::span<const Case> cases, const std::string& header,
                     const std::string& good, Read<Fact> (*read)(std::string_view)) {
  for (const Case& c : cases) {
    const auto found = read(header + "\n" + c.row + "\n" + good + "\n");
    ASSERT_TRUE(found.done) << c.row << ": " << found.done.error().message;
    ASSERT_EQ(found.rejected.size(), 1u) << c.row;
    EXPECT_EQ(found.rejected[0].column, c.column) << c.row << ": " << found.rejected[0].reason;
    EXPECT_EQ(found.rejected[0].line, 2u);
    EXPECT_EQ(found.facts.size(), 1u) << c.row;
  }
}

TEST(UsageTable, TheDocumentedRows) {
  const auto read = read_usage(documented("usage"));
  ASSERT_TRUE(read.done) << read.done.error().message;
  ASSERT_TRUE(read.rejected.empty()) << read.rejected[0].reason;
  ASSERT_EQ(read.facts.size(), 3u);
  EXPECT_EQ(read.facts[0], (Usage{.cluster = ClusterId("prod"),
                                  .node = NodeId("gpu-1"),
                                  .gpu = GpuId("GPU-0001"),
                                  .mig_instance = {},
                                  .mig_profile = {},
                                  .model = {},
                                  .at = instant("2026-03-01"),
                                  .gpu_util_ppm = 970'000,
                                  .engine_active_ppm = 812'500,
                                  .sm_active_ppm = {},
                                  .memory_used_bytes = 64ull << 30,
                                  .memory_total_bytes = 80ull << 30,
                                  .power_milliwatts = {},
                                  .energy_millijoules = {},
                                  .workload = WorkloadId("train-1"),
                                  .of_workload = false,
                                  .id = {},
                                  .source = {2}}));
  EXPECT_EQ(read.facts[1].mig_instance, "1");
  EXPECT_EQ(read.facts[1].mig_profile, "3g.20gb");
  EXPECT_FALSE(read.facts[1].gpu_util_ppm);
  EXPECT_TRUE(read.facts[2].of_workload);
}

// Shares are the nearest millionth, and not the one below.
TEST(UsageTable, SharesAreTheNearestMillionth) {
  const auto read = read_usage(
      "cluster,node,gpu,at,gpu_util,engine_active,sm_active\n"
      "c,n,g,2026-03-01,99.99996,0.9999996,0.999892\n"
      "c,n,g,2026-03-02,33.33333333,0.66666666666,0.0000004\n");
  ASSERT_EQ(read.facts.size(), 2u);
  EXPECT_EQ(read.facts[0].gpu_util_ppm, 1'000'000u);
  EXPECT_EQ(read.facts[0].engine_active_ppm, 1'000'000u);
  EXPECT_EQ(read.facts[0].sm_active_ppm, 999'892u);
  EXPECT_EQ(read.facts[1].gpu_util_ppm, 333'333u);
  EXPECT_EQ(read.facts[1].engine_active_ppm, 666'667u);
  EXPECT_EQ(read.facts[1].sm_active_ppm, 0u);
}

TEST(UsageTable, BadRows) {
  constexpr Case kCases[] = {
      {",G,2026-03-01,1,,,,,", "node"},
      {"n,,2026-03-01,1,,,,,", "gpu"},
      {"n,G,,1,,,,,", "at"},
      {"n,G,now,1,,,,,", "at"},
      {"n,G,2026-03-01,,,,,,", ""},
      {"n,G,2026-03-01,,,,,80,", ""},  // a total says nothing was seen
      {"n,G,2026-03-01,-1,,,,,", "gpu_util"},
      {"n,G,2026-03-01,201,,,,,", "gpu_util"},
      {"n,G,2026-03-01,97%,,,,,", "gpu_util"},
      {"n,G,2026-03-01,,50,,,,", "engine_active"},  // percent in a ratio's column
      {"n,G,2026-03-01,,,2.1,,,", "sm_active"},
      {"n,G,2026-03-01,,,,1.5,,", "memory_used_bytes"},
      {"n,G,2026-03-01,,,,1e9,,", "memory_used_bytes"},
      {"n,G,2026-03-01,,,,9223372036854775794,,", "memory_used_bytes"},  // a blank sentinel
      {"n,G,2026-03-01,1,,,,,yes", "workload"},
  };
  expect_refusals<Usage>(
      kCases,
      "node,gpu,at,gpu_util,engine_active,sm_active,memory_used_bytes,memory_total_bytes,"
      "of_workload",
      "n,G,2026-03-01,0,1.294,,0,,no", read_usage);
  EXPECT_EQ(read_usage("node,gpu,at,sm_active\nn,G,2026-03-01,1.294\n").facts.at(0).sm_active_ppm,
            1'294'000u);
}

TEST(OutageTable, TheDocumentedRows) {
  const auto read = read_outages(documented("outages"));
  ASSERT_TRUE(read.done) << read.done.error().message;
  ASSERT_TRUE(read.rejected.empty()) << read.rejected[0].reason;
  ASSERT_EQ(read.facts.size(), 2u);
  EXPECT_EQ(read.facts[0].node.text(), "gpu-2");
  EXPECT_TRUE(read.facts[0].gpu.empty());
  EXPECT_EQ(read.facts[0].during,
            Interval(instant("2026-03-04T08:00:00Z"), instant("2026-03-05T16:30:00Z")));
  EXPECT_EQ(read.facts[0].reason, "drained: replace fan");
  EXPECT_EQ(read.facts[1].gpu.text(), "GPU-0001");
  EXPECT_EQ(read.facts[1].source.line, 3u);
}

TEST(OutageTable, BadRows) {
  constexpr Case kCases[] = {
      {",2026-03-01,2026-03-02", "node"}, {"n,,2026-03-02", "begin"},
      {"n,2026-03-01,", "end"},           {"n,2026-03-01,later", "end"},
      {"n,2026-03-02,2026-03-01", "end"}, {"n,2026-03-02,2026-03-02", "end"},
  };
  expect_refusals<Outage>(kCases, "node,begin,end", "n,2026-03-01,2026-03-02", read_outages);
  EXPECT_FALSE(read_outages("node,begin,end,cause\nn,2026-03-01,2026-03-02,x\n").done);
}

TEST(CorrectionTable, TheDocumentedRows) {
  const auto read = read_corrections(documented("corrections"));
  ASSERT_TRUE(read.done) << read.done.error().message;
  ASSERT_TRUE(read.rejected.empty()) << read.rejected[0].reason;
  ASSERT_EQ(read.facts.size(), 2u);
  const Correction& first = read.facts[0];
  EXPECT_EQ(first.name, "2026-03 gpu day for nlp");
  EXPECT_EQ(first.during, Interval(instant("2026-03-04"), instant("2026-03-05")));
  EXPECT_EQ(first.from.entries(), (std::vector<Labels::Entry>{{"team", "research"}}));
  EXPECT_EQ(first.to.entries(), (std::vector<Labels::Entry>{{"team", "nlp"}, {"user", "ann"}}));
  EXPECT_EQ(first.amount, Money::from_decimal(parse_exact_decimal("98.32").value(), kUsd));
  EXPECT_EQ(first.author, "bo");
  EXPECT_TRUE(read.facts[1].to.empty());
}

TEST(CorrectionTable, BadRows) {
  constexpr Case kCases[] = {
      {",2026-03-01,2026-03-02,team=a,,1,USD,r", "name"},
      {"x,,2026-03-02,team=a,,1,USD,r", "begin"},
      {"x,2026-03-01,,team=a,,1,USD,r", "end"},
      {"x,2026-03-01,2026-03-02,,,1,USD,r", "to"},
      {"x,2026-03-01,2026-03-02,team=a,team=a,1,USD,r", "to"},
      {"x,2026-03-01,2026-03-02,nlp,,1,USD,r", "from"},
      {"x,2026-03-01,2026-03-02,=nlp,,1,USD,r", "from"},
      {"x,2026-03-01,2026-03-02,a=b=c,,1,USD,r", "from"},
      {"x,2026-03-01,2026-03-02,team=a;team=b,,1,USD,r", "from"},
      {"x,2026-03-01,2026-03-02,,team=a;;b=c,1,USD,r", "to"},
      {"x,2026-03-01,2026-03-02,team=a,,,USD,r", "amount"},
      {"x,2026-03-01,2026-03-02,team=a,,0,USD,r", "amount"},
      {"x,2026-03-01,2026-03-02,team=a,,-1,USD,r", "amount"},
      {"x,2026-03-01,2026-03-02,team=a,,\"1,5\",USD,r", "amount"},
      {"x,2026-03-01,2026-03-02,team=a,,0.1234567890123456789,USD,r", "amount"},
      {"x,2026-03-01,2026-03-02,team=a,,1,,r", "currency"},
      {"x,2026-03-01,2026-03-02,team=a,,1,usd,r", "currency"},
      {"x,2026-03-01,2026-03-02,team=a,,1,USD,", "reason"},
  };
  expect_refusals<Correction>(kCases, "name,begin,end,from,to,amount,currency,reason",
                              "y,2026-03-01,2026-03-02,,team=a,1,EUR,r", read_corrections);
}

TEST(SeenAndSaid, ARowWithoutAnyClusterIsRejected) {
  const std::string_view text =
      "node,begin,end,cluster\na,2026-01-01,2026-01-02,\n"
      "b,2026-01-01,2026-01-02,x\n";
  const auto read = read_with<OutageReader, Outage>(options(""), text);
  ASSERT_EQ(read.rejected.size(), 1u);
  EXPECT_EQ(read.rejected[0].column, "cluster");
  EXPECT_EQ(read.facts.at(0).cluster.text(), "x");
}

}  // namespace
}  // namespace pennyweight::inventory
