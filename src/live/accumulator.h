// Accumulator: what one series came to, in pieces of time that end at the buckets' edges.
//
// Samples of a series are taken in the order of their times; one that is not newer than the last is
// a duplicate. All is integers: a measurement was rounded to its unit once, when it came in.
//
//   mean     a value holds until the next sample, and no longer than 2.5 x the nominal interval
//            (allocation facts of issue 5: dcgm-exporter gives the last value every 30 s). A
//            piece's sum is value x ms
//   counter  the increase since the last sample, spread over the time between by cumulative floors,
//            so that the parts add up to it. After a reset, which is a smaller value, it is the
//            value itself, as Prometheus' increase() has it
//   change   a sticky code: counts where it becomes another one that is not 0
//   growth   a count over a sliding window: counts by how much it grows
//
// Every millisecond before settled_until() was accounted, or never will be: no time counts twice.
#pragma once

#include <cstdint>
#include <vector>

#include "core/int128.h"
#include "live/codec.h"

namespace pennyweight::live {

enum class Way : std::uint8_t { kMean, kCounter, kChange, kGrowth };

inline constexpr std::int64_t kIntervalMsMin = 1'000;
inline constexpr std::int64_t kIntervalMsMax = 300'000;
// The increase over a longer gap is told in pieces of an hour and no finer.
inline constexpr std::int64_t kFineGapMs = 3'600'000;
// Over a longer one nobody can say when it was: the counter begins anew, and this is counted.
inline constexpr std::int64_t kCounterGapMsMax = 7 * 86'400'000ll;

// What was seen over [from, to), milliseconds of Unix time. All of it was observed.
struct Piece {
  UInt128 sum = 0;  // value x ms of a mean; else how many
  std::int64_t from = 0;
  std::int64_t to = 0;
  std::uint64_t max = 0;   // of a mean
  std::uint64_t last = 0;  // of a change: the last code; 0: none
};

struct Timing {
  std::int64_t resolution_ms = 60'000;  // divides an hour
  std::int64_t interval_ms = 30'000;    // nominal, until it was learned
};

enum class Took : std::uint8_t { kNew, kDuplicate, kReset, kGap };

class Accumulator {
 public:
  explicit Accumulator(Way way) : way_(way) {}

  Took take(std::int64_t at, std::uint64_t value, const Timing& timing);
  // The series ended: its value holds no longer.
  void end(std::int64_t at, const Timing& timing);
  // The value holds, as far as it may, until `until`: nothing newer will come soon enough.
  void hold_until(std::int64_t until, const Timing& timing);
  // What comes next is another counter: nothing is known of what it gained.
  void begin_anew() {
    if (way_ == Way::kCounter) holds_ = false;
  }
  // Samples until there are known and gone: of a series that was forgotten and comes back.
  void begin_after(std::int64_t at);

  bool has_sample() const { return last_at_ != kNever; }
  std::int64_t last_at() const { return last_at_; }
  std::uint64_t last_value() const { return last_value_; }
  bool holds() const { return holds_; }
  std::int64_t settled_until() const { return settled_until_; }
  std::int64_t interval_ms(const Timing& timing) const;
  std::int64_t hold_end(const Timing& timing) const;

  // Moves out what ends by `until`, and of the open bucket what there is if the bucket ends by
  // `until`. In order of time.
  void finished(std::int64_t until, std::vector<Piece>& pieces);
  // All there is, without taking it.
  void all(std::vector<Piece>& pieces) const;
  // Pieces that are done and were not taken.
  std::size_t waiting() const { return done_.size(); }
  bool empty() const { return done_.empty() && open_.from == open_.to; }

  void save(Writer& writer) const;
  bool load(Reader& reader);

  static constexpr std::int64_t kNever = -1;

 private:
  void account(std::int64_t from, std::int64_t to, std::uint64_t value, const Timing& timing);
  void spread(std::int64_t from, std::int64_t to, std::uint64_t increase, const Timing& timing);
  Piece& piece_for(std::int64_t from, std::int64_t to, std::int64_t bucket_end);
  void learn(std::int64_t gap);

  // In the order in which a sample needs them.
  std::int64_t last_at_ = kNever;
  std::uint64_t last_value_ = 0;
  std::int64_t settled_until_ = 0;
  std::int64_t bucket_end_ = 0;  // of open_
  Piece open_;
  std::uint32_t interval_ms_ = 0;  // learned; 0: not yet
  std::uint32_t long_gap_ms_ = 0;  // the last one, where it was longer than the hold
  Way way_;
  bool holds_ = false;
  std::vector<Piece> done_;
};

}  // namespace pennyweight::live
