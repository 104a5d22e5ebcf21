#include "core/files/record_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <tuple>

namespace pennyweight {

Result<std::string> read_record_file(const std::string& path, std::uint64_t bytes_max) {
  auto text = read_raw_file(path, bytes_max);
  if (!text && text.error().code == ErrorCode::kNotFound) return std::string();
  return text;
}

Result<void> read_records(const std::string& path, std::string_view text, std::size_t begin,
                          std::string_view remedy,
                          const std::function<Result<void>(std::string_view line)>& read) {
  auto number = std::ranges::count(text.substr(0, begin), '\n');
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    ++number;
    if (const auto done = read(text.substr(begin, end - begin)); !done) {
      return std::unexpected(
          done.error().during(fmt::format("{}:{} can't be read; {}", path, number, remedy)));
    }
    begin = end + 1;
  }
  return {};
}

bool is_whole_records(std::string_view text) { return text.empty() || text.back() == '\n'; }

std::string with_records(std::string_view text, std::string_view lines) {
  return fmt::format("{}{}{}", text, is_whole_records(text) ? "" : "\n", lines);
}

Result<std::optional<RecordFileState>> record_file_state(const std::string& path) {
  struct stat found{};
  if (::stat(path.c_str(), &found) != 0) {
    if (errno == ENOENT) return std::nullopt;
    return std::unexpected(io_error("read", path));
  }
  const auto nanoseconds = [](const timespec& at) {
    return std::int64_t{at.tv_sec} * 1'000'000'000 + at.tv_nsec;
  };
  return RecordFileState{.device = found.st_dev,
                         .inode = found.st_ino,
                         .bytes = static_cast<std::uint64_t>(found.st_size),
                         .modified_ns = nanoseconds(found.st_mtim),
                         .changed_ns = nanoseconds(found.st_ctim)};
}

Result<void> append_records(const std::string& path, std::uint64_t bytes, std::string_view lines,
                            Disk& disk) {
  const FileDescriptor file(::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
  struct stat found{};
  if (!file.is_open() || ::fstat(file.number(), &found) != 0) {
    return std::unexpected(io_error("open", path));
  }
  if (static_cast<std::uint64_t>(found.st_size) != bytes) {
    return fail(ErrorCode::kConflict, path + " was changed meanwhile; try again");
  }
  if (write_all(file.number(), lines, disk) && disk.sync_data(file.number()) == 0) return {};
  Error error = io_error("write", path);
  // What was not said to be there is taken away; if this fails too, it is as after a crash.
  std::ignore = disk.truncate(file.number(), bytes);
  return std::unexpected(std::move(error));
}

Result<void> keep_torn_record(const std::string& path, std::string_view torn, Disk& disk) {
  const std::string aside = path + ".torn";
  const FileDescriptor file(
      ::open(aside.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, S_IRUSR | S_IWUSR));
  const bool is_kept = file.is_open() && write_all(file.number(), torn, disk) &&
                       write_all(file.number(), "\n", disk) && disk.sync(file.number()) == 0;
  if (!is_kept) return std::unexpected(io_error("write", aside));
  return sync_folder(folder_of(aside), disk);
}

}  // namespace pennyweight
