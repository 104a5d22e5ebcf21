// Checks the files of an import against the manifests that lie beside them
// (app/import/export_manifest.h).
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/error.h"

namespace pennyweight {

struct IncompleteDelivery {
  std::string manifest;
  std::size_t parts = 0;          // that it names
  std::size_t part = 0;           // of a file that is here: its place among them, from 1
  std::vector<std::string> here;  // paths of the files that are here and whole
  std::vector<std::string> cut;   // of those that are here and have another size
  std::string fault;              // "m-2.csv is missing"
};

// Looks for manifests in the folders of these files, and where those are "data/…" of an AWS data
// export also in "metadata/…" beside it. Where one names a file that is among them, all
// the files that it names must be, and have the size that it says; nothing: they are.
Result<std::optional<IncompleteDelivery>> find_incomplete(const std::vector<std::string>& files);

}  // namespace pennyweight
