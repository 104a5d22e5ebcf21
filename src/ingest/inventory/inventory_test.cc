#include <gtest/gtest.h>

#include <map>

#include "core/limits.h"
#include "ingest/inventory/gpus.h"
#include "ingest/inventory/holdings.h"
#include "ingest/inventory/nodes.h"
#include "ingest/inventory/table_testing.h"

namespace pennyweight::inventory {
namespace {

Read<Node> read_nodes(std::string_view text, std::string cluster = "c") {
  return read_with<NodeReader, Node>(
      TableOptions{.file = "nodes.csv", .cluster = ClusterId(std::move(cluster))}, text);
}
Read<Gpu> read_gpus(std::string_view text) {
  return read_with<GpuReader, Gpu>(TableOptions{.file = "gpus.csv", .cluster = ClusterId("c")},
                                   text);
}
Read<Holding> read_holdings(std::string_view text) {
  return read_with<HoldingReader, Holding>(
      HoldingOptions{
          .file = "holdings.csv",
          .cluster = ClusterId("c"),
          .read_at = instant("2026-04-01"),
          .find_mig_profile = [](const ClusterId&, const GpuId& id) -> std::optional<std::string> {
            if (id.text() == "MIG-1" || id.text() == "MIG-2") return "1g.5gb";
            if (id.text() == "MIG-3") return "3g.20gb";
            return std::nullopt;
          }},
      text);
}

TEST(Inventory, TheDocumentedNodes) {
  const auto read = read_nodes(documented("nodes"), "");
  ASSERT_TRUE(read.done) << read.done.error().message;
  ASSERT_TRUE(read.rejected.empty()) << read.rejected[0].reason;
  ASSERT_EQ(read.facts.size(), 4u);
  EXPECT_EQ(read.facts[0], (Node{.cluster = ClusterId("prod"),
                                 .name = NodeId("gpu-1"),
                                 .provider_id = "i-0a1",
                                 .instance_type = "p5.48xlarge",
                                 .region = "us-east-1",
                                 .pool = PoolId("h100"),
                                 .gpu_model = "NVIDIA H100 80GB HBM3",
                                 .gpu_count = 8,
                                 .shard_count = 0,
                                 .mps_count = 0,
                                 .sharing = GpuSharing::kNone,
                                 .gpu_replicas = 0,
                                 .replicas_renamed = false,
                                 .cpu_milli = 192'000,
                                 .memory_bytes = 2048ull << 30,
                                 .from = instant("2026-01-01"),
                                 .to = std::nullopt,
                                 .id = {},
                                 .source = {2}}));
  EXPECT_EQ(read.facts[1].to, instant("2026-06-15T12:00:00Z"));
  EXPECT_EQ(read.facts[2].cpu_milli, 1500u);
  EXPECT_EQ(read.facts[2].memory_bytes, 8'085'275'935u);  // 7.53 * 2^30 = 8085275934.72
  EXPECT_EQ(read.facts[3].sharing, GpuSharing::kTimeSlicing);
  EXPECT_EQ(read.facts[3].gpu_count, 8u);
  EXPECT_EQ(read.facts[3].gpu_replicas, 10u);
  EXPECT_TRUE(read.facts[3].replicas_renamed);
}

TEST(Inventory, TheDocumentedGpus) {
  const auto read = read_gpus(documented("gpus"));
  ASSERT_TRUE(read.done) << read.done.error().message;
  ASSERT_TRUE(read.rejected.empty()) << read.rejected[0].reason;
  ASSERT_EQ(read.facts.size(), 2u);
  EXPECT_EQ(read.facts[0].uuid.text(), "GPU-5a0c");
  EXPECT_EQ(read.facts[0].memory_bytes, 40960ull << 20);
  EXPECT_EQ(read.facts[0].mig_instances, (std::vector<MigInstance>{{GpuId("MIG-71f2"), "3g.20gb"},
                                                                   {GpuId("MIG-88c1"), "2g.10gb"},
                                                                   {GpuId("MIG-90aa"), "1g.5gb"}}));
  EXPECT_EQ(read.facts[1].index, 1u);
  EXPECT_TRUE(read.facts[1].mig_instances.empty());
}

TEST(Inventory, TheDocumentedHoldings) {
  const auto read = read_holdings(documented("holdings"));
  ASSERT_TRUE(read.done) << read.done.error().message;
  ASSERT_TRUE(read.rejected.empty()) << read.rejected[0].reason;
  ASSERT_EQ(read.facts.size(), 9u);
  EXPECT_EQ(read.facts[0].placement,
            Placement(OnNodes{{{NodeId("gpu-1"), 8}, {NodeId("gpu-3"), 8}}}));
  EXPECT_EQ(read.facts[0].labels.find("team"), "research");
  EXPECT_EQ(read.facts[0].labels.find("app.kubernetes.io/part-of"), "llm");
  EXPECT_EQ(read.facts[1].device, Device(MigSlice{"3g.20gb"}));
  EXPECT_EQ(read.facts[1].placement, Placement(OnGpus{{GpuId("MIG-71f2")}}));
  EXPECT_EQ(read.facts[2].attempt, "2");
  EXPECT_FALSE(read.facts[2].ended);
  EXPECT_EQ(read.facts[2].held.end(), instant("2026-04-01"));
  EXPECT_EQ(read.facts[3].placement, Placement(InPool{{PoolId("h100"), PoolId("a100")}, 2}));
  const CardShare quarter = CardShare::of(1, 4).value();
  EXPECT_EQ(read.facts[3].device, Device(CardFraction{quarter, quarter}));
  EXPECT_EQ(read.facts[3].cpu_milli, 4000u);
  EXPECT_EQ(read.facts[3].memory_bytes, 33ull << 29);
  EXPECT_EQ(read.facts[4].placement, Placement(OnNodes{{{NodeId("gpu-2"), 3}}}));
  EXPECT_EQ(read.facts[5].placement, Placement(InPool{{}, 0}));
  EXPECT_EQ(device_count(read.facts[5]), 0u);
  EXPECT_EQ(read.facts[6].device, Device(Replica{}));
  EXPECT_EQ(device_count(read.facts[6]), 2u);
  EXPECT_EQ(read.facts[7].device, Device(VirtualGpu{30, 8ull << 30, {}}));
  EXPECT_EQ(read.facts[7].gpu_group, "");
  EXPECT_EQ(read.facts[8].gpu_group, "gpu-1-abc");
  EXPECT_TRUE(read.facts[8].is_reservation);
}

TEST(Inventory, FewColumnsAreEnough) {
  EXPECT_EQ(read_nodes("node,from\nn1,2026-01-01\n").facts.at(0).cluster.text(), "c");
  EXPECT_EQ(
      read_gpus("\xEF\xBB\xBFuuid , node,from\r\nG, n1 ,2026-01-01\r\n").facts.at(0).node.text(),
      "n1");
  EXPECT_EQ(read_holdings("workload,begin,pool,devices\nw,2026-01-01,p,1\n").counts.facts, 1u);
}

TEST(Inventory, UnknownAndMissingColumnsAreErrorsThatNameThem) {
  struct Case {
    Result<void> done;
    const char* want;
  };
  const Case kCases[] = {
      {read_nodes("node,from,gpu_cout\nn,2026-01-01,8\n").done, "'gpu_cout'"},
      {read_nodes("node,From\nn,2026-01-01\n").done, "from"},
      {read_gpus("node,uuid,from,label:x\nn,G,2026-01-01,y\n").done, "'label:x'"},
      {read_holdings("workload,begin,team,teem\nw,2026-01-01,a,b\n").done, "'teem'"},
      {read_holdings("workload,begin,label:\nw,2026-01-01,a\n").done, "'label:'"},
      {read_holdings("workload,pool\nw,p\n").done, "begin"},
      {read_holdings("").done, "holdings.csv"},
  };
  for (const Case& c : kCases) {
    ASSERT_FALSE(c.done) << c.want;
    EXPECT_NE(c.done.error().message.find(c.want), std::string::npos) << c.done.error().message;
  }
}

TEST(Inventory, BadNodes) {
  struct Case {
    const char* row;
    const char* column;
  };
  constexpr Case kCases[] = {
      {",2026-01-01,,,,,,", "node"},
      {"n,,,,,,,", "from"},
      {"n,yesterday,,,,,,", "from"},
      {"n,2026-01-01,2026-01-01,,,,,", "to"},
      {"n,2026-01-02,2026-01-01,,,,,", "to"},
      {"n,2026-01-01,,T4,,,,", "gpu_count"},
      {"n,2026-01-01,,,4,,,", "gpu_model"},
      {"n,2026-01-01,,T4,9999,,,", "gpu_count"},
      {"n,2026-01-01,,T4,-1,,,", "gpu_count"},
      {"n,2026-01-01,,,,16,,", "shard_count"},
      {"n,2026-01-01,,,,,0.0001,", "vcpu"},
      {"n,2026-01-01,,,,,-1,", "vcpu"},
      {"n,2026-01-01,,,,,,1e30", "memory_gib"},
      {"n,2026-01-01,,,,,,\"1,5\"", "memory_gib"},
      {"NULL,2026-01-01,,,,,,", "node"},
      {"n,2026-01-01", ""},
      {"n\xC3,2026-01-01,,,,,,", ""},
  };
  for (const Case& c : kCases) {
    const auto read =
        read_nodes(std::string("node,from,to,gpu_model,gpu_count,shard_count,vcpu,memory_gib\n") +
                   c.row + "\nok,2026-01-01,,,,,,\n");
    ASSERT_TRUE(read.done) << c.row;
    ASSERT_EQ(read.rejected.size(), 1u) << c.row;
    EXPECT_EQ(read.rejected[0].column, c.column) << c.row << ": " << read.rejected[0].reason;
    EXPECT_EQ(read.rejected[0].line, 2u);
    EXPECT_EQ(read.counts, (TableCounts{.facts = 1, .rejected = 1})) << c.row;
  }
}

TEST(Inventory, BadSharing) {
  struct Case {
    const char* row;  // gpu_model, gpu_count, mps_count, sharing, gpu_replicas, replicas_renamed
    const char* column;
  };
  constexpr Case kCases[] = {
      {"T4,4,,MPS,4,", "sharing"},
      {"T4,4,,,4,", "sharing"},
      {"T4,4,,none,4,", "sharing"},
      {"T4,4,,mps,,", "gpu_replicas"},
      {"T4,4,,time-slicing,0,", "gpu_replicas"},
      {"T4,4,,time-slicing,1001,", "gpu_replicas"},
      {"T4,4,,time-slicing,x,", "gpu_replicas"},
      {"T4,4,,,,yes", "replicas_renamed"},
      {"T4,4,,mps,4,maybe", "replicas_renamed"},
      {",,,mps,4,", "gpu_count"},
      {",,800,,,", "mps_count"},
      {"T4,4,1000001,,,", "mps_count"},
  };
  for (const Case& c : kCases) {
    const auto read = read_nodes(
        std::string(
            "node,from,gpu_model,gpu_count,mps_count,sharing,gpu_replicas,replicas_renamed\n"
            "n,2026-01-01,") +
        c.row + "\nok,2026-01-01,T4,4,800,mps,4,no\n");
    ASSERT_TRUE(read.done) << c.row;
    ASSERT_EQ(read.rejected.size(), 1u) << c.row;
    EXPECT_EQ(read.rejected[0].column, c.column) << c.row << ": " << read.rejected[0].reason;
    ASSERT_EQ(read.facts.size(), 1u) << c.row;
    EXPECT_EQ(read.facts[0].mps_count, 800u);
    EXPECT_EQ(read.facts[0].sharing, GpuSharing::kMps);
    EXPECT_EQ(read.facts[0].gpu_replicas, 4u);
  }
}

TEST(Inventory, DevicesInWords) {
  struct Case {
    const char* device;
    const char* want;  // empty: refused
  };
  constexpr Case kCases[] = {
      {"gpu", "gpu"},
      {"shard", "shard"},
      {"mps", "mps"},
      {"replica", "replica"},
      {"mig 3g.20gb", "mig 3g.20gb"},
      {"fraction 36036000/18018000", "fraction 36036000/18018000"},
      {"vgpu cores=30 memory=4294967296", "vgpu cores=30 memory=4294967296"},
      {"vgpu memory_percent=50", "vgpu memory_percent=50"},
      {"vgpu", "vgpu"},
      {"replicas", ""},
      {"vgpu cores=101", ""},
      {"vgpu memory_percent=101", ""},
      {"fraction 72072001/1", ""},
      {"fraction 0/1", ""},
      {"mig", ""},
      {"GPU", ""},
  };
  for (const Case& c : kCases) {
    const auto read = read_holdings(std::string("workload,begin,node,devices,device\n") +
                                    "w,2026-01-01,n1,2," + c.device + "\n");
    ASSERT_TRUE(read.done);
    if (*c.want == 0) {
      ASSERT_EQ(read.rejected.size(), 1u) << c.device;
      EXPECT_EQ(read.rejected[0].column, "device") << read.rejected[0].reason;
      continue;
    }
    ASSERT_EQ(read.facts.size(), 1u) << c.device << ": " << read.rejected.at(0).reason;
    EXPECT_EQ(to_text(read.facts[0].device), c.want);
    EXPECT_EQ(to_text(read.facts[0].placement), "nodes n1=2");
  }
  for (const char* twice : {"w,2026-01-01,n1,2,,mps,1g.5gb,", "w,2026-01-01,n1,2,,mps,,0.5",
                            "w,2026-01-01,,,MIG-1,mps,,"}) {
    const auto read = read_holdings(
        std::string("workload,begin,node,devices,mig,device,profile,fraction\n") + twice + "\n");
    ASSERT_EQ(read.rejected.size(), 1u) << twice;
    EXPECT_EQ(read.rejected[0].column, "device") << read.rejected[0].reason;
  }
}

TEST(Inventory, ClaimsAndGroups) {
  const auto read = read_holdings(
      "workload,begin,gpu,claim,gpu_group,reservation\n"
      "a,2026-01-01,G,ml/shared,,\n"
      "b,2026-01-01,G,,g1,yes\n"
      "c,2026-01-01,G,,,yes\n"
      "d,2026-01-01,G,,g1,perhaps\n");
  ASSERT_EQ(read.facts.size(), 2u);
  EXPECT_EQ(read.facts[0].claim, "ml/shared");
  EXPECT_FALSE(read.facts[0].is_reservation);
  EXPECT_EQ(read.facts[1].gpu_group, "g1");
  EXPECT_TRUE(read.facts[1].is_reservation);
  ASSERT_EQ(read.rejected.size(), 2u);
  EXPECT_EQ(read.rejected[0].column, "gpu_group");
  EXPECT_EQ(read.rejected[1].column, "reservation");
}

TEST(Inventory, ARowWithoutAnyClusterIsRejected) {
  const auto read = read_nodes("node,from,cluster\na,2026-01-01,\nb,2026-01-01,x\n", "");
  ASSERT_EQ(read.rejected.size(), 1u);
  EXPECT_EQ(read.rejected[0].column, "cluster");
  EXPECT_EQ(read.facts.at(0).cluster.text(), "x");
}

TEST(Inventory, BadMigLayouts) {
  struct Case {
    const char* mig;
    const char* model;
  };
  constexpr Case kCases[] = {
      {"MIG-1", "NVIDIA A100-SXM4-40GB"},
      {"=1g.5gb", "NVIDIA A100-SXM4-40GB"},
      {"MIG-1=", "NVIDIA A100-SXM4-40GB"},
      {"MIG-1=1g.5gb;;MIG-2=1g.5gb", "NVIDIA A100-SXM4-40GB"},
      {"MIG-1=1g.5gb;MIG-1=2g.10gb", "NVIDIA A100-SXM4-40GB"},
      {"MIG-1=9g.99gb", "NVIDIA A100-SXM4-40GB"},
      {"MIG-1=4g.20gb;MIG-2=4g.20gb", "NVIDIA A100-SXM4-40GB"},  // 8 of 7 slices
      {"MIG-1=1g.5gb", "Tesla T4"},                              // knows no MIG
  };
  for (const Case& c : kCases) {
    const auto read = read_gpus(std::string("node,uuid,from,mig,model\nn,G,2026-01-01,") + c.mig +
                                "," + c.model + "\n");
    ASSERT_TRUE(read.done);
    ASSERT_EQ(read.rejected.size(), 1u) << c.mig;
    EXPECT_EQ(read.rejected[0].column, "mig") << read.rejected[0].reason;
  }
  EXPECT_EQ(
      read_gpus("node,uuid,from,mig,model\nn,G,2026-01-01,M=1g.5gb,Tomorrow 9000\n").counts.facts,
      1u);
}

constexpr const char* kHoldings =
    "workload,begin,end,gpu,mig,node,pool,devices,profile,fraction,compute_fraction,memory_"
    "fraction,"
    "gpu_model\n";

TEST(Inventory, Devices) {
  struct Case {
    const char* row;
    const char* device;
    const char* placement;
  };
  constexpr Case kCases[] = {
      {"w,2026-01-01,2026-01-02,GPU-1; GPU-2,,,,,,,,,", "gpu", "gpus GPU-1,GPU-2"},
      {"w,2026-01-01,2026-01-02,GPU-1,,,,1,,1/3,,,", "fraction 24024000/24024000", "gpus GPU-1"},
      {"w,2026-01-01,2026-01-02,,MIG-1;MIG-2,,,,,,,,", "mig 1g.5gb", "gpus MIG-1,MIG-2"},
      {"w,2026-01-01,2026-01-02,,MIG-9,,,,2g.10gb,,,,", "mig 2g.10gb", "gpus MIG-9"},
      {"w,2026-01-01,2026-01-02,,,n1,,4,,,,,", "gpu", "nodes n1=4"},
      {"w,2026-01-01,2026-01-02,,,n1=4;n2=2,,6,,,,,", "gpu", "nodes n1=4,n2=2"},
      {"w,2026-01-01,2026-01-02,,,,a;b,8,,,,,", "gpu", "pool 8 a,b"},
      {"w,2026-01-01,2026-01-02,,,,*,8,,,,,", "gpu", "pool 8"},
      {"w,2026-01-01,2026-01-02,,,,a,1,,,0.5,0.25,", "fraction 36036000/18018000", "pool 1 a"},
      {"w,2026-01-01,2026-01-02,,,,a,1,,1.000,,,", "gpu", "pool 1 a"},
      {"w,2026-01-01,2026-01-02,,,,a,2,3g.20gb,,,,A100-SXM4-40GB", "mig 3g.20gb", "pool 2 a"},
  };
  for (const Case& c : kCases) {
    const auto read = read_holdings(std::string(kHoldings) + c.row + "\n");
    ASSERT_TRUE(read.done) << read.done.error().message;
    ASSERT_EQ(read.facts.size(), 1u) << c.row << ": " << read.rejected.at(0).reason;
    EXPECT_EQ(to_text(read.facts[0].device), c.device) << c.row;
    EXPECT_EQ(to_text(read.facts[0].placement), c.placement) << c.row;
  }
}

TEST(Inventory, BadHoldings) {
  struct Case {
    const char* row;
    const char* column;
  };
  constexpr Case kCases[] = {
      {",2026-01-01,,G,,,,,,,,,", "workload"},
      {"w,,,G,,,,,,,,,", "begin"},
      {"w,2026-01-02,2026-01-01,G,,,,,,,,,", "end"},
      {"w,2026-01-01,2026-01-01,G,,,,,,,,,", "end"},
      {"w,2026-05-01,,G,,,,,,,,,", "begin"},
      {"w,2026-01-01,2026-05-01,G,,,,,,,,,", "end"},
      {"w,2026-01-01,NULL,G,,,,,,,,,", "end"},
      {"w,2026-01-01,,,,,,,,,,,", ""},
      {"w,2026-01-01,,,,,,4,,,,,", ""},
      {"w,2026-01-01,,G,,n1,,1,,,,,", "node"},
      {"w,2026-01-01,,G,MIG-1,,,,,,,,", "mig"},
      {"w,2026-01-01,,G;G,,,,,,,,,", "gpu"},
      {"w,2026-01-01,,G;;H,,,,,,,,,", "gpu"},
      {"w,2026-01-01,,G,,,,2,,,,,", "devices"},
      {"w,2026-01-01,,G,,,,,1g.5gb,,,,", "profile"},
      {"w,2026-01-01,,,MIG-9,,,,,,,,", "profile"},
      {"w,2026-01-01,,,MIG-1;MIG-3,,,,,,,,", "mig"},
      {"w,2026-01-01,,,MIG-1,,,,,0.5,,,", "fraction"},
      {"w,2026-01-01,,,,n1,,,,,,,", "devices"},
      {"w,2026-01-01,,,,n1;n2,,4,,,,,", "node"},
      {"w,2026-01-01,,,,n1=4;n1=2,,,,,,,", "node"},
      {"w,2026-01-01,,,,n1=x,,,,,,,", "node"},
      {"w,2026-01-01,,,,=4,,,,,,,", "node"},
      {"w,2026-01-01,,,,n1=4;n2=4,,9,,,,,", "devices"},
      {"w,2026-01-01,,,,,p,,,,,,", "devices"},
      {"w,2026-01-01,,,,,p,-1,,,,,", "devices"},
      {"w,2026-01-01,,,,,p,9999999,,,,,", "devices"},
      {"w,2026-01-01,,,,,p,0,,0.5,,,", "devices"},
      {"w,2026-01-01,,,,,p,1,,0,,,", "fraction"},
      {"w,2026-01-01,,,,,p,1,,1.5,,,", "fraction"},
      {"w,2026-01-01,,,,,p,1,,-0.5,,,", "fraction"},
      {"w,2026-01-01,,,,,p,1,,1/0,,,", "fraction"},
      {"w,2026-01-01,,,,,p,1,,4/3,,,", "fraction"},
      {"w,2026-01-01,,,,,p,1,,1/17,,,", "fraction"},
      {"w,2026-01-01,,,,,p,1,,0.33333333333,,,", "fraction"},
      {"w,2026-01-01,,,,,p,1,,half,,,", "fraction"},
      {"w,2026-01-01,,,,,p,1,,,0.5,,", "memory_fraction"},
      {"w,2026-01-01,,,,,p,1,,,,0.5,", "compute_fraction"},
      {"w,2026-01-01,,,,,p,1,,0.5,0.5,0.5,", "fraction"},
      {"w,2026-01-01,,,,,p,1,1g.5gb,0.5,,,", "fraction"},
      {"w,2026-01-01,,,,,p,1,9g.99gb,,,,A100-SXM4-40GB", "profile"},
  };
  for (const Case& c : kCases) {
    const auto read =
        read_holdings(std::string(kHoldings) + c.row + "\nok,2026-01-01,,G,,,,,,,,,\n");
    ASSERT_TRUE(read.done) << c.row;
    ASSERT_EQ(read.rejected.size(), 1u) << c.row;
    EXPECT_EQ(read.rejected[0].column, c.column) << c.row << ": " << read.rejected[0].reason;
    EXPECT_FALSE(read.rejected[0].reason.empty());
    ASSERT_EQ(read.facts.size(), 1u) << c.row;
    EXPECT_EQ(read.facts[0].workload.text(), "ok");
  }
}

TEST(Inventory, ALabelGivenTwiceIsRejected) {
  const auto read =
      read_holdings("workload,begin,gpu,team,label:team\nw,2026-01-01,G,a,b\nv,2026-01-01,G,,b\n");
  ASSERT_EQ(read.rejected.size(), 1u);
  EXPECT_EQ(read.rejected[0].column, "label:team");
  EXPECT_EQ(read.facts.at(0).labels.find("team"), "b");
}

TEST(Inventory, ManyRowsComeInBatches) {
  std::string text = "workload,begin,gpu\n";
  for (int i = 0; i < 20'000; ++i) text += "w" + std::to_string(i) + ",2026-01-01,G\n";
  std::size_t largest = 0;
  std::size_t all = 0;
  HoldingReader reader(
      {.file = "f",
       .cluster = ClusterId("c"),
       .read_at = instant("2026-02-01"),
       .find_mig_profile = {}},
      [&](std::span<const Holding> batch) -> Result<void> {
        largest = std::max(largest, batch.size());
        all += batch.size();
        return {};
      },
      [](std::span<const RejectedRow>) -> Result<void> { return {}; });
  ASSERT_TRUE(reader.feed(text));
  ASSERT_TRUE(reader.finish());
  EXPECT_EQ(all, 20'000u);
  EXPECT_EQ(largest, limits::kBatchRows);
}

}  // namespace
}  // namespace pennyweight::inventory
