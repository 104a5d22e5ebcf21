// Engine: takes in samples, counts each exactly once, and loses none that it acknowledged.
//
//   ingest()  checks a body, appends it to the journal as it came, applies it, and returns when the
//             journal is on disk
//   flush()   makes rows of what is finished, writes a snapshot (these rows, and what is still
//             open), drops the journal that the snapshot covers, and has the rows imported into the
//             ledger. While samples wait for older ones and there
//             are no rows, the journal stays until it is long
//   open()    reads the snapshot and replays the journal since: the same state as before
//
// Rows are imported only after a snapshot has them, and stay in every snapshot, byte for byte,
// until an import has succeeded. So after a crash at any moment each row is imported at least once,
// always as the same fact, of which the ledger keeps one.
//
// Bodies are applied in the order of the journal: one lock covers both. They are decoded and
// checked outside it. All functions are thread-safe.
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
#include "core/files/disk.h"
#include "telemetry/journal/journal.h"
#include "telemetry/live/flush_rows.h"
#include "telemetry/live/sample_stream.h"
#include "telemetry/live/state_sink.h"
#include "telemetry/prometheus/exposition.h"
#include "telemetry/prometheus/remote_write.h"
#include "telemetry/prometheus/scrape_reader.h"

namespace pennyweight::live {

inline constexpr std::size_t kBodyBytesMax = 64u << 20;  // decoded
inline constexpr std::uint64_t kPendingBytesMax = 512ull
                                                  << 20;  // rows not imported yet; beyond: kLimit
inline constexpr std::size_t kStreamsMax = 64;
inline constexpr std::int64_t kGraceMsMax = 3'600'000;
// Pieces that wait for a flush, of 50 to 100 bytes each; a sender that drains hours of backlog
// makes a million in seconds. From kPiecesWanted on a flush is wanted, from kPiecesMax on nothing
// is taken.
inline constexpr std::size_t kPiecesWanted = 500'000;
inline constexpr std::size_t kPiecesMax = 2'000'000;
// Samples of 24 to 48 bytes that wait for older ones, while senders drain their queues: an hour of
// 40,000 GPUs. Beyond, nothing is taken until devices have sent nothing old for
// StreamOptions::order_wait_ms.
inline constexpr std::size_t kWaitingSamplesMax = 60'000'000;
// How many snapshots one call of flush() writes, and how many times StreamLimits::rows_per_flush
// one of them holds.
inline constexpr int kRoundsOfFlush = 40;
// Rows that one snapshot may hold, approximately; further ones get the next.
inline constexpr std::uint64_t kBytesOfASnapshot = 64ull << 20;
// A journal that is not replaced by a snapshot while there are no rows; a start applies it in
// seconds.
inline constexpr std::uint64_t kJournalKept = 256ull << 20;
// Memory for the usages of the last minutes, compressed; what does not fit is not shown.
inline constexpr std::size_t kRecentBytesMax = 128u << 20;

// Scrape targets and series that end when they disappear; values of further ones hold for 2.5
// intervals.
inline constexpr std::size_t kScrapedTargetsMax = 100'000;
inline constexpr std::size_t kScrapedSeriesMax = 8'000'000;

struct EngineOptions {
  std::string folder;  // journal and snapshot; empty: nothing is durable (tests, benchmarks)
  StreamOptions stream;
  std::size_t body_bytes_max = kBodyBytesMax;
  std::uint64_t pending_bytes_max = kPendingBytesMax;
  std::uint64_t journal_bytes_max = journal::kJournalBytesMax;
  std::uint64_t bytes_of_a_snapshot = kBytesOfASnapshot;
  std::size_t recent_bytes_max = kRecentBytesMax;
  std::size_t pieces_max = kPiecesMax;
  std::size_t waiting_samples_max = kWaitingSamplesMax;
  StateSink* state = nullptr;  // outlives the engine; null: such series are ignored
  Disk* disk = nullptr;        // null: the real one
};

// A body as it was received.
struct IngestRequest {
  enum class Kind : std::uint8_t { kRemoteWrite, kExposition };
  Kind kind = Kind::kRemoteWrite;
  std::string_view content_type = {};      // as in the header
  std::string_view content_encoding = {};  // as in the header
  std::string_view body = {};
  // The cluster of series whose labels name none; empty: that of the options.
  ClusterId cluster = ClusterId("");
  // The fields up to `answered` are of scrapes.
  Instant scraped_at = {};
  prometheus::TargetLabels target = {};
  bool honor_timestamps = true;
  // The target, by the same id in each of its scrapes: a series that is no longer in its answer
  // ends. Empty: series are not compared.
  std::string target_id = {};
  // False: the target failed or is gone, and there is no body. Its series end.
  bool answered = true;
  // The name of a stream of past samples, beside live data. Such a stream has its own order of time
  // and ends by close_stream(). Empty: live data.
  std::string stream = {};
};

struct IngestResult {
  std::uint64_t series = 0;   // of remote_write
  std::uint64_t samples = 0;  // of the body; counters() say what became of them
  std::uint64_t exemplars = 0;
  std::uint64_t histograms = 0;  // native ones
  std::uint64_t metadata = 0;
  std::uint64_t bad = 0;  // lines of an exposition
  std::vector<prometheus::BadLine> first_bad;
  std::uint64_t ended = 0;  // series of a target that ended
  // Samples of a time that is in the ledger already, and that had not come before: not taken.
  std::uint64_t refused = 0;
};

// Imports the rows of one flush as one import. After an Error they wait for the next flush.
using RowImporter = std::function<Result<void>(const FlushRows&)>;

struct FlushResult {
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
  // kBadFile: the snapshot or the journal is damaged. kConflict: another process uses the folder.
  // kConfig: the resolution does not divide an hour, or the grace is beyond kGraceMsMax.
  static Result<std::unique_ptr<Engine>> open(EngineOptions options, Clock& clock);

  // Errors with `refused` set are the sender's, as in encoding.h and remote_write.h (kUnsupported
  // 415, kLimit 413, kBadFile 400). Others pass (503 with Retry-After): kLimit and kStore, too much
  // waits for the ledger; kIo, the disk. What failed was not counted and may be sent again; after
  // kIo the samples may have been counted all the same, and are duplicates when they come again.
  Result<IngestResult> ingest(const IngestRequest& request, bool* refused = nullptr);

  // One call at a time; others wait. The result counts what was imported. `ends_order`: the program
  // stops, so what a sender that drains its queue has sent out of order until now becomes rows.
  Result<FlushResult> flush(const RowImporter& import, bool ends_order = false);
  // Whether a flush should come sooner than usual, since much was sent.
  bool wants_flush() const;

  // Finishes a stream of past samples: its last values hold until `until` at most, and its rows
  // come with the next flush. Durable when it returns. A stream that is not there was closed
  // already.
  Result<void> close_stream(const std::string& stream, Instant until);

  // The usages of a cluster in the last kRecentMs, and not before `since`, in no order, including
  // open buckets (part 0). Without streams of past samples.
  std::vector<Usage> recent(const ClusterId& cluster, Instant since = {}) const;
  // What each device of live data reports now: SampleStream::readings().
  std::vector<Usage> readings() const;

  // By name: "samples", "duplicates", "journal_bytes", "pending_rows" …, and "unusable: <reason>".
  std::map<std::string, std::uint64_t> counters() const;
  // Whether the disk of the journal refuses writes. Does not wait for a body that is being taken.
  bool refuses_writes() const { return journal_ && journal_->refuses(); }

 private:
  struct DecodeBuffers;  // what a thread needs to decode one body
  class BorrowedBuffers;

  Result<void> recover();
  Result<void> load_snapshot(std::string_view bytes, bool has_unordered);
  std::uint64_t refused_samples() const;
  Result<void> replay(const journal::Record& record);
  Result<IngestResult> apply(DecodeBuffers& buffers, const IngestRequest& request,
                             std::int64_t now_ms);
  Result<prometheus::ScrapeReport> scrape(DecodeBuffers& buffers, const IngestRequest& request,
                                          SampleStream& stream);
  Result<SampleStream*> find_or_add_stream(const std::string& name);
  void move_to_closed(const std::string& stream, std::int64_t until_ms);
  Result<void> flush_once(const RowImporter& import, bool ends_order, FlushResult& flushed);
  std::size_t pieces() const;
  Result<void> check_room() const;
  void make_rows(std::int64_t now_ms, bool ends_order, FlushResult& flushed);
  void keep_recent(std::int64_t now_ms, const std::string& recent);
  bool is_snapshot_due(bool is_last) const;
  std::string snapshot(std::uint64_t segment) const;  // with its header

  const EngineOptions options_;
  Clock& clock_;
  std::unique_ptr<journal::Journal> journal_;

  std::mutex flushing_;       // held for a whole flush, taken before mutex_
  mutable std::mutex mutex_;  // guards all below
  std::unique_ptr<SampleStream> live_stream_;
  std::map<std::string, std::unique_ptr<SampleStream>> past_streams_;
  std::vector<std::pair<std::unique_ptr<SampleStream>, std::int64_t>>
      closed_streams_;  // and until when
  StreamCounts counts_ = {};
  std::map<std::string, std::uint64_t> unusable_;
  std::uint64_t replay_refused_ = 0;
  std::uint64_t failed_flushes_ = 0;
  std::uint64_t imported_rows_ = 0;
  std::uint64_t snapshot_bytes_ = 0;
  std::uint64_t flush_ = 0;
  std::deque<FlushRows> pending_;  // not imported
  std::uint64_t pending_bytes_ = 0;
  std::map<std::string, std::vector<Hash128>> scraped_;  // series of each target's last answer
  std::size_t scraped_series_ = 0;
  struct Recent {
    std::int64_t made_ms;
    std::shared_ptr<const std::string> usages;  // as save_usage() writes them, in snappy
  };
  std::deque<Recent> recent_;
  std::size_t recent_bytes_ = 0;

  mutable std::mutex free_buffers_mutex_;
  std::vector<std::unique_ptr<DecodeBuffers>> free_buffers_;  // guarded by free_buffers_mutex_
};

}  // namespace pennyweight::live
