#include "server/access/private_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <system_error>

#include "core/files/disk.h"
#include "core/try.h"

namespace pennyweight::access {
namespace {

constexpr mode_t kOwnerOnly = S_IRUSR | S_IWUSR;
constexpr std::string_view kPartEnding = ".part";

// A Kubernetes volume with fsGroup gives a group access to every file at each mount, and cp does
// not preserve modes; so the mode is corrected rather than refused.
Result<void> take_from_others(const FileDescriptor& file, const std::string& path) {
  struct stat status{};
  if (::fstat(file.number(), &status) != 0) return std::unexpected(io_error("look at", path));
  if (!S_ISREG(status.st_mode)) return fail(ErrorCode::kBadFile, path + " is not a regular file");
  if ((status.st_mode & (S_IRWXG | S_IRWXO)) == 0) return {};
  if (::fchmod(file.number(), kOwnerOnly) != 0) {
    return std::unexpected(io_error("remove the access of others to", path));
  }
  return {};
}

}  // namespace

Result<std::optional<std::string>> read_private_file(const std::string& path,
                                                     std::size_t bytes_max) {
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) {
    if (errno == ENOENT) return std::nullopt;
    return std::unexpected(io_error("read", path));
  }
  TRY(take_from_others(file, path));
  std::string bytes(bytes_max + 1, '\0');
  std::size_t size = 0;
  while (size < bytes.size()) {
    const ssize_t got = ::read(file.number(), bytes.data() + size, bytes.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return std::unexpected(io_error("read", path));
    if (got == 0) break;
    size += static_cast<std::size_t>(got);
  }
  if (size > bytes_max) return fail(ErrorCode::kBadFile, path + " is too large");
  bytes.resize(size);
  return bytes;
}

Result<bool> create_private_file(const std::string& path, std::string_view bytes) {
  std::string part = path + ".XXXXXX.part";
  {
    const FileDescriptor file(
        ::mkostemps(part.data(), kPartEnding.size(), O_CLOEXEC));  // mode 0600
    if (!file.is_open()) return std::unexpected(io_error("write", path));
    if (!write_all(file.number(), bytes)) {
      Error error = io_error("write", part);
      ::unlink(part.c_str());
      return std::unexpected(std::move(error));
    }
  }
  return name_private_file(part, path);
}

Result<bool> name_private_file(const std::string& part, const std::string& path) {
  {
    const FileDescriptor file(::open(part.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file.is_open() || ::fsync(file.number()) != 0) {
      const int number = errno;
      ::unlink(part.c_str());
      return std::unexpected(io_error("write", part, number));
    }
  }
  // A link, unlike a rename, does not take the place of what is there.
  const int linked = ::link(part.c_str(), path.c_str());
  const int number = errno;
  ::unlink(part.c_str());
  if (linked != 0 && number == EEXIST) return false;
  if (linked != 0) return std::unexpected(io_error("write", path, number));
  TRY(sync_folder(folder_of(path)));
  return true;
}

Result<void> ensure_private_file(const std::string& path) {
  const FileDescriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, kOwnerOnly));
  if (!file.is_open()) return std::unexpected(io_error("open", path));
  return take_from_others(file, path);
}

Result<void> remove_file(const std::string& path) {
  if (::unlink(path.c_str()) != 0 && errno != ENOENT)
    return std::unexpected(io_error("remove", path));
  return {};
}

}  // namespace pennyweight::access
