// Manifests: what providers write beside the files of an export, from which a missing or cut part
// is known before anything is imported.
//
//   AWS    NAME-Manifest.json  reportKeys (legacy), dataFiles (Data Exports)
//          docs.aws.amazon.com/cur/latest/userguide/manage-cur.html
//   Azure  manifest.json, _manifest.json  blobs: blobName, byteCount
//          learn.microsoft.com/azure/cost-management-billing/costs/tutorial-improved-exports
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/error.h"

namespace pennyweight {

struct ManifestPart {
  std::string name;                    // of the file, without its folders
  std::optional<std::uint64_t> bytes;  // absent: the manifest does not say
};

// The parts that a manifest names; none for a document that is no manifest of a bill. An Error
// where it can't be read.
Result<std::vector<ManifestPart>> parts_of_manifest(const std::string& path);

// Looks for manifests in the folders of these files. Where one names a file that is among them, all
// the files that it names must be, and have the size that it says. The Error names what is missing.
Result<void> check_manifests(const std::vector<std::string>& files);

}  // namespace pennyweight
