// Files that nobody but their owner may read (mode 0600).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/error.h"

namespace pennyweight::access {

// The file's bytes; nothing where there is none. Takes away what others may do with it.
Result<std::optional<std::string>> read_private_file(const std::string& path,
                                                     std::size_t bytes_max);
// A new file, all of it or nothing, on disk when this returns. False where there is one already.
Result<bool> create_private_file(const std::string& path, std::string_view bytes);
// Makes an empty one where there is none, and takes away what others may do with it.
Result<void> ensure_private_file(const std::string& path);
// Gives a finished private file its name, on disk when this returns. False where the name is taken.
Result<bool> name_private_file(const std::string& part, const std::string& path);
// Also where there is none.
Result<void> remove_file(const std::string& path);

}  // namespace pennyweight::access
