// Nodes as scontrol prints them, and node descriptions that must be refused.
#include "ingest/schedulers/slurm/scontrol_nodes.h"

#include <gtest/gtest.h>

#include "ingest/schedulers/slurm/sacct_testing.h"

namespace pennyweight::slurm {
namespace {

ScontrolOptions options() {
  return {.cluster = ClusterId("lab"), .from = *parse_instant("2026-11-21"), .file = "nodes.txt"};
}

TEST(ScontrolNodes, RealNode) {
  const auto found =
      parse_scontrol_nodes(file_text(TEST_DATA "/slurm/scontrol-node.txt"), options());
  ASSERT_TRUE(found.has_value());
  ASSERT_EQ(found->nodes.size(), 1u);
  EXPECT_TRUE(found->rejected.empty());
  const Node& node = found->nodes[0];
  EXPECT_EQ(node.name, NodeId("vm"));
  EXPECT_EQ(node.cluster, ClusterId("lab"));
  EXPECT_EQ(node.gpu_model, "a100");
  EXPECT_EQ(node.gpu_count, 4u);
  EXPECT_EQ(node.shard_count, 16u);
  EXPECT_EQ(node.cpu_milli, 2'000u);
  EXPECT_EQ(node.memory_bytes, std::uint64_t{20'000} << 20);
  EXPECT_EQ(node.pool, PoolId(""));
  EXPECT_EQ(node.from, *parse_instant("2026-11-21"));

  ScontrolOptions with_pools = options();
  with_pools.partitions_are_pools = true;
  EXPECT_EQ(parse_scontrol_nodes(file_text(TEST_DATA "/slurm/scontrol-node.txt"), with_pools)
                ->nodes[0]
                .pool,
            PoolId("gpu"));
}

TEST(ScontrolNodes, BothLayouts) {
  const auto found = parse_scontrol_nodes(
      "\xEF\xBB\xBFNodeName=n1 Arch=x86_64 CPUTot=8 Gres=gpu:4(S:0,1) RealMemory=1 State=IDLE\r\n"
      "NodeName=n2 CPUTot=8 Gres=(null) OS=Linux 6 State=IDLE+CLOUD InstanceId=i-1 "
      "InstanceType=m5.large Reason=bad NodeName=n9 Gres=gpu:9 CPUTot=99\r\n"
      "\r\n"
      "NodeName=n3\n   CPUTot=16\n   Gres=gpu:h100:8(S:0-1),nic:2,shard:h100:1K\n"
      "NodeName=n4 State=FUTURE Gres=gpu:what\n",
      options());
  ASSERT_TRUE(found.has_value());
  ASSERT_EQ(found->nodes.size(), 3u);
  EXPECT_TRUE(found->rejected.empty());
  EXPECT_EQ(found->future, 1u);
  EXPECT_EQ(found->nodes[0].gpu_count, 4u);
  EXPECT_EQ(found->nodes[0].gpu_model, "");
  EXPECT_EQ(found->nodes[1].gpu_count, 0u);
  EXPECT_EQ(found->nodes[1].cpu_milli, 8'000u);
  EXPECT_EQ(found->nodes[1].provider_id, "i-1");
  EXPECT_EQ(found->nodes[1].instance_type, "m5.large");
  EXPECT_EQ(found->nodes[2].gpu_model, "h100");
  EXPECT_EQ(found->nodes[2].gpu_count, 8u);
  EXPECT_EQ(found->nodes[2].shard_count, 1024u);
  EXPECT_EQ(found->nodes[2].source.line, 4u);
}

TEST(ScontrolNodes, BadNodesAreKeptAside) {
  const struct {
    std::string_view node, column, reason;
  } table[] = {
      {"NodeName=n[1-2] CPUTot=1", "NodeName", "not the name of one node"},
      {"NodeName= CPUTot=1", "NodeName", "not the name of one node"},
      {"NodeName=n\xff CPUTot=1", "NodeName", "'n?' is not the name of one node"},
      {"NodeName=n1 CPUTot=x", "CPUTot", "not a number of processors"},
      {"NodeName=n1 CPUTot=-4", "CPUTot", "not a number of processors"},
      {"NodeName=n1 CPUTot=99999999999", "CPUTot", "not a number of processors"},
      {"NodeName=n1 RealMemory=1.5G", "RealMemory", "not an amount of memory"},
      {"NodeName=n1 Gres=gpu", "Gres", "'gpu' is not a resource"},
      {"NodeName=n1 Gres=gpu:", "Gres", "'gpu:' is not a resource"},
      {"NodeName=n1 Gres=gpu:a100:four", "Gres", "is not a resource"},
      {"NodeName=n1 Gres=gpu:a100:4,", "Gres", "ends with a comma"},
      {"NodeName=n1 Gres=gpu:a100:4,gpu:a100:4", "Gres", "appears twice"},
      {"NodeName=n1 Gres=gpu:a100:4000", "Gres", "more than the limit of 1024"},
      {"NodeName=n0 CPUTot=9", "NodeName", "appears twice and differs"},
  };
  for (const auto& row : table) {
    const std::string text = "NodeName=n0 CPUTot=1\n" + std::string(row.node) + "\nNodeName=n9\n";
    const auto found = parse_scontrol_nodes(text, options());
    ASSERT_TRUE(found.has_value()) << row.node;
    EXPECT_EQ(found->nodes.size(), 2u) << row.node;
    ASSERT_EQ(found->rejected.size(), 1u) << row.node;
    const RejectedRow& rejected = found->rejected[0];
    EXPECT_EQ(rejected.column, row.column) << row.node;
    EXPECT_TRUE(rejected.reason.find(row.reason) != std::string::npos) << rejected.reason;
    EXPECT_EQ(rejected.line, 2u);
    EXPECT_EQ(rejected.file, "nodes.txt");
  }
}

TEST(ScontrolNodes, SeveralModelsAndMigWithANote) {
  const auto found = parse_scontrol_nodes(
      "NodeName=n1 Gres=gpu:a100:2,gpu:v100:3 State=IDLE\n"
      "NodeName=n2 Gres=gpu:a100_3g.20gb:4,gpu:a100_1g.5gb:2 State=IDLE\n"
      "NodeName=n3 Gres=gpu:h100:2,gpu:a100_3g.20gb:2,mps:h100:200 State=IDLE\n"
      "NodeName=n4 Gres=gpu:h100:2 State=IDLE\n",
      options());
  ASSERT_TRUE(found.has_value());
  ASSERT_EQ(found->nodes.size(), 4u);
  EXPECT_TRUE(found->rejected.empty());
  EXPECT_EQ(found->nodes[0].gpu_model, "a100");
  EXPECT_EQ(found->nodes[0].gpu_count, 5u);
  EXPECT_EQ(found->nodes[1].gpu_model, "a100");
  EXPECT_EQ(found->nodes[1].gpu_count, 2u) << "4 x 3/7 and 2 x 1/7 are two cards";
  EXPECT_EQ(found->nodes[2].gpu_model, "h100");
  EXPECT_EQ(found->nodes[2].gpu_count, 3u);
  EXPECT_EQ(found->nodes[2].mps_count, 200u);
  ASSERT_EQ(found->notes.size(), 4u);
  EXPECT_EQ(found->notes[0],
            "node n1: its 5 GPUs are of 2 models, and 'a100' stands for all of them; describe the "
            "node in an inventory file to tell them apart");
  EXPECT_EQ(found->notes[1],
            "node n2: its 6 MIG instances are taken for 2 cards, the fewest that hold them; if "
            "there are more, describe the node in an inventory file");
}

TEST(ScontrolNodes, WhetherANodeCanBeUsed) {
  const struct {
    std::string_view state;
    bool is_out;
  } table[] = {
      {"IDLE", false},
      {"MIXED", false},
      {"ALLOCATED+CLOUD", false},
      {"IDLE+PLANNED", false},
      {"MIXED+DRAIN", true},
      {"IDLE+DRAIN", true},
      {"DOWN", true},
      {"DOWN*+CLOUD", true},
      {"IDLE*", true},
      {"RESERVED", false},
      {"MAINT", true},
      {"IDLE+MAINT+RESERVED", true},
      {"IDLE+CLOUD~", false},
      {"FAIL", true},
      {"IDLE+CLOUD+POWERED_DOWN", false},
      {"DOWN+POWERED_DOWN", false},
      {"IDLE+NOT_RESPONDING", true},
      {"", false},
  };
  for (const auto& row : table) {
    const auto found = parse_scontrol_nodes(
        "NodeName=n1 State=" + std::string(row.state) + " Gres=gpu:1\n", options());
    ASSERT_TRUE(found.has_value());
    ASSERT_EQ(found->states.size(), 1u);
    EXPECT_EQ(found->states[0].is_out, row.is_out) << row.state;
    EXPECT_EQ(found->states[0].state, row.state);
  }
}

TEST(ScontrolNodes, ReasonsAndSinceWhen) {
  const auto reason = [](std::string_view text) {
    ScontrolOptions in_berlin = options();
    in_berlin.zone = *TimeZone::parse("Europe/Berlin");
    return parse_scontrol_nodes("NodeName=n1 State=DOWN\n   " + std::string(text) + "\n", in_berlin)
        ->states[0];
  };
  EXPECT_EQ(reason("Reason=replace fan [root@1795294099]").reason, "replace fan");
  EXPECT_EQ(reason("Reason=replace fan [root@1795294099]").reason_since,
            from_unix_seconds(1'795'294'099));
  EXPECT_EQ(reason("Reason=Not responding [slurm@2026-03-29T03:30:00]").reason_since,
            *parse_instant("2026-03-29T01:30:00Z"));
  EXPECT_EQ(reason("Reason=by ops [team] at noon").reason, "by ops [team] at noon");
  EXPECT_EQ(reason("Reason=by ops [team] at noon").reason_since, std::nullopt);
  EXPECT_EQ(reason("Weight=1").reason, "");
}

TEST(ScontrolNodes, RefusesWhatIsNotScontrols) {
  for (const std::string_view text :
       {std::string_view(""), std::string_view("\n\n"), std::string_view("slurm_load_node error"),
        std::string_view(" NodeName=n1"), std::string_view("\0\1\2", 3)}) {
    EXPECT_FALSE(parse_scontrol_nodes(text, options()).has_value()) << text;
  }
  std::string many;
  for (std::size_t i = 0; i <= kNodesMax; ++i) many += fmt::format("NodeName=n{}\n", i);
  EXPECT_EQ(parse_scontrol_nodes(many, options()).error().code, ErrorCode::kLimit);
}

}  // namespace
}  // namespace pennyweight::slurm
