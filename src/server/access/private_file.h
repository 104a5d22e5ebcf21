// Reads and writes files that only their owner may read (mode 0600).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/error.h"

namespace pennyweight::access {

// The file's bytes; nothing if it does not exist. Removes all access of others to it.
Result<std::optional<std::string>> read_private_file(const std::string& path,
                                                     std::size_t bytes_max);
// Creates a file completely or not at all, synced to disk. False: it exists already.
Result<bool> create_private_file(const std::string& path, std::string_view bytes);
// Creates an empty file if there is none, and removes all access of others to it.
Result<void> ensure_private_file(const std::string& path);
// Gives a finished private file its final name, synced to disk. False: the name is taken.
Result<bool> name_private_file(const std::string& part, const std::string& path);
// Succeeds if there is no such file.
Result<void> remove_file(const std::string& path);

}  // namespace pennyweight::access
