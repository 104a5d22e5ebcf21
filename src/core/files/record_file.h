// Files of records, one a line: what people and the program have noted, such as budgets and
// approvals. People may edit them. They are read whole; small ones are also replaced whole
// (replace_file), and others are added to (append_records).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "core/error.h"
#include "core/files/disk.h"

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

// Which contents a file has, as its file system tells without reading them. Two that are equal are
// the same contents, but for a change of the same length within a tick of its clock.
struct RecordFileState {
  std::uint64_t device = 0, inode = 0, bytes = 0;
  std::int64_t modified_ns = 0, changed_ns = 0;
  bool operator==(const RecordFileState&) const = default;
};
// Absent: there is no such file.
Result<std::optional<RecordFileState>> record_file_state(const std::string& path);

// Adds lines to a file of whole lines that has so many bytes; one with other bytes was changed
// meanwhile, which is an error (kConflict). After success the lines survive a crash. After failure
// the file is as it was; after a crash it may end with a part of a line.
Result<void> append_records(const std::string& path, std::uint64_t bytes, std::string_view lines,
                            Disk& disk = real_disk());
// Keeps what a crash has left of a line, in "<path>.torn".
Result<void> keep_torn_record(const std::string& path, std::string_view torn,
                              Disk& disk = real_disk());

}  // namespace pennyweight
