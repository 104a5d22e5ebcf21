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
  FileDescriptor own = TRY(open_beside(name));
  FileLock lock = TRY(take(own.number(), LOCK_EX, name));
  lock.own_ = std::move(own);
  return lock;
}

Result<std::optional<FileLock>> FileLock::try_beside(const std::string& path) {
  const std::string name = path + ".lock";
  FileDescriptor own = TRY(open_beside(name));
  int done = ::flock(own.number(), LOCK_EX | LOCK_NB);
  while (done != 0 && errno == EINTR) done = ::flock(own.number(), LOCK_EX | LOCK_NB);
  if (done != 0 && errno == EWOULDBLOCK) return std::nullopt;
  if (done != 0) return std::unexpected(io_error("lock", name));
  FileLock lock(own.number());
  lock.own_ = std::move(own);
  return std::optional(std::move(lock));
}

Result<FileDescriptor> FileLock::open_beside(const std::string& name) {
  FileDescriptor own(::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!own.is_open()) return std::unexpected(io_error("open", name));
  return own;
}

FileLock::FileLock(FileLock&& other) noexcept
    : file_(std::exchange(other.file_, -1)), own_(std::move(other.own_)) {}

FileLock::~FileLock() {
  if (file_ >= 0) ::flock(file_, LOCK_UN);
}

}  // namespace pennyweight
