#include "journal/journal.h"

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

#include "core/check.h"

namespace pennyweight::journal {
namespace {

constexpr std::string_view kSegmentMagic = "pwjrnl01";
constexpr std::size_t kSegmentHead = 16;  // magic, number of the segment
constexpr std::uint32_t kRecordMagic = 0x63657270;
constexpr std::size_t kRecordHead = 32;

struct Head {
  std::uint32_t magic = kRecordMagic;
  std::uint32_t size = 0;
  std::uint32_t kind = 0;
  std::uint32_t spare = 0;
  std::uint64_t durable = 0;  // bytes of this segment that were durable when this was written
  std::uint64_t checksum = 0;
};
static_assert(sizeof(Head) == kRecordHead);

// Over the head without its checksum, where it stands, and the bytes.
std::uint64_t checksum_of(const Head& head, std::uint64_t segment, std::uint64_t offset,
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

struct Found {
  Head head;
  std::string_view bytes;
};
// A sound record at `offset`, if one stands there.
std::optional<Found> record_at(std::string_view segment, std::uint64_t number,
                               std::uint64_t offset) {
  if (offset > segment.size() || segment.size() - offset < kRecordHead) return std::nullopt;
  Found found;
  std::memcpy(&found.head, segment.data() + offset, kRecordHead);
  const std::uint64_t left = segment.size() - offset - kRecordHead;
  if (found.head.magic != kRecordMagic || found.head.size > left ||
      found.head.size > kRecordBytesMax) {
    return std::nullopt;
  }
  found.bytes = segment.substr(offset + kRecordHead, found.head.size);
  if (checksum_of(found.head, number, offset, found.bytes) != found.head.checksum) {
    return std::nullopt;
  }
  return found;
}

// Whether a sound record after `bad` says that the bytes at `bad` had been durable.
bool was_promised(std::string_view segment, std::uint64_t number, std::uint64_t bad) {
  std::array<char, sizeof kRecordMagic> magic;
  std::memcpy(magic.data(), &kRecordMagic, sizeof kRecordMagic);
  const std::string_view mark(magic.data(), magic.size());
  // Each candidate is hashed whole, so a hostile segment is given up on after so many bytes.
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

std::optional<std::uint64_t> number_of(std::string_view name) {
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

Result<Scanned> scan_segment(std::string_view bytes, std::uint64_t number, bool may_be_torn,
                             const Visitor& visitor) {
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
    // A new segment is named before anything is promised of it.
    if (may_be_torn && !was_promised(bytes, number, 0)) return Scanned{0, bytes.size()};
    return damaged(0);
  }
  std::uint64_t offset = kSegmentHead;
  while (offset < bytes.size()) {
    const auto found = record_at(bytes, number, offset);
    if (!found) {
      if (!may_be_torn || was_promised(bytes, number, offset)) return damaged(offset);
      return Scanned{offset, bytes.size() - offset};
    }
    if (auto visited = visitor({number, offset, found->head.kind, found->bytes}); !visited) {
      return std::unexpected(visited.error());
    }
    offset += kRecordHead + found->bytes.size();
  }
  return Scanned{offset, 0};
}

Journal::Journal(Key, Options options)
    : options_(std::move(options)),
      disk_(options_.disk != nullptr ? *options_.disk : real_disk()) {}

Journal::~Journal() = default;

std::string Journal::path_of(std::uint64_t number) const {
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
  if (auto locked = journal->lock_folder(); !locked) return std::unexpected(locked.error());
  if (auto found = journal->find_segments(); !found) return std::unexpected(found.error());
  if (auto opened = journal->open_newest(); !opened) return std::unexpected(opened.error());
  return journal;
}

Result<void> Journal::lock_folder() {
  const std::string path = options_.folder + "/lock";
  lock_ = File(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, S_IRUSR | S_IWUSR));
  if (!lock_.is_open()) return std::unexpected(io_error("cannot open", path));
  if (::flock(lock_.descriptor(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return std::unexpected(io_error("cannot lock", path));
    return fail(ErrorCode::kConflict, "another process uses the journal in " + options_.folder +
                                          "; stop it, or give this one a folder of its own");
  }
  return {};
}

Result<void> Journal::find_segments() {
  std::error_code error;
  for (auto entry = std::filesystem::directory_iterator(options_.folder, error);
       !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    const auto number = number_of(entry->path().filename().native());
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
  const std::string path = path_of(number);
  auto bytes = read_file(path, kSegmentBytesMax + kRecordBytesMax + (1u << 20));
  if (!bytes) return std::unexpected(bytes.error());
  const auto scanned =
      scan_segment(*bytes, number, true, [](const Record&) -> Result<void> { return {}; });
  if (!scanned) return std::unexpected(scanned.error());
  if (scanned->torn > 0) {
    ++counts_.torn_tails;
    counts_.torn_bytes += scanned->torn;
  }
  if (scanned->end == 0) return create_segment(number);
  newest_ = File(::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
  if (!newest_.is_open()) return std::unexpected(io_error("cannot open", path));
  // Also what was whole may not have been durable yet.
  if (disk_.truncate(newest_.descriptor(), scanned->end) != 0 ||
      disk_.sync(newest_.descriptor()) != 0) {
    return std::unexpected(io_error("cannot cut the torn end of", path));
  }
  segments_[number] = durable_ = scanned->end;
  return {};
}

Result<void> Journal::create_segment(std::uint64_t number) {
  const std::string path = path_of(number);
  File file(
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, S_IRUSR | S_IWUSR));
  if (!file.is_open()) return std::unexpected(io_error("cannot create", path));
  if (!write_all(disk_, file.descriptor(), segment_head(number)) ||
      disk_.sync(file.descriptor()) != 0) {
    Error error = io_error("cannot write", path);
    ::unlink(path.c_str());
    return std::unexpected(std::move(error));
  }
  if (auto synced = sync_folder(disk_, options_.folder); !synced) {
    ::unlink(path.c_str());
    return std::unexpected(synced.error());
  }
  newest_ = std::move(file);
  segments_[number] = durable_ = kSegmentHead;
  return {};
}

Result<Place> Journal::append(std::uint32_t kind, std::string_view bytes, std::string_view more) {
  const std::uint64_t size = std::uint64_t{bytes.size()} + more.size();
  if (size > kRecordBytesMax) {
    return fail(ErrorCode::kLimit,
                fmt::format("a record of {} bytes; the journal takes {}", size, kRecordBytesMax));
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
    if (auto rotated = rotate_locked(lock); !rotated) return std::unexpected(rotated.error());
    newest = std::prev(segments_.end());
  }
  Head head;
  head.size = static_cast<std::uint32_t>(size);
  head.kind = kind;
  head.durable = durable_;
  head.checksum = checksum_of(head, newest->first, newest->second, bytes, more);
  std::array<char, kRecordHead> head_bytes;
  std::memcpy(head_bytes.data(), &head, kRecordHead);
  if (!write_all(disk_, newest_.descriptor(), {head_bytes.data(), head_bytes.size()}) ||
      !write_all(disk_, newest_.descriptor(), bytes) ||
      !write_all(disk_, newest_.descriptor(), more)) {
    Error error = io_error("cannot write", path_of(newest->first));
    if (disk_.truncate(newest_.descriptor(), newest->second) != 0) refuses_ = true;
    return std::unexpected(std::move(error));
  }
  newest->second += kRecordHead + size;
  written_ += kRecordHead + size;
  ++counts_.records;
  return Place{written_, life_};
}

Result<void> Journal::wait(Place place) {
  std::unique_lock lock(mutex_);
  while (place.life != life_ || synced_ < place.written) {
    if (place.life != life_ && place.life + 1 == life_ && place.written <= survived_) return {};
    if (refuses_ || place.life != life_) {
      return fail(ErrorCode::kIo, "the journal in " + options_.folder + " could not be synced");
    }
    if (syncing_) {
      synced_more_.wait(lock);
      continue;
    }
    if (auto synced = sync_all(lock); !synced) return synced;
  }
  return {};
}

Result<void> Journal::append_durably(std::uint32_t kind, std::string_view bytes) {
  const auto place = append(kind, bytes);
  return place ? wait(*place) : Result<void>(std::unexpected(place.error()));
}

// REQUIRES: the lock, and that nobody else syncs. Lets the lock go while the disk works.
Result<void> Journal::sync_all(std::unique_lock<std::mutex>& lock) {
  syncing_ = true;
  const std::uint64_t all = written_;
  const std::uint64_t size = segments_.rbegin()->second;
  const int file = newest_.descriptor();
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
    result = std::unexpected(io_error("cannot sync", path_of(segments_.rbegin()->first)));
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
  // Syncing lets the lock go, so others may have written meanwhile.
  while (syncing_ || synced_ < written_) {
    if (refuses_) return fail(ErrorCode::kIo, "the journal could not be synced");
    if (syncing_) {
      synced_more_.wait(lock);
    } else if (auto synced = sync_all(lock); !synced) {
      return std::unexpected(synced.error());
    }
  }
  if (refuses_) return fail(ErrorCode::kIo, "the journal could not be synced");
  const std::uint64_t next = segments_.rbegin()->first + 1;
  if (auto created = create_segment(next); !created) return std::unexpected(created.error());
  return next;
}

Result<void> Journal::drop_before(std::uint64_t segment) {
  const std::lock_guard lock(mutex_);
  while (segments_.size() > 1 && segments_.begin()->first < segment) {
    const std::string path = path_of(segments_.begin()->first);
    if (::unlink(path.c_str()) != 0 && errno != ENOENT) {
      return std::unexpected(io_error("cannot delete", path));
    }
    segments_.erase(segments_.begin());
  }
  return {};
}

Result<void> Journal::replay(std::uint64_t from, const Visitor& visitor) {
  std::map<std::uint64_t, std::uint64_t> segments;
  {
    const std::lock_guard lock(mutex_);
    segments = segments_;
  }
  // A folder that is new begins with 1.
  if (from < segments.begin()->first && !(from == 0 && segments.begin()->first == 1)) {
    return fail(ErrorCode::kBadFile,
                fmt::format("segment {} of the journal in {} is missing; the first is {}", from,
                            options_.folder, segments.begin()->first));
  }
  for (const auto& [number, size] : segments) {
    if (number < from) continue;
    auto bytes = read_file(path_of(number), kSegmentBytesMax + kRecordBytesMax + (1u << 20));
    if (!bytes) return std::unexpected(bytes.error());
    // The torn end of the newest was cut when the journal was opened.
    const auto scanned = scan_segment(*bytes, number, false, visitor);
    if (!scanned) return std::unexpected(scanned.error());
  }
  return {};
}

bool Journal::refuses() const {
  const std::lock_guard lock(mutex_);
  return refuses_;
}

Result<void> Journal::start_afresh() {
  std::unique_lock lock(mutex_);
  while (syncing_) synced_more_.wait(lock);
  const std::uint64_t number = segments_.rbegin()->first;
  if (disk_.truncate(newest_.descriptor(), durable_) != 0 ||
      disk_.sync(newest_.descriptor()) != 0) {
    return std::unexpected(io_error("cannot cut and sync", path_of(number)));
  }
  segments_[number] = durable_;
  if (auto created = create_segment(number + 1); !created) return created;
  // Whoever still waits for what was cut is not told that it is durable.
  survived_ = synced_;
  synced_ = written_;
  ++life_;
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
