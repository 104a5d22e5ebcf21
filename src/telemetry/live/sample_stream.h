// SampleStream: the samples of live data, or of one backfill, on their way to rows of usage and
// outcomes.
//
// A series is resolved from its labels the first time, and known by its key afterwards. Each
// measurement has one accumulator, whatever source reports it. The pieces of a device's
// measurements become rows here.
//
// Samples may come in any order. Those since the last flush are kept as they came, and applied in
// the order of their times. While a device sends what is old (a sender that was cut off drains its
// queue, in several connections), nothing of its last hour becomes rows, until it has sent nothing
// old for `order_wait_ms`. So within an hour (kOrderWindowMs) order does not matter. A sample of a
// time that has become rows already is refused.
//
// Not thread-safe: the engine's lock orders the calls.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "core/hash.h"
#include "telemetry/classification.h"
#include "telemetry/live/accumulator.h"
#include "telemetry/live/discovered_gpu.h"
#include "telemetry/live/flush_rows.h"
#include "telemetry/live/key_table.h"
#include "telemetry/live/state_sink.h"
#include "telemetry/live/stream_counters.h"
#include "telemetry/live/usage_rows.h"
#include "telemetry/prometheus/series.h"

namespace pennyweight::live {

struct StreamLimits {
  std::size_t keys = 4'000'000;  // series known at once; further ones are dropped and counted
  std::size_t ignored_keys = 1'000'000;  // of these, series that are not needed
  // Each is allocated by itself whenever somebody looks. Series of further ones are unusable: more
  // likely a label that differs from pod to pod is taken for the cluster's name.
  std::size_t clusters = 1'000;
  // Ended series that are remembered, so that late copies don't count.
  std::size_t forgotten = 2'000'000;
  std::int64_t unseen_ms = 2 * 3'600'000ll;  // then a series is forgotten
  // Older samples are dropped and counted; backfill them.
  std::int64_t late_ms_max = 7 * 86'400'000ll;
  // The rest waits for the next flush. Each writes a snapshot of everything, so few large ones cost
  // less than many small ones; a row takes about 200 bytes until it is imported.
  std::size_t rows_per_flush = 125'000;
};

struct StreamOptions {
  telemetry::ClassificationOptions classification;
  Timing timing;
  // A device is silent when it sends nothing for this long after its values have ceased to hold. A
  // series that is this far behind the others of its device is not waited for.
  std::int64_t grace_ms = 120'000;
  // How long a device must have sent nothing old, before its last hour becomes rows.
  std::int64_t order_wait_ms = 0;
  StreamLimits limits;
};

// While a device sends what is old, samples of so long a time may come in any order.
inline constexpr std::int64_t kOrderWindowMs = 60 * 60'000ll;
// A sample that lags the clock by more is old.
inline constexpr std::int64_t kOldSampleMs = 60'000;
// For so long after a sample it is known that it was taken, so that it is a duplicate when it comes
// again, and not refused.
inline constexpr std::int64_t kResentMs = 5 * 60'000ll;
// Samples of one series that wait to be put in order; beyond, the older half is taken as it is.
inline constexpr std::size_t kUnorderedMax = 8'192;

// A sample further ahead of the clock is not clock skew but nonsense, and would end its series.
inline constexpr std::int64_t kFutureMsMax = 10 * 60'000ll;
// The time that Engine::recent() covers.
inline constexpr std::int64_t kRecentMs = 10 * 60'000ll;

// Unix time in whole seconds, as series and members keep it.
inline std::uint32_t to_seconds(std::int64_t ms) { return static_cast<std::uint32_t>(ms / 1000); }

class SampleStream : public prometheus::SeriesSink {
 public:
  // `options`, `counts` and `state` outlive the stream. `state` may be null: then such series are
  // ignored.
  SampleStream(const StreamOptions& options, bool is_past, StreamCounts& counts,
               std::map<std::string, std::uint64_t>& unusable, StateSink* state)
      : options_(options), is_past_(is_past), counts_(counts), unusable_(unusable), state_(state) {}

  // The samples that follow were received at `now_ms` (Unix ms, as journaled when it is replayed),
  // and belong to `cluster` where their labels name none; an empty one is that of the options.
  void begin_body(std::int64_t now_ms, const ClusterId& cluster);
  void series(const Hash128& key, const prometheus::EncodedLabels& labels,
              std::span<const prometheus::Sample> samples) override;

  // Moves the rows of what is finished at `now_ms` out of the stream; with `all_until` all rows,
  // and the last values hold until then. `part` gives a number to the row with a key, higher each
  // time for the same key. False: the limit of a flush was reached and more is left. `recent`, if
  // given, gets a copy of the usages of the last kRecentMs.
  using PartNumbering = std::function<std::uint64_t(const Hash128&)>;
  // `ends_order`: samples that are older than those that came are not waited for.
  bool finish(std::int64_t now_ms, std::optional<std::int64_t> all_until, const PartNumbering& part,
              FlushRows& rows, std::string* recent = nullptr, bool ends_order = false);
  // Adds the usages of one cluster from `since_ms` on, including open buckets, and leaves them
  // here. The last values hold up to `now_ms` at most, so that a single sample is visible.
  void provisional(const ClusterId& cluster, std::int64_t since_ms, std::int64_t now_ms,
                   std::vector<Usage>& usages) const;
  // Adds what each device of every cluster reports at `now_ms`, as one reading (span_ms 0) at the
  // time of its newest sample: the last values that still hold, of temperature, activity, memory
  // and power. Where several series add up to a value, the reading lacks it.
  void readings(std::int64_t now_ms, std::vector<Usage>& readings) const;

  // After a restart: a device that could not be heard meanwhile was not silent, and is not
  // forgotten.
  void mark_restarted(std::int64_t now_ms);
  // A body came, or a flush, at this time of our clock. Where it differs from the last such time by
  // more than `grace`, the clock was set or the machine slept: as after a restart. When it jumps
  // ahead a second time and no body came in between, senders are silent.
  void note_time(std::int64_t now_ms, bool is_body);
  // Forgets series without samples for long.
  void forget(std::int64_t now_ms);

  std::size_t keys() const { return keys_.size(); }
  std::size_t accumulators() const { return members_.size() - free_.size(); }
  std::size_t groups() const { return groups_.size(); }
  // How many pieces wait for a flush, approximately.
  std::size_t pieces() const { return pieces_; }
  // How many samples wait for older ones, approximately: they become pieces once their device has
  // sent nothing old for long enough.
  std::size_t waiting_samples() const { return waiting_; }

  void save(ByteWriter& writer) const;
  // `has_unordered`: the snapshot is of a program that keeps samples to put them in order.
  bool load(ByteReader& reader, bool has_unordered = true);

 private:
  enum class SeriesKind : std::uint8_t { kIgnored, kUnusable, kState, kMember };
  struct ResolvedSeries {
    std::uint32_t index = 0;  // of members_, state handles, or reasons
    std::uint32_t last_seen_s = 0;
    std::uint16_t source = 0;
    std::uint16_t scale = 0;
    SeriesKind kind = SeriesKind::kIgnored;
    bool is_remembered = true;  // else it is resolved each time
  };
  struct Scale {
    double scale = 1;
    double least = 0;
    double most = 0;
    bool is_share = false;
    telemetry::Quantity quantity = telemetry::Quantity::kGpuUtil;
    bool is_outcome = false;
    bool operator==(const Scale&) const = default;
  };
  static constexpr std::uint16_t kAnySource = UINT16_MAX;
  // What the samples of a measurement have come to. One source reports it; another takes over only
  // when that one falls silent.
  struct Progress {
    Accumulator accumulator;
    std::uint16_t source = 0;           // the source that counts; kAnySource: the next that comes
    std::uint16_t last_source = 0;      // of the last sample
    std::int64_t other_source_at = -1;  // last sample of another source, which was not taken
    std::uint64_t last_key = 0;         // lower half of the key of the last sample
  };
  // A sample, or the end of its series, since the last flush.
  struct Unordered {
    std::int64_t at_ms = 0;
    std::uint64_t value = 0;
    std::uint32_t origin = 0;  // of Member::origins
    bool is_end = false;
    bool is_counted = false;  // in `counts`
    bool was_applied = false;
  };
  struct Origin {
    std::uint64_t key = 0;
    std::uint16_t source = 0;
  };
  // One measurement of a group.
  struct Member : Progress {
    explicit Member(const Accumulator& empty) : Progress{.accumulator = empty}, committed(*this) {}
    Progress committed;  // as of the last flush; what came since is in `unordered`, by time
    std::vector<Unordered> unordered;
    std::vector<Origin> origins;
    std::vector<std::uint32_t> taken_ms;  // times within kResentMs, their lower 32 bits
    std::int64_t forgotten_until = -1;    // what came until then is not known any more
    bool is_behind = false;  // `unordered` is not applied: this is as of the last flush
    std::uint32_t group = 0;
    std::uint32_t received_s = 0;
    std::uint32_t previously_received_s = 0;
    telemetry::Quantity quantity = telemetry::Quantity::kGpuUtil;
    bool is_used = false;
    bool is_component = false;
    std::uint32_t code = 0;  // of a component that is a number: an XID
    Hash128 identity;
  };
  struct DeviceInfo {
    Usage usage;  // without values
    std::int32_t gpu_index = -1;
  };
  struct OutcomeInfo {
    ClusterId cluster;
    WorkloadId workload;
    std::string measure;
    Labels labels;
  };
  struct Group {
    std::variant<DeviceInfo, OutcomeInfo> info;
    Hash128 identity;
    std::vector<std::uint32_t> members;
    // Sums of components have left the stream up to then, by quantity.
    std::array<std::int64_t, telemetry::kQuantities> components_until = {};
    std::int64_t first_at = 0;         // of its samples, in whatever order they came
    std::int64_t changed_at = 0;       // when node, model or index last changed
    std::int64_t unordered_until = 0;  // by our clock: it sent what is old, or has just come
    bool is_used = false;
  };

  void end_unresolved_series(std::uint64_t key, std::span<const prometheus::Sample> samples);
  ResolvedSeries resolve(const prometheus::EncodedLabels& labels, std::int64_t first_at);
  bool admit_cluster(const telemetry::Classification& meaning);
  static const ClusterId& cluster_of(const Group& group);
  ResolvedSeries resolve_device(telemetry::DeviceSeries& series, std::int64_t first_at);
  static void describe(Group& group, const telemetry::DeviceSeries& series, std::int64_t first_at);
  ResolvedSeries resolve_outcome(telemetry::OutcomeSeries& series, std::int64_t first_at);
  std::uint32_t find_or_add_member(const Hash128& identity, telemetry::Quantity quantity,
                                   bool is_outcome, std::uint32_t group,
                                   const std::string& component);
  std::uint32_t add_group(const Hash128& identity, std::variant<DeviceInfo, OutcomeInfo> info,
                          std::int64_t first_at);
  std::uint16_t scale_index(const Scale& scale);
  std::uint16_t source_index(const std::string& source);
  bool are_replicas(std::uint16_t a, std::uint16_t b) const;
  void add_sample(const ResolvedSeries& known, std::uint64_t key, const prometheus::Sample& sample);
  void insert(Member& member, std::uint64_t key, std::uint16_t source, Unordered sample);
  void count_waiting(Unordered& sample);
  void mark_unordered(Group& group) const;
  bool is_drained(const Member& member, std::int64_t at_ms) const;
  static bool is_next(const Member& member, std::uint16_t source, const Unordered& sample);
  bool was_taken(const Member& member, std::int64_t at_ms) const;
  void rewind(Member& member) const;
  void apply(Progress& progress, const Origin& origin, Unordered& sample);
  std::size_t apply_until(Member& member, std::int64_t until);
  // The time up to which the samples of a group are in order.
  std::int64_t ordered_until(const Group& group, std::int64_t now_ms) const;
  void put_in_order(Group& group, std::int64_t until);
  void commit(Group& group);
  void apply_value(Progress& progress, const Origin& origin, const Unordered& sample);
  void end_series(Progress& progress, std::uint64_t key, std::int64_t at_ms);
  bool is_in_time(std::int64_t at_ms);
  std::optional<std::uint64_t> quantised(const Scale& scale, double value);
  std::uint64_t& count(StreamCounter what) { return counts_[static_cast<std::size_t>(what)]; }

  static bool load_unordered(ByteReader& reader, Member& member);
  Accumulator in_order(const Member& member, std::int64_t since_ms) const;
  void collect(Group& group, std::int64_t now_ms, std::optional<std::int64_t> all_until,
               bool is_ordered, std::vector<MemberPiece>& parts);
  void drop_sampled_sm_activity(const Group& group, std::vector<MemberPiece>& parts) const;
  void finish_outcomes(const OutcomeInfo& info, std::span<const MemberPiece> parts,
                       const PartNumbering& part, FlushRows& rows);
  void write_gpus(FlushRows& rows);
  void observe_gpu(const Group& group, const DeviceInfo& info);
  void drop_empty_groups();
  void list_clusters();
  void count_what_waits();

  const StreamOptions& options_;
  bool is_past_;
  StreamCounts& counts_;
  std::map<std::string, std::uint64_t>& unusable_;
  StateSink* state_;
  std::int64_t now_ms_ = 0;
  ClusterId cluster_{""};
  std::uint64_t salt_ = 0;          // distinguishes the keys of clusters
  std::int64_t started_ms_ = 0;     // no device counts as silent before
  std::int64_t last_noted_ms_ = 0;  // last note_time(); 0: none yet
  bool heard_ = false;              // a body came since the clock last jumped

  KeyTable<ResolvedSeries> keys_;
  KeyTable<std::uint32_t> loaded_keys_;  // members of a snapshot, by {0, last_key}
  std::size_t ignored_keys_ = 0;         // keys of series that are not needed
  std::vector<Scale> scales_;
  std::vector<std::string> sources_;
  std::vector<std::string> reasons_;
  struct StateHandle {
    std::uint64_t handle = 0;
    std::uint32_t cluster = 0;  // of state_clusters_
  };
  std::vector<StateHandle> state_handles_;
  std::vector<ClusterId> state_clusters_;  // that any state series has named
  std::set<ClusterId> clusters_;           // of series that are known
  std::vector<Member> members_;
  std::vector<std::uint32_t> free_;  // of members_
  KeyTable<std::uint32_t> member_by_identity_;
  std::vector<Group> groups_;
  std::vector<std::uint32_t> free_groups_;
  KeyTable<std::uint32_t> group_by_identity_;
  KeyTable<std::int64_t> forgotten_;  // last samples of series that were forgotten
  std::size_t pieces_ = 0;
  std::size_t waiting_ = 0;
  std::int64_t floor_ms_ = 0;  // samples up to here are too old
  std::map<std::pair<ClusterId, GpuId>, DiscoveredGpu> discovered_gpus_;
  std::uint32_t next_group_ = 0;  // where a flush that reached its limit goes on
  std::vector<prometheus::Label> scratch_;
};

}  // namespace pennyweight::live
