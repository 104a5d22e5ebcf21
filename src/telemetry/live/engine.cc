#include "telemetry/live/engine.h"

#include <fmt/format.h>
#include <snappy.h>

#include <algorithm>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "core/check.h"
#include "core/try.h"
#include "telemetry/prometheus/encoding.h"

namespace pennyweight::live {
namespace {

constexpr std::string_view kSnapshotName = "live.snapshot";
constexpr std::string_view kSnapshotMagic = "pwlive02";
// Before samples were kept to put them in order.
constexpr std::string_view kFirstSnapshotMagic = "pwlive01";
constexpr std::size_t kSnapshotHead = 8 + 32;  // magic, checksum of the rest
constexpr std::uint64_t kSnapshotBytesMax = 16ull << 30;
constexpr std::uint32_t kDeliveryRecord = 1;
constexpr std::uint32_t kCloseRecord = 2;
constexpr std::uint64_t kLateParts = 1024;  // of one flush and one interval of a device
constexpr std::size_t kBuffersKept = 16;

// The part of a journal record that precedes the body.
std::string save_request(const IngestRequest& request, std::int64_t now_ms) {
  ByteWriter writer;
  writer.signed_number(now_ms).text(request.stream).text(request.cluster.text());
  writer.number(static_cast<std::uint64_t>(request.kind));
  writer.text(request.content_type).text(request.content_encoding);
  writer.signed_number(unix_ms(request.scraped_at)).number(request.honor_timestamps ? 1 : 0);
  writer.number(request.target.honor_labels ? 1 : 0).number(request.target.labels.size());
  for (const auto& [name, value] : request.target.labels) writer.text(name).text(value);
  writer.text(request.target_id).number(request.answered ? 1 : 0);
  writer.number(request.body.size());
  return writer.take();
}

std::optional<std::pair<IngestRequest, std::int64_t>> load_request(std::string_view record) {
  ByteReader reader(record);
  IngestRequest request;
  const std::int64_t now_ms = reader.signed_number();
  request.stream = reader.text();
  request.cluster = ClusterId(std::string(reader.text()));
  request.kind =
      reader.number() == 0 ? IngestRequest::Kind::kRemoteWrite : IngestRequest::Kind::kExposition;
  request.content_type = reader.text();
  request.content_encoding = reader.text();
  request.scraped_at = from_unix_ms(reader.signed_number());
  request.honor_timestamps = reader.number() != 0;
  request.target.honor_labels = reader.number() != 0;
  const std::uint64_t labels = reader.count();
  for (std::uint64_t i = 0; i < labels && reader.ok(); ++i) {
    std::string name(reader.text());
    request.target.labels.push_back({std::move(name), std::string(reader.text())});
  }
  request.target_id = reader.text();
  request.answered = reader.number() != 0;
  request.body = reader.text();
  if (!reader.ok() || !reader.at_end()) return std::nullopt;
  return std::pair(std::move(request), now_ms);
}

// A scrape without an answer has no body.
bool is_silence(const IngestRequest& request) {
  return request.kind == IngestRequest::Kind::kExposition && !request.answered;
}

std::unexpected<Error> damaged(std::string_view what) {
  return fail(ErrorCode::kBadFile,
              "the snapshot of live data is damaged (" + std::string(what) +
                  "); restore its folder from a backup, or move the folder away and backfill the "
                  "time since the last flush");
}

struct HashOfHash {
  std::size_t operator()(const Hash128& hash) const { return hash.low; }
};

}  // namespace

struct Engine::DecodeBuffers {
  prometheus::BodyDecoder decoder;
  prometheus::WriteRequestReader reader;
  // Of the body that was read last.
  std::string_view body;
  prometheus::WriteCounts counts;
};

// The buffers of one call, given back at its end.
class Engine::BorrowedBuffers {
 public:
  explicit BorrowedBuffers(Engine& engine) : engine_(engine) {
    const std::lock_guard lock(engine_.free_buffers_mutex_);
    if (!engine_.free_buffers_.empty()) {
      buffers_ = std::move(engine_.free_buffers_.back());
      engine_.free_buffers_.pop_back();
    }
    if (!buffers_) buffers_ = std::make_unique<DecodeBuffers>();
  }
  ~BorrowedBuffers() {
    const std::lock_guard lock(engine_.free_buffers_mutex_);
    if (engine_.free_buffers_.size() < kBuffersKept)
      engine_.free_buffers_.push_back(std::move(buffers_));
  }
  BorrowedBuffers(const BorrowedBuffers&) = delete;
  BorrowedBuffers& operator=(const BorrowedBuffers&) = delete;
  DecodeBuffers& operator*() { return *buffers_; }

  // Decodes the body, and checks what can be checked before it is journaled.
  Result<void> read(const IngestRequest& request) {
    buffers_->body = {};
    if (is_silence(request)) return {};
    auto body = TRY(buffers_->decoder.decode(request.content_encoding, request.body,
                                             engine_.options_.body_bytes_max));
    buffers_->body = body;
    if (request.kind == IngestRequest::Kind::kExposition) {
      const auto format = prometheus::parse_exposition_format(request.content_type);
      return format ? Result<void>{} : std::unexpected(format.error());
    }
    const auto protocol = TRY(prometheus::parse_write_protocol(request.content_type));
    auto counts = TRY(buffers_->reader.read(protocol, buffers_->body));
    buffers_->counts = counts;
    return {};
  }

 private:
  Engine& engine_;
  std::unique_ptr<DecodeBuffers> buffers_;
};

Engine::Engine(Key, EngineOptions options, Clock& clock)
    : options_(std::move(options)), clock_(clock) {
  live_stream_ =
      std::make_unique<SampleStream>(options_.stream, false, counts_, unusable_, options_.state);
}

Engine::~Engine() = default;

Result<std::unique_ptr<Engine>> Engine::open(EngineOptions options, Clock& clock) {
  const std::int64_t resolution = options.stream.timing.resolution_ms;
  if (resolution < 1000 || kFineGapMs % resolution != 0) {
    return fail(ErrorCode::kConfig,
                "the resolution of live data must divide an hour and be at least a "
                "second; write 1m");
  }
  const std::int64_t interval = options.stream.timing.interval_ms;
  if (interval < kIntervalMsMin || interval > kIntervalMsMax) {
    return fail(ErrorCode::kConfig, "the interval of scrapes must be from 1 s to 5 min");
  }
  if (options.stream.grace_ms < 0 || options.stream.grace_ms > kGraceMsMax) {
    return fail(ErrorCode::kConfig, "the grace for late samples must be from 0 s to 1 h");
  }
  auto engine = std::make_unique<Engine>(Key{}, std::move(options), clock);
  TRY(engine->recover());
  return engine;
}

Result<void> Engine::recover() {
  if (options_.folder.empty()) return {};
  // The journal first: its lock makes sure that no other process uses the folder.
  auto journal = journal::Journal::open({.folder = options_.folder,
                                         .journal_bytes_max = options_.journal_bytes_max,
                                         .disk = options_.disk});
  if (!journal) return std::unexpected(journal.error());
  journal_ = std::move(*journal);
  std::uint64_t from = 0;
  const std::string path = options_.folder + "/" + std::string(kSnapshotName);
  if (auto bytes = read_raw_file(path, kSnapshotBytesMax)) {
    const bool is_first = bytes->starts_with(kFirstSnapshotMagic);
    if (bytes->size() < kSnapshotHead || (!is_first && !bytes->starts_with(kSnapshotMagic)))
      return damaged("its head");
    const std::string_view payload = std::string_view(*bytes).substr(kSnapshotHead);
    if (to_text(hash_of(payload)) != bytes->substr(kSnapshotMagic.size(), 32)) {
      return damaged("its checksum");
    }
    snapshot_bytes_ = bytes->size();
    ByteReader reader(payload);
    from = reader.number();
    TRY(load_snapshot(payload, !is_first));
  } else if (bytes.error().code != ErrorCode::kNotFound) {
    return std::unexpected(bytes.error());
  }
  const auto replayed =
      journal_->replay(from, [&](const journal::Record& record) { return replay(record); });
  if (!replayed) return replayed;
  // A crash may have come after the snapshot and before this.
  TRY(journal_->drop_before(from));
  const std::int64_t now_ms = unix_ms(clock_.now());
  live_stream_->mark_restarted(now_ms);
  return {};
}

Result<void> Engine::replay(const journal::Record& record) {
  if (record.kind == kCloseRecord) {
    ByteReader reader(record.bytes);
    const std::string stream(reader.text());
    const std::int64_t until_ms = reader.signed_number();
    if (!reader.ok()) return fail(ErrorCode::kBadFile, "a record of the journal can't be read");
    move_to_closed(stream, until_ms);
    return {};
  }
  if (record.kind != kDeliveryRecord) {
    return fail(ErrorCode::kBadFile, "the journal was written by a later version of pennyweight");
  }
  auto request = load_request(record.bytes);
  if (!request) return fail(ErrorCode::kBadFile, "a record of the journal can't be read");
  BorrowedBuffers buffers(*this);
  // It was valid when it was journaled, but limits may have changed.
  if (!buffers.read(request->first) || !apply(*buffers, request->first, request->second)) {
    ++replay_refused_;
  }
  return {};
}

Result<SampleStream*> Engine::find_or_add_stream(const std::string& name) {
  if (name.empty()) return live_stream_.get();
  if (const auto at = past_streams_.find(name); at != past_streams_.end()) return at->second.get();
  if (past_streams_.size() >= kStreamsMax) {
    return fail(ErrorCode::kLimit, "more than " + std::to_string(kStreamsMax) +
                                       " backfills at once; wait until one has ended");
  }
  auto stream =
      std::make_unique<SampleStream>(options_.stream, true, counts_, unusable_, options_.state);
  return past_streams_.emplace(name, std::move(stream)).first->second.get();
}

// REQUIRES: the mutex is held, or no other thread uses the engine yet.
Result<IngestResult> Engine::apply(DecodeBuffers& buffers, const IngestRequest& request,
                                   std::int64_t now_ms) {
  const auto stream = TRY(find_or_add_stream(request.stream));
  live_stream_->note_time(now_ms, true);
  stream->begin_body(now_ms, request.cluster);
  IngestResult result;
  if (request.kind == IngestRequest::Kind::kRemoteWrite) {
    buffers.reader.emit(*stream);
    result.series = buffers.counts.series;
    result.samples = buffers.counts.samples;
    result.exemplars = buffers.counts.exemplars;
    result.histograms = buffers.counts.histograms;
    result.metadata = buffers.counts.metadata;
    result.bad = buffers.counts.samples_out_of_range;
    return result;
  }
  auto report = TRY(scrape(buffers, request, *stream));
  auto& exposition = report.exposition;
  result.ended = report.ended;
  result.samples = exposition.samples;
  result.exemplars = exposition.exemplars;
  result.histograms = exposition.histograms;
  result.bad = exposition.bad + exposition.samples_out_of_range;
  result.first_bad = std::move(exposition.first_bad);
  return result;
}

// REQUIRES: as apply().
Result<prometheus::ScrapeReport> Engine::scrape(DecodeBuffers& buffers,
                                                const IngestRequest& request,
                                                SampleStream& stream) {
  // A new reader each time: the configuration of the target may have changed.
  prometheus::ScrapeReader reader(request.target, request.honor_timestamps);
  if (auto before = scraped_.extract(request.target_id)) {
    scraped_series_ -= before.mapped().size();
    reader.resume(std::move(before.mapped()));
  }
  auto report = reader.read({.at = request.scraped_at,
                             .answered = request.answered,
                             .content_type = request.content_type,
                             .body = buffers.body},
                            stream);
  const bool is_kept = !request.target_id.empty() && reader.series() > 0 &&
                       scraped_.size() < kScrapedTargetsMax &&
                       scraped_series_ + reader.series() <= kScrapedSeriesMax;
  if (is_kept) {
    scraped_series_ += reader.series();
    scraped_.emplace(request.target_id, reader.release());
  }
  return report;
}

Result<IngestResult> Engine::ingest(const IngestRequest& request, bool* refused) {
  if (refused != nullptr) *refused = true;
  BorrowedBuffers buffers(*this);
  if (auto read = buffers.read(request); !read) {
    if (!request.target_id.empty()) {  // as if it had not answered
      IngestRequest failed = request;
      failed.answered = false;
      failed.content_type = failed.content_encoding = failed.body = {};
      std::ignore = TRY(ingest(failed));
    }
    return std::unexpected(read.error());
  }
  if (refused != nullptr) *refused = false;
  const std::int64_t now_ms = unix_ms(clock_.now());
  const std::string record = journal_ ? save_request(request, now_ms) : std::string();
  journal::Position position;
  Result<IngestResult> result;
  {
    const std::lock_guard lock(mutex_);
    TRY(check_room());
    std::ignore = TRY(find_or_add_stream(request.stream));
    if (is_silence(request) && !scraped_.contains(request.target_id)) return IngestResult{};
    if (journal_) {
      const auto appended = TRY(journal_->append(kDeliveryRecord, record, request.body));
      position = appended;
    }
    const std::uint64_t refused_before = refused_samples();
    result = apply(*buffers, request, now_ms);
    if (result) result->refused = refused_samples() - refused_before;
  }
  if (!result) {
    if (refused != nullptr) *refused = true;
    return result;
  }
  if (journal_) {
    TRY(journal_->wait(position));
  }
  return result;
}

// Whether more may be taken. REQUIRES: the mutex.
Result<void> Engine::check_room() const {
  if (pending_bytes_ > options_.pending_bytes_max) {
    return fail(ErrorCode::kLimit, "the ledger accepts no rows, and too many are waiting");
  }
  if (pieces() > options_.pieces_max) {
    return fail(ErrorCode::kStore, "samples arrive faster than the ledger stores their rows");
  }
  if (live_stream_->waiting_samples() > options_.waiting_samples_max) {
    return fail(ErrorCode::kStore,
                fmt::format("{} samples of the last hour wait to be put in order; they become rows "
                            "once nothing old has come for {} s",
                            live_stream_->waiting_samples(), options_.stream.order_wait_ms / 1000));
  }
  return {};
}

// REQUIRES: the mutex.
std::uint64_t Engine::refused_samples() const {
  return counts_[static_cast<std::size_t>(StreamCounter::kOutOfOrder)];
}

void Engine::move_to_closed(const std::string& stream, std::int64_t until_ms) {
  const auto at = past_streams_.find(stream);
  if (at == past_streams_.end()) return;
  closed_streams_.emplace_back(std::move(at->second), until_ms);
  past_streams_.erase(at);
}

Result<void> Engine::close_stream(const std::string& stream, Instant until) {
  ByteWriter writer;
  writer.text(stream).signed_number(unix_ms(until));
  journal::Position position;
  {
    const std::lock_guard lock(mutex_);
    if (!past_streams_.contains(stream)) return {};
    if (journal_) {
      const auto appended = TRY(journal_->append(kCloseRecord, writer.bytes()));
      position = appended;
    }
    move_to_closed(stream, unix_ms(until));
  }
  return journal_ ? journal_->wait(position) : Result<void>{};
}

// REQUIRES: the mutex.
void Engine::keep_recent(std::int64_t now_ms, const std::string& recent) {
  if (!recent.empty()) {
    // Rows repeat the names of clusters, nodes, models and pods.
    std::string compressed;
    snappy::Compress(recent.data(), recent.size(), &compressed);
    compressed.shrink_to_fit();
    recent_bytes_ += compressed.size();
    recent_.push_back({now_ms, std::make_shared<const std::string>(std::move(compressed))});
  }
  while (!recent_.empty() && (recent_.front().made_ms < now_ms - kRecentMs ||
                              recent_bytes_ > options_.recent_bytes_max)) {
    recent_bytes_ -= recent_.front().usages->size();
    recent_.pop_front();
  }
}

// REQUIRES: the mutex.
void Engine::make_rows(std::int64_t now_ms, bool ends_order, FlushResult& flushed) {
  FlushRows rows;
  rows.flush = ++flush_;
  // A device may have two rows for one interval: its own and a workload's, or those of two streams.
  // Each gets a part number of its own, and those of a later flush are higher.
  std::unordered_map<Hash128, std::uint64_t, HashOfHash> given;
  const SampleStream::PartNumbering part = [&](const Hash128& key) {
    const std::uint64_t ordinal = given[key]++;
    return rows.flush * kLateParts + std::min(ordinal, kLateParts - 1);
  };
  live_stream_->note_time(now_ms, false);
  std::string recent;
  flushed.more |= !live_stream_->finish(now_ms, std::nullopt, part, rows, &recent, ends_order);
  live_stream_->forget(now_ms);
  keep_recent(now_ms, recent);
  for (auto& [name, stream] : past_streams_) {
    flushed.more |= !stream->finish(now_ms, std::nullopt, part, rows);
  }
  while (!closed_streams_.empty()) {
    auto& [stream, until_ms] = closed_streams_.back();
    if (!stream->finish(now_ms, until_ms, part, rows)) {
      flushed.more = true;
      break;
    }
    closed_streams_.pop_back();
  }
  if (rows.empty()) return;
  pending_bytes_ += rows.bytes();
  pending_.push_back(std::move(rows));
}

std::string Engine::snapshot(std::uint64_t segment) const {
  ByteWriter writer;
  // A string that grows is in memory twice.
  writer.reserve(snapshot_bytes_ + snapshot_bytes_ / 8 + pending_bytes_ + (1u << 20));
  writer.raw(std::string(kSnapshotHead, '\0'));
  writer.number(segment).number(flush_).number(pending_.size());
  for (const FlushRows& rows : pending_) rows.save(writer);
  writer.text(options_.state != nullptr ? options_.state->save() : std::string());
  live_stream_->save(writer);
  writer.number(past_streams_.size());
  for (const auto& [name, stream] : past_streams_) {
    writer.text(name);
    stream->save(writer);
  }
  writer.number(closed_streams_.size());
  for (const auto& [stream, until_ms] : closed_streams_) {
    writer.signed_number(until_ms);
    stream->save(writer);
  }
  writer.number(scraped_.size());
  for (const auto& [target, keys] : scraped_) {
    writer.text(target).number(keys.size());
    for (const Hash128& key : keys) writer.number(key.high).number(key.low);
  }
  std::string file = writer.take();
  const Hash128 hash = hash_of(std::string_view(file).substr(kSnapshotHead));
  file.replace(0, kSnapshotHead, std::string(kSnapshotMagic) + to_text(hash));
  return file;
}

Result<void> Engine::load_snapshot(std::string_view bytes, bool has_unordered) {
  ByteReader reader(bytes);
  reader.number();  // the segment
  flush_ = reader.number();
  const std::uint64_t pending = reader.count();
  for (std::uint64_t i = 0; i < pending && reader.ok(); ++i) {
    FlushRows rows;
    if (!rows.load(reader)) return damaged("its rows");
    pending_bytes_ += rows.bytes();
    pending_.push_back(std::move(rows));
  }
  const std::string_view state = reader.text();
  if (!live_stream_->load(reader, has_unordered)) return damaged("its series");
  const std::uint64_t past = reader.count();
  for (std::uint64_t i = 0; i < past && reader.ok(); ++i) {
    const std::string name(reader.text());
    auto& stream = past_streams_[name];
    stream =
        std::make_unique<SampleStream>(options_.stream, true, counts_, unusable_, options_.state);
    if (!stream->load(reader, has_unordered)) return damaged("its backfills");
  }
  const std::uint64_t closed = reader.count();
  for (std::uint64_t i = 0; i < closed && reader.ok(); ++i) {
    const std::int64_t until_ms = reader.signed_number();
    auto stream =
        std::make_unique<SampleStream>(options_.stream, true, counts_, unusable_, options_.state);
    if (!stream->load(reader, has_unordered)) return damaged("its backfills");
    closed_streams_.emplace_back(std::move(stream), until_ms);
  }
  const std::uint64_t targets = reader.count();
  for (std::uint64_t i = 0; i < targets && reader.ok(); ++i) {
    auto& keys = scraped_[std::string(reader.text())];
    keys.resize(reader.count());
    for (Hash128& key : keys) {
      key.high = reader.number();
      key.low = reader.number();
    }
    scraped_series_ += keys.size();
  }
  if (!reader.ok() || !reader.at_end()) return damaged("its end");
  if (options_.state != nullptr && !state.empty()) return options_.state->load(state);
  return {};
}

// REQUIRES: the mutex.
std::size_t Engine::pieces() const {
  std::size_t pieces = live_stream_->pieces();
  for (const auto& [name, stream] : past_streams_) pieces += stream->pieces();
  for (const auto& [stream, until_ms] : closed_streams_) pieces += stream->pieces();
  return pieces;
}

bool Engine::wants_flush() const {
  const std::lock_guard lock(mutex_);
  return pieces() > std::min(kPiecesWanted, options_.pieces_max);
}

Result<FlushResult> Engine::flush(const RowImporter& import, bool ends_order) {
  const std::lock_guard one_at_a_time(flushing_);
  FlushResult flushed;
  for (int round = 0; round == 0 || (flushed.more && round < kRoundsOfFlush); ++round) {
    TRY(flush_once(import, ends_order, flushed));
  }
  return flushed;
}

// Rows are imported only once a snapshot has them. Without rows it would only replace the journal,
// and while senders drain their queues it would contain every sample that waits to be put in order:
// then a journal that is short stays. REQUIRES: the mutex.
bool Engine::is_snapshot_due(bool is_last) const {
  if (!journal_) return false;
  const std::uint64_t kept = std::min(kJournalKept, options_.journal_bytes_max / 4);
  return is_last || !pending_.empty() || live_stream_->waiting_samples() == 0 ||
         journal_->refuses() || journal_->counts().bytes > kept;
}

// REQUIRES: that nobody else flushes.
Result<void> Engine::flush_once(const RowImporter& import, bool ends_order, FlushResult& flushed) {
  const std::int64_t now_ms = unix_ms(clock_.now());
  std::string file;
  std::uint64_t segment = 0;
  {
    const std::lock_guard lock(mutex_);
    flushed.more = true;
    for (int i = 0; i < kRoundsOfFlush && flushed.more; ++i) {
      flushed.more = false;
      make_rows(now_ms, ends_order, flushed);
      if (pending_bytes_ >= options_.bytes_of_a_snapshot) break;
    }
    flushed.number = flush_;
    if (is_snapshot_due(ends_order)) {
      // What the journal can no longer keep durable, the snapshot will.
      const auto ready = journal_->refuses() ? journal_->restart() : Result<void>{};
      const auto rotated =
          ready ? journal_->rotate() : Result<std::uint64_t>(std::unexpected(ready.error()));
      if (!rotated) {
        ++failed_flushes_;
        return std::unexpected(rotated.error());
      }
      segment = *rotated;
      file = snapshot(segment);
    }
  }
  if (!file.empty()) {
    auto& disk = options_.disk != nullptr ? *options_.disk : real_disk();
    auto written = replace_file(fmt::format("{}/{}", options_.folder, kSnapshotName), file, disk);
    if (written) written = journal_->drop_before(segment);
    const std::lock_guard lock(mutex_);
    snapshot_bytes_ = file.size();
    if (!written) {
      ++failed_flushes_;
      return std::unexpected(written.error());
    }
  }
  // Only flush() removes from pending_, so its front stays valid while others append.
  for (;;) {
    const FlushRows* rows = nullptr;
    {
      const std::lock_guard lock(mutex_);
      if (pending_.empty()) break;
      rows = &pending_.front();
    }
    if (auto imported = import(*rows); !imported) {
      const std::lock_guard lock(mutex_);
      ++failed_flushes_;
      return std::unexpected(imported.error());
    }
    flushed.usages += rows->usages;
    flushed.gpus += rows->gpus;
    flushed.outcomes += rows->outcomes;
    const std::lock_guard lock(mutex_);
    imported_rows_ += rows->usages + rows->gpus + rows->outcomes;
    pending_bytes_ -= rows->bytes();
    pending_.pop_front();
  }
  return {};
}

std::vector<Usage> Engine::recent(const ClusterId& cluster, Instant since) const {
  std::vector<std::shared_ptr<const std::string>> recent_batches;
  std::vector<Usage> usages;
  const std::int64_t now_ms = unix_ms(clock_.now());
  const std::int64_t since_ms = std::max(now_ms - kRecentMs, unix_ms(since));
  {
    const std::lock_guard lock(mutex_);
    for (const Recent& recent : recent_) {
      // Its rows may be ahead of the clock by what samples may.
      if (recent.made_ms >= since_ms - kFutureMsMax) recent_batches.push_back(recent.usages);
    }
    live_stream_->provisional(cluster, since_ms, now_ms, usages);
  }
  std::string bytes;
  for (const auto& compressed : recent_batches) {
    CHECK(snappy::Uncompress(compressed->data(), compressed->size(), &bytes),
          "it was compressed here");
    ByteReader reader(bytes);
    while (!reader.at_end()) {
      auto usage = load_usage(reader);
      if (!usage) break;
      if (usage->cluster == cluster && unix_ms(usage->at) >= since_ms) {
        usages.push_back(std::move(*usage));
      }
    }
  }
  return usages;
}

std::vector<Usage> Engine::readings() const {
  std::vector<Usage> readings;
  const std::int64_t now_ms = unix_ms(clock_.now());
  const std::lock_guard lock(mutex_);
  live_stream_->readings(now_ms, readings);
  return readings;
}

std::map<std::string, std::uint64_t> Engine::counters() const {
  std::map<std::string, std::uint64_t> counters;
  if (journal_) {
    const journal::Counts counts = journal_->counts();
    counters["journal_records"] = counts.records;
    counters["journal_syncs"] = counts.syncs;
    counters["journal_bytes"] = counts.bytes;
    counters["journal_segments"] = counts.segments;
    counters["journal_torn_tails"] = counts.torn_tails;
    counters["journal_torn_bytes"] = counts.torn_bytes;
    counters["journal_refuses"] = journal_->refuses() ? 1 : 0;
  }
  const std::lock_guard lock(mutex_);
  for (std::size_t i = 0; i < kStreamCounters; ++i) {
    counters[std::string(to_text(static_cast<StreamCounter>(i)))] = counts_[i];
  }
  for (const auto& [why, samples] : unusable_) counters["unusable: " + why] = samples;
  counters["series"] = live_stream_->keys();
  counters["accumulators"] = live_stream_->accumulators();
  counters["devices"] = live_stream_->groups();
  counters["lanes_of_the_past"] = past_streams_.size() + closed_streams_.size();
  std::uint64_t rows = 0;
  for (const FlushRows& waiting : pending_)
    rows += waiting.usages + waiting.gpus + waiting.outcomes;
  counters["pending_rows"] = rows;
  counters["pending_bytes"] = pending_bytes_;
  counters["scraped_targets"] = scraped_.size();
  counters["scraped_series"] = scraped_series_;
  counters["pieces"] = pieces();
  counters["waiting_samples"] = live_stream_->waiting_samples();
  counters["recent_bytes"] = recent_bytes_;
  counters["imported_rows"] = imported_rows_;
  counters["failed_flushes"] = failed_flushes_;
  counters["replay_refused"] = replay_refused_;
  counters["snapshot_bytes"] = snapshot_bytes_;
  counters["flushes"] = flush_;
  return counters;
}

}  // namespace pennyweight::live
