// Lane: one stream of samples, each of its series in the order of time: live data, or one backfill.
//
// It knows a series by its key after the first time, and holds an accumulator for each thing that
// is measured, whoever measures it. Devices with their series' pieces become rows here.
//
// Not thread-safe: the engine's order is its lock.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "core/hash.h"
#include "ingest/prometheus/series.h"
#include "live/accumulator.h"
#include "live/card.h"
#include "live/key_table.h"
#include "live/rows.h"
#include "live/state_sink.h"
#include "telemetry/meaning.h"

namespace pennyweight::live {

struct LaneLimits {
  std::size_t keys = 4'000'000;          // series known at once; further ones are dropped, counted
  std::size_t keys_of_junk = 1'000'000;  // of these, series that nothing needs
  std::size_t forgotten = 2'000'000;     // series that ended, remembered against late copies
  std::int64_t unseen_ms = 2 * 3'600'000ll;     // a series is forgotten after
  std::int64_t late_ms_max = 7 * 86'400'000ll;  // older samples are dropped, counted; backfill them
  std::size_t rows_of_flush = 50'000;           // the rest waits for the next one
};

struct LaneOptions {
  telemetry::MeaningOptions meaning;
  Timing timing;
  // A device that sends nothing for so long, and as long as its values hold, is silent; a series
  // that is so far behind its device's others is not waited for.
  std::int64_t grace_ms = 120'000;
  LaneLimits limits;
};

// Counted by its name, for /metrics.
enum class Count : std::uint8_t {
  kSamples,          // taken
  kDuplicates,       // not newer than the last of their series
  kOtherSource,      // of a measurement that another source tells already
  kStale,            // markers
  kBlank,            // no value
  kClamped,          // shares above the whole
  kOutOfRange,       // other values beyond what is documented
  kResets,           // of counters
  kCounterGaps,      // too long to say when it was
  kTooOld,           // older than a live series may be
  kInFuture,         // newer than the clock by more than kFutureMsMax
  kIgnored,          // samples of series that nothing needs
  kUnusable,         // samples of series meant for us that say too little
  kState,            // samples of Kubernetes objects
  kSeriesOverLimit,  // samples of series beyond the limit
  kBadLabels,        // samples of series whose labels can't be decoded
  kLateComponents,   // pieces of a sum that was told already
  kSeriesForgotten,  // not seen for long
  kCount,
};
inline constexpr std::size_t kCounts = static_cast<std::size_t>(Count::kCount);
std::string_view to_text(Count count);
using LaneCounts = std::array<std::uint64_t, kCounts>;

// A sample so far ahead of the clock is no clock skew but nonsense, and would end its series.
inline constexpr std::int64_t kFutureMsMax = 10 * 60'000ll;
// What Engine::recent() knows of.
inline constexpr std::int64_t kRecentMs = 10 * 60'000ll;

class Lane : public prometheus::SeriesSink {
 public:
  // `options`, `counts` and `state` outlive the lane. `state` may be nothing: then such series are
  // ignored.
  Lane(const LaneOptions& options, bool is_past, LaneCounts& counts,
       std::map<std::string, std::uint64_t>& unusable, StateSink* state)
      : options_(options), is_past_(is_past), counts_(counts), unusable_(unusable), state_(state) {}

  // The samples that follow came in then (Unix ms, of the journal when it is replayed), and belong
  // to that cluster where their labels say nothing; an empty one is that of the options.
  void receive(std::int64_t now_ms, const ClusterId& cluster);
  void series(const Hash128& key, const prometheus::EncodedLabels& labels,
              std::span<const prometheus::Sample> samples) override;

  // Rows of what is finished at `now_ms` leave the lane; with `all_until` everything does, and the
  // last values hold until then. `part` gives a number to a row with that key, a higher one where
  // it was asked for the same key before. False where the limit of a flush was reached and more is
  // left. `recent`, if there is one, gets a copy of usages of the last kRecentMs.
  using PartOf = std::function<std::uint64_t(const Hash128&)>;
  bool finish(std::int64_t now_ms, std::optional<std::int64_t> all_until, const PartOf& part,
              Rows& rows, std::string* recent = nullptr);
  // Rows of what is there and of open buckets, that stay; from `since_ms` on, of one cluster. What
  // was said last holds up to `now_ms`, as far as it may, so that one sample is enough to be seen.
  void provisional(const ClusterId& cluster, std::int64_t since_ms, std::int64_t now_ms,
                   std::vector<Usage>& usages) const;

  // After a restart: whoever was not heard of meanwhile was not silent, and is not forgotten.
  void restarted(std::int64_t now_ms);
  // A delivery came, or a flush, when our clock said so. Where it moved by more than `grace` since
  // the last of them, it was set or the machine slept: as after a restart. When that comes a second
  // time ahead and nothing was delivered in between, there is silence.
  void notice(std::int64_t now_ms, bool is_delivery);
  // Forgets what was not seen for long.
  void forget(std::int64_t now_ms);

  std::size_t keys() const { return keys_.size(); }
  std::size_t accumulators() const { return members_.size() - free_.size(); }
  std::size_t groups() const { return groups_.size(); }
  // Pieces of time that wait for a flush, give or take a few.
  std::size_t pieces() const { return pieces_; }

  void save(Writer& writer) const;
  bool load(Reader& reader);

 private:
  enum class Kind : std::uint8_t { kIgnored, kUnusable, kState, kMember };
  struct Known {
    std::uint32_t slot = 0;  // of members_, state handles, or reasons
    std::uint32_t seen_s = 0;
    std::uint16_t source = 0;
    std::uint16_t scale = 0;
    Kind kind = Kind::kIgnored;
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
  // A series of a group. One source tells it; another one only where that one fell silent.
  struct Member {
    Accumulator accumulator;
    std::uint32_t group = 0;
    std::uint32_t received_s = 0;
    std::uint16_t source = 0;   // who may go on; kAnySource: whoever comes first
    std::uint16_t told_by = 0;  // the last sample
    telemetry::Quantity quantity = telemetry::Quantity::kGpuUtil;
    bool is_used = false;
    bool is_component = false;
    std::uint32_t code = 0;      // of a component that is a number: an XID
    std::int64_t other_at = -1;  // when another source told the same last, which was not taken
    std::uint64_t last_key = 0;  // of the key that gave the last sample, its lower half
    Hash128 identity;
  };
  struct DeviceHead {
    Usage usage;  // without values
    std::int32_t gpu_index = -1;
  };
  struct OutcomeHead {
    ClusterId cluster;
    WorkloadId workload;
    std::string measure;
    Labels labels;
  };
  struct Group {
    std::variant<DeviceHead, OutcomeHead> head;
    Hash128 identity;
    std::vector<std::uint32_t> members;
    // Sums of components were told until then, by quantity.
    std::array<std::int64_t, telemetry::kQuantities> components_until = {};
    std::int64_t first_at = 0;
    std::int64_t changed_at = 0;  // when node, model or index became others
    bool is_used = false;
  };
  struct Part {  // a piece of one of the group's members
    Piece piece;
    telemetry::Quantity quantity;
    bool is_component;
  };

  void end_unknown(std::uint64_t key, std::span<const prometheus::Sample> samples);
  Known resolve(const prometheus::EncodedLabels& labels, std::int64_t first_at);
  Known resolve_device(telemetry::DeviceSeries& series, std::int64_t first_at);
  Known resolve_outcome(telemetry::OutcomeSeries& series, std::int64_t first_at);
  std::uint32_t member_of(const Hash128& identity, telemetry::Quantity quantity, bool is_outcome,
                          std::uint32_t group, const std::string& component);
  std::uint32_t add_group(const Hash128& identity, std::variant<DeviceHead, OutcomeHead> head,
                          std::int64_t first_at);
  std::uint16_t scale_of(const Scale& scale);
  std::uint16_t source_of(const std::string& source);
  bool are_replicas(std::uint16_t a, std::uint16_t b) const;
  void take(const Known& known, std::uint64_t key, const prometheus::Sample& sample);
  void end(Member& member, std::uint64_t key, std::int64_t at_ms);
  bool is_in_time(std::int64_t at_ms);
  std::optional<std::uint64_t> quantised(const Scale& scale, double value);
  std::uint64_t& count(Count what) { return counts_[static_cast<std::size_t>(what)]; }

  void collect(Group& group, std::int64_t now_ms, std::optional<std::int64_t> all_until,
               std::vector<Part>& parts);
  void drop_told(const Group& group, std::vector<Part>& parts) const;
  static void sort_by_time(std::vector<Part>& parts);
  static void add_up(std::vector<Part>& parts);
  static void usages_of(const DeviceHead& head, std::span<const Part> parts,
                        const std::function<void(Usage&)>& give);
  void finish_outcomes(const OutcomeHead& head, std::span<const Part> parts, const PartOf& part,
                       Rows& rows);
  void see_cards(Rows& rows);
  void see_card(const Group& group, const DeviceHead& head);
  void drop_empty_groups();
  void count_pieces();

  const LaneOptions& options_;
  bool is_past_;
  LaneCounts& counts_;
  std::map<std::string, std::uint64_t>& unusable_;
  StateSink* state_;
  std::int64_t now_ms_ = 0;
  ClusterId cluster_{""};
  std::uint64_t salt_ = 0;       // of the cluster, in keys
  std::int64_t started_ms_ = 0;  // no device was silent before
  std::int64_t noticed_ms_ = 0;  // 0: not since the process began
  bool heard_ = false;           // a delivery, since our clock moved so far

  KeyTable<Known> keys_;
  KeyTable<std::uint32_t> loaded_keys_;  // members of a snapshot, by {0, last_key}
  std::size_t junk_ = 0;                 // keys that nothing needs
  std::vector<Scale> scales_;
  std::vector<std::string> sources_;
  std::vector<std::string> reasons_;
  std::vector<std::uint64_t> state_handles_;
  std::vector<Member> members_;
  std::vector<std::uint32_t> free_;  // of members_
  KeyTable<std::uint32_t> member_by_identity_;
  std::vector<Group> groups_;
  std::vector<std::uint32_t> free_groups_;
  KeyTable<std::uint32_t> group_by_identity_;
  KeyTable<std::int64_t> forgotten_;  // last samples of series that were forgotten
  std::size_t pieces_ = 0;
  std::int64_t floor_ms_ = 0;  // samples until there are too old
  std::map<std::pair<ClusterId, GpuId>, Card> cards_;
  std::uint32_t next_group_ = 0;  // where a flush that reached its limit goes on
  std::vector<prometheus::Label> scratch_;
};

}  // namespace pennyweight::live
