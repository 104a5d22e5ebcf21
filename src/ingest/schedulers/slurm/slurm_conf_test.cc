// Nodes of slurm.conf: what each line makes, and what is refused.
#include "ingest/schedulers/slurm/slurm_conf.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <map>
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

TEST(SlurmConf, SetsOfNodesAreTheirNodes) {
  const std::string nodes = "NodeName=a[1-2] CPUs=1 Feature=x,fast\nNodeName=b CPUs=1\n";
  const auto pools_of = [&](const std::string& more) { return nodes_in(nodes + more, true); };
  const std::string both = "1:a1 0x cpu=1 mib=1 shards=0 p\n1:a2 0x cpu=1 mib=1 shards=0 p\n";
  const std::string none = "2:b 0x cpu=1 mib=1 shards=0 \n";
  EXPECT_EQ(pools_of("NodeSet=s Nodes=a1,a2\nPartitionName=p Nodes=s\n"), both + none);
  EXPECT_EQ(pools_of("PartitionName=p Nodes=s\nNodeSet=s Feature=fast\n"), both + none);
  EXPECT_EQ(pools_of("PartitionName=p Nodes=s\nNodeSet=s Feature=fas\n").find(" p\n"),
            std::string::npos);
  EXPECT_EQ(pools_of("nodeset=s nodes=a1 feature=fast\npartitionname=p nodes=s,b\n"),
            both + "2:b 0x cpu=1 mib=1 shards=0 p\n");
  EXPECT_EQ(pools_of("NodeSet=s Nodes=b\nPartitionName=p Nodes=s\nPartitionName=q Nodes=ALL\n"),
            "1:a1 0x cpu=1 mib=1 shards=0 q\n1:a2 0x cpu=1 mib=1 shards=0 q\n"
            "2:b 0x cpu=1 mib=1 shards=0 p\n");
}

// A real one, of AWS ParallelCluster: 5 + 10 nodes with 5 x 2 + 10 x 8 GPUs, 15 without.
TEST(SlurmConf, ASampleOfParallelCluster) {
  std::ifstream in("tests/data/slurm/slurm.conf", std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  const auto found = parse_slurm_conf(text, conf_options(true));
  ASSERT_TRUE(found) << found.error().message;
  std::map<std::string, std::uint64_t> gpus, cores, nodes;
  for (const Node& node : found->nodes) {
    const std::string key = node.pool.text() + " " + node.gpu_model;
    gpus[key] += node.gpu_count;
    cores[key] += node.cpu_milli.value_or(0) / 1000;
    ++nodes[key];
  }
  const std::map<std::string, std::uint64_t> gpus_expected = {
      {"gpu m60", 10}, {"gpu v100", 80}, {"multiple_spot ", 0}};
  const std::map<std::string, std::uint64_t> cores_expected = {
      {"gpu m60", 80}, {"gpu v100", 480}, {"multiple_spot ", 40}};
  const std::map<std::string, std::uint64_t> nodes_expected = {
      {"gpu m60", 5}, {"gpu v100", 10}, {"multiple_spot ", 15}};
  EXPECT_EQ(gpus, gpus_expected);
  EXPECT_EQ(cores, cores_expected);
  EXPECT_EQ(nodes, nodes_expected);
  EXPECT_TRUE(found->rejected.empty());
  ASSERT_FALSE(found->notes.empty());
  EXPECT_NE(found->notes.back().find("30 of its nodes are in state CLOUD"), std::string::npos);
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
