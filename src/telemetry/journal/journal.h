// Journal: records on disk, in order, before they are acknowledged.
//
// It is a folder of segments, segment-<20 digits>.journal, of which only the newest grows. A record
// is durable when wait() returns for its position; concurrent writers share one fdatasync. The
// checksum of a record also covers its position, and how much of its segment was durable when it
// was written. So after a crash the torn tail of the newest segment, which was never acknowledged,
// can be distinguished from damage to acknowledged records. The first is cut off and counted. The
// second is an Error that names segment and offset. Nothing is skipped silently.
//
// When the disk refuses a write (full, broken), the bytes of the record are cut off again, and
// later records are sound. After a failed sync nobody knows what the kernel dropped, so the journal
// refuses everything until restart(), as PostgreSQL does since 2018 (fsyncgate).
//
// Numbers are little-endian. The format is of 2026-11, for little-endian machines.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "core/error.h"
#include "core/files/disk.h"

namespace pennyweight::journal {

inline constexpr std::uint64_t kRecordBytesMax = 64ull << 20;
inline constexpr std::uint64_t kSegmentBytesMax = 64ull << 20;  // then a new one begins
inline constexpr std::uint64_t kJournalBytesMax = 4ull << 30;   // beyond: kLimit

struct Options {
  std::string folder;  // created where it is missing; used by one process
  std::uint64_t segment_bytes_max = kSegmentBytesMax;
  std::uint64_t journal_bytes_max = kJournalBytesMax;
  Disk* disk = nullptr;  // null: the real one. Outlives the journal
};

// A position in the journal: wait() waits until everything before it is durable.
struct Position {
  std::uint64_t written = 0;     // bytes since this process opened the journal
  std::uint64_t generation = 0;  // how often restart() was called
};

struct Record {
  std::uint64_t segment;
  std::uint64_t offset;
  std::uint32_t kind;      // as the writer defines it
  std::string_view bytes;  // lives until the visitor returns
};
// An Error ends the replay, which returns it.
using RecordVisitor = std::function<Result<void>(const Record&)>;

struct Counts {
  std::uint64_t records = 0;     // written since opening
  std::uint64_t syncs = 0;       // fewer than records where writers shared them
  std::uint64_t bytes = 0;       // on disk now, in all segments
  std::uint64_t segments = 0;    // on disk now
  std::uint64_t torn_tails = 0;  // cut when it was opened
  std::uint64_t torn_bytes = 0;
};

// Reads the records of one segment. Damage to what was acknowledged is an Error, and so is one of
// the visitor.
struct SegmentScan {
  std::uint64_t end = 0;   // of the last sound record
  std::uint64_t torn = 0;  // bytes after it; only with `may_be_torn`
};
Result<SegmentScan> scan_segment(std::string_view bytes, std::uint64_t number, bool may_be_torn,
                                 const RecordVisitor& visitor);

class Journal {
  struct Key {};

 public:
  Journal(Key, Options options);  // see open()
  // kConflict: another process has it. kBadFile: acknowledged records are damaged.
  static Result<std::unique_ptr<Journal>> open(Options options);
  ~Journal();

  // All functions are thread-safe. Records are in the order of the calls of append(). A record is
  // `bytes` followed by `more`, which need not be adjacent in memory.
  Result<Position> append(std::uint32_t kind, std::string_view bytes, std::string_view more = {});
  Result<void> wait(Position position);
  Result<void> append_durably(std::uint32_t kind, std::string_view bytes);

  // Makes everything so far durable and begins a new segment, which it returns.
  Result<std::uint64_t> rotate();
  // Deletes the segments before `segment`, but never the newest.
  Result<void> drop_before(std::uint64_t segment);
  // Reads the records from that segment on, in order. kBadFile where it is no longer there. Not
  // while appending.
  Result<void> replay(std::uint64_t from, const RecordVisitor& visitor);

  bool refuses() const;  // true after a failed sync
  // Cuts off what was never durable and goes on in a new segment. For callers that still have in
  // memory what may be lost.
  Result<void> restart();

  std::uint64_t first_segment() const;
  Counts counts() const;

 private:
  Result<void> lock_folder();
  Result<void> find_segments();
  Result<void> open_newest();
  Result<void> create_segment(std::uint64_t number);
  Result<void> sync_all(std::unique_lock<std::mutex>& lock);
  Result<std::uint64_t> rotate_locked(std::unique_lock<std::mutex>& lock);
  std::string segment_path(std::uint64_t number) const;
  std::uint64_t total_bytes() const;

  const Options options_;
  Disk& disk_;
  FileDescriptor lock_;

  mutable std::mutex mutex_;  // guards all below
  std::condition_variable synced_more_;
  std::map<std::uint64_t, std::uint64_t> segments_;  // number, bytes
  FileDescriptor newest_;
  std::uint64_t durable_ = 0;  // bytes of the newest segment
  std::uint64_t written_ = 0;  // as Position::written
  std::uint64_t synced_ = 0;   // as Position::written
  std::uint64_t generation_ = 0;
  std::uint64_t survived_ = 0;  // bytes that were durable when it was last restarted
  bool syncing_ = false;        // a thread syncs, without the mutex
  bool refuses_ = false;
  Counts counts_;
};

}  // namespace pennyweight::journal
