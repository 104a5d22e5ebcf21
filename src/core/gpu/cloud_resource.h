// Tells which machine a text names: a bill's ResourceId, a node's provider id or a host name, in
// the many spellings of each cloud. All are brought into one form and compared in it.
//
//   AWS    i-0abc…, arn:aws:ec2:…:instance/i-0abc…, aws:///us-east-1a/i-0abc…
//   GCP    //compute.googleapis.com/projects/p/zones/z/instances/n (a name or a number),
//          projects/p/zones/z/instances/n, gce://p/z/n
//   Azure  /subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/virtualMachines/v, or
//          …/virtualMachineScaleSets/set/virtualMachines/2, with or without azure:// in front, all
//          without regard to case. A charge of a scale set may name the machine only in
//          ResourceName, as set_2; its host name is the set's and the number in base 36: set000002
//          (Microsoft Learn: virtual-machine-scale-sets-instance-ids)
//   OCI    ocid1.instance.…, oci://ocid1.instance.…
//
// A text in no cloud's form is a name: as it is, after its last '/', and for a host name its first
// label. The configuration can add rules for the rest (JoinRule).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/ascii.h"
#include "core/error.h"

namespace pennyweight {

struct CloudResource {
  enum class Cloud { kNoCloud, kAws, kGcp, kAzure, kOci };
  Cloud cloud = Cloud::kNoCloud;
  // Each identifies one machine, as "<form> <id>": "aws i-0abc", "gcp-name p/z/n",
  // "gcp-number 123", "azure s/g/v", "azure-set s/g/set/2", "oci ocid1…".
  std::vector<std::string> identities;
  // Other names that the machine may have; not unique. Those of Azure are in lower case.
  std::vector<std::string> names;

  // A resource of a cloud other than a machine: a disk, an address, a whole scale set.
  bool is_other_thing() const { return cloud != Cloud::kNoCloud && identities.empty(); }
};

// `name` is the bill's ResourceName, or empty.
CloudResource parse_cloud_resource(std::string_view id, std::string_view name);

// Whether both identify a machine, in the same form, and not the same machine.
bool are_different(const CloudResource& a, const CloudResource& b);

// "gpu-1" of "gpu-1.cluster.example"; nothing for a text that is not a host name with a domain.
std::optional<std::string_view> short_host_name(std::string_view name);

// A rule of the configuration: where a bill names the node that a charge is for. `pattern` must
// match a whole text and holds "{node}" once, as in "prefix-{node}-suffix"; the text at that place
// is the node's name. The text is the value of the charge's tag `label`; without `label` it is the
// ResourceId, the part after its last '/', or the ResourceName.
struct JoinRule {
  std::string pattern = "{node}";
  std::string label;
  bool operator==(const JoinRule&) const = default;
};
// An Error says what is wrong with a rule: no {node}, two of them, or neither a pattern nor a
// label.
Result<void> check_join_rule(const JoinRule& rule);
// The text at {node}; nothing when the text does not match, or is empty there.
// REQUIRES: the pattern has passed check_join_rule.
std::optional<std::string_view> node_of_pattern(std::string_view pattern, std::string_view text);

}  // namespace pennyweight
