#include "live/engine.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>

#include "ingest/prometheus/encoding.h"

namespace pennyweight::live {
namespace {

constexpr std::string_view kSnapshotName = "live.snapshot";
constexpr std::string_view kSnapshotMagic = "pwlive01";
constexpr std::size_t kSnapshotHead = 8 + 32;  // magic, checksum of the rest
constexpr std::uint64_t kSnapshotBytesMax = 16ull << 30;
constexpr std::uint32_t kDeliveryRecord = 1;
constexpr std::uint32_t kCloseRecord = 2;
constexpr std::uint64_t kLateParts = 1024;  // of one flush and one stretch of a device
constexpr std::size_t kDesksKept = 16;

// What goes before the body.
std::string record_of(const Delivery& delivery, std::int64_t now_ms) {
  Writer writer;
  writer.signed_number(now_ms).text(delivery.lane).text(delivery.cluster.text());
  writer.number(static_cast<std::uint64_t>(delivery.kind));
  writer.text(delivery.content_type).text(delivery.content_encoding);
  writer.signed_number(unix_ms(delivery.scraped_at)).number(delivery.honor_timestamps ? 1 : 0);
  writer.number(delivery.target.honor_labels ? 1 : 0).number(delivery.target.labels.size());
  for (const auto& [name, value] : delivery.target.labels) writer.text(name).text(value);
  writer.text(delivery.target_id).number(delivery.answered ? 1 : 0);
  writer.number(delivery.body.size());
  return writer.take();
}

std::optional<std::pair<Delivery, std::int64_t>> delivery_of(std::string_view record) {
  Reader reader(record);
  Delivery delivery;
  const std::int64_t now_ms = reader.signed_number();
  delivery.lane = reader.text();
  delivery.cluster = ClusterId(std::string(reader.text()));
  delivery.kind = reader.number() == 0 ? Delivery::Kind::kRemoteWrite : Delivery::Kind::kExposition;
  delivery.content_type = reader.text();
  delivery.content_encoding = reader.text();
  delivery.scraped_at = from_unix_ms(reader.signed_number());
  delivery.honor_timestamps = reader.number() != 0;
  delivery.target.honor_labels = reader.number() != 0;
  const std::uint64_t labels = reader.count();
  for (std::uint64_t i = 0; i < labels && reader.ok(); ++i) {
    std::string name(reader.text());
    delivery.target.labels.push_back({std::move(name), std::string(reader.text())});
  }
  delivery.target_id = reader.text();
  delivery.answered = reader.number() != 0;
  delivery.body = reader.text();
  if (!reader.ok() || !reader.at_end()) return std::nullopt;
  return std::pair(std::move(delivery), now_ms);
}

// A scrape without an answer: nothing to read.
bool is_silence(const Delivery& delivery) {
  return delivery.kind == Delivery::Kind::kExposition && !delivery.answered;
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

struct Engine::Desk {
  prometheus::BodyDecoder decoder;
  prometheus::WriteRequestReader reader;
  // Of the body that lies on it.
  std::string_view body;
  prometheus::WriteCounts counts;
};

// A desk for one call.
class Engine::Borrowed {
 public:
  explicit Borrowed(Engine& engine) : engine_(engine) {
    const std::lock_guard lock(engine_.desks_mutex_);
    if (!engine_.desks_.empty()) {
      desk_ = std::move(engine_.desks_.back());
      engine_.desks_.pop_back();
    }
    if (!desk_) desk_ = std::make_unique<Desk>();
  }
  ~Borrowed() {
    const std::lock_guard lock(engine_.desks_mutex_);
    if (engine_.desks_.size() < kDesksKept) engine_.desks_.push_back(std::move(desk_));
  }
  Borrowed(const Borrowed&) = delete;
  Borrowed& operator=(const Borrowed&) = delete;
  Desk& operator*() { return *desk_; }

  // Decodes, and reads what can be read before it is journaled.
  Result<void> read(const Delivery& delivery) {
    desk_->body = {};
    if (is_silence(delivery)) return {};
    auto body = desk_->decoder.decode(delivery.content_encoding, delivery.body,
                                      engine_.options_.body_bytes_max);
    if (!body) return std::unexpected(body.error());
    desk_->body = *body;
    if (delivery.kind == Delivery::Kind::kExposition) {
      const auto format = prometheus::exposition_format_of(delivery.content_type);
      return format ? Result<void>{} : std::unexpected(format.error());
    }
    const auto protocol = prometheus::write_protocol_of(delivery.content_type);
    if (!protocol) return std::unexpected(protocol.error());
    auto counts = desk_->reader.read(*protocol, desk_->body);
    if (!counts) return std::unexpected(counts.error());
    desk_->counts = *counts;
    return {};
  }

 private:
  Engine& engine_;
  std::unique_ptr<Desk> desk_;
};

Engine::Engine(Key, EngineOptions options, Clock& clock)
    : options_(std::move(options)), clock_(clock) {
  live_ = std::make_unique<Lane>(options_.lane, false, counts_, unusable_, options_.state);
}

Engine::~Engine() = default;

Result<std::unique_ptr<Engine>> Engine::open(EngineOptions options, Clock& clock) {
  const std::int64_t resolution = options.lane.timing.resolution_ms;
  if (resolution < 1000 || kFineGapMs % resolution != 0) {
    return fail(ErrorCode::kConfig,
                "the resolution of live data must divide an hour, and be a "
                "second at least; write 1m");
  }
  const std::int64_t interval = options.lane.timing.interval_ms;
  if (interval < kIntervalMsMin || interval > kIntervalMsMax) {
    return fail(ErrorCode::kConfig, "the interval of scrapes must be from 1 s to 5 min");
  }
  if (options.lane.grace_ms < 0 || options.lane.grace_ms > kGraceMsMax) {
    return fail(ErrorCode::kConfig, "the grace for late samples must be from 0 s to 1 h");
  }
  auto engine = std::make_unique<Engine>(Key{}, std::move(options), clock);
  if (auto recovered = engine->recover(); !recovered) return std::unexpected(recovered.error());
  return engine;
}

Result<void> Engine::recover() {
  if (options_.folder.empty()) return {};
  // The journal first: its lock says that the folder is ours.
  auto journal = journal::Journal::open({.folder = options_.folder,
                                         .journal_bytes_max = options_.journal_bytes_max,
                                         .disk = options_.disk});
  if (!journal) return std::unexpected(journal.error());
  journal_ = std::move(*journal);
  std::uint64_t from = 0;
  const std::string path = options_.folder + "/" + std::string(kSnapshotName);
  if (auto bytes = journal::read_file(path, kSnapshotBytesMax)) {
    if (bytes->size() < kSnapshotHead || !bytes->starts_with(kSnapshotMagic))
      return damaged("its head");
    const std::string_view payload = std::string_view(*bytes).substr(kSnapshotHead);
    if (to_text(hash_of(payload)) != bytes->substr(kSnapshotMagic.size(), 32)) {
      return damaged("its checksum");
    }
    snapshot_bytes_ = bytes->size();
    Reader reader(payload);
    from = reader.number();
    if (auto loaded = load_snapshot(payload); !loaded) return loaded;
  } else if (bytes.error().code != ErrorCode::kNotFound) {
    return std::unexpected(bytes.error());
  }
  const auto replayed =
      journal_->replay(from, [&](const journal::Record& record) { return replay(record); });
  if (!replayed) return replayed;
  // A crash may have come between the snapshot and this.
  if (auto dropped = journal_->drop_before(from); !dropped) return dropped;
  const std::int64_t now_ms = unix_ms(clock_.now());
  live_->restarted(now_ms);
  return {};
}

Result<void> Engine::replay(const journal::Record& record) {
  if (record.kind == kCloseRecord) {
    Reader reader(record.bytes);
    const std::string lane(reader.text());
    const std::int64_t until_ms = reader.signed_number();
    if (!reader.ok()) return fail(ErrorCode::kBadFile, "a record of the journal can't be read");
    close_now(lane, until_ms);
    return {};
  }
  if (record.kind != kDeliveryRecord) {
    return fail(ErrorCode::kBadFile, "the journal was written by a later version of pennyweight");
  }
  auto delivery = delivery_of(record.bytes);
  if (!delivery) return fail(ErrorCode::kBadFile, "a record of the journal can't be read");
  Borrowed desk(*this);
  // It was read before it was journaled; limits may be others now.
  if (!desk.read(delivery->first) || !apply(*desk, delivery->first, delivery->second)) {
    ++replay_refused_;
  }
  return {};
}

Result<Lane*> Engine::lane_of(const std::string& name) {
  if (name.empty()) return live_.get();
  if (const auto at = past_.find(name); at != past_.end()) return at->second.get();
  if (past_.size() >= kLanesMax) {
    return fail(ErrorCode::kLimit, "more than " + std::to_string(kLanesMax) +
                                       " backfills at once; wait until one has ended");
  }
  auto lane = std::make_unique<Lane>(options_.lane, true, counts_, unusable_, options_.state);
  return past_.emplace(name, std::move(lane)).first->second.get();
}

// REQUIRES: the mutex, or that nobody else is there yet.
Result<Taken> Engine::apply(Desk& desk, const Delivery& delivery, std::int64_t now_ms) {
  const auto lane = lane_of(delivery.lane);
  if (!lane) return std::unexpected(lane.error());
  live_->notice(now_ms, true);
  (*lane)->receive(now_ms, delivery.cluster);
  Taken taken;
  if (delivery.kind == Delivery::Kind::kRemoteWrite) {
    desk.reader.hand_on(**lane);
    taken.series = desk.counts.series;
    taken.samples = desk.counts.samples;
    taken.exemplars = desk.counts.exemplars;
    taken.histograms = desk.counts.histograms;
    taken.metadata = desk.counts.metadata;
    taken.bad = desk.counts.samples_out_of_range;
    return taken;
  }
  auto report = scrape(desk, delivery, **lane);
  if (!report) return std::unexpected(report.error());
  auto& exposition = report->exposition;
  taken.ended = report->ended;
  taken.samples = exposition.samples;
  taken.exemplars = exposition.exemplars;
  taken.histograms = exposition.histograms;
  taken.bad = exposition.bad + exposition.samples_out_of_range;
  taken.first_bad = std::move(exposition.first_bad);
  return taken;
}

// REQUIRES: as apply().
Result<prometheus::ScrapeReport> Engine::scrape(Desk& desk, const Delivery& delivery, Lane& lane) {
  // Made anew each time: what is configured of a target may have changed since it was kept.
  prometheus::ScrapeReader reader(delivery.target, delivery.honor_timestamps);
  if (auto before = scraped_.extract(delivery.target_id)) {
    scraped_series_ -= before.mapped().size();
    reader.resume(std::move(before.mapped()));
  }
  auto report = reader.read({.at = delivery.scraped_at,
                             .answered = delivery.answered,
                             .content_type = delivery.content_type,
                             .body = desk.body},
                            lane);
  const bool is_kept = !delivery.target_id.empty() && reader.series() > 0 &&
                       scraped_.size() < kScrapedTargetsMax &&
                       scraped_series_ + reader.series() <= kScrapedSeriesMax;
  if (is_kept) {
    scraped_series_ += reader.series();
    scraped_.emplace(delivery.target_id, reader.release());
  }
  return report;
}

Result<Taken> Engine::take(const Delivery& delivery, bool* refused) {
  if (refused != nullptr) *refused = true;
  Borrowed desk(*this);
  if (auto read = desk.read(delivery); !read) {
    if (!delivery.target_id.empty()) {  // as if it had not answered
      Delivery failed = delivery;
      failed.answered = false;
      failed.content_type = failed.content_encoding = failed.body = {};
      if (auto ended = take(failed); !ended) return ended;
    }
    return std::unexpected(read.error());
  }
  if (refused != nullptr) *refused = false;
  const std::int64_t now_ms = unix_ms(clock_.now());
  const std::string record = journal_ ? record_of(delivery, now_ms) : std::string();
  journal::Place place;
  Result<Taken> taken;
  {
    const std::lock_guard lock(mutex_);
    if (pending_bytes_ > options_.pending_bytes_max) {
      return fail(ErrorCode::kLimit, "the ledger does not take rows, and too many wait for it");
    }
    if (pieces() > options_.pieces_max) {
      return fail(ErrorCode::kStore, "samples come faster than the ledger takes their rows");
    }
    if (auto lane = lane_of(delivery.lane); !lane) return std::unexpected(lane.error());
    if (is_silence(delivery) && !scraped_.contains(delivery.target_id)) return Taken{};
    if (journal_) {
      const auto appended = journal_->append(kDeliveryRecord, record, delivery.body);
      if (!appended) return std::unexpected(appended.error());
      place = *appended;
    }
    taken = apply(*desk, delivery, now_ms);
  }
  if (!taken) {
    if (refused != nullptr) *refused = true;
    return taken;
  }
  if (journal_) {
    if (auto durable = journal_->wait(place); !durable) return std::unexpected(durable.error());
  }
  return taken;
}

void Engine::close_now(const std::string& lane, std::int64_t until_ms) {
  const auto at = past_.find(lane);
  if (at == past_.end()) return;
  closed_.emplace_back(std::move(at->second), until_ms);
  past_.erase(at);
}

Result<void> Engine::close_lane(const std::string& lane, Instant until) {
  Writer writer;
  writer.text(lane).signed_number(unix_ms(until));
  journal::Place place;
  {
    const std::lock_guard lock(mutex_);
    if (!past_.contains(lane)) return {};
    if (journal_) {
      const auto appended = journal_->append(kCloseRecord, writer.bytes());
      if (!appended) return std::unexpected(appended.error());
      place = *appended;
    }
    close_now(lane, unix_ms(until));
  }
  return journal_ ? journal_->wait(place) : Result<void>{};
}

// REQUIRES: the mutex.
void Engine::remember(std::int64_t now_ms, std::string recent) {
  if (!recent.empty()) {
    recent.shrink_to_fit();
    recent_bytes_ += recent.size();
    recent_.push_back({now_ms, std::make_shared<const std::string>(std::move(recent))});
  }
  while (!recent_.empty() && (recent_.front().made_ms < now_ms - kRecentMs ||
                              recent_bytes_ > options_.recent_bytes_max)) {
    recent_bytes_ -= recent_.front().usages->size();
    recent_.pop_front();
  }
}

// REQUIRES: the mutex.
void Engine::make_rows(std::int64_t now_ms, Flushed& flushed) {
  Rows rows;
  rows.flush = ++flush_;
  // A device may have two rows of one stretch: its own and a workload's, or those of two lanes.
  // Each has a part of its own, and a later flush's parts are higher.
  std::unordered_map<Hash128, std::uint64_t, HashOfHash> given;
  const Lane::PartOf part = [&](const Hash128& key) {
    const std::uint64_t ordinal = given[key]++;
    return rows.flush * kLateParts + std::min(ordinal, kLateParts - 1);
  };
  live_->notice(now_ms, false);
  std::string recent;
  flushed.more |= !live_->finish(now_ms, std::nullopt, part, rows, &recent);
  live_->forget(now_ms);
  remember(now_ms, std::move(recent));
  for (auto& [name, lane] : past_) {
    flushed.more |= !lane->finish(now_ms, std::nullopt, part, rows);
  }
  while (!closed_.empty()) {
    auto& [lane, until_ms] = closed_.back();
    if (!lane->finish(now_ms, until_ms, part, rows)) {
      flushed.more = true;
      break;
    }
    closed_.pop_back();
  }
  if (rows.empty()) return;
  pending_bytes_ += rows.bytes();
  pending_.push_back(std::move(rows));
}

std::string Engine::snapshot(std::uint64_t segment) const {
  Writer writer;
  // A large string that grows is there twice.
  writer.reserve(snapshot_bytes_ + snapshot_bytes_ / 8 + pending_bytes_ + (1u << 20));
  writer.raw(std::string(kSnapshotHead, '\0'));
  writer.number(segment).number(flush_).number(pending_.size());
  for (const Rows& rows : pending_) rows.save(writer);
  writer.text(options_.state != nullptr ? options_.state->save() : std::string());
  live_->save(writer);
  writer.number(past_.size());
  for (const auto& [name, lane] : past_) {
    writer.text(name);
    lane->save(writer);
  }
  writer.number(closed_.size());
  for (const auto& [lane, until_ms] : closed_) {
    writer.signed_number(until_ms);
    lane->save(writer);
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

Result<void> Engine::load_snapshot(std::string_view bytes) {
  Reader reader(bytes);
  reader.number();  // the segment
  flush_ = reader.number();
  const std::uint64_t pending = reader.count();
  for (std::uint64_t i = 0; i < pending && reader.ok(); ++i) {
    Rows rows;
    if (!rows.load(reader)) return damaged("its rows");
    pending_bytes_ += rows.bytes();
    pending_.push_back(std::move(rows));
  }
  const std::string_view state = reader.text();
  if (!live_->load(reader)) return damaged("its series");
  const std::uint64_t past = reader.count();
  for (std::uint64_t i = 0; i < past && reader.ok(); ++i) {
    const std::string name(reader.text());
    auto& lane = past_[name];
    lane = std::make_unique<Lane>(options_.lane, true, counts_, unusable_, options_.state);
    if (!lane->load(reader)) return damaged("its backfills");
  }
  const std::uint64_t closed = reader.count();
  for (std::uint64_t i = 0; i < closed && reader.ok(); ++i) {
    const std::int64_t until_ms = reader.signed_number();
    auto lane = std::make_unique<Lane>(options_.lane, true, counts_, unusable_, options_.state);
    if (!lane->load(reader)) return damaged("its backfills");
    closed_.emplace_back(std::move(lane), until_ms);
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
  std::size_t pieces = live_->pieces();
  for (const auto& [name, lane] : past_) pieces += lane->pieces();
  for (const auto& [lane, until_ms] : closed_) pieces += lane->pieces();
  return pieces;
}

bool Engine::wants_flush() const {
  const std::lock_guard lock(mutex_);
  return pieces() > std::min(kPiecesWanted, options_.pieces_max);
}

Result<Flushed> Engine::flush(const Importer& import) {
  const std::lock_guard one_at_a_time(flushing_);
  Flushed flushed;
  for (int round = 0; round == 0 || (flushed.more && round < kRoundsOfFlush); ++round) {
    if (auto done = flush_once(import, flushed); !done) return std::unexpected(done.error());
  }
  return flushed;
}

// REQUIRES: that nobody else flushes.
Result<void> Engine::flush_once(const Importer& import, Flushed& flushed) {
  const std::int64_t now_ms = unix_ms(clock_.now());
  flushed.more = false;
  std::string file;
  std::uint64_t segment = 0;
  {
    const std::lock_guard lock(mutex_);
    if (journal_) {
      // What the journal can't promise any more the snapshot will.
      const auto ready = journal_->refuses() ? journal_->start_afresh() : Result<void>{};
      const auto rotated =
          ready ? journal_->rotate() : Result<std::uint64_t>(std::unexpected(ready.error()));
      if (!rotated) {
        ++failed_flushes_;
        return std::unexpected(rotated.error());
      }
      segment = *rotated;
    }
    make_rows(now_ms, flushed);
    flushed.number = flush_;
    if (journal_) file = snapshot(segment);
  }
  if (journal_) {
    auto& disk = options_.disk != nullptr ? *options_.disk : journal::real_disk();
    auto written =
        journal::write_file_durably(disk, options_.folder, std::string(kSnapshotName), file);
    if (written) written = journal_->drop_before(segment);
    const std::lock_guard lock(mutex_);
    snapshot_bytes_ = file.size();
    if (!written) {
      ++failed_flushes_;
      return std::unexpected(written.error());
    }
  }
  // Only flush() takes from pending_, so its front stays where it is while others push nothing.
  for (;;) {
    const Rows* rows = nullptr;
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

std::vector<Usage> Engine::recent(const ClusterId& cluster) const {
  std::vector<std::shared_ptr<const std::string>> told;
  std::vector<Usage> usages;
  const std::int64_t now_ms = unix_ms(clock_.now());
  const std::int64_t since_ms = now_ms - kRecentMs;
  {
    const std::lock_guard lock(mutex_);
    for (const Recent& recent : recent_) told.push_back(recent.usages);
    live_->provisional(cluster, since_ms, now_ms, usages);
  }
  for (const auto& bytes : told) {
    Reader reader(*bytes);
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
  for (std::size_t i = 0; i < kCounts; ++i) {
    counters[std::string(to_text(static_cast<Count>(i)))] = counts_[i];
  }
  for (const auto& [why, samples] : unusable_) counters["unusable: " + why] = samples;
  counters["series"] = live_->keys();
  counters["accumulators"] = live_->accumulators();
  counters["devices"] = live_->groups();
  counters["lanes_of_the_past"] = past_.size() + closed_.size();
  std::uint64_t rows = 0;
  for (const Rows& waiting : pending_) rows += waiting.usages + waiting.gpus + waiting.outcomes;
  counters["pending_rows"] = rows;
  counters["pending_bytes"] = pending_bytes_;
  counters["scraped_targets"] = scraped_.size();
  counters["scraped_series"] = scraped_series_;
  counters["pieces"] = pieces();
  counters["recent_bytes"] = recent_bytes_;
  counters["imported_rows"] = imported_rows_;
  counters["failed_flushes"] = failed_flushes_;
  counters["replay_refused"] = replay_refused_;
  counters["snapshot_bytes"] = snapshot_bytes_;
  counters["flushes"] = flush_;
  return counters;
}

}  // namespace pennyweight::live
