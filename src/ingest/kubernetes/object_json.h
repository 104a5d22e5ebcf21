// One object of the Kubernetes API, from JSON to a value of object.h.
//
// What is known is read strictly: a field of another type than the API's refuses the object, with
// its path. What is not known is passed over, since every version of Kubernetes adds fields.
//
// Annotations are anything up to 256 KiB in all, secrets among them
// (kubectl.kubernetes.io/last-applied-configuration). Kept are those of at most
// kAnnotationBytesMax, and the ones in which a scheduler or plugin says where GPUs are (HAMi,
// Volcano, Run:ai), up to kDeviceAnnotationBytesMax.
//
// Sources: kubernetes.io, API reference v1.34: core/v1 Pod, Node, Namespace; resource.k8s.io/v1
// and v1beta1/v1beta2 ResourceClaim, ResourceSlice.
#pragma once

#include <simdjson.h>

#include <cstddef>
#include <string_view>

#include "core/error.h"
#include "ingest/kubernetes/object.h"

namespace pennyweight::kubernetes {

inline constexpr std::size_t kObjectBytesMax = 8u << 20;  // etcd keeps 1.5 MiB of one
inline constexpr std::size_t kAnnotationBytesMax = 512;
inline constexpr std::size_t kDeviceAnnotationBytesMax = 256u << 10;
inline constexpr std::size_t kEntriesMax = 1024;    // of a map or list
inline constexpr std::size_t kNameBytesMax = 1024;  // of a name, uid, image

// `kind` and `api_version` are for items of a list, which don't say what they are; the object's own
// win. A kind that is not known is a Workload. An error names the path: "status/capacity/cpu".
Result<Object> read_object(simdjson::dom::element json, std::string_view kind = {},
                           std::string_view api_version = {});

// The same from text. One thread at a time; keeps its memory between objects.
class ObjectReader {
 public:
  Result<Object> read(std::string_view json, std::string_view kind = {},
                      std::string_view api_version = {});

 private:
  simdjson::dom::parser parser_;
};

// Kubernetes' times (RFC 3339, also with microseconds, which are cut off).
Result<Instant> parse_time(std::string_view text);

}  // namespace pennyweight::kubernetes
