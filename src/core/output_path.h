// What may be written: files are put in place whole, by giving them their name at the end.
#pragma once

#include <string>

#include "core/error.h"

namespace pennyweight {

// An Error of kIo where the path is there and no regular file: a device or a pipe would be replaced
// by the file, and a folder can't be.
Result<void> check_may_be_replaced(const std::string& path);

}  // namespace pennyweight
