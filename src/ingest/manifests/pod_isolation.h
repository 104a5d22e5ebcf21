// Says what of a pod's template keeps it apart from others: its runtime class, the storage of its
// volumes, and whether it has a network of its own.
//
// https://kubernetes.io/docs/concepts/storage/volumes/ and .../containers/runtime-class/
#pragma once

#include <string>
#include <vector>

#include "ingest/manifests/document.h"

namespace pennyweight::manifests {

// A volume that keeps data. Those of Kubernetes' own objects (ConfigMap, Secret, …) keep none, and
// an emptyDir lies on the node like the container itself.
struct PodVolume {
  std::string name;
  std::string claim = {};          // of the PersistentVolumeClaim that it mounts; empty: none
  std::string storage_class = {};  // of the claim that is made with the pod; empty: not stated
  std::string source =
      {};  // "nfs", "hostPath": what has no storage class; empty: a claim of either
  bool operator==(const PodVolume&) const = default;
};

struct PodIsolation {
  std::string runtime_class = {};  // empty: not stated
  bool is_on_host_network = false;
  std::vector<PodVolume> volumes = {};  // in their order
  // The object states its pods only in part; what it names, such as a serving runtime, has the
  // rest.
  bool is_partial = false;
  bool operator==(const PodIsolation&) const = default;
};

PodIsolation read_pod_isolation(const DocumentNode& pod_spec);

// The volumes of claims that are made for each pod: `volumeClaimTemplates`.
std::vector<PodVolume> read_claim_templates(const DocumentNode& list);

}  // namespace pennyweight::manifests
