// Accumulator: aggregates the samples of one series into pieces of time that end at the edges of
// buckets.
// Samples are added in the order of their times; one that is not newer than the last is a
// duplicate. All arithmetic is in integers: a value is rounded to its unit once, when it comes in.
//
//   mean     a value holds until the next sample, and no longer than 2.5 x the nominal interval
//            (dcgm-exporter repeats the last value every 30 s). A piece's sum is value x ms
//   counter  the increase since the last sample, spread over the time between by cumulative floors,
//            so that the pieces add up to it. After a reset, which is a smaller value, the increase
//            is the value itself, as in Prometheus' increase(). Over a gap that is longer than a
//            value holds, and than kBridgeMsMax, nothing is observed: the counter may have been
//            reset meanwhile, and a backfill says what it did
//   total    the same, and what it grew by over a gap counts, in pieces of an hour: events that
//            nobody else tells of
//   change   a sticky code: counts each change to another code that is not 0
//   growth   a count over a sliding window: counts by how much it grows
//
// Every millisecond before settled_until() is accounted for, or never will be: no time counts
// twice.
#pragma once

#include <cstdint>
#include <vector>

#include "core/int128.h"
#include "telemetry/live/codec.h"

namespace pennyweight::live {

enum class Aggregation : std::uint8_t { kMean, kCounter, kTotal, kChange, kGrowth };

inline constexpr std::int64_t kIntervalMsMin = 1'000;
inline constexpr std::int64_t kIntervalMsMax = 300'000;
// A counter that was silent for longer was not observed meanwhile.
inline constexpr std::int64_t kBridgeMsMax = 300'000;
// The increase of a total over a longer gap comes in pieces of an hour.
inline constexpr std::int64_t kFineGapMs = 3'600'000;
// After a longer gap of a total nobody can say when the increase happened: it starts over, and the
// gap is counted.
inline constexpr std::int64_t kCounterGapMsMax = 7 * 86'400'000ll;

// What a series came to over [from, to), in milliseconds of Unix time. All of that time was
// observed.
struct AggregatePiece {
  UInt128 sum = 0;  // value x ms of a mean; else a count
  std::int64_t from = 0;
  std::int64_t to = 0;
  std::uint64_t max = 0;   // of a mean
  std::uint64_t last = 0;  // of a change: the last code; 0: none
};

struct Timing {
  std::int64_t resolution_ms = 60'000;  // divides an hour
  std::int64_t interval_ms = 30'000;    // nominal, until the actual one is learned
};

enum class SampleResult : std::uint8_t { kNew, kDuplicate, kReset, kGap };

class Accumulator {
 public:
  explicit Accumulator(Aggregation aggregation) : aggregation_(aggregation) {}

  SampleResult add_sample(std::int64_t at, std::uint64_t value, const Timing& timing);
  // The series ended: its value no longer holds.
  void end(std::int64_t at, const Timing& timing);
  // Lets the value hold until `until` at most: nothing newer will come in time.
  void hold_until(std::int64_t until, const Timing& timing);
  // The next sample is of another counter: what that gained before is unknown.
  void restart_counter() {
    if (is_counter()) holds_ = false;
  }
  // Ignores samples until `at`: the series was forgotten and has come back.
  void ignore_until(std::int64_t at);

  bool has_sample() const { return last_at_ != kNever; }
  std::int64_t last_at() const { return last_at_; }
  std::uint64_t last_value() const { return last_value_; }
  bool holds() const { return holds_; }
  std::int64_t settled_until() const { return settled_until_; }
  std::int64_t interval_ms(const Timing& timing) const;
  std::int64_t hold_end(const Timing& timing) const;

  // Moves out the pieces that end by `until`, and the open piece if its bucket ends by `until`. In
  // order of time.
  void take_finished(std::int64_t until, std::vector<AggregatePiece>& pieces);
  // Copies all pieces.
  void copy_all(std::vector<AggregatePiece>& pieces) const;
  // Pieces that are done and were not moved out.
  std::size_t waiting() const { return done_.size(); }
  bool empty() const { return done_.empty() && open_.from == open_.to; }

  void save(ByteWriter& writer) const;
  bool load(ByteReader& reader);

  static constexpr std::int64_t kNever = -1;

 private:
  bool is_counter() const {
    return aggregation_ == Aggregation::kCounter || aggregation_ == Aggregation::kTotal;
  }
  // Whether nobody knows what a counter did up to a sample.
  bool is_unobserved(std::int64_t at, const Timing& timing) const;
  void account(std::int64_t from, std::int64_t to, std::uint64_t value, const Timing& timing);
  void spread(std::int64_t from, std::int64_t to, std::uint64_t increase, const Timing& timing);
  AggregatePiece& piece_for(std::int64_t from, std::int64_t to, std::int64_t bucket_end);
  void learn(std::int64_t gap);

  // In the order in which a sample needs them.
  std::int64_t last_at_ = kNever;
  std::uint64_t last_value_ = 0;
  std::int64_t settled_until_ = 0;
  std::int64_t bucket_end_ = 0;  // of open_
  AggregatePiece open_;
  std::uint32_t interval_ms_ = 0;  // as learned; 0: not yet
  std::uint32_t long_gap_ms_ = 0;  // the last one, where it was longer than the hold
  Aggregation aggregation_;
  bool holds_ = false;
  std::vector<AggregatePiece> done_;
};

}  // namespace pennyweight::live
