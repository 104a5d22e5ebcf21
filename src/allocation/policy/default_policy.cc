#include "allocation/policy/default_policy.h"

namespace pennyweight {

Policy default_policy() {
  Policy policy;
  // What runs for the cluster and not for anyone in it: Kubernetes' own pods, NVIDIA's operator and
  // its parts, and the pods by which KAI and Run:ai reserve the cards that they cut into fractions.
  // Monitoring, logging and meshes are left out: their namespaces have no agreed names.
  policy.overhead = {{.key = "namespace",
                      .op = LabelMatch::Op::kIn,
                      .values = {"kube-system", "gpu-operator", "nvidia-*",
                                 "kai-resource-reservation", "runai-reservation"}}};
  // Labels as Slurm, Kubernetes and its common conventions name them, the most telling first.
  // By the names of the dimensions, as text() has them.
  policy.dimensions = {
      {"client", {"client", "customer", "tenant"}, "(none)"},
      {"environment", {"environment", "env"}, "(none)"},
      {"job", {"job_name", "job", "app.kubernetes.io/name", "app"}, "(none)"},
      {"model", {"model"}, "(none)"},
      {"namespace", {"namespace"}, "(none)"},
      {"partition", {"partition"}, "(none)"},
      {"project", {"project", "app.kubernetes.io/part-of", "account", "namespace"}, "(none)"},
      {"qos", {"qos"}, "(none)"},
      {"team", {"team", "account", "namespace", "qos"}, "(unowned)"},
      {"user", {"user", "owner"}, "(none)"},
  };
  return policy;
}

}  // namespace pennyweight
