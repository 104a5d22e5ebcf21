// The resources of the Kubernetes API that show who held which GPU, and what owns the pods.
#pragma once

#include <vector>

#include "ingest/schedulers/kubernetes/list_watch.h"

namespace pennyweight::kubernetes {

// Pods, nodes, namespaces and the claims and slices of dynamic resource allocation (DRA).
std::vector<ResourceType> holder_resources();
// The owners of pods, and the owners of those, in Kubernetes itself and in the schedulers and
// operators of GPU clusters. Any may be absent.
std::vector<ResourceType> owner_resources();

}  // namespace pennyweight::kubernetes
