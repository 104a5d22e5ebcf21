// Reads what claims of Dynamic Resource Allocation ask for (resource.k8s.io).
//
// A claim names a device class, and picks among its devices by expressions in CEL. What decides the
// price is read exactly: the class, the number, the model, the MIG profile. An expression that may
// decide it and is not understood is a problem, and so is a class of which nothing says what its
// devices are: such a claim is not priced, rather than as if it held nothing.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/gpu/resource_name.h"
#include "ingest/manifests/document.h"

namespace pennyweight::manifests {

// What a ResourceClaim or ResourceClaimTemplate asks for.
struct ClaimedGpus {
  std::vector<RequestedDevice> gpus = {};
  std::string gpu_model = {};
  std::string gpu_vendor = {};
  std::string problem = {};  // why it can't be read
  bool is_shared = false;    // a claim of its own: its GPUs are held once, by all that use it
};

// The claims and the device classes of the files.
struct DeviceClaims {
  std::map<std::string, ClaimedGpus, std::less<>> claims = {};           // by claim_key()
  std::map<std::string, const DocumentNode*, std::less<>> classes = {};  // the spec, by name
};

// A claim of its own and a template may have one name.
std::string claim_key(bool is_shared, std::string_view scoped_name);

// The devices that a claim's spec asks for; of one with more requests than kClaimRequestsMax it is
// not known.
inline constexpr std::size_t kClaimRequestsMax = 32;
ClaimedGpus read_claim(const DocumentNode& claim_spec, const DeviceClaims& known);

// The devices of the class that stands behind an extended resource (KEP-5004): by the name that a
// DeviceClass gives itself, or "deviceclass.resource.kubernetes.io/CLASS". Empty: none does.
std::string class_of_resource(std::string_view resource, const DeviceClaims& known);
ClaimedGpus read_class(std::string_view device_class, std::uint64_t count,
                       const DeviceClaims& known);

// Whose GPUs a resource, class or driver is of: "NVIDIA", "AMD", "Intel"; empty: not said.
std::string gpu_vendor_of(std::string_view name);

// Whether a word of the name of a resource, class or driver says that its devices are no
// accelerators: "rdma/hca_shared".
bool names_other_device(std::string_view name);

// Adds what a claim asks for; a second model is a problem, since a pod has one.
void join_claims(ClaimedGpus& all, const ClaimedGpus& more);

}  // namespace pennyweight::manifests
