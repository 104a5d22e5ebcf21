// The audit log of an API server: what its answers say of who held what, and what they leave out.
#include "ingest/schedulers/kubernetes/audit_log.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pennyweight::kubernetes {
namespace {

struct AuditText {
  std::string at = {}, verb = {}, path = "ns/p", answer = {}, resource = "pods", subresource = {},
              stage = {}, level = {}, uri = {}, group = {};
  int code = 200;
  std::string request = {}, status = {};  // requestObject; further members of responseStatus
};

std::string event_text(const AuditText& of) {
  const std::size_t slash = of.path.find('/');
  return fmt::format(
      R"({{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"{}","auditID":"a","stage":"{}",)"
      R"("requestURI":"/api/v1/x{}","verb":"{}","objectRef":{{{}"resource":"{}","namespace":"{}",)"
      R"("name":"{}","subresource":"{}"}},"responseStatus":{{"metadata":{{}},{}"code":{}}},{}{})"
      R"("stageTimestamp":"2026-03-01T{}.250000Z"}})"
      "\n",
      of.level.empty() ? "RequestResponse" : of.level,
      of.stage.empty() ? "ResponseComplete" : of.stage, of.uri, of.verb,
      of.group.empty() ? "" : R"("apiGroup":")" + of.group + R"(",)", of.resource,
      of.path.substr(0, slash), of.path.substr(slash + 1), of.subresource, of.status, of.code,
      of.request.empty() ? "" : R"("requestObject":)" + of.request + ",",
      of.answer.empty() ? "" : R"("responseObject":)" + of.answer + ",", of.at);
}

struct AuditPod {
  std::string node = "n1", finished = {}, deletion = {};
  int version = 1;
  std::string uid = "u1";
};
std::string pod_text(const AuditPod& of) {
  return fmt::format(
      R"({{"kind":"Pod","apiVersion":"v1","metadata":{{"name":"p","namespace":"ns","uid":"{}",)"
      R"("resourceVersion":"{}","creationTimestamp":"2026-03-01T00:00:00Z"{}}},"spec":{{{})"
      R"("containers":[{{"name":"c","resources":{{"limits":{{"nvidia.com/gpu":"2"}},)"
      R"("requests":{{"cpu":"4","nvidia.com/gpu":"2"}}}}}}]}},"status":{{"phase":"{}",)"
      R"("conditions":[{{"type":"PodScheduled","status":"{}",)"
      R"("lastTransitionTime":"2026-03-01T00:10:00Z"}}]{}}}}})",
      of.uid, of.version, of.deletion, of.node.empty() ? "" : R"("nodeName":")" + of.node + R"(",)",
      of.node.empty()       ? "Pending"
      : of.finished.empty() ? "Running"
                            : "Succeeded",
      of.node.empty() ? "False" : "True",
      of.finished.empty() ? ""
                          : R"(,"containerStatuses":[{"name":"c","state":{"terminated":{)"
                            R"("finishedAt":"2026-03-01T)" +
                                of.finished + R"(Z"}}}])");
}
std::string node_text(int gpus, int version = 1, std::string_view deletion = {}) {
  return fmt::format(
      R"({{"kind":"Node","apiVersion":"v1","metadata":{{"name":"n1","uid":"nu",)"
      R"("resourceVersion":"{}","creationTimestamp":"2026-02-01T00:00:00Z"{},"labels":{{)"
      R"("nvidia.com/gpu.product":"NVIDIA-L4","nvidia.com/gpu.count":"{}"}}}},"status":{{)"
      R"("capacity":{{"cpu":"48","memory":"1Gi","nvidia.com/gpu":"{}"}}}}}})",
      version, deletion, gpus, gpus);
}

const std::string kPending = R"(,"deletionTimestamp":"2026-03-01T02:00:30Z",)"
                             R"("deletionGracePeriodSeconds":30)";
const std::string kRemoved = R"(,"deletionTimestamp":"2026-03-01T02:00:00Z",)"
                             R"("deletionGracePeriodSeconds":0)";

KnownFacts audit_ledger() {
  KnownFacts known;
  known.node = [](const NodeId& name) -> std::optional<Node> {
    return Node{.cluster = ClusterId("c"),
                .name = name,
                .provider_id = {},
                .instance_type = {},
                .region = {},
                .pool = PoolId(""),
                .gpu_model = "NVIDIA-L4",
                .gpu_count = 4,
                .shard_count = 0,
                .mps_count = 0,
                .sharing = GpuSharing::kNone,
                .gpu_replicas = 0,
                .replicas_renamed = false,
                .cpu_milli = {},
                .memory_bytes = {},
                .from = parse_instant("2026-01-01").value(),
                .to = {},
                .id = {},
                .source = {}};
  };
  return known;
}

// With a node of 4 GPUs in the ledger, or with none.
std::string audit_facts(std::string_view text, std::size_t chunk = 65'536, bool knows = true) {
  std::string out;
  AuditLog log({.file = "f",
                .cluster = ClusterId("c"),
                .now = parse_instant("2026-04-01").value(),
                .known = [&](Instant) { return knows ? audit_ledger() : KnownFacts{}; },
                .give = [&](const Facts& facts) -> Result<void> {
                  for (const Holding& one : facts.holdings) {
                    out += fmt::format("{} {} {} {}\n", one.workload.text(), to_text(one.placement),
                                       to_text(one.held), one.ended ? "ended" : "runs");
                  }
                  for (const Node& node : facts.nodes) {
                    out += fmt::format("node {} {} from {}{}\n", node.name.text(), node.gpu_count,
                                       to_text(node.from), node.to ? " gone" : "");
                  }
                  return {};
                },
                .rejected = [&](std::span<const RejectedRow> rows) -> Result<void> {
                  for (const RejectedRow& row : rows) {
                    out += fmt::format("{} {}: {}\n", row.line, row.text, row.reason);
                  }
                  return {};
                }});
  for (std::size_t at = 0; at < text.size(); at += chunk) {
    if (const auto fed = log.feed(text.substr(at, chunk)); !fed) return out + fed.error().message;
  }
  if (const auto done = log.finish(); !done) return out + done.error().message;
  const AuditCounts& counts = log.counts();
  return out +
         fmt::format("changes={} others={} waiting={} partial={}/{}", counts.changes, counts.others,
                     counts.waiting_pods, counts.partial_pods, counts.partial_nodes) +
         (counts.over_limit > 0 ? fmt::format(" over={}", counts.over_limit) : "");
}

const std::string kCreated =
    event_text({.at = "00:00:00", .verb = "create", .answer = pod_text({.node = ""}), .code = 201});
const std::string kRuns = event_text({.at = "00:10:05",
                                      .verb = "patch",
                                      .answer = pod_text({.version = 2}),
                                      .subresource = "status"});

TEST(AuditLog, APodIsHeldFromItsNodeToItsEnd) {
  const std::string ended = event_text({.at = "01:30:02",
                                        .verb = "patch",
                                        .answer = pod_text({.finished = "01:30:00", .version = 3}),
                                        .subresource = "status"});
  const std::string held = "ns/p nodes n1=2 2026-03-01T00:10:00Z/2026-03-01T01:30:00Z ended\n";
  EXPECT_EQ(audit_facts(kCreated + kRuns + ended),
            held + "changes=3 others=0 waiting=0 partial=0/0");
  EXPECT_EQ(audit_facts(kCreated + kRuns + ended, 7), audit_facts(kCreated + kRuns + ended));
  // Until the last event, whatever that is about, while it runs; a pod without a node holds
  // nothing.
  const std::string lease =
      event_text({.at = "05:00:00", .verb = "update", .answer = "{}", .resource = "leases"});
  EXPECT_EQ(audit_facts(kCreated + kRuns + lease),
            "ns/p nodes n1=2 2026-03-01T00:10:00Z/2026-03-01T05:00:00.250Z runs\n"
            "changes=2 others=1 waiting=0 partial=0/0");
  EXPECT_EQ(audit_facts(kCreated + lease), "changes=1 others=1 waiting=1 partial=0/0");
  // Line ends of Windows, a byte order mark, and an EventList are the same; a cut line is aside.
  std::string windows = "\xEF\xBB\xBF" + kCreated + "\r\n" + kRuns + ended;
  EXPECT_EQ(audit_facts(windows), audit_facts(kCreated + kRuns + ended));
  const std::string items = kCreated.substr(0, kCreated.size() - 1) + "," +
                            kRuns.substr(0, kRuns.size() - 1) + "," +
                            ended.substr(0, ended.size() - 1);
  EXPECT_EQ(
      audit_facts(R"({"kind":"EventList","apiVersion":"audit.k8s.io/v1","items":[)" + items + "]}"),
      audit_facts(kCreated + kRuns + ended));
  EXPECT_NE(audit_facts(kCreated + kRuns.substr(0, 300)).find("2 {"), std::string::npos);
}

TEST(AuditLog, ADeletionEndsAPodWhenItIsDone) {
  const std::string asked = event_text({.at = "02:00:00",
                                        .verb = "delete",
                                        .answer = pod_text({.deletion = kPending, .version = 3})});
  const std::string done = event_text({.at = "02:00:20",
                                       .verb = "delete",
                                       .answer = pod_text({.deletion = kRemoved, .version = 4})});
  EXPECT_EQ(audit_facts(kRuns + asked),
            "ns/p nodes n1=2 2026-03-01T00:10:00Z/2026-03-01T02:00:00.250Z runs\n"
            "changes=2 others=0 waiting=0 partial=0/0");
  const std::string gone = "ns/p nodes n1=2 2026-03-01T00:10:00Z/2026-03-01T02:00:20.250Z ended\n";
  EXPECT_EQ(audit_facts(kRuns + asked + done), gone + "changes=3 others=0 waiting=0 partial=0/0");
  // The kubelet's own time, where there is one.
  EXPECT_EQ(audit_facts(kRuns + event_text({.at = "02:00:20",
                                            .verb = "delete",
                                            .answer = pod_text({.finished = "01:59:58",
                                                                .deletion = kRemoved,
                                                                .version = 4})})),
            "ns/p nodes n1=2 2026-03-01T00:10:00Z/2026-03-01T01:59:58Z ended\n"
            "changes=2 others=0 waiting=0 partial=0/0");
  // A Status in place of the object.
  const std::string status = event_text(
      {.at = "02:00:20", .verb = "delete", .answer = R"({"kind":"Status","status":"Success"})"});
  EXPECT_EQ(audit_facts(kRuns + status), gone + "changes=2 others=0 waiting=0 partial=0/0");
}

TEST(AuditLog, WhatDidNotHappenCountsNothing) {
  for (AuditText of :
       std::vector<AuditText>{{.at = "00:10:06", .verb = "delete", .code = 409},
                              {.at = "00:10:06", .verb = "delete", .uri = "?dryRun=All"},
                              {.at = "00:10:06",
                               .verb = "delete",
                               .request = R"({"kind":"DeleteOptions","dryRun":["All"]})"},
                              {.at = "00:10:06", .verb = "delete", .stage = "RequestReceived"},
                              {.at = "00:10:06", .verb = "create", .subresource = "binding"}}) {
    of.answer = pod_text({.deletion = kRemoved, .version = 9});
    EXPECT_NE(audit_facts(kRuns + event_text(of)).find("runs\nchanges=1 others=1"),
              std::string::npos)
        << event_text(of);
  }
  // An answer of an earlier version, as from a cache.
  const std::string ended = event_text({.at = "01:30:02",
                                        .verb = "patch",
                                        .answer = pod_text({.finished = "01:30:00", .version = 3}),
                                        .subresource = "status"});
  const std::string stale =
      event_text({.at = "01:30:02", .verb = "get", .answer = pod_text({.version = 2})});
  EXPECT_NE(audit_facts(kRuns + ended + stale).find("01:30:00Z ended"), std::string::npos);
}

TEST(AuditLog, WhatALogLeavesOutIsNotGuessed) {
  // The kubelet's reports at level Request, as the policies of cloud providers have them.
  const std::string report =
      event_text({.at = "03:00:00", .verb = "patch", .subresource = "status", .level = "Request"});
  EXPECT_EQ(audit_facts(kRuns + report), "changes=1 others=1 waiting=0 partial=1/0");
  const std::string done = event_text(
      {.at = "04:00:00",
       .verb = "delete",
       .answer = pod_text({.finished = "03:59:00", .deletion = kRemoved, .version = 5})});
  EXPECT_EQ(audit_facts(kRuns + report + done),
            "ns/p nodes n1=2 2026-03-01T00:10:00Z/2026-03-01T03:59:00Z ended\n"
            "changes=2 others=1 waiting=0 partial=0/0");
  const std::string blind = event_text({.at = "03:00:00", .verb = "delete", .level = "Metadata"});
  const std::string aside =
      "2 ns/p: delete of pods at level Metadata, without its answer; let the audit policy log it "
      "at level RequestResponse\n";
  EXPECT_EQ(audit_facts(kRuns + blind), aside + "changes=1 others=0 waiting=0 partial=1/0");
  // Nor when another pod has its name.
  const std::string next = event_text({.at = "03:00:05",
                                       .verb = "create",
                                       .answer = pod_text({.version = 9, .uid = "u2"}),
                                       .code = 201});
  const std::string held = "ns/p nodes n1=2 2026-03-01T00:10:00Z/2026-03-01T03:00:05.250Z runs\n";
  EXPECT_EQ(audit_facts(kRuns + blind + next),
            held + aside + "changes=2 others=0 waiting=0 partial=1/0");
  EXPECT_EQ(audit_facts(kRuns + next), held + "changes=2 others=0 waiting=0 partial=1/0");
  for (const auto& [text, says] : std::vector<std::pair<std::string, std::string>>{
           {"{}\n", "stageTimestamp: '' is not a time"},
           {"[1]\n", "stageTimestamp"},
           {R"({"apiVersion":"audit.k8s.io/v1beta1"})", "is of 'audit.k8s.io/v1beta1'"},
           {R"({"stageTimestamp":"2027-01-01T00:00:00Z"})", "is in the future"},
           {kRuns + kCreated, "event 2 is of 2026-03-01T00:00:00.250Z, and one before it of"}}) {
    EXPECT_NE(audit_facts(text).find(says), std::string::npos) << audit_facts(text);
  }
}

TEST(AuditLog, ANodeIsWhatItWasWhen) {
  const auto node_event = [](const char* at, std::string answer) {
    return event_text({.at = at,
                       .verb = "patch",
                       .path = "/n1",
                       .answer = std::move(answer),
                       .resource = "nodes",
                       .subresource = "status"});
  };
  const auto facts_of_nodes = [](const std::string& text) {
    return audit_facts(text, 65'536, false);
  };
  EXPECT_EQ(facts_of_nodes(node_event("00:00:00", node_text(4)) +
                           node_event("06:00:00", node_text(8, 2)) +
                           node_event("07:00:00", node_text(8, 3))),
            "node n1 4 from 2026-02-01T00:00:00Z\n"
            "node n1 8 from 2026-03-01T06:00:00.250Z\n"
            "changes=3 others=0 waiting=0 partial=0/0");
  // A report without the answer: what the node has then is not known, until it is seen again.
  const std::string blind = node_event("00:00:01", "");
  EXPECT_EQ(facts_of_nodes(node_event("00:00:00", node_text(0)) + blind),
            "changes=1 others=1 waiting=0 partial=0/1");
  EXPECT_EQ(facts_of_nodes(node_event("00:00:00", node_text(4)) + blind +
                           node_event("06:00:00", node_text(4, 2))),
            "node n1 4 from 2026-02-01T00:00:00Z\nchanges=2 others=1 waiting=0 partial=0/0");
  // A pod that ended before its node was first seen, and one that ended when the node changed.
  const auto ended = [](const char* at, const char* finished, int version) {
    return event_text({.at = at,
                       .verb = "patch",
                       .answer = pod_text({.finished = finished, .version = version}),
                       .subresource = "status"});
  };
  EXPECT_EQ(facts_of_nodes(kRuns + ended("00:20:00", "00:19:59", 3) +
                           node_event("00:30:00", node_text(4)) +
                           node_event("06:00:00", node_text(8, 2))),
            "ns/p nodes n1=2 2026-03-01T00:10:00Z/2026-03-01T00:19:59Z ended\n"
            "node n1 4 from 2026-02-01T00:00:00Z\n"
            "node n1 8 from 2026-03-01T06:00:00.250Z\n"
            "changes=4 others=0 waiting=0 partial=0/0");
}

constexpr std::string_view kKept = R"(,"deletionTimestamp":"2026-03-01T06:00:00Z",)"
                                   R"("deletionGracePeriodSeconds":0,"finalizers":["karpenter"])";
constexpr std::string_view kLetGo = R"(,"deletionTimestamp":"2026-03-01T06:00:00Z",)"
                                    R"("deletionGracePeriodSeconds":0)";

std::string of_node(AuditText of) {
  of.path = "/n1";
  if (of.resource == "pods") of.resource = "nodes";
  return audit_facts(event_text({.at = "00:00:00",
                                 .verb = "create",
                                 .path = "/n1",
                                 .answer = node_text(4),
                                 .resource = "nodes",
                                 .code = 201}) +
                         event_text(of),
                     65'536, false);
}

TEST(AuditLog, TheLastFinalizerKeepsAnObject) {
  const auto change = [](const char* at, const char* verb, std::string answer) {
    return event_text(
        {.at = at, .verb = verb, .path = "/n1", .answer = std::move(answer), .resource = "nodes"});
  };
  const std::string there = change("00:00:00", "create", node_text(4));
  const std::string asked = change("06:00:00", "delete", node_text(4, 2, kKept));
  const std::string done = change("06:00:09", "patch", node_text(4, 3, kLetGo));
  const std::string node = "node n1 4 from 2026-02-01T00:00:00Z\n";
  EXPECT_EQ(audit_facts(there + asked, 65'536, false),
            node + "changes=2 others=0 waiting=0 partial=0/0");
  EXPECT_EQ(audit_facts(there + asked + done, 65'536, false),
            node +
                "node n1 4 from 2026-03-01T06:00:09.250Z gone\n"
                "changes=3 others=0 waiting=0 partial=0/0");
  const auto pod = [](const char* at, const char* verb, std::string_view deletion, int version) {
    return event_text(
        {.at = at,
         .verb = verb,
         .answer = pod_text({.deletion = std::string(deletion), .version = version})});
  };
  EXPECT_EQ(audit_facts(kRuns + pod("06:00:00", "delete", kKept, 3) +
                        pod("06:00:09", "update", kLetGo, 4) +
                        event_text({.at = "09:00:00", .verb = "update", .resource = "leases"})),
            "ns/p nodes n1=2 2026-03-01T00:10:00Z/2026-03-01T06:00:09.250Z ended\n"
            "changes=3 others=1 waiting=0 partial=0/0");
}

TEST(AuditLog, ANodeOfWhichALogHasOnlyTheEnd) {
  const auto end = [](const char* at, std::string verb, std::string answer) {
    return event_text({.at = at,
                       .verb = std::move(verb),
                       .path = "/n1",
                       .answer = std::move(answer),
                       .resource = "nodes"});
  };
  EXPECT_EQ(audit_facts(end("06:00:09", "patch", node_text(4, 3, kLetGo)), 65'536, false),
            "node n1 4 from 2026-02-01T00:00:00Z\n"
            "node n1 4 from 2026-03-01T06:00:09.250Z gone\n"
            "changes=1 others=0 waiting=0 partial=0/0");
  // The ledger knows it; once gone it does not end again, and may come again.
  const std::string status = R"({"kind":"Status","status":"Success"})";
  const std::string gone = end("06:00:09", "delete", status);
  const std::string known = "node n1 4 from 2026-03-01T06:00:09.250Z gone\n";
  EXPECT_EQ(audit_facts(gone + gone), known + "changes=2 others=0 waiting=0 partial=0/0");
  EXPECT_EQ(audit_facts(gone + end("07:00:00", "create", node_text(8))),
            known +
                "node n1 8 from 2026-03-01T07:00:00.250Z\n"
                "changes=2 others=0 waiting=0 partial=0/0");
  EXPECT_EQ(audit_facts(gone, 65'536, false), "changes=1 others=0 waiting=0 partial=0/0");
}

TEST(AuditLog, WhatIsBeyondALimitIsCounted) {
  std::string items;
  for (std::size_t i = 0; i <= kNodesMax; ++i) {
    items +=
        fmt::format(R"({}{{"metadata":{{"name":"n{}","uid":"u{}"}}}})", i > 0 ? "," : "", i, i);
  }
  const std::string text = audit_facts(
      event_text({.at = "06:00:00",
                  .verb = "list",
                  .path = "/",
                  .answer = R"({"kind":"NodeList","apiVersion":"v1","items":[)" + items + "]}",
                  .resource = "nodes"}),
      65'536, false);
  EXPECT_TRUE(text.ends_with("changes=1 others=0 waiting=0 partial=0/0 over=1"))
      << text.substr(text.size() - 100);
}

TEST(AuditLog, AStatusEndsWhatItNames) {
  const std::string node = "node n1 4 from 2026-02-01T00:00:00Z\n";
  const std::string gone = node + "node n1 4 from 2026-03-01T06:00:00.250Z gone\n" +
                           "changes=2 others=0 waiting=0 partial=0/0";
  const std::string kept = node + "changes=2 others=0 waiting=0 partial=0/0";
  const std::string bare = R"({"kind":"Status","status":"Success"})";
  const std::string mine = R"("details":{"name":"n1","kind":"nodes","uid":"nu"})";
  const std::string other = R"("details":{"name":"n1","kind":"nodes","uid":"nx"})";
  const auto status = [](const std::string& details) {
    return R"({"kind":"Status","status":"Success",)" + details + "}";
  };
  EXPECT_EQ(of_node({.at = "06:00:00", .verb = "delete", .answer = bare}), gone);
  EXPECT_EQ(of_node({.at = "06:00:00", .verb = "delete", .answer = status(mine)}), gone);
  EXPECT_EQ(of_node({.at = "06:00:00", .verb = "delete", .answer = status(other)}), kept);
  // A Status is there at every level.
  EXPECT_EQ(
      of_node({.at = "06:00:00", .verb = "delete", .level = "Metadata", .status = mine + ","}),
      gone);
  EXPECT_EQ(of_node({.at = "06:00:00", .verb = "delete", .level = "Metadata"}),
            "2 /n1: delete of nodes at level Metadata, without its answer; let the audit policy "
            "log it at level RequestResponse\nchanges=1 others=0 waiting=0 partial=0/1");
  // Others have objects of the node's name, and kinds of the name of Node.
  EXPECT_EQ(of_node({.at = "06:00:00",
                     .verb = "delete",
                     .answer = bare,
                     .resource = "nodefeatures",
                     .group = "nfd.k8s-sigs.io"}),
            kept);
  EXPECT_EQ(of_node({.at = "06:00:00",
                     .verb = "delete",
                     .answer = bare,
                     .resource = "nodes",
                     .group = "longhorn.io"}),
            kept);
  const std::string longhorn = node + "changes=1 others=1 waiting=0 partial=0/0";
  EXPECT_EQ(of_node({.at = "06:00:00",
                     .verb = "update",
                     .answer = R"({"kind":"Node","apiVersion":"longhorn.io/v1beta2","metadata":)"
                               R"({"name":"n1","namespace":"l","uid":"x"}})",
                     .resource = "nodes",
                     .group = "longhorn.io"}),
            longhorn);
  EXPECT_EQ(of_node({.at = "06:00:00",
                     .verb = "update",
                     .resource = "nodes",
                     .level = "Metadata",
                     .group = "longhorn.io"}),
            longhorn);
  // Heartbeats without their answers leave nothing of its end open.
  const auto of = [](const char* at, const char* verb, const char* level, std::string answer) {
    return event_text({.at = at,
                       .verb = verb,
                       .path = "/n1",
                       .answer = std::move(answer),
                       .resource = "nodes",
                       .level = level});
  };
  EXPECT_EQ(
      audit_facts(of("00:00:00", "create", "", node_text(4)) +
                      of("05:00:00", "patch", "Request", "") + of("06:00:00", "delete", "", bare),
                  65'536, false),
      node + "node n1 4 from 2026-03-01T06:00:00.250Z gone\n" +
          "changes=2 others=1 waiting=0 partial=0/0");
}

TEST(AuditLog, ADeletionOfManyAnswersWithWhatWas) {
  const auto many = [](const AuditPod& pod, std::string request) {
    return event_text(
        {.at = "02:00:00",
         .verb = "deletecollection",
         .path = "ns/",
         .answer = R"({"kind":"PodList","apiVersion":"v1","items":[)" + pod_text(pod) + "]}",
         .request = std::move(request)});
  };
  const std::string done = event_text({.at = "02:00:20",
                                       .verb = "delete",
                                       .answer = pod_text({.deletion = kRemoved, .version = 4})});
  const std::string held = "ns/p nodes n1=2 2026-03-01T00:10:00Z/2026-03-01T02:00:";
  EXPECT_EQ(audit_facts(kRuns + many({.version = 2}, "") + done),
            held + "20.250Z ended\nchanges=3 others=0 waiting=0 partial=0/0");
  // Without time to end it is gone at once; with a finalizer it is not.
  const std::string now = R"({"kind":"DeleteOptions","gracePeriodSeconds":0})";
  EXPECT_EQ(audit_facts(kRuns + many({.version = 2}, now)),
            held + "00.250Z ended\nchanges=2 others=0 waiting=0 partial=0/0");
  EXPECT_EQ(audit_facts(kRuns + many({.deletion = R"(,"finalizers":["f"])", .version = 2}, now)),
            held + "00.250Z runs\nchanges=2 others=0 waiting=0 partial=0/0");
}

// A cache may answer a request after the deletion with the object as it was before.
TEST(AuditLog, ALateAnswerBringsNothingBack) {
  const std::string status = R"({"kind":"Status","status":"Success","details":{"uid":"u1"}})";
  const std::string gone = "ns/p nodes n1=2 2026-03-01T00:10:00Z/2026-03-01T02:00:20.250Z ended\n";
  for (const std::string& answer : {pod_text({.deletion = kRemoved, .version = 4}), status}) {
    const std::string ends = event_text({.at = "02:00:20", .verb = "delete", .answer = answer});
    const std::string late =
        event_text({.at = "02:00:21", .verb = "get", .answer = pod_text({.version = 3})});
    // What is known is given in between, as when a node changes.
    const std::string between = event_text({.at = "02:00:20",
                                            .verb = "patch",
                                            .path = "/n1",
                                            .answer = node_text(4, 2),
                                            .resource = "nodes"}) +
                                event_text({.at = "02:00:21",
                                            .verb = "patch",
                                            .path = "/n1",
                                            .answer = node_text(5, 3),
                                            .resource = "nodes"});
    for (const std::string& after : {late, between + late, late + late}) {
      const std::string facts = audit_facts(kRuns + ends + after);
      EXPECT_EQ(facts.find(gone), facts.rfind("ns/p nodes")) << facts;
      EXPECT_NE(facts.find(gone), std::string::npos) << facts;
    }
    // Another pod of its name is another pod.
    const std::string next = event_text(
        {.at = "02:00:21", .verb = "get", .answer = pod_text({.version = 9, .uid = "u2"})});
    EXPECT_EQ(audit_facts(kRuns + ends + next),
              gone + "ns/p nodes n1=2 2026-03-01T00:10:00Z/2026-03-01T02:00:21.250Z runs\n" +
                  "changes=3 others=0 waiting=0 partial=0/0");
  }
}

TEST(AuditLog, OwnersThatAreGoneAreForgotten) {
  std::string text;
  for (std::size_t i = 0; i <= kGoneKept; ++i) {
    const std::string path = fmt::format("ns/r{}", i);
    const auto of = [&](const char* verb, std::string answer) {
      return event_text({.at = "01:00:00",
                         .verb = verb,
                         .path = path,
                         .answer = std::move(answer),
                         .resource = "replicasets",
                         .group = "apps"});
    };
    text += of("create", fmt::format(R"({{"kind":"ReplicaSet","apiVersion":"apps/v1","metadata":)"
                                     R"({{"name":"r{}","namespace":"ns","uid":"r{}"}}}})",
                                     i, i));
    text += of("delete", fmt::format(R"({{"kind":"Status","details":{{"uid":"r{}"}}}})", i));
  }
  AuditLog log({.file = "f",
                .cluster = ClusterId("c"),
                .now = parse_instant("2026-04-01").value(),
                .give = [](const Facts&) { return Result<void>{}; },
                .rejected = [](std::span<const RejectedRow>) { return Result<void>{}; }});
  ASSERT_TRUE(log.feed(text).has_value());
  ASSERT_TRUE(log.finish().has_value());
  EXPECT_EQ(log.counts().changes, 2 * (kGoneKept + 1));
  EXPECT_EQ(log.counts().owners, 0u);
}

TEST(AuditLog, IsKnownByItsBeginning) {
  EXPECT_TRUE(is_audit_log(kCreated));
  EXPECT_TRUE(
      is_audit_log(R"({"kind": "EventList", "apiVersion": "audit.k8s.io/v1", "items": []})"));
  EXPECT_FALSE(is_audit_log(R"({"kind":"Event","apiVersion":"v1","metadata":{}})"));
  EXPECT_FALSE(is_audit_log(R"({"kind":"Policy","apiVersion":"audit.k8s.io/v1","rules":[]})"));
}

}  // namespace
}  // namespace pennyweight::kubernetes
