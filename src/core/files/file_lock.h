// FileLock: holds flock() of a file, against other processes and other descriptors of this one.
#pragma once

#include <optional>
#include <string>

#include "core/error.h"
#include "core/files/disk.h"

namespace pennyweight {

class FileLock {
 public:
  // Of an open file, LOCK_SH or LOCK_EX; waits for it. The descriptor outlives the lock. `path`:
  // for the error.
  static Result<FileLock> take(int file, int how, const std::string& path);
  // LOCK_EX of a file PATH.lock: for a file that is replaced at each change. It is made if need be.
  static Result<FileLock> beside(const std::string& path);
  // The same without waiting: nothing where another has it.
  static Result<std::optional<FileLock>> try_beside(const std::string& path);
  ~FileLock();
  FileLock(FileLock&& other) noexcept;
  FileLock& operator=(FileLock&&) = delete;

 private:
  explicit FileLock(int file) : file_(file) {}
  static Result<FileDescriptor> open_beside(const std::string& name);

  int file_;
  FileDescriptor own_;  // of PATH.lock
};

}  // namespace pennyweight
