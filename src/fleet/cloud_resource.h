// Which machine a text means: a bill's ResourceId, a node's provider id or a host name, in the many
// spellings of each cloud. Both sides are brought into one form and compared by it.
//
//   AWS    i-0abc…, arn:aws:ec2:…:instance/i-0abc…, aws:///us-east-1a/i-0abc…
//   GCP    //compute.googleapis.com/projects/p/zones/z/instances/n (a name or a number),
//          projects/p/zones/z/instances/n, gce://p/z/n
//   Azure  /subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/virtualMachines/v, or
//          …/virtualMachineScaleSets/set/virtualMachines/2, with or without azure:// in front, all
//          without regard to case. A line of a scale set may name the machine only in ResourceName,
//          as set_2; its host name is the set's and the number in base 36: set000002
//          (Microsoft Learn: virtual-machine-scale-sets-instance-ids)
//   OCI    ocid1.instance.…, oci://ocid1.instance.…
//
// What no cloud's form fits is a name: as it stands, after its last '/', and for a host name its
// first label. Config may give rules for the rest (JoinRule).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"

namespace pennyweight {

struct CloudResource {
  enum class Cloud { kNoCloud, kAws, kGcp, kAzure, kOci };
  Cloud cloud = Cloud::kNoCloud;
  // Each is one machine and nothing else, "<form> <what>": "aws i-0abc", "gcp-name p/z/n",
  // "gcp-number 123", "azure s/g/v", "azure-set s/g/set/2", "oci ocid1…".
  std::vector<std::string> identities;
  // What the machine may be called elsewhere; not unique. Of Azure in lower case.
  std::vector<std::string> names;

  // A disk, an address, a whole scale set: of a cloud, and no machine of it.
  bool is_other_thing() const { return cloud != Cloud::kNoCloud && identities.empty(); }
};

// `name` is the bill's ResourceName, or empty.
CloudResource parse_cloud_resource(std::string_view id, std::string_view name);

// Whether both say which machine they are, in one form, and it is not the same.
bool are_different(const CloudResource& a, const CloudResource& b);

// "gpu-1" of "gpu-1.cluster.example"; nothing for a text that is no host name with a domain.
std::optional<std::string_view> short_host_name(std::string_view name);

// ASCII letters in lower case.
std::string lower_case(std::string_view text);

// A rule of the configuration: where a bill says which node a line is for. `pattern` is compared
// with a whole text and holds "{node}" once, as "prefix-{node}-suffix"; what stands there is the
// node's name. The text is the value of the line's tag `label`, or without one its ResourceId, what
// follows its last '/', or its ResourceName.
struct JoinRule {
  std::string pattern = "{node}";
  std::string label;
  bool operator==(const JoinRule&) const = default;
};
// An Error says what is wrong with a rule: no {node}, two of them, or neither pattern nor label.
Result<void> check_join_rule(const JoinRule& rule);
// What stands at {node}; nothing when the text does not fit, or nothing stands there.
// REQUIRES: the pattern has passed check_join_rule.
std::optional<std::string_view> node_of_pattern(std::string_view pattern, std::string_view text);

}  // namespace pennyweight
