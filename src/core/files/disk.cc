#include "core/files/disk.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <system_error>
#include <utility>

namespace pennyweight {

std::int64_t Disk::write(int file, const char* bytes, std::size_t size) {
  return ::write(file, bytes, size);
}
int Disk::sync_data(int file) { return ::fdatasync(file); }
int Disk::sync(int file) { return ::fsync(file); }
int Disk::truncate(int file, std::uint64_t size) {
  return ::ftruncate(file, static_cast<off_t>(size));
}

Disk& real_disk() {
  static Disk disk;  // without state
  return disk;
}

FileDescriptor::FileDescriptor(FileDescriptor&& other) noexcept
    : number_(std::exchange(other.number_, -1)) {}

FileDescriptor& FileDescriptor::operator=(FileDescriptor&& other) noexcept {
  if (this != &other) {
    close();
    number_ = std::exchange(other.number_, -1);
  }
  return *this;
}

void FileDescriptor::close() {
  if (number_ >= 0) ::close(std::exchange(number_, -1));
}

Error io_error(std::string_view doing, const std::string& path, int number) {
  return Error{ErrorCode::kIo, fmt::format("cannot {} {}: {}{}", doing, path,
                                           std::generic_category().message(number),
                                           number == ENOSPC ? "; make room on the disk" : "")};
}

bool write_all(int file, std::string_view bytes, Disk& disk) {
  while (!bytes.empty()) {
    const std::int64_t written = disk.write(file, bytes.data(), bytes.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      return false;
    }
    if (written == 0) {  // neither written nor an error: no disk does so for long
      errno = EIO;
      return false;
    }
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash + 1);
}

Result<void> sync_folder(const std::string& folder, Disk& disk) {
  const FileDescriptor opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!opened.is_open() || disk.sync(opened.number()) != 0) {
    return std::unexpected(io_error("sync the folder", folder));
  }
  return {};
}

Result<std::string> read_raw_file(const std::string& path, std::uint64_t bytes_max) {
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) {
    Error error = io_error("open", path);
    if (errno == ENOENT) error.code = ErrorCode::kNotFound;
    return std::unexpected(std::move(error));
  }
  struct stat about = {};
  if (::fstat(file.number(), &about) != 0) return std::unexpected(io_error("read", path));
  const auto size = static_cast<std::uint64_t>(about.st_size);
  if (size > bytes_max) {
    return fail(ErrorCode::kLimit,
                fmt::format("{} has {} bytes; at most {} are read", path, size, bytes_max));
  }
  std::string bytes(size, '\0');
  std::size_t got = 0;
  while (got < size) {
    const auto read = ::read(file.number(), bytes.data() + got, size - got);
    if (read < 0 && errno == EINTR) continue;
    if (read < 0) return std::unexpected(io_error("read", path));
    if (read == 0) break;
    got += static_cast<std::size_t>(read);
  }
  bytes.resize(got);
  return bytes;
}

Result<void> replace_file(const std::string& path, std::string_view bytes, Disk& disk) {
  const std::string temporary = path + ".new";
  {
    const FileDescriptor file(
        ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, S_IRUSR | S_IWUSR));
    if (!file.is_open()) return std::unexpected(io_error("create", temporary));
    if (!write_all(file.number(), bytes, disk) || disk.sync(file.number()) != 0) {
      Error error = io_error("write", temporary);
      ::unlink(temporary.c_str());  // frees its space; a leftover would be overwritten anyway
      return std::unexpected(std::move(error));
    }
  }
  if (::rename(temporary.c_str(), path.c_str()) != 0) {
    return std::unexpected(io_error("rename to", path));
  }
  return sync_folder(folder_of(path), disk);
}

}  // namespace pennyweight
