#include "ingest/schedulers/kubernetes/api_resources.h"

namespace pennyweight::kubernetes {

std::vector<ResourceType> holder_resources() {
  return {
      {.kind = "Pod", .paths = {"/api/v1/pods"}},
      {.kind = "Node", .paths = {"/api/v1/nodes"}},
      {.kind = "Namespace", .paths = {"/api/v1/namespaces"}},
      {.kind = "ResourceClaim",
       .paths = {"/apis/resource.k8s.io/v1/resourceclaims",
                 "/apis/resource.k8s.io/v1beta2/resourceclaims",
                 "/apis/resource.k8s.io/v1beta1/resourceclaims"}},
      {.kind = "ResourceSlice",
       .paths = {"/apis/resource.k8s.io/v1/resourceslices",
                 "/apis/resource.k8s.io/v1beta2/resourceslices",
                 "/apis/resource.k8s.io/v1beta1/resourceslices"}},
  };
}

std::vector<ResourceType> owner_resources() {
  return {
      {.kind = "ReplicaSet", .paths = {"/apis/apps/v1/replicasets"}},
      {.kind = "Deployment", .paths = {"/apis/apps/v1/deployments"}},
      {.kind = "StatefulSet", .paths = {"/apis/apps/v1/statefulsets"}},
      {.kind = "DaemonSet", .paths = {"/apis/apps/v1/daemonsets"}},
      {.kind = "Job", .paths = {"/apis/batch/v1/jobs"}},
      {.kind = "CronJob", .paths = {"/apis/batch/v1/cronjobs"}},
      {.kind = "JobSet", .paths = {"/apis/jobset.x-k8s.io/v1alpha2/jobsets"}},
      {.kind = "LeaderWorkerSet", .paths = {"/apis/leaderworkerset.x-k8s.io/v1/leaderworkersets"}},
      {.kind = "Workload",
       .paths = {"/apis/kueue.x-k8s.io/v1beta2/workloads",
                 "/apis/kueue.x-k8s.io/v1beta1/workloads"}},
      {.kind = "Job", .paths = {"/apis/batch.volcano.sh/v1alpha1/jobs"}},
      {.kind = "PodGroup", .paths = {"/apis/scheduling.volcano.sh/v1beta1/podgroups"}},
      {.kind = "PyTorchJob", .paths = {"/apis/kubeflow.org/v1/pytorchjobs"}},
      {.kind = "TFJob", .paths = {"/apis/kubeflow.org/v1/tfjobs"}},
      {.kind = "MPIJob",
       .paths = {"/apis/kubeflow.org/v2beta1/mpijobs", "/apis/kubeflow.org/v1/mpijobs"}},
      {.kind = "XGBoostJob", .paths = {"/apis/kubeflow.org/v1/xgboostjobs"}},
      {.kind = "PaddleJob", .paths = {"/apis/kubeflow.org/v1/paddlejobs"}},
      {.kind = "JAXJob", .paths = {"/apis/kubeflow.org/v1/jaxjobs"}},
      {.kind = "TrainJob", .paths = {"/apis/trainer.kubeflow.org/v1alpha1/trainjobs"}},
      {.kind = "Notebook", .paths = {"/apis/kubeflow.org/v1/notebooks"}},
      {.kind = "RayCluster", .paths = {"/apis/ray.io/v1/rayclusters"}},
      {.kind = "RayJob", .paths = {"/apis/ray.io/v1/rayjobs"}},
      {.kind = "RayService", .paths = {"/apis/ray.io/v1/rayservices"}},
      {.kind = "Workflow", .paths = {"/apis/argoproj.io/v1alpha1/workflows"}},
      {.kind = "InferenceService", .paths = {"/apis/serving.kserve.io/v1beta1/inferenceservices"}},
  };
}

}  // namespace pennyweight::kubernetes
