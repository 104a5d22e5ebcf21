// Nodes of slurm.conf: what each line makes, and what is refused.
#include "ingest/schedulers/slurm/slurm_conf.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

namespace pennyweight::slurm {
namespace {

ScontrolOptions conf_options(bool pools = false) {
  return {.cluster = ClusterId("c"),
          .from = parse_instant("2026-03-01").value(),
          .file = "slurm.conf",
          .partitions_are_pools = pools};
}

std::string nodes_in(std::string_view text, bool pools = false) {
  const auto found = parse_slurm_conf(text, conf_options(pools));
  if (!found) return found.error().message;
  std::string shown;
  for (const Node& node : found->nodes) {
    shown +=
        fmt::format("{}:{} {}x{} cpu={} mib={} shards={} {}\n", node.source.line, node.name.text(),
                    node.gpu_count, node.gpu_model, node.cpu_milli.value_or(0) / 1000,
                    node.memory_bytes.value_or(0) >> 20, node.shard_count, node.pool.text());
  }
  for (const RejectedRow& row : found->rejected) {
    shown += fmt::format("{} {}: {}\n", row.line, row.column, row.reason);
  }
  for (const std::string& note : found->notes) shown += note + "\n";
  return shown;
}

TEST(SlurmConf, NodesWithDefaultsListsAndPartitions) {
  EXPECT_EQ(
      nodes_in("# a cluster\nClusterName=lab\nNodeName=DEFAULT CPUs=64 RealMemory=512000 # all\n"
               "nodename=n[1-2] Gres=gpu:a100:4,shard:16 \\\n  State=UNKNOWN\n"
               "NodeName=big Gres=gpu:h100:8(S:0-1) CPUs=128 Reason=\"a b\" RealMemory=1024\n"
               "NodeName=login Sockets=2 CoresPerSocket=8 ThreadsPerCore=2 CPUs=32\n"
               "PartitionName=all Nodes=ALL\nPartitionName=gpu Nodes=n[1-2],big Default=YES\n",
               true),
      "4:n1 4xa100 cpu=64 mib=512000 shards=16 gpu\n"
      "4:n2 4xa100 cpu=64 mib=512000 shards=16 gpu\n"
      "6:big 8xh100 cpu=128 mib=1024 shards=0 gpu\n"
      "7:login 0x cpu=32 mib=512000 shards=0 all\n");
  // Without CPUs the product of what there is.
  EXPECT_EQ(nodes_in("NodeName=n1 Boards=1 SocketsPerBoard=2 CoresPerSocket=8 ThreadsPerCore=2\n"),
            "1:n1 0x cpu=32 mib=1 shards=0 \n");
  EXPECT_EQ(nodes_in("NodeName=n1 CPUs=4 State=FUTURE\nNodeName=n2 CPUs=4\n"),
            "2:n2 0x cpu=4 mib=1 shards=0 \n");
}

TEST(SlurmConf, WhatCantBeIsRefused) {
  EXPECT_EQ(nodes_in("ClusterName=lab\n"), "there is no NodeName line in it");
  EXPECT_EQ(nodes_in("ClusterName=lab\nInclude nodes.conf\n"),
            "there is no NodeName line in it: it includes nodes.conf; import that");
  EXPECT_EQ(nodes_in("ClusterName=x\n\nNodeName=n[1-\n").substr(0, 22), "line 3: NodeName=n[1-:");
  EXPECT_EQ(nodes_in("NodeName=n1 CPUs=many\n"), "1 CPUTot: it is not a number of processors\n");
  EXPECT_EQ(nodes_in("NodeName=n1 Sockets=x\n"), "1 CPUTot: it is not a number of processors\n");
  EXPECT_NE(nodes_in("NodeName=n1 CPUs=1 RealMemory=2G\n").find("1 RealMemory: "),
            std::string::npos);
  // The same node twice, and differently.
  EXPECT_NE(
      nodes_in("NodeName=n1 CPUs=1\nNodeName=n1 CPUs=2\n").find("2 NodeName: the node appears"),
      std::string::npos);
}

TEST(SlurmConf, IsToldFromGresConfAndScontrol) {
  EXPECT_TRUE(is_slurm_conf("# comment\nClusterName=lab\n"));
  EXPECT_TRUE(is_slurm_conf("NodeName=n[1-4] CPUs=16 Gres=gpu:a100:4\n"));
  EXPECT_FALSE(is_slurm_conf("NodeName=n1 Arch=x86_64\n   CPUAlloc=0 CPUTot=16\n"));
  EXPECT_FALSE(is_slurm_conf("NodeName=n1 Name=gpu Type=a100 File=/dev/nvidia[0-3]\n"));
  EXPECT_TRUE(is_gres_conf("NodeName=n1 Name=gpu Type=a100 File=/dev/nvidia[0-3]\n"));
  EXPECT_TRUE(is_gres_conf("AutoDetect=nvml\n"));
  EXPECT_FALSE(is_gres_conf("ClusterName=lab\nGresTypes=gpu\nNodeName=n1 Gres=gpu:4\n"));
}

}  // namespace
}  // namespace pennyweight::slurm
