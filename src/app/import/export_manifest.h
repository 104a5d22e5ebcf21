// Manifests: what providers write beside the files of an export, from which a missing or cut part
// is known before anything is imported.
//
//   AWS    NAME-Manifest.json  reportKeys (legacy), dataFiles (Data Exports, as s3:// addresses)
//          docs.aws.amazon.com/cur/latest/userguide/manage-cur.html
//   Azure  manifest.json, _manifest.json  blobs: blobName, byteCount
//          learn.microsoft.com/azure/cost-management-billing/costs/tutorial-improved-exports
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"

namespace pennyweight {

struct ManifestObject {
  std::string key;                     // of its bucket or container
  std::optional<std::uint64_t> bytes;  // where the manifest says so
};

// The objects that a manifest names. Errors: kBadFile where it can't be read, kUnsupported where it
// is no manifest that is known.
Result<std::vector<ManifestObject>> read_export_manifest(std::string_view json);

}  // namespace pennyweight
