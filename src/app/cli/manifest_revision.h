// Reads the manifests of another revision of a git repository, as they are there, without checking
// it out.
#pragma once

#include <string>
#include <vector>

#include "core/error.h"
#include "ingest/manifests/manifest_files.h"

namespace pennyweight {

// The manifests that these files and folders had in a revision: a branch, a tag, a commit. Of a
// folder the same files count as in read_manifest_paths(); a path that the revision does not have
// has none. An Error: git can't be run, the path is in no repository, or the repository has no such
// revision.
Result<std::vector<manifests::ManifestFile>> read_manifest_revision(
    const std::string& revision, const std::vector<std::string>& paths);

}  // namespace pennyweight
