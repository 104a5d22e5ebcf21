// Engine: takes samples and never counts one twice nor loses one that it acknowledged.
//
//   take()    reads and checks a body, appends it to the journal as it came, applies it, and
//   answers
//             when the journal has it on disk
//   flush()   makes rows of what is finished, writes a snapshot (what is open, and these rows),
//   drops
//             the journal that the snapshot covers, and has the rows imported into the ledger
//   open()    the snapshot, and the journal since: the same state as before
//
// Rows are imported only after they are in a snapshot, and until an import has succeeded they stay
// in every snapshot, byte by byte. So after a crash at any moment each is imported at least once,
// and always as the same fact, of which the ledger keeps one.
//
// Order of application is the order of the journal: one lock for both. Bodies are decoded and
// checked outside it. All is thread-safe.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/clock.h"
#include "core/error.h"
#include "ingest/prometheus/exposition.h"
#include "ingest/prometheus/remote_write.h"
#include "ingest/prometheus/scrape_reader.h"
#include "journal/journal.h"
#include "live/lane.h"
#include "live/rows.h"
#include "live/state_sink.h"

namespace pennyweight::live {

inline constexpr std::size_t kBodyBytesMax = 64u << 20;          // decoded
inline constexpr std::uint64_t kPendingBytesMax = 512ull << 20;  // rows not imported; then kLimit
inline constexpr std::size_t kLanesMax = 64;
inline constexpr std::int64_t kGraceMsMax = 3'600'000;
// What is finished and waits for a flush, in pieces of 50 to 100 bytes: a sender that drains hours
// of backlog makes a million in seconds. From the first on a flush is wanted, from the second on
// nothing is taken.
inline constexpr std::size_t kPiecesWanted = 500'000;
inline constexpr std::size_t kPiecesMax = 2'000'000;
// Flushes of LaneLimits::rows_of_flush each, in one call of flush().
inline constexpr int kRoundsOfFlush = 40;
// Of the last minutes' usages; older ones are not shown then.
inline constexpr std::size_t kRecentBytesMax = 128u << 20;

// Targets and series of scrapes that end when they are gone; of further ones values merely hold no
// longer than 2.5 intervals.
inline constexpr std::size_t kScrapedTargetsMax = 100'000;
inline constexpr std::size_t kScrapedSeriesMax = 8'000'000;

struct EngineOptions {
  std::string folder;  // journal and snapshot; empty: nothing is durable (tests, measuring)
  LaneOptions lane;
  std::size_t body_bytes_max = kBodyBytesMax;
  std::uint64_t pending_bytes_max = kPendingBytesMax;
  std::uint64_t journal_bytes_max = journal::kJournalBytesMax;
  std::size_t recent_bytes_max = kRecentBytesMax;
  std::size_t pieces_max = kPiecesMax;
  StateSink* state = nullptr;     // outlives the engine; nothing: such series are ignored
  journal::Disk* disk = nullptr;  // nothing: the real one
};

// A body as it came.
struct Delivery {
  enum class Kind : std::uint8_t { kRemoteWrite, kExposition };
  Kind kind = Kind::kRemoteWrite;
  std::string_view content_type = {};      // as in the header
  std::string_view content_encoding = {};  // as in the header
  std::string_view body = {};
  // Where labels say nothing; empty: that of the options.
  ClusterId cluster = ClusterId("");
  // Of a scrape.
  Instant scraped_at = {};
  prometheus::TargetLabels target = {};
  bool honor_timestamps = true;
  // Which target, the same in each of its scrapes: a series that it no longer tells ends. Empty:
  // series are not compared.
  std::string target_id = {};
  // False: the target failed, or is gone, and there is no body. Its series end.
  bool answered = true;
  // The past, beside live data: the name of its lane. A lane has its own order of time and ends by
  // close_lane(). Empty: live.
  std::string lane = {};
};

struct Taken {
  std::uint64_t series = 0;   // of remote_write
  std::uint64_t samples = 0;  // of the body; what became of them is in counters()
  std::uint64_t exemplars = 0;
  std::uint64_t histograms = 0;  // native ones
  std::uint64_t metadata = 0;
  std::uint64_t bad = 0;  // lines of an exposition
  std::vector<prometheus::BadLine> first_bad;
  std::uint64_t ended = 0;  // series of a target that are gone
};

// Imports the rows of a flush, as one import. An Error keeps them for the next flush.
using Importer = std::function<Result<void>(const Rows&)>;

struct Flushed {
  std::uint64_t number = 0;  // of the last round
  std::uint64_t usages = 0;
  std::uint64_t gpus = 0;
  std::uint64_t outcomes = 0;
  bool more = false;  // the limit of a flush was reached: flush again soon
};

class Engine {
  struct Key {};

 public:
  Engine(Key, EngineOptions options, Clock& clock);  // see open()
  ~Engine();
  // kBadFile where snapshot or journal is damaged, kConflict where another process has the folder,
  // kConfig where the resolution does not divide an hour, or the grace is beyond kGraceMsMax.
  static Result<std::unique_ptr<Engine>> open(EngineOptions options, Clock& clock);

  // Errors: as of encoding.h and remote_write.h for the sender (kUnsupported 415, kLimit 413,
  // kBadFile 400): then `refused` is true; and for later (503 with Retry-After): kLimit, too
  // much waits for the ledger; kIo, the disk. What was refused was not counted, and may be sent
  // again; after kIo the samples may be known all the same, and do no harm when they come again.
  Result<Taken> take(const Delivery& delivery, bool* refused = nullptr);

  // One at a time; others wait. What it returns was imported.
  Result<Flushed> flush(const Importer& import);
  // Sooner than usual, since much was sent.
  bool wants_flush() const;

  // All of the lane is finished, its last values hold until `until` at most; its rows come with the
  // next flush. Durable when it returns. A lane that is not there was closed already.
  Result<void> close_lane(const std::string& lane, Instant until);

  // Spans of the last kRecentMs of a cluster, in no order, open buckets among them (part 0). Not
  // from lanes of the past.
  std::vector<Usage> recent(const ClusterId& cluster) const;

  // By name and, for "unusable", by reason: "samples", "duplicates", "unusable: <why>",
  // "journal_bytes", "pending_rows" …
  std::map<std::string, std::uint64_t> counters() const;

 private:
  struct Desk;  // what one thread needs to read a body
  class Borrowed;

  Result<void> recover();
  Result<void> load_snapshot(std::string_view bytes);
  Result<void> replay(const journal::Record& record);
  Result<Taken> apply(Desk& desk, const Delivery& delivery, std::int64_t now_ms);
  Result<prometheus::ScrapeReport> scrape(Desk& desk, const Delivery& delivery, Lane& lane);
  Result<Lane*> lane_of(const std::string& name);
  void close_now(const std::string& lane, std::int64_t until_ms);
  Result<void> flush_once(const Importer& import, Flushed& flushed);
  std::size_t pieces() const;
  void make_rows(std::int64_t now_ms, Flushed& flushed);
  void remember(std::int64_t now_ms, std::string recent);
  std::string snapshot(std::uint64_t segment) const;  // with its head

  const EngineOptions options_;
  Clock& clock_;
  std::unique_ptr<journal::Journal> journal_;

  std::mutex flushing_;       // held for a whole flush, taken before mutex_
  mutable std::mutex mutex_;  // guards all below
  std::unique_ptr<Lane> live_;
  std::map<std::string, std::unique_ptr<Lane>> past_;
  std::vector<std::pair<std::unique_ptr<Lane>, std::int64_t>> closed_;  // and until when
  LaneCounts counts_ = {};
  std::map<std::string, std::uint64_t> unusable_;
  std::uint64_t replay_refused_ = 0;
  std::uint64_t failed_flushes_ = 0;
  std::uint64_t imported_rows_ = 0;
  std::uint64_t snapshot_bytes_ = 0;
  std::uint64_t flush_ = 0;
  std::deque<Rows> pending_;  // not imported
  std::uint64_t pending_bytes_ = 0;
  std::map<std::string, std::vector<Hash128>> scraped_;  // series of each target's last answer
  std::size_t scraped_series_ = 0;
  struct Recent {
    std::int64_t made_ms;
    std::shared_ptr<const std::string> usages;
  };
  std::deque<Recent> recent_;
  std::size_t recent_bytes_ = 0;

  mutable std::mutex desks_mutex_;
  std::vector<std::unique_ptr<Desk>> desks_;  // guarded by desks_mutex_
};

}  // namespace pennyweight::live
