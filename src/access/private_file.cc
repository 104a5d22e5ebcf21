#include "access/private_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <system_error>

namespace pennyweight::access {
namespace {

constexpr mode_t kOwnerOnly = S_IRUSR | S_IWUSR;
constexpr std::string_view kPartEnding = ".part";

std::unexpected<Error> io_error(std::string_view doing, const std::string& path, int number) {
  return fail(ErrorCode::kIo, fmt::format("cannot {} {}: {}", doing, path,
                                          std::generic_category().message(number)));
}

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int number() const { return number_; }
  bool is_open() const { return number_ >= 0; }

 private:
  int number_;
};

// A volume of Kubernetes gives a group rights to every file at each mount, and cp keeps none back.
Result<void> take_from_others(const Descriptor& file, const std::string& path) {
  struct stat status{};
  if (::fstat(file.number(), &status) != 0) return io_error("look at", path, errno);
  if (!S_ISREG(status.st_mode)) return fail(ErrorCode::kBadFile, path + " is not a file");
  if ((status.st_mode & (S_IRWXG | S_IRWXO)) == 0) return {};
  if (::fchmod(file.number(), kOwnerOnly) != 0) {
    return io_error("take from others the right to read", path, errno);
  }
  return {};
}

Result<void> sync_folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const Descriptor opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!opened.is_open()) return io_error("open", folder, errno);
  if (::fsync(opened.number()) != 0) return io_error("write", folder, errno);
  return {};
}

Result<void> write_all(const Descriptor& file, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file.number(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return io_error("write", path, errno);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

}  // namespace

Result<std::optional<std::string>> read_private_file(const std::string& path,
                                                     std::size_t bytes_max) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) {
    if (errno == ENOENT) return std::nullopt;
    return io_error("read", path, errno);
  }
  if (auto taken = take_from_others(file, path); !taken) return std::unexpected(taken.error());
  std::string bytes(bytes_max + 1, '\0');
  std::size_t size = 0;
  while (size < bytes.size()) {
    const ssize_t got = ::read(file.number(), bytes.data() + size, bytes.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return io_error("read", path, errno);
    if (got == 0) break;
    size += static_cast<std::size_t>(got);
  }
  if (size > bytes_max) return fail(ErrorCode::kBadFile, path + " is too long");
  bytes.resize(size);
  return bytes;
}

Result<bool> create_private_file(const std::string& path, std::string_view bytes) {
  std::string part = path + ".XXXXXX.part";
  {
    const Descriptor file(::mkostemps(part.data(), kPartEnding.size(), O_CLOEXEC));  // mode 0600
    if (!file.is_open()) return io_error("write", path, errno);
    if (auto written = write_all(file, bytes, part); !written) {
      ::unlink(part.c_str());
      return std::unexpected(written.error());
    }
  }
  return name_private_file(part, path);
}

Result<bool> name_private_file(const std::string& part, const std::string& path) {
  {
    const Descriptor file(::open(part.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file.is_open() || ::fsync(file.number()) != 0) {
      const int number = errno;
      ::unlink(part.c_str());
      return io_error("write", part, number);
    }
  }
  // A link, unlike a rename, does not take the place of what is there.
  const int linked = ::link(part.c_str(), path.c_str());
  const int number = errno;
  ::unlink(part.c_str());
  if (linked != 0 && number == EEXIST) return false;
  if (linked != 0) return io_error("write", path, number);
  if (auto synced = sync_folder_of(path); !synced) return std::unexpected(synced.error());
  return true;
}

Result<void> ensure_private_file(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, kOwnerOnly));
  if (!file.is_open()) return io_error("open", path, errno);
  return take_from_others(file, path);
}

Result<void> remove_file(const std::string& path) {
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) return io_error("remove", path, errno);
  return {};
}

}  // namespace pennyweight::access
