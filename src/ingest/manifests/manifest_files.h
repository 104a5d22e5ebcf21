// Reads files of all formats of this module together, each recognised by its content.
#pragma once

#include <span>
#include <string>

#include "core/error.h"
#include "ingest/manifests/workload_request.h"

namespace pennyweight::manifests {

struct ManifestFile {
  std::string name;
  std::string text;
  // Named by a person; else found in a folder, where a file that can't be read is set aside.
  bool is_named = true;
};

// What all files ask for, in the order of the files. Files belong together: a claim template of one
// serves the pods of another. A file that is no manifest, such as a values.yaml, is an
// UnpricedObject; a named one that can't be read as YAML or JSON is an Error with its place.
Result<ManifestReading> read_manifest_files(std::span<const ManifestFile> files);

}  // namespace pennyweight::manifests
