// Reads what the services of a Compose file ask for (compose-spec: deploy, gpus, runtime).
#pragma once

#include <string>

#include "ingest/manifests/document.h"
#include "ingest/manifests/workload_request.h"

namespace pennyweight::manifests {

bool is_compose_file(const DocumentNode& document);

// Each service is a workload. A service with all GPUs of the host takes whole machines.
ManifestReading read_compose_services(const DocumentNode& document, const std::string& file);

}  // namespace pennyweight::manifests
