// The changes of rules as a JSON patch (RFC 6902) of a Kubernetes object.
//
// Adds only what is missing, so a second patch of the result is empty. Labels go to the object and
// to its pod templates, since a bill is divided by the labels of pods.
#pragma once

#include <span>
#include <string>

#include "ingest/manifests/document.h"
#include "insight/guardrails/rules.h"

namespace pennyweight::guardrails {

// A JSON list of operations; "[]" where nothing is missing. `request` is the object's.
std::string json_patch(const manifests::DocumentNode& object,
                       const manifests::WorkloadRequest& request,
                       std::span<const WorkloadChange> changes);

}  // namespace pennyweight::guardrails
