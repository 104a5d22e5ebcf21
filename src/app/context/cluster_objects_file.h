// Loads the listing of what the cluster has, which rules ask for: guardrails.cluster_objects.
#pragma once

#include "config/config.h"
#include "core/error.h"
#include "ingest/manifests/cluster_objects.h"

namespace pennyweight {

// Nothing, where no file is configured.
Result<manifests::ClusterObjects> load_cluster_objects(const Config& config);

}  // namespace pennyweight
