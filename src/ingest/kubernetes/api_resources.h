// The resources of the Kubernetes API that say who held which GPU, and what owns the pods.
#pragma once

#include <vector>

#include "ingest/kubernetes/list_watch.h"

namespace pennyweight::kubernetes {

// Pods, nodes, namespaces and the claims and slices of dynamic resource allocation (DRA).
std::vector<ResourceType> holder_resources();
// What owns pods, or owns what owns them, in Kubernetes itself and in the schedulers and operators
// of GPU clusters. Each may be absent.
std::vector<ResourceType> owner_resources();

}  // namespace pennyweight::kubernetes
