#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>

#include "core/limits.h"
#include "ingest/schedulers/openb/nodes.h"
#include "ingest/schedulers/openb/pods.h"

namespace pennyweight::openb {
namespace {

constexpr Instant kOrigin = from_unix_seconds(1'700'000'000);
constexpr Instant kReadAt = from_unix_seconds(1'700'000'000 + 20'000'000);
constexpr const char* kPodHeader =
    "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_"
    "time,"
    "scheduled_time\n";

std::string read_file(const std::string& path) {
  std::ifstream file(std::string(PROJECT_ROOT) + "/" + path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

template <class Counts, class Fact>
struct Read {
  Result<void> done;
  std::vector<Fact> facts;
  std::vector<RejectedRow> rejected;
  Counts counts;
};

template <class Fact>
FactSink<Fact> into(std::vector<Fact>& facts) {
  return [&facts](std::span<const Fact> batch) -> Result<void> {
    EXPECT_LE(batch.size(), limits::kBatchRows);
    facts.insert(facts.end(), batch.begin(), batch.end());
    return {};
  };
}

template <class Reader, class Counts, class Fact, class Options>
Read<Counts, Fact> read_with(const Options& options, std::string_view text, std::size_t chunk) {
  Read<Counts, Fact> read;
  Reader reader(options, into(read.facts), into(read.rejected));
  while (read.done && !text.empty()) {
    read.done = reader.feed(text.substr(0, chunk));
    text.remove_prefix(std::min(chunk, text.size()));
  }
  if (read.done) read.done = reader.finish();
  read.counts = reader.counts();
  return read;
}

Read<PodCounts, Holding> read_pods(std::string_view text, std::size_t chunk = 1u << 16) {
  return read_with<PodReader, PodCounts, Holding>(
      PodOptions{
          .file = "pods.csv", .cluster = ClusterId("k8s"), .origin = kOrigin, .read_at = kReadAt},
      text, chunk);
}

Read<NodeCounts, Node> read_nodes(std::string_view text, std::optional<PoolId> pool = {}) {
  return read_with<NodeReader, NodeCounts, Node>(NodeOptions{.file = "nodes.csv",
                                                             .cluster = ClusterId("k8s"),
                                                             .from = kOrigin,
                                                             .to = std::nullopt,
                                                             .pool = std::move(pool)},
                                                 text, text.size());
}

Holding one_pod(const std::string& row) {
  auto read = read_pods(kPodHeader + row + "\n");
  EXPECT_TRUE(read.done) << read.done.error().message;
  EXPECT_EQ(read.facts.size(), 1u)
      << row << ": " << (read.rejected.empty() ? "" : read.rejected[0].reason);
  return read.facts.at(0);
}

GpuTime gpu_time(const Holding& holding) {
  CardShare share = CardShare::whole();
  if (const auto* fraction = std::get_if<CardFraction>(&holding.device)) {
    EXPECT_EQ(fraction->compute, fraction->memory);
    share = fraction->compute;
  }
  return (share * device_count(holding)).over_ms(holding.held.length_ms());
}

// Ten-thousandths of a GPU-hour, rounded half up, as the figures are printed.
std::uint64_t printed(GpuTime time) {
  const UInt128 scaled = time.count() * 10'000;
  return static_cast<std::uint64_t>((scaled + kGpuHour.count() / 2) / kGpuHour.count());
}

// The figures of the trace's README, to each printed digit and, in thousandths of a card and whole
// seconds, exactly.
TEST(OpenbPods, TheTraceInFull) {
  const auto read = read_pods(read_file("data/demo/openb-pods.csv"));
  ASSERT_TRUE(read.done) << read.done.error().message;
  EXPECT_TRUE(read.rejected.empty());
  EXPECT_EQ(read.counts, (PodCounts{.pods = 8152,
                                    .holdings = 7102,
                                    .never_scheduled = 1050,
                                    .without_time = 0,
                                    .rejected = 0}));
  GpuTime total;
  std::map<std::string, GpuTime> by_qos;
  for (const Holding& holding : read.facts) {
    const GpuTime time = gpu_time(holding);
    total += time;
    by_qos[std::string(holding.labels.find("qos").value_or("?"))] += time;
  }
  EXPECT_EQ(printed(total), 344'083'029u);
  const std::map<std::string, std::uint64_t> want = {
      {"BE", 22'352'478}, {"Burstable", 6'990'064}, {"Guaranteed", 6'510'178}, {"LS", 308'230'309}};
  ASSERT_EQ(by_qos.size(), want.size());
  for (const auto& [qos, hours] : want) EXPECT_EQ(printed(by_qos[qos]), hours) << qos;
  // 123,869,890,500 thousandths of a card for a second.
  const auto milli_second = CardShare::of(1, 1000)->over_ms(1000).count();
  EXPECT_EQ(total.count(), milli_second * UInt128{123'869'890'500});
}

TEST(OpenbPods, AnyCutOfTheBytesGivesTheSame) {
  const std::string text = read_file("data/demo/openb-pods.csv").substr(0, 20'000);
  const auto whole = read_pods(text, text.size());
  for (const std::size_t chunk : {1u, 7u, 4096u}) {
    const auto cut = read_pods(text, chunk);
    EXPECT_EQ(cut.facts, whole.facts) << chunk;
    EXPECT_EQ(cut.rejected, whole.rejected) << chunk;
  }
}

TEST(OpenbPods, AWholeRow) {
  const Holding pod = one_pod("p,4000,15258,1,220,V100M16|V100M32,BE,Running,90,200.0,100");
  EXPECT_EQ(pod.cluster.text(), "k8s");
  EXPECT_EQ(pod.workload.text(), "p");
  EXPECT_EQ(pod.held.begin(), kOrigin + std::chrono::seconds(100));
  EXPECT_EQ(pod.held.end(), kOrigin + std::chrono::seconds(200));
  EXPECT_TRUE(pod.ended);
  const CardShare share = CardShare::of(220, 1000).value();
  EXPECT_EQ(pod.device, Device(CardFraction{share, share}));
  EXPECT_EQ(pod.placement, Placement(InPool{{PoolId("V100M16"), PoolId("V100M32")}, 1}));
  EXPECT_EQ(pod.gpu_model, "");
  EXPECT_EQ(pod.cpu_milli, 4000u);
  EXPECT_EQ(pod.memory_bytes, 15258ull << 20);
  EXPECT_EQ(pod.labels.find("qos"), "BE");
  EXPECT_EQ(pod.labels.find("pod_phase"), "Running");
  EXPECT_TRUE(pod.labels.find(kSubmitTimeLabel).has_value());
  EXPECT_EQ(pod.source.line, 2u);
}

TEST(OpenbPods, Requests) {
  EXPECT_EQ(one_pod("p,1,1,8,1000,,LS,Running,0,9,1").device, Device(WholeGpu{}));
  EXPECT_EQ(one_pod("p,1,1,8,1000,,LS,Running,0,9,1").placement, Placement(InPool{{}, 8}));
  EXPECT_EQ(one_pod("p,1,1,0,0,,LS,Running,0,9,1").placement, Placement(InPool{{}, 0}));
  EXPECT_EQ(one_pod("p,1,1,1,1000,T4,LS,Running,0,9,1").gpu_model, "T4");
}

TEST(OpenbPods, StillRunning) {
  const Holding pod = one_pod("p,1,1,1,1000,,LS,Running,0,,1");
  EXPECT_FALSE(pod.ended);
  EXPECT_EQ(pod.held.end(), kReadAt);
}

TEST(OpenbPods, NodeAndNamespaceColumns) {
  const auto read = read_pods(
      "name,namespace,node,cpu_milli,memory_mib,num_gpu,gpu_milli,qos,pod_phase,creation_time,"
      "deletion_time,scheduled_time\np,team-a,n1,1,1,2,1000,LS,Running,0,9,1\n");
  ASSERT_EQ(read.facts.size(), 1u);
  EXPECT_EQ(read.facts[0].workload.text(), "team-a/p");
  EXPECT_EQ(read.facts[0].labels.find("namespace"), "team-a");
  EXPECT_EQ(read.facts[0].placement, Placement(OnNodes{{{NodeId("n1"), 2}}}));
}

TEST(OpenbPods, WhatHeldNothingIsCounted) {
  const auto read = read_pods(std::string(kPodHeader) +
                              "a,1,1,1,1000,,LS,Pending,0,9,\nb,1,1,1,1000,,LS,Failed,0,9,9\n");
  EXPECT_TRUE(read.facts.empty());
  EXPECT_EQ(read.counts.never_scheduled, 1u);
  EXPECT_EQ(read.counts.without_time, 1u);
  EXPECT_EQ(read.counts.pods, 2u);
}

TEST(OpenbPods, BadRowsAreKeptAside) {
  struct Case {
    const char* row;
    const char* column;
  };
  constexpr Case kCases[] = {
      {",1,1,1,1000,,LS,Running,0,9,1", "name"},
      {"NULL,1,1,1,1000,,LS,Running,0,9,1", "name"},
      {"p,x,1,1,1000,,LS,Running,0,9,1", "cpu_milli"},
      {"p,,1,1,1000,,LS,Running,0,9,1", "cpu_milli"},
      {"p,-1,1,1,1000,,LS,Running,0,9,1", "cpu_milli"},
      {"p,1,99999999999999999999,1,1000,,LS,Running,0,9,1", "memory_mib"},
      {"p,1,1,-1,1000,,LS,Running,0,9,1", "num_gpu"},
      {"p,1,1,1.5,1000,,LS,Running,0,9,1", "num_gpu"},
      {"p,1,1,99999999999,1000,,LS,Running,0,9,1", "num_gpu"},
      {"p,1,1,1,1001,,LS,Running,0,9,1", "gpu_milli"},
      {"p,1,1,1,-5,,LS,Running,0,9,1", "gpu_milli"},
      {"p,1,1,2,500,,LS,Running,0,9,1", "gpu_milli"},
      {"p,1,1,0,500,,LS,Running,0,9,1", "gpu_milli"},
      {"p,1,1,1,0,,LS,Running,0,9,1", "gpu_milli"},
      {"p,1,1,1,,,LS,Running,0,9,1", "gpu_milli"},
      {"p,1,1,1,1000,A||B,LS,Running,0,9,1", "gpu_spec"},
      {"p,1,1,1,1000,,LS,Running,0,1,9", "deletion_time"},
      {"p,1,1,1,1000,,LS,Running,0,,99999999", "scheduled_time"},
      {"p,1,1,1,1000,,LS,Running,0,NULL,9", "deletion_time"},
      {"p,1,1,1,1000,,LS,Running,0,9,-1", "scheduled_time"},
      {"p,1,1,1,1000,,LS,Running,0,99999999999999,1", "deletion_time"},
      {"p,1,1,1,1000,,LS,Running,now,9,1", "creation_time"},
      {"p,1,1", ""},
      {"p,1,1,1,1000,,LS,Running,0,9,1,extra", ""},
      {"\"p,1,1,1,1000,,LS,Running,0,9,1", ""},
      {"p\xFF,1,1,1,1000,,LS,Running,0,9,1", ""},
  };
  for (const Case& c : kCases) {
    const auto read = read_pods(std::string(kPodHeader) + c.row + "\nok,1,1,1,1000,,LS,R,0,9,1\n");
    ASSERT_TRUE(read.done) << c.row << ": " << read.done.error().message;
    ASSERT_EQ(read.rejected.size(), 1u) << c.row;
    EXPECT_EQ(read.rejected[0].column, c.column) << c.row << ": " << read.rejected[0].reason;
    EXPECT_EQ(read.rejected[0].line, 2u) << c.row;
    EXPECT_EQ(read.rejected[0].file, "pods.csv");
    EXPECT_FALSE(read.rejected[0].reason.empty());
    EXPECT_EQ(read.counts.rejected, 1u);
    ASSERT_EQ(read.facts.size(), 1u) << c.row;  // the good row is not lost
    EXPECT_EQ(read.facts[0].workload.text(), "ok");
  }
}

TEST(OpenbPods, FilesThatAreNone) {
  using namespace std::string_view_literals;
  for (const auto text : {""sv, "\0\1\2\3"sv, "name,qos\na,b\n"sv, "sn,model\na,b\n"sv}) {
    const auto read = read_pods(text);
    ASSERT_FALSE(read.done);
    EXPECT_TRUE(read.done.error().message.starts_with("pods.csv: "));
    EXPECT_TRUE(read.facts.empty());
  }
  const auto misspelt = read_pods(
      "Node,name,cpu_milli,memory_mib,num_gpu,gpu_milli,qos,pod_phase,creation_time,deletion_time,"
      "scheduled_time\nn,p,1,1,1,1000,LS,R,0,9,1\n");
  ASSERT_FALSE(misspelt.done);
  EXPECT_NE(misspelt.done.error().message.find("'Node'"), std::string::npos);
}

TEST(OpenbPods, TheSinkMayStopTheReading) {
  PodReader reader(
      {.file = "f", .cluster = ClusterId("c"), .origin = kOrigin, .read_at = kReadAt},
      [](std::span<const Holding>) -> Result<void> { return fail(ErrorCode::kStore, "full"); },
      [](std::span<const RejectedRow>) -> Result<void> { return {}; });
  ASSERT_TRUE(reader.feed(std::string(kPodHeader) + "p,1,1,1,1000,,LS,R,0,9,1\n"));
  const auto done = reader.finish();
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::kStore);
}

TEST(OpenbNodes, TheTraceInFull) {
  const auto read = read_nodes(read_file("tests/data/openb/openb_node_list_all_node.csv"));
  ASSERT_TRUE(read.done) << read.done.error().message;
  EXPECT_EQ(read.counts, (NodeCounts{.nodes = 1523, .rejected = 0}));
  std::uint64_t gpus = 0;
  for (const Node& node : read.facts) {
    gpus += node.gpu_count;
    EXPECT_EQ(node.pool.text(), node.gpu_model);
  }
  EXPECT_EQ(gpus, 6212u);
  EXPECT_EQ(read.facts[0].name.text(), "openb-node-0000");
  EXPECT_EQ(read.facts[0].cpu_milli, 32'000u);
  EXPECT_EQ(read.facts[0].memory_bytes, 262144ull << 20);
}

TEST(OpenbNodes, OnePoolForAll) {
  const auto read = read_nodes("sn,cpu_milli,memory_mib,gpu,model\na,1,1,2,T4\n", PoolId("gpu"));
  ASSERT_EQ(read.facts.size(), 1u);
  EXPECT_EQ(read.facts[0].pool.text(), "gpu");
  EXPECT_EQ(read.facts[0].gpu_model, "T4");
}

TEST(OpenbNodes, BadRowsAreKeptAside) {
  for (const std::string row : {"a,1,1,2,", "a,1,1,0,T4", ",1,1,2,T4", "a,1,1,x,T4",
                                "a,1,1,9999,T4", "a,,1,2,T4", "a,1,1,2"}) {
    const auto read = read_nodes("sn,cpu_milli,memory_mib,gpu,model\n" + row + "\nb,1,1,2,T4\n");
    ASSERT_TRUE(read.done) << row;
    EXPECT_EQ(read.rejected.size(), 1u) << row;
    EXPECT_EQ(read.facts.size(), 1u) << row;
  }
}

}  // namespace
}  // namespace pennyweight::openb
