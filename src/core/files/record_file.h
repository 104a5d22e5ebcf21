// Files of records, one a line, that are read whole and replaced whole (replace_file): what people
// and the program have noted, such as budgets and approvals. People may edit them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "core/error.h"

namespace pennyweight {

// What to do about a line that can't be read, where the file is worth keeping.
inline constexpr std::string_view kMendRecords =
    "restore the file from a backup, or mend or remove the line";

// The file's text; empty where there is none.
Result<std::string> read_record_file(const std::string& path, std::uint64_t bytes_max);

// Gives each line of the text from `begin` on, without its end, to `read`. What it refuses is an
// error that names the file, the line and the remedy. REQUIRES: a line begins at `begin`.
Result<void> read_records(const std::string& path, std::string_view text, std::size_t begin,
                          std::string_view remedy,
                          const std::function<Result<void>(std::string_view line)>& read);

// Whether a text may go on with another line: an editor may have left the last one without its end.
bool is_whole_records(std::string_view text);
// The text with lines added to it, after the end of its last line.
std::string with_records(std::string_view text, std::string_view lines);

}  // namespace pennyweight
