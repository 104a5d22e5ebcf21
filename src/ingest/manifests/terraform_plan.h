// Reads the machines of a Terraform plan: `terraform show -json plan.out`.
//
// Known are instances, scaling groups and node pools of AWS, Google Cloud and Azure. What a plan
// creates, changes or keeps is in the reading; what it destroys is not, so that two plans, or a
// plan and nothing, compare as what runs afterwards. A group takes its machine from the launch
// template or instance template that the plan's configuration says it names. Resources that are not
// known and name a machine, or run something in Kubernetes, are UnpricedObjects.
#pragma once

#include <string>

#include "ingest/manifests/document.h"
#include "ingest/manifests/workload_request.h"

namespace pennyweight::manifests {

bool is_terraform_plan(const DocumentNode& document);

ManifestReading read_terraform_plan(const DocumentNode& plan, const std::string& file);

}  // namespace pennyweight::manifests
