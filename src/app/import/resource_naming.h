// How bills name resources. Two forms of a bill may name one resource differently, and two bills
// that name resources alike, but have no name in common, are for different resources.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace pennyweight {

enum class ResourceNaming : std::uint8_t {
  kNone,    // the line names no resource
  kArn,     // "arn:aws:s3:::models"
  kPath,    // "/subscriptions/0a1b/…/virtualMachines/node-1", "//compute.googleapis.com/…"
  kOcid,    // "ocid1.instance.oc1.iad.anuw…"
  kId,      // "i-0abcdef0123456789"
  kNumber,  // "1234567890123456789"
  kName,    // what people call it: "node-1"
};
inline constexpr std::size_t kResourceNamings = 7;

// REQUIRES: plain_resource() gave it.
ResourceNaming naming_of(std::string_view plain);

// In small letters, and of a path or ARN that ends in an id only the id: "i-0abc…" is the same
// resource as "arn:aws:ec2:us-east-1:1234:instance/i-0abc…".
std::string plain_resource(std::string_view resource);

// Whether no two accounts have a resource of this name; two accounts may both have a "node-1".
bool is_unique_everywhere(std::string_view plain);

}  // namespace pennyweight
