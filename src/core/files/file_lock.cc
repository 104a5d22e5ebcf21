#include "core/files/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>
#include <utility>

#include "core/try.h"

namespace pennyweight {

Result<FileLock> FileLock::take(int file, int how, const std::string& path) {
  int done = ::flock(file, how);
  while (done != 0 && errno == EINTR) done = ::flock(file, how);
  if (done != 0) return std::unexpected(io_error("lock", path));
  return FileLock(file);
}

Result<FileLock> FileLock::beside(const std::string& path) {
  const std::string name = path + ".lock";
  FileDescriptor own(::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!own.is_open()) return std::unexpected(io_error("open", name));
  FileLock lock = TRY(take(own.number(), LOCK_EX, name));
  lock.own_ = std::move(own);
  return lock;
}

FileLock::FileLock(FileLock&& other) noexcept
    : file_(std::exchange(other.file_, -1)), own_(std::move(other.own_)) {}

FileLock::~FileLock() {
  if (file_ >= 0) ::flock(file_, LOCK_UN);
}

}  // namespace pennyweight
