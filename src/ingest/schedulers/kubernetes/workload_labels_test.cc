#include "ingest/schedulers/kubernetes/workload_labels.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>

#include "core/limits.h"

namespace pennyweight::kubernetes {
namespace {

OwnerReference reference(const std::string& kind, const std::string& name,
                         bool is_controller = true) {
  return {.api_version = "v1",
          .kind = kind,
          .name = name,
          .uid = kind + name,
          .is_controller = is_controller};
}

// Owners that are known, by uid.
using Known = std::map<std::string, OwnerRecord, std::less<>>;

void know(Known& known, const std::string& kind, const std::string& name,
          std::vector<OwnerReference> owners = {}, const Texts& labels = {}) {
  known[kind + name] = {.api_version = "v1",
                        .kind = kind,
                        .name = name,
                        .labels = PackedTexts(labels),
                        .owners = std::move(owners)};
}

std::vector<Owner> chain(const std::vector<OwnerReference>& owners, const Known& known) {
  return owner_chain(owners, [&](std::string_view uid) {
    const auto found = known.find(uid);
    return found == known.end() ? nullptr : &found->second;
  });
}

Labels labels_of(const Texts& labels, const std::vector<Owner>& owners = {},
                 const Texts& annotations = {}, const Texts& of_namespace = {}) {
  const PackedTexts own(labels), notes(annotations), space(of_namespace);
  return pod_labels({.name_space = "team",
                     .pod = "p",
                     .node = "n1",
                     .service_account = "",
                     .priority_class = "",
                     .images = "",
                     .final_phase = "",
                     .labels = &own,
                     .annotations = &notes,
                     .namespace_labels = &space,
                     .owners = owners})
      .labels;
}

std::string_view get(const Labels& labels, std::string_view key) {
  return labels.find(key).value_or("(none)");
}

TEST(OwnerChain, GoesToTheTop) {
  Known known;
  know(known, "ReplicaSet", "web-1", {reference("Deployment", "web")});
  know(known, "Deployment", "web");
  const auto found = chain({reference("ReplicaSet", "web-1")}, known);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].name, "web-1");
  EXPECT_EQ(found[1].kind, "Deployment");
  EXPECT_NE(found[1].known, nullptr);
}

TEST(OwnerChain, FollowsTheControllerAndKeepsWhatAReferenceSays) {
  const auto found = chain({reference("Other", "x", false), reference("RayCluster", "r")}, {});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].kind, "RayCluster");
  EXPECT_EQ(found[0].known, nullptr);
  EXPECT_EQ(chain({reference("Other", "x", false)}, {})[0].kind, "Other");
}

TEST(OwnerChain, EndsInACircleAndAfterSoManySteps) {
  Known known;
  know(known, "A", "1", {reference("B", "1")});
  know(known, "B", "1", {reference("A", "1")});
  EXPECT_EQ(chain({reference("A", "1")}, known).size(), 2u);
  for (int i = 0; i < 20; ++i) {
    know(known, "L", std::to_string(i), {reference("L", std::to_string(i + 1))});
  }
  EXPECT_EQ(chain({reference("L", "0")}, known).size(), kChainMax);
}

TEST(WorkloadLabels, WhatEachControllerSays) {
  struct Case {
    Texts labels;
    std::string kind, name;  // of the owner; may be empty
    std::string job, job_kind, type;
  };
  const std::vector<Case> cases = {
      {{{"batch.kubernetes.io/job-name", "j"}}, "Job", "j", "j", "Job", "batch"},
      {{{"training.kubeflow.org/job-name", "t"}}, "PyTorchJob", "t", "t", "PyTorchJob", "training"},
      {{{"jobset.sigs.k8s.io/jobset-name", "s"}, {"job-name", "s-0"}},
       "Job",
       "s-0",
       "s",
       "JobSet",
       "batch"},
      {{{"kueue.x-k8s.io/job-owner-name", "k"},
        {"kueue.x-k8s.io/job-owner-gvk", "kubeflow.org/v1, Kind=MPIJob"}},
       "",
       "",
       "k",
       "MPIJob",
       "(none)"},
      {{{"ray.io/cluster", "r"}}, "RayCluster", "r", "r", "RayCluster", "(none)"},
      {{{"workflows.argoproj.io/workflow", "w"}}, "Workflow", "w", "w", "Workflow", "batch"},
      {{{"serving.kserve.io/inferenceservice", "i"}},
       "ReplicaSet",
       "i-1",
       "i",
       "InferenceService",
       "inference"},
      {{{"volcano.sh/job-name", "v"}}, "Job", "v", "v", "Job", "batch"},
      {{{"leaderworkerset.sigs.k8s.io/name", "l"}},
       "StatefulSet",
       "l",
       "l",
       "LeaderWorkerSet",
       "service"},
      {{{"notebook-name", "n"}}, "StatefulSet", "n", "n", "StatefulSet", "notebook"},
      {{{"pod-template-hash", "7d9f"}}, "ReplicaSet", "web-7d9f", "web", "Deployment", "service"},
      {{}, "DaemonSet", "d", "d", "DaemonSet", "service"},
      {{}, "", "", "(none)", "(none)", "(none)"},
  };
  for (const Case& one : cases) {
    SCOPED_TRACE(one.job + " " + one.job_kind);
    const auto owners =
        one.kind.empty() ? std::vector<Owner>() : chain({reference(one.kind, one.name)}, {});
    const Labels labels = labels_of(one.labels, owners);
    EXPECT_EQ(get(labels, "job"), one.job);
    EXPECT_EQ(get(labels, "job_kind"), one.job_kind);
    EXPECT_EQ(get(labels, "workload_type"), one.type);
  }
}

TEST(WorkloadLabels, FactsOfTheirOwnAlsoFromOwners) {
  Known known;
  know(known, "Job", "j", {}, {{"kueue.x-k8s.io/queue-name", "gold"}, {"team", "nlp"}});
  const Labels labels = labels_of({{"ray.io/cluster", "r"}}, chain({reference("Job", "j")}, known));
  EXPECT_EQ(get(labels, "queue"), "gold");
  EXPECT_EQ(get(labels, "ray_cluster"), "r");
  EXPECT_EQ(get(labels, "owner.label/team"), "nlp");
}

TEST(WorkloadLabels, APodsOwnLabelOfATakenNameIsKeptBeside) {
  const Labels labels = labels_of({{"node", "mine"}, {"team", "nlp"}, {"empty", ""}});
  EXPECT_EQ(get(labels, "node"), "n1");
  EXPECT_EQ(get(labels, "pod.label/node"), "mine");
  EXPECT_EQ(get(labels, "team"), "nlp");
  EXPECT_EQ(get(labels, "empty"), "");
}

TEST(WorkloadLabels, TooManyLoseTheirAnnotationsFirst) {
  Texts own, notes, space;
  for (int i = 0; i < 100; ++i) own[fmt::format("l{}", i)] = "x";
  for (int i = 0; i < 100; ++i) space[fmt::format("s{}", i)] = "x";
  for (int i = 0; i < 100; ++i) notes[fmt::format("a{}", i)] = "x";
  const Labels labels = labels_of(own, {}, notes, space);
  EXPECT_EQ(labels.entries().size(), limits::kLabelsMax);
  EXPECT_EQ(get(labels, "l99"), "x");
  EXPECT_EQ(get(labels, "namespace.label/s99"), "x");
  EXPECT_EQ(get(labels, "annotation/a99"), "(none)");
}

TEST(WorkloadLabels, WhichAnnotationsAreKept) {
  const LabelOptions options{.annotations = {"example.com/*", "long"}, .annotation_bytes_max = 16};
  EXPECT_TRUE(keeps_annotation(options, "user", 16));
  EXPECT_FALSE(keeps_annotation(options, "user", 17));
  EXPECT_TRUE(keeps_annotation(options, "long", 400));
  EXPECT_TRUE(keeps_annotation(options, "example.com/a", 400));
  EXPECT_FALSE(keeps_annotation(options, "cni.projectcalico.org/podIP", 8));
  EXPECT_FALSE(keeps_annotation({.annotations = {}, .annotation_bytes_max = 0}, "user", 1));
}

}  // namespace
}  // namespace pennyweight::kubernetes
