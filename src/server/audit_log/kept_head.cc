#include "server/audit_log/kept_head.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <system_error>
#include <utility>

#include "core/base_encoding.h"
#include "core/crypto/secret.h"
#include "core/crypto/sha256.h"
#include "core/try.h"
#include "server/audit_log/line.h"

namespace pennyweight::audit_log {
namespace {

constexpr mode_t kOwnerOnlyMode = S_IRUSR | S_IWUSR;
constexpr std::size_t kKeyBytes = 32;
constexpr std::size_t kKeyFileBytesMax = 1024;
// Records take turns in two places, so that a torn one leaves the one before.
constexpr std::size_t kRecordBytes = 512;
constexpr std::size_t kRecords = 2;
constexpr std::string_view kNothing = "-";
constexpr std::string_view kPurpose = "pennyweight audit head 1 ";

std::unexpected<Error> head_failure(std::string_view doing, const std::string& path) {
  const int why = errno;
  return fail(ErrorCode::kIo,
              fmt::format("cannot {} {}: {}", doing, path, std::generic_category().message(why)));
}

std::string head_words(const Head& head) {
  return head.number == 0 ? std::string(kNothing) : write_head(head);
}

Result<Head> read_head_words(std::string_view text) {
  if (text == kNothing) return Head{};
  return parse_head(text);
}

std::string sign(std::string_view key, std::string_view words) {
  return to_hex(hmac_sha256(key, std::string(kPurpose) + std::string(words)));
}

// "SEQUENCE CONFIRMED ANNOUNCED SIGNATURE", filled up with blanks.
std::string record_of(std::string_view key, std::uint64_t sequence, const Head& confirmed,
                      const std::optional<Head>& announced) {
  std::string words = fmt::format("{} {} {}", sequence, head_words(confirmed),
                                  announced ? head_words(*announced) : std::string(kNothing));
  words += ' ' + sign(key, words);
  words.resize(kRecordBytes - 1, ' ');
  return words + '\n';
}

struct HeadRecord {
  std::uint64_t sequence = 0;
  KeptHead::State state;
};

std::optional<HeadRecord> read_record(std::string_view bytes, std::string_view key) {
  std::array<std::string_view, 4> words;
  std::string_view rest = bytes.substr(0, bytes.find_last_not_of(" \n") + 1);
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::size_t end = i + 1 < words.size() ? rest.find(' ') : rest.size();
    if (end == std::string_view::npos) return std::nullopt;
    words[i] = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  const std::string_view signed_part =
      bytes.substr(0, words[0].size() + words[1].size() + words[2].size() + 2);
  if (!is_same_secret(words[3], sign(key, signed_part))) return std::nullopt;
  HeadRecord record;
  const char* const end = words[0].data() + words[0].size();
  const auto sequence = std::from_chars(words[0].data(), end, record.sequence);
  auto confirmed = read_head_words(words[1]);
  auto announced = read_head_words(words[2]);
  if (sequence.ec != std::errc() || sequence.ptr != end || !confirmed || !announced) {
    return std::nullopt;
  }
  record.state.confirmed = *std::move(confirmed);
  if (announced->number > 0) record.state.announced = *std::move(announced);
  return record;
}

std::optional<HeadRecord> newest_record(std::string_view bytes, std::string_view key) {
  std::optional<HeadRecord> newest;
  for (std::size_t i = 0; i < kRecords && i * kRecordBytes < bytes.size(); ++i) {
    const auto record = read_record(bytes.substr(i * kRecordBytes, kRecordBytes), key);
    if (record && (!newest || record->sequence > newest->sequence)) newest = record;
  }
  return newest;
}

bool is_there(const std::string& path) {
  struct stat about = {};
  return ::stat(path.c_str(), &about) == 0;
}

Result<std::string> read_key(const std::string& path) {
  auto text = read_raw_file(path, kKeyFileBytesMax);
  if (!text) return std::unexpected(text.error().during("the key of the audit log's head"));
  while (text->ends_with('\n')) text->pop_back();
  if (text->size() != 2 * kKeyBytes ||
      text->find_first_not_of("0123456789abcdef") != std::string::npos) {
    return fail(ErrorCode::kBadFile,
                fmt::format("{} is not the key of an audit log: it has {} characters instead of {} "
                            "hexadecimal digits; put the right file back",
                            path, text->size(), 2 * kKeyBytes));
  }
  return text;
}

std::string unnamed_key(const std::string& path) { return path + ".part"; }

// A new key gets its name only when the head that it signs has its own: whoever is killed in
// between leaves no key and no head, or a head and a key whose naming name_key() completes.
Result<std::string> make_key(const std::string& path) {
  const auto random = TRY(random_bytes(kKeyBytes));
  const std::string key = to_hex(random);
  const std::string part = unnamed_key(path);
  ::unlink(part.c_str());
  const FileDescriptor file(
      ::open(part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kOwnerOnlyMode));
  if (!file.is_open() || !write_all(file.number(), key + "\n") || ::fsync(file.number()) != 0) {
    return head_failure("write the key of the audit log", path);
  }
  return key;
}

// Several may complete it at once.
Result<void> name_key(const std::string& path) {
  const bool is_named =
      ::rename(unnamed_key(path).c_str(), path.c_str()) == 0 || (errno == ENOENT && is_there(path));
  if (!is_named || !sync_folder(folder_of(path))) {
    return head_failure("write the key of the audit log", path);
  }
  return {};
}

Result<std::string> read_head_file(const FileDescriptor& file, const std::string& path) {
  std::string bytes(kRecords * kRecordBytes, '\0');
  std::size_t got = 0;
  while (got < bytes.size()) {
    const auto read =
        ::pread(file.number(), bytes.data() + got, bytes.size() - got, static_cast<off_t>(got));
    if (read < 0 && errno == EINTR) continue;
    if (read < 0) return head_failure("read the audit log's kept head", path);
    if (read == 0) break;
    got += static_cast<std::size_t>(read);
  }
  bytes.resize(got);
  return bytes;
}

// Whether a key without a name signed the head: then it is the log's.
Result<bool> is_signed_by_unnamed_key(const LogFiles& files) {
  const std::string part = unnamed_key(files.key);
  if (!is_there(part)) return false;
  const auto key = read_key(part);
  if (!key) return false;  // it was being written
  const FileDescriptor file(::open(files.head.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) return head_failure("open the audit log's kept head", files.head);
  const std::string bytes = TRY(read_head_file(file, files.head));
  return newest_record(bytes, *key).has_value();
}

}  // namespace

Result<std::optional<KeptHead>> KeptHead::open(const LogFiles& files) {
  const bool has_head = is_there(files.head);
  bool has_key = is_there(files.key);
  if (!has_key && !has_head) return std::nullopt;
  constexpr std::string_view kRemedy =
      "; put it back, or see what is there with 'pennyweight audit verify' and accept it for all "
      "to see with 'pennyweight audit accept'";
  if (!has_key) {
    has_key = TRY(is_signed_by_unnamed_key(files));
    if (has_key) TRY(name_key(files.key));
  }
  if (!has_key) {
    return fail(
        ErrorCode::kConflict,
        fmt::format("the key {} that signs the audit log's head is missing{}", files.key, kRemedy));
  }
  if (!has_head) {
    return fail(ErrorCode::kConflict,
                fmt::format("the audit log's kept head {} is missing{}", files.head, kRemedy));
  }
  auto key = TRY(read_key(files.key));
  FileDescriptor file(::open(files.head.c_str(), O_RDWR | O_CLOEXEC));
  // Who may only read can still verify.
  if (!file.is_open() && (errno == EACCES || errno == EROFS)) {
    file = FileDescriptor(::open(files.head.c_str(), O_RDONLY | O_CLOEXEC));
  }
  if (!file.is_open()) return head_failure("open the audit log's kept head", files.head);
  KeptHead kept(std::move(file), files.head, std::move(key));
  std::ignore = TRY(kept.read());
  return kept;
}

Result<KeptHead> KeptHead::create(const LogFiles& files, const Head& head) {
  const bool has_key = is_there(files.key);
  const std::string key = TRY(has_key ? read_key(files.key) : make_key(files.key));
  const std::string part = files.head + ".part";
  ::unlink(part.c_str());
  {
    const FileDescriptor file(
        ::open(part.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, kOwnerOnlyMode));
    if (!file.is_open() ||
        !write_all(file.number(), record_of(key, 0, head, {}) + std::string(kRecordBytes, ' ')) ||
        ::fsync(file.number()) != 0) {
      return head_failure("write the audit log's kept head", files.head);
    }
  }
  if (::rename(part.c_str(), files.head.c_str()) != 0 || !sync_folder(folder_of(files.head))) {
    return head_failure("write the audit log's kept head", files.head);
  }
  if (!has_key) TRY(name_key(files.key));
  FileDescriptor file(::open(files.head.c_str(), O_RDWR | O_CLOEXEC));
  if (!file.is_open()) return head_failure("open the audit log's kept head", files.head);
  return KeptHead(std::move(file), files.head, key);
}

Result<KeptHead::State> KeptHead::parse(std::string_view bytes, std::string_view key) {
  const auto newest = newest_record(bytes, key);
  if (!newest) {
    return fail(ErrorCode::kConflict,
                "it has no record signed by this key: it was changed, or this is the wrong key");
  }
  return newest->state;
}

Result<KeptHead::State> KeptHead::read() const {
  const std::string bytes = TRY(read_head_file(file_, path_));
  auto state = parse(bytes, key_);
  if (!state) {
    return std::unexpected(state.error().during("the audit log's kept head " + path_));
  }
  return state;
}

Result<void> KeptHead::write(const Head& confirmed, const std::optional<Head>& announced) {
  const std::string bytes = TRY(read_head_file(file_, path_));
  const auto newest = newest_record(bytes, key_);
  const std::uint64_t sequence = newest ? newest->sequence + 1 : 0;
  const std::string record = record_of(key_, sequence, confirmed, announced);
  const auto at = static_cast<off_t>((sequence % kRecords) * kRecordBytes);
  const auto written = ::pwrite(file_.number(), record.data(), record.size(), at);
  if (written != static_cast<ssize_t>(record.size())) {
    return head_failure("write the audit log's kept head", path_);
  }
  return {};
}

Result<void> KeptHead::announce(const Head& confirmed, const Head& next) {
  TRY(write(confirmed, next));
  if (::fdatasync(file_.number()) != 0) {
    return head_failure("write the audit log's kept head", path_);
  }
  return {};
}

Result<void> KeptHead::confirm(const Head& head) { return write(head, std::nullopt); }

}  // namespace pennyweight::audit_log
