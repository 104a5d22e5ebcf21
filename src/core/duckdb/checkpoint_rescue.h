// CheckpointRescue: lets a database file survive a program that is killed within a checkpoint.
//
// A checkpoint of DuckDB leaves the tables that the file's header names as they are until it writes
// the next header. But it keeps small pieces of several checkpoints in one block of metadata, and
// writes that block again in place. A write of 256 KiB that a kill or a power cut ends half-way
// leaves a block whose checksum is wrong, and the file can never be opened again, with or without
// its log. So the blocks of metadata are copied beside the file before each checkpoint, as
// PATH.rescue. Where the header is still the same when the file is next opened, the checkpoint did
// not end, and those that are half written are put back; the log holds everything that it was to
// write. A block that is whole needs nothing: it has its earlier pieces as they were.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "core/error.h"
#include "core/files/disk.h"

namespace pennyweight::duckdb {

class CheckpointRescue {
 public:
  // Puts back what a killed checkpoint of the file `path` left half written. Does nothing while
  // another process has the file open. An Error where it is needed and can't be done.
  // REQUIRES: this process does not have the file open.
  static Result<void> recover(const std::string& path);
  // REQUIRES: DuckDB has the file open, and closes it before this is destroyed: a process that
  // closes any descriptor of a file gives up its locks of that file, DuckDB's too.
  static Result<CheckpointRescue> open(const std::string& path);

  // Before a checkpoint: `blocks` are those that it may write again, of `block_bytes` each. After
  // success they survive a crash.
  Result<void> save(std::span<const std::uint64_t> blocks, std::uint64_t block_bytes);
  // After a checkpoint that ended.
  void drop();

 private:
  CheckpointRescue(std::string path, FileDescriptor file)
      : path_(std::move(path)), file_(std::move(file)) {}

  std::string path_;
  FileDescriptor file_;
};

}  // namespace pennyweight::duckdb
