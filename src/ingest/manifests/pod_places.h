// Where in a Kubernetes object its pods are described, as JSON pointers (RFC 6901).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ingest/manifests/document.h"

namespace pennyweight::manifests {

struct PodPlace {
  std::string pointer;       // "/spec/template"; empty: the object is a Pod itself
  const DocumentNode* node;  // with metadata and spec; lives as long as the object
};

// The pod templates of an object, for the kinds of ingest/manifests/kubernetes_objects.h that state
// them as a whole. Kinds that only name a part of a pod (InferenceService, TrainJob) have none.
std::vector<PodPlace> find_pod_places(const DocumentNode& object);

// A key as a part of a JSON pointer: "a/b" is "a~1b".
std::string pointer_key(std::string_view key);

}  // namespace pennyweight::manifests
