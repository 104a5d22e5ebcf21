#include "core/files/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <glob.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "core/files/disk.h"
#include "core/files/output_path.h"
#include "core/try.h"

namespace pennyweight {
namespace {

constexpr std::size_t kChunkBytes = 1u << 18;

std::unexpected<Error> file_error(std::string_view doing, const std::string& path, int number) {
  Error error = io_error(doing, path, number);
  if (number == ENOENT) error.code = ErrorCode::kNotFound;
  return std::unexpected(std::move(error));
}

}  // namespace

Result<InputFile> InputFile::open(const std::string& path) {
  if (path == "-") return InputFile(STDIN_FILENO, kStandardInput, 0);
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return file_error("read", path, errno);
  InputFile file(descriptor, path, 0);
  struct stat status{};
  if (::fstat(descriptor, &status) != 0) return file_error("read", path, errno);
  if (S_ISDIR(status.st_mode)) {
    return fail(ErrorCode::kBadFile, fmt::format("cannot read {}: it is a directory", path));
  }
  if (S_ISREG(status.st_mode)) file.bytes_all_ = static_cast<std::uint64_t>(status.st_size);
  return file;
}

InputFile::InputFile(int descriptor, std::string name, std::uint64_t bytes_all)
    : descriptor_(descriptor), name_(std::move(name)), bytes_all_(bytes_all) {}

InputFile::InputFile(InputFile&& other) noexcept
    : descriptor_(other.descriptor_),
      name_(std::move(other.name_)),
      bytes_all_(other.bytes_all_),
      bytes_read_(other.bytes_read_),
      begun_(other.begun_),
      ahead_(std::move(other.ahead_)),
      decompressor_(std::move(other.decompressor_)) {
  other.descriptor_ = -1;
}

InputFile::~InputFile() {
  if (descriptor_ > STDIN_FILENO) ::close(descriptor_);
}

Result<std::size_t> InputFile::read_raw(std::span<char> buffer) {
  if (!ahead_.empty()) {
    const std::size_t count = std::min(ahead_.size(), buffer.size());
    std::copy_n(ahead_.data(), count, buffer.data());
    ahead_.erase(0, count);
    return count;
  }
  for (;;) {
    const ssize_t got = ::read(descriptor_, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return file_error("read", name_, errno);
    bytes_read_ += static_cast<std::uint64_t>(got);
    return static_cast<std::size_t>(got);
  }
}

Result<void> InputFile::begin() {
  begun_ = true;
  std::string first(kMagicBytes, '\0');
  std::size_t filled = 0;
  while (filled < first.size()) {
    const auto got = TRY(read_raw(std::span(first).subspan(filled)));
    if (got == 0) break;
    filled += got;
  }
  first.resize(filled);
  decompressor_ = decompressor_for(first);
  ahead_ = std::move(first);
  return {};
}

Result<std::size_t> InputFile::read(std::span<char> buffer) {
  if (!begun_) {
    TRY(begin());
  }
  if (!decompressor_) return read_raw(buffer);
  auto got = decompressor_->read(buffer, [this](std::span<char> raw) { return read_raw(raw); });
  if (!got) return std::unexpected(got.error().during("cannot read " + name_));
  return got;
}

Result<Hash128> hash_of_file(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return file_error("read", path, errno);
  StreamHash hash;
  std::vector<char> chunk(kChunkBytes);
  ssize_t got = 0;
  do {
    got = ::read(descriptor, chunk.data(), chunk.size());
    if (got > 0) hash.add({chunk.data(), static_cast<std::size_t>(got)});
  } while (got > 0 || (got < 0 && errno == EINTR));
  const int problem = errno;
  ::close(descriptor);
  if (got < 0) return file_error("read", path, problem);
  return hash.hash();
}

Result<std::string> InputFile::read_rest(std::size_t bytes_max) {
  std::string text;
  std::vector<char> chunk(kChunkBytes);
  for (;;) {
    const auto got = TRY(read(chunk));
    if (got == 0) return text;
    text.append(chunk.data(), got);
    if (text.size() > bytes_max) {
      return fail(ErrorCode::kLimit,
                  fmt::format("{} is larger than {} bytes; split it", name_, bytes_max));
    }
  }
}

Result<std::string> read_file(const std::string& path, std::size_t bytes_max) {
  auto file = TRY(InputFile::open(path));
  return file.read_rest(bytes_max);
}

Result<OutputFile> OutputFile::create(const std::string& path) {
  if (path == "-") return OutputFile(STDOUT_FILENO, "standard output", "");
  TRY(check_may_be_replaced(path));
  const std::string part = fmt::format("{}.part{}", path, ::getpid());
  const int descriptor = ::open(part.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (descriptor < 0) return file_error("write", path, errno);
  return OutputFile(descriptor, path, part);
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : descriptor_(other.descriptor_), path_(std::move(other.path_)), part_(std::move(other.part_)) {
  other.descriptor_ = -1;
  other.part_.clear();
}

OutputFile::~OutputFile() {
  if (part_.empty()) return;
  if (descriptor_ >= 0) ::close(descriptor_);
  ::unlink(part_.c_str());
}

Result<void> OutputFile::write(std::string_view text) {
  if (!write_all(descriptor_, text)) return file_error("write", path_, errno);
  return {};
}

Result<void> OutputFile::commit() {
  if (part_.empty()) return {};
  if (::fsync(descriptor_) != 0) return file_error("write", path_, errno);
  const int closed = ::close(descriptor_);
  descriptor_ = -1;
  if (closed != 0) return file_error("write", path_, errno);
  if (::rename(part_.c_str(), path_.c_str()) != 0) return file_error("write", path_, errno);
  part_.clear();
  return {};
}

namespace {

template <class Iterator>
void collect_files(Iterator at, std::error_code& problem, std::vector<std::string>& files) {
  for (; !problem && at != Iterator(); at.increment(problem)) {
    std::error_code ignored;  // a dangling link is not a regular file
    if (at->is_regular_file(ignored) && !at->path().filename().string().starts_with('.')) {
      files.push_back(at->path().string());
    }
  }
}

}  // namespace

std::vector<std::string> files_matching(const std::string& pattern) {
  std::vector<std::string> files;
  ::glob_t found{};
  if (::glob(pattern.c_str(), GLOB_ERR, nullptr, &found) == 0) {
    files.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  }
  ::globfree(&found);
  return files;
}

Result<std::vector<std::string>> files_of(const std::string& folder, bool deep) {
  std::vector<std::string> files;
  std::error_code problem;
  if (deep) {
    collect_files(std::filesystem::recursive_directory_iterator(folder, problem), problem, files);
  } else {
    collect_files(std::filesystem::directory_iterator(folder, problem), problem, files);
  }
  if (problem) {
    return fail(ErrorCode::kIo, fmt::format("cannot read {}: {}", folder, problem.message()));
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace pennyweight
