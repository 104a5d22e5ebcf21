// ClusterObjects: what a cluster has that a workload shows at most the name of: which network
// policies hold for its pods, and of which storage class a claim is that it mounts.
//
// They are in the files beside a workload, or in a listing of the cluster. Only NetworkPolicies of
// networking.k8s.io are read; policies of network plugins (Cilium, Calico, AdminNetworkPolicy) are
// not.
//
// https://kubernetes.io/docs/concepts/services-networking/network-policies/
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "ingest/manifests/document.h"

namespace pennyweight::manifests {

enum class TrafficDirection { kIngress, kEgress };
inline constexpr std::string_view kTrafficDirectionWords[] = {"ingress", "egress"};

using PodLabels = std::map<std::string, std::string, std::less<>>;

// One requirement of a label selector.
struct SelectorTerm {
  enum class Operator { kIn, kNotIn, kExists, kDoesNotExist, kUnknown };
  std::string key;
  Operator is = Operator::kUnknown;
  std::vector<std::string> values = {};
  bool operator==(const SelectorTerm&) const = default;
};

struct NetworkPolicy {
  std::string name_space;
  std::string name;
  std::vector<SelectorTerm> pods = {};  // all of them; none: all pods of the namespace
  // By direction: whether it says anything about it, and whether it lets everybody through.
  bool covers[2] = {false, false};
  bool opens[2] = {false, false};
  bool operator==(const NetworkPolicy&) const = default;
};

struct ClusterObjects {
  std::vector<NetworkPolicy> network_policies = {};
  // Of each PersistentVolumeClaim, by "namespace/name"; empty: it states none.
  std::map<std::string, std::string, std::less<>> storage_classes = {};

  // Whether the policies of the namespace leave only some traffic of these pods in a direction:
  // one of them selects the pods, and none that selects them opens it to everybody, since the
  // union of all counts.
  bool limits(TrafficDirection direction, std::string_view name_space,
              const PodLabels& labels) const;
  // Null: the claim is not known.
  const std::string* storage_class_of(std::string_view name_space, std::string_view claim) const;
  bool operator==(const ClusterObjects&) const = default;
};

// The cluster once these files are applied: a policy of the files takes the place of the one of its
// name, and a claim that is there stays of its storage class.
ClusterObjects with_files(ClusterObjects cluster, const ClusterObjects& files);

// Adds the object, if it is one of them.
void collect_cluster_object(const DocumentNode& object, ClusterObjects& objects);

// A listing such as `kubectl get networkpolicies,persistentvolumeclaims -A -o json` prints; other
// objects in it are left out. An Error for what is no YAML or JSON, or too large.
Result<ClusterObjects> parse_cluster_objects(std::string_view text, std::string_view name);
inline constexpr std::size_t kClusterObjectsBytesMax = 64U << 20U;

}  // namespace pennyweight::manifests
