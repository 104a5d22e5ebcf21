// Reads a pod template: what one pod of it asks for, and where it may run.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "core/error.h"
#include "ingest/manifests/device_claims.h"
#include "ingest/manifests/document.h"
#include "ingest/manifests/workload_request.h"

namespace pennyweight::manifests {

// A group of one replica of the template, which has `metadata` and `spec`. What can't be read is
// the group's `problem`.
ReplicaGroup read_pod_template(const DocumentNode& pod_template, std::string_view name_space,
                               const DeviceClaims& claims);

// A whole number that a manifest states; `absent` where it is missing. An Error names the key.
Result<std::uint64_t> read_whole(const DocumentNode& node, std::string_view key,
                                 std::uint64_t absent, std::uint64_t max);

// The scalars of a mapping, such as labels.
std::map<std::string, std::string, std::less<>> read_texts(const DocumentNode& node);

}  // namespace pennyweight::manifests
