// Whether a path may be written to. Output files are renamed into place at the end.
#pragma once

#include <string>

#include "core/error.h"

namespace pennyweight {

// An Error of kIo where something other than a regular file is at the path: the rename would
// replace a device or a pipe, and fails on a folder.
Result<void> check_may_be_replaced(const std::string& path);

}  // namespace pennyweight
