// Finds out what the rows of bills say about options that the user did not state, by reading the
// files once before they are imported.
#pragma once

#include <string>
#include <vector>

#include "app/import/importer.h"
#include "core/error.h"

namespace pennyweight {

struct InputFormat;

// Adds to options.bill_options what the files say, and to `remarks` why. Nothing for formats that
// need none, and for standard input, which can be read only once.
Result<void> survey_bills(const std::vector<std::string>& paths, const InputFormat& format,
                          ImportOptions& options, std::vector<std::string>& remarks);

}  // namespace pennyweight
