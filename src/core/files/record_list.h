// RecordList: the records of a file that is read whole, kept until the file changes.
//
// A book beside the ledger, such as that of annotations, is one: each of its answers reads the file
// again, since other processes may have changed it, and parses it only where its text is another.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/files/disk.h"
#include "core/files/record_file.h"
#include "core/try.h"

namespace pennyweight {

// One thread at a time uses it.
template <class Record>
class RecordList {
 public:
  // Of one line, without its end. What is wrong with it, without file and line, is the Error.
  using Parse = std::function<Result<Record>(std::string_view line)>;

  // The file need not exist, and has at most so many bytes.
  RecordList(std::string path, std::uint64_t bytes_max, Parse parse)
      : path_(std::move(path)), bytes_max_(bytes_max), parse_(std::move(parse)) {}

  // Brings it up to the file. Returns whether the file has changed. After an Error the records are
  // as they were.
  Result<bool> read() {
    std::string now = TRY(read_record_file(path_, bytes_max_));
    if (now == text_) return false;
    std::vector<Record> records;
    TRY(read_records(path_, now, 0, kMendRecords, [&](std::string_view line) -> Result<void> {
      auto record = TRY(parse_(line));
      records.push_back(std::move(record));
      return {};
    }));
    text_ = std::move(now);
    records_ = std::move(records);
    return true;
  }

  // Makes `text` the whole file, and reads it. REQUIRES: the caller holds the file's lock.
  Result<bool> replace(const std::string& text) {
    TRY(replace_file(path_, text));
    return read();
  }

  // What the file would be with these lines at its end.
  std::string with(std::string_view lines) const { return with_records(text_, lines); }
  bool has_room_for(std::string_view text) const { return text.size() <= bytes_max_; }

  const std::string& path() const { return path_; }
  const std::vector<Record>& records() const { return records_; }

 private:
  const std::string path_;
  const std::uint64_t bytes_max_;
  const Parse parse_;
  std::string text_;  // of the file as it was last read
  std::vector<Record> records_;
};

}  // namespace pennyweight
