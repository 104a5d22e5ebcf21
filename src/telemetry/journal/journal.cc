#include "telemetry/journal/journal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <new>
#include <optional>
#include <tuple>

#include "core/check.h"
#include "core/try.h"

namespace pennyweight::journal {
namespace {

constexpr std::string_view kSegmentMagic = "pwjrnl01";
constexpr std::size_t kSegmentHead = 16;  // magic, number of the segment
constexpr std::uint32_t kRecordMagic = 0x63657270;
constexpr std::size_t kRecordHead = 32;

struct RecordHeader {
  std::uint32_t magic = kRecordMagic;
  std::uint32_t size = 0;
  std::uint32_t kind = 0;
  std::uint32_t spare = 0;
  std::uint64_t durable = 0;  // bytes of this segment that were durable when this was written
  std::uint64_t checksum = 0;
};
static_assert(sizeof(RecordHeader) == kRecordHead);

// The checksum of a record: of its header without the checksum, its position and its bytes.
std::uint64_t record_checksum(const RecordHeader& head, std::uint64_t segment, std::uint64_t offset,
                              std::string_view bytes, std::string_view more = {}) {
  std::array<std::uint64_t, 5> about = {segment, offset, head.durable,
                                        (std::uint64_t{head.size} << 32) | head.kind, head.spare};
  const std::uint64_t seed = XXH3_64bits(about.data(), sizeof about);
  if (more.empty()) return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
  const std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> state(XXH3_createState(),
                                                                       &XXH3_freeState);
  if (!state) throw std::bad_alloc();
  XXH3_64bits_reset_withSeed(state.get(), seed);
  XXH3_64bits_update(state.get(), bytes.data(), bytes.size());
  XXH3_64bits_update(state.get(), more.data(), more.size());
  return XXH3_64bits_digest(state.get());
}

std::string segment_head(std::uint64_t number) {
  std::string bytes(kSegmentMagic);
  bytes.append(sizeof number, '\0');
  std::memcpy(bytes.data() + kSegmentMagic.size(), &number, sizeof number);
  return bytes;
}

struct FoundSegments {
  RecordHeader head;
  std::string_view bytes;
};
// The sound record at `offset`, if there is one.
std::optional<FoundSegments> record_at(std::string_view segment, std::uint64_t number,
                                       std::uint64_t offset) {
  if (offset > segment.size() || segment.size() - offset < kRecordHead) return std::nullopt;
  FoundSegments found;
  std::memcpy(&found.head, segment.data() + offset, kRecordHead);
  const std::uint64_t left = segment.size() - offset - kRecordHead;
  if (found.head.magic != kRecordMagic || found.head.size > left ||
      found.head.size > kRecordBytesMax) {
    return std::nullopt;
  }
  found.bytes = segment.substr(offset + kRecordHead, found.head.size);
  if (record_checksum(found.head, number, offset, found.bytes) != found.head.checksum) {
    return std::nullopt;
  }
  return found;
}

// Whether a sound record after `bad` shows that the bytes at `bad` had been durable.
bool was_promised(std::string_view segment, std::uint64_t number, std::uint64_t bad) {
  std::array<char, sizeof kRecordMagic> magic;
  std::memcpy(magic.data(), &kRecordMagic, sizeof kRecordMagic);
  const std::string_view mark(magic.data(), magic.size());
  // Each candidate is hashed as a whole, so the search ends after so many bytes: a segment may be
  // hostile.
  std::uint64_t hashed = 0;
  for (auto at = segment.find(mark, bad + 1); at != std::string_view::npos;
       at = segment.find(mark, at + 1)) {
    const auto found = record_at(segment, number, at);
    if (found && found->head.durable > bad) return true;
    hashed += found ? found->bytes.size() : 0;
    if (hashed > 16 * kSegmentBytesMax) return true;
  }
  return false;
}

std::optional<std::uint64_t> segment_number(std::string_view name) {
  constexpr std::string_view kBegin = "segment-";
  constexpr std::string_view kEnd = ".journal";
  if (!name.starts_with(kBegin) || !name.ends_with(kEnd)) return std::nullopt;
  name.remove_prefix(kBegin.size());
  name.remove_suffix(kEnd.size());
  std::uint64_t number = 0;
  const auto parsed = std::from_chars(name.data(), name.data() + name.size(), number);
  if (name.size() != 20 || parsed.ec != std::errc() || parsed.ptr != name.data() + name.size()) {
    return std::nullopt;
  }
  return number;
}

}  // namespace

Result<SegmentScan> scan_segment(std::string_view bytes, std::uint64_t number, bool may_be_torn,
                                 const RecordVisitor& visitor) {
  const auto damaged = [&](std::uint64_t offset) {
    return fail(
        ErrorCode::kBadFile,
        fmt::format("segment {} of the journal is damaged at byte {}: what was acknowledged "
                    "there can't be read. Restore the folder from a backup, or move it away "
                    "and backfill the time since the last flush",
                    number, offset));
  };
  const std::string head = segment_head(number);
  if (!bytes.starts_with(head)) {
    // A new segment has its name before anything in it is acknowledged.
    if (may_be_torn && !was_promised(bytes, number, 0)) return SegmentScan{0, bytes.size()};
    return damaged(0);
  }
  std::uint64_t offset = kSegmentHead;
  while (offset < bytes.size()) {
    const auto found = record_at(bytes, number, offset);
    if (!found) {
      if (!may_be_torn || was_promised(bytes, number, offset)) return damaged(offset);
      return SegmentScan{offset, bytes.size() - offset};
    }
    TRY(visitor({number, offset, found->head.kind, found->bytes}));
    offset += kRecordHead + found->bytes.size();
  }
  return SegmentScan{offset, 0};
}

Journal::Journal(Key, Options options)
    : options_(std::move(options)),
      disk_(options_.disk != nullptr ? *options_.disk : real_disk()) {}

Journal::~Journal() = default;

std::string Journal::segment_path(std::uint64_t number) const {
  return fmt::format("{}/segment-{:020}.journal", options_.folder, number);
}

std::uint64_t Journal::total_bytes() const {
  std::uint64_t bytes = 0;
  for (const auto& [number, size] : segments_) bytes += size;
  return bytes;
}

Result<std::unique_ptr<Journal>> Journal::open(Options options) {
  std::error_code error;
  std::filesystem::create_directories(options.folder, error);
  if (error) {
    return fail(ErrorCode::kIo,
                "cannot make the folder " + options.folder + ": " + error.message());
  }
  auto journal = std::make_unique<Journal>(Key{}, std::move(options));
  TRY(journal->lock_folder());
  TRY(journal->find_segments());
  TRY(journal->open_newest());
  return journal;
}

Result<void> Journal::lock_folder() {
  const std::string path = options_.folder + "/lock";
  lock_ = FileDescriptor(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, S_IRUSR | S_IWUSR));
  if (!lock_.is_open()) return std::unexpected(io_error("open", path));
  if (::flock(lock_.number(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return std::unexpected(io_error("lock", path));
    return fail(ErrorCode::kConflict, "another process uses the journal in " + options_.folder +
                                          "; stop it, or give this one a folder of its own");
  }
  return {};
}

Result<void> Journal::find_segments() {
  std::error_code error;
  for (auto entry = std::filesystem::directory_iterator(options_.folder, error);
       !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    const auto number = segment_number(entry->path().filename().native());
    if (!number) continue;
    segments_[*number] = entry->file_size(error);
    if (error) break;
  }
  if (error) {
    return fail(ErrorCode::kIo, "cannot list " + options_.folder + ": " + error.message());
  }
  std::optional<std::uint64_t> before;
  for (const auto& [number, size] : segments_) {
    if (before && number != *before + 1) {
      return fail(ErrorCode::kBadFile, fmt::format("segment {} of the journal in {} is missing",
                                                   *before + 1, options_.folder));
    }
    before = number;
  }
  return {};
}

Result<void> Journal::open_newest() {
  if (segments_.empty()) return create_segment(1);
  const std::uint64_t number = segments_.rbegin()->first;
  const std::string path = segment_path(number);
  auto bytes = TRY(read_raw_file(path, kSegmentBytesMax + kRecordBytesMax + (1u << 20)));
  const auto scanned =
      TRY(scan_segment(bytes, number, true, [](const Record&) -> Result<void> { return {}; }));
  if (scanned.torn > 0) {
    ++counts_.torn_tails;
    counts_.torn_bytes += scanned.torn;
  }
  if (scanned.end == 0) return create_segment(number);
  newest_ = FileDescriptor(::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
  if (!newest_.is_open()) return std::unexpected(io_error("open", path));
  // Even complete records may not have been durable yet.
  if (disk_.truncate(newest_.number(), scanned.end) != 0 || disk_.sync(newest_.number()) != 0) {
    return std::unexpected(io_error("cut the torn end of", path));
  }
  segments_[number] = durable_ = scanned.end;
  return {};
}

Result<void> Journal::create_segment(std::uint64_t number) {
  const std::string path = segment_path(number);
  FileDescriptor file(
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, S_IRUSR | S_IWUSR));
  if (!file.is_open()) return std::unexpected(io_error("create", path));
  if (!write_all(file.number(), segment_head(number), disk_) || disk_.sync(file.number()) != 0) {
    Error error = io_error("write", path);
    ::unlink(path.c_str());
    return std::unexpected(std::move(error));
  }
  if (auto synced = sync_folder(options_.folder, disk_); !synced) {
    ::unlink(path.c_str());
    return std::unexpected(synced.error());
  }
  newest_ = std::move(file);
  segments_[number] = durable_ = kSegmentHead;
  return {};
}

Result<Position> Journal::append(std::uint32_t kind, std::string_view bytes,
                                 std::string_view more) {
  const std::uint64_t size = std::uint64_t{bytes.size()} + more.size();
  if (size > kRecordBytesMax) {
    return fail(ErrorCode::kLimit,
                fmt::format("a record has {} bytes; the journal accepts at most {}", size,
                            kRecordBytesMax));
  }
  std::unique_lock lock(mutex_);
  if (refuses_) {
    return fail(ErrorCode::kIo, "the journal in " + options_.folder +
                                    " could not be synced to disk and takes nothing until the next "
                                    "flush; look at the disk");
  }
  if (total_bytes() + kRecordHead + size > options_.journal_bytes_max) {
    return fail(ErrorCode::kLimit, fmt::format("the journal holds {} bytes that are not in the "
                                               "ledger yet, and takes no more than {}",
                                               total_bytes(), options_.journal_bytes_max));
  }
  auto newest = std::prev(segments_.end());
  if (newest->second > kSegmentHead &&
      newest->second + kRecordHead + size > options_.segment_bytes_max) {
    std::ignore = TRY(rotate_locked(lock));
    newest = std::prev(segments_.end());
  }
  RecordHeader head;
  head.size = static_cast<std::uint32_t>(size);
  head.kind = kind;
  head.durable = durable_;
  head.checksum = record_checksum(head, newest->first, newest->second, bytes, more);
  std::array<char, kRecordHead> head_bytes;
  std::memcpy(head_bytes.data(), &head, kRecordHead);
  if (!write_all(newest_.number(), {head_bytes.data(), head_bytes.size()}, disk_) ||
      !write_all(newest_.number(), bytes, disk_) || !write_all(newest_.number(), more, disk_)) {
    Error error = io_error("write", segment_path(newest->first));
    if (disk_.truncate(newest_.number(), newest->second) != 0) refuses_ = true;
    return std::unexpected(std::move(error));
  }
  newest->second += kRecordHead + size;
  written_ += kRecordHead + size;
  ++counts_.records;
  return Position{written_, generation_};
}

Result<void> Journal::wait(Position position) {
  std::unique_lock lock(mutex_);
  while (position.generation != generation_ || synced_ < position.written) {
    if (position.generation != generation_ && position.generation + 1 == generation_ &&
        position.written <= survived_)
      return {};
    if (refuses_ || position.generation != generation_) {
      return fail(ErrorCode::kIo, "the journal in " + options_.folder + " could not be synced");
    }
    if (syncing_) {
      synced_more_.wait(lock);
      continue;
    }
    TRY(sync_all(lock));
  }
  return {};
}

Result<void> Journal::append_durably(std::uint32_t kind, std::string_view bytes) {
  const auto position = append(kind, bytes);
  return position ? wait(*position) : Result<void>(std::unexpected(position.error()));
}

// REQUIRES: the lock is held, and no other thread syncs. Releases the lock while the disk works.
Result<void> Journal::sync_all(std::unique_lock<std::mutex>& lock) {
  syncing_ = true;
  const std::uint64_t all = written_;
  const std::uint64_t size = segments_.rbegin()->second;
  const int file = newest_.number();
  lock.unlock();
  const int failed = disk_.sync_data(file);
  const int why = errno;
  lock.lock();
  syncing_ = false;
  ++counts_.syncs;
  Result<void> result;
  if (failed != 0) {
    refuses_ = true;
    errno = why;
    result = std::unexpected(io_error("sync", segment_path(segments_.rbegin()->first)));
  } else {
    synced_ = all;
    durable_ = size;
  }
  synced_more_.notify_all();
  return result;
}

Result<std::uint64_t> Journal::rotate() {
  std::unique_lock lock(mutex_);
  return rotate_locked(lock);
}

Result<std::uint64_t> Journal::rotate_locked(std::unique_lock<std::mutex>& lock) {
  // Syncing releases the lock, so others may have written meanwhile.
  while (syncing_ || synced_ < written_) {
    if (refuses_) return fail(ErrorCode::kIo, "the journal could not be synced");
    if (syncing_) {
      synced_more_.wait(lock);
    } else
      TRY(sync_all(lock));
  }
  if (refuses_) return fail(ErrorCode::kIo, "the journal could not be synced");
  const std::uint64_t next = segments_.rbegin()->first + 1;
  TRY(create_segment(next));
  return next;
}

Result<void> Journal::drop_before(std::uint64_t segment) {
  const std::lock_guard lock(mutex_);
  while (segments_.size() > 1 && segments_.begin()->first < segment) {
    const std::string path = segment_path(segments_.begin()->first);
    if (::unlink(path.c_str()) != 0 && errno != ENOENT) {
      return std::unexpected(io_error("delete", path));
    }
    segments_.erase(segments_.begin());
  }
  return {};
}

Result<void> Journal::replay(std::uint64_t from, const RecordVisitor& visitor) {
  std::map<std::uint64_t, std::uint64_t> segments;
  {
    const std::lock_guard lock(mutex_);
    segments = segments_;
  }
  // A new folder begins with segment 1.
  if (from < segments.begin()->first && !(from == 0 && segments.begin()->first == 1)) {
    return fail(ErrorCode::kBadFile,
                fmt::format("segment {} of the journal in {} is missing; the first is {}", from,
                            options_.folder, segments.begin()->first));
  }
  for (const auto& [number, size] : segments) {
    if (number < from) continue;
    auto bytes =
        TRY(read_raw_file(segment_path(number), kSegmentBytesMax + kRecordBytesMax + (1u << 20)));
    // The torn end of the newest segment was cut off when the journal was opened.
    std::ignore = TRY(scan_segment(bytes, number, false, visitor));
  }
  return {};
}

bool Journal::refuses() const {
  const std::lock_guard lock(mutex_);
  return refuses_;
}

Result<void> Journal::restart() {
  std::unique_lock lock(mutex_);
  while (syncing_) synced_more_.wait(lock);
  const std::uint64_t number = segments_.rbegin()->first;
  if (disk_.truncate(newest_.number(), durable_) != 0 || disk_.sync(newest_.number()) != 0) {
    return std::unexpected(io_error("cut and sync", segment_path(number)));
  }
  segments_[number] = durable_;
  TRY(create_segment(number + 1));  // Writers that still wait for what was cut off get an Error.
  survived_ = synced_;
  synced_ = written_;
  ++generation_;
  synced_more_.notify_all();
  refuses_ = false;
  return {};
}

std::uint64_t Journal::first_segment() const {
  const std::lock_guard lock(mutex_);
  return segments_.begin()->first;
}

Counts Journal::counts() const {
  const std::lock_guard lock(mutex_);
  Counts counts = counts_;
  counts.bytes = total_bytes();
  counts.segments = segments_.size();
  return counts;
}

}  // namespace pennyweight::journal
