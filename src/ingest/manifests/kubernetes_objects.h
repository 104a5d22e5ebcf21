// Reads what Kubernetes objects ask for: pods and what makes pods.
//
// Known are Pod, Deployment, StatefulSet, ReplicaSet, ReplicationController, Job, CronJob
// (Kubernetes); JobSet, LeaderWorkerSet (kubernetes-sigs); PyTorchJob, TFJob, MPIJob, XGBoostJob,
// PaddleJob, JAXJob, TrainJob and Notebook (Kubeflow); RayCluster, RayJob, RayService (KubeRay);
// InferenceService, LLMInferenceService (KServe); NIMService (NVIDIA); Rollout (Argo); Job of
// Volcano; Workload of Kueue; Service of Knative; claims
// (resource.k8s.io), and Lists of these. HorizontalPodAutoscaler and ScaledObject raise the
// replicas of what they scale.
#pragma once

#include <span>
#include <string>

#include "ingest/manifests/document.h"
#include "ingest/manifests/workload_request.h"

namespace pennyweight::manifests {

// A document with the file that it is from.
struct SourcedDocument {
  std::string file;
  DocumentNode node;
};

// Whether the document is an object of the Kubernetes API: it has apiVersion and kind.
bool is_kubernetes_object(const DocumentNode& node);

// The workloads of the objects. Objects find each other (a pod its claim template, an autoscaler
// its Deployment) in all of them, whatever the file. A kind that is not known is an UnpricedObject,
// whose reason says whether it asks for GPUs; one that starts nothing (ConfigMap, Service, …) is
// counted in without_cost.
ManifestReading read_kubernetes_objects(std::span<const SourcedDocument> documents);

}  // namespace pennyweight::manifests
