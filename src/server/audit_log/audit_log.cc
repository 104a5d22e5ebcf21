#include "server/audit_log/audit_log.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <syslog.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <system_error>
#include <tuple>
#include <utility>

#include "core/files/disk.h"
#include "core/files/file_lock.h"
#include "core/try.h"
#include "server/audit_log/kept_head.h"
#include "server/audit_log/line.h"

namespace pennyweight::audit_log {
namespace {

constexpr std::size_t kBlockBytes = 64u << 10;
constexpr std::uint64_t kAnchorBytesMax = std::uint64_t{1} << 30;
constexpr mode_t kOnlyMine = S_IRUSR | S_IWUSR;

std::unexpected<Error> io_failure(std::string_view doing, const std::string& path) {
  const int why = errno;
  return fail(ErrorCode::kIo, fmt::format("cannot {} the audit log {}: {}", doing, path,
                                          std::generic_category().message(why)));
}

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

// Nobody can tell who wrote the lines that follow the kept head, or where those before it went.
Error not_the_kept_log(const std::string& path, const Head& found, const KeptHead::State& kept) {
  const auto shown = [](const Head& head) {
    return head.number == 0 ? std::string("none") : write_head(head);
  };
  return Error{
      ErrorCode::kConflict,
      fmt::format(
          "the audit log {} was cut, continued or rewritten from outside: its last entry is "
          "{}, and {} was recorded. Nothing is recorded or changed until that is cleared: "
          "put the log back as it was, or let it be known for ever with 'pennyweight audit "
          "accept --reason TEXT'",
          path, shown(found), shown(kept.announced.value_or(kept.confirmed)))};
}

class AuditLogFile : public AuditLog {
 public:
  AuditLogFile(FileDescriptor file, LogFiles files, Clock& clock)
      : file_(std::move(file)), files_(std::move(files)), path_(files_.log), clock_(clock) {}

  Result<void> begin() {
    const std::scoped_lock guard(mutex_);
    const auto lock = TRY(FileLock::take(file_.number(), LOCK_EX, path_));
    const auto size = TRY(size_of(file_.number(), path_));
    auto torn = TRY(set_aside_torn_line(size));
    TRY(read_head(torn));
    TRY(find_kept_head());
    return record_torn_line(size - torn);
  }

  // Finds the end of the last whole line, and nothing else.
  Result<void> begin_reading() {
    const std::scoped_lock guard(mutex_);
    const auto lock = TRY(FileLock::take(file_.number(), LOCK_SH, path_));
    const auto size = TRY(size_of(file_.number(), path_));
    size_ = TRY(find_last_line_end(size));
    is_reader_ = true;
    return {};
  }

  Result<Head> accept(Entry entry) {
    const std::scoped_lock guard(mutex_);
    const auto lock = TRY(FileLock::take(file_.number(), LOCK_EX, path_));
    const auto size = TRY(size_of(file_.number(), path_));
    const auto torn = TRY(set_aside_torn_line(size));
    TRY(read_head(torn));
    kept_ = TRY(KeptHead::create(files_, head_));
    TRY(record_torn_line(size - torn));
    return append_locked(std::move(entry));
  }

  Result<Head> append(Entry entry) override {
    const std::scoped_lock guard(mutex_);
    const auto lock = TRY(FileLock::take(file_.number(), LOCK_EX, path_));
    TRY(catch_up(true));
    TRY(check_kept_head());
    return append_locked(std::move(entry));
  }

  Result<bool> has(const Head& known) override {
    if (known.number == 0) return true;
    const auto found = TRY(entries(
        known.number + 1, 1, [&](const Entry& entry) { return entry.number == known.number; }));
    return !found.empty() && found.front().hash == known.hash;
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
      if (!is_reader_) {
        TRY(catch_up(false));
      }
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
  Result<std::uint64_t> find_last_line_end(std::uint64_t size) {
    std::uint64_t end = size;
    while (end > 0) {
      const std::uint64_t from = end - std::min<std::uint64_t>(end, kBlockBytes);
      const auto block = TRY(read_range(file_.number(), from, end, path_));
      const std::size_t newline = block.find_last_of('\n');
      if (newline != std::string::npos) return from + newline + 1;
      end = from;
    }
    return end;
  }

  // The log must be the one whose head was kept. One of an earlier version, without a kept head, is
  // adopted as it is, and says so.
  Result<void> find_kept_head() {
    kept_ = TRY(KeptHead::open(files_));
    if (kept_) return check_kept_head();
    if (head_.number == 0) {
      kept_ = TRY(KeptHead::create(files_, head_));
      return {};
    }
    TRY(check_never_kept());
    kept_ = TRY(KeptHead::create(files_, head_));
    std::ignore = TRY(append_locked(
        {.number = 0,
         .at = {},
         .actor = "system",
         .peer = "",
         .action = std::string(kAdoptedAction),
         .subject = fmt::format("entries 1 to {}", head_.number),
         .before = "",
         .after = fmt::format("{{\"entries\":{},\"hash\":\"{}\"}}", head_.number, head_.hash),
         .hash = ""}));
    return {};
  }

  // A log with an entry of our own about its kept head had one: it was removed, with its key.
  Result<void> check_never_kept() {
    ReverseLineReader lines(file_.number(), size_, path_);
    while (true) {
      const auto line = TRY(lines.next());
      if (!line) return {};
      const auto entry = read_line(*line);
      if (!entry || (entry->action != kAdoptedAction && entry->action != kAcceptedAction)) continue;
      return fail(ErrorCode::kConflict,
                  fmt::format("the audit log {} had a kept head when entry {} was written; both {} "
                              "and {} are missing: restore them, or record the loss for good with "
                              "'pennyweight audit accept --reason TEXT'",
                              path_, entry->number, files_.key, files_.head));
    }
  }

  Result<void> check_kept_head() {
    if (!kept_) return fail(ErrorCode::kUnsupported, path_ + " was opened to be read");
    const auto state = TRY(kept_->read());
    if (state.allows(head_)) return {};
    return std::unexpected(not_the_kept_log(path_, head_, state));
  }

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
    const Head next{entry.number, entry.hash};
    TRY(kept_->announce(head_, next));
    if (!write_all(file_.number(), line) || ::fdatasync(file_.number()) != 0) {
      const auto failure = io_failure("write to", path_);
      take_back();
      return failure;
    }
    if (auto anchored = anchor(next, entry.at); !anchored) {
      take_back();
      return std::unexpected(anchored.error());
    }
    size_ += line.size();
    head_ = next;
    // It is announced, which says enough: a later append confirms it.
    static_cast<void>(kept_->confirm(next));
    return head_;
  }

  // The line was not acknowledged. If this fails as well, the next append finds half a line, or a
  // whole one that was announced.
  void take_back() {
    static_cast<void>(::ftruncate(file_.number(), static_cast<off_t>(size_)) == 0);
  }

  // Tells the head to those who keep it elsewhere.
  Result<void> anchor(const Head& head, Instant at) {
    if (files_.syslog) {
      ::syslog(LOG_AUTHPRIV | LOG_NOTICE, "pennyweight audit head %s of %s",
               write_head(head).c_str(), path_.c_str());
    }
    if (files_.anchor.empty()) return {};
    const FileDescriptor file(
        ::open(files_.anchor.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, kOnlyMine));
    if (!file.is_open() ||
        !write_all(file.number(), fmt::format("{} {}\n", to_text(at), write_head(head))) ||
        ::fdatasync(file.number()) != 0) {
      return io_failure(fmt::format("add the head to {}, the anchor of", files_.anchor), path_);
    }
    return {};
  }

  const FileDescriptor file_;
  const LogFiles files_;
  const std::string path_;
  Clock& clock_;
  std::mutex mutex_;        // guards the following
  std::uint64_t size_ = 0;  // of the lines read so far
  Head head_;
  std::optional<KeptHead> kept_;  // nothing: opened to be read
  bool is_reader_ = false;
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

namespace {

Result<FileDescriptor> open_log(const std::string& path, bool may_make) {
  const bool is_new = !std::filesystem::exists(path);
  if (is_new && !may_make) {
    return fail(ErrorCode::kConflict,
                fmt::format("the audit log {} is missing, although entries of it are known: "
                            "restore it, or begin a new one, which records the loss for good, with "
                            "'pennyweight audit accept --reason TEXT'",
                            path));
  }
  FileDescriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, kOnlyMine));
  if (!file.is_open()) return io_failure("open", path);
  if (is_new && !sync_folder(folder_of(path))) return io_failure("make", path);
  return file;
}

}  // namespace

Result<std::unique_ptr<AuditLog>> AuditLog::open(const LogFiles& files, Clock& clock) {
  bool may_make = true;
  if (!std::filesystem::exists(files.log)) {
    const auto kept = TRY(KeptHead::open(files));
    if (kept) {
      const auto state = TRY(kept->read());
      may_make = state.allows({});
    }
  }
  auto file = TRY(open_log(files.log, may_make));
  auto audit_log = std::make_unique<AuditLogFile>(std::move(file), files, clock);
  TRY(audit_log->begin());
  return audit_log;
}

Result<std::unique_ptr<AuditLog>> AuditLog::open_to_read(const std::string& path, Clock& clock) {
  FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) return io_failure("open", path);
  auto audit_log = std::make_unique<AuditLogFile>(std::move(file), LogFiles::beside(path), clock);
  TRY(audit_log->begin_reading());
  return audit_log;
}

Result<Head> accept(const LogFiles& files, Entry entry, Clock& clock) {
  auto file = TRY(open_log(files.log, true));
  AuditLogFile audit_log(std::move(file), files, clock);
  return audit_log.accept(std::move(entry));
}

namespace {

// The heads that an anchor file holds. Half a line at its end is of a killed process.
Result<std::vector<Head>> read_anchor(const std::string& path) {
  std::vector<Head> heads;
  const auto text = read_raw_file(path, kAnchorBytesMax);
  if (!text && text.error().code == ErrorCode::kNotFound) return heads;
  if (!text) return std::unexpected(text.error().during("the audit log's anchor"));
  std::size_t begin = 0;
  std::size_t line = 0;
  for (std::size_t end = text->find('\n'); end != std::string::npos;
       end = text->find('\n', begin)) {
    ++line;
    const std::string_view words = std::string_view(*text).substr(begin, end - begin);
    begin = end + 1;
    auto head = parse_head(words.substr(std::min(words.find(' ') + 1, words.size())));
    if (!head) {
      return fail(ErrorCode::kBadFile, fmt::format("the audit log's anchor {}, line {}: {}", path,
                                                   line, head.error().message));
    }
    heads.push_back(*std::move(head));
  }
  return heads;
}

// Which of the anchored heads the log lacks; nothing: none.
class AnchorCheck {
 public:
  explicit AnchorCheck(std::vector<Head> heads) {
    for (Head& head : heads) missing_.emplace(head.number, std::move(head.hash));
  }
  void take(const Entry& entry) {
    for (auto [at, end] = missing_.equal_range(entry.number); at != end;) {
      at = at->second == entry.hash ? missing_.erase(at) : std::next(at);
    }
  }
  std::optional<Head> first_missing() const {
    if (missing_.empty()) return std::nullopt;
    return Head{missing_.begin()->first, missing_.begin()->second};
  }

 private:
  std::multimap<std::uint64_t, std::string> missing_;
};

Result<std::uint64_t> size_to_verify(const FileDescriptor& file, const std::string& path) {
  // Under the lock, every line is either complete or not begun.
  const auto lock = TRY(FileLock::take(file.number(), LOCK_SH, path));
  return size_of(file.number(), path);
}

Result<Verdict> verify_bytes(const FileDescriptor& file, std::uint64_t size,
                             const std::string& path, Verifier& verification) {
  for (std::uint64_t at = 0; at < size; at += kBlockBytes) {
    const auto block =
        TRY(read_range(file.number(), at, std::min<std::uint64_t>(size, at + kBlockBytes), path));
    if (!verification.add(block)) break;
  }
  return verification.finish();
}

}  // namespace

Result<Verdict> verify(const LogFiles& files, const std::optional<Head>& known) {
  const FileDescriptor file(::open(files.log.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) {
    if (errno == ENOENT) return fail(ErrorCode::kNotFound, "no audit log at " + files.log);
    return io_failure("open", files.log);
  }
  std::optional<KeptHead::State> kept;
  std::uint64_t size = 0;
  AnchorCheck anchors({});
  std::string kept_problem;
  {
    const auto lock = TRY(FileLock::take(file.number(), LOCK_SH, files.log));
    size = TRY(size_of(file.number(), files.log));
    const auto head = KeptHead::open(files);
    if (!head) {
      kept_problem = head.error().message;
    } else if (*head) {
      kept = TRY((*head)->read());
    }
    if (!files.anchor.empty()) {
      auto heads = TRY(read_anchor(files.anchor));
      anchors = AnchorCheck(std::move(heads));
    }
  }
  Verifier verification(known);
  verification.take = [&](const Entry& entry) { anchors.take(entry); };
  Verdict verdict = TRY(verify_bytes(file, size, files.log, verification));
  if (!verdict.whole) return verdict;
  const auto refuse = [&](std::string reason) {
    verdict.whole = false;
    verdict.bad_line = verdict.head.number + 1;
    verdict.reason = std::move(reason);
    return verdict;
  };
  if (!kept_problem.empty()) return refuse(std::move(kept_problem));
  if (kept && !kept->allows(verdict.head)) {
    const Head& last = kept->confirmed;
    if (last.number > verdict.head.number) {
      return refuse(
          fmt::format("it is missing: the log ends with number {}, and number {} was "
                      "recorded ({})",
                      verdict.head.number, last.number, files.head));
    }
    return refuse(fmt::format(
        "the log ends with entry {}, and {} was recorded last ({}): lines were "
        "added or rewritten from outside",
        write_head(verdict.head), last.number == 0 ? "none" : write_head(last), files.head));
  }
  if (const auto missing = anchors.first_missing()) {
    // The last one may have been anchored just before a crash, and its line taken back.
    verdict.whole = false;
    verdict.bad_line = missing->number;
    verdict.reason =
        fmt::format("the anchor {} has {}, which the log lacks: it was rewritten or cut",
                    files.anchor, write_head(*missing));
  }
  return verdict;
}

Result<Verdict> verify(const std::string& path, const std::optional<Head>& known) {
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) {
    if (errno == ENOENT) return fail(ErrorCode::kNotFound, "no audit log at " + path);
    return io_failure("open", path);
  }
  const auto size = TRY(size_to_verify(file, path));
  Verifier verification(known);
  return verify_bytes(file, size, path, verification);
}

Result<void> for_each_entry(const std::string& path,
                            const std::function<void(const Entry&)>& take) {
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open() && errno == ENOENT) return {};
  if (!file.is_open()) return io_failure("open", path);
  const auto size = TRY(size_to_verify(file, path));
  Verifier verification;
  verification.take = take;
  std::ignore = TRY(verify_bytes(file, size, path, verification));
  return {};
}

}  // namespace pennyweight::audit_log
