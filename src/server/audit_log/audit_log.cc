#include "server/audit_log/audit_log.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <mutex>
#include <optional>
#include <system_error>
#include <tuple>
#include <utility>

#include "core/files/disk.h"
#include "core/try.h"
#include "server/audit_log/line.h"

namespace pennyweight::audit_log {
namespace {

constexpr std::size_t kBlockBytes = 64u << 10;
constexpr mode_t kOnlyMine = S_IRUSR | S_IWUSR;

std::unexpected<Error> io_failure(std::string_view doing, const std::string& path) {
  const int why = errno;
  return fail(ErrorCode::kIo, fmt::format("cannot {} the audit log {}: {}", doing, path,
                                          std::generic_category().message(why)));
}

// Holds flock() until the end of the scope, against other processes and other open files.
class FileLock {
 public:
  static Result<FileLock> take(int file, int how, const std::string& path) {
    int done = ::flock(file, how);
    while (done != 0 && errno == EINTR) done = ::flock(file, how);
    if (done != 0) return io_failure("lock", path);
    return FileLock(file);
  }
  ~FileLock() {
    if (file_ >= 0) ::flock(file_, LOCK_UN);
  }
  FileLock(FileLock&& other) noexcept : file_(std::exchange(other.file_, -1)) {}
  FileLock& operator=(FileLock&&) = delete;

 private:
  explicit FileLock(int file) : file_(file) {}
  int file_;
};

Result<std::uint64_t> size_of(int file, const std::string& path) {
  struct stat about = {};
  if (::fstat(file, &about) != 0) return io_failure("read", path);
  return static_cast<std::uint64_t>(about.st_size);
}

// The bytes of [begin, end).
Result<std::string> read_range(int file, std::uint64_t begin, std::uint64_t end,
                               const std::string& path) {
  std::string bytes(end - begin, '\0');
  std::size_t got = 0;
  while (got < bytes.size()) {
    const auto read =
        ::pread(file, bytes.data() + got, bytes.size() - got, static_cast<off_t>(begin + got));
    if (read < 0 && errno == EINTR) continue;
    if (read < 0) return io_failure("read", path);
    if (read == 0) {
      return fail(ErrorCode::kConflict,
                  fmt::format("the audit log {} was truncated while it was being read", path));
    }
    got += static_cast<std::size_t>(read);
  }
  return bytes;
}

// Reads the lines of [0, end) from the last to the first. REQUIRES: bytes before `end` don't
// change.
class ReverseLineReader {
 public:
  ReverseLineReader(int file, std::uint64_t end, const std::string& path)
      : file_(file), begin_(end), path_(path) {}

  // The next line, without its newline; nothing at the beginning of the file. If the last line has
  // no newline, the first call returns it.
  Result<std::optional<std::string>> next() {
    while (true) {
      const std::size_t newline = held_.find_last_of('\n');
      if (newline != std::string::npos) {
        std::string line = held_.substr(newline + 1);
        held_.resize(newline);
        if (!std::exchange(begun_, true) && line.empty()) continue;  // behind the last newline
        return line;
      }
      if (begin_ == 0) {
        begun_ = true;
        if (std::exchange(is_over_, true) || held_.empty()) return std::nullopt;
        return std::exchange(held_, {});
      }
      if (held_.size() > kLineBytesMax) {
        return fail(
            ErrorCode::kBadFile,
            fmt::format("a line of the audit log {} has more than {} bytes", path_, kLineBytesMax));
      }
      const std::uint64_t from = begin_ - std::min<std::uint64_t>(begin_, kBlockBytes);
      auto block = TRY(read_range(file_, from, begin_, path_));
      held_.insert(0, block);
      begin_ = from;
    }
  }

 private:
  int file_;
  std::uint64_t begin_;  // of the buffered bytes
  const std::string& path_;
  std::string held_;
  bool begun_ = false;
  bool is_over_ = false;
};

Error damaged(const std::string& path, const Error& why) {
  return Error{ErrorCode::kBadFile,
               fmt::format("the audit log {} is damaged at its end: {}; check it with 'pennyweight "
                           "audit verify', then move it away to start a new one",
                           path, why.message)};
}

class AuditLogFile : public AuditLog {
 public:
  AuditLogFile(FileDescriptor file, std::string path, Clock& clock)
      : file_(std::move(file)), path_(std::move(path)), clock_(clock) {}

  Result<void> begin() {
    const std::scoped_lock guard(mutex_);
    const auto lock = TRY(FileLock::take(file_.number(), LOCK_EX, path_));
    const auto size = TRY(size_of(file_.number(), path_));
    auto torn = TRY(set_aside_torn_line(size));
    TRY(read_head(torn));
    return record_torn_line(size - torn);
  }

  Result<Head> append(Entry entry) override {
    const std::scoped_lock guard(mutex_);
    const auto lock = TRY(FileLock::take(file_.number(), LOCK_EX, path_));
    TRY(catch_up(true));
    return append_locked(std::move(entry));
  }

  Result<Head> head() override {
    const std::scoped_lock guard(mutex_);
    const auto lock = TRY(FileLock::take(file_.number(), LOCK_SH, path_));
    TRY(catch_up(false));
    return head_;
  }

  Result<std::vector<Entry>> entries(std::uint64_t before, std::size_t at_most,
                                     const std::function<bool(const Entry&)>& passes) override {
    std::uint64_t end = 0;
    {
      const std::scoped_lock guard(mutex_);
      const auto lock = TRY(FileLock::take(file_.number(), LOCK_SH, path_));
      TRY(catch_up(false));
      end = size_;
    }
    // Written lines never change, so they are read without the lock and delay nobody.
    std::vector<Entry> found;
    ReverseLineReader lines(file_.number(), end, path_);
    while (found.size() < at_most) {
      auto line = lines.next();
      if (!line) return std::unexpected(line.error());
      if (!*line) break;
      auto entry = read_line(**line);
      if (!entry) return std::unexpected(damaged(path_, entry.error()));
      if ((before == 0 || entry->number < before) && (!passes || passes(*entry))) {
        found.push_back(*std::move(entry));
      }
    }
    return found;
  }

 private:
  // The end of the last complete line. Bytes behind it, half a line left by a crash, are moved to a
  // file beside the log.
  Result<std::uint64_t> set_aside_torn_line(std::uint64_t size) {
    std::uint64_t end = size;
    std::string torn;
    while (end > 0) {
      const std::uint64_t from = end - std::min<std::uint64_t>(end, kBlockBytes);
      auto block = TRY(read_range(file_.number(), from, end, path_));
      const std::size_t newline = block.find_last_of('\n');
      const std::size_t keep = newline == std::string::npos ? 0 : newline + 1;
      torn.insert(0, block.substr(keep));
      end = from + keep;
      if (newline != std::string::npos) break;
      if (torn.size() > 2 * kLineBytesMax) {
        return fail(ErrorCode::kBadFile, path_ + " is not an audit log: it has no lines");
      }
    }
    if (torn.empty()) return end;
    const std::string aside = path_ + ".torn";
    const FileDescriptor file(
        ::open(aside.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, kOnlyMine));
    if (!file.is_open() || !write_all(file.number(), torn + "\n") || ::fsync(file.number()) != 0 ||
        !sync_folder(folder_of(aside))) {
      return io_failure("save a half-written line beside", path_);
    }
    if (::ftruncate(file_.number(), static_cast<off_t>(end)) != 0 || ::fsync(file_.number()) != 0) {
      return io_failure("remove a half-written line from", path_);
    }
    return end;
  }

  // Sets head_ and size_ from the lines before `end`, and checks the last one against the one
  // before it.
  Result<void> read_head(std::uint64_t end) {
    ReverseLineReader lines(file_.number(), end, path_);
    const auto last = lines.next();
    if (!last) return std::unexpected(last.error());
    size_ = end;
    head_ = {};
    if (!*last) return {};
    const auto before = TRY(lines.next());
    Head known;
    if (before) {
      const auto entry = read_line(*before);
      if (!entry) return std::unexpected(damaged(path_, entry.error()));
      known = {entry->number, entry->hash};
    }
    Chain chain(known);
    if (const auto entry = chain.add(**last); !entry) {
      return std::unexpected(damaged(path_, entry.error()));
    }
    head_ = chain.head();
    return {};
  }

  Result<void> record_torn_line(std::uint64_t bytes) {
    if (bytes == 0) return {};
    std::ignore = TRY(append_locked({.number = 0,
                                     .at = {},
                                     .actor = "system",
                                     .peer = "",
                                     .action = "trail.torn",
                                     .subject = "a half-written line",
                                     .before = "",
                                     .after = fmt::format("{{\"bytes\":{}}}", bytes),
                                     .hash = ""}));
    return {};
  }

  // Reads what other processes have appended, and checks it against the last known line.
  // `may_repair`: the caller holds the exclusive lock, so half a line that a killed process left is
  // set aside.
  Result<void> catch_up(bool may_repair) {
    struct stat ours = {};
    struct stat named = {};
    if (::fstat(file_.number(), &ours) != 0) return io_failure("read", path_);
    const auto size = static_cast<std::uint64_t>(ours.st_size);
    const bool is_named = ::stat(path_.c_str(), &named) == 0 && named.st_ino == ours.st_ino &&
                          named.st_dev == ours.st_dev;
    if (!is_named || size < size_) {
      return fail(ErrorCode::kConflict,
                  fmt::format("the audit log {} was truncated or replaced while in use", path_));
    }
    if (size == size_) return {};
    std::uint64_t end = size;
    if (may_repair) {
      const auto whole = TRY(set_aside_torn_line(size));
      end = whole;
      if (end < size_) {
        return fail(ErrorCode::kConflict,
                    fmt::format("the audit log {} was changed while in use", path_));
      }
    }
    const auto bytes = TRY(read_range(file_.number(), size_, end, path_));
    Chain chain(head_);
    std::size_t begin = 0;
    for (std::size_t newline = bytes.find('\n'); newline != std::string::npos;
         newline = bytes.find('\n', begin)) {
      const auto entry = chain.add(std::string_view(bytes).substr(begin, newline - begin));
      if (!entry) return std::unexpected(damaged(path_, entry.error()));
      begin = newline + 1;
    }
    head_ = chain.head();
    size_ += begin;
    return record_torn_line(may_repair ? size - end : 0);
  }

  Result<Head> append_locked(Entry entry) {
    entry.number = head_.number + 1;
    entry.at = clock_.now();
    auto line = TRY(write_line(entry, head_.number == 0 ? kNoHash : std::string_view(head_.hash)));
    line += '\n';
    if (!write_all(file_.number(), line) || ::fdatasync(file_.number()) != 0) {
      const auto failure = io_failure("write to", path_);
      // The line was not acknowledged. If this fails as well, the next append finds half a line.
      static_cast<void>(::ftruncate(file_.number(), static_cast<off_t>(size_)) == 0);
      return failure;
    }
    size_ += line.size();
    head_ = {entry.number, entry.hash};
    return head_;
  }

  const FileDescriptor file_;
  const std::string path_;
  Clock& clock_;
  std::mutex mutex_;        // guards the following
  std::uint64_t size_ = 0;  // of the lines read so far
  Head head_;
};

}  // namespace

std::string write_head(const Head& head) { return fmt::format("{}:{}", head.number, head.hash); }

Result<Head> parse_head(std::string_view text) {
  const std::size_t colon = std::min(text.find(':'), text.size());
  Head head;
  const char* const end = text.data() + colon;
  const auto number = std::from_chars(text.data(), end, head.number);
  if (colon < text.size()) head.hash = text.substr(colon + 1);
  if (number.ec != std::errc() || number.ptr != end || head.number == 0 ||
      head.hash.size() != kNoHash.size() ||
      head.hash.find_first_not_of("0123456789abcdef") != std::string::npos) {
    return fail(ErrorCode::kBadValue, "the head of an audit log is written as NUMBER:HASH");
  }
  return head;
}

Result<std::unique_ptr<AuditLog>> AuditLog::open(const std::string& path, Clock& clock) {
  const bool is_new = !std::filesystem::exists(path);
  FileDescriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, kOnlyMine));
  if (!file.is_open()) return io_failure("open", path);
  if (is_new && !sync_folder(folder_of(path))) return io_failure("make", path);
  auto audit_log = std::make_unique<AuditLogFile>(std::move(file), path, clock);
  TRY(audit_log->begin());
  return audit_log;
}

Result<Verdict> verify(const std::string& path, const std::optional<Head>& known) {
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) {
    if (errno == ENOENT) return fail(ErrorCode::kNotFound, "no audit log at " + path);
    return io_failure("open", path);
  }
  std::uint64_t size = 0;
  {
    // Under the lock, every line is either complete or not begun.
    const auto lock = TRY(FileLock::take(file.number(), LOCK_SH, path));
    const auto now = TRY(size_of(file.number(), path));
    size = now;
  }
  Verifier verification(known);
  for (std::uint64_t at = 0; at < size; at += kBlockBytes) {
    const auto block =
        TRY(read_range(file.number(), at, std::min<std::uint64_t>(size, at + kBlockBytes), path));
    if (!verification.add(block)) break;
  }
  return verification.finish();
}

}  // namespace pennyweight::audit_log
