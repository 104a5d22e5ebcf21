#include "ingest/manifests/kubernetes_objects.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "ingest/manifests/manifest_files.h"

namespace pennyweight::manifests {
namespace {

ManifestReading read_one(const std::string& text) {
  const ManifestFile file{"a.yaml", text};
  auto reading = read_manifest_files({&file, 1});
  EXPECT_TRUE(reading) << reading.error().message;
  return reading ? *reading : ManifestReading();
}

// "replicas x GPUs" of each group: "head 1x0, worker 4x8".
std::string groups_text(const WorkloadRequest& workload) {
  std::string text;
  for (const ReplicaGroup& group : workload.groups) {
    std::uint64_t gpus = 0;
    for (const RequestedDevice& device : group.gpus) gpus += device.count;
    if (!text.empty()) text += ", ";
    if (!group.name.empty()) text += group.name + " ";
    text += std::to_string(group.replicas);
    if (group.replicas_max) text += "-" + std::to_string(*group.replicas_max);
    text += "x" + std::to_string(gpus);
    if (group.replica_ms_max) text += " " + std::to_string(*group.replica_ms_max / 1000) + "s";
    if (!group.problem.empty()) text += " ?";
  }
  return text;
}

std::string groups_in(const std::string& text) {
  const ManifestReading reading = read_one(text);
  if (reading.workloads.size() != 1) return "not one workload";
  return groups_text(reading.workloads[0]);
}

constexpr const char* kGpuPod =
    "{spec: {containers: [{resources: {limits: {nvidia.com/gpu: 8}}}]}}";
constexpr const char* kCpuPod = "{spec: {containers: [{resources: {requests: {cpu: 2}}}]}}";

std::string with_pods(std::string text) {
  for (const auto& [mark, pod] : {std::pair("GPUS", kGpuPod), std::pair("CPUS", kCpuPod)}) {
    for (std::size_t at = text.find(mark); at != std::string::npos; at = text.find(mark)) {
      text.replace(at, 4, pod);
    }
  }
  return text;
}

struct KindCase {
  const char* text;
  const char* groups;
};

TEST(KubernetesObjects, ReadsTheReplicasOfEveryKind) {
  const KindCase cases[] = {
      {"apiVersion: apps/v1\nkind: Deployment\nspec: {template: GPUS}", "1x8"},
      {"apiVersion: apps/v1\nkind: StatefulSet\nspec: {replicas: 3, template: GPUS}", "3x8"},
      {"apiVersion: apps/v1\nkind: Deployment\nspec: {replicas: 0, template: GPUS}", "0x8"},
      {"apiVersion: batch/v1\nkind: Job\nspec: {template: GPUS}", "1x8"},
      {"apiVersion: batch/v1\nkind: Job\nspec: {parallelism: 4, completions: 10, "
       "activeDeadlineSeconds: 60, template: GPUS}",
       "4x8 240s"},
      {"apiVersion: batch/v1\nkind: Job\nspec: {parallelism: 4, completions: 2, template: GPUS}",
       "2x8"},
      {"apiVersion: batch/v1\nkind: Job\nspec: {parallelism: 2, completions: 10, template: {spec: "
       "{activeDeadlineSeconds: 60, containers: []}}}",
       "2x0 600s"},
      {"apiVersion: batch/v1\nkind: CronJob\nspec: {schedule: '@daily', jobTemplate: {spec: "
       "{activeDeadlineSeconds: 60, template: GPUS}}}",
       "1x8 60s"},
      {"apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nspec: {replicatedJobs: [{name: driver, "
       "template: {spec: {template: CPUS}}}, {name: workers, replicas: 2, template: {spec: "
       "{parallelism: 4, completions: 4, template: GPUS}}}]}",
       "driver 1x0, workers 8x8"},
      {"apiVersion: leaderworkerset.x-k8s.io/v1\nkind: LeaderWorkerSet\nspec: {replicas: 2, "
       "leaderWorkerTemplate: {size: 4, leaderTemplate: CPUS, workerTemplate: GPUS}}",
       "leader 2x0, worker 6x8"},
      {"apiVersion: leaderworkerset.x-k8s.io/v1\nkind: LeaderWorkerSet\nspec: {replicas: 2, "
       "leaderWorkerTemplate: {size: 4, workerTemplate: GPUS}}",
       "8x8"},
      {"apiVersion: kubeflow.org/v1\nkind: PyTorchJob\nspec: {runPolicy: {activeDeadlineSeconds: "
       "10}, pytorchReplicaSpecs: {Master: {template: GPUS}, Worker: {replicas: 3, template: "
       "GPUS}}}",
       "Master 1x8 10s, Worker 3x8 30s"},
      {"apiVersion: kubeflow.org/v2beta1\nkind: MPIJob\nspec: {mpiReplicaSpecs: {Launcher: "
       "{replicas: 1, template: CPUS}, Worker: {replicas: 2, template: GPUS}}}",
       "Launcher 1x0, Worker 2x8"},
      {"apiVersion: ray.io/v1\nkind: RayCluster\nspec: {headGroupSpec: {template: CPUS}, "
       "workerGroupSpecs: [{groupName: g, replicas: 2, minReplicas: 1, maxReplicas: 5, template: "
       "GPUS}]}",
       "head 1x0, g 2x8"},
      {"apiVersion: ray.io/v1\nkind: RayCluster\nspec: {enableInTreeAutoscaling: true, "
       "headGroupSpec: {template: CPUS}, workerGroupSpecs: [{groupName: g, replicas: 2, "
       "maxReplicas: 5, numOfHosts: 2, template: GPUS}]}",
       "head 1x0, g 4-10x8"},
      {"apiVersion: ray.io/v1\nkind: RayJob\nspec: {activeDeadlineSeconds: 5, rayClusterSpec: "
       "{headGroupSpec: {template: CPUS}, workerGroupSpecs: [{groupName: g, replicas: 2, template: "
       "GPUS}]}}",
       "head 1x0 5s, g 2x8 10s"},
      {"apiVersion: serving.kserve.io/v1beta1\nkind: InferenceService\nspec: {predictor: "
       "{minReplicas: 1, maxReplicas: 4, model: {modelFormat: {name: huggingface}, resources: "
       "{limits: {nvidia.com/gpu: 2}}}}}",
       "predictor 1-4x2"},
      {"apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nspec: {tasks: [{name: ps, replicas: 2, "
       "template: CPUS}, {name: w, replicas: 3, template: GPUS}]}",
       "ps 2x0, w 3x8"},
      {"apiVersion: trainer.kubeflow.org/v1alpha1\nkind: TrainJob\nspec: {runtimeRef: {name: "
       "torch}, "
       "trainer: {numNodes: 4, resourcesPerNode: {limits: {nvidia.com/gpu: 8}}}}",
       "node 4x8"},
      {"apiVersion: trainer.kubeflow.org/v1alpha1\nkind: TrainJob\nspec: {runtimeRef: {name: "
       "torch}}",
       "node 1x0 ?"},
      {"apiVersion: v1\nkind: List\nitems: [{apiVersion: apps/v1, kind: Deployment, spec: "
       "{template: "
       "GPUS}}]",
       "1x8"},
      {"apiVersion: argoproj.io/v1alpha1\nkind: Rollout\nspec: {replicas: 2, template: GPUS}",
       "2x8"},
      {"apiVersion: serving.knative.dev/v1\nkind: Service\nspec: {template: {metadata: "
       "{annotations: {autoscaling.knative.dev/minScale: '2', autoscaling.knative.dev/max-scale: "
       "'3'}}, spec: {containers: [{resources: {limits: {nvidia.com/gpu: 1}}}]}}}",
       "2-3x1"},
      {"apiVersion: kubeflow.org/v1\nkind: Notebook\nspec: {template: GPUS}", "1x8"},
      {"apiVersion: apps.nvidia.com/v1alpha1\nkind: NIMService\nspec: {replicas: 2, scale: "
       "{enabled: true, hpa: {maxReplicas: 5}}, resources: {limits: {nvidia.com/gpu: 1}}}",
       "2-5x1"},
      {"apiVersion: apps.nvidia.com/v1alpha1\nkind: NIMService\nspec: {replicas: 2}", "2x0 ?"},
      {"apiVersion: serving.kserve.io/v1alpha1\nkind: LLMInferenceService\nspec: {replicas: 3, "
       "template: {containers: [{resources: {limits: {nvidia.com/gpu: 2}}}]}}",
       "3x2"},
      {"apiVersion: serving.kserve.io/v1alpha1\nkind: LLMInferenceService\nspec: {replicas: 2, "
       "parallelism: {data: 32, dataLocal: 8, tensor: 1}, template: {containers: [{resources: "
       "{limits: {nvidia.com/gpu: 8}}}]}, worker: {containers: [{resources: {limits: "
       "{nvidia.com/gpu: 8}}}]}, prefill: {replicas: 3, template: {containers: [{resources: "
       "{limits: {nvidia.com/gpu: 4}}}]}}}",
       "decode 2x8, decode worker 6x8, prefill 3x4"},
      {"apiVersion: serving.kserve.io/v1alpha1\nkind: LLMInferenceService\nspec: {baseRefs: "
       "[{name: x}]}",
       "1x0 ?"},
      {"apiVersion: ray.io/v1\nkind: RayJob\nspec: {clusterSelector: {ray.io/cluster: prod}}",
       "cluster 1x0 ?"},
      {"apiVersion: ray.io/v1\nkind: RayCluster\nspec: {headGroupSpec: {template: CPUS}, "
       "workerGroupSpecs: [{groupName: g, replicas: 2, template: GPUS}, {groupName: s, suspend: "
       "true, replicas: 4, template: GPUS}]}",
       "head 1x0, g 2x8"},
  };
  for (const KindCase& one : cases) {
    EXPECT_EQ(groups_in(with_pods(one.text)), one.groups) << one.text;
  }
}

TEST(KubernetesObjects, ReadsWhereAPodMustRun) {
  const auto reading = read_one(
      "apiVersion: v1\nkind: Pod\nmetadata: {name: p, labels: {team: nlp}}\nspec:\n"
      "  nodeSelector: {cloud.google.com/gke-accelerator: nvidia-h100-80gb, "
      "cloud.google.com/gke-spot: 'true'}\n"
      "  affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
      "{nodeSelectorTerms: [{matchExpressions: [{key: node.kubernetes.io/instance-type, operator: "
      "In, values: [a3-highgpu-8g]}]}]}}}\n"
      "  containers: [{resources: {limits: {nvidia.com/gpu: 1, memory: 8Gi}}}]\n");
  ASSERT_EQ(reading.workloads.size(), 1U);
  const ReplicaGroup& group = reading.workloads[0].groups[0];
  EXPECT_EQ(group.place.gpu_model, "nvidia-h100-80gb");
  EXPECT_EQ(group.place.instance_type, "a3-highgpu-8g");
  EXPECT_TRUE(group.place.is_spot);
  EXPECT_EQ(group.memory_bytes, 8ULL << 30U);
  EXPECT_EQ(reading.workloads[0].labels.at("team"), "nlp");
}

TEST(KubernetesObjects, ReadsPartsOfGpus) {
  const auto device_of = [](const std::string& pod) {
    const auto reading = read_one("apiVersion: v1\nkind: Pod\n" + pod);
    return reading.workloads.at(0).groups.at(0).gpus.at(0);
  };
  const std::string one_gpu = "containers: [{resources: {limits: {nvidia.com/gpu: 1}}}]}\n";
  const auto mig =
      device_of("spec: {containers: [{resources: {limits: {nvidia.com/mig-1g.10gb: 2}}}]}\n");
  EXPECT_EQ(mig.mig_profile, "1g.10gb");
  EXPECT_EQ(mig.count, 2U);
  const auto single = device_of(
      "spec: {nodeSelector: {nvidia.com/gpu.product: NVIDIA-A100-SXM4-40GB-MIG-1g.5gb}, " +
      one_gpu);
  EXPECT_EQ(single.mig_profile, "1g.5gb");
  const auto shared = device_of(
      "spec: {nodeSelector: {cloud.google.com/gke-max-shared-clients-per-gpu: '4'}, " + one_gpu);
  EXPECT_EQ(shared.compute.units(), CardShare::kUnitsPerCard / 4);
  const auto fraction =
      device_of("metadata: {annotations: {gpu-fraction: '0.5'}}\nspec: {containers: [{}]}\n");
  EXPECT_EQ(fraction.memory.units(), CardShare::kUnitsPerCard / 2);
}

TEST(KubernetesObjects, FindsClaimsInOtherDocuments) {
  const auto reading = read_one(
      "apiVersion: resource.k8s.io/v1\nkind: ResourceClaimTemplate\nmetadata: {name: two, "
      "namespace: ml}\nspec: {spec: {devices: {requests: [{name: g, exactly: {deviceClassName: "
      "gpu.nvidia.com, count: 2, selectors: [{cel: {expression: "
      "\"device.attributes['gpu.nvidia.com'].productName == 'NVIDIA H200'\"}}]}}]}}}\n"
      "---\napiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: ml}\nspec: {resourceClaims: "
      "[{name: g, resourceClaimTemplateName: two}], containers: [{}]}\n"
      "---\napiVersion: v1\nkind: Pod\nmetadata: {name: q, namespace: ml}\nspec: {resourceClaims: "
      "[{name: g, resourceClaimTemplateName: other}], containers: [{}]}\n");
  ASSERT_EQ(reading.workloads.size(), 2U);
  EXPECT_EQ(groups_text(reading.workloads[0]), "1x2");
  EXPECT_EQ(reading.workloads[0].groups[0].place.gpu_model, "NVIDIA H200");
  EXPECT_EQ(groups_text(reading.workloads[1]), "1x0 ?");
}

// What a claim holds, by its class and a selector: the model, the MIG profile, or "?" and no price.
std::string claimed_by(const std::string& device_class, const std::string& selector) {
  const auto reading = read_one(
      "apiVersion: resource.k8s.io/v1\nkind: DeviceClass\nmetadata: {name: small}\nspec: "
      "{selectors: [{cel: {expression: \"device.driver == 'gpu.nvidia.com' && "
      "device.attributes['gpu.nvidia.com'].profile == '1g.5gb'\"}}]}\n---\n"
      "apiVersion: resource.k8s.io/v1\nkind: ResourceClaimTemplate\nmetadata: {name: c}\nspec: "
      "{spec: {devices: {requests: [{name: g, exactly: {deviceClassName: " +
      device_class + ", selectors: [{cel: {expression: \"" + selector +
      "\"}}]}}]}}}\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {resourceClaims: "
      "[{name: g, resourceClaimTemplateName: c}], containers: [{}]}\n");
  const ReplicaGroup& group = reading.workloads.at(0).groups.at(0);
  if (!group.problem.empty()) return "?";
  return group.gpus.empty() ? "none" : group.place.gpu_model + group.gpus[0].mig_profile;
}

TEST(KubernetesObjects, ReadsOfAClaimWhatDecidesItsPrice) {
  const std::string of = "device.attributes['gpu.nvidia.com'].";
  const struct {
    std::string device_class;
    std::string selector;
    std::string claimed;
  } cases[] = {
      {"gpu.nvidia.com", of + "productName == 'NVIDIA H200'", "NVIDIA H200"},
      {"gpu.nvidia.com", of + "productName.lowerAscii().matches('^.*a100.*$')", "a100"},
      {"gpu.nvidia.com", of + "productName.contains('L4')", "L4"},
      {"gpu.nvidia.com", of + "productName.matches('A100|H100')", "?"},
      {"gpu.nvidia.com", of + "productName == 'A100' || " + of + "productName == 'H100'", "?"},
      {"gpu.nvidia.com", "!(" + of + "productName == 'A100')", "?"},
      {"gpu.nvidia.com", of + "productName != 'A100'", "?"},
      {"gpu.nvidia.com", of + "architecture == 'Ampere'", "?"},
      {"gpu.nvidia.com", of + "architecture == 'Ampere' && " + of + "productName == 'A100'",
       "A100"},
      {"gpu.nvidia.com", of + "productName == 'A100' && " + of + "productName == 'H100'", "?"},
      {"gpu.nvidia.com", of + "index < 4", ""},
      {"gpu.nvidia.com", "device.capacity['gpu.nvidia.com'].memory.compareTo(quantity('4Gi')) >= 0",
       "?"},
      {"mig.nvidia.com", of + "profile == '1g.10gb'", "1g.10gb"},
      {"mig.nvidia.com", of + "index == 1", "?"},
      {"small", of + "index == 1", "1g.5gb"},
      {"compute-domain-daemon.nvidia.com", "true", "none"},
      {"dra.net", "true", "none"},
      {"a100.example.com", "true", "?"},  // of which nothing says what it is
      {"tensor-processor", "true", "?"},  // no "roce"
      {"high-memory", "true", "?"},
      {"kubernetes.x.io", "true", "?"},  // no "net"
      {"dra.net", of + "productName == 'NVIDIA H200'", "NVIDIA H200"},
      // An alternative binds less than "and".
      {"gpu.nvidia.com",
       of + "productName == 'B200' || " + of + "index == 0 && " + of + "productName == 'T4'", "?"},
      {"gpu.nvidia.com", of + "productName == 'A100' && " + of + "profile.startsWith('1g')", "?"},
      {"gpu.nvidia.com", of + "productName == 'A100' && " + of + "type != 'gpu'", "?"},
  };
  for (const auto& one : cases) {
    EXPECT_EQ(claimed_by(one.device_class, one.selector), one.claimed)
        << one.device_class << " " << one.selector;
  }
}

TEST(KubernetesObjects, PricesASharedClaimOnce) {
  const std::string pod =
      "---\napiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: "
      "{resourceClaims: [{name: g, resourceClaimName: c}], containers: [{}]}\n";
  const std::string claim =
      "---\napiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: {name: c}\nspec: "
      "{devices: {requests: [{name: g, exactly: {deviceClassName: gpu.nvidia.com, count: 2}}]}}\n";
  const auto reading = read_one(pod + pod + claim);
  ASSERT_EQ(reading.workloads.size(), 3U);
  EXPECT_EQ(groups_text(reading.workloads[0]), "1x0");
  EXPECT_EQ(groups_text(reading.workloads[2]), "1x2");
  EXPECT_EQ(reading.workloads[2].lifetime, Lifetime::kService);
  EXPECT_EQ(read_one(claim).workloads.size(), 0U);  // nothing uses it
}

TEST(KubernetesObjects, AClaimAndATemplateOfOneNameAreTwo) {
  const auto reading = read_one(
      "apiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: {name: g}\nspec: "
      "{devices: {requests: [{name: g, exactly: {deviceClassName: gpu.nvidia.com}}]}}\n---\n"
      "apiVersion: resource.k8s.io/v1\nkind: ResourceClaimTemplate\nmetadata: {name: g}\nspec: "
      "{spec: {devices: {requests: [{name: g, exactly: {deviceClassName: gpu.nvidia.com, count: "
      "8}}]}}}\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {resourceClaims: "
      "[{name: g, resourceClaimTemplateName: g}], containers: [{}]}\n");
  ASSERT_EQ(reading.workloads.size(), 1U);
  EXPECT_EQ(groups_text(reading.workloads[0]), "1x8");
}

// Aliases of YAML make many requests of a few bytes, and many pods that use them.
TEST(KubernetesObjects, AClaimHasNoMoreRequestsThanKubernetesTakes) {
  const auto held = [](std::size_t requests, std::size_t claims) {
    const auto repeated = [](std::string_view one, std::size_t times) {
      std::string all;
      for (std::size_t i = 0; i < times; ++i) all.append(one).append(", ");
      return all;
    };
    const auto reading = read_one(
        "apiVersion: resource.k8s.io/v1\nkind: ResourceClaimTemplate\nmetadata: {name: c}\nspec: "
        "{spec: {devices: {requests: [" +
        repeated("{exactly: {deviceClassName: gpu.nvidia.com}}", requests) +
        "]}}}\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {resourceClaims: [" +
        repeated("{resourceClaimTemplateName: c}", claims) + "], containers: [{}]}\n");
    const ReplicaGroup& group = reading.workloads.at(0).groups.at(0);
    return std::pair(group.gpus.size(), group.problem);
  };
  EXPECT_EQ(held(32, 1), std::pair(std::size_t{32}, std::string()));
  EXPECT_EQ(held(33, 1), std::pair(std::size_t{0}, std::string("the claim 'c': it has 33 requests, "
                                                               "and Kubernetes takes 32 at most")));
  EXPECT_EQ(held(32, 2).first, 64U);
  EXPECT_EQ(held(32, 3),
            std::pair(std::size_t{0}, std::string("its claims have more than 64 requests")));
}

TEST(KubernetesObjects, ReadsExtendedResourcesOfDeviceClasses) {
  const auto reading = read_one(
      "apiVersion: resource.k8s.io/v1\nkind: DeviceClass\nmetadata: {name: small}\nspec: "
      "{extendedResourceName: nvidia.com/gpu, selectors: [{cel: {expression: \"device.driver == "
      "'gpu.nvidia.com' && device.attributes['gpu.nvidia.com'].profile == '1g.5gb'\"}}]}\n---\n"
      "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{resources: {limits: "
      "{nvidia.com/gpu: 3, deviceclass.resource.kubernetes.io/small: 1}}}]}\n---\n"
      "apiVersion: v1\nkind: Pod\nmetadata: {name: q}\nspec: {containers: [{resources: {limits: "
      "{deviceclass.resource.kubernetes.io/other: 1}}}]}\n");
  const ReplicaGroup& group = reading.workloads.at(0).groups.at(0);
  ASSERT_EQ(group.gpus.size(), 2U);
  EXPECT_EQ(group.gpus[0].count + group.gpus[1].count, 4U);
  EXPECT_EQ(group.gpus[1].mig_profile, "1g.5gb");
  EXPECT_EQ(groups_text(reading.workloads.at(1)), "1x0 ?");
}

TEST(KubernetesObjects, ReadsWhatAnAppWrapperHolds) {
  const std::string head =
      "apiVersion: workload.codeflare.dev/v1beta2\nkind: AppWrapper\nmetadata: {name: w}\nspec: "
      "{components: [{template: ";
  EXPECT_EQ(groups_in(with_pods(head + "{apiVersion: batch/v1, kind: Job, metadata: {name: j}, "
                                       "spec: {parallelism: 2, template: GPUS}}}, {template: "
                                       "{apiVersion: v1, kind: Service}}]}\n")),
            "j 2x8");
  EXPECT_EQ(read_one(head + "{apiVersion: x.io/v1, kind: Magic}}]}\n").unpriced.size(), 1U);
  const auto annotated = [&](const std::string& other) {
    const auto reading =
        read_one(head +
                 "{apiVersion: batch/v1, kind: CronJob, metadata: {name: a, annotations: {scan: "
                 "ok}}, spec: {schedule: '@daily'}}}, {template: {apiVersion: v1, kind: Pod, "
                 "metadata: {name: b, annotations: {scan: " +
                 other + "}}, spec: {containers: [{}]}}}]}\n");
    EXPECT_EQ(reading.workloads.at(0).parts.at(0).schedule, "@daily");
    return reading.workloads.at(0).annotations.contains("scan");
  };
  EXPECT_TRUE(annotated("ok"));
  EXPECT_FALSE(annotated("no"));
}

TEST(KubernetesObjects, PodsHaveTheLabelsOfTheirTemplate) {
  const auto reading = read_one(
      "apiVersion: batch/v1\nkind: Job\nmetadata: {name: j, labels: {team: decoy}}\nspec: "
      "{template: "
      "{metadata: {labels: {team: nlp, app: a}}, spec: {containers: [{}]}}}\n");
  const WorkloadRequest& job = reading.workloads.at(0);
  EXPECT_EQ(job.labels.at("team"), "decoy");
  EXPECT_EQ(job.labels.at("app"), "a");
  EXPECT_EQ(job.groups.at(0).pod_labels.value().at("team"), "nlp");
  const auto served = read_one(
      "apiVersion: serving.kserve.io/v1beta1\nkind: InferenceService\nmetadata: {name: s}\nspec: "
      "{predictor: {containers: [{}]}}\n");
  EXPECT_FALSE(served.workloads.at(0).groups.at(0).pod_labels);
}

TEST(KubernetesObjects, AutoscalersRaiseWhatTheyScale) {
  EXPECT_EQ(
      groups_in(with_pods(
          "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\nspec: {template: GPUS}\n"
          "---\napiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nspec: "
          "{scaleTargetRef: {kind: Deployment, name: d}, minReplicas: 2, maxReplicas: 9}\n")),
      "2-9x8");
}

constexpr const char* kTrainingRuntime =
    "apiVersion: trainer.kubeflow.org/v1alpha1\nkind: ClusterTrainingRuntime\nmetadata: {name: "
    "torch}\nspec: {mlPolicy: {numNodes: 3}, template: {spec: {replicatedJobs: [{name: "
    "dataset-initializer, template: {spec: {template: CPUS}}}, {name: node, template: {spec: "
    "{template: {spec: {containers: [{name: node, resources: {limits: {nvidia.com/gpu: "
    "4}}}]}}}}}]}}}"
    "\n---\napiVersion: trainer.kubeflow.org/v1alpha1\nkind: TrainJob\nspec: {runtimeRef: {name: "
    "torch}";

TEST(KubernetesObjects, TakesPodsFromTheRuntimeThatIsNamed) {
  for (const auto& [more, groups] : {
           std::pair("}", "dataset-initializer 1x0, node 3x4"),
           std::pair(", trainer: {numNodes: 2}}", "dataset-initializer 1x0, node 2x4"),
           std::pair(", trainer: {resourcesPerNode: {limits: {nvidia.com/gpu: 8}}}}",
                     "dataset-initializer 1x0, node 3x8"),
       }) {
    EXPECT_EQ(groups_in(with_pods(std::string(kTrainingRuntime) + more)), groups) << more;
  }
  const auto placed = read_one(
      with_pods(std::string(kTrainingRuntime) +
                ", podTemplateOverrides: [{targetJobs: [{name: node}], spec: {nodeSelector: "
                "{nvidia.com/gpu.product: NVIDIA-H200}}}]}"));
  ASSERT_EQ(placed.workloads.size(), 1U);
  EXPECT_EQ(placed.workloads[0].groups[0].place.gpu_model, "");
  EXPECT_EQ(placed.workloads[0].groups[1].place.gpu_model, "NVIDIA-H200");

  const std::string served =
      "apiVersion: serving.kserve.io/v1alpha1\nkind: ServingRuntime\nmetadata: {name: vllm}\nspec: "
      "{nodeSelector: {nvidia.com/gpu.product: NVIDIA-L4}, containers: [{name: kserve-container, "
      "resources: {requests: {cpu: 4}, limits: {nvidia.com/gpu: 2}}}]}\n---\napiVersion: "
      "serving.kserve.io/v1beta1\nkind: InferenceService\nspec: {predictor: {model: {runtime: ";
  EXPECT_EQ(groups_in(served + "vllm}}}"), "predictor 1x2");
  EXPECT_EQ(groups_in(served + "vllm, resources: {limits: {nvidia.com/gpu: 4}}}}}"),
            "predictor 1x4");
  const auto reading = read_one(served + "vllm, resources: {limits: {nvidia.com/gpu: 4}}}}}");
  EXPECT_EQ(reading.workloads.at(0).groups.at(0).cpu_milli, 4000U);
  EXPECT_EQ(reading.workloads[0].groups[0].place.gpu_model, "NVIDIA-L4");
  EXPECT_EQ(groups_in(served + "other}}}"), "predictor 1x0 ?");
}

TEST(KubernetesObjects, SaysWhatItDoesNotKnow) {
  const auto reading = read_one(
      "apiVersion: x.io/v1\nkind: MagicJob\nmetadata: {name: m}\nspec:\n  a:\n    nvidia.com/gpu: "
      "8\n"
      "---\napiVersion: x.io/v1\nkind: Other\nmetadata: {name: o}\n"
      "---\napiVersion: v1\nkind: ConfigMap\n---\napiVersion: v1\nkind: Service\n"
      "---\napiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: d}\n"
      "---\nvalues: {a: 1}\n"
      "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: x}\nspec: {replicas: -1}\n");
  ASSERT_EQ(reading.unpriced.size(), 5U);
  EXPECT_EQ(reading.without_cost, 2U);
  EXPECT_NE(reading.unpriced[0].reason.find("no Kubernetes object"), std::string::npos);
  EXPECT_NE(reading.unpriced[1].reason.find("nvidia.com/gpu: 8 in line 6"), std::string::npos)
      << reading.unpriced[1].reason;
  EXPECT_NE(reading.unpriced[4].reason.find("replicas: '-1'"), std::string::npos);
}

TEST(KubernetesObjects, PricesNoGpuWorkloadWithoutItsGpus) {
  const auto reading = read_one(
      "apiVersion: cluster.ray.io/v1\nkind: RayCluster\nmetadata: {name: old}\nspec: {podTypes: "
      "[{podConfig: {spec: {containers: [{resources: {limits: {nvidia.com/gpu: 4}}}]}}}]}\n");
  EXPECT_TRUE(reading.workloads.empty());
  ASSERT_EQ(reading.unpriced.size(), 1U);
  EXPECT_NE(reading.unpriced[0].reason.find("nvidia.com/gpu: 4 in line 4"), std::string::npos);
}

TEST(KubernetesObjects, OtherAcceleratorsAreNotFree) {
  EXPECT_EQ(groups_in("apiVersion: v1\nkind: Pod\nspec: {containers: [{resources: {limits: "
                      "{google.com/tpu: 4, cpu: 2}}}]}\n"),
            "1x0 ?");
}

TEST(KubernetesObjects, AGpuResourceThatIsNotKnownIsAProblem) {
  EXPECT_EQ(groups_in("apiVersion: v1\nkind: Pod\nspec: {containers: [{resources: {limits: "
                      "{example.com/gpu: 1}}}]}\n"),
            "1x0 ?");
  EXPECT_EQ(groups_in("apiVersion: v1\nkind: Pod\nspec: {containers: [{resources: {limits: "
                      "{nvidia.com/gpu: many}}}]}\n"),
            "1x0 ?");
}

}  // namespace
}  // namespace pennyweight::manifests
