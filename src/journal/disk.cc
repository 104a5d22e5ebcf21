#include "journal/disk.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace pennyweight::journal {

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

File::~File() {
  if (descriptor_ >= 0) ::close(descriptor_);
}
File::File(File&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
File& File::operator=(File&& other) noexcept {
  if (this != &other) {
    if (descriptor_ >= 0) ::close(descriptor_);
    descriptor_ = std::exchange(other.descriptor_, -1);
  }
  return *this;
}

Error io_error(std::string_view doing, const std::string& path) {
  const int why = errno;
  return Error{ErrorCode::kIo, std::string(doing) + " " + path + ": " +
                                   std::generic_category().message(why) +
                                   (why == ENOSPC ? "; make room on the disk" : "")};
}

bool write_all(Disk& disk, int file, std::string_view bytes) {
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

Result<void> sync_folder(Disk& disk, const std::string& folder) {
  const File opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!opened.is_open() || disk.sync(opened.descriptor()) != 0) {
    return std::unexpected(io_error("cannot sync the folder", folder));
  }
  return {};
}

Result<std::string> read_file(const std::string& path, std::uint64_t bytes_max) {
  const File file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) {
    Error error = io_error("cannot open", path);
    if (errno == ENOENT) error.code = ErrorCode::kNotFound;
    return std::unexpected(std::move(error));
  }
  struct stat about = {};
  if (::fstat(file.descriptor(), &about) != 0) {
    return std::unexpected(io_error("cannot read", path));
  }
  const auto size = static_cast<std::uint64_t>(about.st_size);
  if (size > bytes_max) {
    return fail(ErrorCode::kLimit, path + " has " + std::to_string(size) + " bytes; at most " +
                                       std::to_string(bytes_max) + " are read");
  }
  std::string bytes(size, '\0');
  std::size_t got = 0;
  while (got < size) {
    const auto read = ::read(file.descriptor(), bytes.data() + got, size - got);
    if (read < 0 && errno == EINTR) continue;
    if (read < 0) return std::unexpected(io_error("cannot read", path));
    if (read == 0) break;
    got += static_cast<std::size_t>(read);
  }
  bytes.resize(got);
  return bytes;
}

Result<void> write_file_durably(Disk& disk, const std::string& folder, const std::string& name,
                                std::string_view bytes) {
  const std::string path = folder + "/" + name;
  const std::string temporary = path + ".new";
  {
    const File file(
        ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, S_IRUSR | S_IWUSR));
    if (!file.is_open()) return std::unexpected(io_error("cannot create", temporary));
    if (!write_all(disk, file.descriptor(), bytes) || disk.sync(file.descriptor()) != 0) {
      Error error = io_error("cannot write", temporary);
      ::unlink(temporary.c_str());  // its room on the disk is needed; a rest is overwritten anyway
      return std::unexpected(std::move(error));
    }
  }
  if (::rename(temporary.c_str(), path.c_str()) != 0) {
    return std::unexpected(io_error("cannot rename to", path));
  }
  return sync_folder(disk, folder);
}

}  // namespace pennyweight::journal
