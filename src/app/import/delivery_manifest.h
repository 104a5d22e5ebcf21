// Checks the files of an import against the manifests that lie beside them
// (app/import/export_manifest.h).
#pragma once

#include <string>
#include <vector>

#include "core/error.h"

namespace pennyweight {

// Looks for manifests in the folders of these files, and where those are "data/…" of an AWS data
// export also in "metadata/…" beside it. Where one names a file that is among them, all
// the files that it names must be, and have the size that it says. The Error names what is missing.
Result<void> check_manifests(const std::vector<std::string>& files);

}  // namespace pennyweight
