// Computes what a pod requests in total, as the scheduler does.
//
// CPU and memory (kubernetes.io, "Init containers: resource sharing within containers", and KEP-753
// for sidecars): containers and sidecars run together, so they add up; an init container runs alone
// beside the sidecars that were started before it, so the largest of them counts; the pod has the
// larger of the two, and its overhead on top. What the pod asks for as a whole (spec.resources)
// takes the place of its containers' sum. Where a request is missing the limit counts, as the API
// server would have written it.
//
// GPUs: those of each container that stays. What an init container requests beyond that is held
// too, for the pod's whole life, since the device plugin gives it back only with the pod.
#pragma once

#include <cstdint>
#include <vector>

#include "core/error.h"
#include "ingest/schedulers/kubernetes/object.h"

namespace pennyweight::kubernetes {

struct PodRequest {
  std::uint64_t cpu_milli = 0;
  std::uint64_t memory_bytes = 0;
  // Extended resources ("nvidia.com/gpu"), of each container that has any.
  std::vector<KubernetesResources> extended = {};
  bool operator==(const PodRequest&) const = default;
};

// An error names the container and resource whose quantity is malformed.
Result<PodRequest> pod_request(const Pod& pod);

}  // namespace pennyweight::kubernetes
