// Reads one object of the Kubernetes API from JSON into a value of object.h.
//
// Known fields are read strictly: one of another type than the API's refuses the object, with its
// path. Unknown fields are skipped, since every version of Kubernetes adds some.
//
// Annotations may hold anything up to 256 KiB in all, also secrets
// (kubectl.kubernetes.io/last-applied-configuration). Kept are those of at most
// kAnnotationBytesMax, and those in which a scheduler or plugin names GPUs (HAMi, Volcano, Run:ai),
// up to kDeviceAnnotationBytesMax.
//
// Sources: kubernetes.io, API reference v1.34: core/v1 Pod, Node, Namespace; resource.k8s.io/v1 and
// v1beta1/v1beta2 ResourceClaim, ResourceSlice.
#pragma once

#include <simdjson.h>

#include <cstddef>
#include <string_view>

#include "core/error.h"
#include "ingest/schedulers/kubernetes/object.h"

namespace pennyweight::kubernetes {

inline constexpr std::size_t kObjectBytesMax = 8u << 20;  // etcd stores at most 1.5 MiB of one
inline constexpr std::size_t kAnnotationBytesMax = 512;
inline constexpr std::size_t kDeviceAnnotationBytesMax = 256u << 10;
inline constexpr std::size_t kEntriesMax = 1024;    // of a map or list
inline constexpr std::size_t kNameBytesMax = 1024;  // of a name, uid, image

// `kind` and `api_version` are for items of a list, which do not state theirs; the object's own
// win. An unknown kind is a Workload. An Error names the path: "status/capacity/cpu".
Result<Object> read_object(simdjson::dom::element json, std::string_view kind = {},
                           std::string_view api_version = {});

// The same from text. Reuses its memory; one thread at a time.
class ObjectReader {
 public:
  Result<Object> read(std::string_view json, std::string_view kind = {},
                      std::string_view api_version = {});

 private:
  simdjson::dom::parser parser_;
};

// A time as Kubernetes writes it (RFC 3339; microseconds are cut off).
Result<Instant> parse_time(std::string_view text);

}  // namespace pennyweight::kubernetes
