#include "ingest/schedulers/kubernetes/cluster_state.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "ingest/schedulers/kubernetes/object_json.h"

namespace pennyweight::kubernetes {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const Instant kDay = *parse_instant("2026-03-01T00:00:00Z");
Instant at(int minutes) { return kDay + std::chrono::minutes(minutes); }

Object object(std::string_view json) {
  ObjectReader reader;
  auto read = reader.read(json);
  EXPECT_TRUE(read) << read.error().message << json;
  return *std::move(read);
}

Object node(std::string_view more_status = "", std::string_view spec = "",
            std::string_view labels =
                R"("nvidia.com/gpu.product":"NVIDIA-L4","nvidia.com/gpu.count":"4")") {
  return object(fmt::format(R"({{"kind":"Node","metadata":{{"name":"n1","uid":"nu",
    "creationTimestamp":"2026-02-01T00:00:00Z","labels":{{{},
    "node.kubernetes.io/instance-type":"g6.12xlarge","topology.kubernetes.io/region":"us-east-1",
    "eks.amazonaws.com/nodegroup":"gpus"}}}},"spec":{{"providerID":"aws:///us-east-1a/i-1"{}}},
    "status":{{"capacity":{{"cpu":"48","memory":"196608000Ki","nvidia.com/gpu":"4"}}{}}}}})",
                            labels, spec, more_status));
}
Object name_space(std::string_view labels = R"("cost-center":"42")") {
  return object(fmt::format(
      R"({{"kind":"Namespace","metadata":{{"name":"team","uid":"su","labels":{{{}}}}}}})", labels));
}
Object job() {
  return object(R"({"kind":"PyTorchJob","apiVersion":"kubeflow.org/v1","metadata":{"name":"train",
    "uid":"ju","namespace":"team","labels":{"kueue.x-k8s.io/queue-name":"research"}}})");
}
struct PodText {
  std::string uid = "u1";
  std::string name = "p1";
  std::string labels = R"("team-id":"nlp")";
  std::string node = "n1";
  std::string phase = "Running";
  std::string scheduled = "2026-03-01T00:01:00Z";
  std::string finished = {};
  std::string deletion = {};
};
Object pod(const PodText& text) {
  const std::string finished =
      text.finished.empty()
          ? ""
          : fmt::format(R"(,"containerStatuses":[{{"name":"a","state":{{"terminated":{{
              "finishedAt":"{}"}}}}}}])",
                        text.finished);
  const std::string scheduled =
      text.node.empty() ? ""
                        : fmt::format(R"(,"conditions":[{{"type":"PodScheduled","status":"True",
              "lastTransitionTime":"{}"}}])",
                                      text.scheduled);
  const std::string deletion =
      text.deletion.empty() ? "" : fmt::format(R"(,"deletionTimestamp":"{}")", text.deletion);
  return object(fmt::format(
      R"({{"kind":"Pod","metadata":{{"name":"{}","uid":"{}","namespace":"team","labels":{{{}}}{},
      "ownerReferences":[{{"apiVersion":"kubeflow.org/v1","kind":"PyTorchJob","name":"train",
      "uid":"ju","controller":true}}]}},"spec":{{{}"containers":[{{"name":"a","image":"torch:2",
      "resources":{{"requests":{{"cpu":"8","memory":"32Gi","nvidia.com/gpu":"2"}}}}}}]}},
      "status":{{"phase":"{}"{}{}}}}})",
      text.name, text.uid, text.labels, deletion,
      text.node.empty() ? "" : fmt::format(R"("nodeName":"{}",)", text.node), text.phase, scheduled,
      finished));
}

// One line a fact.
std::vector<std::string> lines(const Facts& facts) {
  std::vector<std::string> lines;
  for (const Holding& holding : facts.holdings) {
    lines.push_back(fmt::format("{} {} {} {} {} on {}", holding.workload.text(), holding.attempt,
                                to_text(holding.held), holding.ended ? "ended" : "runs",
                                to_text(holding.device), to_text(holding.placement)));
  }
  for (const Node& one : facts.nodes) {
    lines.push_back(fmt::format("node {} {} {}x{} from {}{}", one.name.text(), one.instance_type,
                                one.gpu_count, one.gpu_model, to_text(one.from),
                                one.to ? " gone" : ""));
  }
  for (const Gpu& one : facts.gpus) {
    lines.push_back(fmt::format("gpu {} {} {} from {}{}", one.uuid.text(), one.index, one.model,
                                to_text(one.from), one.to ? " gone" : ""));
  }
  for (const Outage& one : facts.outages) {
    lines.push_back(
        fmt::format("outage {} {} {}", one.node.text(), to_text(one.during), one.reason));
  }
  for (const std::string& one : facts.problems) lines.push_back("problem " + one);
  return lines;
}

ClusterOptions options(KnownFacts known = {}) {
  return {.cluster = ClusterId("c"),
          .labels = {},
          .wait_for = {},
          .gpu_nodes_only = false,
          .known = std::move(known)};
}

// A ledger that answers what the state asks.
struct Ledger {
  std::map<std::string, Node> nodes;
  std::map<std::string, Gpu> gpus;
  std::set<std::string> ended;
  std::map<std::string, Hash128> contents;  // by natural key
  int conflicts = 0;

  template <class Fact>
  void take(const Fact& fact) {
    const auto [found, is_new] =
        contents.try_emplace(to_text(natural_key(fact)), content_hash(fact));
    if (!is_new && found->second != content_hash(fact)) ++conflicts;
  }
  void import(const Facts& facts) {
    for (const Holding& one : facts.holdings) {
      take(one);
      if (one.ended) ended.insert(one.workload.text() + one.attempt);
    }
    for (const Node& one : facts.nodes) {
      take(one);
      nodes.insert_or_assign(one.name.text(), one);
    }
    for (const Gpu& one : facts.gpus) {
      take(one);
      gpus.insert_or_assign(one.uuid.text(), one);
    }
    for (const Outage& one : facts.outages) take(one);
  }
  template <class Fact>
  static std::optional<Fact> find(const std::map<std::string, Fact>& facts,
                                  const std::string& key) {
    const auto found = facts.find(key);
    return found == facts.end() ? std::nullopt : std::optional(found->second);
  }
  KnownFacts known() const {
    return {.node = [this](const NodeId& name) { return find(nodes, name.text()); },
            .gpu = [this](const GpuId& uuid) { return find(gpus, uuid.text()); },
            .has_ended =
                [this](const WorkloadId& workload, const std::string& attempt) {
                  return ended.contains(workload.text() + attempt);
                }};
  }
};

TEST(ClusterState, TheLifeOfAPod) {
  ClusterState state(options());
  state.apply(node(), at(0));
  state.apply(name_space(), at(0));
  state.apply(job(), at(0));
  state.apply(pod({.node = "", .phase = "Pending"}), at(0));
  EXPECT_THAT(lines(state.facts(at(1))),
              ElementsAre("node n1 g6.12xlarge 4xNVIDIA-L4 from 2026-02-01T00:00:00Z"));
  state.apply(pod({.phase = "Pending"}), at(1));
  state.apply(pod({}), at(2));
  const Facts running = state.facts(at(3));
  EXPECT_THAT(lines(running), ElementsAre("team/p1 u1 2026-03-01T00:01:00Z/2026-03-01T00:03:00Z "
                                          "runs gpu on nodes n1=2"));
  const Labels& labels = running.holdings[0].labels;
  EXPECT_EQ(labels.find("team-id"), "nlp");
  EXPECT_EQ(labels.find("namespace"), "team");
  EXPECT_EQ(labels.find("node"), "n1");
  EXPECT_EQ(labels.find("image"), "torch:2");
  EXPECT_EQ(labels.find("namespace.label/cost-center"), "42");
  EXPECT_EQ(labels.find("owner_kind"), "PyTorchJob");
  EXPECT_EQ(labels.find("job"), "train");
  EXPECT_EQ(labels.find("queue"), "research");
  EXPECT_EQ(labels.find("workload_type"), "training");
  EXPECT_EQ(running.holdings[0].cpu_milli, 8000u);

  // Another owner while it runs: later readings name it.
  state.apply(pod({.labels = R"("team-id":"vision")"}), at(4));
  EXPECT_EQ(state.facts(at(5)).holdings[0].labels.find("team-id"), "vision");
  // The same time again gives no reading.
  EXPECT_THAT(lines(state.facts(at(5))), IsEmpty());

  const Object over = pod({.labels = R"("team-id":"vision")",
                           .phase = "Succeeded",
                           .finished = "2026-03-01T00:09:30Z"});
  state.apply(over, at(10));
  const Facts last = state.facts(at(11));
  EXPECT_THAT(lines(last),
              ElementsAre("team/p1 u1 2026-03-01T00:01:00Z/2026-03-01T00:09:30Z ended gpu on nodes "
                          "n1=2"));
  EXPECT_EQ(labels.find("phase"), std::nullopt);
  EXPECT_EQ(last.holdings[0].labels.find("phase"), "Succeeded");
  // Once.
  state.apply(over, at(12));
  EXPECT_THAT(lines(state.facts(at(13))), IsEmpty());
  state.apply_deleted(over, at(14));
  EXPECT_THAT(lines(state.facts(at(15))), IsEmpty());
  EXPECT_EQ(state.counts().pods, 0u);
  EXPECT_EQ(state.counts().ended, 1u);
}

TEST(ClusterState, HowAPodCanEnd) {
  struct Case {
    std::string what;
    std::function<void(ClusterState&)> end;
    std::string expected;
  };
  const std::vector<Case> cases = {
      {"deleted, its containers terminated",
       [](ClusterState& state) {
         state.apply_deleted(pod({.finished = "2026-03-01T00:05:00Z"}), at(6));
       },
       "00:05:00"},
      {"deleted, and nothing says when it ended",
       [](ClusterState& state) { state.apply_deleted(pod({}), at(6)); }, "00:06:00"},
      {"a finalizer keeps the object of a pod that is emptied",
       [](ClusterState& state) {
         state.apply(pod({.finished = "2026-03-01T00:05:30Z", .deletion = "2026-03-01T00:05:40Z"}),
                     at(6));
       },
       "00:05:30"},
      {"failed without a word on its containers: the last change of a condition",
       [](ClusterState& state) {
         Object failed = pod({.phase = "Failed"});
         std::get<Pod>(failed).changed = at(4);
         state.apply(failed, at(6));
       },
       "00:04:00"},
  };
  for (const Case& one : cases) {
    SCOPED_TRACE(one.what);
    ClusterState state(options());
    state.apply(node(), at(0));
    state.apply(pod({}), at(2));
    static_cast<void>(state.facts(at(3)));
    one.end(state);
    EXPECT_THAT(lines(state.facts(at(61))),
                ElementsAre(fmt::format("team/p1 u1 2026-03-01T00:01:00Z/2026-03-01T{}Z ended gpu "
                                        "on nodes n1=2",
                                        one.expected)));
    EXPECT_THAT(lines(state.facts(at(62))), IsEmpty());
  }
}

// Its last reading is the last that is known of it; it is not said to have ended then.
TEST(ClusterState, APodThatVanishesBetweenTwoListsHasNoKnownEnd) {
  ClusterState state(options());
  state.apply(node(), at(0));
  state.apply(pod({}), at(2));
  static_cast<void>(state.facts(at(3)));
  state.mark_relisted("Pod", "v1", {}, at(60));
  const Facts facts = state.facts(at(61));
  EXPECT_THAT(lines(facts),
              ElementsAre("team/p1 u1 2026-03-01T00:01:00Z/2026-03-01T00:03:00Z runs gpu on nodes "
                          "n1=2"));
  ASSERT_EQ(facts.vanished.size(), 1u);
  EXPECT_EQ(facts.vanished[0].workload.text(), "team/p1");
  EXPECT_EQ(facts.vanished[0].attempt, "u1");
  EXPECT_EQ(facts.vanished[0].gone_by, at(60));
  EXPECT_THAT(state.facts(at(62)).vanished, IsEmpty());
}

TEST(ClusterState, WhatWaitsOrHasNoLengthHoldsNothing) {
  ClusterState state(options());
  state.apply(pod({.node = "", .phase = "Pending"}), at(1));
  state.apply(
      pod({.uid = "u2", .name = "p2", .phase = "Failed", .finished = "2026-03-01T00:01:00Z"}),
      at(2));
  EXPECT_THAT(state.facts(at(3)).holdings, IsEmpty());
  EXPECT_EQ(state.counts().without_time, 1u);
}

TEST(ClusterState, WaitsForTheListsThatHoldingsNeed) {
  ClusterOptions waiting = options();
  waiting.wait_for = {"Node", "Namespace"};
  ClusterState state(waiting);
  state.apply(pod({}), at(2));
  EXPECT_THAT(lines(state.facts(at(3))), IsEmpty());
  state.apply(node(), at(3));
  state.mark_relisted("Node", "v1", {"nu"}, at(3));
  state.mark_relisted("Namespace", "v1", {}, at(3));
  EXPECT_THAT(state.facts(at(4)).holdings, testing::SizeIs(1));
}

TEST(ClusterState, APodOfAnUnknownNodeHasNoGpusAndAProblem) {
  ClusterState state(options());
  state.apply(pod({}), at(2));
  EXPECT_THAT(lines(state.facts(at(3))),
              ElementsAre(HasSubstr("gpu on nodes n1=0"), HasSubstr("node n1, which is unknown")));
  // Reported once.
  EXPECT_THAT(state.facts(at(4)).problems, IsEmpty());
}

TEST(ClusterState, ANodeIsStatedAgainWhenItChangesAndWhenItIsGone) {
  ClusterState state(options());
  state.apply(node(), at(0));
  EXPECT_EQ(state.facts(at(1)).nodes.size(), 1u);
  state.apply(node(), at(2));  // a heartbeat
  EXPECT_THAT(lines(state.facts(at(3))), IsEmpty());
  state.apply(
      node("", "", R"("nvidia.com/gpu.product":"NVIDIA-L4-SHARED","nvidia.com/gpu.count":"1",
                   "nvidia.com/gpu.replicas":"4","nvidia.com/gpu.sharing-strategy":"mps")"),
      at(4));
  const Facts changed = state.facts(at(5));
  EXPECT_THAT(lines(changed),
              ElementsAre("node n1 g6.12xlarge 1xNVIDIA-L4 from 2026-03-01T00:04:00Z"));
  EXPECT_EQ(changed.nodes[0].sharing, GpuSharing::kMps);
  EXPECT_EQ(changed.nodes[0].gpu_replicas, 4u);
  EXPECT_EQ(changed.nodes[0].pool, PoolId("gpus"));
  EXPECT_EQ(changed.nodes[0].region, "us-east-1");
  EXPECT_EQ(changed.nodes[0].provider_id, "aws:///us-east-1a/i-1");
  EXPECT_EQ(changed.nodes[0].cpu_milli, 48'000u);
  state.apply_deleted(node(), at(6));
  EXPECT_THAT(lines(state.facts(at(7))),
              ElementsAre("node n1 g6.12xlarge 1xNVIDIA-L4 from 2026-03-01T00:06:00Z gone"));
  EXPECT_THAT(lines(state.facts(at(8))), IsEmpty());
}

constexpr std::string_view kHamiNode = R"({"kind":"Node","metadata":{"name":"n1","uid":"nu",
  "creationTimestamp":"2026-02-01T00:00:00Z","labels":{"nvidia.com/gpu.product":"Tesla-T4"},
  "annotations":{"hami.io/node-nvidia-register":"[{\"id\":\"GPU-1\",\"count\":10,\"devmem\":15360,)"
                                       R"(\"type\":\"NVIDIA-Tesla T4\",\"health\":true},)"
                                       R"({\"id\":\"GPU-2\",\"index\":1,\"count\":10,)"
                                       R"(\"devmem\":15360,\"type\":\"NVIDIA-Tesla T4\"}]"}},
  "status":{"capacity":{"nvidia.com/gpu":"20","cpu":"8"}}})";

TEST(ClusterState, CardsThatHamiRegistersAreFactsAndPodsAreOnThem) {
  ClusterState state(options());
  state.apply(object(kHamiNode), at(0));
  state.apply(object(R"({"kind":"Pod","metadata":{"name":"p","uid":"u","namespace":"team",
    "annotations":{"hami.io/vgpu-devices-allocated":"GPU-2,NVIDIA,3000,30:;"}},
    "spec":{"nodeName":"n1","containers":[{"name":"a","resources":{"limits":{
    "nvidia.com/gpu":"1","nvidia.com/gpumem":"3k","nvidia.com/gpucores":"30"}}}]},
    "status":{"phase":"Running","startTime":"2026-03-01T00:00:00Z"}})"),
              at(0));
  EXPECT_THAT(lines(state.facts(at(1))),
              ElementsAre("team/p u 2026-03-01T00:00:00Z/2026-03-01T00:01:00Z runs "
                          "vgpu cores=30 memory=3145728000 on gpus GPU-2",
                          "node n1  2xTesla-T4 from 2026-02-01T00:00:00Z",
                          "gpu GPU-1 0 Tesla T4 from 2026-02-01T00:00:00Z",
                          "gpu GPU-2 1 Tesla T4 from 2026-02-01T00:00:00Z"));
  EXPECT_THAT(state.facts(at(2)).gpus, IsEmpty());
  // Another deviceMemoryScaling is another fact.
  std::string scaled(kHamiNode);
  while (scaled.find("15360") != std::string::npos)
    scaled.replace(scaled.find("15360"), 5, "30720");
  state.apply(object(scaled), at(2));
  const std::vector<Gpu> cards = state.facts(at(2)).gpus;
  ASSERT_EQ(cards.size(), 2u);
  EXPECT_EQ(cards[0].memory_bytes, 30ull << 30);
  state.apply_deleted(object(kHamiNode), at(3));
  EXPECT_THAT(state.facts(at(4)).gpus, testing::SizeIs(2));
}

TEST(ClusterState, CardsOfResourceSlicesWithTheirInstances) {
  ClusterState state(options());
  state.apply(node(), at(0));
  const Object slice = object(R"({"kind":"ResourceSlice","metadata":{"name":"s","uid":"su"},"spec":{
    "driver":"gpu.nvidia.com","nodeName":"n1","pool":{"name":"n1"},"devices":[
    {"name":"gpu-0","attributes":{"type":{"string":"gpu"},"uuid":{"string":"GPU-1"},
     "productName":{"string":"NVIDIA A100-SXM4-40GB"}},"capacity":{"memory":{"value":"40Gi"}}},
    {"name":"gpu-1-mig-1g5gb-19-0","attributes":{"type":{"string":"mig"},"uuid":{"string":"MIG-1"},
     "parentUUID":{"string":"GPU-2"},"profile":{"string":"1g.5gb"},
     "productName":{"string":"NVIDIA A100-SXM4-40GB"}}}]}})");
  state.apply(slice, at(0));
  const Facts facts = state.facts(at(1));
  ASSERT_EQ(facts.gpus.size(), 2u);
  EXPECT_EQ(facts.gpus[0].memory_bytes, std::uint64_t{40} << 30);
  EXPECT_EQ(facts.gpus[1].index, 1u);
  ASSERT_EQ(facts.gpus[1].mig_instances.size(), 1u);
  EXPECT_EQ(facts.gpus[1].mig_instances[0].profile, "1g.5gb");
  state.apply(slice, at(2));
  EXPECT_THAT(state.facts(at(3)).gpus, IsEmpty());
}

constexpr std::string_view kNotReady = R"(,"conditions":[{"type":"Ready","status":"Unknown",
  "lastTransitionTime":"2026-03-01T00:30:00Z"}])";
constexpr std::string_view kReadyAgain = R"(,"conditions":[{"type":"Ready","status":"True",
  "lastTransitionTime":"2026-03-01T02:10:00Z"}])";

TEST(ClusterState, OutagesAreToldHourByHour) {
  ClusterState state(options());
  state.apply(node(kNotReady), at(31));
  static_cast<void>(state.facts(at(32)));
  EXPECT_THAT(lines(state.facts(at(61))),
              ElementsAre("outage n1 2026-03-01T00:30:00Z/2026-03-01T01:00:00Z not ready"));
  state.apply(node(kReadyAgain), at(131));
  EXPECT_THAT(lines(state.facts(at(132))),
              ElementsAre("outage n1 2026-03-01T01:00:00Z/2026-03-01T02:00:00Z not ready",
                          "outage n1 2026-03-01T02:00:00Z/2026-03-01T02:10:00Z not ready"));
  state.apply(node(kReadyAgain, R"(,"unschedulable":true)"), at(140));
  state.apply(node(kReadyAgain), at(150));
  EXPECT_THAT(lines(state.facts(at(151))),
              ElementsAre("outage n1 2026-03-01T02:20:00Z/2026-03-01T02:30:00Z cordoned"));
}

// A collector that restarts and lists everything again contradicts none of its earlier facts.
TEST(ClusterState, StartingAnewContradictsNothing) {
  Ledger ledger;
  const Object over =
      pod({.uid = "u2", .name = "p2", .phase = "Succeeded", .finished = "2026-03-01T00:02:00Z"});
  {
    ClusterState state(options(ledger.known()));
    state.apply(object(kHamiNode), at(0));
    ledger.import(state.facts(at(1)));
    state.apply(node(kNotReady), at(31));  // another shape, and out of use
    state.apply(name_space(), at(31));
    state.apply(job(), at(31));
    state.apply(pod({}), at(31));
    state.apply(over, at(31));
    ledger.import(state.facts(at(150)));
  }
  const std::size_t before = ledger.contents.size();
  ClusterState state(options(ledger.known()));
  state.apply(node(kNotReady), at(151));
  state.apply(name_space(R"("cost-center":"43")"), at(151));  // after the pod had ended
  state.apply(pod({}), at(151));
  state.apply(over, at(151));
  ledger.import(state.facts(at(152)));
  EXPECT_EQ(ledger.conflicts, 0);
  EXPECT_EQ(ledger.contents.size(), before + 1);  // the reading of the pod that runs
}

// The facts about ended pods are the same whatever the order of the objects, and however often they
// are repeated.
RC_GTEST_PROP(ClusterStateProperty, AnyOrderOfTheSameKnowledge, ()) {
  struct Action {
    Object object;
    int minute;
  };
  std::vector<Action> actions = {{node(), 1}, {name_space(), 2}, {job(), 3}};
  for (const int i : {1, 2, 3}) {
    actions.push_back({pod({.uid = fmt::format("u{}", i),
                            .name = fmt::format("p{}", i),
                            .phase = i == 3 ? "Failed" : "Succeeded",
                            .finished = fmt::format("2026-03-01T00:{:02}:00Z", 10 * i)}),
                       40});
  }
  const std::vector<Action> in_order = actions;
  const auto order =
      *rc::gen::container<std::vector<int>>(actions.size(), rc::gen::inRange(0, 1000));
  std::vector<std::size_t> places(actions.size());
  for (std::size_t i = 0; i < places.size(); ++i) places[i] = i;
  std::ranges::stable_sort(places, {}, [&](std::size_t i) { return order[i]; });
  const bool again = *rc::gen::arbitrary<bool>();
  const auto ended = [](ClusterState& state) {
    std::vector<Hash128> contents;
    for (const Holding& one : state.facts(at(60)).holdings) {
      RC_ASSERT(one.ended);
      contents.push_back(content_hash(one));
    }
    std::ranges::sort(contents);
    return contents;
  };
  ClusterState straight(options()), mixed(options());
  for (const Action& action : in_order) straight.apply(action.object, at(action.minute));
  for (const std::size_t place : places) {
    mixed.apply(actions[place].object, at(actions[place].minute));
    if (again) mixed.apply(actions[place].object, at(50));
  }
  if (again) mixed.mark_relisted("Pod", "v1", {"u1", "u2", "u3"}, at(51));
  const auto expected = ended(straight);
  RC_ASSERT(expected.size() == 3u);
  RC_ASSERT(ended(mixed) == expected);
}

// With readings, each call says what it would say without, whatever has happened in between.
RC_GTEST_PROP(ClusterStateProperty, AReadingSaysWhatTheHoldingWould, ()) {
  ClusterOptions with_readings = options();
  with_readings.gives_readings = true;
  ClusterState whole(options()), short_one(with_readings);
  const auto all_of = [](const Facts& facts) {
    std::vector<std::string> all = lines(facts);
    std::vector<Holding> holdings = facts.holdings;
    for (const HoldingReading& reading : facts.readings) {
      Holding& read = holdings.emplace_back(*reading.holding);
      read.held = Interval(read.held.begin(), reading.until);
      all.push_back(
          lines({.holdings = {read}, .nodes = {}, .gpus = {}, .outages = {}, .problems = {}})[0]);
    }
    for (const Holding& one : holdings) all.push_back(to_text(content_hash(one)));
    std::ranges::sort(all);
    return all;
  };
  std::size_t readings = 0;
  const auto steps = *rc::gen::container<std::vector<int>>(40, rc::gen::inRange(0, 14));
  for (std::size_t step = 0; step < steps.size(); ++step) {
    const Instant now = at(static_cast<int>(step) + 2);
    const auto apply = [&](const Object& what) {
      whole.apply(what, now);
      short_one.apply(what, now);
    };
    switch (steps[step]) {
      case 0:
        apply(node());
        break;
      case 1:  // its GPUs are shared from now on
        apply(
            node("", "", R"("nvidia.com/gpu.product":"NVIDIA-L4-SHARED","nvidia.com/gpu.count":"1",
            "nvidia.com/gpu.replicas":"4","nvidia.com/gpu.sharing-strategy":"time-slicing")"));
        break;
      case 2:
        apply(name_space(fmt::format(R"("cost-center":"{}")", step % 3)));
        break;
      case 3:
        apply(job());
        break;
      case 4:
        apply(pod({.uid = "u2", .name = "p2", .labels = fmt::format(R"("team-id":"{}")", step)}));
        break;
      case 5:
        apply(pod(
            {.uid = "u2", .name = "p2", .phase = "Succeeded", .finished = "2026-03-01T00:02:00Z"}));
        break;
      case 6:
        whole.apply_deleted(pod({}), now);
        short_one.apply_deleted(pod({}), now);
        break;
      case 7:
        whole.apply_deleted(node(), now);
        short_one.apply_deleted(node(), now);
        break;
      case 8:
        apply(object(kHamiNode));
        break;
      case 9:
        whole.mark_relisted("Pod", "v1", {"u2"}, now);
        short_one.mark_relisted("Pod", "v1", {"u2"}, now);
        break;
      case 10:
        whole.end_pod("u2", now);
        short_one.end_pod("u2", now);
        break;
      default:
        apply(pod({}));
    }
    const Facts brief = short_one.facts(now);
    readings += brief.readings.size();
    RC_ASSERT(all_of(whole.facts(now)) == all_of(brief));
  }
  RC_CLASSIFY(readings > 5);
}

TEST(ClusterState, APodThatGoesOnIsAReading) {
  ClusterOptions with_readings = options();
  with_readings.gives_readings = true;
  ClusterState state(with_readings);
  state.apply(node(), at(1));
  state.apply(pod({}), at(1));
  EXPECT_EQ(state.facts(at(2)).holdings.size(), 1u);
  const Facts next = state.facts(at(3));
  EXPECT_THAT(next.holdings, IsEmpty());
  ASSERT_EQ(next.readings.size(), 1u);
  EXPECT_EQ(next.readings[0].until, at(3));
  EXPECT_EQ(next.readings[0].holding, state.facts(at(4)).readings[0].holding) << "it is the same";
  state.apply(name_space(), at(5));
  EXPECT_EQ(state.facts(at(5)).holdings.size(), 1u) << "its labels have changed";
  EXPECT_EQ(state.facts(at(6)).readings.size(), 1u);
  EXPECT_EQ(state.facts(at(16)).holdings.size(), 1u) << "the ledger is asked again";
}

// The clock of the scheduler is ahead: the pod runs since it was seen.
TEST(ClusterState, APodOfTheFutureRunsSinceItWasSeen) {
  ClusterState state(options());
  state.apply(node(), at(0));
  state.apply(pod({.scheduled = "2026-03-01T00:06:00Z"}), at(1));
  EXPECT_EQ(to_text(state.facts(at(2)).holdings.at(0).held),
            "2026-03-01T00:01:00Z/2026-03-01T00:02:00Z");
  state.apply(pod({.scheduled = "2026-03-01T00:06:00Z"}), at(7));
  EXPECT_EQ(to_text(state.facts(at(8)).holdings.at(0).held),
            "2026-03-01T00:01:00Z/2026-03-01T00:08:00Z")
      << "its beginning stays";
}

TEST(ClusterState, ANodeWithoutLabelsIsWhatItsSliceSays) {
  ClusterState state(options());
  state.apply(object(R"({"kind":"Node","metadata":{"name":"n1","uid":"nu",
    "creationTimestamp":"2026-02-01T00:00:00Z"},"spec":{},
    "status":{"capacity":{"cpu":"48","memory":"196608000Ki"}}})"),
              at(0));
  state.apply(object(R"({"kind":"ResourceSlice","metadata":{"name":"s","uid":"su"},"spec":{
    "driver":"gpu.nvidia.com","nodeName":"n1","pool":{"name":"n1"},"devices":[
    {"name":"gpu-0","attributes":{"type":{"string":"gpu"},"uuid":{"string":"GPU-1"},
     "productName":{"string":"NVIDIA A100-SXM4-40GB"}}},
    {"name":"gpu-1","attributes":{"type":{"string":"gpu"},"uuid":{"string":"GPU-2"},
     "productName":{"string":"NVIDIA A100-SXM4-40GB"}}}]}})"),
              at(0));
  EXPECT_THAT(lines(state.facts(at(1))),
              testing::Contains("node n1  2xNVIDIA A100-SXM4-40GB from 2026-02-01T00:00:00Z"));
}

TEST(ClusterState, ARelistOfOneKindOfOwnerLeavesTheOthers) {
  ClusterState state(options());
  state.apply(job(), at(0));
  state.mark_relisted("Job", "batch/v1", {}, at(1));
  state.mark_relisted("PyTorchJob", "example.com/v1", {}, at(1));
  state.apply(node(), at(1));
  state.apply(pod({}), at(2));
  EXPECT_EQ(state.facts(at(3)).holdings[0].labels.find("queue"), "research");
}

TEST(ClusterState, AClaimThatIsTakenBackBeforeItsPodWasToldStillSaysWhatItWas) {
  ClusterState state(options());
  state.apply(node(), at(0));
  const std::string claim = R"({"kind":"ResourceClaim","metadata":{"name":"x","uid":"cu",
    "namespace":"team"},"status":{"allocation":{"devices":{"results":[{"driver":"gpu.nvidia.com",
    "pool":"n1","device":"gpu-0"}]}}}})";
  state.apply(object(claim), at(0));
  state.apply(object(R"({"kind":"Pod","metadata":{"name":"p","uid":"u","namespace":"team"},
    "spec":{"nodeName":"n1","containers":[{"name":"a"}],
    "resourceClaims":[{"name":"gpu","resourceClaimName":"x"}]},
    "status":{"phase":"Succeeded","startTime":"2026-03-01T00:00:00Z","containerStatuses":[
    {"state":{"terminated":{"finishedAt":"2026-03-01T00:05:00Z"}}}]}})"),
              at(5));
  const Object taken_back =
      object(R"({"kind":"ResourceClaim","metadata":{"name":"x","uid":"cu","namespace":"team"}})");
  state.apply(taken_back, at(5));
  state.apply_deleted(taken_back, at(5));
  const Facts facts = state.facts(at(6));
  ASSERT_EQ(facts.holdings.size(), 1u);
  EXPECT_EQ(to_text(facts.holdings[0].placement), "nodes n1=1");
  EXPECT_EQ(facts.holdings[0].claim, "team/x");
}

}  // namespace
}  // namespace pennyweight::kubernetes
