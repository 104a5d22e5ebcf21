#include "ingest/manifests/cluster_objects.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "ingest/manifests/kubernetes_objects.h"
#include "ingest/manifests/manifest_files.h"

namespace pennyweight::manifests {
namespace {

// A policy of the namespace ml from its spec.
std::string policy_text(std::string_view spec, std::string_view name = "p",
                        std::string_view version = "networking.k8s.io/v1") {
  return fmt::format(
      "---\napiVersion: {}\nkind: NetworkPolicy\nmetadata: {{name: {}, namespace: ml}}\nspec: {}\n",
      version, name, spec);
}

ClusterObjects objects_in(const std::string& text) {
  const auto objects = parse_cluster_objects(text, "cluster.yaml");
  EXPECT_TRUE(objects) << objects.error().message;
  return objects ? *objects : ClusterObjects();
}

// Which directions of the pods with the label app: train are limited: "ingress egress".
std::string limited(const std::string& text, std::string_view name_space = "ml",
                    const PodLabels& labels = {{"app", "train"}}) {
  const ClusterObjects objects = objects_in(text);
  std::string words;
  for (const auto direction : {TrafficDirection::kIngress, TrafficDirection::kEgress}) {
    if (!objects.limits(direction, name_space, labels)) continue;
    if (!words.empty()) words += ' ';
    words += kTrafficDirectionWords[static_cast<std::size_t>(direction)];
  }
  return words;
}

TEST(ClusterObjects, ANetworkPolicyLimitsThePodsThatItSelects) {
  struct PolicyCase {
    const char* spec;
    const char* limited;
  };
  const PolicyCase cases[] = {
      {"{podSelector: {}}", "ingress"},
      {"{podSelector: {}, policyTypes: [Ingress, Egress]}", "ingress egress"},
      {"{podSelector: {}, policyTypes: [Egress]}", "egress"},
      {"{podSelector: {}, egress: [{to: [{podSelector: {}}]}]}", "ingress egress"},
      {"{podSelector: {matchLabels: {app: train}}}", "ingress"},
      {"{podSelector: {matchLabels: {app: train, tier: a}}}", ""},
      {"{podSelector: {matchLabels: {app: serve}}}", ""},
      {"{podSelector: {matchExpressions: [{key: app, operator: In, values: [a, train]}]}}",
       "ingress"},
      {"{podSelector: {matchExpressions: [{key: app, operator: In, values: [a]}]}}", ""},
      {"{podSelector: {matchExpressions: [{key: app, operator: NotIn, values: [a]}]}}", "ingress"},
      {"{podSelector: {matchExpressions: [{key: app, operator: NotIn, values: [train]}]}}", ""},
      {"{podSelector: {matchExpressions: [{key: no, operator: NotIn, values: [a]}]}}", "ingress"},
      {"{podSelector: {matchExpressions: [{key: app, operator: Exists}]}}", "ingress"},
      {"{podSelector: {matchExpressions: [{key: no, operator: Exists}]}}", ""},
      {"{podSelector: {matchExpressions: [{key: no, operator: DoesNotExist}]}}", "ingress"},
      {"{podSelector: {matchExpressions: [{key: app, operator: DoesNotExist}]}}", ""},
      {"{podSelector: {matchExpressions: [{key: app, operator: Like, values: [t]}]}}", ""},
      // What lets everybody through limits nothing.
      {"{podSelector: {}, ingress: [{}]}", ""},
      {"{podSelector: {}, ingress: [{ports: [{port: 80}]}]}", ""},
      {"{podSelector: {}, ingress: [{from: []}]}", ""},
      {"{podSelector: {}, ingress: [{from: [{podSelector: {}}]}]}", "ingress"},
      {"{podSelector: {}, ingress: [{from: [{namespaceSelector: {}}]}]}", ""},
      {"{podSelector: {}, ingress: [{from: [{namespaceSelector: {}, podSelector: {}}]}]}", ""},
      {"{podSelector: {}, ingress: [{from: [{namespaceSelector: {}, podSelector: {matchLabels: "
       "{a: b}}}]}]}",
       "ingress"},
      {"{podSelector: {}, ingress: [{from: [{namespaceSelector: {matchLabels: {a: b}}}]}]}",
       "ingress"},
      {"{podSelector: {}, ingress: [{from: [{ipBlock: {cidr: 0.0.0.0/0}}]}]}", ""},
      {"{podSelector: {}, ingress: [{from: [{ipBlock: {cidr: '::/0'}}]}]}", ""},
      {"{podSelector: {}, ingress: [{from: [{ipBlock: {cidr: 0.0.0.0/0, except: [10.0.0.0/8]}}]}]}",
       "ingress"},
      {"{podSelector: {}, ingress: [{from: [{ipBlock: {cidr: 10.0.0.0/8}}]}]}", "ingress"},
      {"{podSelector: {}, policyTypes: [Egress], egress: [{}]}", ""},
      {"{podSelector: {}, policyTypes: [Ingress], egress: [{}]}", "ingress"},
  };
  for (const PolicyCase& one : cases) {
    EXPECT_EQ(limited(policy_text(one.spec)), one.limited) << one.spec;
  }
}

TEST(ClusterObjects, TheUnionOfAllPoliciesOfANamespaceCounts) {
  const std::string all = policy_text("{podSelector: {}, policyTypes: [Ingress, Egress]}", "all");
  EXPECT_EQ(limited(all, "cv"), "");
  EXPECT_EQ(limited(all, ""), "");
  // Another that opens a direction to everybody is added to what is allowed.
  EXPECT_EQ(limited(all + policy_text("{podSelector: {}, ingress: [{}]}", "open")), "egress");
  EXPECT_EQ(
      limited(all + policy_text("{podSelector: {matchLabels: {app: web}}, ingress: [{}]}", "open")),
      "ingress egress");
  // Policies of network plugins have other fields.
  EXPECT_EQ(limited(policy_text("{podSelector: {}}", "p", "projectcalico.org/v3")), "");
  EXPECT_EQ(limited(policy_text("{podSelector: {}}", "p", "extensions/v1beta1")), "ingress");
}

TEST(ClusterObjects, FilesTakeThePlaceOfPoliciesAndNotOfClaims) {
  const auto claim = [](std::string_view storage_class) {
    return fmt::format(
        "---\napiVersion: v1\nkind: PersistentVolumeClaim\n"
        "metadata: {{name: data, namespace: ml}}\nspec: {{storageClassName: {}}}\n",
        storage_class);
  };
  const ClusterObjects cluster =
      objects_in(claim("plain") + policy_text("{podSelector: {}, ingress: [{}]}"));
  const ClusterObjects files = objects_in(claim("encrypted") + policy_text("{podSelector: {}}"));
  const ClusterObjects joined = with_files(cluster, files);
  EXPECT_FALSE(cluster.limits(TrafficDirection::kIngress, "ml", {}));
  EXPECT_TRUE(joined.limits(TrafficDirection::kIngress, "ml", {}));
  ASSERT_NE(joined.storage_class_of("ml", "data"), nullptr);
  EXPECT_EQ(*joined.storage_class_of("ml", "data"), "plain");  // it can't be changed
  EXPECT_EQ(joined.storage_class_of("cv", "data"), nullptr);
  EXPECT_EQ(with_files({}, files), files);
}

TEST(ClusterObjects, AListingIsReadAndWhatIsNoneIsRefused) {
  const ClusterObjects listed = objects_in(
      R"({"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"ConfigMap"},)"
      R"({"apiVersion":"v1","kind":"PersistentVolumeClaim",)"
      R"("metadata":{"name":"a","namespace":"b"},"spec":{"storageClassName":"fast"}}]})");
  EXPECT_EQ(*listed.storage_class_of("b", "a"), "fast");
  EXPECT_EQ(objects_in(""), ClusterObjects());
  EXPECT_FALSE(parse_cluster_objects("{", "cluster.json"));
  EXPECT_FALSE(parse_cluster_objects("a: [", "cluster.yaml"));
}

struct IsolationCase {
  const char* text;
  const char* isolation;
};

// "runtime | volumes": a volume is name=class, name<-claim or name(source).
std::string isolation_text(const ReplicaGroup& group) {
  if (!group.isolation) return "no pods";
  std::string text = group.isolation->runtime_class;
  if (group.isolation->is_on_host_network) text += " host";
  if (group.isolation->is_partial) text += " partial";
  for (const PodVolume& volume : group.isolation->volumes) {
    text += " | " + volume.name;
    if (!volume.claim.empty()) {
      text += "<-" + volume.claim;
    } else if (!volume.source.empty()) {
      text += "(" + volume.source + ")";
    } else {
      text += "=" + volume.storage_class;
    }
  }
  return text;
}

TEST(PodIsolation, IsWhatThePodsOfEachKindState) {
  const std::string set =
      "apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: s}\nspec: {template: {spec: "
      "{volumes: [{name: c, configMap: {name: x}}]}}, volumeClaimTemplates: [{metadata: {name: d}, "
      "spec: {storageClassName: fast}}, {metadata: {name: e}}]}";
  const IsolationCase cases[] = {
      {"apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {runtimeClassName: kata, "
       "hostNetwork: true, containers: []}",
       "kata host"},
      {"apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {hostNetwork: false, volumes: "
       "[{name: a, emptyDir: {}}, {name: b, secret: {}}, {name: c, persistentVolumeClaim: "
       "{claimName: data}}, {name: d, nfs: {server: x}}, {name: e, hostPath: {path: /}}, {name: f, "
       "ephemeral: {volumeClaimTemplate: {spec: {storageClassName: fast}}}}, {name: g, ephemeral: "
       "{volumeClaimTemplate: {spec: {}}}}, {name: h}]}",
       " | c<-data | d(nfs) | e(hostPath) | f=fast | g="},
      {set.c_str(), " | d=fast | e="},
      {"apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: {name: j}\nspec: {volumes: "
       "[{mountPath: /a, volumeClaimName: data}, {mountPath: /b, volumeClaim: {storageClassName: "
       "fast}}], tasks: [{name: t, replicas: 1, template: {spec: {}}}]}",
       " | data<-data | /b=fast"},
      {"apiVersion: trainer.kubeflow.org/v1alpha1\nkind: TrainJob\nmetadata: {name: t}\nspec: "
       "{runtimeRef: {name: torch}, trainer: {numNodes: 1}}",
       " partial"},
      {"#!/bin/sh\n#SBATCH --gpus=1\n", "no pods"},
  };
  for (const IsolationCase& one : cases) {
    const ManifestFile file{"a.yaml", one.text};
    const auto reading = read_manifest_files({&file, 1});
    ASSERT_TRUE(reading) << reading.error().message;
    ASSERT_EQ(reading->workloads.size(), 1U) << one.text;
    EXPECT_EQ(isolation_text(reading->workloads[0].groups[0]), one.isolation) << one.text;
  }
}

}  // namespace
}  // namespace pennyweight::manifests
