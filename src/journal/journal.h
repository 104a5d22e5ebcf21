// Journal: what was acknowledged, in order, on disk before it is acknowledged.
//
// A folder of segments, segment-<20 digits>.journal, of which only the newest grows. A record is
// durable when wait() returns for its place: concurrent writers share one fdatasync. Each record
// carries a checksum that also covers where it stands, and how much of its segment was durable when
// it was written. So after a crash the torn tail of the newest segment, which nobody was promised,
// is told from damage to what was promised: the first is cut and counted, the second is an Error
// that names segment and offset, and nothing is skipped in silence.
//
// When the disk refuses (full, broken) the record is not there: its bytes are cut off again, and
// later records are sound. After a failed sync nobody knows what the kernel threw away, so the
// journal refuses everything until start_afresh(), as PostgreSQL does since 2018 (fsyncgate).
//
// Numbers are little-endian: format of 2026-11, for machines that are.
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
#include "journal/disk.h"

namespace pennyweight::journal {

inline constexpr std::uint64_t kRecordBytesMax = 64ull << 20;
inline constexpr std::uint64_t kSegmentBytesMax = 64ull << 20;  // then it rotates by itself
inline constexpr std::uint64_t kJournalBytesMax = 4ull << 30;   // then it refuses: kLimit

struct Options {
  std::string folder;  // created where it is missing; nobody else's
  std::uint64_t segment_bytes_max = kSegmentBytesMax;
  std::uint64_t journal_bytes_max = kJournalBytesMax;
  Disk* disk = nullptr;  // nothing: the real one. Outlives the journal
};

// What wait() waits for: all up to here.
struct Place {
  std::uint64_t written = 0;  // bytes since this process opened the journal
  std::uint64_t life = 0;     // how often it had started afresh
};

struct Record {
  std::uint64_t segment;
  std::uint64_t offset;
  std::uint32_t kind;      // the writer's
  std::string_view bytes;  // lives until the visitor returns
};
// An Error ends the replay with it.
using Visitor = std::function<Result<void>(const Record&)>;

struct Counts {
  std::uint64_t records = 0;     // written since opening
  std::uint64_t syncs = 0;       // fewer than records where writers shared them
  std::uint64_t bytes = 0;       // on disk now, in all segments
  std::uint64_t segments = 0;    // on disk now
  std::uint64_t torn_tails = 0;  // cut when it was opened
  std::uint64_t torn_bytes = 0;
};

// Records of one segment, for replay and for whoever looks at a file. `durable_end` is where the
// sound records end; a visitor's Error or damage to what was promised is an Error.
struct Scanned {
  std::uint64_t end = 0;   // of the last sound record
  std::uint64_t torn = 0;  // bytes after it; only with `may_be_torn`
};
Result<Scanned> scan_segment(std::string_view bytes, std::uint64_t number, bool may_be_torn,
                             const Visitor& visitor);

class Journal {
  struct Key {};

 public:
  Journal(Key, Options options);  // see open()
  // kConflict where another process has it; kBadFile where what was promised is damaged.
  static Result<std::unique_ptr<Journal>> open(Options options);
  ~Journal();

  // Thread-safe, all of them. Records are in the order of the calls of append(). A record is
  // `bytes` and then `more`, which need not lie together.
  Result<Place> append(std::uint32_t kind, std::string_view bytes, std::string_view more = {});
  Result<void> wait(Place place);
  Result<void> append_durably(std::uint32_t kind, std::string_view bytes);

  // Everything so far is durable and in segments before the one returned, which is new.
  Result<std::uint64_t> rotate();
  // Segments before `segment` are deleted; the newest never is.
  Result<void> drop_before(std::uint64_t segment);
  // From that segment on, in order. kBadFile where it is not there any more. Not while appending.
  Result<void> replay(std::uint64_t from, const Visitor& visitor);

  bool refuses() const;  // after a failed sync
  // Cuts what was never durable and goes on in a new segment. For callers that still hold in memory
  // what may be cut.
  Result<void> start_afresh();

  std::uint64_t first_segment() const;
  Counts counts() const;

 private:
  Result<void> lock_folder();
  Result<void> find_segments();
  Result<void> open_newest();
  Result<void> create_segment(std::uint64_t number);
  Result<void> sync_all(std::unique_lock<std::mutex>& lock);
  Result<std::uint64_t> rotate_locked(std::unique_lock<std::mutex>& lock);
  std::string path_of(std::uint64_t number) const;
  std::uint64_t total_bytes() const;

  const Options options_;
  Disk& disk_;
  File lock_;

  mutable std::mutex mutex_;  // guards all below
  std::condition_variable synced_more_;
  std::map<std::uint64_t, std::uint64_t> segments_;  // number, bytes
  File newest_;
  std::uint64_t durable_ = 0;  // bytes of the newest segment
  std::uint64_t written_ = 0;  // as Place::written
  std::uint64_t synced_ = 0;   // as Place::written
  std::uint64_t life_ = 0;
  std::uint64_t survived_ = 0;  // of what was written in the life before
  bool syncing_ = false;        // somebody syncs, without the mutex
  bool refuses_ = false;
  Counts counts_;
};

}  // namespace pennyweight::journal
